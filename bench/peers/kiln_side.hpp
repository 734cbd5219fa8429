// Kiln's side of the comparison: the tuned kernel, through the same library that applications use.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <string>
#include <vector>

#include "bench/peers/peer.hpp"

namespace kiln::peers {

/// A prepared kernel; looks like a peer, so that both are treated alike.
class TunedKernel : public Peer {
 public:
  [[nodiscard]] virtual std::string config() const = 0;
  [[nodiscard]] virtual std::string grade() const = 0;   ///< how well the database knew the problem
  [[nodiscard]] virtual std::string reason() const = 0;  ///< the same as a sentence
};

class KilnSide {
 public:
  /// `database`: a file that `kiln tune` wrote; empty: the default places. Throws
  /// std::runtime_error.
  KilnSide(const std::string& database, cudaStream_t stream);
  ~KilnSide();

  [[nodiscard]] const std::string& device() const;
  /// What the launcher has to say about its databases.
  [[nodiscard]] std::vector<std::string> warnings() const;
  /// `workload` must outlive it. Throws std::runtime_error, e.g. when the kernel does not compile.
  [[nodiscard]] std::unique_ptr<TunedKernel> prepare(const Workload& workload) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kiln::peers

// Peer: what a user would call instead of a tuned kernel. One file per library makes them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/peers/device_data.hpp"
#include "bench/peers/host/row.hpp"
#include "bench/peers/workload.hpp"

namespace kiln::peers {

/// Built for one workload: everything that can be done ahead (handles, temporary storage) is done
/// by then.
class Peer {
 public:
  virtual ~Peer() = default;
  /// As a user would look it up: "CUB DeviceReduce::Sum".
  [[nodiscard]] virtual std::string name() const = 0;
  /// Puts one whole run on the stream; does not wait.
  virtual void run(cudaStream_t stream) = 0;
  /// What run() computed; nullptr where that cannot be compared (copies).
  [[nodiscard]] virtual const DeviceArray* result() const = 0;
  /// Which of several ways of a library this is. Such a peer may fail, and is then left out; all of
  /// one family may share their result, so each is looked at before the next one runs.
  [[nodiscard]] virtual std::optional<Choice> choice() const { return std::nullopt; }
};

using Peers = std::vector<std::unique_ptr<Peer>>;

/// Each adds the peers that its library has for the workload, often none. `workload` must outlive
/// them.
void add_cub_reduce(const Workload& workload, Peers& peers);
void add_cub_arg_reduce(const Workload& workload, Peers& peers);
void add_cub_histogram(const Workload& workload, Peers& peers);
void add_cublas(const Workload& workload, Peers& peers);
/// `notes` gets a line where cublasLt has nothing for the workload.
void add_cublaslt(const Workload& workload, Peers& peers, std::vector<std::string>& notes);
/// The same for cuDNN.
void add_cudnn(const Workload& workload, Peers& peers, std::vector<std::string>& notes);
void add_npp(const Workload& workload, Peers& peers);
void add_device_copy(const Workload& workload, Peers& peers);

/// All of them. `notes` gets a line for each library that should have had one.
[[nodiscard]] inline Peers make_peers(const Workload& workload, std::vector<std::string>& notes) {
  Peers peers;
  add_cub_reduce(workload, peers);
  add_cub_arg_reduce(workload, peers);
  add_cub_histogram(workload, peers);
  add_cublas(workload, peers);
  add_cublaslt(workload, peers, notes);
  add_cudnn(workload, peers, notes);
  add_npp(workload, peers);
  add_device_copy(workload, peers);
  return peers;
}

/// Why the peers of cuBLAS are missing; empty when it is there.
[[nodiscard]] const std::string& why_no_cublas();
/// The same for cublasLt.
[[nodiscard]] const std::string& why_no_cublaslt();
/// The same for cuDNN.
[[nodiscard]] const std::string& why_no_cudnn();
/// The same for NPP.
[[nodiscard]] const std::string& why_no_npp();

}  // namespace kiln::peers

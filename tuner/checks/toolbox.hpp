// Toolbox: checks that run on the device, so that large buffers are never downloaded.
//
// Fills, compares and hashes buffers with small kernels of our own (templates/toolbox), compiled
// once per device worker. A call that returns a value blocks. Use it from one thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backends/backend.hpp"
#include "core/dtype.hpp"
#include "tuner/checks/guarded_buffer.hpp"
#include "tuner/rules/tolerance.hpp"

namespace kiln {

/// How an input is filled (docs/spec_format.md, "Fills").
struct Fill {
  std::string kind;  ///< "uniform", "integers", ...
  double low = 0;
  double high = 1;
  std::uint64_t seed = 0;
  // Done on the host (input_values.hpp), not by the toolbox:
  std::vector<double> edges;      ///< edge values to put among the elements
  bool exchanges_ends = false;    ///< the first and last element of a row change places with others
  bool shifts_rows = false;       ///< rows begin or end at zero, or lie above or below it, in turn
  std::vector<double> specials;   ///< NaN and the like, to put at some places
  bool specials_are_few = false;  ///< each at one place
  bool alters_few = false;        ///< a few elements get the values of others
  friend bool operator==(const Fill&, const Fill&) = default;
};

struct BufferDifference {
  std::int64_t wrong = 0;        ///< number of elements outside the tolerance
  std::int64_t first_wrong = 0;  ///< lowest index of a wrong element; undefined if none is wrong
  double max_error = 0;  ///< largest error relative to the allowed one (exact: 0 or infinite)
};

/// What a comparison of floating-point outputs says of the poison that they held before the run, a
/// NaN with all bits set.
enum class PoisonRule : std::uint8_t {
  is_a_nan = 0,      ///< a NaN like others
  is_unwritten = 1,  ///< wrong where the reference does not hold it
  is_kept = 2,       ///< must be there where the reference holds it
};

class Toolbox {
 public:
  /// Both arguments must outlive it. Kernels are compiled when first needed; the call then returns
  /// the Failure of compiling.
  Toolbox(Device& device, Compiler& compiler);
  ~Toolbox();

  [[nodiscard]] Status fill(const Buffer& buffer, DType dtype, std::int64_t count,
                            const Fill& fill);
  /// Compares two buffers of `count` elements of `dtype`. NaN equals only NaN, an infinity only
  /// itself; with `any_nonfinite` they equal each other.
  [[nodiscard]] Result<BufferDifference> compare(const Buffer& values, const Buffer& reference,
                                                 DType dtype, std::int64_t count,
                                                 const Tolerance& tolerance,
                                                 PoisonRule poison = PoisonRule::is_a_nan,
                                                 bool any_nonfinite = false);
  /// Returns a 64-bit hash of the first `bytes` bytes, the same in any order of execution.
  [[nodiscard]] Result<std::uint64_t> checksum(const Buffer& buffer, std::size_t bytes);
  /// Sets all bits of the device's shared memory, on every unit, for the next kernel to find; on a
  /// CPU only as much as a block of `bytes` may get (memory there, the same for every block of a
  /// thread). If the device refuses the kernel, nothing happens. A Failure is sticky.
  [[nodiscard]] Status poison_shared(std::int64_t bytes);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kiln

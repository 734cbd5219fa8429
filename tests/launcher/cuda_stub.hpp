// The CUDA driver without a GPU (tests/support/cuda_stub.cpp), for test programs that link
// cuda_stub.cpp: the launcher's "cuda" backend is then the stub.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace kiln::test {

/// Why tests with the stub cannot run here: NVRTC compiles for it. Empty: they can.
[[nodiscard]] std::string missing_for_cuda_stub();

/// What the driver was asked for in this process so far.
[[nodiscard]] std::uint64_t cuda_stub_launches();
[[nodiscard]] std::uint64_t cuda_stub_waits();     ///< for a stream or an event
[[nodiscard]] std::uint64_t cuda_stub_programs();  ///< to load one
/// Programs and memory that it was not asked to let go of yet.
[[nodiscard]] std::uint64_t cuda_stub_held();
[[nodiscard]] std::uint64_t cuda_stub_tensor_maps();   ///< to encode one
[[nodiscard]] std::uint64_t cuda_stub_programmatic();  ///< launches with that attribute

/// From now on the first 8 bytes of this parameter are kept of each launch; of a tensor map they
/// are the address.
void cuda_stub_watch(int parameter);
[[nodiscard]] std::uint64_t cuda_stub_watched();

/// From now on this stream counts as one that is being captured; nullptr: none.
void cuda_stub_capture(void* stream);
/// From now on a timed launch takes a microsecond for each thread of its block.
void cuda_stub_time_blocks(bool on);
/// Threads in x of a block at the last launch.
[[nodiscard]] std::uint64_t cuda_stub_block();

}  // namespace kiln::test

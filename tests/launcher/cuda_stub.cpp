// SPDX-License-Identifier: Apache-2.0
#include "tests/launcher/cuda_stub.hpp"

#include <dlfcn.h>
#include <stdlib.h>

#include <stdexcept>

#include "backends/backend.hpp"
#include "core/errors.hpp"
#include "tests/support/error_of.hpp"

namespace kiln::test {
namespace {

// Before anything asks for the driver.
const bool kIsChosen = ::setenv("KILN_CUDA_LIBRARY", KILN_CUDA_STUB, /*replace=*/1) == 0;

void* find(const char* symbol) {
  void* stub = kIsChosen ? ::dlopen(KILN_CUDA_STUB, RTLD_NOW) : nullptr;
  void* function = stub == nullptr ? nullptr : ::dlsym(stub, symbol);
  if (function == nullptr) {
    throw std::runtime_error(std::string(KILN_CUDA_STUB) + " has no " + symbol);
  }
  return function;
}

std::uint64_t ask(const char* symbol) {
  return reinterpret_cast<std::uint64_t (*)()>(find(symbol))();
}

}  // namespace

std::string missing_for_cuda_stub() {
  return test::error_of<DeviceError>([&] {
    return make_backend("cuda")->open_compiler(device_for_architecture("cuda", "sm_90a"));
  });
}

std::uint64_t cuda_stub_launches() { return ask("kiln_stub_launches"); }
std::uint64_t cuda_stub_waits() { return ask("kiln_stub_waits"); }
std::uint64_t cuda_stub_programs() { return ask("kiln_stub_programs"); }
std::uint64_t cuda_stub_held() { return ask("kiln_stub_held"); }
std::uint64_t cuda_stub_tensor_maps() { return ask("kiln_stub_tensor_maps"); }
std::uint64_t cuda_stub_programmatic() { return ask("kiln_stub_programmatic"); }
std::uint64_t cuda_stub_watched() { return ask("kiln_stub_watched"); }

void cuda_stub_watch(int parameter) {
  reinterpret_cast<void (*)(int)>(find("kiln_stub_watch"))(parameter);
}

void cuda_stub_capture(void* stream) {
  reinterpret_cast<void (*)(void*)>(find("kiln_stub_capture"))(stream);
}
void cuda_stub_time_blocks(bool on) {
  reinterpret_cast<void (*)(bool)>(find("kiln_stub_time_blocks"))(on);
}
std::uint64_t cuda_stub_block() { return ask("kiln_stub_block"); }

}  // namespace kiln::test

// SPDX-License-Identifier: Apache-2.0
#include "blas/driver.hpp"

#include <dlfcn.h>

#include "backends/cuda/cuda_api.hpp"

namespace kiln::blas {
namespace {

DriverCalls load_calls() {
  DriverCalls calls;
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(cuda().init), &info) == 0) return calls;
  void* library = ::dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return calls;
  const auto bind = [&](auto& call, const char* symbol) {
    call = reinterpret_cast<std::remove_reference_t<decltype(call)>>(::dlsym(library, symbol));
  };
  bind(calls.mem_alloc_async, "cuMemAllocAsync");
  bind(calls.mem_free_async, "cuMemFreeAsync");
  bind(calls.stream_get_id, "cuStreamGetId");
  bind(calls.exchange_capture_mode, "cuThreadExchangeStreamCaptureMode");
  bind(calls.event_query, "cuEventQuery");
  return calls;
}

}  // namespace

const DriverCalls& driver() {
  static const DriverCalls kCalls = load_calls();
  return kCalls;
}

}  // namespace kiln::blas

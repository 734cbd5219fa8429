// kiln._native: a bound launch as one callable, for Python 3.12 and later (stable ABI). Calls the
// kiln_launch of the libkiln.so that the package has loaded; does not link it.
// SPDX-License-Identifier: Apache-2.0
#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include <kiln/kiln.h>

namespace nb = nanobind;

namespace {

/// kiln_launch() with its arguments laid out by the caller, whose memory `owner` keeps.
class Launch {
 public:
  using Function = kiln_status (*)(const kiln_kernel*, void*, const kiln_argument*, std::size_t);

  Launch(std::uintptr_t function, std::uintptr_t kernel, std::uintptr_t arguments,
         std::size_t count, nb::object owner)
      : function_(reinterpret_cast<Function>(function)),
        kernel_(reinterpret_cast<const kiln_kernel*>(kernel)),
        arguments_(reinterpret_cast<kiln_argument*>(arguments)),
        count_(count),
        owner_(std::move(owner)) {
    while (arrays_ < count_ && arguments_[arrays_].kind == KILN_MEMORY) ++arrays_;
  }

  /// launch(stream, *addresses) -> kiln_status. Without addresses those of the last call are used.
  /// Keeps the interpreter's lock: a launch returns at once, and giving it up costs more.
  kiln_status operator()(std::uintptr_t stream, const nb::args& addresses) {
    const std::size_t given = addresses.size();
    if (given != 0) replace(addresses, given);
    return function_(kernel_, reinterpret_cast<void*>(stream), arguments_, count_);
  }

 private:
  void replace(const nb::args& addresses, std::size_t given) {
    if (given != arrays_) {
      const std::string text = std::to_string(arrays_) + " addresses are needed, " +
                               std::to_string(given) + " were given";
      throw nb::type_error(text.c_str());
    }
    for (std::size_t i = 0; i < given; ++i) {
      arguments_[i].memory = reinterpret_cast<const void*>(nb::cast<std::uintptr_t>(addresses[i]));
    }
  }

  Function function_;
  const kiln_kernel* kernel_;
  kiln_argument* arguments_;
  std::size_t count_;
  std::size_t arrays_ = 0;  ///< arguments that are memory; they stand in front
  nb::object owner_;
};

}  // namespace

NB_MODULE(_native, module) {
  module.doc() = "Bound launches of libkiln.so";
  nb::class_<Launch>(module, "Launch")
      .def(nb::init<std::uintptr_t, std::uintptr_t, std::uintptr_t, std::size_t, nb::object>())
      .def("__call__", &Launch::operator());
}

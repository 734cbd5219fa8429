// RtcProgram: one source in a run-time compiler with NVRTC's interface (NVRTC, hipRTC).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/artifact.hpp"
#include "core/result.hpp"

namespace kiln {

/// `Api`: the table of the library's functions, which must outlive the program.
template <typename Api>
class RtcProgram {
 public:
  RtcProgram(const Api& api, const Source& source) : api_(api) {
    code_ =
        api.create_program(&handle_, source.text.c_str(), source.name.c_str(), 0, nullptr, nullptr);
    if (!source.has_cpp_names) return;
    for (const std::string& entry : source.entries) {
      if (code_ == 0) code_ = api.add_name(handle_, entry.c_str());
    }
  }
  ~RtcProgram() {
    if (handle_ != nullptr) api_.destroy_program(&handle_);
  }
  RtcProgram(const RtcProgram&) = delete;
  RtcProgram& operator=(const RtcProgram&) = delete;

  /// The library's code; 0 for success.
  [[nodiscard]] int compile(const std::vector<std::string>& options) const {
    if (code_ != 0) return code_;
    std::vector<const char*> pointers;
    pointers.reserve(options.size());
    for (const std::string& option : options) pointers.push_back(option.c_str());
    return api_.compile_program(handle_, static_cast<int>(pointers.size()), pointers.data());
  }

  [[nodiscard]] std::string log() const {
    std::size_t bytes = 0;
    if (handle_ == nullptr || api_.get_program_log_size(handle_, &bytes) != 0 || bytes == 0)
      return {};
    // Versions of hipRTC differ in whether the size counts the final zero.
    std::string log(bytes + 1, '\0');
    api_.get_program_log(handle_, log.data());
    while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
    return log;
  }

  /// The compiled program by two functions of the library, one for its size and one for its bytes;
  /// empty if there is none.
  template <typename Size, typename Get>
  [[nodiscard]] std::vector<std::byte> output(Size Api::*size, Get Api::*get) const {
    std::size_t bytes = 0;
    if ((api_.*size)(handle_, &bytes) != 0) return {};
    std::vector<std::byte> data(bytes);
    if (bytes > 0 && (api_.*get)(handle_, reinterpret_cast<char*>(data.data())) != 0) return {};
    return data;
  }

  /// Notes the symbols of the source's entries in `binary`. Returns a Failure if one of them is not
  /// among `kernels`, the symbols of the compiled program; nullopt: they are not known.
  [[nodiscard]] Status take_symbols(const Source& source,
                                    const std::optional<std::vector<std::string>>& kernels,
                                    Binary& binary) const {
    for (const std::string& entry : source.entries) {
      const std::string symbol = source.has_cpp_names ? symbol_of(entry) : entry;
      if (source.has_cpp_names) binary.symbols[entry] = symbol;
      if (!kernels || std::find(kernels->begin(), kernels->end(), symbol) != kernels->end())
        continue;
      return Failure{Outcome::compile_error,
                     fmt::format("{} has no kernel named '{}' (it has: {})", source.name, entry,
                                 fmt::join(*kernels, ", "))};
    }
    return Done{};
  }

 private:
  /// The symbol that a kernel with a C++ name became; empty if there is none.
  [[nodiscard]] std::string symbol_of(const std::string& entry) const {
    const char* symbol = nullptr;
    const int code = api_.get_lowered_name(handle_, entry.c_str(), &symbol);
    return code == 0 && symbol != nullptr ? symbol : "";
  }

  const Api& api_;
  void* handle_ = nullptr;
  int code_ = 0;
};

}  // namespace kiln

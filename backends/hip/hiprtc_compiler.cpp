// Driving hipRTC: options, log, code object.
// SPDX-License-Identifier: Apache-2.0
#include "backends/hip/hiprtc_compiler.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/compiler_log.hpp"
#include "backends/hip/code_object.hpp"
#include "backends/hip/hip_api.hpp"
#include "core/errors.hpp"

namespace kiln {
namespace {

constexpr std::array<const char*, 2> kHiprtcOptions = {"-O3", "-std=c++17"};

class HiprtcProgram {
 public:
  explicit HiprtcProgram(const Source& source) {
    code_ = hiprtc().create_program(&handle_, source.text.c_str(), source.name.c_str(), 0, nullptr,
                                    nullptr);
    if (!source.has_cpp_names) return;
    for (const std::string& entry : source.entries) {
      if (code_ == 0) code_ = hiprtc().add_name(handle_, entry.c_str());
    }
  }
  ~HiprtcProgram() {
    if (handle_ != nullptr) hiprtc().destroy_program(&handle_);
  }
  HiprtcProgram(const HiprtcProgram&) = delete;
  HiprtcProgram& operator=(const HiprtcProgram&) = delete;

  /// hipRTC's code; 0 for success.
  [[nodiscard]] int compile(const std::vector<std::string>& options) const {
    if (code_ != 0) return code_;
    std::vector<const char*> pointers;
    pointers.reserve(options.size());
    for (const std::string& option : options) pointers.push_back(option.c_str());
    return hiprtc().compile_program(handle_, static_cast<int>(pointers.size()), pointers.data());
  }

  [[nodiscard]] std::string log() const {
    std::size_t bytes = 0;
    if (handle_ == nullptr || hiprtc().get_program_log_size(handle_, &bytes) != 0 || bytes == 0)
      return {};
    std::string log(bytes + 1,
                    '\0');  // whether the size counts the final zero differs between versions
    hiprtc().get_program_log(handle_, log.data());
    while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
    return log;
  }

  /// The symbol that a kernel with a C++ name became; empty when there is none.
  [[nodiscard]] std::string symbol_of(const std::string& entry) const {
    const char* symbol = nullptr;
    const int code = hiprtc().get_lowered_name(handle_, entry.c_str(), &symbol);
    return code == 0 && symbol != nullptr ? symbol : "";
  }

  [[nodiscard]] std::vector<std::byte> code_object() const {
    std::size_t bytes = 0;
    if (hiprtc().get_code_size(handle_, &bytes) != 0) return {};
    std::vector<std::byte> data(bytes);
    if (bytes > 0 && hiprtc().get_code(handle_, reinterpret_cast<char*>(data.data())) != 0)
      return {};
    return data;
  }

 private:
  void* handle_ = nullptr;
  int code_ = 0;
};

class HiprtcCompiler final : public Compiler {
 public:
  explicit HiprtcCompiler(std::string architecture) : architecture_(std::move(architecture)) {}

  Result<Binary> compile(const Source& source) override {
    const HiprtcProgram program(source);
    std::vector<std::string> options = {"--offload-arch=" + architecture_};
    options.insert(options.end(), kHiprtcOptions.begin(), kHiprtcOptions.end());
    options.insert(options.end(), source.options.begin(), source.options.end());
    const int code = program.compile(options);
    const std::string log = with_template_places(program.log(), source);
    if (code != 0) {
      const std::string name = fmt::format("{} ({})", hiprtc().get_error_string(code), code);
      return Failure{Outcome::compile_error, log.empty() ? name : log};
    }
    Binary binary;
    binary.log = log;
    binary.data = program.code_object();
    if (binary.data.empty())
      return Failure{Outcome::compile_error, "hipRTC made no code for " + architecture_};
    const std::vector<std::string> names = read_code_object(binary);
    for (const std::string& entry : source.entries) {
      const std::string symbol = source.has_cpp_names ? program.symbol_of(entry) : entry;
      if (source.has_cpp_names) binary.symbols[entry] = symbol;
      if (!names.empty() && std::find(names.begin(), names.end(), symbol) == names.end()) {
        return Failure{Outcome::compile_error,
                       fmt::format("{} has no kernel named '{}' (it has: {})", source.name, entry,
                                   fmt::join(names, ", "))};
      }
    }
    return binary;
  }

 private:
  std::string architecture_;
};

}  // namespace

std::unique_ptr<Compiler> make_hiprtc_compiler(const std::string& architecture) {
  const std::vector<std::string>& known = hiprtc().architectures;
  // Asked before it is tried: hipRTC 5.2 ends the process on a name that it does not know.
  if (std::find(known.begin(), known.end(), architecture) == known.end()) {
    throw DeviceError(fmt::format("{} does not know '{}': it knows {}", hiprtc_version_text(),
                                  architecture, fmt::join(known, " ")));
  }
  return std::make_unique<HiprtcCompiler>(architecture);
}

std::string hiprtc_options() { return fmt::format("{}", fmt::join(kHiprtcOptions, " ")); }

std::string hiprtc_version_text() {
  try {
    return hiprtc().version.empty() ? "hiprtc" : "hiprtc " + hiprtc().version;
  } catch (const DeviceError&) {
    return "hiprtc unavailable";
  }
}

}  // namespace kiln

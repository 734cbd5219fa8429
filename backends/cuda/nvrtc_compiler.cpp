// Driving NVRTC: options, log, cubin.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/nvrtc_compiler.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/compiler_log.hpp"
#include "backends/cuda/nvrtc_api.hpp"
#include "backends/cuda/ptxas_log.hpp"
#include "core/errors.hpp"

namespace kiln {
namespace {

// NVRTC 12.9 and later keep results on disk, and a kept one comes without its report of registers.
constexpr std::string_view kNoCache = "--no-cache";

// Leaves out textures, launches from device code and the types of the runtime: 5 to 20 ms of every
// compile. What is compiled comes out the same.
constexpr std::string_view kMinimal = "--minimal";

constexpr std::array<const char*, 3> kNvrtcOptions = {
    "--std=c++17", "--device-as-default-execution-space", "--ptxas-options=-v"};

// A dialect's helpers come in overloads for all types; a kernel uses some.
constexpr const char* kNoUnusedWarnings = "--diag-suppress=177";

/// 90 for "sm_90a"; 0 when it is no such name.
int capability_of(std::string_view architecture) {
  if (!architecture.starts_with("sm_")) return 0;
  architecture.remove_prefix(3);
  int capability = 0;
  const auto [end, error] =
      std::from_chars(architecture.data(), architecture.data() + architecture.size(), capability);
  const std::string_view suffix(
      end, static_cast<std::size_t>(architecture.data() + architecture.size() - end));
  const bool known_suffix = suffix.empty() || suffix == "a" || suffix == "f";
  return error == std::errc{} && known_suffix ? capability : 0;
}

class NvrtcProgram {
 public:
  explicit NvrtcProgram(const Source& source) {
    code_ = nvrtc().create_program(&handle_, source.text.c_str(), source.name.c_str(), 0, nullptr,
                                   nullptr);
    if (!source.has_cpp_names) return;
    for (const std::string& entry : source.entries) {
      if (code_ == 0) code_ = nvrtc().add_name(handle_, entry.c_str());
    }
  }
  ~NvrtcProgram() {
    if (handle_ != nullptr) nvrtc().destroy_program(&handle_);
  }
  NvrtcProgram(const NvrtcProgram&) = delete;
  NvrtcProgram& operator=(const NvrtcProgram&) = delete;

  /// NVRTC's code; 0 for success.
  [[nodiscard]] int compile(const std::vector<std::string>& options) const {
    if (code_ != 0) return code_;
    std::vector<const char*> pointers;
    pointers.reserve(options.size());
    for (const std::string& option : options) pointers.push_back(option.c_str());
    return nvrtc().compile_program(handle_, static_cast<int>(pointers.size()), pointers.data());
  }

  [[nodiscard]] std::string log() const {
    std::size_t bytes = 0;
    if (handle_ == nullptr || nvrtc().get_program_log_size(handle_, &bytes) != 0 || bytes == 0)
      return {};
    std::string log(bytes, '\0');
    nvrtc().get_program_log(handle_, log.data());
    while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
    return log;
  }

  /// The symbol that a kernel with a C++ name became; empty when there is none.
  [[nodiscard]] std::string symbol_of(const std::string& entry) const {
    const char* symbol = nullptr;
    const int code = nvrtc().get_lowered_name(handle_, entry.c_str(), &symbol);
    return code == 0 && symbol != nullptr ? symbol : "";
  }

  [[nodiscard]] std::vector<std::byte> cubin() const {
    std::size_t bytes = 0;
    if (nvrtc().get_cubin_size(handle_, &bytes) != 0) return {};
    std::vector<std::byte> data(bytes);
    if (bytes > 0 && nvrtc().get_cubin(handle_, reinterpret_cast<char*>(data.data())) != 0)
      return {};
    return data;
  }

 private:
  void* handle_ = nullptr;
  int code_ = 0;
};

class NvrtcCompiler final : public Compiler {
 public:
  explicit NvrtcCompiler(std::string architecture) : architecture_(std::move(architecture)) {}

  Result<Binary> compile(const Source& source) override {
    std::unique_ptr<NvrtcProgram> program;
    const int code = compile_as_it_can(source, program);
    std::string log = program->log();
    if (code != 0) return failure(code, log, source);

    Binary binary;
    read_ptxas_resources(log, binary);
    const std::vector<std::string> entries = ptxas_entries(log);
    for (const std::string& entry : source.entries) {
      const std::string symbol = source.has_cpp_names ? program->symbol_of(entry) : entry;
      if (source.has_cpp_names) binary.symbols[entry] = symbol;
      if (std::find(entries.begin(), entries.end(), symbol) == entries.end()) {
        return Failure{Outcome::compile_error,
                       fmt::format("{} has no kernel named '{}' (it has: {})", source.name, entry,
                                   fmt::join(entries, ", "))};
      }
    }
    binary.log = with_template_places(log, source);
    binary.data = program->cubin();
    if (binary.data.empty())
      return Failure{Outcome::compile_error, "NVRTC made no cubin for " + architecture_};
    return binary;
  }

 private:
  /// Tries again without what this NVRTC does not know, or what the source may miss.
  int compile_as_it_can(const Source& source, std::unique_ptr<NvrtcProgram>& program) {
    const auto attempt = [&] {
      program = std::make_unique<NvrtcProgram>(source);
      return program->compile(options_for(source));
    };
    int code = attempt();
    if (code == static_cast<int>(NvrtcCode::compilation) && is_minimal_) {
      is_minimal_ = false;
      code = attempt();
      is_minimal_ = code == static_cast<int>(NvrtcCode::compilation);  // it was no reason
    }
    // An older NVRTC, or an option of the variant that does not exist: the last try tells.
    const bool was_minimal = is_minimal_;
    const bool had_no_cache = has_no_cache_;
    for (bool* option : {&is_minimal_, &has_no_cache_}) {
      if (code != static_cast<int>(NvrtcCode::invalid_option) || !*option) continue;
      *option = false;
      code = attempt();
    }
    if (code == static_cast<int>(NvrtcCode::invalid_option)) {
      is_minimal_ = was_minimal;
      has_no_cache_ = had_no_cache;
    }
    return code;
  }

  [[nodiscard]] std::vector<std::string> options_for(const Source& source) const {
    std::vector<std::string> options = {"--gpu-architecture=" + architecture_, kNoUnusedWarnings};
    options.insert(options.end(), kNvrtcOptions.begin(), kNvrtcOptions.end());
    if (has_no_cache_) options.emplace_back(kNoCache);
    if (is_minimal_) options.emplace_back(kMinimal);
    if (!nvrtc().include_folder.empty())
      options.push_back("--include-path=" + nvrtc().include_folder);
    options.insert(options.end(), source.options.begin(), source.options.end());
    return options;
  }

  static Failure failure(int code, const std::string& log, const Source& source) {
    std::string message = with_template_places(log, source);
    if (message.empty() || code != static_cast<int>(NvrtcCode::compilation)) {
      message = fmt::format("{} ({}){}{}", nvrtc().get_error_string(code), code,
                            message.empty() ? "" : ": ", message);
    }
    return {Outcome::compile_error, std::move(message)};
  }

  std::string architecture_;
  bool has_no_cache_ = true;
  bool is_minimal_ = true;
};

}  // namespace

std::unique_ptr<Compiler> make_nvrtc_compiler(const std::string& architecture) {
  const NvrtcApi& api = nvrtc();
  const int capability = capability_of(architecture);
  if (std::find(api.architectures.begin(), api.architectures.end(), capability) ==
      api.architectures.end()) {
    throw DeviceError(fmt::format("NVRTC {}.{} does not know '{}': it knows sm_{}", api.major,
                                  api.minor, architecture, fmt::join(api.architectures, " sm_")));
  }
  return std::make_unique<NvrtcCompiler>(architecture);
}

std::string nvrtc_options() { return fmt::format("{}", fmt::join(kNvrtcOptions, " ")); }

std::string nvrtc_version_text() {
  try {
    return fmt::format("nvrtc {}.{}", nvrtc().major, nvrtc().minor);
  } catch (const DeviceError&) {
    return "nvrtc unavailable";
  }
}

}  // namespace kiln

// Driving NVRTC: options, log, cubin.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/nvrtc_compiler.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/compiler_log.hpp"
#include "backends/cuda/nvrtc_api.hpp"
#include "backends/cuda/ptxas_log.hpp"
#include "backends/rtc_program.hpp"
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

using NvrtcProgram = RtcProgram<NvrtcApi>;

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
    if (Status named = program->take_symbols(source, ptxas_entries(log), binary); !named)
      return named.failure();
    binary.log = with_template_places(log, source);
    binary.data = program->output(&NvrtcApi::get_cubin_size, &NvrtcApi::get_cubin);
    if (binary.data.empty())
      return Failure{Outcome::compile_error, "NVRTC made no cubin for " + architecture_};
    return binary;
  }

 private:
  /// Tries again without what this NVRTC does not know, or what the source may miss.
  int compile_as_it_can(const Source& source, std::unique_ptr<NvrtcProgram>& program) {
    const auto attempt = [&] {
      program = std::make_unique<NvrtcProgram>(nvrtc(), source);
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
    // Toolkits from 13.0 on have CUB, Thrust and libcu++ in a folder of their own.
    const std::filesystem::path cccl = std::filesystem::path(nvrtc().include_folder) / "cccl";
    const bool asks = source.text.find("<cub/") != std::string::npos ||
                      source.text.find("<thrust/") != std::string::npos ||
                      source.text.find("<cuda/") != std::string::npos;
    std::error_code ignored;
    if (asks && std::filesystem::is_directory(cccl, ignored))
      options.push_back("--include-path=" + cccl.string());
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

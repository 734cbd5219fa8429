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
#include "backends/rtc_program.hpp"
#include "core/errors.hpp"

namespace kiln {
namespace {

constexpr std::array<const char*, 2> kHiprtcOptions = {"-O3", "-std=c++17"};

class HiprtcCompiler final : public Compiler {
 public:
  explicit HiprtcCompiler(std::string architecture) : architecture_(std::move(architecture)) {}

  Result<Binary> compile(const Source& source) override {
    const RtcProgram<HiprtcApi> program(hiprtc(), source);
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
    binary.data = program.output(&HiprtcApi::get_code_size, &HiprtcApi::get_code);
    if (binary.data.empty())
      return Failure{Outcome::compile_error, "hipRTC made no code for " + architecture_};
    std::optional<std::vector<std::string>> kernels = read_code_object(binary);
    if (kernels->empty()) kernels.reset();  // a code object without a readable note
    if (Status named = program.take_symbols(source, kernels, binary); !named)
      return named.failure();
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

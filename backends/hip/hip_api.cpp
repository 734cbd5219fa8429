// Loading HIP and hipRTC, and asking which architectures the compiler knows.
// SPDX-License-Identifier: Apache-2.0
#include "backends/hip/hip_api.hpp"

#include <fmt/format.h>

#include "backends/driver_errors.hpp"
#include "core/dynamic_library.hpp"
#include "core/errors.hpp"

namespace kiln {
namespace {

/// Each name by the loader's path, then where ROCm and Hygon's DTK install.
std::vector<std::string> in_usual_folders(const std::vector<std::string>& names) {
  std::vector<std::string> candidates = names;
  for (const std::string folder : {"/opt/rocm/lib/", "/opt/dtk/lib/", "/opt/dtk/hip/lib/"}) {
    for (const std::string& name : names) candidates.push_back(folder + name);
  }
  return candidates;
}

DynamicLibrary open_hip() {
  return DynamicLibrary(
      "HIP", library_candidates("KILN_HIP_LIBRARY",
                                in_usual_folders({"libamdhip64.so.7", "libamdhip64.so.6",
                                                  "libamdhip64.so.5", "libamdhip64.so"})));
}

/// AMD's packages give hipRTC a library of its own from HIP 5.5 on; before, and in Debian's
/// packages, it is part of the runtime's.
DynamicLibrary open_hiprtc() {
  return DynamicLibrary(
      "hipRTC",
      library_candidates("KILN_HIP_LIBRARY",
                         in_usual_folders({"libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so.5",
                                           "libhiprtc.so", "libamdhip64.so.7", "libamdhip64.so.6",
                                           "libamdhip64.so.5", "libamdhip64.so"})));
}

std::string hip_error_text(const HipApi& api, int code) {
  return fmt::format("{} ({}): {}", api.get_error_name(code), code, api.get_error_string(code));
}

HipApi load_hip() {
  const DynamicLibrary library = open_hip();
  HipApi api;
#define KILN_BIND_CALL(result, member, symbol, signature) library.bind(api.member, #symbol);
  KILN_HIP_CALLS(KILN_BIND_CALL)
#undef KILN_BIND_CALL
#define KILN_BIND_CALL(member, symbol) library.bind(api.stream.member, #symbol);
  KILN_HIP_STREAM_CALLS(KILN_BIND_CALL)
#undef KILN_BIND_CALL
#define KILN_BIND_CALL(member, symbol) library.bind_optional(api.stream.member, #symbol);
  KILN_HIP_GRAPH_CALLS(KILN_BIND_CALL)
#undef KILN_BIND_CALL
  library.bind_optional(api.get_device_properties, "hipGetDevicePropertiesR0600");
  if (api.get_device_properties == nullptr)
    library.bind(api.get_device_properties, "hipGetDeviceProperties");
  const int code = api.init(0);
  if (code != 0) throw DeviceError("unavailable: hipInit: " + hip_error_text(api, code));
  return api;
}

/// The calls of AMD's code object manager, which does hipRTC's work.
struct ComgrApi {
  int (*get_isa_count)(std::size_t* count) = nullptr;
  int (*get_isa_name)(std::size_t index, const char** name) = nullptr;
};

/// `version` of HIP: one process holds one comgr, for each carries LLVM, so it must be the one that
/// HIP itself opens.
ComgrApi load_comgr(const DynamicLibrary& hiprtc_library, int version) {
  ComgrApi api;
  hiprtc_library.bind_optional(api.get_isa_count, "amd_comgr_get_isa_count");
  hiprtc_library.bind_optional(api.get_isa_name, "amd_comgr_get_isa_name");
  if (api.get_isa_count != nullptr && api.get_isa_name != nullptr) return api;
  constexpr int kFirstWithComgr3 = 60'400'000;
  const std::vector<std::string> candidates = in_usual_folders(
      version > 0 && version < kFirstWithComgr3
          ? std::vector<std::string>{"libamd_comgr.so.2", "libamd_comgr.so.3", "libamd_comgr.so"}
          : std::vector<std::string>{"libamd_comgr.so.3", "libamd_comgr.so.2", "libamd_comgr.so"});
  const DynamicLibrary library("amd_comgr", candidates);
  library.bind(api.get_isa_count, "amd_comgr_get_isa_count");
  library.bind(api.get_isa_name, "amd_comgr_get_isa_name");
  return api;
}

/// "gfx90a" out of "amdgcn-amd-amdhsa--gfx90a". Left out: generic ones ("gfx9-4-generic"), on which
/// hipRTC 6.4 ends the process.
std::vector<std::string> known_architectures(const ComgrApi& comgr) {
  std::size_t count = 0;
  if (comgr.get_isa_count(&count) != 0) return {};
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    if (comgr.get_isa_name(i, &name) != 0 || name == nullptr) continue;
    const std::string_view architecture = architecture_of_isa(name);
    const bool is_generic = architecture.find('-') != std::string_view::npos;
    if (!architecture.empty() && !is_generic) names.emplace_back(architecture);
  }
  return names;
}

HiprtcApi load_hiprtc() {
  const DynamicLibrary library = open_hiprtc();
  HiprtcApi api;
#define KILN_BIND_CALL(result, member, symbol, signature) library.bind(api.member, #symbol);
  KILN_HIPRTC_CALLS(KILN_BIND_CALL)
#undef KILN_BIND_CALL
  api.path = library.path();
  int (*runtime_version)(int*) = nullptr;  // hiprtcVersion says 9.0 whatever it is
  library.bind_optional(runtime_version, "hipRuntimeGetVersion");
  int version = 0;
  if (runtime_version != nullptr && runtime_version(&version) == 0)
    api.version = hip_version_text(version);
  api.architectures = known_architectures(load_comgr(library, version));
  return api;
}

}  // namespace

const HipApi& hip() {
  static const HipApi kApi = load_hip();
  return kApi;
}

const HiprtcApi& hiprtc() {
  static const HiprtcApi kApi = load_hiprtc();
  return kApi;
}

Failure hip_failure(int code, std::string_view call, Outcome otherwise) {
  const ErrorMeaning meaning = meaning_of_driver_code(code, otherwise);
  return {meaning.outcome, fmt::format("{}: {}", call, hip_error_text(hip(), code)),
          meaning.sticky};
}

std::string_view architecture_of_isa(std::string_view isa) {
  const std::size_t at = isa.find("--");
  return at == std::string_view::npos ? std::string_view() : isa.substr(at + 2);
}

std::string hip_version_text(int version) {
  return fmt::format("{}.{}.{}", version / 10'000'000, version / 100'000 % 100, version % 100'000);
}

}  // namespace kiln

// `kiln doctor`: what works here, for a first look and for reports of defects.
//
// Nothing private is printed: no name of a user or host, no path that holds one, no environment.
// SPDX-License-Identifier: Apache-2.0
#include <gnu/libc-version.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backends/binary_cache.hpp"
#include "cli/command.hpp"
#include "cli/device_choice.hpp"
#include "cli/json_output.hpp"
#include "cli/print.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "cli/units.hpp"
#include "core/device.hpp"
#include "core/program.hpp"
#include "core/shown_text.hpp"
#include "core/utc_time.hpp"
#include "core/version.hpp"
#include "db/database_place.hpp"
#include "db/file_system.hpp"
#include "db/server/server_place.hpp"
#include "db/store.hpp"
#include "tuner/session/devices.hpp"
#include "tuner/workers/worker_compiler.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

/// One line of the report.
struct Finding {
  enum class State { ok, note, broken } state = State::ok;
  std::string area;    ///< "device", "compiler", "folder", ...
  std::string name;    ///< within the area
  std::string text;    ///< what was found
  std::string advice;  ///< what to do; empty: nothing
};
using State = Finding::State;

std::string_view name_of(State state) {
  constexpr std::array<std::string_view, 3> kNames = {"ok", "note", "broken"};
  return kNames.at(static_cast<std::size_t>(state));
}

/// `text` with what variables of the environment hold as their names, the longest first: a home
/// folder becomes "$HOME", whatever it is called.
std::string without_places(std::string text) {
  std::vector<std::pair<std::string, std::string>> places;
  for (const char* name :
       {"HOME", "TMPDIR", "XDG_DATA_HOME", "XDG_CACHE_HOME", "KILN_DB", "KILN_CACHE",
        "KILN_CUDA_LIBRARY", "KILN_HIP_LIBRARY", "KILN_HIP_ROOT", "KILN_OPENCL_LIBRARY",
        "KILN_NVRTC_PATH", "KILN_NVML_LIBRARY", "KILN_CUDA_INCLUDE", "CUDA_PATH"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && std::string_view(value).size() > 1)
      places.emplace_back(value, "$" + std::string(name));
  }
  std::sort(places.begin(), places.end(),
            [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  for (const auto& [value, name] : places) {
    for (std::size_t at = text.find(value); at != std::string::npos;
         at = text.find(value, at + name.size()))
      text.replace(at, value.size(), name);
  }
  return hidden_passwords(text);
}

std::string first_line_of(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

/// The value of NAME="..." in /etc/os-release.
std::string distribution() {
  std::ifstream stream("/etc/os-release");
  constexpr std::string_view kKey = "PRETTY_NAME=";
  for (std::string line; std::getline(stream, line);) {
    if (!line.starts_with(kKey)) continue;
    line.erase(0, kKey.size());
    std::erase(line, '"');
    return line;
  }
  return "Linux";
}

class Doctor {
 public:
  std::vector<Finding> examine() {
    look_at_system();
    const std::vector<BackendDevices> backends = list_devices();
    look_at_devices(backends);
    look_at_compilers(backends);
    look_at_folders();
    look_at_clocks(backends);
    look_at_limits();
    return std::move(findings_);
  }

 private:
  void add(State state, std::string area, std::string name, const std::string& text,
           std::string advice = "") {
    findings_.push_back({state, std::move(area), std::move(name), without_places(text),
                         without_places(std::move(advice))});
  }

  void look_at_system() {
    utsname system{};
    ::uname(&system);
    add(State::ok, "kiln", "version", kVersion);
    add(State::ok, "system", "software",
        fmt::format("{}, Linux {}, glibc {}, {}", distribution(), system.release,
                    ::gnu_get_libc_version(), system.machine));
    const double memory = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
                          static_cast<double>(::sysconf(_SC_PAGESIZE));
    add(State::ok, "system", "hardware",
        fmt::format("{} cores, {} of memory", std::thread::hardware_concurrency(),
                    pretty_bytes(memory)));
  }

  void look_at_devices(const std::vector<BackendDevices>& backends) {
    bool any = false;
    for (const BackendDevices& each : backends) {
      for (const DeviceInfo& device : each.devices) {
        any = true;
        add(State::ok, "device", selector_of(device),
            fmt::format("{} ({}), {}, driver {}", device.name, device.architecture,
                        pretty_bytes(static_cast<double>(device.global_bytes)), device.driver));
      }
      if (each.devices.empty())
        add(State::note, "device", each.backend, short_reason(each.unavailable),
            driver_advice(each.backend));
    }
    if (!any)
      add(State::broken, "device", "any", "there is no device that can be tuned",
          "install the driver of your GPU, or pocl-opencl-icd to try Kiln on the CPU");
  }

  static std::string driver_advice(const std::string& backend) {
    if (backend == "cuda") return "for an NVIDIA GPU: install its driver (libcuda.so.1)";
    if (backend == "hip") return "for an AMD GPU: install ROCm (libamdhip64.so)";
    return "install an OpenCL loader and driver (ocl-icd-libopencl1; pocl-opencl-icd for the CPU)";
  }

  /// Compiles a kernel that does nothing. Without a device a compiler of CUDA or HIP still renders
  /// and prebuilds.
  void look_at_compilers(const std::vector<BackendDevices>& backends) {
    for (const BackendDevices& each : backends) {
      const bool has_device = !each.devices.empty();
      if (each.backend == "opencl" && !has_device) continue;  // its compiler is the driver's
      const DeviceInfo target =
          has_device
              ? each.devices.front()
              : device_for_architecture(each.backend, architecture_or_default(each.backend, ""));
      Source source;
      source.name = "doctor";
      source.entries = {"nothing"};
      source.text = each.backend == "opencl" ? "__kernel void nothing() {}\n"
                                             : "extern \"C\" __global__ void nothing() {}\n";
      const std::string advice =
          each.backend == "cuda"
              ? "install NVRTC: libnvrtc of the CUDA toolkit, or pip install nvidia-cuda-nvrtc"
              : "install hipRTC: libhiprtc, or libamdhip64, of ROCm";
      try {
        const Result<Binary> binary = WorkerCompiler(target).compile(source);
        const std::string with = target.compiler.empty() ? "" : target.compiler + ", ";
        if (binary) {
          add(State::ok, "compiler", each.backend,
              fmt::format("{}compiles for {}", with, target.architecture));
        } else {
          add(has_device ? State::broken : State::note, "compiler", each.backend,
              fmt::format("{}does not compile for {}: {}", with, target.architecture,
                          first_line(binary.failure().message)),
              advice);
        }
      } catch (const Error& error) {
        add(has_device ? State::broken : State::note, "compiler", each.backend,
            short_reason(error.what()), advice);
      }
    }
  }

  void look_at_folders() {
    const fs::path database = default_database_path();
    if (names_server(database)) {
      add(State::ok, "folder", "database", "a server ($KILN_DB)");
    } else if (database.empty()) {
      add(State::broken, "folder", "database", kNoDatabasePlace, "set HOME or KILN_DB");
    } else {
      look_at_database(database);
      look_at_folder("outbox", default_database_file().parent_path() / "outbox", "--outbox");
    }
    const fs::path cache = default_cache_folder();
    std::error_code error;
    if (!cache.empty() && fs::exists(cache, error)) {
      const std::string trouble = BinaryCache(cache).trouble();
      if (!trouble.empty())
        return add(State::broken, "folder", "cache", trouble, "name another with KILN_CACHE");
    }
    look_at_folder("cache", cache, "KILN_CACHE");
    look_at_folder("temporary files", fs::temp_directory_path(error), "TMPDIR");
  }

  void look_at_database(const fs::path& file) {
    std::error_code error;
    if (!fs::exists(file, error)) return look_at_folder("database", file.parent_path(), "KILN_DB");
    try {
      const Store store(file, Store::Mode::read);
      add(State::ok, "database", "content",
          fmt::format("{}, {}", counted(static_cast<std::int64_t>(store.bests().size()), "best"),
                      pretty_bytes(static_cast<double>(fs::file_size(file, error)))));
    } catch (const Error& broken) {
      add(State::broken, "database", "content", broken.what(), "name another with KILN_DB");
    }
    look_at_folder("database", file.parent_path(), "KILN_DB");
  }

  /// `variable`: what names another folder.
  void look_at_folder(const std::string& name, const fs::path& folder,
                      const std::string& variable) {
    const std::string advice = "name another with " + variable;
    if (folder.empty())
      return add(State::broken, "folder", name, "there is no place for it", advice);
    std::error_code error;
    fs::path there = fs::absolute(folder, error);
    while (!fs::exists(there, error) && there.has_relative_path()) there = there.parent_path();
    if (::access(there.c_str(), W_OK | X_OK) != 0)
      return add(State::broken, "folder", name, folder.string() + ": cannot be written to", advice);
    const double room = static_cast<double>(fs::space(there, error).available);
    constexpr double kLittle = 256.0 * (1 << 20);
    const bool is_short = room < kLittle;
    const char* kind = is_network_file_system(there) ? "a network file system, " : "";
    add(is_short ? State::note : State::ok, "folder", name,
        fmt::format("{}: {}{} free", folder.string(), kind, pretty_bytes(room)),
        is_short ? "make room, or " + advice : "");
  }

  void look_at_clocks(const std::vector<BackendDevices>& backends) {
    const std::string now = utc_now();
    const bool is_late = now < "2026";
    add(is_late ? State::note : State::ok, "clock", "time of day", now,
        is_late ? "set the clock: after a merge the latest best counts" : "");
    const std::string governor =
        first_line_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    const bool varies = !governor.empty() && governor != "performance";
    if (!governor.empty())
      add(varies ? State::note : State::ok, "clock", "CPU governor", governor,
          varies ? "times on the CPU vary less with: cpupower frequency-set -g performance" : "");
    const auto has = [&](const std::string& backend) {
      return std::any_of(backends.begin(), backends.end(), [&](const BackendDevices& each) {
        return each.backend == backend && !each.devices.empty();
      });
    };
    if (has("cuda")) look_at_boards();
    if (has("hip")) look_at_caps();
  }

  /// NVIDIA's own program says what boards may use.
  void look_at_boards() {
    const Ended asked =
        run_program({.words = {"nvidia-smi", "--format=csv,noheader",
                               "--query-gpu=index,power.limit,power.default_limit,clocks.max.sm,"
                               "clocks_throttle_reasons.active,compute_mode,mig.mode.current"},
                     .folder = {},
                     .input = {}});
    if (!asked.is_ok())
      return add(State::note, "clock", "power limits", "not known: nvidia-smi does not answer",
                 "install nvidia-smi, which belongs to the driver");
    std::istringstream lines(asked.out);
    for (std::string line; std::getline(lines, line);) {
      const std::size_t comma = line.find(", ");
      if (comma == std::string::npos) continue;
      add(State::ok, "clock", "board " + line.substr(0, comma),
          "power limit, its default, highest clock, limits now, mode, MIG: " +
              line.substr(comma + 2));
    }
  }

  /// The power caps of AMD boards, in microwatts.
  void look_at_caps() {
    std::error_code error;
    for (const fs::directory_entry& each : fs::directory_iterator("/sys/class/hwmon", error)) {
      const std::string cap = first_line_of(each.path() / "power1_cap");
      if (cap.empty() || first_line_of(each.path() / "name") != "amdgpu") continue;
      add(State::ok, "clock", "board " + each.path().filename().string(),
          fmt::format("power limit {:.0f} W", std::strtod(cap.c_str(), nullptr) * 1e-6));
    }
  }

  void look_at_limits() {
    rlimit files{};
    ::getrlimit(RLIMIT_NOFILE, &files);
    constexpr rlim_t kFew = 256;
    add(files.rlim_cur < kFew ? State::note : State::ok, "limit", "open files",
        files.rlim_cur == RLIM_INFINITY ? "none" : std::to_string(files.rlim_cur),
        files.rlim_cur < kFew ? "raise it: ulimit -n 1024" : "");
    rlimit memory{};
    ::getrlimit(RLIMIT_AS, &memory);
    const bool is_limited = memory.rlim_cur != RLIM_INFINITY;
    add(is_limited ? State::note : State::ok, "limit", "address space",
        is_limited ? pretty_bytes(static_cast<double>(memory.rlim_cur)) : "none",
        is_limited ? "drivers map much more than they use: ulimit -v unlimited" : "");
  }

  std::vector<Finding> findings_;
};

struct DoctorFlags {
  CommonOptions common;
};

ExitCode run_doctor(const DoctorFlags& options) {
  const std::vector<Finding> findings = Doctor().examine();
  const bool is_broken = std::any_of(findings.begin(), findings.end(), [](const Finding& each) {
    return each.state == State::broken;
  });
  if (options.common.json) {
    Json rows = Json::array();
    for (const Finding& each : findings) {
      rows.push_back({{"state", name_of(each.state)},
                      {"area", each.area},
                      {"name", each.name},
                      {"text", each.text},
                      {"advice", each.advice}});
    }
    print_shown("{}",
                json_output({{"version", kVersion}, {"works", !is_broken}, {"findings", rows}}));
  } else {
    Table table({{"state"}, {"area"}, {"name"}, {"what was found"}});
    for (const Finding& each : findings) {
      std::vector<std::string> notes;
      if (each.state != State::ok && !each.advice.empty()) notes.push_back(each.advice);
      table.add_row({std::string(name_of(each.state)), each.area, each.name, each.text}, notes);
    }
    print_shown("{}", table.text(output_width()));
  }
  return is_broken ? ExitCode::failed : ExitCode::ok;
}

}  // namespace

void add_doctor_command(CLI::App& app, Work& work) {
  auto options = std::make_shared<DoctorFlags>();
  CLI::App* command = app.add_subcommand("doctor", "Say what works here, and what to install");
  add_json_option(*command, options->common);
  command->footer(
      "Put its output into a report of a defect: it names no user, host or private path.\n"
      "A note costs nothing that you need; exit code 1 where something is broken.\n"
      "\n"
      "Example:\n"
      "  kiln doctor");
  command->callback([options, &work] { work = [options] { return run_doctor(*options); }; });
}

}  // namespace kiln::cli

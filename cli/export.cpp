// `kiln export`: the kernel that the launcher would run, as files for programs that want no
// dependency at run time.
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backends/backend.hpp"
#include "cli/command.hpp"
#include "cli/export_header.hpp"
#include "cli/json_output.hpp"
#include "cli/options.hpp"
#include "cli/print.hpp"
#include "cli/search_options.hpp"
#include "cli/text_files.hpp"
#include "cli/winners.hpp"
#include "tuner/workers/worker_compiler.hpp"

namespace kiln::cli {
namespace fs = std::filesystem;
namespace {

struct ExportFlags {
  CommonOptions common;
  TargetOptions target;
  std::string kernel;
  std::vector<std::string> problems;
  std::optional<Timing> timing;
  fs::path source;
  fs::path cubin;
  fs::path header;
  bool force = false;
};

std::string extension_of(const std::string& backend) {
  if (backend == "cuda") return ".cu";
  return backend == "hip" ? ".hip" : ".cl";
}

Json step_json(const StepPlan& step) {
  if (step.kind == StepKind::clear) return {{"clear", step.buffer}};
  Json json = {{"entry", step.entry},
               {"grid", step.grid},
               {"block", step.block},
               {"cluster", step.cluster},
               {"shared_bytes", step.shared_bytes},
               {"programmatic", step.programmatic},
               {"arguments", step.arguments},
               {"constants", step.constants}};
  for (const auto& [name, bytes] : step.locals) json["local"][name] = bytes;
  return json;
}

Json tensor_map_json(const TensorMapPlan& map) {
  return {{"name", map.name},
          {"buffer", map.buffer},
          {"dtype", name_of(map.dtype)},
          {"offset_bytes", map.offset_bytes},
          {"shape", map.shape},
          {"stride_bytes", map.stride_bytes},
          {"box", map.box},
          {"lower", map.lower},
          {"upper", map.upper},
          {"element_strides", map.element_strides},
          {"swizzle_bytes", map.swizzle_bytes},
          {"promotion_bytes", map.promotion_bytes},
          {"fill", map.fill_nan ? "nan" : "zero"},
          {"tf32", map.to_tf32}};
}

/// Everything that a program must know to launch the source: what Setting::plan() tells the
/// launcher.
constexpr std::string_view kLaunchMark = "\"grade\": \"";  // of what geometry() returns

Json geometry(const Winner& winner, const DeviceInfo& device) {
  Json buffers = Json::array();
  for (const BufferPlan& buffer : winner.plan.buffers) {
    buffers.push_back({{"name", buffer.name},
                       {"dtype", name_of(buffer.dtype)},
                       {"shape", buffer.shape},
                       {"bytes", buffer.bytes()},
                       {"workspace", buffer.workspace},
                       {"zeroed", buffer.zeroed}});
  }
  Json scalars = Json::array();
  for (const ScalarPlan& scalar : winner.plan.scalars) {
    Json entry = {{"name", scalar.name}, {"dtype", name_of(scalar.dtype)}};
    if (scalar.from_caller) {
      entry["from_caller"] = true;
    } else {
      entry["value"] = to_text(scalar.value);
    }
    scalars.push_back(entry);
  }
  Json maps = Json::array();
  for (const TensorMapPlan& map : winner.plan.tensor_maps) maps.push_back(tensor_map_json(map));
  Json steps = Json::array();
  for (const StepPlan& step : winner.plan.steps) steps.push_back(step_json(step));
  return {{"kernel", winner.spec.name},
          {"problem", winner.problem.text()},
          {"config", winner.match.config.text()},
          {"grade", name_of(winner.match.grade)},
          {"device", identity_of(device)},
          {"options", winner.source.options},
          {"buffers", buffers},
          {"scalars", scalars},
          {"tensor_maps", maps},
          {"steps", steps}};
}

fs::path in_folder(const fs::path& folder, const std::string& name) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw UsageError(folder.string() + ": cannot be made: " + error.message());
  return folder / name;
}

Binary compile_winner(const Winner& winner, const DeviceInfo& device) {
  Result<Binary> binary = WorkerCompiler(device).compile(winner.source);
  if (!binary)
    throw InputError(winner.spec.name + " does not compile: " + binary.failure().message);
  return std::move(*binary);
}

/// A kernel's own folder holds files of the names that are written.
void require_other_folder(const fs::path& folder, const KernelSpec& spec) {
  std::error_code error;
  const fs::path own = fs::path(spec.path).parent_path();
  if (folder.empty() || !fs::equivalent(folder, own.empty() ? "." : own, error)) return;
  throw UsageError(fmt::format(
      "{}: is the folder of the kernel, whose files would be replaced; name another one",
      folder.string()));
}

class Exporter {
 public:
  explicit Exporter(const ExportFlags& options)
      : options_(options), winners_(options.common, options.target) {
    for (const std::string& problem : options.problems) {
      found_.push_back(
          winners_.find(options.kernel, problem, options.timing.value_or(Timing::eager)));
    }
  }

  void write() {
    for (const fs::path& folder : {options_.source, options_.cubin, options_.header})
      require_other_folder(folder, found_.front().spec);
    for (std::size_t i = 0; i < found_.size(); ++i) {
      const std::string stem = stem_of(i);
      const DeviceInfo& device = winners_.device();
      if (!options_.source.empty()) {
        const fs::path launch = in_folder(options_.source, stem + ".json");
        // A plain source has no mark of its own: what lies beside it says whose it is.
        const std::string_view mark = has_mark(launch, kLaunchMark) ? "" : "\n// Variant ";
        put(in_folder(options_.source, stem + extension_of(device.backend)), found_[i].source.text,
            mark, mark.empty());
        put(launch, json_output(geometry(found_[i], device)), kLaunchMark);
      }
      if (!options_.cubin.empty()) {
        const Binary binary = compile_winner(found_[i], device);
        // A binary begins as every other one of its kind.
        const std::string_view bytes(reinterpret_cast<const char*>(binary.data.data()),
                                     binary.data.size());
        put(in_folder(options_.cubin, stem + (device.backend == "cuda" ? ".cubin" : ".bin")), bytes,
            bytes.substr(0, 4));
        if (!binary.symbols.empty()) {
          put(in_folder(options_.cubin, stem + ".symbols.json"), json_output(binary.symbols), "{");
        }
      }
    }
    if (!options_.header.empty()) {
      const std::string name = found_.front().spec.name + ".hpp";
      put(in_folder(options_.header, name), dispatch_header(found_, winners_.device()),
          "// Written by `kiln export --header`");
    }
  }

 private:
  /// "reduce" for one problem, "reduce_1", "reduce_2" ... for several.
  [[nodiscard]] std::string stem_of(std::size_t index) const {
    const std::string& kernel = found_[index].spec.name;
    return found_.size() == 1 ? kernel : fmt::format("{}_{}", kernel, index + 1);
  }
  /// `mark`: as of Replacing.
  void put(const fs::path& path, std::string_view text, std::string_view mark,
           bool is_ours = false) const {
    write_text_file(path, text, {mark, options_.force || is_ours});
    print_shown("{}\n", path.string());
  }

  const ExportFlags& options_;
  Winners winners_;
  std::vector<Winner> found_;
};

ExitCode run_export(const ExportFlags& options) {
  if (options.source.empty() && options.cubin.empty() && options.header.empty()) {
    throw UsageError(
        "export needs at least one of --source, --cubin and --header, each with a folder");
  }
  Exporter(options).write();
  return ExitCode::ok;
}

}  // namespace

void add_export_command(CLI::App& app, Work& work) {
  auto options = std::make_shared<ExportFlags>();
  CLI::App* command = app.add_subcommand(
      "export",
      "Write the kernel that the launcher would run as files: source, binary, C++ header");
  add_value(*command, "kernel", options->kernel, "KERNEL",
            "Name of a kernel, or the folder of your own")
      ->required();
  command
      ->add_option("--problem", options->problems, "Sizes and types, as for kiln tune; may repeat")
      ->required()
      ->type_name("TEXT")
      ->allow_extra_args(false);
  add_timing_option(*command, options->timing);
  add_value(*command, "--source", options->source, "DIR",
            "Folder for the whole source, and its launch geometry as JSON");
  add_force_option(*command, options->force);
  add_value(*command, "--cubin", options->cubin, "DIR", "Folder for the compiled binary");
  add_value(*command, "--header", options->header, "DIR",
            "Folder for a C++17 header: sources, geometry and a table over the problems");
  add_target_options(*command, options->target);
  add_database_option(*command, options->common);
  add_kernel_path_option(*command, options->common);
  command->footer(
      "Prints the names of the files it wrote. With several problems, the files are numbered\n"
      "in their order.\n"
      "\n"
      "Example:\n"
      "  kiln export reduce --problem n=1e6 --problem n=1e8 --arch sm_90a --header ./generated");
  command->callback([options, &work] { work = [options] { return run_export(*options); }; });
}

}  // namespace kiln::cli

// `kiln prebuild`: compiles what a launcher would run into its cache, for machines without a
// compiler.
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <set>

#include <nlohmann/json.hpp>

#include "backends/backend.hpp"
#include "backends/binary_cache.hpp"
#include "cli/command.hpp"
#include "cli/json_output.hpp"
#include "cli/options.hpp"
#include "cli/print.hpp"
#include "cli/text_files.hpp"
#include "cli/units.hpp"
#include "cli/winners.hpp"
#include "core/input_file.hpp"
#include "launcher/src/cache_key.hpp"
#include "spec/plan.hpp"
#include "tuner/workers/worker_compiler.hpp"

namespace kiln::cli {
namespace fs = std::filesystem;
namespace {

struct PrebuildFlags {
  CommonOptions common;
  TargetOptions target;
  std::string kernel;
  std::vector<std::string> problems;
  fs::path plan;
  fs::path cache;
};

struct Wanted {
  std::string kernel;
  std::string problem;
  std::optional<SourceLocation> where;  ///< in the plan
};

std::vector<Wanted> wanted(const PrebuildFlags& options) {
  if (options.kernel.empty() == options.plan.empty()) {
    throw UsageError("prebuild takes a kernel with --problem, or --plan FILE, one of the two");
  }
  std::vector<Wanted> all;
  if (options.plan.empty()) {
    if (options.problems.empty()) throw UsageError("prebuild KERNEL needs at least one --problem");
    for (const std::string& problem : options.problems)
      all.push_back({options.kernel, problem, {}});
    return all;
  }
  const SweepPlan plan = parse_plan(read_input(options.plan, kPlanFile), options.plan.string());
  for (const PlannedSession& session : plan.sessions) {
    const bool is_path =
        session.kernel.find('/') != std::string::npos || session.kernel.starts_with(".");
    all.push_back(
        {is_path ? (options.plan.parent_path() / session.kernel).string() : session.kernel,
         session.problem, session.where});
  }
  return all;
}

std::vector<Winner> find_winners(const Winners& winners, const Wanted& each) {
  try {
    return winners.find_all(each.kernel, each.problem);
  } catch (const InputError& error) {
    if (!each.where) throw;
    throw InputError(*each.where, error.what());
  }
}

/// What became of one problem.
struct Built {
  Winner winner;
  std::string state;  ///< "compiled", "there already", "failed"
  std::string key;
  std::string message;  ///< of a failure
};

std::uint64_t cache_limit() {
  const CacheLimit limit = default_cache_limit();
  if (!limit.trouble.empty()) throw UsageError(limit.trouble);
  return limit.bytes;
}

class Builder {
 public:
  Builder(const DeviceInfo& device, const fs::path& cache)
      : device_(device), backend_(make_backend(device.backend)), cache_(cache, cache_limit()) {
    if (!cache_.trouble().empty())
      throw UsageError("the cache cannot be used: " + cache_.trouble());
  }

  Built build(Winner winner) {
    Built built{std::move(winner), "there already", "", ""};
    built.key = cache_key(built.winner.source, device_, backend_->compiler_options(),
                          Launcher::Toolkit::any);
    if (cache_.find(built.key)) return built;
    if (!compiler_) compiler_ = std::make_unique<WorkerCompiler>(device_);
    const Result<Binary> binary = compiler_->compile(built.winner.source);
    built.state = binary ? "compiled" : "failed";
    if (!binary) {
      built.message = binary.failure().message;
    } else if (!cache_.store(built.key, *binary, device_.compiler)) {
      throw UsageError("the cache cannot be written to, or is too small (KILN_CACHE_LIMIT)");
    }
    return built;
  }

 private:
  DeviceInfo device_;
  std::unique_ptr<Backend> backend_;
  BinaryCache cache_;
  std::unique_ptr<Compiler> compiler_;
};

Json to_json(const Built& built) {
  return {{"kernel", built.winner.spec.name},
          {"problem", built.winner.problem.text()},
          {"config", built.winner.match.config.text()},
          {"device", identity_of(built.winner.device)},
          {"grade", name_of(built.winner.match.grade)},
          {"state", built.state},
          {"key", built.key},
          {"message", built.message}};
}

ExitCode run_prebuild(const PrebuildFlags& options) {
  const std::vector<Wanted> all = wanted(options);
  const Winners winners(options.common, options.target);
  std::vector<Winner> found;
  for (const Wanted& each : all) {  // all checked first
    for (Winner& winner : find_winners(winners, each)) found.push_back(std::move(winner));
  }
  const fs::path folder = options.cache.empty() ? default_cache_folder() : options.cache;
  Builder builder(winners.device(), folder);
  Json rows = Json::array();
  std::set<std::string> keys;
  int failures = 0;
  for (Winner& winner : found) {
    const Built built = builder.build(std::move(winner));
    keys.insert(built.key);
    failures += built.state == "failed" ? 1 : 0;
    rows.push_back(to_json(built));
    if (options.common.json) continue;
    print_shown("{:<13}  {}  {}  {} ({} on {})\n", built.state, built.winner.spec.name,
                built.winner.problem.short_text(built.winner.spec),
                built.winner.match.config.text(), name_of(built.winner.match.grade),
                built.winner.device.name);
    if (!built.message.empty()) print_shown(stderr, "{}\n", built.message);
  }
  if (options.common.json) {
    print_shown("{}", json_output({{"device", identity_of(winners.device())},
                                   {"cache", folder.string()},
                                   {"kernels", rows}}));
  } else {
    print_shown("{} in {} {} for {} in {}\n",
                counted(static_cast<std::int64_t>(all.size()), "problem"), keys.size(),
                keys.size() == 1 ? "binary" : "binaries", winners.device().architecture,
                folder.string());
  }
  return failures == 0 ? ExitCode::ok : ExitCode::failed;
}

}  // namespace

void add_prebuild_command(CLI::App& app, Work& work) {
  auto options = std::make_shared<PrebuildFlags>();
  CLI::App* command = app.add_subcommand(
      "prebuild",
      "Compile what the launcher would run into its cache, for machines without a compiler");
  add_value(*command, "kernel", options->kernel, "KERNEL",
            "Name of a kernel, or the folder of your own");
  add_value(*command, "--problem", options->problems, "TEXT",
            "Sizes and types, as for kiln tune; may repeat")
      ->allow_extra_args(false);
  add_value(*command, "--plan", options->plan, "FILE", "Plan file: the problems of its sessions");
  add_target_options(*command, options->target);
  add_value(*command, "--cache", options->cache, "DIR",
            "Folder (default: $KILN_CACHE, else kiln in the user's cache folder)");
  add_common_options(*command, options->common);
  command->footer(
      "CUDA and HIP kernels need no GPU: give --arch to compile for every device of that\n"
      "architecture in the database, and for one that it does not know; or give the identity of\n"
      "one device (`kiln db info`). OpenCL compiles for its own devices.\n"
      "\n"
      "Example:\n"
      "  kiln prebuild reduce --problem n=1e6 --problem n=1e8 --arch sm_90a --cache ./kernels");
  command->callback([options, &work] { work = [options] { return run_prebuild(*options); }; });
}

}  // namespace kiln::cli

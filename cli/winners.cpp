// SPDX-License-Identifier: Apache-2.0
#include "cli/winners.hpp"

#include <algorithm>
#include <set>

#include "cli/device_choice.hpp"
#include "cli/known_bests.hpp"
#include "cli/options.hpp"
#include "core/errors.hpp"
#include "core/setting.hpp"
#include "db/store.hpp"
#include "templates/renderer.hpp"
#include "tuner/rules/problem_limits.hpp"
#include "wisdom/shipped.hpp"

namespace kiln::cli {
namespace fs = std::filesystem;

void add_target_options(CLI::App& command, TargetOptions& options) {
  add_value(command, "--device", options.device, "DEVICE",
            "auto, a backend, a device as `kiln devices` names it, or the identity of one\n"
            "that the database knows, which need not be here")
      ->capture_default_str();
  add_value(command, "--arch", options.architecture, "NAME",
            "Architecture to compile for where no such device is, e.g. sm_90a");
  add_value(command, "--backend", options.backend, "BACKEND", "Backend of --arch: cuda or hip")
      ->capture_default_str();
  command.add_flag("--no-shipped", options.no_shipped,
                   "Leave out the wisdom that is part of Kiln, as a launcher that does so");
}

Winners::Winners(const CommonOptions& common, const TargetOptions& target)
    : common_(common),
      library_(common.library()),
      for_architecture_(!target.architecture.empty()),
      asks_shipped_(!target.no_shipped) {
  if (exists_or_warn(common.database)) {
    stored_ = Store(common.database, Store::Mode::read).bests();
  }
  device_ = choose(target);
}

// A device that the database knows is taken from there: its facts are the real ones.
DeviceInfo Winners::choose(const TargetOptions& target) const {
  if (!target.architecture.empty()) {
    return device_for_architecture(target.backend, target.architecture);
  }
  for (const BestRecord& best : stored_) {
    if (best.key.device == target.device) return best.device_info;
  }
  for (const std::string& kernel : library_.names()) {
    if (target.device.find('/') == std::string::npos) break;  // no identity
    for (const BestRecord& best : shipped_of(kernel)) {
      if (best.key.device == target.device) return best.device_info;
    }
  }
  return choose_device(target.device);
}

std::vector<BestRecord> Winners::shipped_of(const std::string& kernel) const {
  return asks_shipped_ ? shipped_bests(kernel) : std::vector<BestRecord>();
}

std::vector<BestRecord> Winners::bests_of(const std::string& kernel) const {
  std::vector<BestRecord> bests;
  for (const BestRecord& best : stored_) {
    if (best.key.kernel == kernel) bests.push_back(best);
  }
  for (BestRecord& best : shipped_of(kernel)) bests.push_back(std::move(best));
  return bests;
}

Winner Winners::find_on(const DeviceInfo& device, const KernelSpec& spec,
                        const std::string& problem, const std::vector<BestRecord>& bests,
                        Timing timing) const {
  if (spec.command) {
    throw UsageError("'" + spec.name +
                     "' is a program ([command]): it has no kernel that a launcher would run");
  }
  Winner winner;
  winner.device = device;
  winner.spec = spec;
  winner.problem = Problem::parse(spec, problem);
  const Setting setting(spec, winner.problem, device);
  require_problem_fits(setting);
  Result<Match> match = lookup(setting, bests, timing);
  if (!match) throw DeviceError(match.failure().message);
  winner.match = std::move(*match);
  Result<LaunchPlan> plan = setting.plan(winner.match.config);
  if (!plan) throw DeviceError(spec.name + ": " + plan.failure().message);
  winner.plan = std::move(*plan);
  winner.source = Renderer(spec).render(setting, winner.match.config);
  return winner;
}

Winner Winners::find(const std::string& kernel, const std::string& problem, Timing timing) const {
  const KernelSpec spec = library_.load(kernel);
  return find_on(device_, spec, problem, bests_of(spec.name), timing);
}

std::vector<Winner> Winners::find_all(const std::string& kernel, const std::string& problem) const {
  const KernelSpec spec = library_.load(kernel);
  const std::vector<BestRecord> bests = bests_of(spec.name);
  std::vector<Winner> winners = {find_on(device_, spec, problem, bests, Timing::eager)};
  const auto add = [&](Winner winner) {
    const bool is_new = std::none_of(winners.begin(), winners.end(), [&](const Winner& known) {
      return known.source.text == winner.source.text;
    });
    if (is_new) winners.push_back(std::move(winner));
  };
  const bool has_graph_rows = std::any_of(bests.begin(), bests.end(), [](const BestRecord& best) {
    return best.key.timing == Timing::graph;
  });
  if (has_graph_rows) add(find_on(device_, spec, problem, bests, Timing::graph));
  std::set<std::string> seen;
  for (const BestRecord& best : bests) {
    const DeviceInfo& other = best.device_info;
    if (!for_architecture_ || other.backend != device_.backend ||
        other.architecture != device_.architecture || !seen.insert(best.key.device).second) {
      continue;
    }
    add(find_on(other, spec, problem, bests, Timing::eager));
    if (has_graph_rows) add(find_on(other, spec, problem, bests, Timing::graph));
  }
  return winners;
}

}  // namespace kiln::cli

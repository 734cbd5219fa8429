// `kiln best KERNEL --problem ...`: ask the database for the config to run.
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/checks.hpp"
#include "cli/command.hpp"
#include "cli/device_choice.hpp"
#include "cli/finals.hpp"
#include "cli/help_text.hpp"
#include "cli/json_output.hpp"
#include "cli/known_bests.hpp"
#include "cli/options.hpp"
#include "cli/pareto.hpp"
#include "cli/print.hpp"
#include "cli/search_options.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "cli/text_files.hpp"
#include "cli/text_layout.hpp"
#include "cli/units.hpp"
#include "core/errors.hpp"
#include "core/input_file.hpp"
#include "core/metrics.hpp"
#include "core/problem.hpp"
#include "core/spec.hpp"
#include "db/store.hpp"
#include "db/stored_problem.hpp"
#include "lookup/best_so_far.hpp"
#include "lookup/lookup.hpp"
#include "tuner/rules/problem_limits.hpp"
#include "wisdom/selection_lock.hpp"

namespace kiln::cli {
namespace fs = std::filesystem;
namespace {

std::string problem_text(const KernelSpec& spec, const BestRecord& best) {
  try {
    return Problem::make(spec, stored_fields(best.problem_json, best.session)).short_text(spec);
  } catch (const Error&) {
    return best.key.problem;  // of an older spec
  }
}

/// A row for each problem of the database, the newest first, with its config; below it how many
/// problems the shipped wisdom knows, by device.
std::string best_list(const KernelSpec& spec, const std::vector<BestRecord>& bests,
                      const Screen& screen) {
  std::vector<const BestRecord*> own;
  std::map<std::string, std::int64_t> shipped;
  for (const BestRecord& best : bests) {
    if (best.layer == kShippedLayer) {
      ++shipped[best.device_info.name];
    } else {
      own.push_back(&best);
    }
  }
  std::stable_sort(own.begin(), own.end(), [](const BestRecord* a, const BestRecord* b) {
    return a->published_at > b->published_at;
  });
  Table table({{"problem"},
               {"best", Table::Align::right},
               {"speed-up", Table::Align::right},
               {"verdict"},
               {"device"}});
  for (const BestRecord* best : own) {
    const std::string timed = best->key.timing == Timing::graph ? " (in a graph)" : "";
    table.add_row({problem_text(spec, *best) + timed, pretty_time(best->time_ns),
                   pretty_speedup(best->default_time_ns, best->time_ns),
                   verdict_text(*best, screen), best->device_info.name},
                  {best->config.text()});
  }
  std::string out = table.empty() ? paragraph(spec.name + ": nothing in the database", screen.width)
                                  : table.text(screen.width);
  for (const auto& [device, count] : shipped) {
    out += paragraph(fmt::format("shipped with Kiln: {} on {}", counted(count, "problem"), device),
                     screen.width);
  }
  return out +
         paragraph(fmt::format("one problem: kiln best {} --problem ...", spec.name), screen.width);
}

struct BestFlags {
  CommonOptions common;
  std::string kernel;
  std::string problem;
  std::string device = "auto";
  std::string objective = "time";
  std::optional<Timing> timing;
  std::string pareto;  ///< "time,energy"; empty: the best alone
  bool explain = false;
  bool names_problem = false;   ///< --problem was given, be it empty
  bool names_database = false;  ///< --db was given: the file must be there
  bool no_shipped = false;
  fs::path lock;  ///< not empty: asked instead of database and shipped wisdom
};

enum class Layers { all, all_but_shipped };

std::vector<DeviceInfo> tuned_devices(const std::vector<BestRecord>& bests, Layers layers) {
  std::vector<DeviceInfo> devices;
  for (const BestRecord& best : bests) {
    if (layers == Layers::all_but_shipped && best.layer == kShippedLayer) continue;
    const bool known = std::any_of(devices.begin(), devices.end(), [&](const DeviceInfo& device) {
      return identity_of(device) == best.key.device;
    });
    if (!known) devices.push_back(best.device_info);
  }
  return devices;
}

/// What sessions that have not finished would answer, for problems that no row answers exactly.
void add_unfinished(std::vector<BestRecord>& bests, const Store& store, const KernelSpec& spec) {
  for (const SessionRecord& session : store.unfinished(spec.name)) {
    const bool is_answered = std::any_of(bests.begin(), bests.end(), [&](const BestRecord& best) {
      return best.key.problem == session.key.problem && best.key.device == session.key.device &&
             best.key.timing == session.key.timing && best.layer != kShippedLayer;
    });
    std::optional<BestRecord> best;
    if (!is_answered) best = best_so_far(session, store.trials(session.id));
    if (!best) continue;
    const Variant* variant = spec.find_variant(best->config.variant);
    if (variant != nullptr && session.key.spec_hash == content_hash(spec))
      best->template_hash = template_hash(spec, *variant);
    bests.push_back(std::move(*best));
  }
}

/// The rows that a lookup may use: of the lock, or of the database and of the shipped wisdom. In
/// the database also what sessions that have not finished would answer.
std::vector<BestRecord> layered_bests(const BestFlags& options, const KernelSpec& spec) {
  if (!options.lock.empty()) {
    std::vector<BestRecord> bests =
        read_selection_lock(read_input(options.lock, kLockFile), options.lock.string());
    std::erase_if(bests, [&](const BestRecord& best) {
      return best.key.kernel != spec.name || best.objective != options.objective;
    });
    return bests;
  }
  const RowSources sources = {.database = options.common.database,
                              .must_exist = options.names_database || options.no_shipped,
                              .shipped = !options.no_shipped};
  const std::optional<Store> database = open_rows(sources);
  std::vector<BestRecord> bests = known_bests(sources, database, spec.name, options.objective);
  if (database && options.objective == kTimeObjective) add_unfinished(bests, *database, spec);
  return bests;
}

std::string identities(const std::vector<DeviceInfo>& devices) {
  std::string text;
  for (const DeviceInfo& device : devices) text += "\n  " + identity_of(device);
  return text;
}

// The device that the answer is for: as it is now where it is on this machine, else as the database
// knows it.
DeviceInfo device_to_ask_for(const KernelSpec& spec, const BestFlags& options,
                             const std::vector<BestRecord>& bests) {
  const std::vector<DeviceInfo> own = tuned_devices(bests, Layers::all_but_shipped);
  if (options.device == "auto" && own.size() == 1) return as_here(own.front());
  const std::vector<DeviceInfo> tuned = tuned_devices(bests, Layers::all);
  for (const DeviceInfo& device : tuned) {
    if (current_identity(options.device, device) == identity_of(device)) return as_here(device);
  }
  try {
    return choose_device(spec, options.device);
  } catch (const DeviceError& error) {
    if (tuned.empty()) throw;
    throw DeviceError(fmt::format("{}\nthere are bests of (--device takes these too):{}",
                                  error.what(), identities(tuned)));
  }
}

std::string unfinished_text(const BestRecord& best) {
  return fmt::format(
      "session {} has not finished: this is its fastest config so far, not decided in finals; the "
      "same `kiln tune` goes on",
      best.session);
}

Json tuned_json(const BestRecord& best) {
  return {{"problem", stored_problem(best.problem_json, best.session)},
          {"device", best.key.device},
          {"options", best.key.options},
          {"timing", name_of(best.key.timing)},
          {"objective", best.objective},
          {"value", best.objective == kTimeObjective ? best.time_ns : best.value},
          {"time_ns", best.time_ns},
          {"default_time_ns", best.default_time_ns},
          {"verdict", name_of(best.verdict)},
          {"trials", best.trials},
          {"failures", best.failures},
          {"session", best.session},
          {"unfinished", is_unfinished(best)},
          {"published_at", best.published_at},
          {"driver", best.key.driver},
          {"compiler", best.key.compiler}};
}

Json match_json(const Setting& setting, const Match& match) {
  Json json = {{"kernel", setting.spec().name},
               {"problem", to_json(setting.problem())},
               {"device", identity_of(setting.device())},
               {"grade", name_of(match.grade)},
               {"distance", match.distance},
               {"reason", match.reason},
               {"stale", match.stale},
               {"other_timing", match.other_timing},
               {"config", to_json(match.config)},
               {"config_text", match.config.text()},
               {"tuned", match.best ? tuned_json(*match.best) : Json(nullptr)}};
  json["steps"] = match.steps;
  return json;
}

/// One fact, its name in front; further lines stand under the first.
void print_fact(const std::string& name, const std::string& text) {
  constexpr std::size_t kName = 9;
  print_shown("{}",
              paragraph(fmt::format("{:<{}}{}", name, kName, text), output_width(), 0, kName));
}

std::string tuned_text(const BestRecord& best) {
  std::string text = pretty_time(best.time_ns);
  const std::string rate = pretty_rate(best.bytes, best.flops, best.time_ns);
  if (rate != "-") text += " (" + rate + ")";
  if (best.default_time_ns > 0) {
    text += fmt::format(", {} over the default config ({})",
                        pretty_speedup(best.default_time_ns, best.time_ns), verdict_text(best));
  } else {
    text += " (the default config has no time to compare with)";
  }
  if (best.key.timing == Timing::graph) text += "; timed in a graph";
  text += fmt::format("; {}, {} failed", counted(best.trials, "trial"), best.failures);
  return is_unfinished(best) ? text : text + "; " + best.published_at;
}

void print_match(const Setting& setting, const Match& match) {
  const KernelSpec& spec = setting.spec();
  print_fact("kernel", fmt::format("{}  {}", spec.name, setting.problem().short_text(spec)));
  print_fact("device", identity_of(setting.device()));
  const Screen screen = screen_of(STDOUT_FILENO);
  print_fact("config", styled(match.config.text(), Style::strong, screen));
  print_fact("grade", fmt::format("{}: {}", name_of(match.grade), match.reason));
  if (!match.best) return;
  const BestRecord& best = *match.best;
  print_fact("tuned", tuned_text(best));
  if (is_unfinished(best)) print_fact("note", unfinished_text(best));
  if (best.objective != kTimeObjective) {
    print_fact(best.objective,
               fmt::format("{:.4g} {}", best.value, find_objective(spec, best.objective).unit));
  }
}

void print_steps(const Match& match) {
  for (const std::string& step : match.steps)
    print_shown("{}", paragraph("- " + step, output_width(), 2, 4));
}

/// Everything that is known of the kernel, where no problem is asked about.
ExitCode list_known(const KernelSpec& spec, const BestFlags& options) {
  std::vector<BestRecord> bests = layered_bests(options, spec);
  if (options.common.json) {
    Json json = Json::array();
    for (const BestRecord& best : bests) {
      json.push_back(tuned_json(best));
      json.back()["config_text"] = best.config.text();
      json.back()["shipped"] = best.layer == kShippedLayer;
    }
    print_shown("{}", json_output(json));
  } else {
    print_shown("{}", best_list(spec, bests, screen_of(STDOUT_FILENO)));
  }
  return ExitCode::ok;
}

ExitCode run_best(const BestFlags& options) {
  const KernelSpec spec = options.common.library().load(options.kernel);
  if (!options.names_problem && options.pareto.empty()) return list_known(spec, options);
  const Problem problem = Problem::parse(spec, options.problem);
  (void)find_objective(spec, options.objective);
  std::vector<BestRecord> bests = layered_bests(options, spec);
  const DeviceInfo device = device_to_ask_for(spec, options, bests);
  const Setting setting(spec, problem, device);
  require_problem_fits(setting);
  if (!options.pareto.empty())
    return print_pareto({setting, options.pareto, options.timing, options.common});
  const Result<Match> match = lookup(setting, bests, options.timing.value_or(Timing::eager));
  if (!match) throw DeviceError(match.failure().message);
  if (options.common.json) {
    print_shown("{}", json_output(match_json(setting, *match)));
    return ExitCode::ok;
  }
  print_match(setting, *match);
  if (options.explain) print_steps(*match);
  return ExitCode::ok;
}

}  // namespace

void add_best_command(CLI::App& app, Work& work) {
  auto options = std::make_shared<BestFlags>();
  CLI::App* command = app.add_subcommand(
      "best", "Ask the database for the config to run, and how good the match is");
  add_kernel_and_problem(*command, options->kernel, options->problem);
  add_value(*command, "--device", options->device, "DEVICE",
            "auto: the one the database was tuned on, else the best present; or a backend,\n"
            "a device as `kiln devices` names it, an identity as `kiln db info` prints it")
      ->capture_default_str();
  add_value(*command, "--objective", options->objective, "OBJECTIVE",
            "time, energy or a metric of the kernel: what it was tuned for")
      ->capture_default_str()
      ->group(kMoreOptions);
  add_value(*command, "--pareto", options->pareto, "A,B",
            "Two objectives, e.g. time,energy: list the stored configs of this problem that\n"
            "no other beats in both")
      ->group(kMoreOptions);
  add_timing_option(*command, options->timing);
  command->add_flag("--explain", options->explain, "Print the lookup chain as it was walked");
  command
      ->add_flag("--no-shipped", options->no_shipped,
                 "Ask the database alone, not the wisdom that is part of Kiln")
      ->group(kMoreOptions);
  add_value(*command, "--lock", options->lock, "FILE",
            "Ask this lock of `kiln db lock` alone, as a launcher with KILN_LOCK does")
      ->check(file_name())
      ->group(kMoreOptions);
  add_common_options(*command, options->common);
  command->footer(
      "Without --problem: lists the problems of the kernel that are known.\n"
      "Grades, best first: exact, near_size, same_arch, same_vendor, default. A session that has\n"
      "not finished also answers, with its fastest config so far; the answer is marked.\n"
      "\n"
      "Example:\n"
      "  kiln best matmul --problem m=500,n=500,k=500,dtype=f32 --json\n"
      "  kiln best matmul --problem m=512,n=512,k=512,dtype=f32 --pareto time,energy");
  command->callback([options, command, &work] {
    options->names_problem = command->count("--problem") > 0;
    options->names_database = command->count("--db") > 0;
    work = [options] { return run_best(*options); };
  });
}

}  // namespace kiln::cli

// `kiln coverage FILE`: what an application's recorded calls ran with, and what tuning the rest
// would be worth.
// SPDX-License-Identifier: Apache-2.0
#include "lookup/coverage.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/checks.hpp"
#include "cli/command.hpp"
#include "cli/json_output.hpp"
#include "cli/known_bests.hpp"
#include "cli/options.hpp"
#include "cli/print.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "cli/text_files.hpp"
#include "cli/text_layout.hpp"
#include "cli/units.hpp"
#include "core/input_file.hpp"
#include "core/metrics.hpp"
#include "core/shell_word.hpp"

namespace kiln::cli {
namespace {

struct CoverageFlags {
  CommonOptions common;
  std::vector<std::string> files;
  bool names_database = false;
  bool no_shipped = false;
};

/// What ran: tuned for the problem and device, near one that was, or with the default config.
enum class Share { tuned, near, fallback };
constexpr std::array kShares = {Share::tuned, Share::near, Share::fallback};

std::string_view name_of(Share share) {
  constexpr std::array<std::string_view, 3> kNames = {"tuned", "near", "default"};
  return kNames[static_cast<std::size_t>(share)];
}

Share share_of(const CallRecord& record) {
  if (record.grade == "exact") return Share::tuned;
  return record.grade == "default" ? Share::fallback : Share::near;
}

struct CoveredCalls {
  CallRecord record;
  CallEstimate estimate;

  [[nodiscard]] double worth_ns() const { return estimate.worth_ns(record); }
};

struct Coverage {
  std::vector<CoveredCalls> calls;  ///< what tuning is worth the most for comes first
  std::array<double, 3> counts{};   ///< calls by Share
  double all = 0;                   ///< calls; a stranger's counts may be as large as they like
  double ran_ns = 0;                ///< of the calls with an estimate
  double worth_ns = 0;
};

std::vector<CallRecord> read_files(const CoverageFlags& options) {
  std::vector<CallRecord> records;
  for (const std::string& file : options.files) {
    const CallList list =
        read_calls(read_input(file, {"a file that KILN_STATISTICS named", 64 * kMiB}), file);
    if (list.records.empty() && !list.bad.empty())
      throw InputError(list.bad.front() + "; no line of the file is a record of calls");
    for (const std::string& line : list.bad) print_shown(stderr, "kiln: warning: {}\n", line);
    records.insert(records.end(), list.records.begin(), list.records.end());
  }
  if (records.empty()) throw InputError("no call was recorded");
  return added_up(records);
}

/// The spec and rows of each kernel, read once.
class KernelRows {
 public:
  explicit KernelRows(const CoverageFlags& options)
      : library_(options.common.library()),
        sources_{.database = options.common.database,
                 .must_exist = options.names_database,
                 .shipped = !options.no_shipped},
        store_(open_rows(sources_)) {}

  [[nodiscard]] CallEstimate estimate(const CallRecord& record) {
    Known& known = known_of(record.kernel);
    if (known.spec) return estimate_calls(*known.spec, record, known.rows);
    CallEstimate none;
    none.unknown = known.unreadable;
    return none;
  }

 private:
  struct Known {
    std::optional<KernelSpec> spec;
    std::vector<BestRecord> rows;
    std::string unreadable;
  };

  Known& known_of(const std::string& kernel) {
    const auto [place, is_new] = kernels_.try_emplace(kernel);
    Known& known = place->second;
    if (!is_new) return known;
    try {
      known.spec = library_.load(kernel);
      known.rows = known_bests(sources_, store_, known.spec->name, std::string(kTimeObjective));
    } catch (const InputError& error) {
      known.unreadable = error.what();
    }
    return known;
  }

  KernelLibrary library_;
  RowSources sources_;
  std::optional<Store> store_;
  std::map<std::string, Known> kernels_;
};

Coverage cover(const CoverageFlags& options) {
  Coverage coverage;
  KernelRows kernels(options);
  for (const CallRecord& record : read_files(options)) {
    CoveredCalls covered{record, kernels.estimate(record)};
    const auto calls = static_cast<double>(record.calls());
    coverage.counts[static_cast<std::size_t>(share_of(record))] += calls;
    coverage.all += calls;
    coverage.ran_ns += covered.estimate.ran_ns(record);
    coverage.worth_ns += covered.worth_ns();
    coverage.calls.push_back(std::move(covered));
  }
  std::stable_sort(
      coverage.calls.begin(), coverage.calls.end(),
      [](const CoveredCalls& a, const CoveredCalls& b) { return a.worth_ns() > b.worth_ns(); });
  return coverage;
}

double share(const Coverage& coverage, Share which) {
  const double count = coverage.counts[static_cast<std::size_t>(which)];
  return coverage.all > 0 ? count / coverage.all : 0;
}

Json optional_json(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json coverage_json(const Coverage& coverage) {
  Json calls = Json::array();
  for (const CoveredCalls& each : coverage.calls) {
    calls.push_back({{"kernel", each.record.kernel},
                     {"problem", each.record.problem},
                     {"device", each.record.device},
                     {"grade", each.record.grade},
                     {"config_text", each.record.config},
                     {"selections", each.record.selections},
                     {"launches", each.record.launches},
                     {"best_ns", optional_json(each.estimate.best_ns)},
                     {"slowdown", optional_json(each.estimate.slowdown)},
                     {"worth_ns", each.worth_ns()},
                     {"tuned_now", each.estimate.is_tuned_now},
                     {"unknown", each.estimate.unknown}});
  }
  Json shares = Json::object();
  for (const Share which : kShares) shares[std::string(name_of(which))] = share(coverage, which);
  constexpr double kWhole = 9e15;  // every whole number up to there is a double
  return {{"calls", coverage.all < kWhole ? Json(std::llround(coverage.all)) : Json(coverage.all)},
          {"shares", shares},
          {"ran_ns", coverage.ran_ns},
          {"worth_ns", coverage.worth_ns},
          {"problems", calls}};
}

std::string worth_text(const CoveredCalls& each) {
  if (!each.estimate.unknown.empty()) return "not known";
  const double worth = each.worth_ns();
  return worth > 0 ? pretty_time(worth) : "-";
}

/// The options that `kiln coverage` was given and `kiln tune` needs as well.
std::string same_places(const CoverageFlags& options) {
  std::string text;
  if (options.names_database) text += " --db " + shell_word(options.common.database.string());
  for (const std::string& folder : options.common.kernel_paths)
    text += " --kernel-path " + shell_word(folder);
  return text;
}

std::vector<std::string> notes_of(const CoveredCalls& each, const CoverageFlags& options) {
  std::vector<std::string> notes;
  const bool ran_tuned = share_of(each.record) == Share::tuned;
  if (each.estimate.is_tuned_now && !ran_tuned) {
    notes.push_back("tuned since then");
  } else if (!ran_tuned) {
    notes.push_back(fmt::format("kiln tune {} --problem {}{}", each.record.kernel,
                                shell_word(each.record.problem), same_places(options)));
  }
  if (!each.estimate.unknown.empty()) notes.push_back(each.estimate.unknown);
  return notes;
}

void print_coverage(const Coverage& coverage, const CoverageFlags& options) {
  std::string shares;
  for (const Share which : kShares) {
    const double count = coverage.counts[static_cast<std::size_t>(which)];
    shares += fmt::format("{}{} {:.0f} ({:.1f}%)", shares.empty() ? "" : ", ", name_of(which),
                          count, 100 * share(coverage, which));
  }
  print_shown("{}", paragraph(fmt::format("{:.0f} call{}: {}", coverage.all,
                                          coverage.all == 1 ? "" : "s", shares),
                              output_width()));
  Table table({{"kernel"},
               {"problem"},
               {"grade"},
               {"calls", Table::Align::right},
               {"slower", Table::Align::right},
               {"worth", Table::Align::right}});
  for (const CoveredCalls& each : coverage.calls) {
    table.add_row({each.record.kernel, each.record.problem, each.record.grade,
                   fmt::format("{}", each.record.calls()),
                   each.estimate.slowdown ? fmt::format("{:.2f}x", *each.estimate.slowdown) : "?",
                   worth_text(each)},
                  notes_of(each, options));
  }
  print_shown("\n{}\n", table.text(output_width()));
  if (coverage.ran_ns > 0 && coverage.worth_ns <= 0) {
    print_shown("{}", paragraph("tuning the rest would save nothing, by what the database holds",
                                output_width()));
  } else if (coverage.ran_ns > 0) {
    print_shown("{}",
                paragraph(fmt::format("tuning the rest would save about {} of {} on the device"
                                      " ({:.1f}%), by what the database holds",
                                      pretty_time(coverage.worth_ns), pretty_time(coverage.ran_ns),
                                      100 * coverage.worth_ns / coverage.ran_ns),
                          output_width()));
  } else {
    print_shown("{}", paragraph(fmt::format("what tuning would be worth is not known: nothing like "
                                            "these problems is in {}",
                                            options.common.database.string()),
                                output_width()));
  }
}

ExitCode run_coverage(const CoverageFlags& options) {
  const Coverage coverage = cover(options);
  if (options.common.json) {
    print_shown("{}", json_output(coverage_json(coverage)));
  } else {
    print_coverage(coverage, options);
  }
  return ExitCode::ok;
}

}  // namespace

void add_coverage_command(CLI::App& app, Work& work) {
  auto options = std::make_shared<CoverageFlags>();
  CLI::App* command = app.add_subcommand(
      "coverage",
      "How much of an application's recorded calls ran tuned, and what the rest is worth");
  add_value(*command, "files", options->files, "FILE", "Files that KILN_STATISTICS named")
      ->required()
      ->check(file_name());
  command->add_flag("--no-shipped", options->no_shipped,
                    "Estimate from the database alone, not the wisdom that is part of Kiln");
  add_common_options(*command, options->common);
  command->footer(
      "An application records its calls if KILN_STATISTICS (or Launcher::Options::statistics)\n"
      "names a file. Calls are launches, or selections if it launches by its own means.\n"
      "\n"
      "Example:\n"
      "  KILN_STATISTICS=calls.jsonl ./application\n"
      "  kiln coverage calls.jsonl");
  command->callback([options, command, &work] {
    options->names_database = command->count("--db") > 0;
    work = [options] { return run_coverage(*options); };
  });
}

}  // namespace kiln::cli

// One session as a page: the answer first.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "cli/failures.hpp"
#include "cli/show/show.hpp"
#include "cli/table.hpp"
#include "cli/text_layout.hpp"
#include "cli/units.hpp"
#include "core/statistics.hpp"
#include "lookup/best_so_far.hpp"
#include "tuner/rules/time_use.hpp"

namespace kiln::cli {
namespace {

using Align = Table::Align;

class SessionPage {
 public:
  SessionPage(const ShownSession& session, const TrialChoice& choice, const Screen& screen)
      : session_(session), choice_(choice), screen_(screen), pictures_(pictures()) {}

  /// As much as fits: fewer trials first, then without the parts that matter least.
  [[nodiscard]] std::string text() const;

 private:
  struct Parts {
    std::size_t top = 0;
    bool details = true;  ///< of each trial: samples, compile time, registers
    bool pictures = true;
    bool time_use = true;
    bool trials = true;
    bool environment = true;
  };
  [[nodiscard]] std::vector<Parts> shorter_parts() const;
  [[nodiscard]] std::string build(const Parts& parts) const;
  [[nodiscard]] std::string head() const;
  [[nodiscard]] std::string answer() const;
  [[nodiscard]] std::string finals() const;
  [[nodiscard]] std::string pictures() const;
  [[nodiscard]] std::string fastest(const Parts& parts) const;
  [[nodiscard]] std::string failures() const;
  [[nodiscard]] std::string time_use() const;
  [[nodiscard]] std::string environment() const;
  [[nodiscard]] std::string line(const std::string& text) const {
    return paragraph(text, screen_.width);
  }
  [[nodiscard]] bool is_so_far() const { return session_.best && is_unfinished(*session_.best); }
  [[nodiscard]] const Finalist* finalist_of(const std::string& config) const;
  [[nodiscard]] const Finalist* default_finalist() const;
  [[nodiscard]] std::string mark_of(const TrialRecord& row) const;

  const ShownSession& session_;
  const TrialChoice& choice_;
  const Screen& screen_;
  std::string pictures_;  ///< made once: the page is built several times
};

const Finalist* SessionPage::finalist_of(const std::string& config) const {
  const auto found = std::find_if(session_.finalists.begin(), session_.finalists.end(),
                                  [&](const Finalist& each) { return each.config == config; });
  return found == session_.finalists.end() ? nullptr : &*found;
}

const Finalist* SessionPage::default_finalist() const {
  const TrialRecord* const row = default_trial(session_);
  return row != nullptr ? finalist_of(row->trial.config.text()) : nullptr;
}

std::string SessionPage::head() const {
  const SessionRecord& record = session_.record;
  const auto failed = std::count_if(session_.trials.begin(), session_.trials.end(),
                                    [](const TrialRecord& row) { return !row.trial.ok(); });
  const std::string title =
      line(fmt::format("session {}: {} {} on {}", record.id, record.key.kernel, session_.problem,
                       record.device_info.name));
  if (is_imported(record)) {
    return title + line(fmt::format(
                       "imported: the best and {} around it; published {}",
                       counted(static_cast<std::int64_t>(session_.trials.size()) - 1, "config"),
                       record.started_at));
  }
  return title +
         line(fmt::format("{}; {} of {} tried in {:.1f} s, {} failed; {}", name_of(record.state),
                          session_.trials.size(), counted(record.space_size, "config"),
                          record.wall_seconds, failed, record.started_at));
}

std::string SessionPage::answer() const {
  if (!session_.best) {
    return line(session_.trials.empty() ? "no trial yet" : "no config was ok, so there is no best");
  }
  const BestRecord& best = *session_.best;
  std::string text = fmt::format("{}: {}", verdict_text(best, screen_), pretty_time(best.time_ns));
  if (const std::string gain = gain_text(best, session_.finalists); !gain.empty())
    text += ", " + gain;
  const std::string rate = pretty_rate(best.bytes, best.flops, best.time_ns);
  if (rate != "-") text += ", " + rate;
  std::string out = line(text);
  if (is_so_far()) {
    out += line("measured in the search alone: the same `kiln tune` goes on and decides in finals");
  }
  const std::size_t width = screen_.width.value_or(std::string::npos);
  for (const std::string& part :
       wrapped(best.config.text(), width == std::string::npos ? width : width - 2))
    out += "  " + styled(part, Style::strong, screen_) + "\n";
  return out;
}

/// One clock: what the finals measured side by side. Without finals, what the search measured.
std::string SessionPage::finals() const {
  if (!session_.best) return "";
  const BestRecord& best = *session_.best;
  if (is_so_far()) {
    std::string out = "\n" + line("default " + time_or_dash(best.default_time_ns));
    return best.naive_time_ns ? out + line("naive " + pretty_time(*best.naive_time_ns)) : out;
  }
  Table table({{"finals"}, {"time", Align::right}, {"99% interval"}, {"trial", Align::right}});
  const auto add = [&](const std::string& name, double ns, const Finalist* finalist) {
    const auto interval = finalist != nullptr ? median_interval(finalist->ns) : std::nullopt;
    table.add_row(
        {name, time_or_dash(ns),
         interval ? fmt::format("{} to {}", pretty_time(interval->low), pretty_time(interval->high))
                  : "",
         finalist != nullptr && finalist->sequence > 0 ? std::to_string(finalist->sequence) : ""});
  };
  const Finalist* winner = finalist_of(best.config.text());
  const Finalist* fallback = default_finalist();
  add("best", best.time_ns, winner);
  for (const Finalist& each : session_.finalists) {
    if (&each != winner && &each != fallback) add("finalist", median(each.ns), &each);
  }
  if (fallback == nullptr || fallback != winner) add("default", best.default_time_ns, fallback);
  if (best.naive_time_ns) add("naive", *best.naive_time_ns, nullptr);
  std::string out = "\n" + table.text(screen_.width);
  const std::string noise = noise_remark(session_.finalists, session_.trials);
  return noise.empty() ? out : out + line(noise);
}

/// How the search came down, how times are spread, and which tunables matter.
std::string SessionPage::pictures() const {
  std::string out = charts(session_.trials, screen_);
  if (!out.empty()) out = "\n" + out;
  for (const std::string& each : importance(session_.trials)) out += line(each);
  return out;
}

std::string SessionPage::mark_of(const TrialRecord& row) const {
  std::string mark;
  if (session_.best && row.trial.config == session_.best->config)
    mark = is_so_far() ? "best" : "winner";
  const TrialRecord* const first = default_trial(session_);
  if (first != nullptr && row.sequence == first->sequence) {
    mark += mark.empty() ? "default" : ", default";
  }
  return mark;
}

/// The first chosen trials that were ok; winner and default too, wherever they come.
std::string SessionPage::fastest(const Parts& parts) const {
  std::vector<TrialRecord> chosen = chosen_trials(session_.trials, choice_);
  std::erase_if(chosen, [](const TrialRecord& row) { return !row.trial.ok(); });
  if (chosen.empty()) return "\n" + line("no trial was ok");
  std::vector<Table::Column> columns = {{"trial", Align::right}, {""}, {"search", Align::right}};
  if (parts.details) {
    for (const char* name : {"samples", "compile", "registers"})
      columns.push_back({name, Align::right});
  }
  columns.push_back({"config"});
  Table table(std::move(columns));
  std::size_t place = 0;
  for (const TrialRecord& row : chosen) {
    const std::string mark = mark_of(row);
    if (place++ >= parts.top && mark.empty() && !choice_.all) continue;
    const Trial& trial = row.trial;
    std::vector<std::string> cells = {std::to_string(row.sequence), mark,
                                      pretty_time(trial.time_ns)};
    if (parts.details) {
      const auto compile_ns = static_cast<double>(trial.cost.compile_ns);
      cells.push_back(std::to_string(trial.samples.ns.size()));
      cells.push_back(compile_ns == 0 ? "shared" : pretty_time(compile_ns));
      cells.push_back(trial.registers < 0 ? "-" : std::to_string(trial.registers));
    }
    cells.push_back(trial.config.text());
    table.add_row(std::move(cells));
  }
  return "\n" + table.text(screen_.width);
}

std::string SessionPage::failures() const {
  const std::vector<FailureGroup> groups = failure_groups(session_.trials);
  if (groups.empty()) return "\nno failures\n";
  constexpr std::size_t kTold = 6;
  Table table({{"failed", Align::right}, {"outcome"}, {"reason"}});
  std::size_t others = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const FailureGroup& group = groups[i];
    if (i < kTold || choice_.all) {
      table.add_row({std::to_string(group.count), group.outcome, group.reason});
    } else {
      others += group.count;
    }
  }
  std::string out = "\n" + table.text(screen_.width);
  if (others > 0) {
    out += line(fmt::format("{} more for other reasons: --failures lists all",
                            counted(static_cast<std::int64_t>(others), "trial")));
  }
  for (const std::string& each : failure_lines(session_.trials, FailedVariants::whole))
    out += line(each);
  return out;
}

std::string SessionPage::time_use() const {
  const std::optional<TimeUse> use =
      session_.best ? read_evidence(session_.best->evidence).time_use : std::nullopt;
  if (!use) return "";
  std::string out = "\nwhere the time of the last run's search went:\n";
  for (const std::string& each : lines_of(*use)) out += paragraph(each, screen_.width, 2, 4);
  return out;
}

std::string SessionPage::environment() const {
  const SessionKey& key = session_.record.key;
  return "\n" +
         line(fmt::format("environment: {}; driver {}; {}; kiln {}; strategy {}, seed {}, {}{}",
                          key.device, key.driver, key.compiler, key.tool_version, key.strategy,
                          key.seed, session_.record.budget,
                          key.timing == Timing::graph ? "; timed in a graph" : ""));
}

std::string SessionPage::build(const Parts& parts) const {
  std::string out = head() + "\n" + answer() + finals();
  if (parts.pictures) out += pictures_;
  if (parts.trials) out += fastest(parts);
  out += failures();
  if (parts.time_use) out += time_use();
  return parts.environment ? out + environment() : out;
}

/// What a screen that is too low does without, in this order.
std::vector<SessionPage::Parts> SessionPage::shorter_parts() const {
  constexpr std::size_t kSome = 3;
  constexpr std::size_t kFew = 2;
  std::vector<Parts> shorter;
  Parts parts{.top = choice_.top, .time_use = false};
  shorter.push_back(parts);
  for (; parts.top > kSome; --parts.top) shorter.push_back(parts);
  parts.details = false;
  for (; parts.top > kFew; --parts.top) shorter.push_back(parts);
  parts.pictures = false;
  shorter.push_back(parts);
  parts.trials = false;
  shorter.push_back(parts);
  parts.environment = false;
  shorter.push_back(parts);
  return shorter;
}

std::string SessionPage::text() const {
  const std::string whole = build({.top = choice_.top});
  if (!screen_.height || choice_.all || choice_.names_top) return whole;
  constexpr std::size_t kBelow = 2;  // the line that says that there is more, and the prompt
  const auto fits = [&](const std::string& text) {
    const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    return lines + kBelow <= *screen_.height;
  };
  if (fits(whole)) return whole;
  std::string page;
  for (const Parts& parts : shorter_parts()) {
    page = build(parts);
    if (fits(page)) break;
  }
  const std::string more = fmt::format("more: kiln show {} --all", session_.record.id);
  return page + styled(more, Style::dim, screen_) + "\n";
}

}  // namespace

std::string session_page(const ShownSession& session, const TrialChoice& choice,
                         const Screen& screen) {
  return SessionPage(session, choice, screen).text();
}

}  // namespace kiln::cli

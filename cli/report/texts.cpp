// The texts of a report as HTML: they are there without JavaScript, too. Every text that is not
// ours goes through html_text().
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "cli/failures.hpp"
#include "cli/report/report.hpp"
#include "cli/units.hpp"
#include "core/shell_word.hpp"
#include "core/statistics.hpp"
#include "lookup/best_so_far.hpp"
#include "report/page.hpp"
#include "tuner/rules/time_use.hpp"

namespace kiln::cli {
namespace {

enum class CellKind { text, number, config };

struct HtmlColumn {
  std::string heading;
  CellKind kind = CellKind::text;
};

/// A table of plain texts. A cell of CellKind::config, the last one of its row, stands below the
/// others, since it is as long as a line.
std::string html_table(const std::vector<HtmlColumn>& columns,
                       const std::vector<std::vector<std::string>>& rows) {
  const auto class_of = [](CellKind kind) {
    return kind == CellKind::number ? " class=\"number\"" : "";
  };
  const bool has_below = columns.back().kind == CellKind::config;
  const std::size_t count = columns.size() - (has_below ? 1 : 0);
  std::string out = fmt::format("<div class=\"scroll\" tabindex=\"0\"><table{}><thead><tr>",
                                has_below ? " class=\"split\"" : "");
  for (std::size_t i = 0; i < count; ++i)
    out += fmt::format("<th scope=\"col\"{}>{}</th>", class_of(columns[i].kind),
                       html_text(columns[i].heading));
  out += "</tr></thead><tbody>\n";
  for (const std::vector<std::string>& row : rows) {
    const bool is_above = has_below && !row.back().empty();
    out += is_above ? "<tr class=\"above\">" : "<tr>";
    for (std::size_t i = 0; i < count; ++i)
      out += fmt::format("<td{}>{}</td>", class_of(columns[i].kind), html_text(row[i]));
    out += "</tr>\n";
    if (is_above)
      out += fmt::format("<tr><td class=\"below config\" colspan=\"{}\">{}</td></tr>\n", count,
                         html_text(row.back()));
  }
  return out + "</tbody></table></div>\n";
}

std::string html_paragraph(const std::string& text, const std::string& kind = "") {
  const std::string attribute = kind.empty() ? "" : " class=\"" + kind + "\"";
  return fmt::format("<p{}>{}</p>\n", attribute, html_text(text));
}

std::int64_t failed_of(const ShownSession& shown) {
  return std::count_if(shown.trials.begin(), shown.trials.end(),
                       [](const TrialRecord& row) { return !row.trial.ok(); });
}

std::string session_answer_html(const ShownSession& shown) {
  if (!shown.best) return html_paragraph("no config was ok, so there is no best", "answer none");
  const BestRecord& best = *shown.best;
  const std::string verdict = verdict_text(best);
  std::string rest = ": " + pretty_time(best.time_ns);
  const std::string gain = gain_text(best, shown.finalists);
  if (!gain.empty()) rest += ", " + gain;
  const std::string rate = pretty_rate(best.bytes, best.flops, best.time_ns);
  if (rate != "-") rest += ", " + rate;
  std::string out =
      fmt::format("<p class=\"answer\"><span class=\"{}\">{}</span>{}</p>\n",
                  html_text(name_of(best.verdict)), html_text(verdict), html_text(rest));
  if (is_unfinished(best)) {
    out += html_paragraph(
        "measured in the search alone: the same `kiln tune` goes on and decides in finals", "soft");
  }
  return out + html_paragraph(best.config.text(), "config");
}

std::string session_head_html(const ReportedSession& session) {
  const SessionRecord& record = session.shown.record;
  return html_paragraph(
      fmt::format("session {} on {}: {}; {} of {} tried in {:.1f} s, {} failed; {}", record.id,
                  record.device_info.name, name_of(record.state), session.shown.trials.size(),
                  counted(record.space_size, "config"), record.wall_seconds,
                  failed_of(session.shown), record.started_at),
      "soft");
}

std::string sessions_html(const Report& report) {
  const bool has_sides = report.sides.size() == 2 && !report.sides_are_sessions;
  // What matters first: a narrow screen shows the first ones.
  std::vector<HtmlColumn> columns = {{"kernel"},
                                     {"problem"},
                                     {"best", CellKind::number},
                                     {"speed-up", CellKind::number},
                                     {"verdict"},
                                     {"default", CellKind::number},
                                     {"rate", CellKind::number},
                                     {"trials", CellKind::number},
                                     {"failed", CellKind::number},
                                     {"session", CellKind::number}};
  if (has_sides) columns.insert(columns.begin(), {"side"});
  std::vector<std::vector<std::string>> rows;
  for (const ReportedSession& session : report.sessions) {
    const ShownSession& shown = session.shown;
    std::vector<std::string> row = {shown.record.key.kernel, shown.problem};
    if (shown.best) {
      const BestRecord& best = *shown.best;
      row.insert(row.end(),
                 {time_or_dash(best.time_ns), pretty_speedup(best.default_time_ns, best.time_ns),
                  verdict_text(best), time_or_dash(best.default_time_ns),
                  pretty_rate(best.bytes, best.flops, best.time_ns)});
    } else {
      row.insert(row.end(), {"-", "-", "none", "-", "-"});
    }
    row.insert(row.end(), {std::to_string(shown.trials.size()), std::to_string(failed_of(shown)),
                           std::to_string(shown.record.id)});
    if (has_sides) row.insert(row.begin(), session.side < 2 ? report.sides[session.side] : "-");
    rows.push_back(std::move(row));
  }
  return html_table(columns, rows);
}

std::string pairs_html(const Report& report) {
  if (report.sides.size() != 2) return "";
  if (report.pairs.empty()) {
    return html_paragraph(
        fmt::format("Nothing is paired: no kernel and problem has a best in both {} and {}.",
                    report.sides[0], report.sides[1]));
  }
  std::vector<std::vector<std::string>> rows;
  for (const ReportedPair& pair : report.pairs) {
    const ReportedSession& a = report.sessions[pair.a];
    const ReportedSession& b = report.sessions[pair.b];
    rows.push_back({name_of(a), fmt::format("{:.3f}", pair.ratio), pair.faster,
                    pretty_time(a.shown.best->time_ns), pretty_time(b.shown.best->time_ns),
                    pair.low ? fmt::format("{:.3f} to {:.3f}", *pair.low, *pair.high) : "-",
                    pair.same_config ? "same" : "different"});
  }
  return html_table({{"problem"},
                     {"ratio", CellKind::number},
                     {"faster"},
                     {report.sides[0], CellKind::number},
                     {report.sides[1], CellKind::number},
                     {"interval", CellKind::number},
                     {"configs"}},
                    rows) +
         html_paragraph(
             "The two were not measured in one run: clocks and machines differ between them. `kiln "
             "compare` runs configs in turn.",
             "soft");
}

std::string finals_html(const ShownSession& shown) {
  if (!shown.best || is_unfinished(*shown.best)) return "";
  const BestRecord& best = *shown.best;
  std::vector<std::vector<std::string>> rows;
  for (const Finalist& each : shown.finalists) {
    const auto interval = median_interval(each.ns);
    const bool is_best = each.config == best.config.text();
    std::string name = is_best ? "best" : "finalist";
    if (each.sequence == 1) name = is_best ? "best, default" : "default";
    rows.push_back(
        {name, time_or_dash(is_best ? best.time_ns : median(each.ns)),
         interval ? fmt::format("{} to {}", pretty_time(interval->low), pretty_time(interval->high))
                  : "-",
         each.sequence > 0 ? std::to_string(each.sequence) : "-", each.config});
    if (is_best) std::rotate(rows.begin(), rows.end() - 1, rows.end());
  }
  if (best.naive_time_ns) rows.push_back({"naive", pretty_time(*best.naive_time_ns), "-", "-", ""});
  if (rows.empty()) return "";
  std::string out = "<h3>Finals</h3>\n" + html_table({{""},
                                                      {"time", CellKind::number},
                                                      {"99% interval", CellKind::number},
                                                      {"trial", CellKind::number},
                                                      {"config", CellKind::config}},
                                                     rows);
  const std::string noise = noise_remark(shown.finalists, shown.trials);
  return noise.empty() ? out : out + html_paragraph(noise, "soft");
}

std::string failures_html(const ShownSession& shown) {
  constexpr std::size_t kMostReasons = 20;
  std::vector<std::vector<std::string>> rows;
  for (const FailureGroup& group : failure_groups(shown.trials)) {
    if (rows.size() == kMostReasons) break;
    rows.push_back({std::to_string(group.count), group.outcome, group.reason});
  }
  if (rows.empty()) return "<h3>Failures</h3>\n" + html_paragraph("no failures");
  std::string out =
      "<h3>Failures</h3>\n" +
      html_table({{"trials", CellKind::number}, {"outcome"}, {"reason", CellKind::config}}, rows);
  for (const std::string& line : failure_lines(shown.trials, FailedVariants::whole))
    out += html_paragraph(line);
  return out;
}

std::string time_use_html(const ShownSession& shown) {
  const auto use = shown.best ? read_evidence(shown.best->evidence).time_use : std::nullopt;
  if (!use) return "";
  std::string out = "<h3>Where the time of the last run's search went</h3>\n";
  for (const std::string& line : lines_of(*use)) out += html_paragraph(line);
  return out;
}

std::string environment_html(const ReportedSession& session) {
  const SessionRecord& record = session.shown.record;
  const SessionKey& key = record.key;
  std::string out = "<h3>Environment</h3>\n<dl>\n";
  const auto add = [&](const std::string& name, const std::string& value) {
    if (!value.empty())
      out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", html_text(name), html_text(value));
  };
  add("device", key.device);
  add("driver", key.driver);
  add("compiler", key.compiler);
  add("runtime", record.device_info.runtime);
  add("kiln", key.tool_version);
  add("strategy", fmt::format("{}, seed {}", key.strategy, key.seed));
  add("options", key.options);
  add("timing", std::string(name_of(key.timing)));
  add("budget", record.budget);
  add("problem", key.problem);
  add("started", record.started_at);
  add("finished", record.finished_at);
  add("database", session.database.string());
  return out + "</dl>\n";
}

/// "seconds=6 no_progress=20" as " --seconds 6 --no-progress 20".
std::string budget_options(const std::string& budget) {
  std::istringstream words(budget);
  std::string out;
  for (std::string word; words >> word;) {
    const std::size_t sign = word.find('=');
    if (sign == std::string::npos) continue;
    std::string name = word.substr(0, sign);
    std::replace(name.begin(), name.end(), '_', '-');
    out += fmt::format(" --{} {}", shell_word(name), shell_word(word.substr(sign + 1)));
  }
  return out;
}

std::string commands_html(const ReportedSession& session) {
  const SessionRecord& record = session.shown.record;
  const std::string database = " --db " + shell_word(session.database.string());
  const std::string subject = shell_word(record.key.kernel) + " --problem " +
                              shell_word(record.key.problem) +
                              (record.key.timing == Timing::graph ? " --timing graph" : "");
  const std::vector<std::string> commands = {
      fmt::format("kiln show {}{}", record.id, database),
      fmt::format("kiln show {}{} --csv > trials.csv", record.id, database),
      fmt::format("kiln show {}{} --failures", record.id, database),
      fmt::format("kiln best {}{}", subject, database),
      fmt::format("kiln compare {} --config default --session {}{}", subject, record.id, database),
      fmt::format("kiln tune {}{} --strategy {} --seed {} --fresh{}", subject,
                  budget_options(record.budget), shell_word(record.key.strategy), record.key.seed,
                  database)};
  std::string out = "<h3>Commands</h3>\n";
  for (const std::string& command : commands) {
    out += fmt::format(
        "<div class=\"command\"><pre>{}</pre><button type=\"button\" data-copy aria-label=\"Copy "
        "the command\">Copy</button></div>\n",
        html_text(command));
  }
  return out;
}

}  // namespace

std::string answer_html(const Report& report) {
  std::string out = "<h1>" + html_text(report.title) + "</h1>\n";
  if (report.sessions.size() == 1) {
    return out + session_head_html(report.sessions.front()) +
           session_answer_html(report.sessions.front().shown);
  }
  if (report.sides.size() != 2) return out + sessions_html(report);
  return out + pairs_html(report) + "<details><summary>All sessions</summary>\n" +
         sessions_html(report) + "</details>\n";
}

std::string details_html(const Report& report) {
  std::string out = "<section aria-label=\"Sessions\">\n<h2>In words and numbers</h2>\n";
  const bool is_alone = report.sessions.size() == 1;
  for (const ReportedSession& session : report.sessions) {
    out += fmt::format("<details{}><summary>session {}</summary>\n", is_alone ? " open" : "",
                       html_text(label_of(report, session)));
    if (!is_alone) out += session_head_html(session) + session_answer_html(session.shown);
    out += finals_html(session.shown) + failures_html(session.shown) +
           time_use_html(session.shown) + environment_html(session) + commands_html(session);
    if (!session.has_trials) {
      out += html_paragraph(
          "Its trials are left out, since all together are too many for one page: kiln report "
          "--session has them.");
    }
    out += "</details>\n";
  }
  return out + "</section>\n";
}

}  // namespace kiln::cli

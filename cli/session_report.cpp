// SPDX-License-Identifier: Apache-2.0
#include "cli/session_report.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/failures.hpp"
#include "cli/finals.hpp"
#include "cli/json_output.hpp"
#include "cli/table.hpp"
#include "cli/text_layout.hpp"
#include "cli/units.hpp"
#include "core/command_spec.hpp"
#include "core/field_json.hpp"
#include "core/outside_reference.hpp"
#include "core/setting.hpp"
#include "core/statistics.hpp"
#include "db/time_use.hpp"
#include "tuner/rules/drawn_scalars.hpp"

namespace kiln::cli {
namespace {

/// The session's best, or what it had when it was interrupted; nullptr: neither.
const BestRecord* best_of(const SessionSummary& session) {
  if (!session.result) return nullptr;
  if (session.result->best) return &*session.result->best;
  return session.result->so_far ? &*session.result->so_far : nullptr;
}

// The device's limit for this mix of reads and writes or for this arithmetic, in bytes or
// operations a second; 0: not known.
double ceiling_for(const SessionSummary& session, const BestRecord& best,
                   const Ceilings& ceilings) {
  if (is_arithmetic(best.bytes, best.flops)) {
    return session.arithmetic == DType::f64 ? ceilings.f64_flops : ceilings.f32_flops;
  }
  constexpr double kReadOnly = 0.9;
  return session.read_share >= kReadOnly ? ceilings.read_bytes_per_s : ceilings.copy_bytes_per_s;
}

std::optional<double> share_of_ceiling(const SessionSummary& session,
                                       const std::optional<Ceilings>& ceilings) {
  const BestRecord* known = best_of(session);
  if (!ceilings || known == nullptr) return std::nullopt;
  const BestRecord& best = *known;
  const double ceiling = ceiling_for(session, best, *ceilings);
  const double work = is_arithmetic(best.bytes, best.flops) ? best.flops : best.bytes;
  if (ceiling <= 0 || work <= 0 || best.time_ns <= 0) {
    return std::nullopt;
  }
  return work / (best.time_ns * 1e-9) / ceiling;
}

std::vector<std::string> headings(bool with_share) {
  std::vector<std::string> names = {"kernel", "problem",  "naive", "default",
                                    "best",   "speed-up", "rate"};
  if (with_share) {
    names.emplace_back("of ceiling");
  }
  names.insert(names.end(), {"verdict", "trials", "failures"});
  return names;
}

std::string why_no_best(const SessionSummary& session) {
  if (!session.result) return first_line(session.error);
  if (session.result->end == SessionEnd::interrupted) return "interrupted";
  if (session.variants.empty()) return "no config was ok";
  return fmt::format("no config of variant {} was ok", fmt::join(session.variants, ", "));
}

std::string verdict_of(const SessionSummary& session, const Screen& screen) {
  if (session.result && session.result->only_default)
    return styled("too short", Style::bad, screen);
  const BestRecord* best = best_of(session);
  return best != nullptr ? verdict_text(*best, screen) : styled("none", Style::bad, screen);
}

/// Of a session that could compare nothing with the default config: what would do; empty: it could.
std::string too_short_remark(const SessionSummary& session) {
  const SessionResult& result = *session.result;
  if (!result.only_default || session.trials.empty()) return "";
  const std::string lead =
      result.trials == 1
          ? "only the default config was tried"
          : fmt::format("of {} configs that were tried only the default one is ok", result.trials);
  if (result.end == SessionEnd::trials) return lead + "; a larger --trials tries others";
  constexpr std::array kSeconds = {10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400};
  constexpr double kTrials = 10;  // a search of fewer says little
  const TrialCost& cost = session.trials.front().trial.cost;
  const double trial =
      1e-9 * static_cast<double>(cost.compile_ns + cost.verify_ns + cost.measure_ns);
  const double wanted = std::max(2 * result.wall_seconds, result.prepare_seconds + kTrials * trial);
  const auto enough = std::find_if(kSeconds.begin(), kSeconds.end() - 1,
                                   [&](int seconds) { return seconds >= wanted; });
  const std::string used = result.prepare_seconds > 0.1
                               ? fmt::format(": preparing took {:.2g} of {:.2g} s",
                                             result.prepare_seconds, result.wall_seconds)
                               : fmt::format(" in {:.2g} s", result.wall_seconds);
  return fmt::format("{}{}; try --seconds {}", lead, used, *enough);
}

/// The config, or why there is none: too long for a cell.
std::string config_or_reason(const SessionSummary& session) {
  const BestRecord* best = best_of(session);
  return best != nullptr ? best->config.text() : why_no_best(session);
}

std::vector<std::string> cells(const SessionSummary& session,
                               const std::optional<Ceilings>& ceilings, const Screen& screen) {
  std::vector<std::string> row = {session.kernel, session.problem};
  const BestRecord* best = best_of(session);
  if (best != nullptr) {
    row.push_back(best->naive_time_ns ? time_or_dash(*best->naive_time_ns) : "-");
    row.insert(row.end(), {time_or_dash(best->default_time_ns), time_or_dash(best->time_ns),
                           pretty_speedup(best->default_time_ns, best->time_ns),
                           pretty_rate(best->bytes, best->flops, best->time_ns)});
  } else {
    row.insert(row.end(), {"-", "-", "-", "-", "-"});
  }
  if (ceilings) {
    const std::optional<double> share = share_of_ceiling(session, ceilings);
    row.push_back(share ? fmt::format("{:.1f}%", *share * 100) : "-");
  }
  row.push_back(verdict_of(session, screen));
  row.push_back(session.result ? std::to_string(session.result->trials) : "0");
  row.push_back(session.result ? std::to_string(session.result->failures) : "0");
  return row;
}

/// The session in three lines: the answer, what it is compared with, the config.
std::string session_block(const SessionSummary& session, const std::optional<Ceilings>& ceilings,
                          const Screen& screen) {
  constexpr std::size_t kIndent = 2;
  const std::size_t width = screen.width.value_or(100) - kIndent;
  std::string out = paragraph(fmt::format("{} {}", session.kernel, session.problem), screen.width,
                              0, 2 * kIndent);
  const auto add = [&](const std::vector<std::string>& pieces) {
    for (const std::string& line : packed(pieces, width))
      out += std::string(kIndent, ' ') + line + "\n";
  };
  if (const BestRecord* best = best_of(session)) {
    std::vector<std::string> answer = {
        fmt::format("{}: {}", verdict_of(session, screen), time_or_dash(best->time_ns))};
    if (best->default_time_ns > 0) {
      answer.push_back(fmt::format("{} over the default config",
                                   pretty_speedup(best->default_time_ns, best->time_ns)));
    }
    const std::string rate = pretty_rate(best->bytes, best->flops, best->time_ns);
    if (rate != "-") answer.push_back(rate);
    if (const std::optional<double> share = share_of_ceiling(session, ceilings))
      answer.push_back(fmt::format("{:.1f}% of the ceiling", *share * 100));
    add(answer);
    add({"default " + time_or_dash(best->default_time_ns),
         "naive " + time_or_dash(best->naive_time_ns.value_or(0)),
         counted(session.result->trials, "trial"),
         fmt::format("{} failed", session.result->failures)});
  }
  for (const std::string& line : wrapped(config_or_reason(session), width))
    out += std::string(kIndent, ' ') + styled(line, Style::strong, screen) + "\n";
  return out;
}

std::string text_report(const std::vector<SessionSummary>& sessions,
                        const std::optional<Ceilings>& ceilings, const Screen& screen) {
  const std::vector<std::string> left = {"kernel", "problem", "verdict"};
  std::vector<Table::Column> columns;
  for (const std::string& heading : headings(ceilings.has_value())) {
    const bool is_left = std::find(left.begin(), left.end(), heading) != left.end();
    columns.push_back({heading, is_left ? Table::Align::left : Table::Align::right});
  }
  Table table(std::move(columns));
  for (const SessionSummary& session : sessions) {
    table.add_row(cells(session, ceilings, screen),
                  {styled(config_or_reason(session), Style::strong, screen)});
  }
  if (!screen.width || table.width() <= *screen.width) return table.text(screen.width);
  std::string out;
  for (const SessionSummary& session : sessions) out += session_block(session, ceilings, screen);
  return out;
}

// A bar inside a cell (in a formula, in a message) would end it.
std::string markdown_cell(const std::string& text) {
  std::string cell;
  for (const char c : text) {
    if (c == '|') cell += '\\';
    cell += c;
  }
  return cell;
}

std::string markdown_report(const std::vector<SessionSummary>& sessions,
                            const std::optional<Ceilings>& ceilings) {
  std::vector<std::string> names = headings(ceilings.has_value());
  names.emplace_back("config");
  std::string out = fmt::format("| {} |\n|", fmt::join(names, " | "));
  for (std::size_t i = 0; i < names.size(); ++i) out += "---|";
  out += "\n";
  for (const SessionSummary& session : sessions) {
    std::vector<std::string> row = cells(session, ceilings, {});
    row.push_back(config_or_reason(session));
    std::transform(row.begin(), row.end(), row.begin(), markdown_cell);
    out += fmt::format("| {} |\n", fmt::join(row, " | "));
  }
  return out;
}

Json default_value_json(const BestRecord& best) {
  if (best.objective != "time") return best.default_value ? Json(*best.default_value) : Json();
  return best.default_time_ns > 0 ? Json(best.default_time_ns) : Json();
}

Json rival_json(const BestRecord& best) {
  const std::optional<Evidence::Rival> rival = read_evidence(best.evidence).rival;
  if (!rival) return nullptr;
  const auto time = [](const std::vector<double>& ns) {
    return ns.empty() ? Json() : Json(median(ns));
  };
  return {{"library", rival->library},
          {"verdict", rival->verdict},
          {"best_ns", time(rival->best_ns)},
          {"library_ns", time(rival->ns)},
          {"other_cache_best_ns", time(rival->other_best_ns)},
          {"other_cache_library_ns", time(rival->other_ns)},
          {"best_error", rival->best_error},
          {"library_error", rival->error}};
}

Json session_json(const SessionSummary& session, const std::optional<Ceilings>& ceilings) {
  Json json = {{"kernel", session.kernel}, {"problem", session.problem}};
  if (!session.result) {
    json["error"] = session.error;
    return json;
  }
  const SessionResult& result = *session.result;
  json["session"] = result.id;
  json["state"] = name_of(result.state);
  json["device"] = identity_of(result.device);
  json["selector"] = selector_of(result.device);
  json["space_size"] = result.space_size;
  json["trials"] = result.trials;
  json["failures"] = result.failures;
  json["earlier_trials"] = result.earlier_trials;
  json["only_default"] = result.only_default;
  json["wall_seconds"] = result.wall_seconds;
  json["warm_start"] = Json::array();
  for (const WarmConfig& warm : result.warm) {
    json["warm_start"].push_back({{"config", warm.config.text()}, {"from", warm.from}});
  }
  json["throttled_trials"] = result.throttled;
  json["throttle"] = result.throttle;
  json["drift"] = Json::array();
  for (const DriftRecord& drift : result.drift) {
    json["drift"].push_back({{"sequence", drift.sequence},
                             {"config", drift.config},
                             {"ratio", drift.ratio},
                             {"beyond_noise", drift.beyond_noise()},
                             {"took_ns", drift.took_ns}});
  }
  if (!result.best && result.so_far) {
    json["so_far"] = {{"config_text", result.so_far->config.text()},
                      {"time_ns", result.so_far->time_ns},
                      {"default_time_ns", result.so_far->default_time_ns}};
  }
  if (result.best) {
    const BestRecord& best = *result.best;
    const std::optional<TimeUse> use = read_evidence(best.evidence).time_use;
    json["time_use"] = use ? field_json(*use) : Json(nullptr);
    json["timing"] = name_of(best.key.timing);
    json["config"] = to_json(best.config);
    json["config_text"] = best.config.text();
    json["time_ns"] = best.time_ns;
    json["default_time_ns"] = best.default_time_ns;
    json["naive_time_ns"] = best.naive_time_ns ? Json(*best.naive_time_ns) : Json(nullptr);
    json["bytes"] = best.bytes;
    json["flops"] = best.flops;
    json["verdict"] = name_of(best.verdict);
    json["objective"] = best.objective;
    json["value"] = best.objective == "time" ? best.time_ns : best.value;
    json["default_value"] = default_value_json(best);
    json["against"] = rival_json(best);
    const std::optional<double> share = share_of_ceiling(session, ceilings);
    json["share_of_ceiling"] = share ? Json(*share) : Json(nullptr);
  }
  json["proved_by_itself"] = !session.doubt.empty();
  json["not_tried"] = session.not_tried;
  return json;
}

std::string json_report(const std::vector<SessionSummary>& sessions,
                        const std::optional<Ceilings>& ceilings) {
  Json json = {{"sessions", Json::array()}};
  for (const SessionSummary& session : sessions) {
    json["sessions"].push_back(session_json(session, ceilings));
  }
  if (ceilings) json["ceilings"] = field_json(*ceilings);
  return json_output(json);
}

std::string objective_remark(const BestRecord& best, const std::string& unit) {
  const std::string space = unit.empty() ? "" : " ";
  return fmt::format("{}: {:.4g}{}{}{}", best.objective, best.value, space, unit,
                     best.default_value ? fmt::format(" (default config {:.4g}{}{})",
                                                      *best.default_value, space, unit)
                                        : "");
}

/// The best beside a vendor library's own call.
std::string rival_remark(const BestRecord& best) {
  const std::optional<Evidence::Rival> rival = read_evidence(best.evidence).rival;
  if (!rival) return "";
  std::string modes;
  if (!rival->other_ns.empty()) {
    modes = fmt::format(", {} and {} in the other cache mode",
                        pretty_time(median(rival->other_best_ns)),
                        pretty_time(median(rival->other_ns)));
  }
  return fmt::format("against {}: {}; {} and {}{}; errors {:.2g} and {:.2g}", rival->library,
                     rival->verdict, pretty_time(median(rival->best_ns)),
                     pretty_time(median(rival->ns)), modes, rival->best_error, rival->error);
}

/// The device became slower or faster while it searched, by more than noise.
std::string drift_remark(const std::vector<DriftRecord>& drift) {
  const auto beyond = std::count_if(drift.begin(), drift.end(),
                                    [](const DriftRecord& each) { return each.beyond_noise(); });
  if (beyond == 0) return "";
  const auto [least, most] = std::minmax_element(
      drift.begin(), drift.end(),
      [](const DriftRecord& a, const DriftRecord& b) { return a.ratio < b.ratio; });
  std::string times = fmt::format("{:.2f}", least->ratio);
  const std::string last = fmt::format("{:.2f}", most->ratio);
  if (last != times) times += " to " + last;
  return fmt::format(
      "drift: the leading config, run again during the search, took {} times as long as at first; "
      "trials are corrected for that up to 1.25x, and the finals, where configs run in turn, "
      "decide",
      times);
}

}  // namespace

bool is_asked_for(const SessionSummary& session, const TrialRecord& trial) {
  const std::vector<std::string>& variants = session.variants;
  return variants.empty() ||
         std::count(variants.begin(), variants.end(), trial.trial.config.variant) > 0;
}

bool found_best(const SessionSummary& session) {
  return session.result && session.result->best &&
         std::any_of(session.trials.begin(), session.trials.end(), [&](const TrialRecord& trial) {
           return trial.trial.ok() && is_asked_for(session, trial);
         });
}

SessionSummary summarise(const Setting& setting) {
  const KernelSpec& spec = setting.spec();
  const Problem& problem = setting.problem();
  SessionSummary summary{
      .kernel = spec.name, .problem = problem.short_text(spec), .result = {}, .error = {}};
  if (spec.command) {
    if (!spec.command->check && !spec.command->expect) {
      summary.doubt = fmt::format(
          "{}: proved only by the exit code of its program; 'check' or 'expect' of [command] looks "
          "at what it computed",
          spec.name);
    }
  } else if (is_proved_by_itself(spec, problem)) {
    summary.doubt = fmt::format(
        "{}: proved only against its own variant '{}'; what that computes was not checked by a "
        "CPU loop or a formula ([verify] of the spec)",
        spec.name, spec.verify.device_reference);
  }
  summary.not_tried = not_tried(setting);
  double read = 0;
  double written = 0;
  if (const Result<LaunchPlan> arguments = setting.arguments()) {
    for (const BufferPlan& buffer : arguments->buffers) {
      const auto bytes = static_cast<double>(buffer.bytes());
      read += buffer.access != Access::write ? bytes : 0;
      written += buffer.access != Access::read ? bytes : 0;
      if (buffer.dtype == DType::f64) summary.arithmetic = DType::f64;
    }
  }
  summary.read_share = read + written > 0 ? read / (read + written) : 0;
  return summary;
}

std::vector<std::string> doubts(const std::vector<SessionSummary>& sessions) {
  std::vector<std::string> lines;
  for (const SessionSummary& session : sessions) {
    const bool is_new = std::find(lines.begin(), lines.end(), session.doubt) == lines.end();
    if (!session.doubt.empty() && is_new) lines.push_back(session.doubt);
    if (session.not_tried.empty()) continue;
    const std::string line =
        fmt::format("{}: not tried: {}", session.kernel, fmt::join(session.not_tried, "; "));
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> trouble_lines(const SessionSummary& session) {
  std::vector<std::string> lines = failure_lines(session.trials);
  const std::string remark = session.result ? too_short_remark(session) : "";
  if (!remark.empty()) lines.insert(lines.begin(), remark);
  return lines;
}

std::vector<std::string> remarks(const SessionSummary& session, const std::string& unit) {
  std::vector<std::string> lines;
  if (!session.result) return lines;
  const SessionResult& result = *session.result;
  if (result.best && result.best->objective != "time")
    lines.push_back(objective_remark(*result.best, unit));
  if (const std::string rival = result.best ? rival_remark(*result.best) : ""; !rival.empty())
    lines.push_back(rival);
  for (std::string& line : trouble_lines(session)) lines.push_back(std::move(line));
  const std::vector<Finalist> finalists =
      result.best ? finalists_of(*result.best) : std::vector<Finalist>();
  const std::string noise = noise_remark(finalists, session.trials);
  if (!noise.empty()) lines.push_back(noise);
  if (result.throttled > 0) {
    lines.push_back(fmt::format("throttled: the clock was held back during {} of {} ({})",
                                result.throttled, counted(result.trials, "trial"),
                                result.throttle));
  }
  const std::string drift = drift_remark(result.drift);
  if (!drift.empty()) lines.push_back(drift);
  return lines;
}

std::string report(const std::vector<SessionSummary>& sessions,
                   const std::optional<Ceilings>& ceilings, ReportFormat format,
                   const Screen& screen) {
  switch (format) {
    case ReportFormat::text:
      return text_report(sessions, ceilings, screen);
    case ReportFormat::markdown:
      return markdown_report(sessions, ceilings);
    case ReportFormat::json:
      return json_report(sessions, ceilings);
  }
  return {};
}

}  // namespace kiln::cli

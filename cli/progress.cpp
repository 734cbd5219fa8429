// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.hpp"

#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/terminal.hpp"
#include "cli/text_layout.hpp"
#include "cli/units.hpp"

namespace kiln::cli {
namespace {

constexpr int kBarWidth = 20;
constexpr std::size_t kUsualWidth = 100;
constexpr std::size_t kRoomForBar = 120;  // a narrower line has none
constexpr auto kQuietTime = std::chrono::seconds(10);
constexpr auto kLineInterval = std::chrono::seconds(1);

/// "458 us, 2.97x the default, 0:05 left"; without what is not known yet.
std::string answer_so_far(const SessionProgress& progress) {
  std::vector<std::string> parts;
  if (progress.best_ns > 0) {
    parts.push_back("best " + pretty_time(progress.best_ns));
    if (progress.default_ns > 0)
      parts.push_back(pretty_speedup(progress.default_ns, progress.best_ns) + " the default");
  }
  if (progress.seconds_left) parts.push_back(pretty_duration(*progress.seconds_left) + " left");
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::string progress_text(const std::string& title, const std::string& activity,
                          const SessionProgress& progress, double share_done, std::size_t width) {
  std::string line = cut_to(title, width / 3);
  const std::string answer = answer_so_far(progress);
  if (!answer.empty()) line += ": " + answer;
  if (width >= kRoomForBar) {
    const int filled = static_cast<int>(share_done * kBarWidth);
    line += fmt::format(" [{:#<{}}{:.<{}}]", "", filled, "", kBarWidth - filled);
  }
  if (progress.trials > 0) {
    line += fmt::format("; {}, {:.1f}/s", counted(progress.trials, "trial"),
                        progress.trials_per_second);
    if (progress.failures > 0) line += fmt::format(", {} failed", progress.failures);
  }
  return cut_to(line + "; " + activity, width);
}

ProgressLine::Mode ProgressLine::suited_mode() {
  return can_redraw(STDERR_FILENO) ? Mode::terminal : Mode::lines;
}

ProgressLine::ProgressLine(std::string title, const Budget& budget, Mode mode)
    : title_(std::move(title)),
      budget_(budget),
      mode_(mode),
      own_area_(std::make_unique<StatusArea>(1)),
      area_(*own_area_),
      printed_at_(Clock::now()) {}

ProgressLine::ProgressLine(std::string title, const Budget& budget, Mode mode, StatusArea& area,
                           std::size_t row)
    : title_(std::move(title)),
      budget_(budget),
      mode_(mode),
      area_(area),
      row_(row),
      printed_at_(Clock::now()) {}

ProgressLine::~ProgressLine() { area_.set(row_, ""); }

void ProgressLine::on_start(const SessionStart& start) {
  if (mode_ == Mode::quiet) {
    return;
  }
  print_line(
      fmt::format("{}: {} on {}, strategy {}, session {}{}", title_,
                  counted(start.space_size, "config"), start.device.name, start.strategy, start.id,
                  start.stored_trials > 0
                      ? fmt::format(" (continues after {})", counted(start.stored_trials, "trial"))
                      : ""));
  if (start.earlier_session != 0) {
    print_line(fmt::format("{}: {} of session {} hold and are not run again, {} changed by an edit",
                           title_, counted(start.earlier_trials, "trial"), start.earlier_session,
                           start.earlier_others));
  }
  for (const WarmConfig& warm : start.warm) {
    print_line(fmt::format("{}: starts from {}, {}", title_, warm.config.text(), warm.from));
  }
}

void ProgressLine::on_state(const std::string& activity, const SessionProgress& progress) {
  if (mode_ == Mode::terminal) {
    redraw(activity, progress);
  } else if (mode_ == Mode::lines && Clock::now() - printed_at_ >= kQuietTime) {
    print_line(progress.trials == 0
                   ? fmt::format("{}: {}", title_, activity)
                   : fmt::format("{}: {}; {}", title_, summary(progress), activity));
  }
}

void ProgressLine::on_trial(const TrialRecord& record, const SessionProgress& progress) {
  const bool new_best =
      progress.best_ns > 0 && (printed_best_ns_ == 0 || progress.best_ns < printed_best_ns_);
  if (mode_ == Mode::lines && new_best &&
      (printed_best_ns_ == 0 || Clock::now() - printed_at_ >= kLineInterval)) {
    printed_best_ns_ = progress.best_ns;
    print_line(fmt::format("{}: {}; new best {}", title_, summary(progress), progress.best_config));
  } else if (mode_ == Mode::terminal) {
    redraw(fmt::format("{} {}", name_of(record.trial.outcome), record.trial.config.text()),
           progress);
  }
}

void ProgressLine::on_finals(const std::vector<Config>& finalists) {
  if (mode_ != Mode::terminal) return;
  draw(cut_to(fmt::format("{}: finals of {}", title_,
                          counted(static_cast<std::int64_t>(finalists.size()), "config")),
              terminal_width(STDERR_FILENO).value_or(kUsualWidth) - 1));
}

void ProgressLine::on_warning(const std::string& message) {
  print_line(fmt::format("{}: warning: {}", title_, message));
}

void ProgressLine::redraw(const std::string& activity, const SessionProgress& progress) {
  draw(progress_text(title_, activity, progress, share_done(progress),
                     terminal_width(STDERR_FILENO).value_or(kUsualWidth) - 1));
}

void ProgressLine::draw(const std::string& line) { area_.set(row_, line); }

void ProgressLine::print_line(const std::string& text) {
  const auto width =
      mode_ == Mode::terminal ? terminal_width(STDERR_FILENO) : std::optional<std::size_t>();
  area_.print(paragraph(text, width));
  printed_at_ = Clock::now();
}

double ProgressLine::share_done(const SessionProgress& progress) const {
  double share = 0;
  if (budget_.seconds) {
    share = std::max(share, progress.elapsed_seconds / *budget_.seconds);
  }
  if (budget_.trials) {
    share = std::max(share,
                     static_cast<double>(progress.trials) / static_cast<double>(*budget_.trials));
  }
  return std::clamp(share, 0.0, 1.0);
}

std::string ProgressLine::summary(const SessionProgress& progress) {
  std::string text = fmt::format("{} ({} failed), {:.1f}/s", counted(progress.trials, "trial"),
                                 progress.failures, progress.trials_per_second);
  if (progress.best_ns > 0) {
    text += fmt::format(", best {}", pretty_time(progress.best_ns));
  }
  if (progress.best_ns > 0 && progress.default_ns > 0) {
    text += fmt::format(" ({} default)", pretty_speedup(progress.default_ns, progress.best_ns));
  }
  if (progress.seconds_left) {
    text += fmt::format(", {} left", pretty_duration(*progress.seconds_left));
  }
  return text;
}

}  // namespace kiln::cli

// What a person sees while a session runs, on stderr: one line redrawn on a terminal, plain lines
// otherwise.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "cli/status_area.hpp"
#include "tuner/session/session.hpp"

namespace kiln::cli {

/// The one line of a terminal with `width` columns: what a person wants to know, best, speed-up and
/// time left, stands first; what the session is doing comes last and is cut.
[[nodiscard]] std::string progress_text(const std::string& title, const std::string& activity,
                                        const SessionProgress& progress, double share_done,
                                        std::size_t width);

class ProgressLine : public SessionObserver {
 public:
  enum class Mode {
    terminal,  ///< one line, redrawn; the answer first
    lines,  ///< a line at the start, at each new best (at most one a second), and every ten seconds
    quiet,  ///< warnings only
  };
  /// The mode that suits stderr: lines where it is no terminal, or one that cannot redraw.
  [[nodiscard]] static Mode suited_mode();

  /// `title` heads every line, e.g. "[2/5] reduce n=1048576".
  ProgressLine(std::string title, const Budget& budget, Mode mode);
  /// Draws into row `row` of `area`, which other sessions share and which must outlive it.
  ProgressLine(std::string title, const Budget& budget, Mode mode, StatusArea& area,
               std::size_t row);
  ~ProgressLine() override;

  void on_start(const SessionStart& start) override;
  void on_state(const std::string& activity, const SessionProgress& progress) override;
  void on_trial(const TrialRecord& record, const SessionProgress& progress) override;
  void on_finals(const std::vector<Config>& finalists) override;
  void on_warning(const std::string& message) override;

 private:
  using Clock = std::chrono::steady_clock;

  void redraw(const std::string& activity, const SessionProgress& progress);
  void draw(const std::string& line);
  void print_line(const std::string& text);
  [[nodiscard]] double share_done(const SessionProgress& progress) const;
  [[nodiscard]] static std::string summary(const SessionProgress& progress);

  std::string title_;
  Budget budget_;
  Mode mode_;
  std::unique_ptr<StatusArea> own_area_;
  StatusArea& area_;
  std::size_t row_ = 0;
  double printed_best_ns_ = 0;
  Clock::time_point printed_at_;
};

}  // namespace kiln::cli

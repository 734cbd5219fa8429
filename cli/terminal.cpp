// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>

#include "core/shown_text.hpp"

namespace kiln::cli {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::optional<std::size_t> columns_wanted() {
  constexpr std::size_t kLeast = 20;  // less is a mistake
  const std::string_view text = environment("COLUMNS");
  std::size_t columns = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), columns);
  const bool good = error == std::errc() && end == text.data() + text.size() && columns >= kLeast;
  return good ? std::optional(columns) : std::nullopt;
}

bool has_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view locale = environment(name);
    if (locale.empty()) continue;
    return locale.find("UTF-8") != std::string_view::npos ||
           locale.find("utf8") != std::string_view::npos;
  }
  return false;
}

const char* code_of(Style style) {
  switch (style) {
    case Style::good:
      return "32";
    case Style::doubtful:
      return "35";  // yellow is not seen on white
    case Style::bad:
      return "31";
    case Style::dim:
      return "2";
    case Style::strong:
      break;
  }
  return "1";
}

}  // namespace

std::optional<std::size_t> terminal_width(int file) {
  if (::isatty(file) == 0) return std::nullopt;
  constexpr std::size_t kUsual = 80;  // of a terminal that does not say
  winsize size{};
  const bool known = ::ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : kUsual;
}

std::optional<std::size_t> terminal_height(int file) {
  if (::isatty(file) == 0) return std::nullopt;
  winsize size{};
  const bool known = ::ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_row > 0;
  return known ? std::optional<std::size_t>(size.ws_row) : std::nullopt;
}

bool can_redraw(int file) { return ::isatty(file) != 0 && environment("TERM") != "dumb"; }

Screen screen_of(int file) {
  const std::optional<std::size_t> terminal = terminal_width(file);
  Screen screen;
  screen.width = terminal ? terminal : columns_wanted();
  screen.height = terminal_height(file);
  screen.color = can_redraw(file) && environment("NO_COLOR").empty();
  screen.blocks = has_utf8();
  return screen;
}

std::optional<std::size_t> output_width() { return screen_of(STDOUT_FILENO).width; }

std::string styled(const std::string& text, Style style, const Screen& screen) {
  if (!screen.color || text.empty()) return text;
  const std::string start(kOwnStyle);
  return start + ";" + code_of(style) + "m" + text + start + "m";
}

}  // namespace kiln::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/text_layout.hpp"

#include <algorithm>

#include "core/shown_text.hpp"

namespace kiln::cli {
namespace {

constexpr std::size_t kLeastWidth = 8;

bool starts_code_point(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }

/// Bytes of the first `columns` columns of `text`.
std::size_t bytes_of_columns(std::string_view text, std::size_t columns) {
  std::size_t end = 0;
  while (end < text.size()) {
    if (starts_code_point(text[end]) && columns-- == 0) break;
    ++end;
  }
  return end;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The parts of `text` between which a line may end: each keeps the space or comma at its end.
std::vector<std::string> breakable_parts(std::string_view text) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    parts.back() += text[i];
    const bool has_more = i + 1 < text.size();
    const bool is_number = i > 0 && is_digit(text[i - 1]);
    const bool ends_word = text[i] == ' ' && !is_number;
    const bool ends_item =
        text[i] == ',' && has_more && text[i + 1] != ' ' && !is_digit(text[i + 1]);
    if (has_more && (ends_word || ends_item)) parts.emplace_back();
  }
  return parts;
}

std::string_view without_end_spaces(std::string_view text) {
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

/// Adds parts to lines; a part that is longer than a line is cut. Each part is read a fixed number
/// of times: a cell may hold anything that a stranger's database does.
class Lines {
 public:
  /// `first`: of the first line, `width`: of the others.
  Lines(std::size_t first, std::size_t width)
      : width_(std::max(first, kLeastWidth)), next_width_(std::max(width, kLeastWidth)) {}

  void add(std::string_view part) {
    std::size_t columns = columns_of(without_end_spaces(part));
    if (!line_.empty() && line_columns_ + columns > width_) end();
    while (columns > width_ && !part.empty()) {
      const std::size_t bytes = bytes_of_columns(part, width_);
      line_ = part.substr(0, bytes);
      part.remove_prefix(bytes);
      columns -= std::min(columns, columns_of(line_));  // a colour code may be cut
      end();
    }
    line_ += part;
    line_columns_ += columns_of(part);
  }
  [[nodiscard]] std::vector<std::string> take() {
    if (!line_.empty() || lines_.empty()) end();
    return std::move(lines_);
  }

 private:
  void end() {
    lines_.emplace_back(without_end_spaces(line_));
    line_.clear();
    line_columns_ = 0;
    width_ = next_width_;
  }

  std::size_t width_;  ///< of the line at hand
  std::size_t next_width_;
  std::string line_;
  std::size_t line_columns_ = 0;
  std::vector<std::string> lines_;
};

}  // namespace

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (const std::size_t code = own_style_bytes(text.substr(i)); code > 0) {
      i += code;
      continue;
    }
    columns += starts_code_point(text[i]) ? 1 : 0;
    ++i;
  }
  return columns;
}

std::string cut_to(std::string_view text, std::size_t width) {
  constexpr std::string_view kMore = "...";
  if (columns_of(text) <= width || width <= kMore.size()) return std::string(text);
  return std::string(text.substr(0, bytes_of_columns(text, width - kMore.size()))) +
         std::string(kMore);
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  Lines lines(width, width);
  for (const std::string& part : breakable_parts(shown_text(text))) lines.add(part);
  return lines.take();
}

std::vector<std::string> packed(const std::vector<std::string>& pieces, std::size_t width) {
  Lines lines(width, width);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::string piece = pieces[i] + (i + 1 < pieces.size() ? ", " : "");
    if (columns_of(piece) <= width) {
      lines.add(piece);
    } else {
      for (const std::string& part : breakable_parts(piece)) lines.add(part);
    }
  }
  return lines.take();
}

std::string paragraph(std::string_view text, std::optional<std::size_t> width, std::size_t indent,
                      std::size_t hang) {
  const std::string first(indent, ' ');
  const std::string further(hang, ' ');
  if (!width) return first + std::string(text) + "\n";
  const auto room = [&](std::size_t margin) { return *width > margin ? *width - margin : 1; };
  Lines lines(room(indent), room(hang));
  for (const std::string& part : breakable_parts(shown_text(text))) lines.add(part);
  std::string out;
  for (const std::string& line : lines.take()) out += (out.empty() ? first : further) + line + "\n";
  return out;
}

std::string paragraphs(std::string_view text, std::optional<std::size_t> width) {
  std::string out;
  while (true) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    out += paragraph(line.substr(indent), width, indent, indent + 2);
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

}  // namespace kiln::cli

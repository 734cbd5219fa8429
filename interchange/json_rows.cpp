// SPDX-License-Identifier: Apache-2.0
#include "interchange/json_rows.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/parse_json.hpp"

namespace kiln::interchange {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxBadRows = 1000;  // of a file; then it is no list of rows
constexpr std::size_t kMaxRowBytes = std::size_t{1} << 20;
constexpr JsonRules kRules = {.max_depth = 200, .reads_not_finite = true};

std::size_t skip_space(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of(" \t\r\n", at), text.size());
}

/// Calls `visit(at, depth)` for each character from `begin` that is outside of strings, until it
/// returns false; strings end in their line. `depth` counts the brackets that are open.
template <typename Visit>
void visit_structure(std::string_view text, std::size_t begin, const Visit& visit) {
  int depth = 0;
  for (std::size_t at = begin; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '}' || c == ']') --depth;
    if (!visit(at, depth)) return;
    if (c == '{' || c == '[') ++depth;
    if (c != '"') continue;
    for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at) {
      if (text[at] == '\\') ++at;
    }
  }
}

/// The bracket that opens the rows: of the member `name` of the file.
std::optional<std::size_t> find_rows(std::string_view text, std::string_view name) {
  const std::string key = fmt::format("\"{}\"", name);
  std::optional<std::size_t> found;
  visit_structure(text, 0, [&](std::size_t at, int depth) {
    if (depth != 1 || !text.substr(at).starts_with(key)) return true;
    const std::size_t colon = skip_space(text, at + key.size());
    if (text.substr(colon, 1) != ":") return true;
    const std::size_t value = skip_space(text, colon + 1);
    if (value < text.size() && (text[value] == '{' || text[value] == '[')) found = value;
    return !found;
  });
  return found;
}

/// The comma or bracket after the row that begins at `begin`.
std::size_t end_of_row(std::string_view text, std::size_t begin) {
  const std::size_t last = std::min(text.size(), begin + kMaxRowBytes);
  std::size_t end = last;
  visit_structure(text.substr(0, last), begin, [&](std::size_t at, int depth) {
    const bool ends = depth < 0 || (depth == 0 && text[at] == ',');
    if (ends) end = at;
    return !ends;
  });
  return end;
}

/// The next line after `from` that begins like a row: "64,1": {
std::size_t next_keyed_row(std::string_view text, std::size_t from) {
  for (std::size_t line = text.find('\n', from); line < text.size();
       line = text.find('\n', line + 1)) {
    const std::size_t quote = skip_space(text, line);
    if (text.substr(quote, 1) != "\"") continue;
    const std::size_t colon =
        skip_space(text, std::min(text.find('"', quote + 1), text.size() - 1) + 1);
    if (text.substr(colon, 1) == ":" && text.substr(skip_space(text, colon + 1), 1) == "{")
      return quote;
  }
  return text.size();
}

/// The row is cut where another one, "64,1": {...}, is a member of it.
bool holds_a_row(const Json& row) {
  if (!row.is_object()) return false;
  const auto& members = row.items();
  return std::any_of(members.begin(), members.end(), [](const auto& member) {
    const std::string& name = member.key();
    return member.value().is_object() &&
           (name.find(',') != name.npos || (!name.empty() && name[0] <= '9'));
  });
}

class RowReader {
 public:
  RowReader(std::string_view text, const std::string& path, std::string_view noun)
      : text_(text), path_(path), noun_(noun) {}

  JsonRows read(std::string_view rows_at) {
    const std::optional<std::size_t> open = find_rows(text_, rows_at);
    std::string head(text_);
    if (open) {
      const std::size_t close = read_rows(*open);
      // The head keeps its places: 0 stands for the rows.
      for (std::size_t i = *open; i < close; ++i) {
        if (head[i] != '\n') head[i] = ' ';
      }
      head[*open] = '0';
      // A row that is cut may have taken the bracket of the file along.
      const bool ends = skip_space(text_, close) == text_.size();
      if (out_.is_cut || (ends && !out_.bad.empty())) head += '}';
    }
    out_.head = parse_whole(head, path_);
    if (!out_.head.is_object()) throw InputError({path_, 1, 1}, "expected an object");
    return std::move(out_);
  }

 private:
  /// Returns the place after the rows.
  std::size_t read_rows(std::size_t open) {
    is_keyed_ = text_[open] == '{';
    std::size_t at = open + 1;
    for (std::size_t number = 1;; ++number) {
      at = skip_space(text_, at);
      if (at == text_.size()) {
        out_.is_cut = true;
        return at;
      }
      if (text_[at] == (is_keyed_ ? '}' : ']')) return at + 1;
      at = read_row(at, number);
      at = skip_space(text_, at);
      if (text_.substr(at, 1) == ",") ++at;
    }
  }

  /// Returns the place after the row.
  std::size_t read_row(std::size_t begin, std::size_t number) {
    std::size_t end = end_of_row(text_, begin);
    const std::string key = is_keyed_ ? key_at(begin) : std::to_string(number);
    try {
      Json row = parse_slice(begin, end);
      const std::size_t value =
          is_keyed_ ? skip_space(text_, text_.find(':', begin + key.size() + 2) + 1) : begin;
      if (is_keyed_ && holds_a_row(row))
        throw JsonFault(next_keyed_row(text_, begin), "another one begins before this one ends");
      out_.rows.push_back({key, place(value), std::move(row)});
    } catch (const JsonFault& fault) {
      if (out_.bad.size() == kMaxBadRows) {
        throw InputError(
            fmt::format("{}\nand more than {} other bad rows", out_.bad.front(), kMaxBadRows - 1));
      }
      out_.bad.push_back(fmt::format("{}: {}{}: {}", to_text(place(fault.offset())), noun_,
                                     key.empty() ? "" : fmt::format(" '{}'", key), fault.what()));
      if (is_keyed_) end = std::min(end, next_keyed_row(text_, begin));
      end = std::max(end, begin + 1);  // whatever it is, go on
    }
    return end;
  }

  [[nodiscard]] std::string key_at(std::size_t begin) const {
    const std::size_t close = text_.find('"', begin + 1);
    if (text_[begin] != '"' || close == text_.npos) return "";
    return std::string(text_.substr(begin + 1, close - begin - 1));
  }

  /// The row in brackets of its own. Throws JsonFault with its place in the file.
  [[nodiscard]] Json parse_slice(std::size_t begin, std::size_t end) const {
    std::string slice(is_keyed_ ? "{" : "[");
    slice.append(text_.substr(begin, end - begin));
    const std::string closed = slice + (is_keyed_ ? "}" : "]");
    try {
      Json list;
      try {
        list = parse_json(closed, kRules);
      } catch (const JsonFault&) {
        if (end < text_.size()) throw;
        list = parse_json(slice, kRules);  // which says that the file ends here
      }
      if (list.size() != 1) throw JsonFault(1, "expected one value");
      return std::move(*list.begin());
    } catch (const JsonFault& fault) {
      throw JsonFault(begin + std::max<std::size_t>(fault.offset(), 1) - 1, fault.what());
    }
  }

  /// Rows come in order, so the text before them is looked through once.
  SourceLocation place(std::size_t offset) {
    if (offset < counted_) return place_in(text_, path_, offset);
    const std::string_view passed = text_.substr(counted_, offset - counted_);
    line_ += static_cast<int>(std::count(passed.begin(), passed.end(), '\n'));
    if (const std::size_t last = passed.rfind('\n'); last != passed.npos)
      line_start_ = counted_ + last + 1;
    counted_ = offset;
    return {path_, line_, static_cast<int>(offset - line_start_ + 1)};
  }

  std::string_view text_;
  const std::string& path_;
  std::string_view noun_;
  bool is_keyed_ = false;
  std::size_t counted_ = 0;
  std::size_t line_start_ = 0;
  int line_ = 1;
  JsonRows out_;
};

}  // namespace

JsonRows parse_rows(std::string_view text, const std::string& path, std::string_view rows_at,
                    std::string_view noun) {
  return RowReader(text, path, noun).read(rows_at);
}

Json parse_whole(std::string_view text, const std::string& path) {
  try {
    return parse_json(text, kRules);
  } catch (const JsonFault& fault) {
    throw InputError(place_in(text, path, fault.offset()), fault.what());
  }
}

}  // namespace kiln::interchange

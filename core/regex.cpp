// Regular expressions by PCRE2's interpreter. Its limits count steps, and one step may walk over
// the whole text; so a callout before each item of the pattern looks at the clock. (PCRE2's JIT
// compiler needs the same callouts, which then take most of the time: it was 1.0 to 2.5 times as
// fast on 4 MiB of log, and wants memory that is both writable and executable.)
// SPDX-License-Identifier: Apache-2.0
#include "core/regex.hpp"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <time.h>

#include <array>
#include <cstdint>
#include <new>
#include <vector>

#include <fmt/format.h>

namespace kiln {
namespace {

constexpr std::uint32_t kMaxSteps = 10'000'000;    // of one match; as PCRE2 is usually built
constexpr std::uint32_t kMaxNestedBrackets = 250;  // the same
constexpr std::size_t kFarBytes = 4096;            // a step over more looks at the clock
constexpr std::uint32_t kStepsPerLook = 256;       // others do so together
constexpr std::uint32_t kOptions =
    PCRE2_AUTO_CALLOUT | PCRE2_DOLLAR_ENDONLY | PCRE2_ALLOW_EMPTY_CLASS | PCRE2_ALT_BSUX |
    PCRE2_MATCH_UNSET_BACKREF | PCRE2_NEVER_UTF | PCRE2_NEVER_UCP | PCRE2_NEVER_BACKSLASH_C;

struct FreeCompileContext {
  void operator()(pcre2_compile_context* context) const { pcre2_compile_context_free(context); }
};
struct FreeMatchContext {
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
};
struct FreeMatchData {
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
};

template <typename Pointer>
Pointer in_memory(Pointer pointer) {
  if (!pointer) throw std::bad_alloc();
  return pointer;
}

double processor_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

std::string message_of(int error) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(error, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Rewrites what ECMAScript and PCRE2 both take, but read in two ways, and refuses what only PCRE2
/// takes. One pass from left to right over the pattern.
class Translation {
 public:
  explicit Translation(std::string_view pattern) : pattern_(pattern) {
    while (at_ < pattern_.size()) take_item();
  }
  /// The pattern for PCRE2.
  std::string text;
  /// What is wrong; empty: nothing that is seen here.
  std::string fault;

 private:
  [[nodiscard]] char peek(std::size_t ahead) const {
    return at_ + ahead < pattern_.size() ? pattern_[at_ + ahead] : '\0';
  }
  void copy(std::size_t count) {
    text += pattern_.substr(at_, count);
    at_ += count;
  }

  void take_item() {
    const char c = peek(0);
    if (c == '\\') return take_escape();
    if (in_class_) {
      const char kind = peek(1);
      if (c == '[' && (kind == ':' || kind == '.' || kind == '=')) {
        const std::size_t end = pattern_.find(std::string{kind, ']'}, at_ + 2);
        if (end != std::string_view::npos) return copy(end + 2 - at_);  // [:digit:]
      }
      in_class_ = c != ']';
    } else if (c == '[') {
      in_class_ = true;
      if (peek(1) == '^') return copy(2);
    } else if (c == '(' && peek(1) == '*') {
      fault = "nothing to repeat in '(*'";
    } else if (c == '(' && peek(1) == '?') {
      constexpr std::string_view kKinds = ":=!<";
      if (kKinds.find(peek(2)) == std::string_view::npos) {
        fault = fmt::format("no group begins with '{}'", pattern_.substr(at_, 3));
      }
    }
    copy(1);
  }

  void take_escape() {
    constexpr std::string_view kSame = "bBdDsSwWfnrtcxuk";
    const char c = peek(1);
    if (c == 'v') {
      text += "\\x0b";
      at_ += 2;
    } else if (is_letter(c) && kSame.find(c) == std::string_view::npos) {
      text += c;  // ECMAScript: the letter itself
      at_ += 2;
    } else {
      copy(2);
    }
  }

  std::string_view pattern_;
  std::size_t at_ = 0;
  bool in_class_ = false;
};

/// How far the searches in one text have come, for the callout.
struct Watch {
  double deadline = 0;
  std::size_t last = 0;
  std::uint32_t steps = 0;
};

int look_at_clock(pcre2_callout_block* block, void* data) {
  Watch& watch = *static_cast<Watch*>(data);
  const std::size_t at = block->current_position;
  const std::size_t walked = at > watch.last ? at - watch.last : watch.last - at;
  watch.last = at;
  if (walked < kFarBytes && ++watch.steps % kStepsPerLook != 0) return 0;
  return processor_seconds() > watch.deadline ? PCRE2_ERROR_CALLOUT : 0;
}

/// The searches in one text.
class Search {
 public:
  Search(const pcre2_code* code, std::size_t groups, std::string_view text)
      : code_(code),
        text_(text.size() > Regex::kMaxTextBytes ? text.substr(text.size() - Regex::kMaxTextBytes)
                                                 : text),
        context_(in_memory(std::unique_ptr<pcre2_match_context, FreeMatchContext>(
            pcre2_match_context_create(nullptr)))),
        data_(in_memory(std::unique_ptr<pcre2_match_data, FreeMatchData>(
            pcre2_match_data_create_from_pattern(code, nullptr)))),
        found_(groups + 1) {
    watch_.deadline = processor_seconds() + Regex::kMaxSeconds;
    pcre2_set_match_limit(context_.get(), kMaxSteps);
    pcre2_set_depth_limit(context_.get(), kMaxSteps);
    pcre2_set_heap_limit(context_.get(), Regex::kMaxMemoryKib);
    pcre2_set_callout(context_.get(), look_at_clock, &watch_);
  }
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  /// Goes to the next match. Returns PCRE2_ERROR_NOMATCH where there is none; other negative
  /// numbers are faults.
  int next() {
    if (at_ > text_.size()) return PCRE2_ERROR_NOMATCH;
    const int result = pcre2_match(code_, reinterpret_cast<PCRE2_SPTR>(text_.data()), text_.size(),
                                   at_, 0, data_.get(), context_.get());
    if (result < 0) return result;
    const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(data_.get());
    for (std::size_t i = 0; i < found_.size(); ++i) {
      const PCRE2_SIZE begin = ends[2 * i];
      found_[i] =
          begin == PCRE2_UNSET ? std::string_view() : text_.substr(begin, ends[2 * i + 1] - begin);
    }
    at_ = ends[1] + (found_.front().empty() ? 1 : 0);
    return result;
  }

  [[nodiscard]] std::span<const std::string_view> found() const { return found_; }
  [[nodiscard]] std::string_view text() const { return text_; }

 private:
  const pcre2_code* code_;
  std::string_view text_;
  Watch watch_;
  std::unique_ptr<pcre2_match_context, FreeMatchContext> context_;
  std::unique_ptr<pcre2_match_data, FreeMatchData> data_;
  std::vector<std::string_view> found_;
  std::size_t at_ = 0;
};

}  // namespace

Regex Regex::parse(std::string_view pattern, std::string name, const SourceLocation& where) {
  if (pattern.size() > kMaxPatternBytes) {
    throw InputError(where, fmt::format("{} may have {} bytes at most, not {}", name,
                                        kMaxPatternBytes, pattern.size()));
  }
  const auto fail = [&](const std::string& reason) {
    throw InputError(where, fmt::format("{} is no regular expression (ECMAScript): {}: {}", name,
                                        reason, pattern));
  };
  const Translation translation(pattern);
  if (!translation.fault.empty()) fail(translation.fault);
  const auto context = in_memory(std::unique_ptr<pcre2_compile_context, FreeCompileContext>(
      pcre2_compile_context_create(nullptr)));
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_ANYCRLF);
  pcre2_set_parens_nest_limit(context.get(), kMaxNestedBrackets);
  int error = 0;
  std::size_t offset = 0;
  Regex regex;
  regex.code_.reset(
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translation.text.data()), translation.text.size(),
                    kOptions, &error, &offset, context.get()),
      [](pcre2_code* code) { pcre2_code_free(code); });
  if (!regex.code_) fail(message_of(error));
  std::uint32_t groups = 0;
  pcre2_pattern_info(regex.code_.get(), PCRE2_INFO_CAPTURECOUNT, &groups);
  regex.text_ = pattern;
  regex.name_ = std::move(name);
  regex.where_ = where;
  regex.groups_ = groups;
  return regex;
}

void Regex::fail(int error, std::size_t bytes) const {
  std::string limit;
  if (error == PCRE2_ERROR_CALLOUT) {
    limit = fmt::format("takes more than {} s", kMaxSeconds);
  } else if (error == PCRE2_ERROR_MATCHLIMIT || error == PCRE2_ERROR_DEPTHLIMIT) {
    limit = fmt::format("takes more than {} steps", kMaxSteps);
  } else if (error == PCRE2_ERROR_HEAPLIMIT || error == PCRE2_ERROR_NOMEMORY) {
    limit = fmt::format("takes more than {} MiB of memory", kMaxMemoryKib / 1024);
  } else {
    limit = fmt::format("cannot be used ({})", message_of(error));
  }
  throw InputError(where_,
                   fmt::format("{} {} on a text of {} bytes: {} (repeat characters such as [ab]*, "
                               "not groups such as (a|b)*, and begin with a text that is rare)",
                               name_, limit, bytes, text_));
}

bool Regex::is_in(std::string_view text) const {
  Search search(code_.get(), groups_, text);
  const int result = search.next();
  if (result != PCRE2_ERROR_NOMATCH && result < 0) fail(result, search.text().size());
  return result >= 0;
}

void Regex::each_match(std::string_view text, const Take& take) const {
  Search search(code_.get(), groups_, text);
  int result = 0;
  while ((result = search.next()) >= 0) take(search.found());
  if (result != PCRE2_ERROR_NOMATCH) fail(result, search.text().size());
}

}  // namespace kiln

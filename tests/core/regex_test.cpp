// Regular expressions: what they find, what is refused, and that no pattern takes long.
// SPDX-License-Identifier: Apache-2.0
#include "core/regex.hpp"

#include <time.h>

#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/reliability/size.hpp"
#include "tests/support/error_of.hpp"

namespace kiln {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

/// The first group of each match, or the matches of a pattern without groups.
std::vector<std::string> groups_found(const std::string& pattern, std::string_view text) {
  const Regex regex = Regex::parse(pattern, "'pattern'");
  std::vector<std::string> out;
  regex.each_match(text, [&](std::span<const std::string_view> match) {
    out.emplace_back(match[regex.groups() > 0 ? 1 : 0]);
  });
  return out;
}

bool regex_matches(const std::string& pattern, std::string_view text) {
  return Regex::parse(pattern, "'pattern'").is_in(text);
}

std::string regex_fault(const std::string& pattern, std::string_view text = "") {
  return test::error_of<InputError>([&] {
    return Regex::parse(pattern, "'pattern'", {"spec.toml", 9, 1}).is_in(text);
  });
}

double processor_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

TEST(Regex, FindsEveryMatchFromLeftToRight) {
  EXPECT_THAT(groups_found("time: ([0-9.]+) us", "time: 2 us\nspace: 9 us\ntime: 3.5 us\n"),
              ElementsAre("2", "3.5"));
  EXPECT_THAT(groups_found("aa", "aaaaa"), ElementsAre("aa", "aa"));
  EXPECT_THAT(groups_found("b*", "abb"), ElementsAre("", "bb", ""));
  EXPECT_THAT(groups_found("x", "abc"), IsEmpty());
  EXPECT_THAT(groups_found("(a)|b", "ba"), ElementsAre("", "a"))
      << "a group that took no part is empty";
  EXPECT_EQ(Regex::parse("(a)(?:b)(?<name>c)", "p").groups(), 2U);
  EXPECT_EQ(Regex::parse("(a)", "p").text(), "(a)");
}

TEST(Regex, ReadsPatternsAsEcmascriptDoes) {
  EXPECT_TRUE(regex_matches(R"((\w+) \1)", "the the"));
  EXPECT_TRUE(regex_matches("a(?=b)", "ab"));
  EXPECT_FALSE(regex_matches("a(?!b)", "ab"));
  EXPECT_TRUE(regex_matches("(?<=a)b", "ab"));
  EXPECT_TRUE(regex_matches(R"(^\d{2,3}?$)", "123"));
  EXPECT_TRUE(regex_matches("[[:digit:]]+", "7"));
  EXPECT_FALSE(regex_matches("a$", "a\n")) << "$ is the end of the text alone";
  EXPECT_FALSE(regex_matches("^b", "a\nb"));
  EXPECT_FALSE(regex_matches("a.b", "a\rb")) << "a dot is no line break";
  EXPECT_TRUE(regex_matches("a[^]b", "a\nb"));
  EXPECT_FALSE(regex_matches("[]", "a"));
  EXPECT_TRUE(regex_matches(R"(\x41\u0042)", "AB"));
  EXPECT_TRUE(regex_matches(R"(^\v$)", "\v"));
  EXPECT_FALSE(regex_matches(R"(\v)", "\n"));
  EXPECT_TRUE(regex_matches(R"(\A\Q\h)", "AQh")) << "other letters are themselves";
  EXPECT_TRUE(regex_matches(R"((a)?b\1$)", "b")) << "a group that took no part matches nothing";
  EXPECT_TRUE(regex_matches("\xc2\xb5s", "3 \xc2\xb5s"));
}

TEST(Regex, SaysWhatIsWrongWithAPattern) {
  EXPECT_EQ(regex_fault("took ([0-9.+"),
            "spec.toml:9:1: 'pattern' is no regular expression (ECMAScript): missing terminating ] "
            "for character class: took ([0-9.+");
  EXPECT_THAT(regex_fault("(a"), HasSubstr("missing closing parenthesis"));
  EXPECT_THAT(regex_fault("*"), StartsWith("spec.toml:9:1: 'pattern' is no regular expression"));
  for (const char* foreign : {"(?i)a", "(?>a)", "(?R)", "(?#c)", "(?C1)a", "(?|a)", "(?"}) {
    EXPECT_THAT(regex_fault(foreign), HasSubstr("no group begins with '(?")) << foreign;
  }
  EXPECT_THAT(regex_fault("(*LIMIT_MATCH=1)a"), HasSubstr("nothing to repeat in '(*'"));
  EXPECT_EQ(regex_fault(std::string(5000, 'a')),
            "spec.toml:9:1: 'pattern' may have 4096 bytes at most, not 5000");
  EXPECT_THAT(regex_fault(std::string(2000, '(') + std::string(2000, ')')), HasSubstr("nested"));
  EXPECT_THAT(regex_fault("((((((a{1,999}){1,999}){1,999}){1,999}){1,999}){1,999})"),
              HasSubstr("no regular expression"));
}

TEST(Regex, ALimitIsAFaultOfThePattern) {
  const std::string text = std::string(3'000'000, 'a') + "\n5\n";
  for (const char* pattern :
       {"(a|b)*[cd]", "(a*)*[cd]", "(a+)+$", "a*a*[cd]", "a*[cd]", "(?:a|aa)*[cd]"}) {
    const double start = processor_seconds();
    const std::string error = regex_fault(pattern, text);
    EXPECT_THAT(error, StartsWith("spec.toml:9:1: 'pattern' takes more than ")) << pattern;
    EXPECT_THAT(error, HasSubstr(std::string(" on a text of 3000003 bytes: ") + pattern));
    EXPECT_LT(processor_seconds() - start, 2) << pattern;  // 0.1 s; slower with sanitizers
  }
  EXPECT_TRUE(regex_matches(".*\n5", text)) << "once quadratic";
  EXPECT_TRUE(regex_matches("[ab]*\n5", text));
}

TEST(Regex, SearchesTheEndOfALongText) {
  const std::string text = "first 1 " + std::string(Regex::kMaxTextBytes - 6, '.') + "last 2";
  EXPECT_THAT(groups_found("[a-z]+ ([0-9])", text), ElementsAre("2"));
}

/// A pattern of the words of the language, most of them in their places.
std::string random_pattern(std::mt19937& random, int depth) {
  const auto draw = [&](std::size_t count) { return random() % count; };
  static const std::vector<std::string> kItems = {
      "a",   "b",           ".",   "[ab]", "[^a]",    "\\d",     "\\w", "\\s",
      "\\b", "^",           "$",   "5",    "\\n",     "time",    "[]",  "[^]",
      "\\1", "[[:alpha:]]", "\\.", "\\v",  "\\u0061", "\xc2\xb5"};
  static const std::vector<std::string> kRepeats = {"",   "",   "",    "*",     "+",      "?",
                                                    "*?", "+?", "{2}", "{1,3}", "{0,40}", "{5,}"};
  static const std::vector<std::string> kOpen = {"(", "(", "(?:", "(?=", "(?!", "(?<=", "(?<n>"};
  std::string out;
  for (std::size_t items = 1 + draw(4); items > 0; --items) {
    if (depth > 0 && draw(3) == 0) {
      out += kOpen[draw(kOpen.size())] + random_pattern(random, depth - 1) + ")";
    } else {
      out += kItems[draw(kItems.size())];
    }
    out += kRepeats[draw(kRepeats.size())];
    if (draw(8) == 0) out += "|";
  }
  return out;
}

TEST(Regex, NoPatternTakesLong) {
  std::string log;
  for (int i = 0; log.size() < Regex::kMaxTextBytes / 2; ++i) {
    log += "iteration " + std::to_string(i % 97) + ": time 12." + std::to_string(i % 10) + " us\n";
  }
  const std::string whole = log + std::string(Regex::kMaxTextBytes - log.size() - 3, 'a') + "\n5\n";
  std::mt19937 random(1);
  int refused = 0;
  int limited = 0;
  double longest = 0;
  std::string slowest;
  for (int i = 0; i < 10'000; ++i) {
    const std::string pattern = random_pattern(random, 3);
    // All of the text for each is minutes: here most see the seam between its halves.
    const bool see_all = test::is_soak() || i % 1000 == 0;
    const std::string_view text =
        see_all ? std::string_view(whole) : std::string_view(whole).substr(log.size() - 200, 400);
    const double start = processor_seconds();
    try {
      const Regex regex = Regex::parse(pattern, "p");
      bool is_inside = true;
      regex.each_match(text, [&](std::span<const std::string_view> match) {
        for (const std::string_view part : match) {
          is_inside &= part.empty() || (part.data() >= text.data() &&
                                        part.data() + part.size() <= text.data() + text.size());
        }
      });
      ASSERT_TRUE(is_inside) << pattern;
    } catch (const InputError& error) {
      const bool is_limit =
          std::string(error.what()).find(" takes more than ") != std::string::npos;
      ++(is_limit ? limited : refused);
    }
    const double took = processor_seconds() - start;
    if (took > longest) slowest = pattern;
    longest = std::max(longest, took);
  }
  std::printf("10000 patterns: %d refused, %d ran into a limit, the longest took %.3f s: %s\n",
              refused, limited, longest, slowest.c_str());
  EXPECT_LT(refused, 6'000);
  EXPECT_GT(limited, 0);
  EXPECT_LT(longest, 2);  // 0.1 s and the rest of a step; slower with sanitizers
}

}  // namespace
}  // namespace kiln

// SPDX-License-Identifier: Apache-2.0
#include "cli/checks.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/suggest.hpp"
#include "db/server/server_place.hpp"
#include "search/strategy.hpp"

namespace kiln::cli {
namespace {

template <typename Number>
bool read_whole(const std::string& text, Number& number) {
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stopped == end;
}

}  // namespace

Check positive_number(double most) {
  return [most](const std::string& text) -> std::string {
    double number = 0;
    const bool good =
        read_whole(text, number) && std::isfinite(number) && number > 0 && number <= most;
    if (good) return "";
    return most == std::numeric_limits<double>::max()
               ? fmt::format("must be a number above 0, not '{}'", text)
               : fmt::format("must be a number above 0, {} at most, not '{}'", most, text);
  };
}

Check whole_number(std::int64_t least, std::int64_t most) {
  return [least, most](const std::string& text) -> std::string {
    std::int64_t number = 0;
    const bool good = read_whole(text, number) && number >= least && number <= most;
    if (good) return "";
    return most == std::numeric_limits<std::int64_t>::max()
               ? fmt::format("must be a whole number of {} or more, not '{}'", least, text)
               : fmt::format("must be a whole number from {} to {}, not '{}'", least, most, text);
  };
}

Check file_name() {
  return [](const std::string& text) -> std::string {
    return text.empty() ? "must name a file, not ''" : "";
  };
}

Check database_name() {
  return [](const std::string& text) -> std::string {
    return text.empty() ? "must name a file or a server, not ''" : server_url_fault(text);
  };
}

Check strategy_name() {
  std::vector<std::string> names;
  for (const StrategyInfo& info : strategies()) names.push_back(info.name);
  return one_of("strategy", std::move(names));
}

Check one_of(std::string noun, std::vector<std::string> words) {
  return
      [noun = std::move(noun), words = std::move(words)](const std::string& text) -> std::string {
        if (std::find(words.begin(), words.end(), text) != words.end()) return "";
        return fmt::format("there is no {} '{}'{} (there are: {})", noun, text,
                           did_you_mean(text, words), comma_list(words));
      };
}

}  // namespace kiln::cli

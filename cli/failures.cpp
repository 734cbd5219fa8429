// SPDX-License-Identifier: Apache-2.0
#include "cli/failures.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "cli/table.hpp"

namespace kiln::cli {
namespace {

/// The reason without its numbers: "tile of 48 KiB" and "tile of 64 KiB" are one reason.
std::string without_numbers(const std::string& text) {
  std::string kind;
  for (const char c : text) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit) kind += c;
    if (is_digit && (kind.empty() || kind.back() != '#')) kind += '#';
  }
  return kind;
}

struct VariantCount {
  std::size_t tried = 0;
  std::vector<TrialRecord> failures;
};

}  // namespace

std::vector<FailureGroup> failure_groups(const std::vector<TrialRecord>& trials) {
  std::vector<FailureGroup> groups;
  std::map<std::string, std::size_t> places;
  for (const TrialRecord& row : trials) {
    if (row.trial.ok()) continue;
    const std::string outcome(name_of(row.trial.outcome));
    const std::string reason = first_line(row.trial.message);
    const auto [place, is_new] =
        places.try_emplace(outcome + ": " + without_numbers(reason), groups.size());
    if (is_new) groups.push_back({outcome, reason, row.trial.config.text(), 0});
    ++groups[place->second].count;
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const FailureGroup& a, const FailureGroup& b) { return a.count > b.count; });
  return groups;
}

std::vector<std::string> failure_lines(const std::vector<TrialRecord>& trials,
                                       FailedVariants which) {
  std::map<std::string, VariantCount> variants;
  for (const TrialRecord& row : trials) {
    VariantCount& variant = variants[row.trial.config.variant];
    ++variant.tried;
    if (!row.trial.ok()) variant.failures.push_back(row);
  }
  std::vector<std::string> lines;
  for (const auto& [name, variant] : variants) {
    const std::size_t failed = variant.failures.size();
    if (failed == 0 || (which == FailedVariants::whole && failed < variant.tried)) continue;
    const FailureGroup group = failure_groups(variant.failures).front();
    std::string count = fmt::format("{} of {} configs", failed, variant.tried);
    if (failed == variant.tried)
      count = failed == 1 ? "the only config tried" : fmt::format("all {} configs", failed);
    const std::string share = group.count == failed ? "" : fmt::format(", {} of them", group.count);
    lines.push_back(fmt::format("{} of variant '{}' failed{} ({}): {}", count, name, share,
                                group.outcome, group.reason));
  }
  return lines;
}

}  // namespace kiln::cli

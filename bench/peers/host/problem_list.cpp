// Reads lists of problems, numbers the problems, and selects those that run.
// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/host/problem_list.hpp"

#include <charconv>
#include <fstream>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "core/errors.hpp"
#include "templates/library.hpp"

namespace kiln::peers {
namespace {

/// Appends the lines of `path` that are neither empty nor comments.
void read_list(const std::string& path, std::vector<ListedProblem>& problems) {
  std::ifstream file(path);
  if (!file) throw InputError(path + ": cannot be read");
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    line.erase(0, line.find_first_not_of(" \t\r"));
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (line.empty() || line.front() == '#') continue;
    problems.push_back({0, line, fmt::format("{}:{}", path, number)});
  }
}

/// "4" -> 4; 0 for anything that is no positive number.
int position(std::string_view text) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end && value > 0 ? value : 0;
}

/// "1-6,9" -> {1, 2, 3, 4, 5, 6, 9}, each at most `count`.
std::set<int> selected(const std::string& only, int count) {
  std::set<int> numbers;
  std::istringstream parts(only);
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t dash = part.find('-');
    const int first = position(std::string_view(part).substr(0, dash));
    const int last =
        dash == std::string::npos ? first : position(std::string_view(part).substr(dash + 1));
    if (first == 0 || last < first)
      throw InputError(
          fmt::format("--only: '{}' is no number or range; expected e.g. 1-6,9", part));
    if (last > count)
      throw InputError(fmt::format("--only: there is no problem {}; the last is {}", last, count));
    for (int number = first; number <= last; ++number) numbers.insert(number);
  }
  return numbers;
}

}  // namespace

std::vector<ListedProblem> listed_problems(const Options& options) {
  std::vector<ListedProblem> all;
  for (const std::string& problem : options.problems) all.push_back({0, problem, ""});
  for (const std::string& list : options.lists) read_list(list, all);
  if (all.empty()) throw InputError("no problem is given: use --problem or --list");
  int number = 0;
  for (ListedProblem& problem : all) problem.number = ++number;
  if (options.only.empty()) return all;
  const std::set<int> chosen = selected(options.only, number);
  std::erase_if(all, [&](const ListedProblem& problem) {
    return chosen.find(problem.number) == chosen.end();
  });
  return all;
}

ParsedProblem parse_problem(const ListedProblem& listed) {
  const std::string place = listed.where.empty() ? "" : listed.where + ": ";
  const std::size_t space = listed.line.find(' ');
  if (space == std::string::npos)
    throw InputError(
        fmt::format("{}'{}' is no problem; expected e.g. \"reduce n=2^20\"", place, listed.line));
  try {
    KernelSpec spec = KernelLibrary().load(listed.line.substr(0, space));
    Problem problem = Problem::parse(spec, listed.line.substr(space + 1));
    return {std::move(spec), std::move(problem)};
  } catch (const InputError& error) {
    throw InputError(place + error.what());
  }
}

NumberedProblems numbered(const std::vector<ListedProblem>& problems) {
  NumberedProblems result;
  for (const ListedProblem& listed : problems) {
    try {
      result.text += fmt::format("{:>3}  {}\n", listed.number, parse_problem(listed).title());
    } catch (const InputError& error) {
      result.text += fmt::format("{:>3}  error: {}\n", listed.number, error.what());
      ++result.errors;
    }
  }
  return result;
}

}  // namespace kiln::peers

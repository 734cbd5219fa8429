// SPDX-License-Identifier: Apache-2.0
#include "lookup/config_place.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace kiln {
namespace {

constexpr double kStepOfAChoice = 0.5;
constexpr double kStepOfAnAbsentOne = 1;

// NaN of what is no number.
double number_in(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool is_number = error == std::errc() && stop == end && value >= 0 && !std::isinf(value);
  return is_number ? std::log2(1 + value) : std::numeric_limits<double>::quiet_NaN();
}

// Cuts the text in two at the first `mark`, and gives the part before it.
std::string_view cut(std::string_view& text, char mark) {
  const std::size_t end = std::min(text.find(mark), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

/// One tunable of many configs.
struct Column {
  std::vector<double> numbers;       ///< NaN where the text is no number
  std::vector<std::size_t> choices;  ///< equal for equal texts; empty where all are numbers

  Column(std::span<const double> all_numbers, std::span<const std::string* const> texts)
      : numbers(all_numbers.begin(), all_numbers.end()) {
    if (std::none_of(numbers.begin(), numbers.end(), [](double x) { return std::isnan(x); }))
      return;
    std::map<std::string_view, std::size_t> known;
    for (const std::string* text : texts) {
      choices.push_back(known.emplace(*text, known.size()).first->second);
    }
  }

  /// Adds the steps from the i-th to each.
  void add_steps(std::size_t i, std::vector<double>& steps) const {
    if (choices.empty()) {
      for (std::size_t j = 0; j < steps.size(); ++j) steps[j] += std::abs(numbers[i] - numbers[j]);
      return;
    }
    for (std::size_t j = 0; j < steps.size(); ++j) {
      const double doublings = std::abs(numbers[i] - numbers[j]);
      const double of_choice = choices[i] == choices[j] ? 0 : kStepOfAChoice;
      steps[j] += std::isnan(doublings) ? of_choice : doublings;
    }
  }
};

}  // namespace

ConfigPlace::ConfigPlace(std::string_view text) : variant_(cut(text, ':')) {
  while (!text.empty()) {
    std::string_view value = cut(text, ',');
    const std::string_view name = cut(value, '=');
    all_names_.append(name).push_back(',');
    names_.emplace_back(name);
    texts_.emplace_back(value);
    numbers_.push_back(number_in(value));
  }
}

double ConfigPlace::between(std::size_t own, const ConfigPlace& other, std::size_t theirs) const {
  const double doublings = std::abs(numbers_[own] - other.numbers_[theirs]);
  if (!std::isnan(doublings)) return doublings;
  return texts_[own] == other.texts_[theirs] ? 0 : kStepOfAChoice;
}

double ConfigPlace::steps_by_name(const ConfigPlace& other) const {
  double steps = 0;
  std::size_t shared = 0;
  for (std::size_t own = 0; own < names_.size(); ++own) {
    const auto found = std::find(other.names_.begin(), other.names_.end(), names_[own]);
    if (found == other.names_.end()) continue;
    ++shared;
    steps += between(own, other, static_cast<std::size_t>(found - other.names_.begin()));
  }
  const std::size_t absent = names_.size() + other.names_.size() - 2 * shared;
  return steps + kStepOfAnAbsentOne * static_cast<double>(absent);
}

std::optional<double> ConfigPlace::steps_to(const ConfigPlace& other) const {
  if (variant_ != other.variant_) return std::nullopt;
  if (all_names_ != other.all_names_) return steps_by_name(other);
  // Texts of one variant mostly have the same tunables in the same places.
  double steps = 0;
  for (std::size_t i = 0; i < names_.size(); ++i) steps += between(i, other, i);
  return steps;
}

StepsTable::StepsTable(std::span<const ConfigPlace> places)
    : places_(places),
      count_(places.size()),
      steps_(count_ * count_, std::numeric_limits<double>::infinity()) {
  std::map<std::pair<std::string_view, std::string_view>, std::vector<std::size_t>> forms;
  for (std::size_t i = 0; i < count_; ++i) {
    forms[{places[i].variant_, places[i].all_names_}].push_back(i);
  }
  for (const auto& [form, members] : forms) {
    fill(members);
    for (const auto& [other_form, others] : forms) {
      if (form.first == other_form.first && form.second != other_form.second) {
        fill(members, others);
      }
    }
  }
}

void StepsTable::fill(const std::vector<std::size_t>& alike) {
  std::vector<Column> columns;
  std::vector<double> numbers(alike.size());
  std::vector<const std::string*> texts(alike.size());
  for (std::size_t tunable = 0; tunable < places_[alike.front()].names_.size(); ++tunable) {
    for (std::size_t i = 0; i < alike.size(); ++i) {
      numbers[i] = places_[alike[i]].numbers_[tunable];
      texts[i] = &places_[alike[i]].texts_[tunable];
    }
    columns.emplace_back(numbers, texts);
  }
  for (std::size_t i = 0; i < alike.size(); ++i) {
    std::vector<double> steps(alike.size());
    for (const Column& column : columns) column.add_steps(i, steps);
    for (std::size_t j = 0; j < alike.size(); ++j) steps_[alike[i] * count_ + alike[j]] = steps[j];
  }
}

void StepsTable::fill(const std::vector<std::size_t>& some,
                      const std::vector<std::size_t>& others) {
  for (const std::size_t a : some) {
    for (const std::size_t b : others) {
      steps_[a * count_ + b] = places_[a].steps_by_name(places_[b]);
    }
  }
}

}  // namespace kiln

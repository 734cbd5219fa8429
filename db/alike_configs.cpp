// The distance of configs and what it tells, see the header.
// SPDX-License-Identifier: Apache-2.0
#include "db/alike_configs.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace kiln {
namespace {

constexpr double kStepOfAChoice = 0.5;
constexpr double kStepOfAnAbsentOne = 1;
constexpr double kMostSteps = 1.5;

/// What was so slow says "not this", whatever the number.
constexpr double kSlowest = 4;

/// How much of the answer is what was measured of configs alike.
constexpr double kTrust = 0.8;

std::optional<double> number_in(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || !(value >= 0) || std::isinf(value)) {
    return std::nullopt;
  }
  return std::log2(1 + value);
}

// Cuts the text in two at the first `mark`, and gives the part before it.
std::string_view cut(std::string_view& text, char mark) {
  const std::size_t end = std::min(text.find(mark), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

}  // namespace

ConfigPlace::ConfigPlace(std::string_view text) : variant_(cut(text, ':')) {
  while (!text.empty()) {
    std::string_view value = cut(text, ',');
    const std::string_view name = cut(value, '=');
    coordinates_.push_back({std::string(name), std::string(value), number_in(value)});
    names_.append(name).push_back(',');
  }
}

double ConfigPlace::between(const Coordinate& a, const Coordinate& b) {
  if (a.number && b.number) return std::min(std::abs(*a.number - *b.number), kMostSteps);
  return a.text == b.text ? 0 : kStepOfAChoice;
}

std::optional<double> ConfigPlace::steps_to(const ConfigPlace& other) const {
  if (variant_ != other.variant_) return std::nullopt;
  // Texts of one variant mostly have the same tunables in the same places.
  const bool in_place = names_ == other.names_;
  const auto& theirs = other.coordinates_;
  double steps = 0;
  for (std::size_t i = 0; i < coordinates_.size(); ++i) {
    const Coordinate& own = coordinates_[i];
    const auto found =
        in_place ? theirs.begin() + static_cast<std::ptrdiff_t>(i)
                 : std::find_if(theirs.begin(), theirs.end(),
                                [&](const Coordinate& each) { return each.name == own.name; });
    steps += found == theirs.end() ? kStepOfAnAbsentOne : between(own, *found);
    if (steps > kAlike) return std::nullopt;
  }
  return steps;
}

AlikeConfigs::AlikeConfigs(std::span<const CloseConfig> measured) {
  measured_.reserve(measured.size());
  for (const CloseConfig& each : measured) {
    measured_.push_back({ConfigPlace(each.config), std::log(std::min(each.slowdown, kSlowest))});
  }
}

std::optional<double> AlikeConfigs::slowdown_of(const ConfigPlace& config, double otherwise) const {
  double sum = 0;
  double weights = 0;
  for (const Measured& each : measured_) {
    const std::optional<double> steps = config.steps_to(each.place);
    if (!steps) continue;
    const double weight = std::exp(-*steps);
    sum += weight * each.log_slowdown;
    weights += weight;
  }
  if (weights == 0) return std::nullopt;
  return std::exp(kTrust * sum / weights + (1 - kTrust) * std::log(otherwise));
}

}  // namespace kiln

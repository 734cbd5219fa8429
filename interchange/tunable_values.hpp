// The tunables of a file that lists only configs: their values are those of its configs. Private to
// interchange.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "interchange/recorded_trials.hpp"

namespace kiln::interchange {

/// One config as a file lists it.
using NamedValues = std::vector<std::pair<std::string, Value>>;

/// Takes the values of one config, one per tunable, into the lists of the tunables. A value that is
/// known in another spelling (64.0 is 64) gets the spelling that came first.
void learn_values(std::vector<RecordedTunable>& tunables, std::vector<Value>& values);

/// Puts the values of a config into the order of the tunables, and learns them. The first config of
/// a file makes the tunables. Returns what is wrong with the config; empty when nothing is.
[[nodiscard]] std::string take_config(std::vector<RecordedTunable>& tunables,
                                      const NamedValues& config, std::vector<Value>& values);

/// Numbers ascending, then texts in the order of the file.
void sort_values(std::vector<RecordedTunable>& tunables);

}  // namespace kiln::interchange

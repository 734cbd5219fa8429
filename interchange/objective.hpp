// What a foreign file was optimised for. Private to interchange.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace kiln::interchange {

/// Is a measurement or objective of this name the time of the kernel? "time", "TotalDuration",
/// "kernel_time", ... in any case.
[[nodiscard]] bool is_time(std::string_view name);

/// What a file's objective is where it is not the shortest time: "energy", "time and energy", "time
/// (maximised)". Empty where it is, or where the file names none. `objective` is a name, or a list
/// of names or of objects with "name"; `holder` is the object that may state a direction.
[[nodiscard]] std::string other_objective(const nlohmann::ordered_json* objective,
                                          const nlohmann::ordered_json& holder);

}  // namespace kiln::interchange

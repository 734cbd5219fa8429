// How other tuners say that a config failed. Private to interchange.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "core/outcome.hpp"

namespace kiln::interchange {

/// The outcome that a word means: "CompilationFailedConfig", "compile", "OutOfMemoryConfig",
/// "timeout", "correct", ... in any case. nullopt for a word that is not known.
[[nodiscard]] std::optional<Outcome> outcome_of_word(std::string_view word);

}  // namespace kiln::interchange

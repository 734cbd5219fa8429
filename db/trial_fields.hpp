// The column `fields` of the table `trials`: the fields of a trial that have no column of their
// own, as a JSON object by name. Private to db/.
//
// Fields from before schema version 5 have columns. Every later field of Trial, Samples and
// TrialCost (core/trial.hpp) is stored here and needs no change in db/. A name means the same for
// ever; a field at its default value is left out, so most rows hold "{}".
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/trial.hpp"

namespace kiln {

[[nodiscard]] std::string trial_fields_text(const Trial& trial);

/// Sets the fields that `text` names and ignores names that are not known. Throws Json::exception
/// or InputError for text that trial_fields_text() does not write.
void read_trial_fields(const std::string& text, Trial& trial);

}  // namespace kiln

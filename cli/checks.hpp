// Checks of values on the command line, in the form that CLI11 asks for: an empty text, or what is
// wrong.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace kiln::cli {

using Check = std::function<std::string(const std::string&)>;

/// A number above 0 and at most `most`: "2.5", "1e3".
[[nodiscard]] Check positive_number(double most = std::numeric_limits<double>::max());
/// A whole number from `least` to `most`, in decimal digits.
[[nodiscard]] Check whole_number(std::int64_t least,
                                 std::int64_t most = std::numeric_limits<std::int64_t>::max());
/// Anything but the empty text.
[[nodiscard]] Check file_name();
/// A database: anything but the empty text, which SQLite would take for a database that nobody
/// keeps, and the URL of a server with a password in it.
[[nodiscard]] Check database_name();
/// The name of a strategy (search/strategy.hpp lists them).
[[nodiscard]] Check strategy_name();
/// One of these words: "there is no column 'tme'; did you mean 'time'? (there are: ...)".
[[nodiscard]] Check one_of(std::string noun, std::vector<std::string> words);

}  // namespace kiln::cli

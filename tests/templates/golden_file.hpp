// Golden files: what a test compares a text with, and writes anew when asked to. They do not repeat
// each other or themselves: lines that stand in another golden file or further up are named by one
// line in their place:
//   //= reduce/each.cu, "// combine(identity(), a)" to "}" (2)
// These are the lines of the whole text of reduce/each.cu from the first that begins with the one
// text, indents aside, to the second after it that begins with the other one. So a change of a
// template fragment changes the file that holds its text, and no other.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace kiln::test {

std::filesystem::path golden_folder();

/// Compares with tests/templates/golden/<name>; with KILN_UPDATE_GOLDEN (scripts/update_golden)
/// writes it instead.
void expect_golden(const std::string& name, const std::string& text);

/// As they are stored, by name: "reduce/each.cu".
using GoldenFiles = std::map<std::string, std::string>;

/// The text of `name` with the lines named that stand further up or in any of `earlier`, which are
/// whole texts; whole_text() gives it back.
std::string shortened(const std::string& name, const std::string& text, const GoldenFiles& earlier);

/// The text of files.at(name). Throws std::runtime_error with file, line and reason if a line names
/// what is not there.
std::string whole_text(const std::string& name, const GoldenFiles& files);

}  // namespace kiln::test

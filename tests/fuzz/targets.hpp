// What is fuzzed: every text and file that a stranger may hand to Kiln.
//
// A target reads the input as Kiln would and does with it what Kiln would do next. A kiln::Error is
// an answer; any other exception, a crash, a hang, or a std::logic_error that says which rule was
// broken is a fault.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::fuzz {

struct Target {
  std::string_view name;
  std::string_view input;  ///< what the input is, in words
  void (*run)(std::string_view input);
  std::vector<std::string> (*seeds)();  ///< inputs to begin with
};

[[nodiscard]] std::span<const Target> targets();
/// The target of this name; nullptr when there is none.
[[nodiscard]] const Target* find_target(std::string_view name);

/// The files of tests/fuzz/corpus/NAME: small samples, and inputs that once were faults.
[[nodiscard]] std::vector<std::string> corpus(std::string_view name);
/// Files of the tree whose path matches one of these, e.g. {"templates/kernels", ".toml"}.
[[nodiscard]] std::vector<std::string> files_of_tree(std::string_view folder,
                                                     std::string_view extension);

/// What stands between the @ of `text`.
[[nodiscard]] std::vector<std::string> parts(std::string_view text);

/// `text` with every "@" replaced by `part` 20,000 times over: deep nesting.
[[nodiscard]] std::string nested(std::string_view text, std::string_view part);

void run_spec(std::string_view input);
void run_template(std::string_view input);
void run_source(std::string_view input);
void run_plan(std::string_view input);
void run_text(std::string_view input);
void run_wisdom(std::string_view input);
void run_calls(std::string_view input);
void run_npy(std::string_view input);
void run_interchange(std::string_view input);
void run_database(std::string_view input);
void run_rows(std::string_view input);
void run_messages(std::string_view input);
void run_server(std::string_view input);
void run_terminal(std::string_view input);

std::vector<std::string> spec_seeds();
std::vector<std::string> template_seeds();
std::vector<std::string> source_seeds();
std::vector<std::string> plan_seeds();
std::vector<std::string> text_seeds();
std::vector<std::string> wisdom_seeds();
std::vector<std::string> calls_seeds();
std::vector<std::string> npy_seeds();
std::vector<std::string> interchange_seeds();
std::vector<std::string> database_seeds();
std::vector<std::string> rows_seeds();
std::vector<std::string> messages_seeds();
std::vector<std::string> server_seeds();
std::vector<std::string> terminal_seeds();

}  // namespace kiln::fuzz

// [[verify.expected]]: recorded inputs and outputs of one problem, as .npy files.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "core/errors.hpp"
#include "core/outside_reference.hpp"
#include "core/problem.hpp"
#include "core/source_text.hpp"
#include "spec/spec_parser.hpp"
#include "spec/table_reader.hpp"

namespace kiln {
namespace {

constexpr const char* kTitle = "[[verify.expected]]";

std::vector<RecordedArrays::File> parse_files(const TableReader& table, const char* key) {
  std::vector<RecordedArrays::File> files;
  for (const TomlNode* entry : table.entries(key)) {
    if (!entry->is_text())
      throw InputError(entry->text_where,
                       fmt::format("{}: '{}' in '{}' must be the name of a .npy file, not {}",
                                   kTitle, entry->key, key, describe(*entry)));
    const auto& name = std::get<std::string>(entry->scalar);
    const std::string inside = path_inside(name);
    if (inside.empty() || !inside.ends_with(".npy"))
      throw InputError(entry->text_where,
                       fmt::format("{}: '{}' is '{}'; expected a .npy file in the spec's folder or "
                                   "below it",
                                   kTitle, entry->key, name));
    files.push_back({entry->key, inside, entry->text_where});
  }
  return files;
}

void check_files(const KernelSpec& spec, const std::vector<RecordedArrays::File>& files,
                 bool are_outputs) {
  for (const RecordedArrays::File& file : files) {
    const Argument* argument = spec.find_argument(file.argument);
    const bool fits = argument != nullptr && argument->access != Access::scalar &&
                      argument->access != (are_outputs ? Access::read : Access::write);
    if (!fits)
      throw InputError(file.where, fmt::format("{}: '{}' is no {} of the kernel", kTitle,
                                               file.argument, are_outputs ? "output" : "input"));
  }
}

}  // namespace

std::vector<RecordedArrays> parse_recorded(const TableReader& verify) {
  std::vector<RecordedArrays> all;
  for (const TomlNode* node : verify.tables("expected")) {
    const TableReader table(*node, kTitle, {"problem", "inputs", "outputs"});
    RecordedArrays recorded;
    recorded.where = node->where;
    recorded.problem_where =
        table.require("problem", "the problem that the arrays belong to, such as \"n=1000\"")
            .text_where;
    recorded.problem = table.text("problem");
    recorded.inputs = parse_files(table, "inputs");
    recorded.outputs = parse_files(table, "outputs");
    if (recorded.outputs.empty())
      table.fail("outputs", "'outputs' is missing; expected a table of outputs and .npy files");
    all.push_back(std::move(recorded));
  }
  return all;
}

void validate_recorded(const KernelSpec& spec) {
  if (!spec.verify.outside) return;
  std::vector<Problem> seen;
  for (const RecordedArrays& recorded : spec.verify.outside->recorded) {
    check_files(spec, recorded.inputs, false);
    check_files(spec, recorded.outputs, true);
    Problem problem;
    try {
      problem = Problem::parse(spec, recorded.problem);
    } catch (const InputError& error) {
      throw InputError(recorded.problem_where,
                       fmt::format("{}: 'problem': {}", kTitle, error.what()));
    }
    if (std::find(seen.begin(), seen.end(), problem) != seen.end())
      throw InputError(recorded.problem_where,
                       fmt::format("{}: the problem '{}' appears twice", kTitle, problem.text()));
    seen.push_back(std::move(problem));
  }
}

}  // namespace kiln

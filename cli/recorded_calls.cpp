// SPDX-License-Identifier: Apache-2.0
#include "cli/recorded_calls.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "core/input_file.hpp"

namespace kiln::cli {
namespace fs = std::filesystem;
namespace {

constexpr FileKind kCallsFile = {"a record of kiln run --record", 64 * kMiB};
constexpr std::size_t kMostCalls = 100000;  // of a file: far more than a table holds

void add_record(const fs::path& file, RecordedProgram& program) {
  const std::string text = read_input(file, kCallsFile);
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  const bool is_record = json.is_object() && json.contains("kiln_blas_record") &&
                         json.contains("calls") && json["calls"].is_array() &&
                         json["calls"].size() <= kMostCalls && json.contains("not_understood") &&
                         json["not_understood"].is_object();
  if (!is_record) {
    throw InputError(fmt::format("{}: expected a record of kiln run --record", file.string()));
  }
  try {
    if (program.device.empty()) program.device = json.value("device", "");
    for (const auto& [function, calls] : json["not_understood"].items())
      program.not_understood += calls.get<std::int64_t>();
    for (const Json& each : json["calls"]) {
      if (program.library_path.empty()) program.library_path = each.value("library_path", "");
      program.calls.push_back({each.at("function"), each.at("library"), each.at("problem"),
                               each.at("calls"), each.at("taken_over"), each.at("gpu_ns")});
    }
  } catch (const Json::exception& error) {
    throw InputError(fmt::format("{}: is not a whole record: {}", file.string(), error.what()));
  }
}

/// One entry a product, the most expensive first.
void add_up(RecordedProgram& program) {
  std::map<std::pair<std::string, std::string>, RecordedCall> sums;
  for (const RecordedCall& call : program.calls) {
    RecordedCall& sum = sums[{call.library, call.problem}];
    const double total = sum.total_ns() + call.total_ns();
    const std::int64_t calls = sum.calls + call.calls;
    const std::int64_t taken_over = sum.taken_over + call.taken_over;
    sum = call;
    sum.calls = calls;
    sum.taken_over = taken_over;
    sum.gpu_ns = calls > 0 ? total / static_cast<double>(calls) : 0;
  }
  program.calls.clear();
  for (auto& [key, call] : sums) program.calls.push_back(std::move(call));
  std::stable_sort(program.calls.begin(), program.calls.end(),
                   [](const auto& a, const auto& b) { return a.total_ns() > b.total_ns(); });
}

}  // namespace

RecordedProgram read_records(const fs::path& file) {
  RecordedProgram program;
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(file.parent_path())) {
    const std::string name = entry.path().filename().string();
    const bool is_whole = entry.path().extension() != ".new";
    if (is_whole && name.starts_with(file.filename().string() + ".")) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& each : files) add_record(each, program);
  add_up(program);
  return program;
}

RecordedProgram read_record(const fs::path& file) {
  RecordedProgram program;
  add_record(file, program);
  add_up(program);
  return program;
}

Json to_json(const RecordedProgram& program) {
  Json json = {{"kiln_blas_record", 1},
               {"device", program.device},
               {"calls", Json::array()},
               {"not_understood", {{"all", program.not_understood}}}};
  for (const RecordedCall& call : program.calls) {
    json["calls"].push_back({{"function", call.function},
                             {"library", call.library},
                             {"library_path", program.library_path},
                             {"problem", call.problem},
                             {"calls", call.calls},
                             {"taken_over", call.taken_over},
                             {"gpu_ns", call.gpu_ns}});
  }
  return json;
}

}  // namespace kiln::cli

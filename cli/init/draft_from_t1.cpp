// T1 files: tunables, conditions, arguments and launch of a kernel, as other tuners describe them.
//
// The space is read by core/interchange; here is the rest, KernelSpecification. Expressions are
// Python and mean in Kiln's language what they mean there.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/init/draft.hpp"
#include "core/errors.hpp"
#include "core/interchange/described_space.hpp"
#include "core/json.hpp"

namespace kiln::cli {
namespace {

/// One object of the file, with its name for messages.
class Part {
 public:
  Part(const Json& json, std::string path, std::string name)
      : json_(json), path_(std::move(path)), name_(std::move(name)) {
    if (!json_.is_object()) fail("must be an object");
  }

  [[noreturn]] void fail(const std::string& message) const {
    throw InputError({path_, 0, 0}, name_ + " " + message);
  }

  [[nodiscard]] const Json* find(const char* key) const {
    const auto found = json_.find(key);
    return found == json_.end() || found->is_null() ? nullptr : &*found;
  }

  /// A text or a number, as text; nullopt when it is not there.
  [[nodiscard]] std::optional<std::string> text(const char* key) const {
    const Json* value = find(key);
    if (value == nullptr) return std::nullopt;
    if (value->is_string()) return value->get<std::string>();
    if (value->is_number() || value->is_boolean()) return value->dump();
    fail(fmt::format("needs \"{}\" to be a text or a number", key));
  }

  [[nodiscard]] std::string required(const char* key) const {
    if (const auto value = text(key)) return *value;
    fail(fmt::format("needs \"{}\"", key));
  }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  const Json& json_;
  std::string path_;
  std::string name_;
};

/// The extents X, Y, Z of "GlobalSize" or "LocalSize", those that are given.
std::vector<std::string> extents(const Part& kernel, const char* key) {
  const Json* sizes = kernel.find(key);
  if (sizes == nullptr) kernel.fail(fmt::format("needs \"{}\"", key));
  const Part part(*sizes, kernel.path(), fmt::format("\"{}\"", key));
  std::vector<std::string> out;
  for (const char* axis : {"X", "Y", "Z"}) {
    if (const auto extent = part.text(axis)) out.push_back(*extent);
  }
  if (out.empty()) part.fail("needs \"X\"");
  return out;
}

std::string dtype_of(const Part& argument) {
  static const std::vector<std::pair<std::string, std::string>> kTypes = {
      {"float", "f32"},   {"double", "f64"},  {"half", "f16"},   {"int32", "i32"},
      {"int", "i32"},     {"uint32", "u32"},  {"uint", "u32"},   {"int64", "i64"},
      {"long", "i64"},    {"uint64", "u64"},  {"ulong", "u64"},  {"int8", "i8"},
      {"char", "i8"},     {"uint8", "u8"},    {"uchar", "u8"},   {"unsigned int", "u32"},
      {"float32", "f32"}, {"float64", "f64"}, {"float16", "f16"}};
  const std::string type = argument.required("Type");
  for (const auto& [name, dtype] : kTypes) {
    if (name == type) return dtype;
  }
  argument.fail(fmt::format("has the \"Type\" '{}', which Kiln does not know", type));
}

DraftTable argument_table(const Part& argument, const std::string& name) {
  DraftTable table{"[[arguments]]", {{"name", toml_text(name), ""}}};
  const DraftLine dtype = {"dtype", toml_text(dtype_of(argument)), ""};
  if (argument.required("MemoryType") == "Scalar") {
    table.lines.push_back({"access", "\"scalar\"", ""});
    table.lines.push_back(dtype);
    table.lines.push_back({"example", toml_text(argument.text("FillValue").value_or("1")), ""});
    return table;
  }
  const std::string access = argument.required("AccessType");
  const std::string word = access == "ReadOnly"    ? "read"
                           : access == "WriteOnly" ? "write"
                           : access == "ReadWrite" ? "read_write"
                                                   : "";
  if (word.empty()) {
    argument.fail(
        fmt::format("has the \"AccessType\" '{}'; expected ReadOnly, WriteOnly or "
                    "ReadWrite",
                    access));
  }
  table.lines.push_back({"access", toml_text(word), ""});
  table.lines.push_back(dtype);
  table.lines.push_back({"shape", list_of({toml_text(argument.required("Size"))}), ""});
  if (word != "write" && argument.text("FillType").value_or("") == "Constant") {
    table.lines.push_back({"fill", "\"constant\"", ""});
    table.lines.push_back({"low", toml_text(argument.text("FillValue").value_or("1")), ""});
    table.lines.push_back({"high", toml_text(argument.text("FillValue").value_or("1")), ""});
  }
  return table;
}

DraftTable tunables_table(const Variant& variant) {
  DraftTable table{"[variants.tunables]", {}};
  for (const Tunable& tunable : variant.tunables) {
    std::vector<std::string> values;
    for (const Value& value : tunable.values) values.push_back(toml_value(value));
    table.lines.push_back(
        {tunable.name, "", "", DraftTunable{values, toml_value(tunable.fallback), ""}});
  }
  return table;
}

DraftTable t1_step_table(const Part& kernel, const std::vector<std::string>& arguments) {
  const std::vector<std::string> block = extents(kernel, "LocalSize");
  std::vector<std::string> grid = extents(kernel, "GlobalSize");
  const bool in_threads = kernel.text("GlobalSizeType").value_or("CUDA") == "OpenCL";
  for (std::size_t i = 0; i < grid.size(); ++i) {
    if (in_threads)
      grid[i] = fmt::format("({}) // ({})", grid[i], i < block.size() ? block[i] : "1");
    grid[i] = toml_text(fmt::format("int({})", grid[i]));
  }
  DraftTable table{"[[variants.steps]]", {{"entry", toml_text(kernel.required("KernelName")), ""}}};
  table.lines.push_back({"grid", list_of(grid), ""});
  std::vector<std::string> threads;
  for (const std::string& extent : block) threads.push_back(toml_text(extent));
  table.lines.push_back({"block", list_of(threads), ""});
  if (const auto bytes = kernel.text("SharedMemory"); bytes && *bytes != "0") {
    table.lines.push_back({"shared_bytes", toml_text(*bytes), ""});
  }
  table.lines.push_back({"arguments", list_of(arguments), ""});
  return table;
}

/// The options of the file that are texts; those of its compiler may be unknown to another.
std::string t1_options(const Part& kernel) {
  std::string options;
  const Json* list = kernel.find("CompilerOptions");
  if (list == nullptr || !list->is_array()) return options;
  for (const Json& option : *list) {
    if (option.is_string()) options += (options.empty() ? "" : " ") + option.get<std::string>();
  }
  return options;
}

Json parsed(const std::string& text, const std::string& path) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) throw InputError({path, 0, 0}, "is no JSON");
  return json;
}

}  // namespace

Draft draft_from_t1(const std::string& text, const std::string& path) {
  const std::vector<DescribedSpace> spaces = read_described_spaces(text, path);
  const Json json = parsed(text, path);
  const Part whole(json, path, "the file");
  const Json* specification = whole.find("KernelSpecification");
  if (specification == nullptr) whole.fail("needs \"KernelSpecification\" to make a spec of it");
  const Part kernel(*specification, path, "\"KernelSpecification\"");

  Draft draft;
  draft.name = kernel_name_of(spaces.front().name);
  draft.source = kernel.required("KernelFile");
  draft.summary = fmt::format("kernel {} of {}", kernel.required("KernelName"), draft.source);
  const Json* arguments = kernel.find("Arguments");
  if (arguments == nullptr || !arguments->is_array()) {
    kernel.fail("needs \"Arguments\" to be a list");
  }
  std::vector<std::string> names;
  for (const Json& one : *arguments) {
    const std::string place = fmt::format("\"Arguments\"[{}]", names.size());
    const Part argument(one, path, place);
    const std::string name =
        argument.text("Name").value_or(fmt::format("argument_{}", names.size() + 1));
    draft.tables.push_back(argument_table(argument, name));
    names.push_back(toml_text(name));
  }
  draft.tables.push_back(DraftTable{
      "[verify]",
      {{"device_reference", "\"plain\"",
        "the default config is trusted; better: function = \"reference.c:NAME\", or formulas"}}});
  draft.tables.push_back(DraftTable{
      "[[variants]]", {{"name", "\"plain\"", ""}, {"source", toml_text(draft.source), ""}}});
  draft.tables.push_back(tunables_table(spaces.front().variant));
  if (const std::string options = t1_options(kernel); !options.empty()) {
    const std::string backend = draft.source.ends_with(".cl") ? "opencl" : "cuda";
    DraftTable table{"[variants.compiler_options]", {}};
    table.lines.push_back({backend, toml_text(options), ""});
    draft.tables.push_back(std::move(table));
  }
  for (const Constraint& constraint : spaces.front().variant.constraints) {
    draft.tables.push_back(DraftTable{
        "[[variants.constraints]]",
        {{"require", toml_text(constraint.require.text()), ""},
         {"because", toml_text("a condition of " + std::filesystem::path(path).filename().string()),
          ""}}});
  }
  draft.tables.push_back(t1_step_table(kernel, names));
  return draft;
}

}  // namespace kiln::cli

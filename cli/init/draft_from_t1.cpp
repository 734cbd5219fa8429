// T1 files: tunables, conditions and arguments of a kernel, as other tuners describe them.
//
// The space is read by interchange, the launch by t1_launch; here is the rest of
// KernelSpecification. Expressions are Python and mean in Kiln's language what they mean there.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/init/draft.hpp"
#include "cli/init/t1_launch.hpp"
#include "cli/text_files.hpp"
#include "core/config.hpp"
#include "core/errors.hpp"
#include "core/input_file.hpp"
#include "core/json.hpp"
#include "interchange/described_space.hpp"
#include "search/space.hpp"
#include "templates/source_kernels.hpp"

namespace kiln::cli {
namespace {

std::string dtype_of(const T1Part& argument) {
  static const std::vector<std::pair<std::string, std::string>> kTypes = {
      {"float", "f32"},   {"double", "f64"},  {"half", "f16"},   {"int32", "i32"},
      {"int", "i32"},     {"uint32", "u32"},  {"uint", "u32"},   {"int64", "i64"},
      {"long", "i64"},    {"uint64", "u64"},  {"ulong", "u64"},  {"int8", "i8"},
      {"char", "i8"},     {"uint8", "u8"},    {"uchar", "u8"},   {"unsigned int", "u32"},
      {"int16", "i16"},   {"short", "i16"},   {"uint16", "u16"}, {"ushort", "u16"},
      {"float32", "f32"}, {"float64", "f64"}, {"float16", "f16"}};
  const std::string type = argument.required("Type");
  for (const auto& [name, dtype] : kTypes) {
    if (name == type) return dtype;
  }
  argument.fail(fmt::format("has the \"Type\" '{}', which Kiln does not know", type));
}

/// `text` with every name `from` as `to`.
std::string renamed(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  while (!text.empty()) {
    std::size_t end = 0;
    while (end < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_'))
      ++end;
    const std::string_view word = text.substr(0, std::max<std::size_t>(end, 1));
    out += word == from ? to : word;
    text.remove_prefix(word.size());
  }
  return out;
}

/// KTT draws from [0, FillValue), Kernel Tuner from a normal distribution, which Kiln has not.
void add_fill(const T1Part& argument, bool from_ktt, DraftTable& table) {
  if (argument.find("FillType") == nullptr && argument.find("FillValue") == nullptr) return;
  const std::string fill = argument.text("FillType").value_or("Constant");
  const std::string value = argument.text("FillValue").value_or(fill == "Random" ? "1" : "0");
  const auto add_range = [&](const std::string& low) {
    table.lines.push_back({"low", toml_text(low), ""});
    table.lines.push_back({"high", toml_text(value), ""});
  };
  if (fill == "Constant") {
    table.lines.push_back({"fill", "\"constant\"", ""});
    add_range(value);
  } else if (fill == "Random") {
    if (from_ktt) add_range("0");
  } else if (fill == "Generator") {
    const std::string source = argument.required("DataSource");
    table.lines.push_back({"elements", list_of({toml_text(renamed(source, "i", "index"))}), ""});
  } else {
    argument.fail(
        fmt::format("has the \"FillType\" '{}'; expected Constant, Random or Generator: record "
                    "such inputs as `[[verify.expected]]` instead",
                    fill));
  }
}

DraftTable argument_table(const T1Part& argument, const std::string& name, const T1Size& size,
                          bool from_ktt) {
  DraftTable table{"[[arguments]]", {{"name", toml_text(name), ""}}};
  const DraftLine dtype = {"dtype", toml_text(dtype_of(argument)), ""};
  const std::string memory = argument.text("MemoryType").value_or("Vector");
  if (memory == "Scalar") {
    table.lines.push_back({"access", "\"scalar\"", ""});
    table.lines.push_back(dtype);
    table.lines.push_back({"example", toml_text(argument.text("FillValue").value_or("1")), ""});
    return table;
  }
  if (memory != "Vector")
    argument.fail(fmt::format("has the \"MemoryType\" '{}'; expected Vector or Scalar", memory));
  const std::string access = argument.text("AccessType").value_or("ReadWrite");
  const std::string word = access == "ReadOnly"    ? "read"
                           : access == "WriteOnly" ? "write"
                           : access == "ReadWrite" ? "read_write"
                                                   : "";
  if (word.empty()) {
    argument.fail(fmt::format(
        "has the \"AccessType\" '{}'; expected ReadOnly, WriteOnly or ReadWrite", access));
  }
  table.lines.push_back({"access", toml_text(word), ""});
  table.lines.push_back(dtype);
  table.lines.push_back({"shape", list_of({toml_text(size.text(argument))}), ""});
  if (word != "write") add_fill(argument, from_ktt, table);
  return table;
}

/// The values of the default config: those that the file names, if its conditions allow them; else
/// those of the first config that they do.
Config default_of(const Variant& variant, const T1Part& file) {
  Config config;
  config.variant = variant.name;
  for (const Tunable& tunable : variant.tunables)
    config.values.emplace_back(tunable.name, tunable.fallback);
  const Space space = Space::build(variant);
  if (space.index_of(config)) return config;
  constexpr std::size_t kMostLooks = 1'000'000;
  for (std::size_t i = 0; i < std::min(space.size(), kMostLooks); ++i) {
    if (space.is_legal(i)) return space.at(i);
  }
  file.fail("has \"Conditions\" that hardly any config meets; state a \"Default\" that does");
}

DraftTable tunables_table(const Variant& variant, const Config& config) {
  DraftTable table{"[variants.tunables]", {}};
  for (const Tunable& tunable : variant.tunables) {
    std::vector<std::string> values;
    for (const Value& value : tunable.values) values.push_back(toml_value(value));
    table.lines.push_back(
        {tunable.name, "", "", DraftTunable{values, toml_value(*config.find(tunable.name)), ""}});
  }
  return table;
}

std::string axes_text(std::vector<std::string> extents) {
  while (extents.size() > 1 && extents.back() == "1") extents.pop_back();
  for (std::string& extent : extents) extent = toml_text(extent);
  return list_of(extents);
}

/// What is known of the step besides its launch.
struct T1Names {
  std::vector<std::string> arguments;  ///< as TOML
  std::vector<std::string> constants;
};

DraftTable t1_step_table(const T1Part& kernel, const T1Launch& launch, const T1Names& names) {
  DraftTable table{"[[variants.steps]]", {{"entry", toml_text(kernel.required("KernelName")), ""}}};
  table.lines.push_back({"grid", axes_text(launch.grid), ""});
  table.lines.push_back({"block", axes_text(launch.block), ""});
  if (const auto bytes = kernel.text("SharedMemory"); bytes && *bytes != "0") {
    table.lines.push_back({"shared_bytes", toml_text(*bytes), ""});
  }
  table.lines.push_back({"arguments", list_of(names.arguments), ""});
  if (!names.constants.empty()) table.lines.push_back({"constants", list_of(names.constants), ""});
  return table;
}

bool uses(std::string_view text, const std::string& name) {
  return renamed(text, name, "") != text;
}

/// Removes the tunables that nothing uses: all their values are one config. Returns their names.
std::vector<std::string> without_unused(Variant& variant, const std::string& source,
                                        const T1Launch& launch, const T1Part& kernel) {
  std::vector<std::string> unused;
  std::erase_if(variant.tunables, [&](const Tunable& tunable) {
    std::string text = source + ' ' + kernel.text("SharedMemory").value_or("") + ' ' +
                       kernel.required("KernelName");
    for (const auto* extents : {&launch.grid, &launch.block})
      for (const std::string& extent : *extents) text += ' ' + extent;
    for (const Constraint& constraint : variant.constraints)
      text += ' ' + constraint.require.text();
    if (uses(text, tunable.name)) return false;
    unused.push_back(tunable.name);
    return true;
  });
  return unused;
}

/// The text of "KernelFile", which must be one that a spec can name.
std::string source_text(const T1Part& kernel, const std::string& path) {
  const std::string name = kernel.required("KernelFile");
  const bool has_ending = name.ends_with(".cu") || name.ends_with(".hip") ||
                          name.ends_with(".cpp") || name.ends_with(".cl");
  if (!has_ending) {
    kernel.fail(
        fmt::format("names the \"KernelFile\" '{}'; Kiln takes sources that end with .cu, .hip, "
                    ".cpp or .cl: copy it under such a name and put that name here",
                    name));
  }
  const std::filesystem::path file = std::filesystem::path(path).parent_path() / name;
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) {
    kernel.fail(
        fmt::format("names the \"KernelFile\" '{}', which is not in the folder of the file", name));
  }
  return read_input(file, kSourceFile);
}

/// Compares "Arguments" with the parameters of the kernel, where the source shows them.
void compare_arguments(const T1Part& kernel, const Json& arguments, const std::string& source) {
  const std::string entry = kernel.required("KernelName");
  const SourceFacts facts = read_source(source);
  const auto found = std::find_if(facts.kernels.begin(), facts.kernels.end(),
                                  [&](const SourceKernel& each) { return each.name == entry; });
  if (found == facts.kernels.end()) return;
  std::vector<const SourceParameter*> parameters;
  std::vector<std::string> names;
  for (const SourceParameter& parameter : found->parameters) {
    if (parameter.is_local) continue;
    parameters.push_back(&parameter);
    names.push_back(parameter.name);
  }
  if (parameters.size() != arguments.size()) {
    kernel.fail(fmt::format("has {} \"Arguments\", and '{}' of {} takes {}: {}", arguments.size(),
                            entry, kernel.required("KernelFile"), parameters.size(),
                            fmt::join(names, ", ")));
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const T1Part argument(arguments[i], kernel.path(), fmt::format("\"Arguments\"[{}]", i));
    const bool is_buffer = argument.text("MemoryType").value_or("Vector") == "Vector";
    if (is_buffer != parameters[i]->is_buffer) {
      argument.fail(fmt::format("is a {}, and the parameter '{}' of '{}' is {}",
                                is_buffer ? "Vector" : "Scalar", names[i], entry,
                                is_buffer ? "no pointer" : "a pointer"));
    }
    const std::string dtype = dtype_of(argument);
    if (parameters[i]->dtype && name_of(*parameters[i]->dtype) != dtype) {
      argument.fail(fmt::format("is of {} elements, and the parameter '{}' of '{}' is of {}", dtype,
                                names[i], entry, name_of(*parameters[i]->dtype)));
    }
  }
}

/// The options of the file that are texts; those of its compiler may be unknown to another.
std::string t1_options(const T1Part& kernel) {
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
  std::vector<DescribedSpace> spaces = read_described_spaces(text, path);
  const Json json = parsed(text, path);
  const T1Part whole_file(json, path, "the file");
  const Json* specification = whole_file.find("KernelSpecification");
  if (specification == nullptr)
    whole_file.fail("needs \"KernelSpecification\" to make a spec of it");
  const T1Part kernel(*specification, path, "\"KernelSpecification\"");
  const Json* arguments = kernel.find("Arguments");
  if (arguments == nullptr || !arguments->is_array()) {
    kernel.fail("needs \"Arguments\" to be a list");
  }
  const std::string source = source_text(kernel, path);
  compare_arguments(kernel, *arguments, source);

  Draft draft;
  draft.name = kernel_name_of(spaces.front().name);
  draft.source = kernel.required("KernelFile");
  draft.summary = fmt::format("kernel {} of {}", kernel.required("KernelName"), draft.source);
  Variant& variant = spaces.front().variant;
  const T1Launch launch = launch_of(kernel, variant);
  const T1Size size(kernel, variant);
  T1Names names;
  for (const Json& one : *arguments) {
    const std::string place = fmt::format("\"Arguments\"[{}]", names.arguments.size());
    const T1Part argument(one, path, place);
    const std::string name =
        argument.text("Name").value_or(fmt::format("argument_{}", names.arguments.size() + 1));
    draft.tables.push_back(argument_table(argument, name, size, is_of_ktt(kernel)));
    names.arguments.push_back(toml_text(name));
    if (argument.text("MemType") == "Constant") names.constants.push_back(toml_text(name));
  }
  draft.tables.push_back(DraftTable{
      "[verify]",
      {{"device_reference", "\"plain\"",
        "the default config is trusted; better: a function in C or Python, or formulas"}}});
  draft.tables.push_back(DraftTable{
      "[[variants]]", {{"name", "\"plain\"", ""}, {"source", toml_text(draft.source), ""}}});
  const Config fallback = default_of(variant, whole_file);
  for (const std::string& name : without_unused(variant, source, launch, kernel))
    draft.comments.push_back(name + " is used nowhere: it is left out");
  draft.tables.push_back(tunables_table(variant, fallback));
  if (const std::string options = t1_options(kernel); !options.empty()) {
    const std::string backend = draft.source.ends_with(".cl") ? "opencl" : "cuda";
    DraftTable table{"[variants.compiler_options]", {}};
    table.lines.push_back({backend, toml_text(options), ""});
    draft.tables.push_back(std::move(table));
  }
  for (const Constraint& constraint : variant.constraints) {
    draft.tables.push_back(DraftTable{
        "[[variants.constraints]]",
        {{"require", toml_text(constraint.require.text()), ""},
         {"because", toml_text("a condition of " + std::filesystem::path(path).filename().string()),
          ""}}});
  }
  draft.tables.push_back(t1_step_table(kernel, launch, names));
  return draft;
}

}  // namespace kiln::cli

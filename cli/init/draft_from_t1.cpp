// T1 files: tunables, conditions, arguments and launch of a kernel, as other tuners describe them.
//
// The space is read by core/interchange; here is the rest, KernelSpecification. Expressions are
// Python and mean in Kiln's language what they mean there.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/init/draft.hpp"
#include "cli/text_files.hpp"
#include "core/config.hpp"
#include "core/errors.hpp"
#include "core/expression.hpp"
#include "core/input_file.hpp"
#include "core/interchange/described_space.hpp"
#include "core/json.hpp"
#include "core/source_kernels.hpp"
#include "search/space.hpp"

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

/// "4" or "name": needs no brackets.
bool is_plain(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_';
  });
}

std::string bracketed(const std::string& text) { return is_plain(text) ? text : "(" + text + ")"; }
/// As int() of Python.
std::string whole(const std::string& text) { return is_plain(text) ? text : "int(" + text + ")"; }

/// A list of texts and numbers, or one of them, as texts; empty: it is not there.
std::vector<std::string> list_in(const Part& part, const char* key) {
  std::vector<std::string> texts;
  const Json* list = part.find(key);
  if (list == nullptr) return texts;
  if (!list->is_array()) return {part.required(key)};
  for (const Json& each : *list) {
    if (!each.is_string() && !each.is_number())
      part.fail(fmt::format("needs \"{}\" to be a list of texts and numbers", key));
    texts.push_back(each.is_string() ? each.get<std::string>() : each.dump());
  }
  return texts;
}

/// The extents X, Y, Z of "GlobalSize" or "LocalSize"; what is not given is 1.
std::vector<std::string> extents(const Part& kernel, const char* key) {
  const Json* sizes = kernel.find(key);
  if (sizes == nullptr) kernel.fail(fmt::format("needs \"{}\"", key));
  const Part part(*sizes, kernel.path(), fmt::format("\"{}\"", key));
  std::vector<std::string> out;
  for (const char* axis : {"X", "Y", "Z"}) out.push_back(part.text(axis).value_or("1"));
  return out;
}

/// Blocks of the grid and threads of a block, per axis.
struct T1Launch {
  std::vector<std::string> grid;
  std::vector<std::string> block;
};

const Tunable* tunable_of(const Variant& variant, std::string_view name) {
  const auto found = std::find_if(variant.tunables.begin(), variant.tunables.end(),
                                  [&](const Tunable& each) { return each.name == name; });
  return found == variant.tunables.end() ? nullptr : &*found;
}

/// As Kernel Tuner launches: "ProblemSize" over the product of "GridDivX" (default: the block's
/// extent), rounded up, in blocks of the tunables block_size_x, _y and _z. It reads no other sizes.
T1Launch launch_of_kernel_tuner(const Part& kernel, const Variant& variant) {
  constexpr std::array kDivisors = {"GridDivX", "GridDivY", "GridDivZ"};
  constexpr std::array kBlocks = {"block_size_x", "block_size_y", "block_size_z"};
  constexpr std::array kUsualBlocks = {"256", "1", "1"};
  const std::vector<std::string> problem = list_in(kernel, "ProblemSize");
  if (problem.empty() || problem.size() > kBlocks.size())
    kernel.fail("needs \"ProblemSize\" to hold one to three sizes");
  T1Launch launch;
  for (std::size_t i = 0; i < kBlocks.size(); ++i) {
    const bool has_block = tunable_of(variant, kBlocks[i]) != nullptr;
    launch.block.emplace_back(has_block ? kBlocks[i] : kUsualBlocks[i]);
    std::vector<std::string> divisors = list_in(kernel, kDivisors[i]);
    if (divisors.empty() && has_block) divisors.emplace_back(kBlocks[i]);
    std::string product;
    for (const std::string& divisor : divisors)
      product += (product.empty() ? "" : " * ") + whole(divisor);
    const std::string size = i < problem.size() ? whole(problem[i]) : "1";
    launch.grid.push_back(product.empty() ? size : fmt::format("ceil_div({}, {})", size, product));
  }
  return launch;
}

/// As KTT launches: "GlobalSize" counts threads for OpenCL and blocks for the others, unless
/// "GlobalSizeType" says which.
T1Launch launch_of_ktt(const Part& kernel) {
  T1Launch launch{extents(kernel, "GlobalSize"), extents(kernel, "LocalSize")};
  const std::string language = kernel.text("Language").value_or("");
  const bool in_threads = kernel.text("GlobalSizeType").value_or(language) == "OpenCL";
  for (std::size_t i = 0; i < launch.grid.size(); ++i) {
    std::string& extent = launch.grid[i];
    if (in_threads && launch.block[i] != "1")
      extent = fmt::format("{} // {}", bracketed(extent), bracketed(launch.block[i]));
    extent = whole(extent);
  }
  return launch;
}

/// The size of an argument, a Python expression over "ProblemSize" and the lists of the tunables'
/// values, as a number.
class T1Size {
 public:
  T1Size(const Part& kernel, const Variant& variant)
      : problem_(list_in(kernel, "ProblemSize")), variant_(variant) {}

  [[nodiscard]] std::string text(const Part& argument) const {
    const std::string given = argument.required("Size");
    try {
      const Expression size = Expression::parse(fmt::format("int({})", with_numbers(given)));
      return std::to_string(size.evaluate_int(Scope()));
    } catch (const InputError& error) {
      argument.fail(
          fmt::format("has the \"Size\" '{}', which is no number: {}", given, error.what()));
    }
  }

 private:
  static bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  }

  /// `text` with every "ProblemSize[0]", "max(name)" and "name[0]" as a number.
  [[nodiscard]] std::string with_numbers(std::string_view text) const {
    std::string out;
    while (!text.empty()) {
      std::size_t end = 0;
      while (end < text.size() && is_word(text[end])) ++end;
      if (end == 0) {
        out += text.front();
        text.remove_prefix(1);
        continue;
      }
      const std::string word(text.substr(0, end));
      text.remove_prefix(end);
      if (const auto list = list_named(word)) {
        out += element(*list, text);
      } else if (const auto number = of_list(word, text)) {
        out += *number;
      } else {
        out += word;
      }
    }
    return out;
  }

  [[nodiscard]] std::optional<std::vector<std::string>> list_named(const std::string& name) const {
    if (name == "ProblemSize") return problem_;
    const Tunable* tunable = tunable_of(variant_, name);
    if (tunable == nullptr) return std::nullopt;
    std::vector<std::string> values;
    for (const Value& value : tunable->values) values.push_back(to_text(value));
    return values;
  }

  /// `rest` stands behind the name of the list, and is shortened by the "[2]" there.
  static std::string element(const std::vector<std::string>& list, std::string_view& rest) {
    const std::size_t end = rest.find(']');
    int index = 0;
    const bool has_index =
        rest.starts_with('[') && end != std::string_view::npos &&
        std::from_chars(rest.data() + 1, rest.data() + end, index).ptr == rest.data() + end;
    if (!has_index) throw InputError("expected the place of an element, as in ProblemSize[0]");
    const auto size = static_cast<int>(list.size());
    if (index < 0) index += size;
    if (index < 0 || index >= size) throw InputError("there is no such element of the list");
    rest.remove_prefix(end + 1);
    return bracketed(list[static_cast<std::size_t>(index)]);
  }

  /// max(name), min(name), sum(name) and len(name) of a list; `rest` is shortened by "(name)".
  [[nodiscard]] std::optional<std::string> of_list(const std::string& function,
                                                   std::string_view& rest) const {
    if (function != "max" && function != "min" && function != "sum" && function != "len")
      return std::nullopt;
    const std::size_t end = rest.find(')');
    if (!rest.starts_with('(') || end == std::string_view::npos) return std::nullopt;
    const auto list = list_named(std::string(rest.substr(1, end - 1)));
    if (!list || list->empty()) return std::nullopt;
    rest.remove_prefix(end + 1);
    if (list->size() == 1 && function != "len") return bracketed(list->front());
    if (function == "len") return std::to_string(list->size());
    if (function != "sum") return fmt::format("{}({})", function, fmt::join(*list, ", "));
    return fmt::format("({})", fmt::join(*list, " + "));
  }

  std::vector<std::string> problem_;
  const Variant& variant_;
};

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
void add_fill(const Part& argument, bool is_of_ktt, DraftTable& table) {
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
    if (is_of_ktt) add_range("0");
  } else if (fill == "Generator") {
    const std::string source = argument.required("DataSource");
    table.lines.push_back({"elements", list_of({toml_text(renamed(source, "i", "index"))}), ""});
  } else {
    argument.fail(fmt::format(
        "has the \"FillType\" '{}'; expected Constant, Random or Generator: record such inputs as "
        "`[[verify.expected]]` instead",
        fill));
  }
}

DraftTable argument_table(const Part& argument, const std::string& name, const T1Size& size,
                          bool is_of_ktt) {
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
    argument.fail(
        fmt::format("has the \"AccessType\" '{}'; expected ReadOnly, WriteOnly or "
                    "ReadWrite",
                    access));
  }
  table.lines.push_back({"access", toml_text(word), ""});
  table.lines.push_back(dtype);
  table.lines.push_back({"shape", list_of({toml_text(size.text(argument))}), ""});
  if (word != "write") add_fill(argument, is_of_ktt, table);
  return table;
}

/// The values of the default config: those that the file names, if its conditions allow them; else
/// those of the first config that they do.
Config default_of(const Variant& variant, const Part& file) {
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

DraftTable t1_step_table(const Part& kernel, const T1Launch& launch, const T1Names& names) {
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
                                        const T1Launch& launch, const Part& kernel) {
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
std::string source_text(const Part& kernel, const std::string& path) {
  const std::string name = kernel.required("KernelFile");
  const bool has_ending = name.ends_with(".cu") || name.ends_with(".hip") ||
                          name.ends_with(".cpp") || name.ends_with(".cl");
  if (!has_ending) {
    kernel.fail(fmt::format(
        "names the \"KernelFile\" '{}'; Kiln takes sources that end with .cu, .hip, .cpp or .cl: "
        "copy it under such a name and put that name here",
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
void compare_arguments(const Part& kernel, const Json& arguments, const std::string& source) {
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
    const Part argument(arguments[i], kernel.path(), fmt::format("\"Arguments\"[{}]", i));
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
  std::vector<DescribedSpace> spaces = read_described_spaces(text, path);
  const Json json = parsed(text, path);
  const Part whole_file(json, path, "the file");
  const Json* specification = whole_file.find("KernelSpecification");
  if (specification == nullptr)
    whole_file.fail("needs \"KernelSpecification\" to make a spec of it");
  const Part kernel(*specification, path, "\"KernelSpecification\"");
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
  // Files for Kernel Tuner have a problem size; it reads neither "GlobalSize" nor "LocalSize".
  const bool is_of_ktt = kernel.find("ProblemSize") == nullptr;
  const T1Launch launch =
      is_of_ktt ? launch_of_ktt(kernel) : launch_of_kernel_tuner(kernel, variant);
  const T1Size size(kernel, variant);
  T1Names names;
  for (const Json& one : *arguments) {
    const std::string place = fmt::format("\"Arguments\"[{}]", names.arguments.size());
    const Part argument(one, path, place);
    const std::string name =
        argument.text("Name").value_or(fmt::format("argument_{}", names.arguments.size() + 1));
    draft.tables.push_back(argument_table(argument, name, size, is_of_ktt));
    names.arguments.push_back(toml_text(name));
    if (argument.text("MemType") == "Constant") names.constants.push_back(toml_text(name));
  }
  draft.tables.push_back(DraftTable{
      "[verify]",
      {{"device_reference", "\"plain\"",
        "the default config is trusted; better: function = \"reference.c:NAME\", or formulas"}}});
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

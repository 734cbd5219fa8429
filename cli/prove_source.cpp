// Writes the spec of a plain source in memory, line by line from the options.
// SPDX-License-Identifier: Apache-2.0
#include "cli/prove_source.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "cli/init/draft.hpp"
#include "cli/options.hpp"
#include "cli/text_files.hpp"
#include "core/errors.hpp"
#include "core/expression.hpp"
#include "core/input_file.hpp"
#include "core/regex.hpp"
#include "core/suggest.hpp"
#include "core/value.hpp"
#include "templates/library.hpp"
#include "templates/source_kernels.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

/// The lines of a spec, each with the option that said it.
class OptionSpec {
 public:
  void add(const std::string& option, const std::string& lines) {
    text_ += lines + "\n";
    for (const char c : lines + "\n") {
      if (c == '\n') options_.push_back(option);
    }
  }
  [[nodiscard]] KernelSpec load(const fs::path& file) const;

 private:
  std::string text_;
  std::vector<std::string> options_;
};

/// A fault of the spec is one of the option whose line it is.
KernelSpec OptionSpec::load(const fs::path& file) const {
  const std::string prefix = file.has_parent_path() ? "" : "./";  // the folder of what it names
  const fs::path path = prefix + file.string() + " with its options";
  try {
    return KernelLibrary::load_text(text_, path);
  } catch (const InputError& error) {
    const std::string fault = error.what();
    if (!fault.starts_with(path.string() + ":")) throw;
    std::size_t line = 0;
    const char* first = fault.c_str() + path.string().size() + 1;
    std::from_chars(first, fault.c_str() + fault.size(), line);
    const std::size_t words = fault.find(": ", path.string().size());
    if (line == 0 || line > options_.size() || words == std::string::npos) throw;
    throw UsageError(options_[line - 1] + ": " + fault.substr(words + 2));
  }
}

struct Named {
  std::string option;  ///< --formula 'y=2 * x'
  std::string name;
  std::string text;
};

Named named(const std::string& option, const std::string& given, const std::string& expected) {
  const std::size_t equal = given.find('=');
  Named parts{fmt::format("{} '{}'", option, given), given.substr(0, equal), ""};
  if (equal == 0 || equal == std::string::npos)
    throw UsageError(fmt::format("{}: expected NAME={}", parts.option, expected));
  parts.text = given.substr(equal + 1);
  return parts;
}

/// A TOML list of these texts.
std::string texts(const std::vector<std::string>& given) {
  std::vector<std::string> items;
  items.reserve(given.size());
  for (const std::string& each : given) items.push_back(toml_text(each));
  return list_of(items);
}

/// The first match with its groups; empty: there is none.
std::vector<std::string> match(const char* pattern, const std::string& text) {
  std::vector<std::string> parts;
  Regex::parse(pattern, "an argument").each_match(text, [&](auto groups) {
    if (parts.empty()) parts.assign(groups.begin(), groups.end());
  });
  return parts;
}

/// Adds an argument, and to `fields` the names in its sizes.
void add_argument(const Named& given, OptionSpec& spec,
                  std::map<std::string, std::string>& fields) {
  std::vector<std::string> sizes;
  std::string lines = fmt::format("[[arguments]]\nname = {}\n", toml_text(given.name));
  const std::vector<std::string> buffer =
      match(R"(^(read|write|read_write) (\w+)((?:\[[^\]]+\])+)$)", given.text);
  const std::vector<std::string> number = match(R"(^(\w+) (?:= (.+)|example (\S+))$)", given.text);
  if (!buffer.empty()) {
    Regex::parse(R"(\[([^\]]+)\])", "an extent").each_match(buffer[3], [&](auto groups) {
      sizes.emplace_back(groups[1]);
    });
    lines += fmt::format("access = \"{}\"\ndtype = \"{}\"\nshape = {}", buffer[1], buffer[2],
                         texts(sizes));
  } else if (!number.empty()) {
    if (!number[2].empty()) sizes.push_back(number[2]);
    lines +=
        fmt::format("access = \"scalar\"\ndtype = \"{}\"\n{}", number[1],
                    sizes.empty() ? "example = " + number[3] : "value = " + toml_text(sizes[0]));
  } else {
    throw UsageError(given.option +
                     ": expected NAME='read f32[n]' (or write, read_write), NAME='i32 = n' or "
                     "NAME='f32 example 0.5'");
  }
  for (const std::string& size : sizes) {
    try {
      const Expression expression = Expression::parse(size);
      for (const std::string& name : expression.names()) {
        if (name.find('.') == std::string::npos) fields.emplace(name, given.option);
      }
    } catch (const InputError& error) {
      throw UsageError(given.option + ": " + error.what());
    }
  }
  spec.add(given.option, lines);
}

void add_tunable(const Named& given, OptionSpec& spec) {
  std::vector<std::string> values;
  for (std::size_t at = 0; at <= given.text.size();) {
    const std::size_t comma = std::min(given.text.find(',', at), given.text.size());
    if (comma == at) throw UsageError(given.option + ": expected NAME=VALUE or NAME=VALUE,VALUE");
    values.push_back(toml_value(parse_value(given.text.substr(at, comma - at))));
    at = comma + 1;
  }
  spec.add(given.option, fmt::format("{} = {{ values = {}, default = {} }}", given.name,
                                     list_of(values), values.front()));
}

std::string entry_of(const fs::path& file, const SourceFlags& flags) {
  if (!flags.entry.empty()) return flags.entry;
  const SourceFacts facts = read_source(read_input(file, kSourceFile));
  std::vector<std::string> names;
  for (const SourceKernel& kernel : facts.kernels) names.push_back(kernel.name);
  if (names.size() == 1) return names.front();
  if (names.empty()) {
    throw InputError({file.string(), 0, 0},
                     "no kernel found; expected __global__ void NAME(...) or "
                     "__kernel void NAME(...)");
  }
  throw UsageError(fmt::format("{} has {} kernels ({}): name one with --entry", file.string(),
                               names.size(), comma_list(names)));
}

/// The value of --reference is what the key `function` takes; the file lies beside the source.
void add_verification(const SourceFlags& flags, OptionSpec& spec) {
  if (flags.formulas.empty() == flags.reference.empty()) {
    throw UsageError(
        "say what is right: either --formula OUTPUT='2 * x' or --reference reference.c:FUNCTION");
  }
  if (!flags.reference.empty())
    spec.add("--reference", "[verify]\nfunction = " + toml_text(flags.reference));
  if (!flags.formulas.empty()) spec.add("--formula", "[verify.formulas]");
  for (const std::string& each : flags.formulas) {
    const Named formula = named("--formula", each, "'2 * x'");
    spec.add(formula.option, formula.name + " = " + toml_text(formula.text));
  }
}

}  // namespace

std::vector<std::string> SourceFlags::words() const {
  std::vector<std::string> words;
  const auto add = [&](const char* option, const std::vector<std::string>& values) {
    for (const std::string& value : values) words.insert(words.end(), {option, value});
  };
  add("--argument", arguments);
  add("--grid", grid);
  add("--block", block);
  add("--tunable", tunables);
  add("--formula", formulas);
  if (!reference.empty()) add("--reference", {reference});
  if (!entry.empty()) add("--entry", {entry});
  return words;
}

void add_source_options(CLI::App& command, SourceFlags& flags) {
  const auto add = [&](const char* option, auto& target, const char* type, const char* help) {
    return add_value(command, option, target, type, help)->group("A source in place of a kernel");
  };
  const auto add_list = [&](const char* option, std::vector<std::string>& target, const char* type,
                            const char* help) {
    add(option, target, type, help)->allow_extra_args(false);
  };
  add_list("--argument", flags.arguments, "NAME=TEXT",
           "An argument of the kernel, in its order: x='read f32[n]' (write, read_write),\n"
           "n='i32 = n' (a size) or a='f32 example 0.5' (passed by the caller)");
  add_list("--grid", flags.grid, "TEXT", "Blocks, e.g. 'ceil_div(n, BLOCK)'; once a dimension");
  add_list("--block", flags.block, "TEXT", "Threads of a block; once a dimension");
  add_list("--tunable", flags.tunables, "NAME=VALUE",
           "A macro of the source; of several values (64,128) the first is the default");
  add_list("--formula", flags.formulas, "OUTPUT=TEXT",
           "What each element of an output is, e.g. y='2 * x'");
  add("--reference", flags.reference, "FILE:NAME",
      "A C or Python function in the source's folder that computes the outputs; it is run");
  add("--entry", flags.entry, "NAME", "Which kernel, where the source has several");
}

KernelSpec spec_of_source(const fs::path& file, const SourceFlags& flags) {
  const std::pair<const char*, bool> needed[] = {{"--argument", flags.arguments.empty()},
                                                 {"--grid", flags.grid.empty()},
                                                 {"--block", flags.block.empty()}};
  for (const auto& [option, is_missing] : needed) {
    if (!is_missing) continue;
    throw UsageError(
        fmt::format("{} is a source, which needs {}; or `kiln init` writes a spec for "
                    "it",
                    file.string(), option));
  }
  const std::string entry = entry_of(file, flags);
  OptionSpec spec;
  spec.add(file.string(),
           fmt::format("name = {}\nsummary = \"a source\"", toml_text(kernel_name_of(entry))));
  std::vector<std::string> passed;
  std::map<std::string, std::string> fields;  // name -> option
  for (const std::string& each : flags.arguments) {
    const Named argument = named("--argument", each, "'read f32[n]'");
    passed.push_back(argument.name);
    add_argument(argument, spec, fields);
  }
  std::vector<Named> tunables;
  for (const std::string& each : flags.tunables) {
    tunables.push_back(named("--tunable", each, "64"));
    fields.erase(tunables.back().name);
  }
  for (const auto& [name, option] : fields)
    spec.add(option, fmt::format("[problem.{}]\ntype = \"int\"\nmin = 0", name));
  add_verification(flags, spec);
  spec.add(file.string(),
           fmt::format("[[variants]]\nname = \"plain\"\nsource = {}\n[variants.tunables]",
                       toml_text(file.filename().string())));
  for (const Named& tunable : tunables) add_tunable(tunable, spec);
  spec.add("--entry", "[[variants.steps]]\nentry = " + toml_text(entry));
  spec.add("--grid", "grid = " + texts(flags.grid));
  spec.add("--block", "block = " + texts(flags.block));
  spec.add("--argument", "arguments = " + texts(passed));
  return spec.load(file);
}

}  // namespace kiln::cli

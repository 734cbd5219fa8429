// Guesses a spec from what a source declares.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/init/draft.hpp"
#include "core/errors.hpp"

namespace kiln::cli {
namespace {

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

bool names_any(const std::string& name, std::initializer_list<std::string_view> parts) {
  const std::string big = upper(name);
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return big.find(part) != std::string::npos; });
}

bool is_block_like(const std::string& name) {
  return names_any(name, {"BLOCK", "THREADS", "WORKGROUP", "WORK_GROUP", "WG", "LOCAL", "TILE"}) &&
         !names_any(name, {"PER_THREAD"});
}

bool is_items_like(const std::string& name) {
  return names_any(name,
                   {"ITEMS", "PER_THREAD", "ELEMENTS", "ROWS", "COLS", "WORK_PER", "COARSEN"});
}

bool is_flag_like(const std::string& name) {
  return names_any(name, {"USE", "ENABLE", "WITH", "HAS", "PAD"});
}

/// `text` without blanks around it and brackets around all of it.
std::string_view bare_number(std::string_view text) {
  while (!text.empty()) {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    text = text.substr(first, text.find_last_not_of(" \t") + 1 - first);
    if (!text.starts_with('(') || text.find(')') != text.size() - 1 - text.rfind('(')) return text;
    const auto depth = static_cast<std::size_t>(std::count(text.begin(), text.end(), '('));
    text = text.substr(depth, text.size() - 2 * depth);
  }
  return text;
}

/// A whole number as C spells it: "64", "(64)", "0x40", "64u", with a comment behind it.
std::optional<long long> whole_number(const std::string& text) {
  std::string_view digits =
      bare_number(std::string_view(text).substr(0, std::min(text.find("//"), text.find("/*"))));
  while (!digits.empty() && std::string_view("uUlL").find(digits.back()) != std::string_view::npos)
    digits.remove_suffix(1);
  const bool is_hex = digits.starts_with("0x") || digits.starts_with("0X");
  if (is_hex) digits.remove_prefix(2);
  long long value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, is_hex ? 16 : 10);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size())
    return std::nullopt;
  return value;
}

struct Knob {
  std::string name;
  std::vector<std::string> values;
  std::string fallback;
  std::string doc;
};

Knob number_knob(const std::string& name, long long fallback, const std::string& doc) {
  std::vector<long long> values;
  if (is_flag_like(name) && (fallback == 0 || fallback == 1)) {
    values = {0, 1};
  } else if (is_block_like(name) && fallback >= 64) {
    values = {64, 128, 256, 512, 1024};
  } else if (is_block_like(name)) {
    values = {4, 8, 16, 32};
  } else if (fallback >= 16) {
    values = {fallback / 4, fallback / 2, fallback, fallback * 2};
  } else if (fallback == 0) {
    values = {0, 1};
  } else {
    values = {1, 2, 4, 8};
  }
  values.push_back(fallback);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  Knob knob{name, {}, std::to_string(fallback), doc};
  for (const long long value : values) knob.values.push_back(std::to_string(value));
  return knob;
}

Knob flag_knob(const std::string& name, const std::string& fallback, const std::string& doc) {
  return {name, {"false", "true"}, fallback, doc};
}

/// What is tuned: guarded macros and template parameters, and how the kernel is then named.
struct Knobs {
  std::vector<Knob> all;
  std::string entry;
  std::string entry_guess;
  bool has_typename = false;
};

Knobs find_knobs(const SourceFacts& facts, const SourceKernel& kernel) {
  Knobs knobs;
  for (const SourceMacro& macro : facts.macros) {
    if (!macro.is_guarded) continue;
    const std::string doc = fmt::format("macro of line {}", macro.line);
    const std::string word(bare_number(macro.value));
    if (const auto number = whole_number(macro.value)) {
      knobs.all.push_back(number_knob(macro.name, *number, doc));
    } else if (word == "true" || word == "false") {
      knobs.all.push_back(flag_knob(macro.name, word, doc));
    }
  }
  for (const std::string& name : facts.undefined) {
    const long long usual = is_block_like(upper(name)) ? (name.ends_with("_x") ? 64 : 16) : 1;
    knobs.all.push_back(
        number_knob(name, name == "BLOCK_SIZE" ? 256 : usual, "macro that the source leaves open"));
  }
  knobs.entry = kernel.name;
  std::vector<std::string> arguments;
  for (const TemplateParameter& parameter : kernel.template_parameters) {
    const bool is_type = parameter.kind == "typename" || parameter.kind == "class";
    if (is_type) {
      arguments.emplace_back("float");
      knobs.has_typename = true;
      knobs.entry_guess = "the type of template parameter '" + parameter.name + "'";
      continue;
    }
    arguments.push_back("{" + parameter.name + "}");
    if (parameter.kind == "bool") {
      knobs.all.push_back(flag_knob(parameter.name, parameter.fallback == "true" ? "true" : "false",
                                    "template parameter"));
    } else {
      const long long usual = is_block_like(parameter.name) ? 16 : 1;
      knobs.all.push_back(number_knob(
          parameter.name, whole_number(parameter.fallback).value_or(usual), "template parameter"));
    }
  }
  if (!arguments.empty()) knobs.entry += fmt::format("<{}>", fmt::join(arguments, ", "));
  return knobs;
}

std::string likely_dtype(const SourceParameter& parameter) {
  return std::string(parameter.dtype ? name_of(*parameter.dtype) : "f32");
}

bool is_both_read_and_written(const SourceParameter& parameter) {
  return parameter.is_written && parameter.is_read;
}

bool is_size(const SourceParameter& parameter) {
  return !parameter.is_buffer && parameter.dtype && !is_floating(*parameter.dtype);
}

/// The elements of a buffer, outermost first.
std::vector<std::string> shape_of(const SourceKernel& kernel, std::vector<std::string> sizes) {
  if (sizes.empty()) return {"n"};
  if (kernel.dimensions == 1) return {fmt::format("{}", fmt::join(sizes, " * "))};
  if (sizes.size() == 1) return {sizes[0], sizes[0]};
  sizes.resize(2);
  if (names_any(sizes[0], {"WIDTH", "COL", "NX"}) || sizes[0] == "w") std::swap(sizes[0], sizes[1]);
  return sizes;
}

std::vector<std::string> in_quotes(const std::vector<std::string>& texts) {
  std::vector<std::string> out;
  for (const std::string& text : texts) out.push_back(toml_text(text));
  return out;
}

DraftTable parameter_table(const SourceParameter& parameter, const std::vector<std::string>& shape,
                           bool has_typename) {
  DraftTable table{"[[arguments]]", {{"name", toml_text(parameter.name), ""}}};
  const DraftLine dtype = {"dtype", toml_text(likely_dtype(parameter)),
                           parameter.dtype ? ""
                           : has_typename  ? "the element type of '" + parameter.type + "'"
                                          : "Kiln does not know the type '" + parameter.type + "'"};
  if (!parameter.is_buffer) {
    table.lines.push_back({"access", "\"scalar\"", ""});
    table.lines.push_back(dtype);
    if (is_size(parameter)) {
      table.lines.push_back({"value", toml_text(usable_name(parameter.name)), ""});
    } else {
      table.lines.push_back({"example", "1", "the value used while tuning"});
    }
    return table;
  }
  const std::string access = !parameter.is_written                 ? "read"
                             : is_both_read_and_written(parameter) ? "read_write"
                                                                   : "write";
  table.lines.push_back({"access", toml_text(access),
                         access == "read" && parameter.is_const ? "" : "by its use in the kernel"});
  table.lines.push_back(dtype);
  std::vector<std::string> own = shape;
  if (parameter.lanes > 1) own.back() += fmt::format(" * {}", parameter.lanes);
  table.lines.push_back({"shape", list_of(in_quotes(own)), "elements, outermost first"});
  return table;
}

/// The bytes of one run if each array moves once, and twice where it is read and written.
DraftTable cost_table(const SourceKernel& kernel, const std::vector<std::string>& shape) {
  std::map<std::string, int> moves;  // by element type
  for (const SourceParameter& parameter : kernel.parameters) {
    if (!parameter.is_buffer || parameter.is_local) continue;
    moves[likely_dtype(parameter)] +=
        parameter.lanes * (is_both_read_and_written(parameter) ? 2 : 1);
  }
  std::vector<std::string> terms;
  for (const auto& [dtype, times] : moves) {
    terms.push_back(fmt::format("{} * {} * sizeof({})", times, fmt::join(shape, " * "), dtype));
  }
  return {"[cost]",
          {{"bytes", toml_text(fmt::format("{}", fmt::join(terms, " + "))),
            "every array moves once; add flops = \"...\" if arithmetic is the limit"}}};
}

/// The extent that the tunables of one axis cover: block size, and elements per thread.
struct Axis {
  std::string block;
  std::string elements;
};

Axis axis_of(const std::vector<Knob>& knobs, char letter, int dimensions,
             const std::string& usual) {
  const auto ends_with_other = [&](const std::string& name) {
    const char last = upper(name).back();
    return dimensions > 1 && (last == 'X' || last == 'Y' || last == 'Z') && last != letter;
  };
  const auto is_of_axis = [&](const Knob& knob) {
    return knob.fallback != "true" && knob.fallback != "false" && !ends_with_other(knob.name);
  };
  const auto find_block = [&](const auto& is_block) {
    const auto found = std::find_if(knobs.begin(), knobs.end(), [&](const Knob& knob) {
      return is_of_axis(knob) && is_block(knob.name);
    });
    return found == knobs.end() ? std::string() : found->name;
  };
  Axis axis;
  // A tile is the block where nothing else is; else what the block covers.
  axis.block = find_block(
      [](const std::string& name) { return is_block_like(name) && !names_any(name, {"TILE"}); });
  const bool has_block = !axis.block.empty();
  if (!has_block) axis.block = find_block(is_block_like);
  for (const Knob& knob : knobs) {
    if (!is_of_axis(knob) || knob.name == axis.block) continue;
    const bool is_tile = has_block && upper(knob.name) == "TILE";
    if (is_tile || (is_items_like(knob.name) && !names_any(knob.name, {"BLOCK"}))) {
      const bool is_rows = names_any(knob.name, {"ROW"});
      if (dimensions == 1 || (letter == 'Y') == is_rows) axis.elements += " * " + knob.name;
    }
  }
  if (axis.block.empty()) axis.block = usual;
  axis.elements = axis.block + axis.elements;
  return axis;
}

DraftTable step_table(const SourceKernel& kernel, const Knobs& knobs,
                      const std::vector<std::string>& shape) {
  std::vector<std::string> grid;
  std::vector<std::string> block;
  const bool flat = kernel.dimensions == 1;
  const Axis x = axis_of(knobs.all, 'X', kernel.dimensions, flat ? "256" : "16");
  grid.push_back(fmt::format("ceil_div({}, {})", shape.back(), x.elements));
  block.push_back(x.block);
  if (!flat) {
    const Axis y = axis_of(knobs.all, 'Y', kernel.dimensions, "16");
    grid.push_back(fmt::format("ceil_div({}, {})", shape.front(), y.elements));
    block.push_back(y.block);
  }
  DraftTable table{"[[variants.steps]]", {{"entry", toml_text(knobs.entry), knobs.entry_guess}}};
  table.lines.push_back({"grid", list_of(in_quotes(grid)), "blocks (work-groups) per dimension"});
  table.lines.push_back({"block", list_of(in_quotes(block)), "threads (work-items) per dimension"});
  std::vector<std::string> names;
  std::string locals;
  for (const SourceParameter& parameter : kernel.parameters) {
    names.push_back(parameter.name);
    if (!parameter.is_local) continue;
    locals += (locals.empty() ? "{ " : ", ") + parameter.name + " = " + toml_text(x.block + " * 4");
  }
  if (!locals.empty())
    table.lines.push_back({"local", locals + " }", "bytes of each __local parameter"});
  table.lines.push_back({"arguments", list_of(in_quotes(names)), ""});
  return table;
}

std::vector<std::string> remarks(const SourceFacts& facts) {
  std::vector<std::string> lines;
  for (const SourceMacro& macro : facts.macros) {
    if (macro.is_guarded || !whole_number(macro.value)) continue;
    if (lines.empty()) {
      lines.emplace_back(
          "Macros that the source defines without #ifndef. Name one as a tunable to tune it: its "
          "own #define then gives way.");
    }
    lines.push_back(fmt::format("  {} = {} (line {})", macro.name, macro.value, macro.line));
  }
  return lines;
}

}  // namespace

Draft draft_from_source(const SourceFacts& facts, const SourceKernel& kernel,
                        const std::string& source) {
  const auto writes = [](const SourceParameter& parameter) { return parameter.is_written; };
  if (std::none_of(kernel.parameters.begin(), kernel.parameters.end(), writes)) {
    throw InputError({source, kernel.line, 0}, "kernel '" + kernel.name +
                                                   "' writes to none of its parameters, as far as "
                                                   "Kiln can see: there is nothing to check");
  }
  for (const SourceParameter& parameter : kernel.parameters) {
    if (parameter.is_buffer || parameter.lanes == 1) continue;
    throw InputError({source, kernel.line, 0},
                     fmt::format("kernel '{}' takes '{}' by value as a {}; Kiln passes scalars of "
                                 "one element: pass its elements one by one",
                                 kernel.name, parameter.name, parameter.type));
  }
  Draft draft;
  draft.name = kernel_name_of(kernel.name);
  draft.summary = fmt::format("kernel {} of {}", kernel.name, source);
  draft.source = source;
  std::vector<std::string> sizes;
  for (const SourceParameter& parameter : kernel.parameters) {
    if (is_size(parameter)) sizes.push_back(usable_name(parameter.name));
  }
  const Knobs knobs = find_knobs(facts, kernel);
  for (const std::string& size : sizes.empty() ? std::vector<std::string>{"n"} : sizes) {
    draft.tables.push_back(
        DraftTable{"[problem." + size + "]",
                   {{"type", "\"int\"", ""},
                    {"min", "1", sizes.empty() ? "no size among the parameters" : ""}}});
  }
  const std::vector<std::string> shape = shape_of(kernel, sizes);
  for (const SourceParameter& parameter : kernel.parameters) {
    if (!parameter.is_local)
      draft.tables.push_back(parameter_table(parameter, shape, knobs.has_typename));
  }
  draft.tables.push_back(DraftTable{
      "[verify]",
      {{"device_reference", "\"plain\"",
        "the default config is trusted; better: a function in C or Python, or formulas"}}});
  draft.tables.push_back(cost_table(kernel, shape));
  draft.tables.push_back(
      DraftTable{"[[variants]]", {{"name", "\"plain\"", ""}, {"source", toml_text(source), ""}}});
  if (!knobs.all.empty()) {
    DraftTable tunables{"[variants.tunables]", {}};
    for (const Knob& knob : knobs.all) {
      tunables.lines.push_back({knob.name, "", "which values are worth trying",
                                DraftTunable{knob.values, knob.fallback, knob.doc}});
    }
    draft.tables.push_back(std::move(tunables));
  }
  draft.tables.push_back(step_table(kernel, knobs, shape));
  draft.comments = remarks(facts);
  return draft;
}

}  // namespace kiln::cli

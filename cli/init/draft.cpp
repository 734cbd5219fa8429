// SPDX-License-Identifier: Apache-2.0
#include "cli/init/draft.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/expression.hpp"

namespace kiln::cli {
namespace {

std::string tunable_text(const DraftTunable& tunable) {
  const std::string doc = tunable.doc.empty() ? "" : ", doc = " + toml_text(tunable.doc);
  return fmt::format("{{ values = {}, default = {}{} }}", list_of(tunable.values), tunable.fallback,
                     doc);
}

}  // namespace

std::string toml_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return out + "\"";
}

std::string toml_value(const Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text != nullptr ? toml_text(*text) : to_text(value);
}

std::string list_of(const std::vector<std::string>& items) {
  return fmt::format("[{}]", fmt::join(items, ", "));
}

bool set_values(Draft& draft, const std::string& name, const std::vector<Value>& values) {
  if (values.empty()) return false;
  std::vector<std::string> texts;
  for (const Value& value : values) texts.push_back(toml_value(value));
  for (DraftTable& table : draft.tables) {
    for (DraftLine& line : table.lines) {
      if (!line.tunable || line.key != usable_name(name)) continue;
      DraftTunable& tunable = *line.tunable;
      const bool stays = std::find(texts.begin(), texts.end(), tunable.fallback) != texts.end();
      if (!stays) tunable.fallback = texts.front();
      tunable.values = std::move(texts);
      line.guess.clear();
      return true;
    }
  }
  return false;
}

std::string usable_name(const std::string& name) {
  try {
    if (Expression::parse(name).names() == std::vector<std::string>{name} && name != "backend" &&
        name != "device" && name != "warp_size") {
      return name;
    }
  } catch (const InputError&) {
    // A word of the language, such as `in`.
  }
  return name + "_";
}

std::string kernel_name_of(const std::string& name) {
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    out += std::isalnum(byte) != 0 ? static_cast<char>(std::tolower(byte)) : '_';
  }
  if (out.empty() || std::isalpha(static_cast<unsigned char>(out.front())) == 0) out = "k" + out;
  return out;
}

std::string spec_text(const Draft& draft) {
  std::string text = fmt::format(
      "# Written by `kiln init` from {0}: confirm the lines marked GUESS, then\n"
      "#   kiln tune . --problem ...\n"
      "# docs/bring_your_kernel.md tells how, docs/spec_format.md lists every key.\n"
      "name = {1}\nsummary = {2}\n",
      draft.source, toml_text(draft.name), toml_text(draft.summary));
  for (const DraftTable& table : draft.tables) {
    text += "\n" + table.header + "\n";
    for (const DraftLine& line : table.lines) {
      text +=
          fmt::format("{} = {}", line.key, line.tunable ? tunable_text(*line.tunable) : line.value);
      if (!line.guess.empty()) text += "  # GUESS: " + line.guess;
      text += "\n";
    }
  }
  if (!draft.comments.empty()) text += "\n";
  for (const std::string& comment : draft.comments) text += "# " + comment + "\n";
  return text;
}

std::size_t guesses_in(const Draft& draft) {
  std::size_t count = 0;
  for (const DraftTable& table : draft.tables) {
    count += static_cast<std::size_t>(
        std::count_if(table.lines.begin(), table.lines.end(),
                      [](const DraftLine& line) { return !line.guess.empty(); }));
  }
  return count;
}

}  // namespace kiln::cli

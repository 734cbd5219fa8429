// SPDX-License-Identifier: Apache-2.0
#include "cli/help_text.hpp"

#include <algorithm>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/terminal.hpp"
#include "cli/text_layout.hpp"

namespace kiln::cli {
namespace {

constexpr std::size_t kNames = 28;         // columns of names, with their indent
constexpr std::size_t kUsualWidth = 100;   // where the output has no width
constexpr std::size_t kLeastSummary = 30;  // columns; a narrower summary stands below its name

/// A command line of an example: broken at spaces, each line but the last with a backslash.
std::string example(const std::string& line, std::size_t width) {
  if (line.size() <= width) return line + "\n";
  const std::size_t room = width > 8 ? width - 2 : width;
  const std::size_t space = line.rfind(' ', room);
  if (space == std::string::npos || line.find_first_not_of(' ') > space) return line + "\n";
  return line.substr(0, space) + " \\\n" + example("    " + line.substr(space + 1), width);
}

/// Lines that were broken by hand flow into paragraphs. Apart stay indented lines, which are
/// examples, and those of a list, which begins after a line that ends with a colon.
std::vector<std::string> paragraphs_of(const std::string& text) {
  std::istringstream lines(text);
  std::vector<std::string> all;
  bool goes_on = false;
  bool in_list = false;
  for (std::string line; std::getline(lines, line);) {
    const bool is_apart = line.empty() || line.starts_with("  ") || in_list;
    if (goes_on && !is_apart) {
      all.back() += " " + line;
    } else {
      all.push_back(line);
    }
    goes_on = !is_apart;
    in_list = !line.empty() && (in_list || line.ends_with(":"));
  }
  return all;
}

std::string prose(const std::string& text, std::size_t width) {
  std::string out;
  for (const std::string& each : paragraphs_of(text))
    out += each.starts_with("  ") ? example(each, width) : paragraph(each, width, 0, 0);
  return out;
}

/// A name and what it means, in two columns.
std::string entry(const std::string& name, const std::string& summary, std::size_t width) {
  const std::string head = "  " + name;
  // A narrow screen has the summary below the name.
  const std::size_t indent = width < kNames + kLeastSummary ? 6 : kNames;
  std::vector<std::string> lines;
  for (const std::string& each : paragraphs_of(summary)) {
    for (std::string& line : wrapped(each, width - indent)) lines.push_back(std::move(line));
  }
  std::string out = head;
  const bool fits = head.size() + 1 < indent && !lines.empty();
  if (fits) out += std::string(indent - head.size(), ' ') + lines.front();
  out += "\n";
  for (std::size_t i = fits ? 1 : 0; i < lines.size(); ++i)
    out += std::string(indent, ' ') + lines[i] + "\n";
  return out;
}

class HelpText final : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    const std::size_t width = output_width().value_or(kUsualWidth);
    const bool is_all = mode == CLI::AppFormatMode::All;
    std::string out = prose(app->get_description(), width) + prose(usage(*app, name), width);
    std::vector<const CLI::Option*> words;
    for (const CLI::Option* option : app->get_options()) {
      if (option->get_positional() && !option->get_group().empty()) words.push_back(option);
    }
    if (!words.empty()) out += "\nArguments:\n" + entries(words, width);
    const bool has_more = has_more_options(*app);
    for (const std::string& group : app->get_groups()) {
      const std::vector<const CLI::Option*> options =
          app->get_options([&](const CLI::Option* each) {
            return each->get_group() == group && each->nonpositional() &&
                   (has_more || each != app->get_help_all_ptr());
          });
      if (group.empty() || options.empty()) continue;
      const bool is_more = group == kMoreOptions;
      if (is_all || !is_more) out += fmt::format("\n{}:\n{}", group, entries(options, width));
    }
    if (has_more && !is_all) out += fmt::format("\n{}: {} --help-all\n", kMoreOptions, name);
    return out + commands(*app, width) + "\n" + prose(app->get_footer(), width);
  }

 private:
  static std::string usage(const CLI::App& app, const std::string& name) {
    std::string text = "Usage: " + name + " [OPTIONS]";
    for (const CLI::Option* word : app.get_options()) {
      if (!word->get_positional()) continue;
      const bool repeats = word->get_expected_max() >= CLI::detail::expected_max_vector_size;
      const std::string shown = type_of(*word) + (repeats ? "..." : "");
      text += word->get_required() ? " " + shown : " [" + shown + "]";
    }
    return text + (app.get_subcommands({}).empty() ? "" : " COMMAND");
  }

  static std::string type_of(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    return type.substr(0, type.find(':'));  // without the words of a choice
  }

  static std::string entries(const std::vector<const CLI::Option*>& options, std::size_t width) {
    std::string out;
    for (const CLI::Option* option : options) {
      std::string name = option->get_positional() ? "" : option->get_name(false, true);
      if (option->get_type_size() != 0) {
        name += (name.empty() ? "" : " ") + type_of(*option);
        if (!option->get_default_str().empty()) name += "=" + option->get_default_str();
        if (option->get_expected_max() >= CLI::detail::expected_max_vector_size) name += " ...";
      }
      out += entry(name, option->get_description(), width);
    }
    return out;
  }

  /// In their groups; the hidden ones have none.
  static std::string commands(const CLI::App& app, std::size_t width) {
    std::vector<std::string> groups;
    for (const CLI::App* command : app.get_subcommands({})) {
      const std::string& group = command->get_group();
      if (!group.empty() && std::find(groups.begin(), groups.end(), group) == groups.end())
        groups.push_back(group);
    }
    std::string out;
    for (const std::string& group : groups) {
      out += fmt::format("\n{}:\n", group);
      for (const CLI::App* command : app.get_subcommands({})) {
        if (command->get_group() == group)
          out += entry(command->get_name(), command->get_description(), width);
      }
    }
    return out;
  }
};

}  // namespace

bool has_more_options(const CLI::App& command) {
  return !command
              .get_options(
                  [](const CLI::Option* each) { return each->get_group() == kMoreOptions; })
              .empty();
}

void set_help(CLI::App& app) {
  app.set_help_flag("-h,--help", "Print this text and exit");
  app.set_help_all_flag("--help-all", "Print this text with every option and exit");
  app.formatter(std::make_shared<HelpText>());
}

}  // namespace kiln::cli

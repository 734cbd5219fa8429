// `kiln man [COMMAND...]`: the man page of kiln or of one command, or all of them as files.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/checks.hpp"
#include "cli/command.hpp"
#include "cli/command_texts.hpp"
#include "cli/options.hpp"
#include "cli/print.hpp"
#include "cli/text_files.hpp"
#include "core/suggest.hpp"
#include "core/version.hpp"

namespace kiln::cli {
namespace fs = std::filesystem;
namespace {

/// "kiln-db-info": the name of the page of a command, without its section.
std::string man_page_name(const CommandText& command) {
  std::string name = command.path.empty() ? "kiln" : "kiln " + command.path;
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

/// `text` as groff prints it unchanged: no letter of it is an instruction.
std::string roff(const std::string& text) {
  std::string escaped;
  for (const char letter : text) {
    switch (letter) {
      case '\\':
        escaped += "\\e";
        break;
      case '-':
        escaped += "\\-";
        break;
      case '\'':
        escaped += "\\(aq";
        break;
      case '`':
        escaped += "\\(ga";
        break;
      case '^':
        escaped += "\\(ha";
        break;
      case '~':
        escaped += "\\(ti";
        break;
      default:
        escaped += letter;
    }
  }
  return escaped.starts_with(".") ? "\\&" + escaped : escaped;
}

std::string roff_upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return std::toupper(letter); });
  return roff(text);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Lines of a help text: those with an indent stay as they are, the others flow.
std::string flowing(const std::string& text) {
  std::string page;
  bool literal = false;
  for (const std::string& line : lines_of(text)) {
    const bool indented = line.starts_with("  ");
    if (indented && !literal) page += ".PP\n.nf\n.RS 4\n";
    if (!indented && literal) page += ".RE\n.fi\n.PP\n";
    literal = indented;
    if (line.empty()) {
      if (!page.ends_with(".PP\n")) page += ".PP\n";
    } else {
      page += roff(indented ? line.substr(2) : line) + "\n";
    }
  }
  if (literal) page += ".RE\n.fi\n";
  return page;
}

/// The summary of an option: what follows a line that ends with a colon is a list, an entry a line.
std::string option_summary(const std::string& summary) {
  std::string text;
  bool in_list = false;
  for (const std::string& line : lines_of(summary)) {
    text += (in_list ? ".br\n" : "") + roff(line) + "\n";
    in_list = in_list || line.ends_with(":");
  }
  return text;
}

/// "--db \fIFILE\fR" in bold, and what it means.
std::string entry(const ArgumentText& argument) {
  std::vector<std::string> names;
  for (const std::string& name : argument.names)
    names.push_back(fmt::format("\\fB{}\\fR", roff(name)));
  std::string text = fmt::format(".TP\n{}", fmt::join(names, ", "));
  if (!argument.placeholder.empty()) {
    text += fmt::format(" \\fI{}\\fR", roff(argument.placeholder));
    if (argument.repeats) text += " ...";
  }
  text += "\n" + option_summary(argument.summary);
  if (!argument.fallback.empty()) text += fmt::format("(default: {})\n", roff(argument.fallback));
  return text;
}

std::string synopsis(const CommandText& command) {
  std::string text = fmt::format("\\fB{}\\fR [\\fIOPTIONS\\fR]",
                                 roff(command.path.empty() ? "kiln" : "kiln " + command.path));
  for (const ArgumentText& word : command.unnamed) {
    const std::string name = roff(word.names.front()) + (word.repeats ? "..." : "");
    text += word.required ? fmt::format(" \\fI{}\\fR", name) : fmt::format(" [\\fI{}\\fR]", name);
  }
  if (!command.subcommands.empty()) text += " \\fICOMMAND\\fR ...";
  return text + "\n";
}

/// Options under the headings of the help, each heading once.
std::string option_sections(const CommandText& command) {
  std::vector<std::string> groups;
  for (const ArgumentText& option : command.options) {
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end())
      groups.push_back(option.group);
  }
  std::string text;
  for (const std::string& group : groups) {
    text += fmt::format(".SH {}\n", roff_upper(group));
    for (const ArgumentText& option : command.options)
      if (option.group == group) text += entry(option);
  }
  return text;
}

std::string reference(const std::string& page) { return fmt::format("\\fB{}\\fR(1)", roff(page)); }

std::string references(const CommandText& command) {
  std::vector<std::string> pages;
  if (!command.path.empty()) {
    pages.push_back(reference("kiln"));
    const std::size_t space = command.path.rfind(' ');
    if (space != std::string::npos)
      pages.push_back(reference("kiln-" + command.path.substr(0, space)));
  }
  for (const CommandText& each : command.subcommands)
    pages.push_back(reference(man_page_name(each)));
  return fmt::format(".SH SEE ALSO\n{}\n", fmt::join(pages, ",\n"));
}

/// The page of `command`, with everything that its help says.
std::string man_page(const CommandText& command) {
  const std::string name = man_page_name(command);
  std::string page =
      fmt::format(".TH {} 1 \"\" \"kiln {}\" \"User Commands\"\n", roff_upper(name), kVersion);
  page += fmt::format(".SH NAME\n{} \\- {}\n", roff(name), roff(short_summary(command.summary)));
  page += ".SH SYNOPSIS\n" + synopsis(command);
  page += ".SH DESCRIPTION\n" + flowing(command.summary + "\n\n" + command.footer);
  if (!command.unnamed.empty()) {
    page += ".SH ARGUMENTS\n";
    for (const ArgumentText& word : command.unnamed) page += entry(word);
  }
  if (!command.subcommands.empty()) {
    page += ".SH COMMANDS\n";
    for (const CommandText& each : command.subcommands)
      page += fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(last_word(each)), roff(each.summary));
  }
  return page + option_sections(command) + references(command);
}

struct ManFlags {
  std::vector<std::string> command;  ///< its words: "db", "info"
  fs::path into;
};

/// Throws UsageError for words that name no command.
const CommandText& command_of(const CommandText& root, const std::vector<std::string>& words) {
  const std::string path = fmt::format("{}", fmt::join(words, " "));
  std::vector<std::string> known;
  for (const CommandText* command : all_commands(root)) {
    if (command->path == path) return *command;
    if (!command->path.empty()) known.push_back(command->path);
  }
  throw UsageError(fmt::format("there is no command 'kiln {}'{} (kiln --help lists them)", path,
                               did_you_mean(path, known)));
}

ExitCode run_man(const ManFlags& options, const CommandText& root) {
  if (options.into.empty()) {
    print_data(man_page(command_of(root, options.command)));
    return ExitCode::ok;
  }
  if (!options.command.empty()) throw UsageError("--into writes every page: name no command");
  std::error_code error;
  fs::create_directories(options.into, error);
  if (error) {
    throw UsageError(
        fmt::format("{}: the folder cannot be made: {}", options.into.string(), error.message()));
  }
  for (const CommandText* command : all_commands(root))
    write_text_file(options.into / (man_page_name(*command) + ".1"), man_page(*command),
                    {".TH KILN", false});
  return ExitCode::ok;
}

}  // namespace

void add_man_command(CLI::App& app, Work& work) {
  auto options = std::make_shared<ManFlags>();
  CLI::App* command = app.add_subcommand("man", "Print the man page of kiln or of one command");
  add_value(*command, "command", options->command, "COMMAND", "The command's words, e.g. db info");
  add_value(*command, "--into", options->into, "DIR",
            "Write the page of every command into this folder: kiln.1, kiln-tune.1, ...")
      ->check(file_name());
  command->footer(
      "Packages install the pages: man kiln-tune. Without a package:\n"
      "  kiln man tune | man -l -");
  command->callback([options, &app, &work] {
    work = [options, &app] { return run_man(*options, command_texts(app)); };
  });
}

}  // namespace kiln::cli

// `kiln completion SHELL` prints the script with which a shell completes kiln's commands and
// options. The script calls `kiln __complete WORDS`, which prints a proposal a line and, after a
// tab, what it is for. The lines :files and :folders ask the shell for its own file names.
// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/checks.hpp"
#include "cli/command.hpp"
#include "cli/print.hpp"

namespace kiln::cli {
namespace {

constexpr const char* kBash = R"bash(# Completion of kiln for bash.
# shellcheck shell=bash
_kiln() {
  local line words=("${COMP_WORDS[@]:1:COMP_CWORD}") current=${COMP_WORDS[COMP_CWORD]}
  # Readline makes three words of --option=value: the line is read without that.
  if [[ $COMP_WORDBREAKS == *=* ]]; then
    read -ra words <<<"${COMP_LINE:0:COMP_POINT}"
    [[ ${COMP_LINE:0:COMP_POINT} == *[[:space:]] ]] && words+=('')
    words=("${words[@]:1}")
    if [[ $current == = ]]; then current=; fi
  fi
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :files) compopt -o filenames 2>/dev/null; mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$current") ;;
      :folders) compopt -o filenames 2>/dev/null; mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -d -- "$current") ;;
      *) line=${line%%$'\t'*}; if [[ $line == "$current"* ]]; then COMPREPLY+=("$line"); fi ;;
    esac
  done < <("${COMP_WORDS[0]}" __complete "${words[@]}" 2>/dev/null)
}
complete -F _kiln kiln
)bash";

constexpr const char* kZsh = R"zsh(#compdef kiln
# Completion of kiln for zsh.
_kiln() {
  local line
  local -a proposals
  if [[ $PREFIX == --*=* ]]; then compset -P '--*='; fi
  for line in ${(f)"$($words[1] __complete "${(@)words[2,CURRENT]}" 2>/dev/null)"}; do
    case $line in
      :files) _files ;;
      :folders) _files -/ ;;
      *) proposals+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
    esac
  done
  (( $#proposals )) && _describe -V kiln proposals
}
if [[ $funcstack[1] == _kiln ]]; then _kiln "$@"; else compdef _kiln kiln; fi
)zsh";

constexpr const char* kFish = R"fish(# Completion of kiln for fish.
function __kiln_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l current (string replace -r '^--[^=]*=' '' -- $words[-1])
    set -l option (string match -r '^--[^=]*=' -- $words[-1])
    for line in ($words[1] __complete $words[2..] 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path $current
            case :folders
                __fish_complete_directories $current ''
            case '*'
                echo "$option$line"
        end
    end
end
complete -c kiln -f -a '(__kiln_complete)'
)fish";

constexpr std::array<std::pair<const char*, const char*>, 3> kScripts = {
    {{"bash", kBash}, {"zsh", kZsh}, {"fish", kFish}}};

void propose_values(const ArgumentText& argument, Proposals& proposals) {
  for (const std::string& word : argument.words) proposals.words.push_back({word, ""});
  proposals.files |= argument.placeholder == "FILE";
  proposals.folders |= argument.placeholder == "DIR" || argument.placeholder == "KERNEL";
}

const ArgumentText* option_of(const CommandText& command, std::string_view name) {
  for (const ArgumentText& option : command.options) {
    if (std::find(option.names.begin(), option.names.end(), name) != option.names.end())
      return &option;
  }
  return nullptr;
}

/// What the words before the last one leave to be said.
struct Place {
  const CommandText* command = nullptr;
  const ArgumentText* awaited = nullptr;  ///< the option whose value comes next
  std::size_t unnamed = 0;                ///< words without a name so far
};

Place place_after(const CommandText& root, const std::vector<std::string>& words,
                  std::size_t first) {
  Place place{&root, nullptr, 0};
  for (std::size_t i = first; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (place.awaited != nullptr) {
      place.awaited = nullptr;
    } else if (word.starts_with("-")) {
      const ArgumentText* option = option_of(*place.command, word);
      if (option != nullptr && !option->placeholder.empty()) place.awaited = option;
    } else {
      const auto& below = place.command->subcommands;
      const auto found = std::find_if(below.begin(), below.end(),
                                      [&](const auto& each) { return last_word(each) == word; });
      if (found != below.end()) {
        place.command = &*found;
      } else {
        ++place.unnamed;
      }
    }
  }
  return place;
}

void propose_commands(const CommandText& command, Proposals& proposals) {
  for (const CommandText& each : command.subcommands)
    proposals.words.push_back({last_word(each), short_summary(each.summary)});
}

void propose_options(const CommandText& command, Proposals& proposals) {
  for (const ArgumentText& option : command.options) {
    for (const std::string& name : option.names)
      proposals.words.push_back({name, short_summary(option.summary)});
  }
}

}  // namespace

Proposals proposals_for(const CommandText& root, const std::vector<std::string>& words) {
  Proposals proposals;
  const std::string last = words.empty() ? "" : words.back();
  const bool asks_help = words.size() > 1 && words.front() == "help";
  const Place place = place_after(root, words, asks_help ? 1 : 0);
  const std::size_t equals = last.starts_with("--") ? last.find('=') : std::string::npos;
  if (asks_help) {
    propose_commands(*place.command, proposals);
  } else if (place.awaited != nullptr) {
    propose_values(*place.awaited, proposals);
  } else if (equals != std::string::npos) {
    if (const ArgumentText* option = option_of(*place.command, last.substr(0, equals)))
      propose_values(*option, proposals);
  } else if (last.starts_with("-")) {
    propose_options(*place.command, proposals);
  } else {
    propose_commands(*place.command, proposals);
    if (place.command == &root) {
      for (const ExtraWord& extra : extra_words())
        proposals.words.push_back({extra.name, extra.summary});
    }
    const auto& unnamed = place.command->unnamed;
    if (!unnamed.empty() && (place.unnamed < unnamed.size() || unnamed.back().repeats))
      propose_values(unnamed[std::min(place.unnamed, unnamed.size() - 1)], proposals);
    if (proposals.words.empty() && !proposals.files && !proposals.folders && last.empty())
      propose_options(*place.command, proposals);
  }
  return proposals;
}

void print_proposals(const CLI::App& app, const std::vector<std::string>& words) {
  const Proposals proposals = proposals_for(command_texts(app), words);
  for (const auto& [text, summary] : proposals.words) print_shown("{}\t{}\n", text, summary);
  if (proposals.files) print_shown(":files\n");
  if (proposals.folders && !proposals.files) print_shown(":folders\n");
}

std::vector<std::string> completed_shells() {
  std::vector<std::string> names;
  for (const auto& [name, script] : kScripts) names.emplace_back(name);
  return names;
}

void add_completion_command(CLI::App& app, Work& work) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("completion", "Print the script that completes kiln's words in a shell");
  const std::vector<std::string> names = completed_shells();
  command->add_option("shell", *shell, fmt::format("One of {}", fmt::join(names, ", ")))
      ->required()
      ->type_name("SHELL")
      ->check(one_of("completion for the shell", names));
  command->footer(
      "Packages install the scripts. Without a package, for the present session:\n"
      "  source <(kiln completion bash)\n"
      "  source <(kiln completion zsh)    # after compinit\n"
      "  kiln completion fish | source");
  command->callback([shell, &work] {
    work = [shell] {
      for (const auto& [name, script] : kScripts) {
        if (name == *shell) print_data(script);
      }
      return ExitCode::ok;
    };
  });
}

}  // namespace kiln::cli

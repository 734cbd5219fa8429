// SPDX-License-Identifier: Apache-2.0
#include "cli/command_texts.hpp"

#include <algorithm>
#include <sstream>

#include <CLI/CLI.hpp>

#include "backends/backend.hpp"
#include "cli/completion.hpp"
#include "cli/help_text.hpp"
#include "cli/show/show.hpp"
#include "cli/text_layout.hpp"
#include "core/metrics.hpp"
#include "search/strategy.hpp"
#include "templates/library.hpp"

namespace kiln::cli {
namespace {

constexpr std::size_t kSummaryColumns = 100;

std::vector<std::string> strategy_names() {
  std::vector<std::string> names;
  for (const StrategyInfo& info : strategies()) names.push_back(info.name);
  return names;
}

std::vector<std::string> backend_words() {
  return {backend_names().begin(), backend_names().end()};
}

/// The words of "NAME:{wisdom,t4}", which is how the parser shows a choice.
std::vector<std::string> choice_words(const std::string& type) {
  const std::size_t open = type.find(":{");
  if (open == std::string::npos || !type.ends_with("}")) return {};
  std::istringstream choices(type.substr(open + 2, type.size() - open - 3));
  std::vector<std::string> words;
  for (std::string word; std::getline(choices, word, ',');) words.push_back(word);
  return words;
}

/// What may stand where the help shows `placeholder`.
std::vector<std::string> known_words(const std::string& placeholder, const CLI::App& root) {
  if (placeholder == "KERNEL") return KernelLibrary().names();
  if (placeholder == "STRATEGY") return strategy_names();
  if (placeholder == "BACKEND") return backend_words();
  if (placeholder == "COLUMN") return trial_columns();
  if (placeholder == "OBJECTIVE")
    return {std::string(kTimeObjective), std::string(kEnergyObjective)};
  if (placeholder == "SESSION") return {"latest"};
  if (placeholder == "SHELL") return completed_shells();
  std::vector<std::string> words;
  if (placeholder == "DEVICE") {
    words = backend_words();
    words.insert(words.begin(), "auto");
  }
  if (placeholder == "COMMAND") {
    for (const CLI::App* each : root.get_subcommands([](const CLI::App*) { return true; }))
      if (!each->get_group().empty()) words.push_back(each->get_name());
  }
  return words;
}

ArgumentText argument_text(const CLI::Option& option, const CLI::App& root) {
  ArgumentText text;
  for (const std::string& name : option.get_snames()) text.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) text.names.push_back("--" + name);
  if (text.names.empty()) text.names.push_back(option.get_name(true));
  if (option.get_type_size() != 0) {
    const std::string type = option.get_type_name();
    text.placeholder = type.substr(0, type.find(':'));
    text.words = choice_words(type);
    if (text.words.empty()) text.words = known_words(text.placeholder, root);
    text.fallback = option.get_default_str();
    text.repeats = option.get_expected_max() >= CLI::detail::expected_max_vector_size;
  }
  text.summary = option.get_description();
  text.group = option.get_group();
  text.required = option.get_required();
  return text;
}

CommandText texts_of(const CLI::App& app, const CLI::App& root, const std::string& path) {
  CommandText text;
  text.path = path;
  text.summary = app.get_description();
  text.footer = app.get_footer();
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    if (option == app.get_help_all_ptr() && !has_more_options(app)) continue;
    (option->get_positional() ? text.unnamed : text.options)
        .push_back(argument_text(*option, root));
  }
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (each->get_group().empty()) continue;
    const std::string below = path.empty() ? each->get_name() : path + " " + each->get_name();
    text.subcommands.push_back(texts_of(*each, root, below));
  }
  return text;
}

}  // namespace

const std::vector<ExtraWord>& extra_words() {
  static const std::vector<ExtraWord> words = {{"help", "Print the help of a command"},
                                               {"version", "Print the version"}};
  return words;
}

CommandText command_texts(const CLI::App& app) { return texts_of(app, app, ""); }

std::vector<const CommandText*> all_commands(const CommandText& root) {
  std::vector<const CommandText*> all = {&root};
  for (const CommandText& each : root.subcommands) {
    const std::vector<const CommandText*> below = all_commands(each);
    all.insert(all.end(), below.begin(), below.end());
  }
  return all;
}

std::string last_word(const CommandText& command) {
  return command.path.substr(command.path.rfind(' ') + 1);
}

std::string short_summary(const std::string& summary) {
  std::string line = summary.substr(0, summary.find(":\n"));
  std::replace(line.begin(), line.end(), '\n', ' ');
  return cut_to(line, kSummaryColumns);
}

}  // namespace kiln::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/trust.hpp"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/print.hpp"
#include "core/command_spec.hpp"
#include "core/errors.hpp"
#include "core/hash.hpp"
#include "core/input_file.hpp"
#include "core/json_line.hpp"
#include "core/outside_reference.hpp"
#include "db/file_system.hpp"
#include "db/store.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kContentKey = "content";
constexpr const char* kFolderKey = "folder";

/// What would run on the host, a line each; empty: nothing.
std::vector<std::string> host_code(const KernelSpec& spec) {
  std::vector<std::string> lines;
  if (spec.command) {
    for (const TextPattern& line : spec.command->build) lines.push_back("build: " + line.text());
    lines.push_back("run: " + spec.command->run.text());
    if (spec.command->check) lines.push_back("check: " + spec.command->check->text());
    if (spec.command->reference) lines.push_back("reference: " + spec.command->reference->text());
    for (const auto& [name, value] : spec.command->environment)
      lines.push_back(fmt::format("environment: {}={}", name, value.text()));
  }
  if (spec.verify.outside && spec.verify.outside->function) {
    const OutsideFunction& function = *spec.verify.outside->function;
    lines.push_back(fmt::format("{}: {}, and its function '{}' called", function.file,
                                is_python(function.file) ? "run by python3" : "compiled",
                                function.name));
  }
  return lines;
}

fs::path spec_folder(const KernelSpec& spec) {
  std::error_code error;
  const fs::path file = fs::canonical(spec.path, error);
  return error ? fs::path() : file.parent_path();
}

bool is_below(const fs::path& folder, const std::string& parent) {
  std::error_code error;
  const fs::path real = fs::canonical(parent, error);
  if (error) return false;
  const auto [end, rest] = std::mismatch(real.begin(), real.end(), folder.begin(), folder.end());
  return end == real.end();
}

/// Databases lie where they like, and change.
bool is_database_file(const fs::path& path) {
  const std::string name = path.filename().string();
  return is_sqlite_file(path) || name.ends_with("-wal") || name.ends_with("-shm") ||
         name.ends_with(".writer");
}

/// Of all files of the folder: what runs may read any of them. Empty: it is too large to know.
std::string content_of(const fs::path& folder) {
  constexpr std::size_t kMostFiles = 1000;
  constexpr std::size_t kMostBytes = 64 * kMiB;
  std::map<std::string, std::string> hashes;
  std::size_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; entry != end && !error;
       entry.increment(error)) {
    if (!entry->is_regular_file(error) || is_database_file(entry->path())) continue;
    bytes += static_cast<std::size_t>(entry->file_size(error));
    if (error || bytes > kMostBytes || hashes.size() == kMostFiles) return "";
    hashes[entry->path().lexically_relative(folder).string()] =
        hash128_hex(read_input(entry->path(), {"", kMostBytes}));
  }
  if (error) return "";
  std::string text;
  for (const auto& [name, hash] : hashes) text += hash + ' ' + name + '\n';
  return hash128_hex(text);
}

/// In the user's data folder; empty: there is none.
fs::path trust_file() {
  const fs::path database = default_database_file();
  return database.empty() ? fs::path() : database.parent_path() / "trusted.jsonl";
}

bool is_remembered(const char* key, const std::string& value) {
  std::error_code error;
  const fs::path file = trust_file();
  if (value.empty() || file.empty() || !fs::exists(file, error)) return false;
  bool found = false;
  // A line that cannot be read grants nothing.
  (void)read_json_lines(
      read_input(file, {"answers about folders", 16 * kMiB}), file.string(), [&](const Json& json) {
        const auto known = json.find(key);
        found = found ||
                (json.is_object() && known != json.end() && known->is_string() && *known == value);
      });
  return found;
}

void remember(const char* key, const std::string& value) {
  const fs::path file = trust_file();
  if (value.empty() || file.empty() || append_json_line(file, {{key, value}})) return;
  print_shown(stderr, "kiln: warning: {}: cannot be written; you will be asked again\n",
              file.string());
}

bool agrees(const fs::path& folder, const std::vector<std::string>& code) {
  print_shown(stderr, "{} would run on this machine, with your rights:\n", folder.string());
  for (const std::string& line : code) print_shown(stderr, "  {}\n", line);
  print_shown(stderr, "Run it, now and whenever the folder holds just this? [y/N] ");
  std::fflush(stderr);
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace

void add_trust_option(CLI::App& command, CommonOptions& options) {
  command.add_flag("--trust", options.trust,
                   "Run the [command] lines and the function of a spec without asking");
}

void require_trust(const KernelSpec& spec, const CommonOptions& options) {
  const std::vector<std::string> code = host_code(spec);
  const fs::path folder = spec_folder(spec);
  if (code.empty() || folder.empty() || options.trust) return;
  if (std::any_of(options.kernel_paths.begin(), options.kernel_paths.end(),
                  [&](const std::string& path) { return is_below(folder, path); })) {
    return;
  }
  if (is_remembered(kFolderKey, folder.string())) return;
  const std::string content = content_of(folder);
  if (is_remembered(kContentKey, content)) return;
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDERR_FILENO) == 0) {
    std::string list;
    for (const std::string& line : code) list += "\n  " + line;
    throw UsageError(
        fmt::format("{} runs code of its own on this machine; read it, then allow it with --trust "
                    "or answer once in a terminal:{}",
                    folder.string(), list));
  }
  if (!agrees(folder, code)) throw UsageError(folder.string() + ": nothing of it was run");
  remember(kContentKey, content);
}

void trust_folder(const fs::path& folder) {
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  if (!error && !is_remembered(kFolderKey, real.string())) remember(kFolderKey, real.string());
}

}  // namespace kiln::cli

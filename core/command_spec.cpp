// SPDX-License-Identifier: Apache-2.0
#include "core/command_spec.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "core/shell_word.hpp"

namespace kiln {
namespace {

/// Several options of a command, as "-O3 -march=native": each word begins with '-'.
bool is_list_of_options(const std::string& text) {
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!word.starts_with('-') || shell_word(word) != word) return false;
  }
  return true;
}

// An empty text is no word: it adds nothing to the line. Options stay several words.
std::string word_of(const Value& value) {
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "1" : "0";
  const std::string text = to_text(value);
  return is_list_of_options(text) ? text : shell_word(text);
}

/// "model name" of Linux; empty elsewhere.
std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "";
}

}  // namespace

std::string_view name_of(CommandReader reader) {
  constexpr std::array<std::string_view, 4> kNames = {"last_line", "regex", "nvbench",
                                                      "google_benchmark"};
  return kNames[static_cast<std::size_t>(reader)];
}

std::string shell_text(const KernelSpec& spec, const TextPattern& line, const Scope& scope) {
  Scope all = scope;
  const std::filesystem::path folder = std::filesystem::path(spec.path).parent_path();
  all.set("folder",
          std::filesystem::absolute(folder.empty() ? "." : folder).lexically_normal().string());
  std::string text;
  for (const auto& [name, value] : spec.command->environment) {
    text += "export " + name + "=" + value.fill(all, word_of) + "\n";
  }
  return text + line.fill(all, word_of);
}

DeviceInfo command_device() {
  DeviceInfo device;
  device.backend = kCommandBackend;
  device.vendor = "host";
  utsname system{};
  ::uname(&system);
  device.architecture = system.machine;
  device.driver = std::string(system.sysname) + " " + system.release;
  device.name = processor();
  if (device.name.empty()) device.name = system.machine;
  device.compute_units = std::max(1U, std::thread::hardware_concurrency());
  device.is_cpu = true;
  device.has_f64 = true;
  return device;
}

}  // namespace kiln

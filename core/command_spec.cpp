// SPDX-License-Identifier: Apache-2.0
#include "core/command_spec.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <thread>

namespace kiln {
namespace {

/// `text` as one word of the shell.
std::string quoted(const std::string& text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_./+-=:,").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (plain) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string word_of(const Value& value) {
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "1" : "0";
  return quoted(to_text(value));
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

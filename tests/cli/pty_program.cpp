// SPDX-License-Identifier: Apache-2.0
#include "pty_program.hpp"

#include <pty.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

namespace kiln::cli {
namespace {

[[noreturn]] void become_kiln_in_terminal(const std::filesystem::path& folder, const Words& words,
                                          const Environment& environment) {
  for (const char* name :
       {"KILN_DB", "KILN_CACHE", "XDG_DATA_HOME", "NO_COLOR", "COLUMNS", "LC_ALL", "LC_CTYPE"})
    ::unsetenv(name);
  ::setenv("HOME", folder.c_str(), 1);
  ::setenv("XDG_CACHE_HOME", KILN_TEST_CACHE, 1);
  ::setenv("TERM", "xterm-256color", 1);
  ::setenv("LANG", "C.UTF-8", 1);
  for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> arguments = {const_cast<char*>("kiln")};
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  if (::chdir(folder.c_str()) == 0) ::execv(KILN_PROGRAM, arguments.data());
  ::_exit(127);
}

/// Without colour codes and carriage returns.
std::string plain(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r') continue;
    if (text[i] == '\x1b') {
      while (i < text.size() && text[i] != 'm' && text[i] != 'K') ++i;
      continue;
    }
    out += text[i];
  }
  return out;
}

std::vector<std::string> split(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  for (std::size_t end = text.find(separator); end != std::string::npos;
       end = text.find(separator, start)) {
    parts.push_back(text.substr(start, end - start));
    start = end + separator.size();
  }
  parts.push_back(text.substr(start));
  return parts;
}

constexpr const char* kRedraw = "\r\x1b[K";

}  // namespace

std::vector<std::string> TerminalOutput::lines() const {
  std::vector<std::string> lines;
  for (const std::string& line : split(raw, "\n"))
    lines.push_back(plain(split(line, kRedraw).back()));
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

std::vector<std::string> TerminalOutput::drawn() const {
  std::vector<std::string> texts;
  for (const std::string& line : split(raw, "\n")) {
    for (const std::string& text : split(line, kRedraw)) texts.push_back(plain(text));
  }
  return texts;
}

TerminalOutput run_on_terminal(const std::filesystem::path& folder, const TerminalSize& size,
                               const Words& words, const Environment& environment,
                               const std::string& typed) {
  winsize window{size.rows, size.columns, 0, 0};
  int terminal = -1;
  const pid_t process = ::forkpty(&terminal, nullptr, nullptr, &window);
  if (process == 0) become_kiln_in_terminal(folder, words, environment);
  TerminalOutput output;
  if (process < 0) return output;
  if (!typed.empty() && ::write(terminal, typed.data(), typed.size()) < 0) return output;
  std::array<char, 4096> buffer{};
  // The end of the other side is an error (EIO) here.
  for (ssize_t count = 0; (count = ::read(terminal, buffer.data(), buffer.size())) > 0;)
    output.raw.append(buffer.data(), static_cast<std::size_t>(count));
  int status = 0;
  ::waitpid(process, &status, 0);
  ::close(terminal);
  output.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return output;
}

}  // namespace kiln::cli

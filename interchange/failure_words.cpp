// SPDX-License-Identifier: Apache-2.0
#include "interchange/failure_words.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "interchange/words.hpp"

namespace kiln::interchange {
namespace {

// Bare words, without what all of them share ("config", "failed", "error").
constexpr std::array<std::pair<std::string_view, Outcome>, 52> kFailureWords = {{
    {"correct", Outcome::ok},
    {"ok", Outcome::ok},
    {"none", Outcome::ok},
    {"valid", Outcome::ok},
    {"success", Outcome::ok},
    {"compilation", Outcome::compile_error},
    {"compile", Outcome::compile_error},
    {"compiler", Outcome::compile_error},
    {"build", Outcome::compile_error},
    {"compilationtimeout", Outcome::compile_timeout},
    {"compiletimeout", Outcome::compile_timeout},
    {"compilecrash", Outcome::compile_crash},
    {"compilationcrash", Outcome::compile_crash},
    {"runtime", Outcome::launch_error},
    {"run", Outcome::launch_error},
    {"launch", Outcome::launch_error},
    {"computation", Outcome::launch_error},
    {"execution", Outcome::launch_error},
    {"resources", Outcome::launch_error},
    {"outofresources", Outcome::launch_error},
    {"invalid", Outcome::constraint},
    {"constraint", Outcome::constraint},
    {"constraints", Outcome::constraint},
    {"restriction", Outcome::constraint},
    {"restrictions", Outcome::constraint},
    {"invalidconfiguration", Outcome::constraint},
    {"devicelimitsexceeded", Outcome::constraint},
    {"outofmemory", Outcome::out_of_memory},
    {"oom", Outcome::out_of_memory},
    {"memory", Outcome::out_of_memory},
    {"memoryallocation", Outcome::out_of_memory},
    {"timeout", Outcome::run_timeout},
    {"timedout", Outcome::run_timeout},
    {"runtimeout", Outcome::run_timeout},
    {"runtimetimeout", Outcome::run_timeout},
    {"executiontimeout", Outcome::run_timeout},
    {"correctness", Outcome::wrong_result},
    {"incorrect", Outcome::wrong_result},
    {"wrong", Outcome::wrong_result},
    {"wrongresult", Outcome::wrong_result},
    {"wronganswer", Outcome::wrong_result},
    {"verification", Outcome::wrong_result},
    {"validation", Outcome::wrong_result},
    {"crash", Outcome::device_fault},
    {"crashed", Outcome::device_fault},
    {"segfault", Outcome::device_fault},
    {"segmentationfault", Outcome::device_fault},
    {"illegaladdress", Outcome::device_fault},
    {"illegalmemoryaccess", Outcome::device_fault},
    {"memoryfault", Outcome::device_fault},
    {"devicefault", Outcome::device_fault},
    {"device", Outcome::device_fault},
}};

void erase_all(std::string& text, std::string_view part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part)) {
    text.erase(at, part.size());
  }
}

}  // namespace

std::optional<Outcome> outcome_of_word(std::string_view word) {
  if (const auto own = parse_outcome(word)) return own;
  std::string bare = bare_word(word);
  for (const std::string_view shared :
       {"configuration", "config", "failed", "failure", "errors", "error", "exception"}) {
    if (bare.size() > shared.size()) erase_all(bare, shared);
  }
  const auto* const known = std::find_if(kFailureWords.begin(), kFailureWords.end(),
                                         [&](const auto& entry) { return entry.first == bare; });
  if (known == kFailureWords.end()) return std::nullopt;
  return known->second;
}

}  // namespace kiln::interchange

// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/targets.hpp"

#include <algorithm>
#include <array>

namespace kiln::fuzz {
namespace {

constexpr std::array kTargets = {
    Target{"spec", "a spec.toml", run_spec, spec_seeds},
    Target{"template", "a template of a kernel", run_template, template_seeds},
    Target{"source", "a plain source of a kernel", run_source, source_seeds},
    Target{"plan", "a plan file", run_plan, plan_seeds},
    Target{"text", "problem, config, expression and formula texts", run_text, text_seeds},
    Target{"wisdom", "a wisdom file", run_wisdom, wisdom_seeds},
    Target{"calls", "a file of an application's calls", run_calls, calls_seeds},
    Target{"npy", "an array in a .npy file", run_npy, npy_seeds},
    Target{"interchange", "recorded trials and spaces of other tuners", run_interchange,
           interchange_seeds},
    Target{"database", "a database file that a launcher opens", run_database, database_seeds},
    Target{"rows", "changes to the rows of a database that every command reads", run_rows,
           rows_seeds},
    Target{"messages", "what a worker sends", run_messages, messages_seeds},
    Target{"server", "jobs and errors of a server", run_server, server_seeds},
    Target{"terminal", "a text that is printed", run_terminal, terminal_seeds},
};

}  // namespace

std::span<const Target> targets() { return kTargets; }

const Target* find_target(std::string_view name) {
  const auto* found = std::find_if(kTargets.begin(), kTargets.end(),
                                   [&](const Target& target) { return target.name == name; });
  return found == kTargets.end() ? nullptr : found;
}

}  // namespace kiln::fuzz

// SPDX-License-Identifier: Apache-2.0
#include "cli/best_list.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "cli/finals.hpp"
#include "cli/table.hpp"
#include "cli/text_layout.hpp"
#include "cli/units.hpp"
#include "core/errors.hpp"
#include "core/problem.hpp"
#include "db/stored_problem.hpp"
#include "wisdom/shipped.hpp"

namespace kiln::cli {
namespace {

std::string problem_text(const KernelSpec& spec, const BestRecord& best) {
  try {
    return Problem::make(spec, stored_fields(best.problem_json, best.session)).short_text(spec);
  } catch (const Error&) {
    return best.key.problem;  // of an older spec
  }
}

}  // namespace

std::string best_list(const KernelSpec& spec, const std::vector<BestRecord>& bests,
                      const Screen& screen) {
  std::vector<const BestRecord*> own;
  std::map<std::string, std::int64_t> shipped;
  for (const BestRecord& best : bests) {
    if (best.layer == kShippedLayer) {
      ++shipped[best.device_info.name];
    } else {
      own.push_back(&best);
    }
  }
  std::stable_sort(own.begin(), own.end(), [](const BestRecord* a, const BestRecord* b) {
    return a->published_at > b->published_at;
  });
  Table table({{"problem"},
               {"best", Table::Align::right},
               {"speed-up", Table::Align::right},
               {"verdict"},
               {"device"}});
  for (const BestRecord* best : own) {
    const std::string timed = best->key.timing == Timing::graph ? " (in a graph)" : "";
    table.add_row({problem_text(spec, *best) + timed, pretty_time(best->time_ns),
                   pretty_speedup(best->default_time_ns, best->time_ns),
                   verdict_text(*best, screen), best->device_info.name},
                  {best->config.text()});
  }
  std::string out = table.empty() ? paragraph(spec.name + ": nothing in the database", screen.width)
                                  : table.text(screen.width);
  for (const auto& [device, count] : shipped) {
    out += paragraph(fmt::format("shipped with Kiln: {} on {}", counted(count, "problem"), device),
                     screen.width);
  }
  return out +
         paragraph(fmt::format("one problem: kiln best {} --problem ...", spec.name), screen.width);
}

}  // namespace kiln::cli

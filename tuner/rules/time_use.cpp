// Writes where the time of a search went.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/rules/time_use.hpp"

#include <fmt/format.h>

namespace kiln {
namespace {

double per_cent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

}  // namespace

std::vector<std::string> lines_of(const TimeUse& use) {
  const auto share = [&](double part) { return per_cent(part, use.search); };
  const double workers = static_cast<double>(use.compile_workers);
  return {fmt::format(
              "device: busy {:.1f}% of {:.1f} s (verify {:.1f}%, measure {:.1f}%), preparing the "
              "problem {:.1f}%, without a binary {:.1f}%, waiting for the supervisor {:.1f}%",
              share(use.device), use.search, share(use.verify), share(use.measure),
              share(use.prepare), share(use.device_no_binary), share(use.device_supervisor)),
          fmt::format("compilers: {} of them busy {:.1f}%", use.compile_workers,
                      per_cent(use.compile, use.search * workers)),
          fmt::format("supervisor: asks the strategy {:.1f}%, renders {:.1f}%, stores {:.1f}%, "
                      "tells the strategy {:.1f}%",
                      share(use.ask), share(use.render), share(use.store), share(use.tell)),
          fmt::format("runs of the configs that were ok: {:.2g} times as long as 32 runs of each",
                      use.gpu_plain > 0 ? use.gpu_runs / use.gpu_plain : 0)};
}

}  // namespace kiln

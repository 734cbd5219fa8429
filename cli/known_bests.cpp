// SPDX-License-Identifier: Apache-2.0
#include "cli/known_bests.hpp"

#include <utility>

#include "core/metrics.hpp"
#include "db/server_place.hpp"
#include "wisdom/shipped.hpp"

namespace kiln::cli {

std::optional<Store> open_rows(const RowSources& sources) {
  if (!sources.must_exist && !may_exist(sources.database)) return std::nullopt;
  return Store(sources.database, Store::Mode::read);
}

std::vector<BestRecord> known_bests(const RowSources& sources, const std::optional<Store>& database,
                                    const std::string& kernel, const std::string& objective) {
  std::vector<BestRecord> bests;
  if (database) bests = database->bests(kernel, objective);
  if (!sources.shipped || objective != kTimeObjective) return bests;
  for (BestRecord& best : shipped_bests(kernel)) bests.push_back(std::move(best));
  return bests;
}

}  // namespace kiln::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/known_bests.hpp"

#include <cstdlib>
#include <utility>

#include "cli/print.hpp"
#include "core/metrics.hpp"
#include "db/server/server_place.hpp"
#include "wisdom/shipped.hpp"

namespace kiln::cli {

bool exists_or_warn(const std::filesystem::path& database) {
  if (may_exist(database)) return true;
  const char* const named = std::getenv("KILN_DB");
  if (named != nullptr && database == named) {
    print_shown(stderr, "kiln: warning: {}: there is no such database, though KILN_DB names it\n",
                database.string());
  }
  return false;
}

std::optional<Store> open_rows(const RowSources& sources) {
  if (!sources.must_exist && !exists_or_warn(sources.database)) return std::nullopt;
  return Store(sources.database, Store::Mode::read);
}

std::vector<BestRecord> known_bests(const RowSources& sources, const std::optional<Store>& database,
                                    const std::string& kernel, const std::string& objective) {
  std::vector<BestRecord> bests;
  if (database) bests = database->bests(kernel, objective);
  if (!sources.shipped || objective != kTimeObjective) return bests;
  for (BestRecord& best : shipped_bests(kernel)) {
    if (!database || !database->refuses(best)) bests.push_back(std::move(best));
  }
  return bests;
}

}  // namespace kiln::cli

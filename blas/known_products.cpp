// SPDX-License-Identifier: Apache-2.0
#include "blas/known_products.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "core/errors.hpp"
#include "db/evidence.hpp"
#include "db/store.hpp"
#include "lookup/lookup.hpp"
#include "lookup/source_check.hpp"

namespace kiln::blas {
namespace {

/// Why the file must not decide what runs here; empty: it may.
std::string distrust(const std::filesystem::path& database) {
  struct stat facts {};
  if (database.empty()) return "there is no place for a database (KILN_DB, HOME)";
  if (::stat(database.c_str(), &facts) != 0)
    return database.string() + ": there is no such database";
  if (!S_ISREG(facts.st_mode)) return database.string() + ": is not a file";
  if (facts.st_uid != ::geteuid()) return database.string() + ": belongs to another user";
  if ((facts.st_mode & S_IWOTH) != 0) return database.string() + ": others may write it";
  return "";
}

}  // namespace

KnownProducts read_known_products(const std::filesystem::path& database, const KernelSpec& matmul,
                                  const DeviceInfo& device, std::string& why_none) {
  KnownProducts known;
  why_none = distrust(database);
  if (!why_none.empty()) return known;
  try {
    const KernelIdentity identity(matmul);
    SourceCheck sources(matmul);
    const std::string name = identity_of(device);
    for (const BestRecord& best : Store(database, Store::Mode::read).bests(matmul.name)) {
      if (best.key.device != name || best.key.driver != device.driver ||
          best.key.timing != Timing::eager || !identity.has(best)) {
        continue;
      }
      const std::optional<Evidence::Rival> rival = read_evidence(best.evidence).rival;
      if (!rival || rival->verdict != name_of(RivalVerdict::faster) ||
          !sources.change_in(best).empty()) {
        continue;
      }
      known[best.key.problem] = {best.config, rival->library};
    }
  } catch (const Error& error) {
    why_none = error.what();
    known.clear();
  }
  return known;
}

}  // namespace kiln::blas

// The input is the database file. A launcher must give the default config or a tuned one and at
// most one typed warning; everything else that Kiln does with a database may end with a
// DatabaseError.
// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include <kiln/launcher.hpp>

#include "core/errors.hpp"
#include "db/merge.hpp"
#include "db/store.hpp"
#include "lookup/lookup.hpp"
#include "templates/library.hpp"
#include "tests/db/scratch.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/reliability/size.hpp"

namespace kiln::fuzz {
namespace {

namespace fs = std::filesystem;

Problem reduce_problem(const KernelSpec& spec) {
  return Problem::make(spec, {{"n", std::int64_t{100'000}}});
}

std::string bytes_of_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void ask_database(const KernelSpec& spec, const fs::path& path) {
  std::vector<BestRecord> bests;
  try {
    bests = Store(path, Store::Mode::read).bests();
  } catch (const DatabaseError&) {
    // As a launcher: a warning, and the lookup goes on without.
  }
  const DeviceInfo device = test::some_device();
  if (!lookup({spec, reduce_problem(spec), device}, bests)) {
    throw std::logic_error("no config for a problem that the default fits");
  }
}

template <typename Work>
void may_refuse(Work&& work) {
  try {
    work();
  } catch (const DatabaseError&) {
    // One clear sentence is what a damaged file gets.
  }
}

// The launcher itself, on the CPU; once in a while, for it takes longer.
void ask_launcher(const fs::path& path) {
  Launcher::Options options = Launcher::Options::on_device("opencl");
  options.databases = {path.string()};
  options.use_cache = false;
  const Expected<Launcher> launcher = Launcher::open(options);
  if (!launcher) {
    if (launcher.error().code == LaunchErrorCode::no_device) return;
    throw std::logic_error("the launcher does not open: " + launcher.error().message);
  }
  if (launcher->warnings().size() > 1) throw std::logic_error("more than one warning");
  const auto match = launcher->select("reduce", "n=100000");
  if (!match) throw std::logic_error("no config: " + match.error().message);
  if (!launcher->warnings().empty() &&
      (launcher->warnings()[0].kind != Launcher::Warning::Kind::database_unusable ||
       (*match)->grade != Launcher::Grade::fallback)) {
    throw std::logic_error("not the default config behind a typed warning");
  }
}

}  // namespace

void run_database(std::string_view input) {
  static const KernelSpec kSpec = KernelLibrary().load("reduce");
  static const test::MemoryFolder kFolder;
  static int runs = 0;
  const fs::path path = kFolder / "kiln.db";
  for (const auto& entry : fs::directory_iterator(kFolder.path())) fs::remove(entry.path());
  std::ofstream(path, std::ios::binary)
      .write(input.data(), static_cast<std::streamsize>(input.size()));

  ask_database(kSpec, path);
  if (++runs % 16 == 1) ask_launcher(path);
  may_refuse([&] { static_cast<void>(Store(path, Store::Mode::read).check()); });
  may_refuse([&] { static_cast<void>(Store(path, Store::Mode::read).info()); });
  may_refuse([&] {
    const Store store(path, Store::Mode::immutable);
    for (const SessionRecord& session : store.sessions()) {
      static_cast<void>(store.trials(session.id));
    }
  });
  may_refuse([&] { dump_database(path, [](const std::string&) {}); });
  may_refuse([&] {
    Store store(path, Store::Mode::write);
    store.append(store.begin_session(test::some_session()), 1, test::some_trial(1));
  });
}

std::vector<std::string> database_seeds() {
  const test::MemoryFolder folder;
  const fs::path path = folder / "kiln.db";
  std::vector<std::string> seeds;
  const KernelSpec spec = KernelLibrary().load("reduce");
  {
    Store store(path, Store::Mode::write);
    SessionRecord session = test::some_session(reduce_problem(spec).text());
    session.key.kernel = "reduce";
    session.started_at = "2026-01-05T10:00:00Z";
    for (std::int64_t i = 1; i <= 3; ++i) {
      session.key.seed = static_cast<std::uint64_t>(i);
      const SessionId id = store.begin_session(session);
      for (std::int64_t trial = 1; trial <= 4 * i; ++trial) {
        store.append(id, trial, test::some_trial(trial));
      }
      store.finish(id, SessionState::finished, 1, test::some_best(1));
    }
  }
  seeds.push_back(bytes_of_file(path));
  { const Store empty(folder / "empty.db", Store::Mode::write); }
  seeds.push_back(bytes_of_file(folder / "empty.db"));
  for (std::string& text : corpus("database")) seeds.push_back(std::move(text));
  return seeds;
}

}  // namespace kiln::fuzz

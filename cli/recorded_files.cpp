// SPDX-License-Identifier: Apache-2.0
#include "cli/recorded_files.hpp"

#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <memory>
#include <new>

#include <fmt/format.h>

#include "core/errors.hpp"
#include "core/input_file.hpp"
#include "db/file_system.hpp"
#include "db/store.hpp"
#include "interchange/recorded_trials.hpp"

namespace kiln::cli {
namespace {

constexpr FileKind kRecorded = {"results of a tuner", 256 * kMiB};  // also unpacked

struct CloseGzip {
  void operator()(gzFile file) const { gzclose(file); }
};

std::vector<RecordedSpace> read_database(const std::string& path) {
  const Store store(path, Store::Mode::read);
  std::vector<RecordedSpace> spaces;
  for (const SessionRecord& session : store.sessions()) {
    std::vector<Trial> trials;
    for (TrialRecord& record : store.trials(session.id)) trials.push_back(std::move(record.trial));
    try {
      spaces.push_back(recorded_space(
          fmt::format("{} session {}", std::filesystem::path(path).filename().string(), session.id),
          trials));
    } catch (const InputError&) {
      continue;  // too few trials to search in
    }
  }
  if (!spaces.empty()) return spaces;
  throw InputError({path, 0, 0},
                   "expected a session with at least two configs that ran, with different times");
}

}  // namespace

std::string read_maybe_gzip(const std::string& path) {
  if (is_sqlite_file(path))
    throw InputError({path, 0, 0}, "is a database; expected text, `kiln db merge` takes databases");
  const int opened = open_input(path, kRecorded);
  const std::unique_ptr<gzFile_s, CloseGzip> file(gzdopen(opened, "rb"));
  if (!file) {
    ::close(opened);
    throw std::bad_alloc();
  }
  std::string text;
  std::vector<char> block(std::size_t{1} << 20);
  while (true) {
    const int count = gzread(file.get(), block.data(), static_cast<unsigned>(block.size()));
    int code = Z_OK;
    const char* const reason = gzerror(file.get(), &code);
    if (count < 0 || (count == 0 && code != Z_OK && code != Z_STREAM_END)) {
      throw InputError({path, 0, 0}, fmt::format("the gzip file is damaged: {}", reason));
    }
    if (count == 0) return text;
    text.append(block.data(), static_cast<std::size_t>(count));
    if (text.size() > kRecorded.most_bytes) {
      throw InputError({path, 0, 0},
                       fmt::format("holds more than {} of text, which is the most that is read",
                                   byte_limit_text(kRecorded.most_bytes)));
    }
  }
}

std::vector<RecordedSpace> read_recorded_file(const std::string& path,
                                              std::vector<std::string>* bad) {
  if (is_sqlite_file(path)) return read_database(path);
  const std::string text = read_maybe_gzip(path);
  const RecordedTrials recorded =
      bad != nullptr ? read_recorded_trials(text, path) : read_all_recorded_trials(text, path);
  if (bad != nullptr) bad->insert(bad->end(), recorded.bad.begin(), recorded.bad.end());
  std::vector<RecordedSpace> spaces;
  spaces.push_back(recorded_space(path, recorded));
  return spaces;
}

}  // namespace kiln::cli

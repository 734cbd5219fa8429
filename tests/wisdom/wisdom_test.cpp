// Wisdom: written, read, checked, locked, shipped.
// SPDX-License-Identifier: Apache-2.0
#include "wisdom/wisdom.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "core/json.hpp"
#include "db/close_configs.hpp"
#include "db/evidence.hpp"
#include "db/store.hpp"
#include "lookup/lookup.hpp"
#include "tests/db/scale.hpp"
#include "tests/support/error_of.hpp"
#include "wisdom/selection_lock.hpp"
#include "wisdom/shipped.hpp"
#include "wisdom/wisdom_check.hpp"

namespace kiln {
namespace {

using test::scale_best;
using test::some_device;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Wisdom, told as a story: bests leave one database as text and arrive in another; what strangers
// write on the way is refused by line.

constexpr const char* kEvidence =
    R"({"finalists":[{"config":"vector:block_size=64","sequence":1,"median_ns":1500.0,"samples_ns":[1400.0,1500.0,1600.0]},)"
    R"({"config":"vector:block_size=256","sequence":2,"median_ns":1000.0,"samples_ns":[990.0,1000.0]}]})";

class Wisdom : public ::testing::Test {
 protected:
  BestRecord best(const std::string& problem, std::int64_t block_size = 256) const {
    BestRecord record = scale_best(spec_, problem, block_size);
    record.evidence = kEvidence;
    return record;
  }

  /// The text of one best, with `from` replaced by `to` in it.
  std::string edited(const std::string& from, const std::string& to) const {
    std::string text = write_wisdom({{best("n=4096")}});
    const std::size_t place = text.find(from);
    EXPECT_NE(place, std::string::npos) << from;
    return text.replace(place, from.size(), to);
  }

  std::string fault_of(const std::string& from, const std::string& to) const {
    const WisdomText text = read_wisdom(edited(from, to), "w.jsonl");
    EXPECT_EQ(text.bad.size(), 1U) << text.entries.size() << " entries";
    return text.bad.empty() ? "" : text.bad.front();
  }

  KernelSpec spec_ = test::scale_spec();
};

TEST_F(Wisdom, OfAmdDevicesIsReadUnderTheNameThatOlderKilnsWrote) {
  BestRecord one = best("n=4096");
  one.device_info = device_for_architecture("hip", "gfx90a");
  one.key.device = identity_of(one.device_info);
  std::string text = write_wisdom({{one}});
  const std::string units = "/110 units";
  for (std::size_t at; (at = text.find(units)) != std::string::npos;) text.erase(at, units.size());
  const WisdomText read = read_wisdom(text, "w.jsonl");
  EXPECT_THAT(read.bad, ElementsAre());
  ASSERT_EQ(read.entries.size(), 1U);
  EXPECT_EQ(read.entries[0].best.key.device, "hip/amd/MI250X (made up)/gfx90a/110 units");
}

TEST_F(Wisdom, ReadsBackWhatItWrote) {
  BestRecord one = best("n=4096");
  BestRecord two = best("n=512 dtype=f64", 128);
  two.naive_time_ns = 12.5;
  two.key.timing = Timing::graph;
  const std::string text = write_wisdom({{one, two}});
  WisdomText read = read_wisdom(text, "w.jsonl");
  EXPECT_THAT(read.bad, ElementsAre());
  ASSERT_EQ(read.entries.size(), 2U);
  for (WisdomEntry& entry : read.entries) check_wisdom(spec_, entry.best);
  const BestRecord& first = read.entries[0].best;
  EXPECT_EQ(first.key, one.key);
  EXPECT_EQ(first.device_info, one.device_info);
  EXPECT_EQ(first.config, one.config);
  EXPECT_EQ(first.evidence, one.evidence);
  EXPECT_EQ(first.time_ns, 1000);
  EXPECT_EQ(first.verdict, Verdict::better);
  EXPECT_EQ(first.template_hash, one.template_hash);
  EXPECT_EQ(first.published_at, "2026-01-02T03:04:05Z");
  EXPECT_EQ(read.entries[0].where.line, 3);
  EXPECT_EQ(read.entries[1].best.naive_time_ns, 12.5);
  EXPECT_EQ(read.entries[1].best.key.timing, Timing::graph);
  EXPECT_EQ(write_wisdom({{read.entries[1].best, read.entries[0].best}}), text)
      << "the order of the rows does not show";
}

TEST_F(Wisdom, FilesThatWereJoinedAreWisdomToo) {
  const std::string text =
      write_wisdom({{best("n=4096")}}) + "\n" + write_wisdom({{best("n=8192")}});
  EXPECT_EQ(read_wisdom(text, "w.jsonl").entries.size(), 2U);
  EXPECT_THAT(read_wisdom(text, "w.jsonl").bad, ElementsAre());
}

TEST_F(Wisdom, ImportingTwiceIsImportingOnce) {
  const test::ScratchFolder folder;
  Store store(folder / "kiln.db", Store::Mode::write);
  const std::vector<FinishedSession> sessions = {imported_session(spec_, best("n=4096")),
                                                 imported_session(spec_, best("n=8192"))};
  EXPECT_EQ(store.add_sessions(sessions), 2U);
  EXPECT_EQ(store.add_sessions(sessions), 0U);
  EXPECT_THAT(store.check(), ElementsAre());
  EXPECT_EQ(store.bests().size(), 2U);
  EXPECT_EQ(write_wisdom(store.bests()), write_wisdom({{best("n=8192"), best("n=4096")}}));
}

TEST_F(Wisdom, AnOlderImportHidesNoNewerBest) {
  const test::ScratchFolder folder;
  Store store(folder / "kiln.db", Store::Mode::write);
  BestRecord older = best("n=4096", 64);
  older.published_at = "2020-01-01T00:00:00Z";
  ASSERT_EQ(store.add_sessions({imported_session(spec_, best("n=4096", 128))}), 1U);
  ASSERT_EQ(store.add_sessions({imported_session(spec_, older)}), 1U);
  ASSERT_EQ(store.bests().size(), 1U);
  EXPECT_EQ(store.bests()[0].published_at, "2026-01-02T03:04:05Z");
}

TEST_F(Wisdom, AnImportedSessionHoldsTheFinalistsAndAnswersNoTuning) {
  const test::ScratchFolder folder;
  Store store(folder / "kiln.db", Store::Mode::write);
  const BestRecord imported = best("n=4096");
  ASSERT_EQ(store.add_sessions({imported_session(spec_, imported)}), 1U);
  const SessionRecord session = store.sessions().at(0);
  EXPECT_EQ(session.state, SessionState::finished);
  EXPECT_EQ(session.finished_at, "2026-01-02T03:04:05Z");
  EXPECT_EQ(session.key.options, "cache=cold imported");
  EXPECT_FALSE(store.find_finished(imported.key));
  const std::vector<TrialRecord> trials = store.trials(session.id);
  ASSERT_EQ(trials.size(), 2U);
  EXPECT_EQ(trials[0].trial.config.text(), "vector:block_size=64");
  EXPECT_EQ(trials[1].trial.samples.ns, (std::vector<double>{990, 1000}));
}

TEST_F(Wisdom, AnImportOfManyIsAllOrNothing) {
  const test::ScratchFolder folder;
  Store store(folder / "kiln.db", Store::Mode::write);
  FinishedSession broken = imported_session(spec_, best("n=8192"));
  broken.trials.push_back(broken.trials.front());  // the table refuses the same config twice
  EXPECT_THROW((void)store.add_sessions({imported_session(spec_, best("n=4096")), broken}),
               DatabaseError);
  EXPECT_EQ(store.info().sessions, 0);
}

TEST_F(Wisdom, MistakesAreNamedByLineWithWhatWasExpected) {
  EXPECT_EQ(fault_of("\"time_ns\":1000.0", "\"time_ns\":-1"),
            "w.jsonl:3: key 'time_ns' must be a number of at least 0, not -1");
  EXPECT_EQ(fault_of("\"time_ns\":1000.0", "\"time_ns\":0"),
            "w.jsonl:3: key 'time_ns' must be a number above 0");
  EXPECT_EQ(fault_of("\"flops\":1000.0", "\"flops\":\"many\""),
            "w.jsonl:3: key 'flops' must be a number of at least 0, not string");
  EXPECT_EQ(fault_of("\"better\"", "\"best\""),
            "w.jsonl:3: key 'verdict' must be better, tie or unmeasurable, not 'best'");
  EXPECT_EQ(fault_of("\"better\"", "\"better\",\"timing\":\"cold\""),
            "w.jsonl:3: key 'timing' must be eager or graph, not 'cold'");
  EXPECT_THAT(fault_of("\"driver\":\"580.10\"", "\"drivers\":\"580.10\""),
              StartsWith("w.jsonl:3: there is no key 'drivers' here; did you mean 'driver'? "));
  EXPECT_EQ(fault_of("\"driver\":\"580.10\",\"compiler\"", "\"compiler\""),
            "w.jsonl:3: key 'driver' is missing; expected a text");
  EXPECT_EQ(fault_of("2026-01-02T03:04:05Z", "yesterday"),
            "w.jsonl:3: key 'published_at' must be a time in UTC like 2026-01-31T12:00:00Z, not "
            "'yesterday'");
  EXPECT_EQ(fault_of("\"seed\":\"18446744073709551615\"", "\"seed\":\"18446744073709551616\""),
            "w.jsonl:3: key 'seed' must be a whole number as a text, e.g. \"1\"");
  EXPECT_EQ(fault_of("\"n\":4096", "\"n\":[4096]"),
            "w.jsonl:3: 'n' in key 'problem' must be a number, a text or true or false");
  EXPECT_THAT(fault_of("\"n\":4096", "\"n\":NaN"), HasSubstr("(NaN is no JSON)"));
  EXPECT_EQ(fault_of("{\"kernel\"", "[\"kernel\""),
            "w.jsonl:3: this is no JSON from column 10 on (unexpected ':'; expected ']'); expected "
            "one object a line");
  EXPECT_THAT(
      read_wisdom(edited("\"Test GPU\",\"vendor\"", "\"GPU\",\"vendor\""), "w.jsonl").bad,
      ElementsAre("w.jsonl:2: the device is called 'cuda/nvidia/Test GPU/sm_90a', its info is that "
                  "of 'cuda/nvidia/GPU/sm_90a'",
                  "w.jsonl:3: nothing was said of the device 'cuda/nvidia/Test GPU/sm_90a'; "
                  "expected a line with its info before"));
}

TEST_F(Wisdom, ATextOfAnotherKindIsRefusedOnce) {
  EXPECT_THAT(read_wisdom("", "w.jsonl").bad,
              ElementsAre("w.jsonl: is empty; expected wisdom as `kiln db export` writes it"));
  EXPECT_THAT(read_wisdom("{\"a\":1}\n{\"a\":2}\n", "w.jsonl").bad,
              ElementsAre("w.jsonl:1: expected the header {\"kiln_wisdom\":1} first, as `kiln db "
                          "export` writes it"));
  const WisdomText newer = read_wisdom(edited("\"kiln_wisdom\":1", "\"kiln_wisdom\":2"), "w.jsonl");
  EXPECT_THAT(newer.bad, ElementsAre("w.jsonl:1: wisdom of version 2; this Kiln reads version 1"));
  EXPECT_TRUE(newer.entries.empty());
  const std::string deep(100000, '[');
  EXPECT_THAT(
      read_wisdom(deep, "w.jsonl").bad,
      ElementsAre("w.jsonl:1: this is no JSON from column 18 on (nested deeper than 16 levels); "
                  "expected one object a line"));
}

TEST_F(Wisdom, TheSpecHasTheLastWord) {
  const auto fault = [&](const std::string& from, const std::string& to) -> std::string {
    WisdomText text = read_wisdom(edited(from, to), "w.jsonl");
    EXPECT_THAT(text.bad, ElementsAre());
    try {
      check_wisdom(spec_, text.entries.at(0).best);
    } catch (const InputError& error) {
      return error.what();
    }
    return "sound";
  };
  EXPECT_THAT(fault("\"n\":4096", "\"n\":0"), HasSubstr("problem field 'n' of scale must be"));
  EXPECT_THAT(fault("\"n\":4096", "\"n\":100"),
              HasSubstr("the config vector:block_size=256 is not legal for n=100 dtype=f32 "
                        "stride=1 on cuda/nvidia/Test GPU/sm_90a: "));
  EXPECT_THAT(fault("\"block_size\":256", "\"block_size\":96"), HasSubstr("block_size"));
  EXPECT_THAT(fault("\"variant\":\"vector\"", "\"variant\":\"victor\""), HasSubstr("victor"));
  EXPECT_EQ(fault("\"template_hash\":\"", "\"template_hash\":\"0"), "sound") << "only stale";
}

TEST_F(Wisdom, ShippedBestsAreTheLastLayer) {
  BestRecord tuned = best("n=4096", 128);
  tuned.evidence = R"({"finalists":[],"close":[{"config":"a,\"evidence\":}","slowdown":1.5}]})";
  tuned.naive_time_ns = 7;
  const std::string text = write_wisdom({{tuned}});
  const std::vector<BestRecord> shipped = shipped_bests("scale", text, "device.jsonl");
  ASSERT_EQ(shipped.size(), 1U);
  EXPECT_EQ(shipped[0].layer, kShippedLayer);
  EXPECT_EQ(shipped[0].evidence, tuned.evidence);
  EXPECT_EQ(shipped[0].naive_time_ns, 7);
  EXPECT_TRUE(shipped_bests("reduce", text, "device.jsonl").empty());

  const Problem problem = Problem::parse(spec_, "n=4096");
  const auto chosen = [&](const std::vector<BestRecord>& rows) {
    return lookup({spec_, problem, test::some_device()}, rows)->config.text();
  };
  EXPECT_EQ(chosen({shipped[0]}), "vector:block_size=128");
  EXPECT_EQ(chosen({shipped[0], best("n=4096", 512)}), "vector:block_size=512");
}

// Selection locks: ranks with different drivers choose alike, and a lock that was tampered with
// says so.

class SelectionLock : public ::testing::Test {
 protected:
  static std::string fault_of(const std::string& text) {
    return test::error_of<InputError>([&] { return read_selection_lock(text, "job.lock"); },
                                      "sound");
  }

  std::string chosen(const std::vector<BestRecord>& rows, const std::string& driver) const {
    DeviceInfo device = some_device();
    device.driver = driver;
    return lookup({spec_, Problem::parse(spec_, "n=8192"), device}, rows)->config.text();
  }

  KernelSpec spec_ = test::scale_spec();
};

TEST_F(SelectionLock, RanksWithDifferentDriversChooseAlike) {
  BestRecord old_driver = scale_best(spec_, "n=4096", 512);
  old_driver.key.driver = "550.1";
  const std::vector<BestRecord> rows = {old_driver, scale_best(spec_, "n=16800", 128)};
  EXPECT_NE(chosen(rows, "550.1"), chosen(rows, "580.10")) << "what the lock is for";
  const std::vector<BestRecord> locked =
      read_selection_lock(write_selection_lock(rows), "job.lock");
  ASSERT_EQ(locked.size(), 2U);
  EXPECT_EQ(chosen(locked, "550.1"), "vector:block_size=512");
  EXPECT_EQ(chosen(locked, "580.10"), "vector:block_size=512");
}

TEST_F(SelectionLock, EqualDatabasesGiveEqualLocks) {
  const BestRecord one = scale_best(spec_, "n=4096", 512);
  const BestRecord two = scale_best(spec_, "n=64", 64);
  EXPECT_EQ(write_selection_lock({{one, two}}), write_selection_lock({{two, one}}));
}

TEST_F(SelectionLock, HoldsWhatCanBeChosenWithoutItsSamples) {
  BestRecord best = scale_best(spec_, "n=4096", 512);
  std::string samples = "1";
  for (int i = 0; i < 10'000; ++i) samples += ",1";
  best.evidence =
      R"({"finalists":[{"config":"vector:block_size=512","median_ns":2,"samples_ns":[)" + samples +
      R"(]}],"close":[{"config":"vector:block_size=64","slowdown":1.5}]})";
  const std::string text = write_selection_lock({{best}});
  EXPECT_LT(text.size(), 4000U);
  const std::vector<BestRecord> locked = read_selection_lock(text, "job.lock");
  ASSERT_EQ(locked.size(), 1U);
  EXPECT_EQ(close_configs(locked[0]).size(), 2U);
  EXPECT_EQ(close_configs(locked[0])[1].slowdown, 1.5);
}

TEST_F(SelectionLock, NamesTheShippedRowsByTheirHash) {
  const BestRecord best = scale_best(spec_, "n=4096", 512);
  const std::string text = write_selection_lock({{best}}, {true, {}});
  EXPECT_LT(text.size(), 4000U);
  const std::vector<BestRecord> locked = read_selection_lock(text, "job.lock");
  std::size_t shipped = 0;
  for (const std::string& kernel : shipped_kernels()) shipped += shipped_bests(kernel).size();
  EXPECT_GT(shipped, 0U);
  EXPECT_EQ(locked.size(), 1 + shipped);
  for (const BestRecord& row : locked) EXPECT_EQ(row.layer, kLockedLayer);
  const std::string of_another = write_selection_lock({{best}}, {true, {"cuda/nvidia/none/sm_1"}});
  EXPECT_EQ(read_selection_lock(of_another, "job.lock").size(), 1U);
  std::string edited = text;
  edited.replace(edited.find(shipped_hash()), 4, "0000");
  EXPECT_THAT(fault_of(edited), HasSubstr("made with the shipped rows of another Kiln"));
}

TEST_F(SelectionLock, WhatWasChangedOrIsNoLockIsRefused) {
  std::string text = write_selection_lock({{scale_best(spec_, "n=4096", 512)}});
  EXPECT_EQ(fault_of(text), "sound");
  EXPECT_THAT(fault_of(text + "\n"),
              StartsWith("job.lock:1: the lock was changed after it was made"));
  std::string edited = text;
  edited.replace(edited.find("\"block_size\":512"), 16, "\"block_size\":256");
  EXPECT_THAT(fault_of(edited), HasSubstr("make it anew with `kiln db lock`"));
  edited = text;
  edited.replace(edited.find("\"kiln_lock\":1"), 13, "\"kiln_lock\":3");
  EXPECT_EQ(fault_of(edited), "job.lock:1: a lock of version 3; this Kiln reads versions 1 and 2");
  EXPECT_EQ(fault_of("{}"),
            "job.lock:1: key 'kiln_lock' is missing; expected a whole number of at least 0");
  EXPECT_THAT(fault_of(""), StartsWith("job.lock:1: this is no JSON"));
}

// What ships with the program: the rows of data/, by kernel, and the compressed files in general.

std::string without_samples(const std::string& evidence) {
  Json json = Json::parse(evidence);
  for (Json& finalist : json.at("finalists")) finalist.at("samples_ns") = Json::array();
  return json.dump();
}

/// The rows of data/*.jsonl by kernel, as they should be shipped.
std::map<std::string, std::vector<BestRecord>> rows_of_the_tree() {
  std::map<std::string, std::vector<BestRecord>> rows;
  for (const auto& entry : std::filesystem::directory_iterator(KILN_SOURCE_DIR "/data")) {
    if (entry.path().extension() != ".jsonl") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (WisdomEntry& row : read_wisdom(text, entry.path().filename()).entries) {
      row.best.evidence = without_samples(row.best.evidence);
      rows[row.best.key.kernel].push_back(std::move(row.best));
    }
  }
  return rows;
}

TEST(ShippedRows, AreThoseOfTheTreeWithoutSingleSamples) {
  const auto rows = rows_of_the_tree();
  EXPECT_FALSE(rows.empty());
  for (const auto& [kernel, expected] : rows) {
    const std::vector<BestRecord> shipped = shipped_bests(kernel);
    EXPECT_EQ(shipped.size(), expected.size()) << kernel;
    EXPECT_TRUE(write_wisdom(shipped) == write_wisdom(expected)) << kernel;
    for (const BestRecord& best : shipped) {
      EXPECT_EQ(best.layer, kShippedLayer);
      EXPECT_EQ(read_evidence(best.evidence).source.size(), 16U)
          << kernel << " " << best.problem_json;
    }
  }
  EXPECT_TRUE(shipped_bests("no_such_kernel").empty());
}

TEST(ShippedRows, AreNamedByFileAndKernel) {
  std::vector<std::string> paths;
  for (const EmbeddedFile& part : shipped_parts()) paths.emplace_back(part.path);
  EXPECT_TRUE(std::is_sorted(paths.begin(), paths.end()));
  EXPECT_THAT(paths, ::testing::Contains("nvidia_h200.jsonl/matmul"));
}

TEST(EmbeddedFiles, OfADamagedProgramAreNotReadHalf) {
  EmbeddedFile part = shipped_parts().front();
  EXPECT_EQ(part.text().size(), part.bytes);
  part.deflated_bytes /= 2;
  EXPECT_THROW((void)part.text(), std::logic_error);
  part = shipped_parts().front();
  part.bytes += 1;
  EXPECT_THROW((void)part.text(), std::logic_error);
}

}  // namespace
}  // namespace kiln

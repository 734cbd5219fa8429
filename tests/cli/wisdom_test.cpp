// Wisdom by the program: text into a database, a question answered from it, and text out again.
// SPDX-License-Identifier: Apache-2.0
#include "wisdom/wisdom.hpp"

#include <nlohmann/json.hpp>

#include "core/setting.hpp"
#include "kiln_program.hpp"
#include "templates/library.hpp"
#include "wisdom/wisdom_check.hpp"

namespace kiln::cli {
namespace {

using ::testing::EndsWith;

constexpr const char* kKernels = KILN_SOURCE_DIR "/tests/cli/kernels";
constexpr const char* kGpu = "cuda/nvidia/H200 (made up)/sm_90a";

class WisdomTest : public ProgramTest {
 protected:
  /// A best of tests/cli/kernels/scale on a made-up GPU.
  static BestRecord best(std::int64_t n, std::int64_t block_size) {
    const KernelSpec spec = KernelLibrary({kKernels}).load("scale");
    const Problem problem = Problem::make(spec, {{"n", n}});
    BestRecord best;
    best.device_info = device_for_architecture("cuda", "sm_90a");
    best.key = {.kernel = "scale",
                .spec_hash = content_hash(spec),
                .problem = problem.text(),
                .device = identity_of(best.device_info),
                .driver = "580.1",
                .compiler = "nvrtc 13.0",
                .tool_version = "0.1.0",
                .strategy = "random",
                .seed = 1,
                .options = "cache=cold"};
    best.problem_json = to_json(problem).dump();
    best.config = Setting(spec, problem, best.device_info).default_config(spec.variants[0]);
    for (auto& [name, value] : best.config.values) {
      if (name == "block_size") value = block_size;
    }
    best.template_hash = template_hash(spec, spec.variants[0]);
    best.time_ns = 1000;
    best.default_time_ns = 2000;
    best.verdict = Verdict::better;
    best.published_at = "2026-01-02T03:04:05Z";
    best.evidence = R"({"finalists":[]})";
    return best;
  }

  Output import(const Words& more) const {
    return kiln(Words(fmt::format("db import --db kiln.db --kernel-path {}", kKernels)) + more);
  }
};

TEST_F(WisdomTest, TravelsFromTextToDatabaseAndBack) {
  const std::string text = write_wisdom({{best(4096, 64), best(1 << 20, 128)}});
  write("w.jsonl", text);
  const Output first = import("w.jsonl");
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(first.out, "kiln.db: 2 bests imported, 0 there before, 0 bad lines left out\n");
  EXPECT_EQ(import("w.jsonl w.jsonl").out,
            "kiln.db: 0 bests imported, 4 there before, 0 bad lines left out\n");
  EXPECT_EQ(kiln("db export - --db kiln.db").out, text);
  EXPECT_EQ(kiln("db check kiln.db").exit_code, 0);

  const Json match = kiln_json(
      fmt::format("best scale --problem n=5000 --db kiln.db --kernel-path {} --json", kKernels));
  EXPECT_EQ(match["grade"], "near_size");
  EXPECT_EQ(match["config"]["tunables"]["block_size"], 64);
}

TEST_F(WisdomTest, OneBadLineStopsAllUnlessItMayBeSkipped) {
  std::string text = write_wisdom({{best(4096, 64), best(1 << 20, 128)}});
  text.replace(text.find("\"block_size\":64"), 15, "\"block_size\":65");
  write("w.jsonl", text);
  const Output refused = import("w.jsonl");
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_THAT(refused.err, StartsWith("kiln: error: w.jsonl:4: "));
  EXPECT_THAT(refused.err, HasSubstr("block_size"));
  EXPECT_THAT(refused.err, EndsWith("\nnothing was imported; --skip-bad imports the rest\n"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "kiln.db"));

  const Output skipped = import("w.jsonl --skip-bad");
  EXPECT_EQ(skipped.exit_code, 0);
  EXPECT_EQ(skipped.out, "kiln.db: 1 best imported, 0 there before, 1 bad line left out\n");
  EXPECT_THAT(skipped.err, StartsWith("kiln: warning: w.jsonl:4: "));
}

TEST_F(WisdomTest, WhatIsNoWisdomIsRefused) {
  write("w.jsonl", "hello\n");
  write("other.jsonl", write_wisdom({{best(4096, 64)}}));
  Output output = import("w.jsonl");
  EXPECT_EQ(output.exit_code, 3);
  EXPECT_THAT(
      output.err,
      StartsWith(
          "kiln: error: w.jsonl:1: this is no JSON from column 1 on ('hello' is no JSON); "));
  output = import("none.jsonl");
  EXPECT_EQ(output.exit_code, 3);
  EXPECT_THAT(output.err, StartsWith("kiln: error: none.jsonl: there is no such file; expected"));
  output = kiln("db import other.jsonl --db kiln.db");
  EXPECT_EQ(output.exit_code, 3);
  EXPECT_THAT(output.err,
              StartsWith("kiln: error: other.jsonl:3: unknown kernel 'scale'; did you mean "));
}

TEST_F(WisdomTest, AnExportOfNothingSaysSo) {
  write("w.jsonl", write_wisdom({{best(4096, 64)}}));
  EXPECT_EQ(import("w.jsonl").exit_code, 0);
  const Output output = kiln("db export o.jsonl --db kiln.db --kernel reduce");
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_EQ(output.err, "kiln: warning: kiln.db has no best that matches\n");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "o.jsonl"));
  EXPECT_EQ(kiln("db export no/o.jsonl --db kiln.db").err,
            "kiln: error: no/o.jsonl: cannot be written: No such file or directory\n");
}

TEST_F(WisdomTest, TravelsAsT4FilesWithoutLoss) {
  const std::string text = write_wisdom({{best(4096, 64), best(1 << 20, 128)}});
  write("w.jsonl", text);
  EXPECT_EQ(import("w.jsonl").exit_code, 0);
  const Output exported = kiln("db export t4 --format t4 --db kiln.db");
  EXPECT_EQ(exported.exit_code, 0) << exported.err;
  Words files;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "t4")) {
    files.push_back("t4/" + entry.path().filename().string());
    EXPECT_THAT(exported.out, HasSubstr(files.back() + "  n="));
  }
  ASSERT_EQ(files.size(), 2U);
  const Json file = Json::parse(read_text(folder_ / files[0]));
  EXPECT_EQ(file["schema_version"], "1.0.0");
  EXPECT_EQ(file["metadata"]["timeunit"], "milliseconds");
  ASSERT_FALSE(file["results"].empty());
  EXPECT_EQ(file["results"][0]["invalidity"], "correct");
  EXPECT_EQ(file["results"][0]["correctness"], 1);
  EXPECT_DOUBLE_EQ(file["results"][0]["measurements"][0]["value"].get<double>(), 0.001);

  Words words = {"db", "import", files[0], files[1], "--db", "other.db", "--kernel-path", kKernels};
  EXPECT_EQ(kiln(words).out, "other.db: 2 bests imported, 0 there before, 0 bad lines left out\n");
  EXPECT_EQ(kiln(words).out, "other.db: 0 bests imported, 2 there before, 0 bad lines left out\n");
  EXPECT_EQ(kiln("db export - --db other.db").out, text);
}

TEST_F(WisdomTest, EachTimingOfAProblemHasAFileAndASource) {
  BestRecord graph = best(4096, 128);
  graph.key.timing = Timing::graph;
  const std::string text = write_wisdom({{best(4096, 64), graph}});
  write("w.jsonl", text);
  EXPECT_EQ(import("w.jsonl").exit_code, 0);
  EXPECT_EQ(kiln("db export t4 --format t4 --db kiln.db").exit_code, 0);
  Words words = fmt::format("db import --db other.db --kernel-path {}", kKernels);
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "t4"))
    words.push_back("t4/" + entry.path().filename().string());
  EXPECT_EQ(kiln(words).out, "other.db: 2 bests imported, 0 there before, 0 bad lines left out\n");
  EXPECT_EQ(kiln("db export - --db other.db").out, text);

  for (const auto& [timing, block] : {std::pair("eager", 64), std::pair("graph", 128)}) {
    EXPECT_EQ(kiln({"export", "scale", "--problem", "n=4096", "--timing", timing, "--source",
                    timing, "--db", "kiln.db", "--kernel-path", kKernels, "--device", kGpu})
                  .exit_code,
              0);
    const Json launch = Json::parse(read_text(folder_ / timing / "scale.json"));
    EXPECT_EQ(launch["steps"][0]["block"][0], block) << timing;
  }
}

TEST_F(WisdomTest, AT4FileIsAlsoWhatAnotherTunerWouldWrite) {
  write("w.jsonl", write_wisdom({{best(4096, 64)}}));
  EXPECT_EQ(import("w.jsonl").exit_code, 0);
  EXPECT_EQ(kiln("db export t4 --format t4 --db kiln.db").exit_code, 0);
  const std::string file =
      std::filesystem::directory_iterator(folder_ / "t4")->path().filename().string();
  // Asked about another problem, its trials are those of a stranger.
  EXPECT_EQ(import({"t4/" + file, "--kernel", "scale", "--problem", "n=999", "--device", kGpu}).out,
            "kiln.db: 1 best imported, 0 there before, 0 bad lines left out\n");
  const Json match = kiln_json({"best", "scale", "--problem", "n=999", "--db", "kiln.db",
                                "--device", kGpu, "--kernel-path", kKernels, "--json"});
  EXPECT_EQ(match["grade"], "exact");
  EXPECT_EQ(match["config"]["tunables"]["block_size"], 64);
  EXPECT_EQ(match["stale"], true);
}

TEST_F(WisdomTest, T4FilesThatCannotBeWrittenOrReadAreNamed) {
  write("w.jsonl", write_wisdom({{best(4096, 64)}}));
  EXPECT_EQ(import("w.jsonl").exit_code, 0);
  const Output blocked = kiln("db export w.jsonl --format t4 --db kiln.db");
  EXPECT_EQ(blocked.exit_code, 2);
  EXPECT_THAT(blocked.err, StartsWith("kiln: error: w.jsonl: expected a folder to write to: "));
  write("t4.json",
        R"({"metadata":{"kiln_wisdom":[7]},"results":[{"configuration":{"block_size":1}}]})");
  const Output bad = import("t4.json");
  EXPECT_EQ(bad.exit_code, 3);
  EXPECT_THAT(bad.err, StartsWith("kiln: error: t4.json: metadata.kiln_wisdom:1: "));
}

TEST_F(WisdomTest, ALockIsAskedInsteadOfTheDatabase) {
  write("w.jsonl", write_wisdom({{best(4096, 64)}}));
  EXPECT_EQ(import("w.jsonl").exit_code, 0);
  EXPECT_EQ(kiln("db lock job.lock --db kiln.db").exit_code, 0);
  write("newer.jsonl", write_wisdom({{best(4096, 128)}}));
  EXPECT_EQ(import("newer.jsonl").exit_code, 0);
  const Words words = {"best",   "scale",    "--problem",     "n=4096", "--device", kGpu,
                       "--lock", "job.lock", "--kernel-path", kKernels, "--json"};
  const Json match = kiln_json(words);
  EXPECT_EQ(match["grade"], "exact");
  EXPECT_EQ(match["config"]["tunables"]["block_size"], 64);
  edit("job.lock", "\"time_ns\":1000.0,", "\"time_ns\":1001.0,");
  const Output edited = kiln(words);
  EXPECT_EQ(edited.exit_code, 3);
  EXPECT_THAT(edited.err, StartsWith("kiln: error: job.lock:1: the lock was changed after"));
  EXPECT_EQ(
      kiln(fmt::format("best scale --problem n=1 --lock none.lock --kernel-path {}", kKernels)).err,
      "kiln: error: none.lock: there is no such file; expected a lock as `kiln db lock` writes "
      "it\n");
}

TEST_F(WisdomTest, APortfolioCoversTheTunedProblemsWithTheFewestConfigs) {
  BestRecord small = best(4096, 64);
  small.evidence =
      R"({"finalists":[],"close":[{"config":"plain:block_size=128,items=1","slowdown":1.04}]})";
  write("w.jsonl", write_wisdom({{small, best(1 << 20, 128)}}));
  EXPECT_EQ(import("w.jsonl").exit_code, 0);
  const Words words = fmt::format("db portfolio scale --db kiln.db --kernel-path {}", kKernels);
  EXPECT_EQ(kiln(words).out,
            "1 config of scale covers 2 problems within 5%\n\n"
            "plain:block_size=128,items=1  (at worst 4.0% slower)\n  n=1048576\n  n=4096\n");
  Words more = words;
  more.insert(more.end(), {"--within", "1", "--json"});
  EXPECT_EQ(kiln_json(more)["portfolio"].size(), 2);
  more = words;
  more.insert(more.end(), {"--leave-one-out", "--json"});
  const Json left = kiln_json(more);
  EXPECT_EQ(left["known"], 2) << left;
  EXPECT_EQ(left["problems"][0]["slowdown"], 1.0)
      << "n=4096 tried 128, and of larger tiles there are fewer";
  EXPECT_EQ(left["problems"][1]["slowdown"], 1.04) << "the best of n=1048576";
  more = words;
  more.insert(more.end(), {"--device", "opencl"});
  EXPECT_EQ(kiln(more).err,
            "kiln: error: --device must be one of:\n  cuda/nvidia/H200 (made up)/sm_90a\n");
}

TEST_F(WisdomTest, LeavingOneOutKnowsTheFirstTrialsOfImportedRows) {
  BestRecord small = best(4096, 64);
  small.evidence =
      R"({"finalists":[],"close":[{"config":"plain:block_size=64,items=1","slowdown":1}],)"
      R"("first":[{"config":"plain:block_size=128,items=1","slowdown":1.5}]})";
  write("w.jsonl", write_wisdom({{small, best(1 << 20, 128)}}));
  EXPECT_EQ(import("w.jsonl").exit_code, 0);
  const Json left = kiln_json(fmt::format(
      "db portfolio scale --db kiln.db --kernel-path {} --leave-one-out --json", kKernels));
  EXPECT_EQ(left["problems"][1]["config"], "plain:block_size=128,items=1") << left;
  EXPECT_EQ(left["problems"][1]["slowdown"], 1.5);
}

TEST_F(WisdomTest, ShippedBestsFitTheBuiltInKernels) {
  const KernelLibrary library;
  for (const auto& entry : std::filesystem::directory_iterator(KILN_SOURCE_DIR "/data")) {
    if (entry.path().extension() != ".jsonl") continue;
    const std::string file = entry.path().filename().string();
    const std::string text = read_text(entry.path());
    WisdomText read = read_wisdom(text, file);
    EXPECT_EQ(read.bad, std::vector<std::string>());
    EXPECT_FALSE(read.entries.empty()) << file;
    std::vector<BestRecord> bests;
    for (WisdomEntry& row : read.entries) {
      const KernelSpec spec = library.load(row.best.key.kernel);
      EXPECT_NO_THROW(check_wisdom(spec, row.best)) << to_text(row.where);
      bests.push_back(row.best);
    }
    const auto behind_header = [](std::string_view wisdom) {
      return wisdom.substr(wisdom.find('\n'));
    };
    EXPECT_TRUE(behind_header(write_wisdom(bests)) == behind_header(text))
        << file << " is not as `kiln db export` writes it";
  }
}

TEST_F(WisdomTest, WithoutADatabaseTheShippedWisdomAndThenTheDefaultAnswer) {
  const Output output = kiln("best reduce --problem n=1000 --device opencl --json",
                             {{"KILN_OPENCL_LIBRARY", "/no/libOpenCL.so"}});
  EXPECT_EQ(output.exit_code, 4) << "the database is not missed, the device is";
  EXPECT_EQ(kiln("best reduce --problem n=1000 --no-shipped").exit_code, 5);
  EXPECT_EQ(kiln("best reduce --problem n=1000 --db new.db").exit_code, 5);
}

}  // namespace
}  // namespace kiln::cli

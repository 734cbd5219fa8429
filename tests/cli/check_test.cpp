// Checks that a command runs: of bests, by proof, of narrow types and coarse products.
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include <nlohmann/json.hpp>

#include "cli/checks.hpp"
#include "db/store.hpp"
#include "kiln_program.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

// `kiln check`: a best that holds, one that somebody doctored, one that is wrong, one that is not
// there. The measured thing is a program whose times are what a file says, so nothing depends on
// the machine.

constexpr const char* kTimedSpec = R"toml(name = "timed"
[problem.n]
type = "int"
min = 1
[command]
build = "true"
run = "sed -n {tile}p {folder}/times"
unit = "us"
check = "cat {folder}/answer"
reference = "echo {n}"
runs = 1
[[variants]]
name = "only"
[variants.tunables]
tile = { values = [1, 2, 3], default = 3 }
)toml";

class Checking : public ProgramTest {
 protected:
  void SetUp() override {
    write("kernels/timed/spec.toml", kTimedSpec);
    write("kernels/timed/times", "20\n10\n30\n");
    write("kernels/timed/answer", "100\n");
    const Output tuned = kiln(
        "tune timed --problem n=100 --kernel-path kernels --strategy exhaustive --db kiln.db "
        "--quiet");
    ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  }
  [[nodiscard]] Output check(const Words& more = {}) const {
    return kiln(Words("check --kernel-path kernels --db kiln.db --quiet") + more);
  }
  /// Makes the default config the best of the session, which its finals contradict.
  void doctor() const {
    Store store(folder_ / "kiln.db", Store::Mode::write);
    BestRecord best = *store.best_of(1);
    ASSERT_EQ(best.config.text(), "only:tile=2");
    best.config.values = {{"tile", std::int64_t{3}}};
    store.reopen(1, "trials=9");
    store.finish(1, SessionState::finished, 1, best);
  }
};

TEST_F(Checking, ABestThatIsStillTheFastestHolds) {
  const Output text = check();
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("timed   n=100    holds"));
  EXPECT_THAT(text.out, HasSubstr("\nbests that hold: 1 of 1\n"));
  const Json json = Json::parse(check("--json").out);
  ASSERT_EQ(json.size(), 1U);
  EXPECT_EQ(json[0]["finding"], "holds");
  EXPECT_EQ(json[0]["config"], "only:tile=2");
  EXPECT_EQ(json[0]["now_ns"], 10000.0);
  EXPECT_EQ(json[0]["fastest_config"], "only:tile=2");
}

TEST_F(Checking, ADoctoredRowIsFound) {
  doctor();
  const Output text = check();
  EXPECT_EQ(text.exit_code, 1) << text.err;
  EXPECT_THAT(text.out, HasSubstr("a runner-up is 3.00x as fast"));
  EXPECT_THAT(text.out, HasSubstr("\nbests that hold: 0 of 1\n"));
  const Json json = Json::parse(check("--json").out);
  EXPECT_EQ(json[0]["finding"], "beaten");
  EXPECT_EQ(json[0]["now_ns"], 30000.0);
  EXPECT_EQ(json[0]["fastest_ns"], 10000.0);
  EXPECT_EQ(json[0]["fastest_config"], "only:tile=2");
}

TEST_F(Checking, WhatDoesNotHoldIsTunedAgain) {
  doctor();
  const Output output = check("--retune --strategy exhaustive");
  EXPECT_EQ(output.exit_code, 0) << output.err;
  EXPECT_THAT(output.err, HasSubstr("Tuned again:"));
  EXPECT_EQ(Json::parse(check("--json").out)[0]["finding"], "holds");
}

TEST_F(Checking, AWrongResultIsSaid) {
  write("kernels/timed/answer", "99\n");
  const Output output = check("--json");
  EXPECT_EQ(output.exit_code, 1) << output.err;
  EXPECT_EQ(Json::parse(output.out)[0]["finding"], "wrong result");
}

TEST_F(Checking, WhatThePlanAsksForAndNobodyTunedIsNotStored) {
  write("plan.toml",
        "name = \"night\"\n[[kernels]]\nkernel = \"timed\"\nproblems = [\"n=100\", \"n=200\"]\n");
  const Output output = check("plan.toml --json");
  EXPECT_EQ(output.exit_code, 1) << output.err;
  const Json json = Json::parse(output.out);
  ASSERT_EQ(json.size(), 2U);
  EXPECT_EQ(json[0]["finding"], "holds");
  EXPECT_EQ(json[1]["finding"], "not stored");
  EXPECT_TRUE(json[1]["now_ns"].is_null());
}

TEST_F(Checking, NothingToCheckIsAnError) {
  const Output output = check("--kernel nobody");
  EXPECT_EQ(output.exit_code, 3) << output.out;
  EXPECT_THAT(output.err, HasSubstr("unknown kernel 'nobody'"));
  EXPECT_THAT(check("--kernel reduce").err, HasSubstr("holds no best of"));
  EXPECT_EQ(kiln("check --db none.db").exit_code, 5);
}

// Values on the command line: what passes, and what the others are told.

TEST(PositiveNumber, TakesEveryWayToWriteOne) {
  for (const char* text : {"1", "0.25", "1e3"}) EXPECT_EQ(positive_number()(text), "") << text;
  for (const char* text : {"0", "-1", "nan", "inf", "", "3x", "1e999"}) {
    EXPECT_EQ(positive_number()(text), std::string("must be a number above 0, not '") + text + "'");
  }
}

TEST(WholeNumber, NeverWrapsAround) {
  EXPECT_EQ(whole_number(1)("1"), "");
  EXPECT_EQ(whole_number(0)("0"), "");
  for (const char* text : {"0", "-1", "1.5", "99999999999999999999", "3x", ""}) {
    EXPECT_EQ(whole_number(1)(text),
              std::string("must be a whole number of 1 or more, not '") + text + "'");
  }
}

TEST(FileName, IsNeverEmpty) {
  EXPECT_EQ(file_name()("kiln.db"), "");
  EXPECT_EQ(file_name()(""), "must name a file, not ''");
  EXPECT_EQ(database_name()(""), "must name a file or a server, not ''");
  EXPECT_EQ(database_name()("kiln.db"), "");
  EXPECT_EQ(database_name()("postgresql://me@host/kiln"), "");
  EXPECT_EQ(database_name()("postgres://me:secret@host/kiln"),
            "postgres://me:***@host/kiln: holds a password, which other users of this machine can "
            "see; expected a URL without one, and the password in ~/.pgpass, a service file or "
            "PGPASSWORD");
}

TEST(StrategyName, ListsTheStrategiesAndGuessesTheOneMeant) {
  EXPECT_EQ(strategy_name()("random"), "");
  EXPECT_THAT(strategy_name()("rndom"),
              ::testing::StartsWith("there is no strategy 'rndom'; did you mean 'random'? (there "
                                    "are: auto, annealing, bandit, "));
}

// The element types of 8 bits, and integers of 16, go the road of any other: drawn, computed,
// checked, timed, stored.

class NarrowTypes : public TuningTest {
 protected:
  void SetUp() override {
    TuningTest::SetUp();
    copy_kernel("tests/cli/kernels/narrow", "narrow");
  }

  /// The outcome and message of each trial of a session over all configs.
  [[nodiscard]] std::vector<std::string> tune(const std::string& dtype, int exit_code = 0) const {
    const Output output =
        kiln({"tune", "./narrow", "--problem", "n=1001 dtype=" + dtype, "--device", "opencl",
              "--trials", "2", "--db", "kiln.db", "--warm-cache"});
    EXPECT_EQ(output.exit_code, exit_code) << dtype << ": " << output.err;
    std::vector<std::string> all;
    const Json session = kiln_json("show latest --json --db kiln.db");
    for (const Json& row : session["rows"]) {
      all.push_back(row["outcome"].get<std::string>() + ": " + row["message"].get<std::string>());
    }
    return all;
  }
};

TEST_F(NarrowTypes, AreTunedAndFoundAgain) {
  for (const std::string dtype : {"i8", "i16", "u16", "e4m3", "e5m2"}) {
    EXPECT_EQ(tune(dtype), (std::vector<std::string>{"ok: ", "ok: "})) << dtype;
    const Json best = kiln_json(
        {"best", "./narrow", "--db", "kiln.db", "--json", "--problem", "n=1001 dtype=" + dtype});
    EXPECT_EQ(best["grade"], "exact") << dtype;
  }
}

TEST_F(NarrowTypes, AKernelThatTakesOneForAnotherIsWrong) {
  edit("narrow/plain.inja", "load(dtype, \"x[i]\")", "load(\"e5m2\", \"x[i]\")");
  for (const std::string& outcome : tune("e4m3", 1))
    EXPECT_THAT(outcome, StartsWith("wrong_result: "));
}

// Products of operands with fewer bits than their type has.

class CoarseProducts : public TuningTest {
 protected:
  void SetUp() override {
    TuningTest::SetUp();
    copy_kernel("templates/kernels/matmul", "mine");
    // `tiled` comes first, so that no other variant is faster: what is dropped as slow is not
    // checked twice.
    const std::string spec = read_text(folder_ / "mine/spec.toml");
    const std::string begin = "[[variants]]\nname = \"";
    const std::size_t first = spec.find(begin);
    const std::size_t tiled = spec.find(begin + "tiled\"");
    const std::size_t next = spec.find(begin, tiled + 1);
    write("mine/spec.toml", spec.substr(0, first) + spec.substr(tiled, next - tiled) +
                                spec.substr(first, tiled - first) + spec.substr(next));
  }

  /// Outcomes of two configs of `tiled`.
  [[nodiscard]] std::vector<std::string> outcomes() const {
    const Output output = kiln(
        "tune ./mine --problem m=64,n=64,k=64 --device opencl --variant tiled --trials 2 --db "
        "kiln.db --fresh --warm-cache");
    EXPECT_NE(output.exit_code, 70) << output.err;
    std::vector<std::string> all;
    const Json session = kiln_json("show latest --json --db kiln.db");
    for (const Json& row : session["rows"]) all.push_back(row["outcome"].get<std::string>());
    return all;
  }
};

// What a kernel does that lets tensor cores read f32 as tf32, without a device that has any.
TEST_F(CoarseProducts, InTf32DoNotPassForF32) {
  EXPECT_THAT(outcomes(), testing::Each("ok"));
  edit("mine/tiled.inja", "KERNEL({{ tile }}",
       "DEVICE_FUNCTION f32 coarse(f32 x) { return BITS_TO_F32(F32_TO_BITS(x) & 0xffffe000u); }\n\n"
       "KERNEL({{ tile }}");
  edit("mine/tiled.inja", "sum[i] = FMA(tile_a[(THREAD_Y + i * THREADS_Y) * TILE + j],",
       "sum[i] = FMA(({{ sum_t }})coarse((f32)tile_a[(THREAD_Y + i * THREADS_Y) * TILE + j]),");
  const std::vector<std::string> coarse = outcomes();
  EXPECT_EQ(coarse.size(), 2U);
  EXPECT_THAT(coarse, testing::Each("wrong_result"));
}

// `kiln prove`: one call, one config, every check.

class Prove : public TuningTest {
 protected:
  [[nodiscard]] static Words prove_scale(const Words& more) {
    return Words("prove " KILN_SOURCE_DIR
                 "/tests/cli/kernels/scale --problem n=100 --device opencl:0 --config default") +
           more;
  }
  /// Puts a program in the place of compute-sanitizer, which writes down its command line.
  [[nodiscard]] Environment sanitizer(const std::string& prints, int exit_code) const {
    write("bin/compute-sanitizer", "#!/bin/sh\necho \"$*\" >> '" + (folder_ / "calls").string() +
                                       "'\necho '" + prints + "'\nexit " +
                                       std::to_string(exit_code) + "\n");
    fs::permissions(folder_ / "bin/compute-sanitizer", fs::perms::owner_all);
    return {{"PATH", (folder_ / "bin").string() + ":/usr/bin:/bin"}};
  }
};

TEST_F(Prove, SaysWhatWasTriedAndStoresNothing) {
  const Output proved = kiln(prove_scale({}));
  EXPECT_EQ(proved.exit_code, 0) << proved.err;
  EXPECT_THAT(proved.out, HasSubstr("proved by the formulas of the spec; "));
  EXPECT_THAT(proved.out, HasSubstr("  tried: "));
  EXPECT_FALSE(fs::exists(folder_ / "kiln.db"));
}

constexpr const char* kAxpy =
    "__kernel void axpy(__global const float* x, __global float* y, float a, int n) {\n"
    "  int i = get_global_id(0);\n  if (i < n) y[i] = FACTOR * x[i] + y[i];\n}\n";

class ProveSource : public Prove {
 protected:
  /// Of axpy.cl in the folder, whose factor is the macro FACTOR.
  [[nodiscard]] Output prove_axpy(const Words& more, const std::string& x = "read f32[n]") const {
    write("axpy.cl", kAxpy);
    write("reference.c",
          "void axpy(const float* x, float* y, float a, int n) {\n"
          "  for (int i = 0; i < n; ++i) y[i] += a * x[i];\n}\n");
    return kiln(Words{"prove",      "axpy.cl",
                      "--problem",  "n=300",
                      "--device",   "opencl:0",
                      "--argument", "x=" + x,
                      "--argument", "y=read_write f32[n]",
                      "--argument", "a=f32 example 0.5",
                      "--argument", "n=i32 = n",
                      "--grid",     "ceil_div(n, BLOCK)",
                      "--block",    "BLOCK",
                      "--tunable",  "BLOCK=64,128"} +
                more);
  }
};

TEST_F(ProveSource, IsProvedWithOptionsInPlaceOfASpec) {
  const Output proved = prove_axpy({"--tunable", "FACTOR=a", "--formula", "y=a * x + y"});
  EXPECT_EQ(proved.exit_code, 0) << proved.err << proved.out;
  EXPECT_THAT(proved.out, HasSubstr("axpy: plain:BLOCK=64,FACTOR=a\nproved by the formulas"));
  EXPECT_THAT(proved.out, HasSubstr("with other values of a\n"));
  const Output called = prove_axpy({"--tunable", "FACTOR=a", "--reference", "reference.c:axpy",
                                    "--config", "plain:BLOCK=128,FACTOR=a"});
  EXPECT_EQ(called.exit_code, 0) << called.err << called.out;
  EXPECT_THAT(called.out,
              HasSubstr("BLOCK=128,FACTOR=a\nproved by the function 'axpy' of reference.c"));
}

TEST_F(ProveSource, ThatHoldsTheExampleIsNotProved) {
  const Output refused = prove_axpy({"--tunable", "FACTOR=0.5f", "--formula", "y=a * x + y"});
  EXPECT_EQ(refused.exit_code, 1) << refused.err;
  EXPECT_THAT(refused.out, HasSubstr("wrong_result: on n="));
}

TEST_F(ProveSource, FaultsNameTheOption) {
  const Words factor = {"--tunable", "FACTOR=a"};
  const auto error = [](const Output& output) {
    EXPECT_EQ(output.exit_code, 2) << output.out;
    return output.err;
  };
  EXPECT_THAT(error(prove_axpy(factor)), HasSubstr("say what is right: either --formula "));
  EXPECT_THAT(error(prove_axpy(factor + Words{"--formula", "y=a * q"})),
              HasSubstr("--formula 'y=a * q': 'q' is not a variable of this formula"));
  EXPECT_THAT(error(prove_axpy(factor + Words{"--formula", "y"})),
              HasSubstr("--formula 'y': expected NAME='2 * x'"));
  EXPECT_THAT(error(prove_axpy(factor + Words{"--reference", "none.c:f"})),
              HasSubstr("--reference: [verify]: no file 'none.c'"));
  EXPECT_THAT(error(prove_axpy({"--tunable", "FACTOR=", "--formula", "y=x"})),
              HasSubstr("--tunable 'FACTOR=': expected NAME=VALUE"));
  EXPECT_THAT(error(prove_axpy(factor + Words{"--formula", "y=x"}, "red f32[n]")),
              HasSubstr("--argument 'x=red f32[n]': expected NAME='read f32[n]'"));
  EXPECT_THAT(error(prove_axpy(factor + Words{"--formula", "y=x"}, "read f32[n +]")),
              HasSubstr("--argument 'x=read f32[n +]': expected a value"));
  EXPECT_THAT(error(kiln({"prove", "axpy.cl"})),
              HasSubstr("axpy.cl is a source, which needs --argument; or `kiln init`"));
  EXPECT_THAT(error(kiln({"prove", "transpose", "--block", "64"})),
              HasSubstr("--block describes a source; transpose is no file of one"));
}

TEST_F(Prove, RunsItselfUnderEachToolOfTheSanitizer) {
  const Output proved = kiln(prove_scale("--sanitizer"), sanitizer("ERROR SUMMARY: 0 errors", 0));
  EXPECT_EQ(proved.exit_code, 0) << proved.err;
  const std::string calls = read_text(folder_ / "calls");
  for (const std::string tool : {"memcheck", "racecheck", "initcheck"}) {
    EXPECT_THAT(proved.out, HasSubstr("compute-sanitizer " + tool + ": no errors"));
    EXPECT_THAT(calls, HasSubstr("--tool " + tool + " --target-processes all"));
  }
  EXPECT_THAT(calls, HasSubstr(" prove " KILN_SOURCE_DIR "/tests/cli/kernels/scale --config "));
  EXPECT_THAT(calls, HasSubstr(" --device opencl:0 --run-seconds 7200 --problem n=100"));
}

TEST_F(Prove, AnErrorOfTheSanitizerIsNoProof) {
  struct Case {
    const char* prints;
    int code;
    const char* says;
  };
  for (const Case& each : {Case{"ERROR SUMMARY: 3 errors", 99, "errors"},
                           Case{"ERROR SUMMARY: 0 errors", 99, "errors"},
                           Case{"RACECHECK SUMMARY: 2 hazards displayed", 0, "errors"},
                           Case{"ERROR SUMMARY: 0 errors", 1, "it did not end well"},
                           Case{"", 0, "it did not end well"}}) {
    const Output refused = kiln(prove_scale("--sanitizer"), sanitizer(each.prints, each.code));
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_THAT(refused.out, HasSubstr(std::string("compute-sanitizer memcheck: ") + each.says +
                                       "\n" + each.prints));
  }
}

TEST_F(Prove, ASanitizerThatIsNotThereIsNamed) {
  const Output refused = kiln(prove_scale("--sanitizer"), {{"PATH", "/usr/bin:/bin"}});
  EXPECT_EQ(refused.exit_code, 4);
  EXPECT_THAT(refused.err, HasSubstr("--sanitizer needs compute-sanitizer, which is not in PATH"));
}

}  // namespace
}  // namespace kiln::cli

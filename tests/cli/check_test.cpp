// `kiln check`: a best that holds, one that somebody doctored, one that is wrong, one that is not
// there. The measured thing is a program whose times are what a file says, so nothing depends on
// the machine.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "db/store.hpp"
#include "kiln_program.hpp"

namespace kiln::cli {
namespace {

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
    ProgramTest::SetUp();
    write("kernels/timed/spec.toml", kTimedSpec);
    write("kernels/timed/times", "20\n10\n30\n");
    write("kernels/timed/answer", "100\n");
    const Output tuned = kiln(
        "tune timed --problem n=100 --kernel-path kernels --strategy exhaustive --db kiln.db "
        "--quiet");
    ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  }
  [[nodiscard]] Output check(const Words& more = {}) const {
    Words words = "check --kernel-path kernels --db kiln.db --quiet";
    words.insert(words.end(), more.begin(), more.end());
    return kiln(words);
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
  EXPECT_NE(check("--kernel reduce").err.find("holds no best of"), std::string::npos);
  EXPECT_EQ(kiln("check --db none.db").exit_code, 5);
}

}  // namespace
}  // namespace kiln::cli

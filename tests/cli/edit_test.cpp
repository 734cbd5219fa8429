// What an edit of a kernel costs: the trials that it changes, and no others.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <nlohmann/json.hpp>

#include "kiln_program.hpp"

namespace kiln::cli {
namespace {

constexpr const char* kEdited = "mine/spec.toml";

/// Four configs, all tried before each edit.
class Editing : public TuningTest {
 protected:
  void SetUp() override {
    TuningTest::SetUp();
    if (IsSkipped()) return;
    copy_kernel("tests/cli/kernels/scale", "mine");
    edit(kEdited, "values = [1, 2, 4, 8, 16, 32, 64, 128]", "values = [16, 32]");
    edit(kEdited, "values = [1, 2, 4, 8]\n", "values = [1, 8]\n");
    first_ = tune();
    ASSERT_EQ(first_["earlier_trials"], 0);
    ASSERT_EQ(first_["trials"], first_["space_size"]);
  }
  [[nodiscard]] Json tune(const Words& more = {}) const { return tune_and_listen(more).first; }
  /// The summary, and what stderr said.
  [[nodiscard]] std::pair<Json, std::string> tune_and_listen(const Words& more = {}) const {
    Words words =
        "tune ./mine --problem n=100 --device opencl --db kiln.db --strategy exhaustive --json "
        "--warm-cache --compile-workers 1";
    words.insert(words.end(), more.begin(), more.end());
    const Output output = kiln(words);
    EXPECT_EQ(output.exit_code, 0) << output.err;
    return {Json::parse(output.out)["sessions"][0], output.err};
  }
  [[nodiscard]] std::int64_t all() const { return first_["trials"]; }

  Json first_;
};

TEST_F(Editing, ADocStringCostsNothing) {
  edit(kEdited, "doc = \"threads per block\"", "doc = \"threads of a block\"");
  const auto [session, said] = tune_and_listen();
  EXPECT_EQ(session["session"], 2);
  EXPECT_EQ(session["earlier_trials"], all());
  EXPECT_EQ(session["trials"], all());
  EXPECT_TRUE(session["config_text"].is_string()) << "the finals run all the same";
  EXPECT_NE(said.find(std::to_string(all()) + " trials of session 1 hold and are not run again, 0 "
                                              "changed by an edit"),
            std::string::npos)
      << said;
  EXPECT_EQ(tune("--fresh")["earlier_trials"], 0);
}

TEST_F(Editing, AnAddedValueCostsItsOwnConfigs) {
  edit(kEdited, "values = [1, 8]\n", "values = [1, 3, 8]\n");
  const Json session = tune();
  EXPECT_EQ(session["earlier_trials"], all());
  EXPECT_EQ(session["trials"], session["space_size"]);
  EXPECT_GT(session["trials"], all());
}

TEST_F(Editing, ANewVariantCostsItsOwnConfigs) {
  write("mine/other.inja",
        R"(KERNEL(32, 1, 1) scale_other(GLOBAL const f32* x, GLOBAL f32* y, i64 n) {
  const i64 i = (i64)BLOCK_X * 32 + THREAD_X;
  if (i < n) y[i] = x[i] + x[i];
}
)");
  edit(kEdited, "[[variants]]\nname = \"plain\"", R"toml([[variants]]
name = "other"
template = "other.inja"
[[variants.steps]]
entry = "scale_other"
grid = ["ceil_div(n, 32)"]
block = [32]
arguments = ["x", "y", "n"]

[[variants]]
name = "plain")toml");
  const Json session = tune();
  EXPECT_EQ(session["earlier_trials"], all());
  EXPECT_EQ(session["trials"], all() + 1);
  const Json rows = kiln_json("show 2 --json --db kiln.db")["rows"];
  EXPECT_EQ(rows[0]["config"]["variant"], "other") << "the default config is trial 1 still";
}

TEST_F(Editing, ARenamedTunableCostsEverything) {
  edit(kEdited, "[variants.tunables.items]", "[variants.tunables.each]");
  edit(kEdited, "value = \"block_size * items\"", "value = \"block_size * each\"");
  edit(kEdited, "require = \"block_size * items <= 256\"",
       "require = \"block_size * each <= 256\"");
  edit(kEdited, "ceil_div(n, block_size * items)", "ceil_div(n, block_size * each)");
  const std::string text = read_text(folder_ / "mine/plain.inja");
  std::string renamed = text;
  for (std::size_t at = 0; (at = renamed.find("{{ items }}", at)) != std::string::npos;)
    renamed.replace(at, 11, "{{ each }}");
  write("mine/plain.inja", renamed);
  const auto [session, said] = tune_and_listen();
  EXPECT_EQ(session["earlier_trials"], 0);
  EXPECT_NE(said.find("0 trials of session 1 hold and are not run again, " + std::to_string(all()) +
                      " changed by an edit"),
            std::string::npos)
      << said;
}

TEST_F(Editing, ABranchOfTheTemplateCostsTheConfigsThatTakeIt) {
  edit("mine/plain.inja", "{{ items }} && i < n; ++i) y[i] = 2 * x[i];",
       "{{ items }} && i < n; ++i) y[i] = {% if items == 8 %}x[i] + x[i]{% else %}2 * x[i]{% endif "
       "%};");
  const Json rows = kiln_json("show 1 --json --db kiln.db")["rows"];
  const auto take_it = std::count_if(rows.begin(), rows.end(), [](const Json& row) {
    return row["config"]["tunables"]["items"] == 8;
  });
  ASSERT_GT(take_it, 0);
  const Json session = tune();
  EXPECT_EQ(session["earlier_trials"], all() - take_it);
  EXPECT_EQ(session["trials"], all());
}

TEST_F(Editing, AnotherGridCostsEverythingThoughTheSourceIsTheSame) {
  edit(kEdited, "ceil_div(n, block_size * items)", "ceil_div(n, block_size * items) + 0");
  EXPECT_EQ(tune()["earlier_trials"], 0);
}

TEST_F(Editing, ATighterToleranceCostsEverything) {
  edit(kEdited, "[cost]", "[verify]\ntolerance = \"1e-9\"\n\n[cost]");
  EXPECT_EQ(tune()["earlier_trials"], 0);
}

}  // namespace
}  // namespace kiln::cli

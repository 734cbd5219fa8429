// References: of the kernel, of a program, with gaps.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "session_fixture.hpp"
#include "spec/parse_spec.hpp"
#include "tests/support/error_of.hpp"

namespace kiln {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Where references come from, and that data is fresh for each checked run.

class ReferenceTest : public SessionTest {
 protected:
  ReferenceTest() {
    spec_ = KernelLibrary().load(KILN_SOURCE_DIR "/tests/tuner/kernels/accumulate");
  }

  void read(const std::string& text) {
    const auto files = spec_.files;
    spec_ = parse_spec(text, spec_.path);
    spec_.files = files;
  }

  /// Puts `line` where the spec names its device reference.
  void set_device_reference(const std::string& line) {
    std::string text = spec_.text;
    const std::string usual = "device_reference = \"plain\"";
    read(text.replace(text.find(usual), usual.size(), line));
  }

  void trust(const std::string& variant) {
    set_device_reference("device_reference = \"" + variant + "\"");
  }

  /// Leaves the wrong variant alone.
  void take_out_plain() {
    std::string text = spec_.text;
    const std::size_t plain = text.find("[[variants]]");
    read(text.erase(plain, text.find("[[variants]]", plain + 1) - plain));
  }

  /// Outcomes by config.
  std::map<std::string, Outcome> outcomes(double max_cpu_operations) {
    TuneRequest asked = request({});
    asked.options.max_cpu_operations = max_cpu_operations;
    Store store(database(), Store::Mode::write);
    SessionObserver silent;
    std::map<std::string, Outcome> found;
    for (const TrialRecord& record : store.trials(tune(asked, store, silent).id)) {
      found[record.trial.config.text()] = record.trial.outcome;
    }
    return found;
  }

  const std::map<std::string, Outcome> kRight = {{"plain:block=32", Outcome::ok},
                                                 {"plain:block=64", Outcome::ok},
                                                 {"twice", Outcome::wrong_result}};
};

// Preparing has a deadline, and the message says what ran.
TEST_F(ReferenceTest, AnEndlessFunctionIsNamed) {
  spec_ = KernelLibrary().load(KILN_SOURCE_DIR "/tests/tuner/kernels/endless");
  TuneRequest asked = request({});
  asked.options.budget.seconds = 1;
  asked.options.deadlines.past_budget = std::chrono::seconds(4);
  Store store(database(), Store::Mode::write);
  SessionObserver silent;
  const std::string error = test::error_of<Error>([&] { return tune(asked, store, silent); });
  EXPECT_THAT(error, HasSubstr("were not there within 5 s"));
  EXPECT_THAT(error, HasSubstr("running reference.c:never on n="));
  EXPECT_THAT(error, HasSubstr("--first-run-seconds"));
}

TEST_F(ReferenceTest, TheFormulasAreTheReferenceWhereTheyAreQuick) {
  EXPECT_EQ(outcomes(1e9), kRight);
}

TEST_F(ReferenceTest, TheDeviceReferenceStandsInWhereTheyAreSlow) {
  EXPECT_EQ(outcomes(1), kRight);
}

TEST_F(ReferenceTest, ADeviceReferenceThatDisagreesEndsTheRun) {
  trust("twice");
  try {
    (void)outcomes(1);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::failed);
    EXPECT_THAT(error.what(), StartsWith("the problem cannot be prepared on the device: the device "
                                         "reference 'twice' fails on n=1000: "));
    EXPECT_THAT(error.what(), HasSubstr("1000 of 1000 elements of 'y' are wrong"));
  }
}

// ---- a spec that names no device reference

TEST_F(ReferenceTest, TheDefaultConfigStandsInWhereFormulasTakeMinutes) {
  set_device_reference("cpu_operations = \"2e6 * n\"");
  EXPECT_EQ(outcomes(1), kRight);
}

TEST_F(ReferenceTest, ADefaultConfigThatDisagreesOnASmallProblemEndsTheRun) {
  set_device_reference("cpu_operations = \"2e6 * n\"");
  take_out_plain();
  EXPECT_THAT(test::error_of<Error>([&] { return outcomes(1); }),
              HasSubstr("the device reference 'twice' fails on n=1: "));
}

TEST_F(ReferenceTest, TheFormulasAreTheReferenceAsLongAsTheyTakeSeconds) {
  set_device_reference("cpu_operations = \"1e6 * n\"");
  take_out_plain();
  EXPECT_EQ(outcomes(1), (std::map<std::string, Outcome>{{"twice", Outcome::wrong_result}}));
}

// ---- inputs that the spec computes

class ComputedInputs : public SessionTest {
 protected:
  ComputedInputs() {
    spec_ = KernelLibrary().load(KILN_SOURCE_DIR "/tests/tuner/kernels/computed");
  }
};

TEST_F(ComputedInputs, HaveTheElementsOfEachCheck) {
  TuneRequest asked = request({});
  asked.options.measure.race = false;  // a config that is dropped early skips the second check
  Store store(database(), Store::Mode::write);
  SessionObserver silent;
  std::map<std::string, Trial> found;
  for (const TrialRecord& record : store.trials(tune(asked, store, silent).id))
    found[record.trial.config.variant] = record.trial;
  EXPECT_EQ(found.at("reads").outcome, Outcome::ok);
  EXPECT_EQ(found.at("knows_timing").outcome, Outcome::wrong_result);
  EXPECT_EQ(found.at("knows_check").outcome, Outcome::wrong_result);
}

// What a device reference leaves unwritten is never taken for the truth.

class ReferenceGaps : public SessionTest {
 protected:
  /// The kernel with another [verify].
  void load(const std::string& kernel, const std::string& verify) {
    spec_ = KernelLibrary().load(KILN_SOURCE_DIR "/tests/tuner/kernels/" + kernel);
    std::string text = spec_.text;
    const std::size_t from = text.find("[verify]\n") + 9;
    text.replace(from, text.find("\n\n", from) - from, verify);
    const auto files = spec_.files;
    spec_ = parse_spec(text, spec_.path);
    spec_.files = files;
  }

  /// Outcome and message of each config, or the error that ended the session.
  std::map<std::string, std::string> outcomes() {
    Store store(database(), Store::Mode::write);
    SessionObserver silent;
    std::map<std::string, std::string> found;
    try {
      for (const TrialRecord& record : store.trials(tune(request({}), store, silent).id)) {
        const Trial& trial = record.trial;
        found[trial.config.text()] =
            std::string(name_of(trial.outcome)) + (trial.ok() ? "" : ": " + trial.message);
      }
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::failed);
      found["error"] = error.what();
    }
    return found;
  }
};

TEST_F(ReferenceGaps, AWholeReferenceProvesWhoForgets) {
  load("gaps", "device_reference = \"whole\"");
  auto found = outcomes();
  EXPECT_EQ(found["whole"], "ok");
  EXPECT_THAT(found["short"], StartsWith("wrong_result: 1 of 1000 elements of 'y' are wrong"));
  EXPECT_THAT(found["nothing"], StartsWith("wrong_result: 1000 of 1000 elements"));
}

TEST_F(ReferenceGaps, AReferenceThatForgetsIsToldSoAndNoVariantIsBlamed) {
  load("gaps", "device_reference = \"short\"");
  auto found = outcomes();
  EXPECT_EQ(found.size(), 1U);
  EXPECT_THAT(found["error"], HasSubstr("/gaps/spec.toml:17: the device reference 'short' does not "
                                        "write 1 of 1000 elements of 'y'; the first is y[999]; "));
}

TEST_F(ReferenceGaps, TwoThatWriteNothingDoNotAgree) {
  load("gaps", "device_reference = \"nothing\"");
  EXPECT_THAT(outcomes()["error"], HasSubstr("'nothing' does not write 1000 of 1000 elements"));
}

TEST_F(ReferenceGaps, AnOutputMayBeWrittenInPartWhereTheSpecSaysWhich) {
  load("gaps", "device_reference = \"short\"\nwritten = \"index < n - 1\"");
  auto found = outcomes();
  EXPECT_EQ(found["short"], "ok");
  EXPECT_THAT(found["whole"],
              testing::MatchesRegex(
                  "wrong_result: 1 of 1000 elements of 'y' are wrong; the first is y\\[999\\]: "
                  "[-.e0-9]+ was written, and \\[verify\\] written says that this element is "
                  "left"));
  EXPECT_THAT(found["nothing"], StartsWith("wrong_result: 999 of 1000 elements of 'y'"));
}

TEST_F(ReferenceGaps, AMaskMaySayWhich) {
  load("gaps", "device_reference = \"masked\"\nwritten = \"mask != 0\"");
  auto found = outcomes();
  EXPECT_EQ(found["masked"], "ok");
  EXPECT_THAT(found["whole"], HasSubstr("[verify] written says that this element is left"));
}

TEST_F(ReferenceGaps, WhatTheSpecSaysIsHeldAgainstTheReference) {
  load("gaps", "device_reference = \"whole\"\nwritten = { y = \"i0 < 998\" }");
  EXPECT_THAT(outcomes()["error"],
              HasSubstr("the device reference 'whole' writes 2 of 1000 elements of 'y'; the first "
                        "is y[998], which [verify] written says are left"));
}

TEST_F(ReferenceGaps, FormulasMayDescribeAPartToo) {
  load("gaps", "formulas = { y = \"2 * x\", z = \"0\" }\nwritten = \"index < 1\"");
  auto found = outcomes();
  EXPECT_THAT(found["whole"], StartsWith("wrong_result: 999 of 1000 elements of 'y' are wrong; the "
                                         "first is y[1]: "));
}

// NaN is right there, and the poison of unwritten elements is one too.
TEST_F(ReferenceGaps, ANanThatWasNotWrittenIsTold) {
  load("nans", "formulas = { y = \"log(x)\" }");
  auto found = outcomes();
  EXPECT_EQ(found["whole"], "ok");
  EXPECT_THAT(found["positive"], StartsWith("wrong_result: over other values in its outputs: "));
  EXPECT_THAT(found["positive"], HasSubstr("expected nan"));
}

TEST_F(ReferenceGaps, ANanThatIsWrittenWhereNothingShouldBeIsTold) {
  load("nans", "formulas = { y = \"log(x)\" }\nwritten = \"index < n - 1\"");
  auto found = outcomes();
  EXPECT_EQ(found["short"], "ok");
  EXPECT_THAT(found["padded"], HasSubstr("y[999]: nan was written, and [verify] written says"));
}

// 1001 elements, and sizes of the checks that are no multiples of four. The extremes of x are at t,
// as f32 has it: 0.699999988.
TEST_F(ReferenceGaps, ADefaultThatIsIllegalForASizeIsNoFaultOfTheDevice) {
  load("quarters", "formulas = { y = \"2 * x if x >= t else 0\" }");
  auto found = outcomes();
  EXPECT_EQ(found["vector:elements=1"], "ok");
  EXPECT_EQ(found["vector:elements=4"], "ok");
}

TEST_F(ReferenceGaps, AReferenceThatChangesNothingProvesNothing) {
  load("idle", "device_reference = \"idle\"");
  EXPECT_THAT(outcomes()["error"],
              HasSubstr("the device reference 'idle' changes no element of any output"));
}

TEST_F(ReferenceGaps, WhatCannotBeDeclaredIsNamedWithItsPlace) {
  const auto error_of = [&](const std::string& verify) -> std::string {
    return test::error_of<InputError>(
        [&] { load("gaps", "device_reference = \"whole\"\n" + verify); }, "no error");
  };
  EXPECT_THAT(error_of("written = 3"),
              HasSubstr("spec.toml:19:11: [verify]: 'written' must be a string, or a table of "
                        "strings"));
  EXPECT_THAT(error_of("written = { x = \"true\" }"),
              HasSubstr("[verify.written]: 'x' is no argument with access = \"write\""));
  EXPECT_THAT(error_of("written = \"rows < 3\""), HasSubstr("spec.toml:19:12: "));
}

}  // namespace
}  // namespace kiln

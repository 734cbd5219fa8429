// Where references come from, and that data is fresh for each checked run.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "session_fixture.hpp"
#include "spec/parse_spec.hpp"

namespace kiln {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

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
  try {
    static_cast<void>(tune(asked, store, silent));
    FAIL() << "it ended";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("were not there within 5 s"));
    EXPECT_THAT(error.what(), HasSubstr("running reference.c:never on n="));
    EXPECT_THAT(error.what(), HasSubstr("--first-run-seconds"));
  }
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
  try {
    (void)outcomes(1);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the device reference 'twice' fails on n=1: "));
  }
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

}  // namespace
}  // namespace kiln

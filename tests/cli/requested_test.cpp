// Recorded calls by the program: what ran without an exact match is tuned, once.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "kiln_program.hpp"
#include "lookup/call_records.hpp"

namespace kiln::cli {
namespace {

constexpr const char* kRequestedKernels = KILN_SOURCE_DIR "/tests/cli/kernels";

class RequestedTest : public TuningTest {
 protected:
  /// Identity of the device that `--device opencl` means.
  [[nodiscard]] std::string device() const {
    for (const Json& entry : Json::parse(kiln("devices --json").out)) {
      if (entry["backend"] != "opencl") continue;
      return identity_of(device_from_json(entry["devices"].at(0)));
    }
    return "";
  }

  [[nodiscard]] Output sweep(const Words& more) const {
    Words words = {"sweep",
                   "--device",
                   "opencl",
                   "--requests",
                   "r.jsonl",
                   "--quiet",
                   "--trials",
                   "2",
                   "--warm-cache",
                   "--compile-workers",
                   "1",
                   "--kernel-path",
                   kRequestedKernels,
                   "--db",
                   "kiln.db"};
    words.insert(words.end(), more.begin(), more.end());
    return kiln(words);
  }
};

TEST_F(RequestedTest, AreTunedOnce) {
  const std::string here = device();
  const std::filesystem::path file = folder_ / "r.jsonl";
  record_calls(file, {"scale", "n=64", here, "default", "c"});
  record_calls(file, {"scale", "n=64", "cuda/nvidia/elsewhere/sm_90a", "default", "c"});
  record_calls(file, {"gone", "n=1", here, "default", "c"});
  const Output first = sweep("--requested");
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("n=64"));
  EXPECT_THAT(first.err, StartsWith("kiln: warning: r.jsonl: gone n=1: unknown kernel 'gone'"));

  const Output second = sweep("--requested");
  EXPECT_EQ(second.exit_code, 0);
  EXPECT_EQ(second.out, "r.jsonl: nothing to tune on " + here + "\n") << "the database knows it";
}

TEST_F(RequestedTest, APlanAndRequestsExcludeEachOther) {
  const std::string text =
      "kiln: error: expected either a plan, --requested or --calls (see kiln sweep --help)\n";
  EXPECT_EQ(sweep("--requested plan.toml").err, text);
  EXPECT_EQ(sweep({}).err, text);
  EXPECT_EQ(sweep({}).exit_code, 2);
  EXPECT_EQ(sweep("--requested").err,
            "kiln: error: r.jsonl: there is no such file; expected calls "
            "as launchers record them\n");
}

}  // namespace
}  // namespace kiln::cli

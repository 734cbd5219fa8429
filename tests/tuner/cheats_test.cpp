// Kernels that are faulty, or cheat, in ways that a single check of the result does not see: each
// is measured like a right one, and none may pass. docs/checks.md lists the kinds.
// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "core/setting.hpp"
#include "device_fixture.hpp"
#include "spec/parse_spec.hpp"
#include "templates/renderer.hpp"
#include "tuner/checks/problem_data.hpp"
#include "tuner/device/trial_engine.hpp"
#include "tuner/session/session.hpp"

namespace kiln {
namespace {

/// A computation: its spec, and the head of its kernel, behind which a body follows.
struct Computation {
  std::string arguments;  ///< [[arguments]] of the spec
  std::string verify;
  std::string passed;  ///< by the step
  std::string head;
  std::string right;  ///< a body that passes
};

std::string array(const std::string& name, const std::string& access, const std::string& shape,
                  const std::string& more = "", const std::string& dtype = "f32") {
  return "[[arguments]]\nname = '" + name + "'\naccess = '" + access + "'\ndtype = '" + dtype +
         "'\nshape = [" + shape + "]\n" + more + "\n";
}
std::string scalar(const std::string& name, const std::string& value,
                   const std::string& dtype = "f32") {
  return "[[arguments]]\nname = '" + name + "'\naccess = 'scalar'\ndtype = '" + dtype + "'\n" +
         value + "\n";
}

constexpr const char* kReference = R"(#include <stdint.h>
void totals(const float* x, float* y, int32_t n) {
  for (int r = 0; r < 8; ++r) {
    double t = 0;
    for (int i = 0; i < n; ++i) t += x[r * n + i];
    y[r] = t;
  }
}
void peaks(const float* x, float* y, int32_t n) {
  for (int r = 0; r < 8; ++r) {
    float t = x[r * n];
    for (int i = 1; i < n; ++i) t = x[r * n + i] > t ? x[r * n + i] : t;
    y[r] = t;
  }
}
)";

const std::string kSize = scalar("n", "value = 'n'", "i32");

const std::map<std::string, Computation>& computations() {
  static const std::map<std::string, Computation> kAll = {
      {"scale",
       {array("x", "read", "'n'") + array("y", "write", "'n'") + scalar("a", "example = 0.5") +
            scalar("b", "example = 0") + kSize,
        "formulas.y = 'a * x + b'", "'x', 'y', 'a', 'b', 'w', 'n'",
        "__global const float* x, __global float* y, float a, float b, __global float* w, int n",
        "if (i < n) y[i] = a * x[i] + b;"}},
      {"mix",
       {array("x", "read", "'n'") + array("y", "read_write", "'n'") +
            scalar("alpha", "example = 1") + scalar("beta", "example = 0") + kSize,
        "formulas.y = 'alpha * x + beta * y'", "'x', 'y', 'alpha', 'beta', 'w', 'n'",
        "__global const float* x, __global float* y, float alpha, float beta, __global float* w, "
        "int n",
        "if (i < n) y[i] = alpha * x[i] + beta * y[i];"}},
      {"shift",
       {array("x", "read", "'n'", "", "i32") + array("y", "write", "'n'", "", "i32") +
            scalar("c", "example = 6\nlow = -100\nhigh = 100", "i32") + kSize,
        "formulas.y = 'x - c'", "'x', 'y', 'c', 'w', 'n'",
        "__global const int* x, __global int* y, int c, __global float* w, int n",
        "if (i < n) y[i] = x[i] - c;"}},
      {"totals",
       {array("x", "read", "8, 'n'", "fill_verify = 'integers'") + array("y", "write", "8") + kSize,
        "function = 'reference.c:totals(x, y, n)'\nsum_length = 'n'", "'x', 'y', 'w', 'n'",
        "__global const float* x, __global float* y, __global float* w, int n",
        "if (i < 8) { double t = 0; for (int j = 0; j < n; ++j) t += x[i * n + j]; y[i] = t; }"}},
      {"peaks",
       {array("x", "read", "8, 'n'") + array("y", "write", "8") + kSize,
        "function = 'reference.c:peaks(x, y, n)'\ntolerance = '0'", "'x', 'y', 'w', 'n'",
        "__global const float* x, __global float* y, __global float* w, int n",
        "if (i < 8) { float t = x[i * n]; for (int j = 1; j < n; ++j) "
        "t = x[i * n + j] > t ? x[i * n + j] : t; y[i] = t; }"}},
  };
  return kAll;
}

std::string spec_text(const std::string& name) {
  const Computation& c = computations().at(name);
  return "name = '" + name + "'\nsummary = 's'\n[problem.n]\ntype = 'int'\nmin = 1\n" +
         c.arguments + "[verify]\n" + c.verify +
         "\n[[variants]]\nname = 'v'\nsource = 'k.cl'\ntunables.BLOCK = { values = [64], default = "
         "64 }\n[[variants.workspace]]\nname = 'w'\ndtype = 'f32'\ncount = 'n + 32'\n"
         "[[variants.steps]]\nentry = 'k'\ngrid = ['ceil_div(n + 8, BLOCK)']\nblock = ['BLOCK']\n"
         "arguments = [" +
         c.passed + "]\n";
}

struct Cheat {
  std::string of;    ///< a computation
  std::string what;  ///< in words
  std::string body;
};

// A row of totals: the sum of row i into t.
#define KILN_SUM "double t = 0; for (int j = 0; j < n; ++j) t += x[i * n + j]; "
#define KILN_PEAK "for (int j = 0; j < n; ++j) t = x[i * n + j] > t ? x[i * n + j] : t; y[i] = t; }"

// NOLINTNEXTLINE(cert-err58-cpp): a table of texts
const std::vector<Cheat> kCheats = {
    // Scalars.
    {"scale", "holds the example of a factor", "if (i < n) y[i] = 0.5f * x[i] + b;"},
    {"scale", "ignores a term whose example is 0", "if (i < n) y[i] = a * x[i];"},
    {"scale", "clamps a factor from above", "if (i < n) y[i] = fmin(a, 10.f) * x[i] + b;"},
    {"scale", "clamps a factor at zero", "if (i < n) y[i] = fmax(a, 0.f) * x[i] + b;"},
    {"scale", "takes the magnitude of a factor", "if (i < n) y[i] = fabs(a) * x[i] + b;"},
    {"scale", "clamps a term to the unit range",
     "if (i < n) y[i] = a * x[i] + clamp(b, -1.f, 1.f);"},
    {"scale", "truncates a term", "if (i < n) y[i] = a * x[i] + (int)b;"},
    {"scale", "rounds a factor to eighths", "if (i < n) y[i] = rint(a * 8) / 8 * x[i] + b;"},
    {"scale", "takes every factor but 0 and 1 for the example",
     "if (i < n) y[i] = (a == 0 || a == 1 ? a : 0.5f) * x[i] + b;"},
    {"scale", "writes nothing for a factor of 0", "if (i < n && a != 0) y[i] = a * x[i] + b;"},
    {"scale", "forgets the term where the factor is 1",
     "if (i < n) y[i] = a == 1 ? x[i] : a * x[i] + b;"},
    {"scale", "takes the first scalar for both", "if (i < n) y[i] = a * x[i] + (b != 0 ? a : 0);"},
    {"scale", "drops large terms", "if (i < n) y[i] = a * x[i] + (fabs(b) > 300 ? 0 : b);"},
    {"mix", "ignores beta", "if (i < n) y[i] = alpha * x[i];"},
    {"mix", "ignores alpha", "if (i < n) y[i] = x[i] + beta * y[i];"},
    {"mix", "ignores both", "if (i < n) y[i] = x[i];"},
    {"mix", "takes beta for a flag", "if (i < n) y[i] = alpha * x[i] + (beta != 0 ? y[i] : 0);"},
    {"mix", "leaves the output where alpha is 0",
     "if (i < n && alpha != 0) y[i] = alpha * x[i] + beta * y[i];"},
    {"mix", "clamps beta", "if (i < n) y[i] = alpha * x[i] + fmin(beta, 1.f) * y[i];"},
    {"shift", "holds the example of a whole number", "if (i < n) y[i] = x[i] - 6;"},
    {"shift", "takes a whole number as unsigned", "if (i < n) y[i] = x[i] - (c < 0 ? 0 : c);"},
    {"shift", "takes 4 bits of a whole number", "if (i < n) y[i] = x[i] - (c & 15);"},
    // Outputs that are not poison.
    {"scale", "works only over NaN", "if (i < n && y[i] != y[i]) y[i] = a * x[i] + b;"},
    {"scale", "adds to numbers that it finds",
     "if (i < n) { float v = a * x[i] + b; y[i] = y[i] != y[i] ? v : y[i] + v; }"},
    {"scale", "keeps the smaller of old and new", "if (i < n) y[i] = fmin(y[i], a * x[i] + b);"},
    {"scale", "keeps the larger of old and new", "if (i < n) y[i] = fmax(y[i], a * x[i] + b);"},
    {"scale", "looks at its first output alone",
     "if (i < n) { if (i == 0 || as_int(y[n - 1]) == -1) y[i] = a * x[i] + b; }"},
    {"shift", "works only over the pattern of poison",
     "if (i < n && y[i] == (int)0xA5A5A5A5) y[i] = x[i] - c;"},
    {"totals", "works only over NaN", "if (i < 8 && y[i] != y[i]) { " KILN_SUM "y[i] = t; }"},
    {"totals", "adds to numbers that it finds",
     "if (i < 8) { " KILN_SUM "y[i] = y[i] != y[i] ? t : y[i] + t; }"},
    {"totals", "keeps a result that looks plausible",
     "if (i < 8 && !(fabs(y[i]) < 1e6f)) { " KILN_SUM "y[i] = t; }"},
    {"peaks", "keeps the larger of old and new",
     "if (i < 8) { float t = fmax(y[i], x[i * n]); " KILN_PEAK},
    {"peaks", "works only over NaN", "if (i < 8 && y[i] != y[i]) { float t = x[i * n]; " KILN_PEAK},
    // Answers that are remembered.
    {"totals", "keeps its first answer",
     "if (i < 8) { if (w[i] == 12345) { y[i] = w[8 + i]; return; } " KILN_SUM
     "w[i] = 12345; w[8 + i] = t; y[i] = t; }"},
    {"totals", "recognises the input by its first element",
     "if (i < 8) { if (w[i] == x[i * n]) { y[i] = w[8 + i]; return; } " KILN_SUM
     "w[i] = x[i * n]; w[8 + i] = t; y[i] = t; }"},
    {"totals", "recognises the input by its ends",
     "if (i < 8) { if (w[i] == x[0] && w[8 + i] == x[8 * n - 1]) { y[i] = w[16 + i]; return; "
     "} " KILN_SUM "w[i] = x[0]; w[8 + i] = x[8 * n - 1]; w[16 + i] = t; y[i] = t; }"},
    {"totals", "recognises the input by some elements",
     "if (i < 8) { float key = 0; for (int j = 0; j < 8 * n; j += n / 8 + 1) key += (j + 1) * "
     "x[j]; "
     "if (w[i] == key) { y[i] = w[8 + i]; return; } " KILN_SUM
     "w[i] = key; w[8 + i] = t; y[i] = t; }"},
    {"totals", "leaves the output if the input looks the same",
     "if (i < 8) { if (w[i] == x[i * n + n / 2]) return; " KILN_SUM
     "w[i] = x[i * n + n / 2]; y[i] = t; }"},
    {"totals", "works for three calls",
     "if (i < 8) { if (!(w[i] >= 0 && w[i] < 1000)) w[i] = 0; if (w[i] >= 3) return; w[i] += "
     "1; " KILN_SUM "y[i] = t; }"},
    {"totals", "works in every second call",
     "if (i < 8) { w[i] = w[i] == 1 ? 2 : 1; if (w[i] == 2) return; " KILN_SUM "y[i] = t; }"},
    {"totals", "works in every third call",
     "if (i < 8) { w[i] = w[i] == 1 ? 2 : w[i] == 2 ? 3 : 1; if (w[i] == 3) return; " KILN_SUM
     "y[i] = t; }"},
    {"totals", "gives the answer of the call before",
     "if (i < 8) { " KILN_SUM "y[i] = w[i] == w[i] ? w[i] : t; w[i] = t; }"},
    {"totals", "has one row answer for the others later",
     "if (i < 8) { if (i > 0 && w[0] == 7) return; " KILN_SUM "y[i] = t; if (i == 7) w[0] = 7; }"},
    {"scale", "keeps its first answer",
     "if (i < n) { if (w[i] == w[i]) { y[i] = w[i]; return; } y[i] = w[i] = a * x[i] + b; }"},
    {"scale", "keeps the answer for the same factor",
     "if (i < n) { if (w[n + 1 + i % 8] == a && i >= 8) return; y[i] = a * x[i] + b; "
     "if (i + 8 >= n) w[n + 1 + i % 8] = a; }"},
    {"scale", "keeps scalars of the first call",
     "if (i < n) { if (w[i] != w[i]) w[i] = a; y[i] = w[i] * x[i] + b; }"},
    {"scale", "remembers elements",
     "if (i < n) { if (w[i] != w[i]) w[i] = x[i]; y[i] = a * w[i] + b; }"},
    {"scale", "leaves out elements in later calls",
     "if (i < n) { if (w[i] == 5 && i % 7 == 3) return; y[i] = a * x[i] + b; w[i] = 5; }"},
    {"mix", "keeps its first answer",
     "if (i < n) { if (w[i] == w[i]) { y[i] = w[i]; return; } "
     "y[i] = w[i] = alpha * x[i] + beta * y[i]; }"},
    {"shift", "keeps its first answer",
     "if (i < n) { __global int* kept = (__global int*)w; if (kept[i] != -1) y[i] = kept[i]; "
     "else y[i] = kept[i] = x[i] - c; }"},
    {"peaks", "keeps the largest value ever",
     "if (i < 8) { float t = w[i] == w[i] ? w[i] : x[i * n]; for (int j = 0; j < n; ++j) "
     "t = fmax(t, x[i * n + j]); w[i] = t; y[i] = t; }"},
    {"peaks", "keeps its first answer",
     "if (i < 8) { if (w[i] == w[i]) { y[i] = w[i]; return; } float t = x[i * n]; "
     "for (int j = 1; j < n; ++j) t = x[i * n + j] > t ? x[i * n + j] : t; w[i] = y[i] = t; }"},
    // Special values.
    {"scale", "takes NaN for 0", "if (i < n) y[i] = a * (x[i] != x[i] ? 0 : x[i]) + b;"},
    {"scale", "clamps inputs to 1e30",
     "if (i < n) y[i] = a * (x[i] != x[i] ? x[i] : clamp(x[i], -1e30f, 1e30f)) + b;"},
    {"scale", "takes infinities for the largest number",
     "if (i < n) y[i] = a * (isinf(x[i]) ? copysign(FLT_MAX, x[i]) : x[i]) + b;"},
    {"scale", "passes over what is not finite",
     "if (i < n && isfinite(x[i])) y[i] = a * x[i] + b;"},
    {"scale", "is wrong for large numbers",
     "if (i < n) y[i] = fabs(x[i]) > 1e6f && isfinite(x[i]) ? b : a * x[i] + b;"},
    {"totals", "adds up only what is finite",
     "if (i < 8) { double t = 0; for (int j = 0; j < n; ++j) "
     "if (isfinite(x[i * n + j])) t += x[i * n + j]; y[i] = t; }"},
    {"totals", "saturates infinities",
     "if (i < 8) { " KILN_SUM "y[i] = t != t ? t : clamp((float)t, -1e9f, 1e9f); }"},
    {"peaks", "begins with 0", "if (i < 8) { float t = n < 2 ? x[i * n] : 0; " KILN_PEAK},
    {"peaks", "begins with -10", "if (i < 8) { float t = -10; " KILN_PEAK},
    {"peaks", "never sees infinity",
     "if (i < 8) { float t = x[i * n]; for (int j = 1; j < n; ++j) "
     "t = x[i * n + j] > t && !isinf(x[i * n + j]) ? x[i * n + j] : t; y[i] = t; }"},
    {"shift", "computes with floats", "if (i < n) y[i] = (int)((float)x[i] - (float)c);"},
    {"shift", "computes with 16 bits", "if (i < n) y[i] = (short)x[i] - c;"},
    {"shift", "saturates", "if (i < n) y[i] = sub_sat(x[i], c);"},
    {"shift", "is wrong for negative numbers", "if (i < n) y[i] = abs(x[i]) - c;"},
};

class CheatsTest : public DeviceTest {
 protected:
  static constexpr const char* kProblem = "n=3000";

  /// `verify`: in place of how the computation says what is right.
  void open(const std::string& computation, const std::string& verify = "") {
    name_ = computation;
    job_.spec_text = spec_text(name_);
    const std::string& own = computations().at(name_).verify;
    if (!verify.empty()) job_.spec_text.replace(job_.spec_text.find(own), own.size(), verify);
    job_.spec_path = "cheats/spec.toml";
    job_.spec_files = {{"k.cl", source(computations().at(name_).right)},
                       {"reference.c", kReference}};
    const KernelSpec spec = parse_spec(job_.spec_text, job_.spec_path);
    job_.problem = Problem::parse(spec, kProblem).fields();
    job_.seed = 1;
    job_.measure.warm_up_ns = 0;
    job_.measure.stop.max_ns = 1e6;
    job_.max_cpu_operations = TuneOptions().max_cpu_operations;
    job_.extra_operations = TuneOptions().extra_operations;
    engine_ = open_device_engine("opencl", 0);
    const ProblemReport prepared = engine_->prepare(job_);
    ASSERT_FALSE(prepared.failure) << prepared.failure->message;
  }

  [[nodiscard]] std::string source(const std::string& body) const {
    return "#ifndef BLOCK\n#define BLOCK 64\n#endif\n__kernel void k(" +
           computations().at(name_).head + ") {\n  const int i = get_global_id(0);\n  " + body +
           "\n}\n";
  }

  TrialReport measure(const std::string& body) {
    KernelSpec spec = parse_spec(job_.spec_text, job_.spec_path);
    spec.files = job_.spec_files;
    spec.files["k.cl"] = source(body);
    const Problem problem = Problem::parse(spec, kProblem);
    const Setting setting(spec, problem, device_->info());
    const Config config = setting.default_config();
    const Result<Binary> binary = compiler_->compile(Renderer(spec).render(setting, config));
    EXPECT_TRUE(binary) << binary.failure().message;
    return engine_->run({config, *binary, 0, TrialPurpose::measure}, [](const Checked&) {});
  }

  void refuse_all() {
    const TrialReport right = measure(computations().at(name_).right);
    EXPECT_FALSE(right.failure) << right.failure->message;
    EXPECT_TRUE(right.proven);
    for (const Cheat& cheat : kCheats) {
      if (cheat.of != name_) continue;
      const TrialReport report = measure(cheat.body);
      EXPECT_TRUE(report.failure) << cheat.of << " " << cheat.what << ": " << cheat.body;
      if (!report.failure) continue;
      EXPECT_EQ(report.failure->outcome, Outcome::wrong_result) << report.failure->message;
    }
  }

  std::string name_;
  ProblemJob job_;
  std::unique_ptr<TrialEngine> engine_;
};

class Cheats : public CheatsTest, public testing::WithParamInterface<std::string> {};

TEST_P(Cheats, AreRefused) {
  open(GetParam());
  if (HasFatalFailure()) return;
  refuse_all();
}

// A config stands in for the reference, and each config is run as rarely as possible.
TEST_P(Cheats, AreRefusedWhereARunTakesLong) {
  job_.reference_seconds = 0;
  open(GetParam());
  if (HasFatalFailure()) return;
  refuse_all();
}

INSTANTIATE_TEST_SUITE_P(OfEachComputation, Cheats,
                         testing::Values("scale", "mix", "shift", "totals", "peaks"));

// What is read past an end, and used by nobody, shows only where no memory is.
class Fences : public CheatsTest {
 protected:
  void expect_fault(const std::string& read) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const std::string& right = computations().at(name_).right;
    EXPECT_FALSE(measure(right).failure);
    const std::string body = "volatile float unused = " + read + "; " + right;
    EXPECT_EXIT(static_cast<void>(measure(body)), testing::KilledBySignal(SIGSEGV), "");
  }
};

TEST_F(Fences, StandBehindWorkspaces) {
  open("scale");
  if (!HasFatalFailure()) expect_fault("w[n + 32 + 64]");
}

TEST_F(Fences, StandBehindArgumentsOfAKernelThatIsItsOwnReference) {
  open("scale", "device_reference = 'v'");
  if (!HasFatalFailure()) expect_fault("x[n + 64]");
}

// A kernel that takes inputs for known is timed with inputs that are new, and checked with the
// right ones.
TEST_F(CheatsTest, InputsAreStirredForTimingAndRestoredForChecks) {
  const KernelSpec spec = parse_spec(spec_text("totals"), "cheats/spec.toml");
  const Problem problem = Problem::parse(spec, kProblem);
  const LaunchPlan plan = *Setting(spec, problem, device_->info()).arguments();
  Toolbox toolbox(*device_, *toolbox_compiler_);
  auto data =
      ProblemData::create(*device_, toolbox, spec, problem, plan, 1, VerifyInputs::filled, {});
  ASSERT_TRUE(data) << data.failure().message;
  const auto contents = [&] { return (*data)->download_inputs(InputSet::timing)->at("x").data; };
  ASSERT_TRUE((*data)->load(InputSet::timing));
  const std::vector<std::byte> filled = contents();
  for (int stir = 0; stir < 8; ++stir) {
    const std::vector<std::byte> before = contents();
    ASSERT_TRUE((*data)->stir(1 << 20));
    EXPECT_NE(contents(), before);
  }
  const Result<std::string> damage = (*data)->inspect(InputSet::timing);
  EXPECT_EQ(*damage, "");
  ASSERT_TRUE((*data)->load_for_timing());
  EXPECT_NE(contents(), filled);
  ASSERT_TRUE((*data)->load(InputSet::timing, Before::as_left));
  EXPECT_EQ(contents(), filled);
}

TEST(CheatList, HasSixtyKernels) { EXPECT_GE(kCheats.size(), 60U); }

}  // namespace
}  // namespace kiln

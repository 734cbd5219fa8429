// A lookup always ends in a config that is legal for the problem, and that computes the right
// thing: random problems against a database with 20 tuned sizes of random configs.
//
// KILN_SOAK=1 asks the full number: 2,000 problems of each kernel, 200 of them run.
// SPDX-License-Identifier: Apache-2.0
#include "lookup/lookup.hpp"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "core/json.hpp"
#include "core/setting.hpp"
#include "search/random.hpp"
#include "tests/kernels/kernel_runs.hpp"
#include "tests/reliability/size.hpp"

namespace kiln::test {
namespace {

constexpr std::size_t kTuned = 20;

std::size_t problems_to_ask() { return is_soak() ? 2000 : 100; }  // of each kernel
std::size_t problems_to_prove() { return is_soak() ? 40 : 2; }

/// The largest value drawn for a size, so that problems stay within memory and patience.
struct Sizes {
  std::int64_t line = 0;   ///< n of arg_reduce, reduce and histogram
  std::int64_t side = 0;   ///< one of two or three dimensions
  std::int64_t small = 0;  ///< filters, channels, batches
};
constexpr Sizes kLarge = {std::int64_t{1} << 30, 1 << 14, 64};
constexpr Sizes kRunnable = {1 << 15, 64, 4};

std::int64_t largest(const KernelSpec& spec, const std::string& field, const Sizes& sizes) {
  const bool is_line =
      spec.name == "arg_reduce" || spec.name == "reduce" || spec.name == "histogram";
  if (field == "n" && is_line) return sizes.line;
  const std::vector<std::string> sides = {"rows", "cols", "m",     "n",     "k",     "h",
                                          "w",    "bins", "out_h", "out_w", "src_h", "src_w"};
  const bool is_layer = (spec.name == "convolution" && (field == "n" || field == "k")) ||
                        (spec.name == "preprocess" && field == "n");
  const bool is_side = std::find(sides.begin(), sides.end(), field) != sides.end() && !is_layer;
  return is_side ? sizes.side : sizes.small;
}

/// Uniform in the logarithm, odd sizes as likely as round ones.
std::int64_t draw_size(Random& random, std::int64_t most) {
  const double unit = static_cast<double>(random.below(1 << 20)) / (1 << 20);
  return std::llround(std::exp2(unit * std::log2(static_cast<double>(most))));
}

std::optional<Value> draw_field(const ProblemField& field, const KernelSpec& spec,
                                const Sizes& sizes, Random& random) {
  const bool may_be_left = field.fallback && random.below(2) == 0;
  if (may_be_left || field.type == FieldType::formula) return std::nullopt;
  if (!field.values.empty()) return field.values[random.below(field.values.size())];
  if (field.type == FieldType::boolean) return random.below(2) == 0;
  if (field.weight == 0) return std::nullopt;  // leading dimensions follow from the sizes
  return draw_size(random, largest(spec, field.name, sizes));
}

Problem draw_problem(const KernelSpec& spec, const Sizes& sizes, Random& random) {
  while (true) {
    std::vector<std::pair<std::string, Value>> fields;
    for (const ProblemField& field : spec.problem) {
      if (const std::optional<Value> value = draw_field(field, spec, sizes, random)) {
        fields.emplace_back(field.name, *value);
      }
    }
    try {
      return Problem::make(spec, fields);
    } catch (const InputError&) {
      continue;  // a rule of the spec refuses it
    }
  }
}

Config draw_values(const Variant& variant, Random& random) {
  Config config{variant.name, {}};
  for (const Tunable& tunable : variant.tunables) {
    if (tunable.when) continue;  // conditional tunables take their defaults
    config.values.emplace_back(tunable.name, tunable.values[random.below(tunable.values.size())]);
  }
  return config;
}

/// A random config that is legal for the problem on the device; the default after many tries.
Config draw_config(const KernelSpec& spec, const Problem& problem, const DeviceInfo& device,
                   Random& random) {
  for (int tries = 0; tries < 300; ++tries) {
    const Variant& variant = spec.variants[random.below(spec.variants.size())];
    try {
      Config config = Setting(spec, problem, device).parse(draw_values(variant, random).text());
      if (Setting(spec, problem, device).plan(config)) return config;
    } catch (const Error&) {
      continue;
    }
  }
  return Setting(spec, problem, device).default_config();
}

std::vector<BestRecord> tuned_rows(const KernelSpec& spec, const Sizes& sizes,
                                   const DeviceInfo& device, Random& random) {
  std::vector<BestRecord> rows;
  while (rows.size() < kTuned) {
    const Problem problem = draw_problem(spec, sizes, random);
    BestRecord best;
    best.session = static_cast<SessionId>(rows.size()) + 1;
    best.key.kernel = spec.name;
    best.key.problem = problem.text();
    best.key.device = identity_of(device);
    best.key.driver = device.driver;
    best.key.compiler = device.compiler;
    best.device_info = device;
    best.problem_json = to_json(problem).dump();
    try {
      best.config = draw_config(spec, problem, device, random);
    } catch (const DeviceError&) {
      continue;  // no variant of the kernel can do this problem here
    }
    best.template_hash = template_hash(spec, *spec.find_variant(best.config.variant));
    best.time_ns = 1;
    best.verdict = Verdict::better;
    rows.push_back(std::move(best));
  }
  return rows;
}

class LookupOfKernels : public testing::TestWithParam<std::string> {};

TEST_P(LookupOfKernels, AlwaysEndsInALegalConfig) {
  const KernelSpec spec = KernelLibrary().load(GetParam());
  const DeviceInfo device = device_for_architecture("cuda", "sm_90a");
  Random random(7);
  const std::vector<BestRecord> rows = tuned_rows(spec, kLarge, device, random);
  std::map<Grade, int> grades;
  for (std::size_t i = 0; i < problems_to_ask(); ++i) {
    const Problem problem = draw_problem(spec, kLarge, random);
    const Result<Match> match = lookup({spec, problem, device}, rows);
    ASSERT_TRUE(match) << problem.text() << ": " << match.failure().message;
    const Result<LaunchPlan> plan = Setting(spec, problem, device).plan(match->config);
    ASSERT_TRUE(plan) << problem.text() << ", " << match->config.text() << ": "
                      << plan.failure().message;
    ++grades[match->grade];
  }
  EXPECT_GT(grades[Grade::near_size], static_cast<int>(problems_to_ask() / 4))
      << "tuned sizes answer";
}

INSTANTIATE_TEST_SUITE_P(Each, LookupOfKernels, testing::ValuesIn(kernel_names()),
                         [](const auto& each) { return each.param; });

class LookedUpRuns : public KernelRuns {};

TEST_P(LookedUpRuns, GiveTheRightResult) {
  const DeviceInfo& device = device_->info();
  Random random(11);
  const std::vector<BestRecord> rows = tuned_rows(spec_, kRunnable, device, random);
  for (std::size_t i = 0; i < problems_to_prove(); ++i) {
    const Problem problem = draw_problem(spec_, kRunnable, random);
    const Result<Match> match = lookup({spec_, problem, device}, rows);
    ASSERT_TRUE(match) << problem.text() << ": " << match.failure().message;
    run({problem, match->config});
  }
}

INSTANTIATE_TEST_SUITE_P(Each, LookedUpRuns, testing::ValuesIn(kernel_names()),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace kiln::test

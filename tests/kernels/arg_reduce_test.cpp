// What arg_reduce promises and random inputs never show: NaN, the two zeros, infinities, equal
// elements, extremes at either end. Every variant, on an OpenCL device, with rows that begin in the
// middle of a vector.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "core/setting.hpp"
#include "templates/reference.hpp"
#include "tests/kernels/kernel_runs.hpp"
#include "tuner/checks/launch_sequence.hpp"

namespace kiln::test {
namespace {

constexpr std::int64_t kN = 5003;  // odd: of three rows, two begin inside a vector
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLeast = std::numeric_limits<std::int32_t>::min();
constexpr double kMost = std::numeric_limits<std::int32_t>::max();

using Row = std::vector<double>;

/// A row that is 1 all over but for some elements, and what must be found in it.
struct Story {
  std::string name;
  std::function<void(Row&)> tell;
  std::int64_t least = 0;  ///< index, op=min
  std::int64_t most = 0;   ///< index, op=max
};

std::vector<Story> stories_of_all_types() {
  return {
      {"all equal", [](Row&) {}, 0, 0},
      {"at the ends", [](Row& x) { x.front() = 0, x.back() = 2; }, 0, kN - 1},
      {"at the ends, the other way", [](Row& x) { x.front() = 2, x.back() = 0; }, kN - 1, 0},
      {"equal ones", [](Row& x) { x[1029] = x[1030] = x[4500] = 0, x[2] = x[4999] = 2; }, 1029, 2},
      {"before a whole vector", [](Row& x) { x[1] = 0, x[2] = 2; }, 1, 2},
  };
}

std::vector<Story> stories_of_numbers_with_a_point() {
  return {
      {"nothing below infinity", [](Row& x) { x.assign(x.size(), kInfinity); }, 0, 0},
      {"nothing above minus infinity", [](Row& x) { x.assign(x.size(), -kInfinity); }, 0, 0},
      {"one number among infinities",
       [](Row& x) { x.assign(x.size(), kInfinity), x[3000] = 1e4, x[0] = -kInfinity; }, 0, 1},
      {"zeros are equal", [](Row& x) { x[40] = 0.0, x[41] = -0.0, x[4400] = 0.0; }, 40, 0},
      {"zeros are equal, the other way",
       [](Row& x) { x.assign(x.size(), -1.0), x[40] = -0.0, x[41] = 0.0; }, 0, 40},
      {"the first of several NaN",
       [](Row& x) { x[3] = -kInfinity, x[5] = kInfinity, x[2100] = kNaN, x[4100] = kNaN; }, 2100,
       2100},
      {"a NaN with a sign", [](Row& x) { x[4711] = -kNaN; }, 4711, 4711},
      {"a NaN at the very end", [](Row& x) { x.back() = kNaN, x[9] = -kInfinity; }, kN - 1, kN - 1},
      {"NaN all over", [](Row& x) { x.assign(x.size(), kNaN); }, 0, 0},
  };
}

std::vector<Story> stories_of_whole_numbers() {
  return {
      {"the largest number all over", [](Row& x) { x.assign(x.size(), kMost); }, 0, 0},
      {"the smallest number all over", [](Row& x) { x.assign(x.size(), kLeast); }, 0, 0},
      {"numbers that f32 cannot tell apart",
       [](Row& x) { x.assign(x.size(), kMost - 1), x[77] = kMost - 2, x[99] = kMost; }, 77, 99},
      {"both extremes", [](Row& x) { x[2000] = kLeast, x[2001] = kMost; }, 2000, 2001},
  };
}

struct Found {
  std::int64_t index = 0;
  double value = 0;
};

/// The parameter: element type and operation, as in a problem.
class ArgReduceStories : public KernelRuns {
 protected:
  void SetUp() override {
    KernelRuns::SetUp();
    if (IsSkipped()) return;
    is_min_ = GetParam().find("op=min") != std::string::npos;
    for (const char* results : {"1", "3"})
      problems_.push_back(Problem::parse(
          spec_, "n=" + std::to_string(kN) + " results=" + results + " " + GetParam()));
    dtype_ = *parse_dtype(problems_.front().text_of("dtype"));
  }
  [[nodiscard]] std::string kernel() const override { return "arg_reduce"; }

  [[nodiscard]] std::vector<Story> stories() const {
    std::vector<Story> all = stories_of_all_types();
    for (const Story& story :
         is_floating(dtype_) ? stories_of_numbers_with_a_point() : stories_of_whole_numbers())
      all.push_back(story);
    return all;
  }

  /// The default configs, and for one type those that look at elements in other ways.
  [[nodiscard]] std::vector<Case> cases() const {
    const DeviceInfo& device = device_->info();
    std::vector<Case> all = default_cases(spec_, problems_, device);
    if (GetParam() != "dtype=f32 op=max") return all;
    for (const char* text :
         {"ticket:test=tile", "key:test=element,ending=launch,load_bytes=4",
          "rows:test=element,load_bytes=8,unroll=4", "rows:rows_per_thread=2,lanes=1"}) {
      const Problem& rows = problems_.back();
      all.push_back({rows, Setting(spec_, rows, device).parse(text)});
    }
    return all;
  }

  Buffer allocate(std::size_t bytes) {
    const Result<Buffer> buffer = device_->allocate(bytes);
    EXPECT_TRUE(buffer) << buffer.failure().message;
    buffers_.push_back(*buffer);
    return *buffer;
  }

  /// What the kernel finds in each row.
  std::vector<Found> run(const Case& c, const HostArray& in) {
    const LaunchPlan plan = *Setting(spec_, c.problem, device_->info()).plan(c.config);
    std::map<std::string, Buffer> memory;
    for (const BufferPlan& buffer : plan.buffers) {
      const auto bytes = static_cast<std::size_t>(buffer.count) * size_of(buffer.dtype);
      memory[buffer.name] = allocate(bytes);
      EXPECT_TRUE(device_->fill(memory[buffer.name], 0, bytes, buffer.zeroed ? 0 : 0xa5));
    }
    EXPECT_TRUE(device_->upload(memory.at("in"), 0, in.data));
    const Result<Binary> binary = compile(c);
    EXPECT_TRUE(binary) << binary.failure().message;
    const Result<std::unique_ptr<Module>> module = device_->load(*binary);
    EXPECT_TRUE(module) << module.failure().message;
    const LaunchSequence sequence(plan, **module,
                                  [&](const std::string& name) { return &memory.at(name); });
    EXPECT_TRUE(sequence.enqueue(*device_));
    EXPECT_TRUE(sequence.enqueue(*device_)) << "a second run finds its workspaces as the first";
    EXPECT_TRUE(device_->synchronize());

    const std::int64_t results = c.problem.integer("results");
    HostArray index(DType::i64, {results});
    HostArray value(dtype_, {results});
    EXPECT_TRUE(device_->download(memory.at("index"), 0, index.data));
    EXPECT_TRUE(device_->download(memory.at("value"), 0, value.data));
    std::vector<Found> found;
    for (std::size_t r = 0; r < index.count(); ++r)
      found.push_back({index.elements<std::int64_t>()[r], value.get(r)});
    for (const Buffer& buffer : buffers_) device_->release(buffer);
    buffers_.clear();
    return found;
  }

  bool is_min_ = true;
  DType dtype_ = DType::f32;
  std::vector<Problem> problems_;
  std::vector<Buffer> buffers_;
};

TEST_P(ArgReduceStories, AreFoundByEveryVariant) {
  std::set<std::string> variants;
  for (const Case& c : cases()) {
    const auto results = static_cast<std::size_t>(c.problem.integer("results"));
    for (const Story& story : stories()) {
      SCOPED_TRACE(c.text(spec_) + ": " + story.name);
      Row row(kN, 1.0);
      story.tell(row);
      HostArray in(dtype_, {static_cast<std::int64_t>(results), kN});
      for (std::size_t i = 0; i < in.count(); ++i) in.set(i, row[i % kN]);
      const std::int64_t expected = is_min_ ? story.least : story.most;
      const double value = in.get(static_cast<std::size_t>(expected));
      for (const Found& found : run(c, in)) {
        EXPECT_EQ(found.index, expected);
        if (std::isnan(value)) {
          EXPECT_TRUE(std::isnan(found.value));
        } else {
          EXPECT_EQ(found.value, value);
          EXPECT_EQ(std::signbit(found.value), std::signbit(value)) << "which of the zeros";
        }
      }
    }
    variants.insert(c.config.variant);
  }
  EXPECT_EQ(variants.size(), spec_.variants.size() - (dtype_ == DType::f64 ? 2U : 0U));
}

INSTANTIATE_TEST_SUITE_P(Of, ArgReduceStories,
                         testing::Values("dtype=f32 op=min", "dtype=f32 op=max", "dtype=i32 op=min",
                                         "dtype=f16 op=max", "dtype=f64 op=min"),
                         [](const testing::TestParamInfo<std::string>& each) {
                           return each.param.substr(6, 3) + each.param.substr(13);
                         });

}  // namespace
}  // namespace kiln::test

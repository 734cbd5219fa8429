// The ready-made calls give what plain loops give, on the application's queue and memory.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kiln/kernels.hpp>

#include "tests/launcher/opencl_application.hpp"
#include "tests/launcher/tuned_database.hpp"

namespace kiln {
namespace {

using test::LauncherFolder;
using test::odd_numbers;
using test::OpenClApplication;

class Kernels : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new LauncherFolder;
    launcher_ = new Launcher(folder_->options());
  }
  static void TearDownTestSuite() {
    delete launcher_;
    delete folder_;
  }

  OpenClApplication& application_ = OpenClApplication::instance();
  void* queue_ = application_.queue();

  static LauncherFolder* folder_;
  static Launcher* launcher_;
};
LauncherFolder* Kernels::folder_ = nullptr;
Launcher* Kernels::launcher_ = nullptr;

TEST_F(Kernels, ReduceAddsMultipliesAndFinds) {
  for (const std::size_t n : {1U, 31U, 1000U, 100003U}) {
    const std::vector<float> in = odd_numbers<float>(n);
    const std::vector<float> other = odd_numbers<float>(n, 7);
    const cl_mem out = application_.allocate(sizeof(float));
    ReduceCall call;
    call.n = static_cast<std::int64_t>(n);
    call.in = application_.upload(in);
    call.out = out;
    const auto result = [&] {
      const Expected<void> done = reduce(*launcher_, queue_, call);
      EXPECT_EQ(test::error_text(done), "no error");
      return application_.download<float>(out, 1)[0];
    };
    EXPECT_EQ(result(), std::accumulate(in.begin(), in.end(), 0.0F));
    call.op = "max";
    EXPECT_EQ(result(), *std::max_element(in.begin(), in.end()));
    call.op = "dot";
    call.other = application_.upload(other);
    EXPECT_EQ(result(), std::inner_product(in.begin(), in.end(), other.begin(), 0.0F));
  }
}

TEST_F(Kernels, ReduceTakesTheRowsOrTheColumnsOfAMatrix) {
  constexpr std::size_t kRows = 37;
  constexpr std::size_t kCols = 130;
  const std::vector<float> matrix = odd_numbers<float>(kRows * kCols);
  ReduceCall call;
  call.in = application_.upload(matrix);
  for (const bool rows : {true, false}) {
    const std::size_t results = rows ? kRows : kCols;
    std::vector<float> expected(results);
    for (std::size_t i = 0; i < matrix.size(); ++i) {
      expected[rows ? i / kCols : i % kCols] += matrix[i];
    }
    const cl_mem out = application_.allocate(results * sizeof(float));
    call.n = static_cast<std::int64_t>(rows ? kCols : kRows);
    call.results = static_cast<std::int64_t>(results);
    call.axis = rows ? ReduceCall::Axis::last : ReduceCall::Axis::first;
    call.out = out;
    reduce(*launcher_, queue_, call).value();
    EXPECT_EQ(application_.download<float>(out, results), expected) << (rows ? "rows" : "columns");
  }
  // A matrix of one column is a vector, whatever the axis is called.
  call.n = static_cast<std::int64_t>(matrix.size());
  call.results = 1;
  call.axis = ReduceCall::Axis::first;
  reduce(*launcher_, queue_, call).value();
  EXPECT_EQ(application_.download<float>(static_cast<cl_mem>(call.out), 1)[0],
            std::accumulate(matrix.begin(), matrix.end(), 0.0F));
}

TEST_F(Kernels, TheCallerMayGiveTheWorkspace) {
  const LauncherFolder folder;
  test::store_best(folder / "kiln.db",
                   {"reduce",
                    "n=5000",
                    R"({"n": 5000, "dtype": "f32", "op": "sum", "map": "x", "source": "array"})",
                    {"ticket", {{"block_size", std::int64_t{64}}}}});
  Launcher::Options options = folder.options();
  options.workspace = Launcher::Workspace::caller;
  const Launcher launcher(options);
  const std::vector<float> in = odd_numbers<float>(5000);
  ReduceCall call;
  call.n = 5000;
  call.in = application_.upload(in);
  const cl_mem out = application_.allocate(sizeof(float));
  call.out = out;
  const WorkspaceNeed need = workspace_of(launcher, call).value();
  ASSERT_GT(need.bytes, 0U);
  EXPECT_TRUE(need.zeroed);
  EXPECT_EQ(test::error_text(reduce(launcher, queue_, call)).substr(0, 29),
            "reduce: workspace 'partials' ");
  const cl_mem block = application_.upload(std::vector<char>(1024 + need.bytes));
  reduce(launcher, queue_, call, {block, need.bytes, 1024}).value();
  EXPECT_EQ(application_.download<float>(out, 1)[0], std::accumulate(in.begin(), in.end(), 0.0F));
  EXPECT_NE(test::error_text(reduce(launcher, queue_, call, {block, 4, 0})), "no error");

  ReduceCall small = call;  // pooled, the block is taken as well
  reduce(*launcher_, queue_, small, {block, need.bytes, 0}).value();
  EXPECT_EQ(application_.download<float>(out, 1)[0], std::accumulate(in.begin(), in.end(), 0.0F));
}

TEST_F(Kernels, ReduceIntegratesAFormulaOfTheIndex) {
  // The integral of sin(2x)^2 cos(x)^2 over [0, pi] is pi / 4: n midpoints.
  ReduceCall call;
  call.n = 100000;
  call.dtype = "f64";
  call.map = "sin(2 * ((x + 0.5) / n * pi)) ** 2 * cos((x + 0.5) / n * pi) ** 2";
  const cl_mem out = application_.allocate(sizeof(double));
  call.out = out;
  reduce(*launcher_, queue_, call).value();
  const double pi = 3.14159265358979323846;
  EXPECT_NEAR(application_.download<double>(out, 1)[0] * pi / 100000, pi / 4, 1e-9);
}

TEST_F(Kernels, ArgMinAndArgMaxFindTheFirstOfEqualElements) {
  constexpr std::size_t kRows = 3;
  constexpr std::size_t kN = 1001;
  const std::vector<float> in = odd_numbers<float>(kRows * kN);
  const cl_mem index = application_.allocate(kRows * sizeof(std::int64_t));
  const cl_mem value = application_.allocate(kRows * sizeof(float));
  ArgReduceCall call;
  call.n = kN;
  call.results = kRows;
  call.in = application_.upload(in);
  call.index = index;
  call.value = value;
  for (const bool smallest : {true, false}) {
    (smallest ? arg_min(*launcher_, queue_, call) : arg_max(*launcher_, queue_, call)).value();
    const std::vector<std::int64_t> found = application_.download<std::int64_t>(index, kRows);
    const std::vector<float> values = application_.download<float>(value, kRows);
    for (std::size_t r = 0; r < kRows; ++r) {
      const auto first = in.begin() + static_cast<std::ptrdiff_t>(r * kN);
      const auto last = first + static_cast<std::ptrdiff_t>(kN);
      const auto at = smallest ? std::min_element(first, last) : std::max_element(first, last);
      EXPECT_EQ(found[r], at - first);
      EXPECT_EQ(values[r], *at);
    }
  }
}

TEST_F(Kernels, HistogramCountsBytesAndFloats) {
  std::vector<std::uint8_t> bytes(10007);
  std::vector<std::uint32_t> expected(256);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>(i * i % 251);
    ++expected[bytes[i]];
  }
  HistogramCall call;
  call.n = 10007;
  call.in = application_.upload(bytes);
  const cl_mem counts = application_.allocate(256 * sizeof(std::uint32_t));
  call.counts = counts;
  histogram(*launcher_, queue_, call).value();
  EXPECT_EQ(application_.download<std::uint32_t>(counts, 256), expected);

  const std::vector<float> numbers = {-0.5F, 0.0F, 0.1F, 0.3F, 0.6F, 0.99F, 1.0F};
  call.n = 7;
  call.dtype = "f32";
  call.bins = 4;
  call.in = application_.upload(numbers);
  histogram(*launcher_, queue_, call).value();
  EXPECT_EQ(application_.download<std::uint32_t>(counts, 4),
            (std::vector<std::uint32_t>{2, 1, 1, 1}));
}

TEST_F(Kernels, HistogramTakesWholeNumbersForIntegersAndABinOfSomeWidth) {
  const std::vector<std::int32_t> numbers = {-6, -5, 0, 1, 4, 5};
  const cl_mem counts = application_.allocate(2 * sizeof(std::uint32_t));
  HistogramCall call;
  call.n = 6;
  call.dtype = "i32";
  call.bins = 2;
  call.in = application_.upload(numbers);
  call.counts = counts;
  const auto between = [&](double low, double high) {
    call.low = low;
    call.high = high;
    return test::error_text(histogram(*launcher_, queue_, call));
  };
  EXPECT_EQ(between(-5, 5), "no error");
  EXPECT_EQ(application_.download<std::uint32_t>(counts, 2), (std::vector<std::uint32_t>{1, 3}));
  EXPECT_EQ(between(-5, 5.5),
            "histogram: argument 'high' is i32, the floating-point number 5.5 was given");
  EXPECT_EQ(between(-3e9, 5),
            "histogram: argument 'low' is i32, the floating-point number -3000000000 was given");
  const std::string order = "histogram: 'low' must be below 'high', both finite: ";
  EXPECT_EQ(between(5, 5), order + "5 and 5 were given");
  EXPECT_EQ(between(0, std::numeric_limits<double>::infinity()), order + "0 and inf were given");
  EXPECT_EQ(between(std::nan(""), 1), order + "nan and 1 were given");
  call.dtype = "f32";
  EXPECT_EQ(between(0, 1e39), "histogram: argument 'high' is f32, which cannot hold 1e+39");
}

TEST_F(Kernels, ScanLeavesRunningSums) {
  std::vector<float> in(3 * 70);
  std::iota(in.begin(), in.end(), 0.0F);
  for (const bool exclusive : {false, true}) {
    ScanCall call;
    call.n = 70;
    call.rows = 3;
    call.exclusive = exclusive;
    call.in = application_.upload(in);
    const cl_mem out = application_.allocate(in.size() * sizeof(float));
    call.out = out;
    scan(*launcher_, queue_, call).value();
    const std::vector<float> result = application_.download<float>(out, in.size());
    float running = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (i % 70 == 0) running = 0;
      const float before = running;
      running += in[i];
      ASSERT_EQ(result[i], exclusive ? before : running) << i;
    }
  }
}

TEST_F(Kernels, NormalizeMakesSoftmaxAndNorms) {
  const std::vector<float> in = {3, 4, 0, 0, 1, 1, 1, 1};
  NormalizeCall call;
  call.rows = 2;
  call.cols = 4;
  call.in = application_.upload(in);
  const cl_mem out = application_.allocate(in.size() * sizeof(float));
  call.out = out;
  normalize(*launcher_, queue_, call).value();
  EXPECT_NEAR(application_.download<float>(out, in.size())[5], 0.25, 1e-6);

  call.op = "rms_norm";
  call.eps = 0;
  call.weight = application_.upload(std::vector<float>{1, 2, 3, 4});
  call.residual = application_.upload(in);
  const cl_mem sum = application_.allocate(in.size() * sizeof(float));
  call.sum = sum;
  normalize(*launcher_, queue_, call).value();
  EXPECT_EQ(application_.download<float>(sum, in.size())[1], 8);
  const std::vector<float> result = application_.download<float>(out, in.size());
  EXPECT_NEAR(result[0], 1.2, 1e-5);  // sqrt((6 * 6 + 8 * 8) / 4) = 5
  EXPECT_NEAR(result[1], 3.2, 1e-5);
  EXPECT_NEAR(result[7], 4, 1e-5);
}

TEST_F(Kernels, TransposeMovesEveryElement) {
  for (const auto& [rows, cols, batch] :
       {std::tuple{1, 1, 1}, std::tuple{33, 70, 1}, std::tuple{129, 17, 3}}) {
    const auto count = static_cast<std::size_t>(rows * cols * batch);
    std::vector<float> in(count);
    std::iota(in.begin(), in.end(), 0.0F);
    TransposeCall call;
    call.rows = rows;
    call.cols = cols;
    call.batch = batch;
    call.in = application_.upload(in);
    const cl_mem out = application_.allocate(count * sizeof(float));
    call.out = out;
    transpose(*launcher_, queue_, call).value();
    const std::vector<float> result = application_.download<float>(out, count);
    for (int b = 0; b < batch; ++b) {
      for (int r = 0; r < rows; ++r) {
        for (int c = 0; c < cols; ++c) {
          ASSERT_EQ(result[static_cast<std::size_t>((b * cols + c) * rows + r)],
                    in[static_cast<std::size_t>((b * rows + r) * cols + c)]);
        }
      }
    }
  }
}

TEST_F(Kernels, MatmulMultipliesTransposesAndAdds) {
  constexpr int kM = 45;
  constexpr int kN = 37;
  constexpr int kK = 50;
  const std::vector<float> a = odd_numbers<float>(kM * kK, 1);
  const std::vector<float> b = odd_numbers<float>(kK * kN, 2);
  const std::vector<float> c = odd_numbers<float>(kM * kN, 3);
  for (const auto stored : {MatmulCall::Stored::as_is, MatmulCall::Stored::transposed}) {
    for (const double beta : {0.0, 2.0}) {
      MatmulCall call;
      call.m = kM;
      call.n = kN;
      call.k = kK;
      call.b_stored = stored;
      call.alpha = 3;
      call.beta = beta;
      call.a = application_.upload(a);
      call.b = application_.upload(b);
      const cl_mem memory_c = application_.upload(c);
      call.c = memory_c;
      matmul(*launcher_, queue_, call).value();
      const std::vector<float> result = application_.download<float>(memory_c, kM * kN);
      for (int i = 0; i < kM; ++i) {
        for (int j = 0; j < kN; ++j) {
          float sum = 0;
          for (int p = 0; p < kK; ++p) {
            const int index = stored == MatmulCall::Stored::as_is ? p * kN + j : j * kK + p;
            sum += a[static_cast<std::size_t>(i * kK + p)] * b[static_cast<std::size_t>(index)];
          }
          const auto at = static_cast<std::size_t>(i * kN + j);
          ASSERT_EQ(result[at], 3 * sum + static_cast<float>(beta) * c[at]) << i << ", " << j;
        }
      }
    }
  }
}

TEST_F(Kernels, MatmulMultipliesBatchesOfWholeNumbers) {
  constexpr std::size_t kSide = 12;
  constexpr std::size_t kBatch = 3;
  const auto a = odd_numbers<std::int8_t>(kSide * kSide, 1);  // one for all products
  const auto b = odd_numbers<std::int8_t>(kBatch * kSide * kSide, 2);
  MatmulCall call;
  call.m = call.n = call.k = kSide;
  call.dtype = "i8";
  call.batch = kBatch;
  call.stride_a = 0;
  call.a = application_.upload(a);
  call.b = application_.upload(b);
  const cl_mem memory_c = application_.allocate(kBatch * kSide * kSide * sizeof(std::int32_t));
  call.c = memory_c;
  matmul(*launcher_, queue_, call).value();
  const auto result = application_.download<std::int32_t>(memory_c, kBatch * kSide * kSide);
  for (std::size_t at = 0; at < result.size(); ++at) {
    const std::size_t row = at / kSide % kSide;
    const std::size_t first = at / (kSide * kSide) * (kSide * kSide) + at % kSide;
    std::int32_t sum = 0;
    for (std::size_t p = 0; p < kSide; ++p) sum += a[row * kSide + p] * b[first + p * kSide];
    ASSERT_EQ(result[at], sum) << at;
  }
}

TEST_F(Kernels, MatmulAppliesAnEpilogue) {
  constexpr int kM = 6;
  constexpr int kN = 5;
  constexpr int kK = 4;
  const std::vector<float> a = odd_numbers<float>(kM * kK, 1);
  const std::vector<float> b = odd_numbers<float>(kK * kN, 2);
  const std::vector<float> c = odd_numbers<float>(kM * kN, 3);
  const std::vector<float> bias = odd_numbers<float>(kM, 4);
  struct Case {
    const char* epilogue;
    MatmulCall::Bias bias_is;
    float (*expected)(float sum, float old, float of_column, float of_row);
  };
  const std::vector<Case> cases = {
      {"", MatmulCall::Bias::of_columns,
       [](float sum, float, float of_column, float) { return sum + of_column; }},
      {"max(x - bias, 0)", MatmulCall::Bias::of_rows,
       [](float sum, float, float, float of_row) { return std::max(sum - of_row, 0.0F); }},
      {"bias * c + x", MatmulCall::Bias::of_columns,
       [](float sum, float old, float of_column, float) { return of_column * old + sum; }},
  };
  for (const Case& each : cases) {
    MatmulCall call;
    call.m = kM;
    call.n = kN;
    call.k = kK;
    call.a = application_.upload(a);
    call.b = application_.upload(b);
    const cl_mem memory_c = application_.upload(c);
    call.c = memory_c;
    call.epilogue = each.epilogue;
    call.bias = application_.upload(bias);
    call.bias_is = each.bias_is;
    matmul(*launcher_, queue_, call).value();
    const std::vector<float> result = application_.download<float>(memory_c, kM * kN);
    for (std::size_t at = 0; at < kM * kN; ++at) {
      const std::size_t row = at / kN;
      const std::size_t column = at % kN;
      float sum = 0;
      for (std::size_t p = 0; p < kK; ++p) sum += a[row * kK + p] * b[p * kN + column];
      ASSERT_EQ(result[at], each.expected(sum, c[at], bias[column], bias[row])) << each.epilogue;
    }
  }
}

TEST_F(Kernels, MatmulRefusesABiasThatTheEpilogueDoesNotTake) {
  MatmulCall call;
  call.m = call.n = call.k = 4;
  const std::vector<float> numbers(16, 1.0F);
  call.a = application_.upload(numbers);
  call.b = application_.upload(numbers);
  const cl_mem memory_c = application_.upload(numbers);
  call.c = memory_c;
  call.epilogue = "max(x, 0)";
  call.bias = application_.upload(numbers);
  const auto unused = matmul(*launcher_, queue_, call);
  ASSERT_FALSE(unused);
  EXPECT_THAT(unused.error().message, ::testing::HasSubstr("bias"));
  call.epilogue = "max(x + bias, 0)";
  call.bias = nullptr;
  const auto missing = matmul(*launcher_, queue_, call);
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, ::testing::HasSubstr("argument 'bias' is missing"));
  EXPECT_EQ(application_.download<float>(memory_c, 16), numbers) << "nothing was launched";
}

TEST_F(Kernels, ConvolveOfChannelsLastAddsBiasAndResidual) {
  constexpr std::size_t kPixels = 12;
  constexpr std::size_t kChannels = 3;
  const std::vector<float> in = odd_numbers<float>(kPixels * 2, 1);
  const std::vector<float> filter = odd_numbers<float>(kChannels * 2, 2);
  const std::vector<float> bias = odd_numbers<float>(kChannels, 3);
  const std::vector<float> residual = odd_numbers<float>(kPixels * kChannels, 4);
  for (const char* epilogue : {"", "max(x + bias, 0) * residual"}) {
    ConvolveCall call;
    call.h = 3;
    call.w = 4;
    call.fh = call.fw = 1;
    call.c = 2;
    call.k = kChannels;
    call.layout = "nhwc";
    call.in = application_.upload(in);
    call.filter = application_.upload(filter);
    call.bias = application_.upload(bias);
    call.residual = application_.upload(residual);
    call.epilogue = epilogue;
    const cl_mem out = application_.allocate(kPixels * kChannels * sizeof(float));
    call.out = out;
    convolve(*launcher_, queue_, call).value();
    const std::vector<float> result = application_.download<float>(out, kPixels * kChannels);
    for (std::size_t at = 0; at < kPixels * kChannels; ++at) {
      const std::size_t pixel = at / kChannels;
      const std::size_t channel = at % kChannels;
      const float sum = in[pixel * 2] * filter[channel * 2] +
                        in[pixel * 2 + 1] * filter[channel * 2 + 1] + bias[channel];
      const float expected =
          *epilogue == 0 ? sum + residual[at] : std::max(sum, 0.0F) * residual[at];
      ASSERT_EQ(result[at], expected) << epilogue << ", " << at;
    }
  }
}

TEST_F(Kernels, ConvolveFiltersAnImage) {
  constexpr int kH = 20;
  constexpr int kW = 33;
  constexpr int kF = 5;
  const std::vector<float> in = odd_numbers<float>(kH * kW);
  const std::vector<float> filter = odd_numbers<float>(kF * kF, 9);
  ConvolveCall call;
  call.h = kH;
  call.w = kW;
  call.fh = kF;
  call.fw = kF;
  call.in = application_.upload(in);
  call.filter = application_.upload(filter);
  const cl_mem out = application_.allocate(kH * kW * sizeof(float));
  call.out = out;
  convolve(*launcher_, queue_, call).value();
  const std::vector<float> result = application_.download<float>(out, kH * kW);
  for (int y = 0; y < kH; ++y) {
    for (int x = 0; x < kW; ++x) {
      float sum = 0;
      for (int i = 0; i < kF; ++i) {
        for (int j = 0; j < kF; ++j) {
          const int row = y + i - kF / 2;
          const int col = x + j - kF / 2;
          if (row >= 0 && row < kH && col >= 0 && col < kW) {
            sum += in[static_cast<std::size_t>(row * kW + col)] *
                   filter[static_cast<std::size_t>(i * kF + j)];
          }
        }
      }
      ASSERT_EQ(result[static_cast<std::size_t>(y * kW + x)], sum) << y << ", " << x;
    }
  }
}

TEST_F(Kernels, AProblemThatMakesNoSenseIsAnError) {
  HistogramCall call;
  call.n = 100;
  call.bins = 16;
  const Expected<void> done = histogram(*launcher_, queue_, call);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, LaunchErrorCode::bad_problem);
  EXPECT_THROW(done.value(), LaunchFailure);
}

}  // namespace
}  // namespace kiln

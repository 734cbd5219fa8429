// Every wrong argument is named, with what was expected; nothing is launched then.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <kiln/launcher.hpp>

#include "tests/launcher/opencl_application.hpp"

struct CodeOfE4m3 {  // a type of the application's own
  std::uint8_t bits;
};
template <>
inline constexpr std::string_view kiln::element_type<CodeOfE4m3> = "e4m3";

namespace kiln {
namespace {

using test::error_text;
using test::LauncherFolder;
using test::OpenClApplication;

class Arguments : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new LauncherFolder;
    Launcher::Options options = folder_->options();
    options.kernel_paths = {KILN_SOURCE_DIR "/tests/launcher/kernels",
                            KILN_SOURCE_DIR "/tests/cli/kernels"};
    launcher_ = new Launcher(options);
  }
  static void TearDownTestSuite() {
    delete launcher_;
    delete folder_;
  }

  void TearDown() override { OpenClApplication::instance().wait(); }

  std::string launch(const char* kernel, const char* problem,
                     std::initializer_list<LaunchArgument> arguments) {
    const Expected<void> done =
        launcher_->prepare(kernel, problem).value().launch(nullptr, arguments);
    if (!done) {
      EXPECT_EQ(done.error().code, LaunchErrorCode::bad_argument);
    }
    return error_text(done);
  }

  cl_mem some_ = OpenClApplication::instance().allocate(4096);

  static LauncherFolder* folder_;
  static Launcher* launcher_;
};
LauncherFolder* Arguments::folder_ = nullptr;
Launcher* Arguments::launcher_ = nullptr;

TEST_F(Arguments, MayComeInAnyOrder) {
  EXPECT_EQ(launch("reduce", "n=100", {memory("out", some_, 4), memory("in", some_, 4096)}),
            "no error");
}

TEST_F(Arguments, MissingOnesAreListed) {
  EXPECT_EQ(launch("reduce", "n=100", {memory("in", some_, 400)}),
            "reduce: argument 'out' is missing (f32[1], 4 bytes); it takes in, out");
  EXPECT_EQ(launch("matmul", "m=4 n=4 k=4",
                   {memory("a", some_, 64), memory("b", some_, 64), memory("c", some_, 64)}),
            "matmul: argument 'alpha' is missing (a number, f32); it takes a, b, c, alpha, beta");
}

TEST_F(Arguments, UnknownOnesAreNamed) {
  EXPECT_EQ(launch("transpose", "rows=4 cols=4", {memory("input", some_, 64)}),
            "transpose: there is no argument 'input'; it takes in, out");
  EXPECT_EQ(launch("transpose", "rows=4 cols=4", {memory("ouy", some_, 64)}),
            "transpose: there is no argument 'ouy'; did you mean 'out'?; it takes in, out");
  EXPECT_EQ(launch("reduce", "n=100", {memory("other", some_, 400)}),
            "reduce: argument 'other' does not exist for this problem; it takes in, out");
}

TEST_F(Arguments, SizesAndTypesAreChecked) {
  EXPECT_EQ(launch("transpose", "rows=4 cols=8", {memory("in", some_, 127)}),
            "transpose: argument 'in' needs 128 bytes (f32[1][4][8]), 127 were given");
  double wrong = 0;
  EXPECT_EQ(launch("transpose", "rows=4 cols=8", {array("in", &wrong, 32)}),
            "transpose: argument 'in' holds f32, a pointer to f64 was given");
  EXPECT_EQ(launch("transpose", "rows=4 cols=8", {memory("in", nullptr, 128)}),
            "transpose: argument 'in' is a null pointer");
  EXPECT_EQ(launch("transpose", "rows=4 cols=8", {scalar("in", 1)}),
            "transpose: argument 'in' is device memory (f32[1][4][8]), a number was given");
  EXPECT_EQ(
      launch("transpose", "rows=4 cols=8", {memory("in", some_, 128), memory("in", some_, 128)}),
      "transpose: argument 'in' is given twice");
}

TEST_F(Arguments, NumbersAreChecked) {
  const auto histogram = [&](LaunchArgument low) {
    return launch("histogram", "n=16 dtype=i32 bins=4",
                  {memory("in", some_, 64), memory("counts", some_, 16), low, scalar("high", 4),
                   scalar("scale", 1)});
  };
  EXPECT_EQ(histogram(scalar("low", 0)), "no error");
  EXPECT_EQ(histogram(scalar("low", 0.5)),
            "histogram: argument 'low' is i32, the floating-point number 0.5 was given");
  EXPECT_EQ(histogram(scalar("low", std::int64_t{1} << 40)),
            "histogram: argument 'low' is i32, which cannot hold 1099511627776");
  EXPECT_EQ(histogram(memory("low", some_, 4)),
            "histogram: argument 'low' is a number (i32), device memory was given");
  EXPECT_EQ(launch("reduce", "n=100", {scalar("n", 100)}),
            "reduce: argument 'n' follows from the problem (100): leave it out");
}

TEST_F(Arguments, NumbersAtTheEndsOfTheirTypesArriveOrAreRefused) {
  OpenClApplication& application = OpenClApplication::instance();
  const cl_mem out = application.allocate(8);
  const auto numbers = [&](LaunchArgument large, LaunchArgument single, LaunchArgument half) {
    return launch("numbers", "n=1", {large, single, half, memory("out", out, 8)});
  };
  const auto arrived = [&] { return application.download<std::uint64_t>(out, 1)[0]; };
  const std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();

  EXPECT_EQ(numbers(scalar("large", largest), scalar("single", 0), scalar("half", 0)), "no error");
  EXPECT_EQ(arrived(), largest);
  EXPECT_EQ(numbers(scalar("large", largest / 2 + 1), scalar("single", 5), scalar("half", 0)),
            "no error");
  EXPECT_EQ(arrived(), largest / 2 + 6);
  EXPECT_EQ(numbers(scalar("large", -1), scalar("single", 0), scalar("half", 0)),
            "numbers: argument 'large' is u64, which cannot hold -1");
  EXPECT_EQ(launch("histogram", "n=16 dtype=i32 bins=4", {scalar("low", largest)}),
            "histogram: argument 'low' is i32, which cannot hold 18446744073709551615");

  const auto single = [&](auto value) {
    return numbers(scalar("large", 1), scalar("single", value), scalar("half", 0));
  };
  EXPECT_EQ(single(largest), "no error");  // rounded to 2^64
  EXPECT_EQ(single(3.4028235e38), "no error");
  EXPECT_EQ(single(-std::numeric_limits<double>::infinity()), "no error");
  EXPECT_EQ(single(-1e39), "numbers: argument 'single' is f32, which cannot hold -1e+39");
  const auto half = [&](auto value) {
    return numbers(scalar("large", 1), scalar("single", 0), scalar("half", value));
  };
  EXPECT_EQ(half(65519.5), "no error");
  EXPECT_EQ(half(65520), "numbers: argument 'half' is f16, which cannot hold 65520");
}

/// y[i] = factor * x[i] + 1 in the element type that a test names, on one page of each.
class NarrowArguments : public Arguments {
 protected:
  template <typename T>
  std::string narrow(const std::string& dtype, T* x, LaunchArgument factor) {
    return launch("narrow", ("n=2 dtype=" + dtype).c_str(),
                  {array("x", x, 2), memory("y", y_, 2), factor});
  }
  template <typename T>
  T* x_of() {
    return reinterpret_cast<T*>(x_);
  }
  std::vector<std::uint8_t> arrived() {
    return OpenClApplication::instance().download<std::uint8_t>(y_, 2);
  }

  cl_mem x_ = OpenClApplication::instance().upload(std::vector<std::uint8_t>{0x00, 0x38});
  cl_mem y_ = OpenClApplication::instance().allocate(2);
};

TEST_F(NarrowArguments, OfOneByteAreKnownByTheirTypes) {
  EXPECT_EQ(narrow("i8", x_of<std::int8_t>(), scalar("factor", -2)), "no error");
  EXPECT_EQ(arrived(), (std::vector<std::uint8_t>{1, 0x91}));  // 1, -111
  EXPECT_EQ(narrow("e4m3", x_of<CodeOfE4m3>(), scalar("factor", 2.5)), "no error");
  EXPECT_EQ(arrived(), (std::vector<std::uint8_t>{0x38, 0x46}));  // 1, 3.5
  EXPECT_EQ(narrow("i8", x_of<const std::uint8_t>(), scalar("factor", 1)),
            "narrow: argument 'x' holds i8, a pointer to u8 was given");
  EXPECT_EQ(narrow("e5m2", x_of<CodeOfE4m3>(), scalar("factor", 1)),
            "narrow: argument 'x' holds e5m2, a pointer to e4m3 was given");
  EXPECT_EQ(narrow("e4m3", x_of<char>(), scalar("factor", 1)), "no error") << "not checked";
}

TEST_F(NarrowArguments, NumbersBeyondTheirRangeAreRefused) {
  const auto factor = [&](const std::string& dtype, auto value) {
    return narrow(dtype, x_of<char>(), scalar("factor", value));
  };
  EXPECT_EQ(factor("i8", -128), "no error");
  EXPECT_EQ(factor("i8", 128), "narrow: argument 'factor' is i8, which cannot hold 128");
  EXPECT_EQ(factor("e4m3", 464), "no error");
  EXPECT_EQ(arrived()[1], 0x7e) << "448 * 1 + 1 saturates";
  EXPECT_EQ(factor("e4m3", 465), "narrow: argument 'factor' is e4m3, which cannot hold 465");
  EXPECT_EQ(factor("e4m3", HUGE_VAL), "narrow: argument 'factor' is e4m3, which cannot hold inf");
  EXPECT_EQ(factor("e5m2", -61439), "no error");
  EXPECT_EQ(factor("e5m2", 61440), "narrow: argument 'factor' is e5m2, which cannot hold 61440");
  EXPECT_EQ(factor("e5m2", HUGE_VAL), "no error");
  EXPECT_EQ(arrived()[0], 0x7f) << "infinity arrives: 0 times it is NaN";
}

TEST_F(Arguments, AStepThatForgetsOneIsAnErrorOfPrepare) {
  const auto forgetful = launcher_->prepare("forgetful", "n=1");
  ASSERT_FALSE(forgetful);
  EXPECT_EQ(forgetful.error().code, LaunchErrorCode::device_failed);
  EXPECT_EQ(forgetful.error().message,
            "forgetful: kernel 'forgetful_plain' has 3 parameters, the step gives 2");
}

TEST_F(Arguments, MemoryThatIsNotAlignedIsRefused) {
  EXPECT_EQ(launch("reduce", "n=10", {memory("in", some_, 4092, 4), memory("out", some_, 4)}),
            "reduce: argument 'in' begins 4 bytes after a multiple of 16: configs may load whole "
            "vectors");
}

TEST_F(Arguments, AnOffsetReachesIntoTheMemory) {
  OpenClApplication& application = OpenClApplication::instance();
  std::vector<float> values(2048, 1.0F);
  values[1024] = 5.0F;
  const cl_mem in = application.upload(values);
  const cl_mem out = application.allocate(4);
  EXPECT_EQ(launch("reduce", "n=10", {memory("in", in, 4096, 4096), memory("out", out, 4)}),
            "no error");
  EXPECT_EQ(application.download<float>(out, 1)[0], 14.0F);
}

}  // namespace
}  // namespace kiln

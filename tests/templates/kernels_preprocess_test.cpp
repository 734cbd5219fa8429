// What preprocess computes: its CPU loop against OpenCV's results, against images whose resized
// form is known, and against the sums of a letterbox.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/device.hpp"
#include "tests/templates/built_in_kernels.hpp"

namespace kiln::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Size {
  std::int64_t w, h;
};

/// One image in a buffer with a pitch of its own, some bytes behind its start.
struct TestImage {
  Size size;
  std::int64_t pitch, first, chroma;
  HostArray bytes;
};

TestImage packed_image(Size size,
                       const std::function<int(std::int64_t x, std::int64_t y, int c)>& at) {
  TestImage image = {size, 3 * size.w + 5, 7, 0, {}};
  image.bytes = HostArray(DType::u8, {image.first + size.h * image.pitch});
  for (std::int64_t y = 0; y < size.h; ++y) {
    for (std::int64_t x = 0; x < size.w; ++x) {
      for (int c = 0; c < 3; ++c)
        image.bytes.set(static_cast<std::size_t>(image.first + y * image.pitch + 3 * x + c),
                        at(x, y, c));
    }
  }
  return image;
}

/// The CPU loop for one image, with its scales and shifts.
std::vector<double> preprocessed(const TestImage& image, Size to, const std::string& fields,
                                 double scale = 1, double shift = 0) {
  const auto number = [](std::int64_t value) { return std::to_string(value); };
  const std::string problem =
      "out_w=" + number(to.w) + " out_h=" + number(to.h) + " src_w=" + number(image.size.w) +
      " src_h=" + number(image.size.h) + " pitch=" + number(image.pitch) +
      " source_bytes=" + number(static_cast<std::int64_t>(image.bytes.count())) + " " + fields;
  std::map<std::string, HostArray> arrays;
  arrays["in"] = image.bytes;
  arrays["regions"] = HostArray(DType::i64, {1, 5});
  const std::int64_t region[] = {image.first, image.pitch, image.size.w, image.size.h,
                                 image.chroma};
  for (std::size_t i = 0; i < 5; ++i) arrays["regions"].elements<std::int64_t>()[i] = region[i];
  arrays["out"] = HostArray(DType::f64, {3 * to.w * to.h});
  std::map<std::string, double> scalars = {{"border", 114}};
  for (const char* c : {"0", "1", "2"}) {
    scalars[std::string("scale_") + c] = scale;
    scalars[std::string("shift_") + c] = shift + (*c - '0');
  }
  run_reference("preprocess", problem, arrays, scalars);
  return values_of(arrays.at("out"));
}

/// The same without what is added to each channel; in the order of OpenCV: pixels of three
/// channels.
std::vector<double> resized(const TestImage& image, Size to, const std::string& filter) {
  std::vector<double> result =
      preprocessed(image, to, "format=bgr to=bgr layout=hwc filter=" + filter);
  for (std::size_t i = 0; i < result.size(); ++i) result[i] -= static_cast<double>(i % 3);
  return result;
}

/// 7 x 5 pixels: (37 i) mod 251 for byte i.
TestImage mixed_image() {
  return packed_image({7, 5}, [](std::int64_t x, std::int64_t y, int c) {
    return static_cast<int>(((y * 7 + x) * 3 + c) * 37 % 251);
  });
}

void expect_all_near(const std::vector<double>& values, const std::vector<double>& expected,
                     double most) {
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i], most) << i;
}

// cv2.resize of mixed_image() as float32, opencv-python-headless 5.0.0; 4 digits are printed.
TEST(PreprocessReference, IsOpenCvsLinear) {
  const std::vector<double> smaller = {
      49.6250,  86.6250,  123.6250, 212.5000, 29.8750,  66.8750,  187.1250, 150.9167, 41.5000,
      130.3750, 167.3750, 152.0833, 89.6250,  126.6250, 163.6250, 32.8750,  69.8750,  106.8750,
      227.1250, 44.5000,  81.5000,  170.3750, 207.3750, 87.5000,  129.6250, 166.6250, 109.5000,
      72.8750,  109.8750, 125.9583, 47.5000,  84.5000,  100.5833, 105.7917, 90.5000,  127.5000};
  expect_all_near(resized(mixed_image(), {4, 3}, "bilinear"), smaller, 1e-4);
  const std::vector<double> wider = {
      18.0000,  55.0000,  92.0000,  92.0000,  129.0000, 166.0000, 178.3333, 103.7778, 140.7778,
      208.8889, 50.6667,  87.6667,  100.0000, 137.0000, 174.0000, 186.3333, 76.9167,  65.1111,
      133.2222, 86.5556,  95.6667,  108.0000, 145.0000, 119.2500, 182.0000, 219.0000, 67.7500,
      78.0000,  115.0000, 152.0000, 152.0000, 189.0000, 58.6667,  126.7778, 163.7778, 61.3333,
      73.6667,  110.6667, 133.7222, 160.0000, 197.0000, 171.2500, 51.1111,  88.1111,  111.1667,
      81.6667,  118.6667, 155.6667, 147.0833, 121.3333, 158.3333, 179.2500, 28.0000,  65.0000};
  expect_all_near(resized(mixed_image(), {9, 2}, "bilinear"), wider, 1e-4);
}

TEST(PreprocessReference, IsOpenCvsArea) {
  const std::vector<double> smaller = {
      57.1714,  94.1714,  131.1714, 175.7429, 69.3143,  106.3143, 150.8857, 130.5143, 81.4572,
      126.0286, 163.0286, 142.6572, 95.5714,  132.5714, 148.0571, 99.4000,  107.7143, 137.5429,
      160.6000, 82.8571,  119.8572, 164.4286, 172.7429, 95.0000,  133.9714, 170.9714, 100.4000,
      109.1143, 146.1143, 104.2286, 84.2571,  121.2571, 115.2286, 116.7714, 96.4000,  133.4000};
  expect_all_near(resized(mixed_image(), {4, 3}, "area"), smaller, 1.5e-4);
}

// Of an image whose values rise evenly, filters find the value at the centre of a pixel: bilinear
// everywhere, area where whole pixels lie under it.
TEST(PreprocessReference, KeepsAnEvenRise) {
  const TestImage rising = packed_image({40, 30}, [](std::int64_t x, std::int64_t y, int c) {
    return static_cast<int>(3 * x + 2 * y + c);
  });
  const auto expect_centres = [&](Size to, const std::string& filter) {
    const std::vector<double> values = resized(rising, to, filter);
    for (std::int64_t y = 0; y < to.h; ++y) {
      for (std::int64_t x = 0; x < to.w; ++x) {
        const double ratio_x = 40.0 / static_cast<double>(to.w);
        const double ratio_y = 30.0 / static_cast<double>(to.h);
        const double centre_x = (static_cast<double>(x) + 0.5) * ratio_x - 0.5;
        const double centre_y = (static_cast<double>(y) + 0.5) * ratio_y - 0.5;
        EXPECT_NEAR(values[static_cast<std::size_t>(3 * (y * to.w + x) + 1)],
                    3 * centre_x + 2 * centre_y + 1, 1e-9)
            << filter << " " << x << " " << y;
      }
    }
  };
  expect_centres({16, 9}, "bilinear");
  expect_centres({8, 10}, "area");
}

TEST(PreprocessReference, SwapsScalesAndShiftsEachChannel) {
  const TestImage pixel =
      packed_image({1, 1}, [](std::int64_t, std::int64_t, int c) { return 10 * (c + 1); });
  EXPECT_THAT(preprocessed(pixel, {1, 1}, "format=bgr to=rgb", 0.5, 100),
              ElementsAre(115, 111, 107));
  EXPECT_THAT(preprocessed(pixel, {1, 1}, "format=rgb to=rgb", 0.5, 100),
              ElementsAre(105, 111, 117));
  EXPECT_THAT(preprocessed(pixel, {2, 1}, "format=bgr to=bgr"),
              ElementsAre(10, 10, 21, 21, 32, 32));
  EXPECT_THAT(preprocessed(pixel, {2, 1}, "format=bgr to=bgr layout=hwc"),
              ElementsAre(10, 21, 32, 10, 21, 32));
}

// 8 x 3 pixels fill 4 x 2 (1.5, rounded up) of 4 x 4, and 3 x 8 fill 2 x 4: a row or column of
// border before and behind.
TEST(PreprocessReference, LetterboxesInTheMiddle) {
  const auto white = [](std::int64_t, std::int64_t, int) { return 255; };
  const auto first_channel = [&](Size size, Size to) {
    std::vector<double> all =
        preprocessed(packed_image(size, white), to, "format=bgr to=bgr fit=letterbox");
    all.resize(static_cast<std::size_t>(to.w * to.h));
    return all;
  };
  EXPECT_THAT(first_channel({8, 3}, {2, 4}), ElementsAre(114, 114, 255, 255, 114, 114, 114, 114));
  EXPECT_THAT(first_channel({3, 8}, {4, 2}), ElementsAre(114, 255, 114, 114, 114, 255, 114, 114));
  EXPECT_THAT(first_channel({1000, 1}, {3, 3}),
              ElementsAre(114, 114, 114, 255, 255, 255, 114, 114, 114));
  EXPECT_THAT(first_channel({2, 2}, {1, 1}), ElementsAre(255));
}

// The primary colours of ITU-R BT.601, as cv2.cvtColor(.., COLOR_YUV2RGB_NV12) gives them.
TEST(PreprocessReference, ConvertsNv12) {
  struct Colour {
    int y, u, v;
    std::vector<double> rgb;
  };
  const std::vector<Colour> colours = {{81, 90, 240, {254, 0, 0}},
                                       {145, 54, 34, {0, 255, 1}},
                                       {41, 240, 110, {0, 0, 255}},
                                       {128, 128, 128, {130, 130, 130}},
                                       {60, 30, 200, {166, 31, 0}}};
  for (const Colour& colour : colours) {
    TestImage image = {{3, 3}, 4, 2, 2 + 3 * 4, HostArray(DType::u8, {2 + 5 * 4})};
    for (std::size_t i = 0; i < image.bytes.count(); ++i) {
      const bool is_luma = i < 14;
      image.bytes.set(i, is_luma ? colour.y : i % 2 == 0 ? colour.u : colour.v);
    }
    std::vector<double> rgb = preprocessed(image, {1, 1}, "format=nv12 layout=hwc");
    for (std::size_t c = 0; c < 3; ++c) rgb[c] -= static_cast<double>(c);
    expect_all_near(rgb, colour.rgb, 0.75);
  }
}

TEST(PreprocessReference, RefusesARegionOutsideTheBuffer) {
  TestImage image = mixed_image();
  image.first += 6;
  EXPECT_THAT(error_of<InputError>([&] {
                (void)resized(image, {2, 2}, "bilinear");
              }),
              HasSubstr("image 0 of 'regions' is empty or lies outside 'in'"));
}

TEST(PreprocessProblem, RefusesWhatMakesNoSenseWithItsReason) {
  const std::string sizes = "out_w=4 out_h=4 src_w=9 src_h=5 ";
  const auto refusal = [&](const std::string& more) {
    return refusal_of("preprocess", sizes + more);
  };
  EXPECT_EQ(refusal(""), "accepted");
  EXPECT_THAT(refusal("pitch=26"), HasSubstr("a row must not reach into the next one"));
  EXPECT_THAT(refusal("n=3 source_bytes=134"),
              HasSubstr("the largest source must fit into the buffer"));
  EXPECT_THAT(refusal("matrix=bt709"), HasSubstr("only nv12 has a matrix"));
  EXPECT_THAT(refusal("format=nv12 pitch=9"), HasSubstr("a row must not reach into the next one"));
}

// ---- elements that a spec computes

/// Every region of every problem lies in the buffer, in the checks and while tuning.
TEST(PreprocessRegions, LieInTheBuffer) {
  const KernelSpec spec = KernelLibrary().load("preprocess");
  const Argument& regions = *spec.find_argument("regions");
  const DeviceInfo device = device_for_architecture("cuda", "sm_90a");
  for (const char* format : {"bgr", "nv12"}) {
    for (std::int64_t size = 1; size < 40; ++size) {
      const std::string text = "out_w=" + std::to_string(size) +
                               " out_h=3 src_h=" + std::to_string(1 + size * 7 % 23) +
                               " src_w=" + std::to_string(1 + size * 5 % 31) + " n=9 format=";
      const Problem problem = Problem::parse(spec, text + format);
      const Scope scope = Setting(spec, problem, device).scope();
      for (const auto* elements : {&regions.elements, &regions.elements_verify}) {
        std::map<std::string, HostArray> arrays;
        arrays["in"] = HostArray(DType::u8, {problem.integer("source_bytes")});
        arrays["regions"] = computed_elements(*elements, DType::i64, {9, 5}, scope);
        arrays["out"] = HostArray(DType::f64, {9, 3, 3, size});
        const std::map<std::string, double> scalars = {
            {"scale_0", 1}, {"scale_1", 1}, {"scale_2", 1}, {"shift_0", 0},
            {"shift_1", 0}, {"shift_2", 0}, {"border", 0}};
        EXPECT_NO_THROW(run_reference("preprocess", problem.text(), arrays, scalars))
            << problem.text();
      }
    }
  }
}

std::vector<Expression> expressions(const std::vector<std::string>& texts) {
  std::vector<Expression> all;
  for (const std::string& text : texts) all.push_back(Expression::parse(text));
  return all;
}

std::vector<double> elements_of(const std::vector<std::string>& texts, DType dtype,
                                const std::vector<std::int64_t>& shape) {
  Scope scope;
  scope.set("width", std::int64_t{10});
  scope.set("name", std::string("x"));
  return values_of(computed_elements(expressions(texts), dtype, shape, scope));
}

TEST(ComputedElements, KnowTheirPlaceAndTheProblem) {
  EXPECT_THAT(elements_of({"i0 * width + i1"}, DType::i32, {2, 3}),
              ElementsAre(0, 1, 2, 10, 11, 12));
  EXPECT_THAT(elements_of({"index", "i0", "width if i1 == 2 else -1"}, DType::i64, {2, 3}),
              ElementsAre(0, 0, 10, 3, 1, 10));
  EXPECT_THAT(elements_of({"index / 4"}, DType::f16, {3}), ElementsAre(0, 0.25, 0.5));
  EXPECT_THAT(elements_of({"2 ** 62 + index"}, DType::i64, {1}), ElementsAre(std::exp2(62)));
}

TEST(ComputedElements, SayWhatIsWrongWithThem) {
  const auto refusal = [](const std::vector<std::string>& texts,
                          const std::vector<std::int64_t>& shape) {
    return error_of<InputError>([&] { (void)elements_of(texts, DType::i64, shape); });
  };
  EXPECT_THAT(refusal({"1", "2"}, {4, 3}),
              HasSubstr("'elements' has 2 expressions: it needs one, or one for each of the 3 "
                        "indices of the innermost dimension"));
  EXPECT_THAT(refusal({"name"}, {2}), HasSubstr("'name' gives no number at element 0"));
  EXPECT_THAT(refusal({"10 // (1 - index)"}, {2}), HasSubstr("division by zero"));
  EXPECT_THAT(refusal({"1"}, {1 << 20, 5}), HasSubstr("'elements' computes at most 4194304"));
}

}  // namespace
}  // namespace kiln::test

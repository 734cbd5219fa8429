// The convolution that every config is checked against.
// SPDX-License-Identifier: Apache-2.0
#include "templates/reference.hpp"

#include <optional>
#include <string>
#include <vector>

#include "core/expression.hpp"

namespace kiln {
namespace {

struct Shape {
  std::int64_t n, c, h, w, k, fh, fw, stride, dilation, pad_h, pad_w, groups, out_h, out_w;
  bool channels_last;
};

Shape shape_of(ReferenceCall& call) {
  const auto field = [&](const char* name) { return call.problem.integer(name); };
  const bool channels_last = std::get<std::string>(call.problem.at("layout")) == "nhwc";
  const HostArray& out = call.arrays.at("out");
  const std::size_t rows = channels_last ? 1 : 2;
  return {field("n"),     field("c"),      field("h"),      field("w"),          field("k"),
          field("fh"),    field("fw"),     field("stride"), field("dilation"),   field("pad_h"),
          field("pad_w"), field("groups"), out.shape[rows], out.shape[rows + 1], channels_last};
}

/// Where (image, channel, y, x) of images of `channels` channels, `h` x `w`, lies.
std::size_t place(bool channels_last, std::int64_t channels, std::int64_t h, std::int64_t w,
                  std::int64_t image, std::int64_t channel, std::int64_t y, std::int64_t x) {
  return static_cast<std::size_t>(channels_last ? ((image * h + y) * w + x) * channels + channel
                                                : ((image * channels + channel) * h + y) * w + x);
}

// One output: channel k of image n at (y, x); zero outside the input.
double output(const Shape& s, const HostArray& in, const HostArray& filter, std::int64_t n,
              std::int64_t k, std::int64_t y, std::int64_t x) {
  const std::int64_t group_c = s.c / s.groups;
  const std::int64_t first = k / (s.k / s.groups) * group_c;
  double sum = 0;
  for (std::int64_t c = 0; c < group_c; ++c) {
    for (std::int64_t i = 0; i < s.fh; ++i) {
      const std::int64_t from_y = y * s.stride + i * s.dilation - s.pad_h;
      if (from_y < 0 || from_y >= s.h) continue;
      for (std::int64_t j = 0; j < s.fw; ++j) {
        const std::int64_t from_x = x * s.stride + j * s.dilation - s.pad_w;
        if (from_x < 0 || from_x >= s.w) continue;
        const double value =
            in.get(place(s.channels_last, s.c, s.h, s.w, n, first + c, from_y, from_x));
        const double tap = filter.get(place(s.channels_last, group_c, s.fh, s.fw, k, c, i, j));
        sum += value * tap;
      }
    }
  }
  return sum;
}

/// The problem's epilogue; without one the element of the output is its sum.
class OutputEpilogue {
 public:
  explicit OutputEpilogue(ReferenceCall& call) {
    const std::string text = call.problem.text_of("epilogue");
    if (text == "x") return;
    const std::vector<std::string> variables = {"x", "bias", "residual"};
    formula_ = Expression::parse_formula(text, variables);
    const auto array = [&](const char* name) {
      const auto found = call.arrays.find(name);
      return found == call.arrays.end() ? nullptr : &found->second;
    };
    bias_ = array("bias");
    residual_ = array("residual");
  }

  [[nodiscard]] double of(double sum, std::int64_t channel, std::size_t place) {
    if (!formula_) return sum;
    scope_.set("x", sum);
    scope_.set("bias", bias_ == nullptr ? 0.0 : bias_->get(static_cast<std::size_t>(channel)));
    scope_.set("residual", residual_ == nullptr ? 0.0 : residual_->get(place));
    return formula_->evaluate_number(scope_);
  }

 private:
  std::optional<Expression> formula_;
  const HostArray* bias_ = nullptr;
  const HostArray* residual_ = nullptr;
  Scope scope_;
};

}  // namespace

void convolution_reference(ReferenceCall& call) {
  const Shape s = shape_of(call);
  const HostArray& in = call.arrays.at("in");
  const HostArray& filter = call.arrays.at("filter");
  OutputEpilogue epilogue(call);
  double* out = call.arrays.at("out").elements<double>();
  for (std::int64_t n = 0; n < s.n; ++n) {
    for (std::int64_t k = 0; k < s.k; ++k) {
      for (std::int64_t y = 0; y < s.out_h; ++y) {
        for (std::int64_t x = 0; x < s.out_w; ++x) {
          const std::size_t to = place(s.channels_last, s.k, s.out_h, s.out_w, n, k, y, x);
          out[to] = epilogue.of(output(s, in, filter, n, k, y, x), k, to);
        }
      }
    }
  }
}

}  // namespace kiln

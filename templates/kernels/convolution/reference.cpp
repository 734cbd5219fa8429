// The convolution that every config is checked against.
// SPDX-License-Identifier: Apache-2.0
#include "templates/kernels/references.hpp"

namespace kiln {
namespace {

struct Shape {
  std::int64_t n, c, h, w, k, fh, fw, stride, pad_h, pad_w, groups, out_h, out_w;
};

Shape shape_of(ReferenceCall& call) {
  const auto field = [&](const char* name) { return call.problem.integer(name); };
  const HostArray& out = call.arrays.at("out");
  return {field("n"),      field("c"),   field("h"),      field("w"),     field("k"),
          field("fh"),     field("fw"),  field("stride"), field("pad_h"), field("pad_w"),
          field("groups"), out.shape[2], out.shape[3]};
}

// One output: channel k of image n at (y, x); zero outside the input.
double output(const Shape& s, const float* in, const float* filter, std::int64_t n, std::int64_t k,
              std::int64_t y, std::int64_t x) {
  const std::int64_t group_c = s.c / s.groups;
  const std::int64_t first = k / (s.k / s.groups) * group_c;
  double sum = 0;
  for (std::int64_t c = 0; c < group_c; ++c) {
    for (std::int64_t i = 0; i < s.fh; ++i) {
      const std::int64_t from_y = y * s.stride + i - s.pad_h;
      if (from_y < 0 || from_y >= s.h) continue;
      for (std::int64_t j = 0; j < s.fw; ++j) {
        const std::int64_t from_x = x * s.stride + j - s.pad_w;
        if (from_x < 0 || from_x >= s.w) continue;
        const double value = in[((n * s.c + first + c) * s.h + from_y) * s.w + from_x];
        const double tap = filter[((k * group_c + c) * s.fh + i) * s.fw + j];
        sum += value * tap;
      }
    }
  }
  return sum;
}

}  // namespace

void convolution_reference(ReferenceCall& call) {
  const Shape s = shape_of(call);
  const float* in = call.arrays.at("in").elements<float>();
  const float* filter = call.arrays.at("filter").elements<float>();
  double* out = call.arrays.at("out").elements<double>();
  for (std::int64_t n = 0; n < s.n; ++n) {
    for (std::int64_t k = 0; k < s.k; ++k) {
      for (std::int64_t y = 0; y < s.out_h; ++y) {
        for (std::int64_t x = 0; x < s.out_w; ++x) {
          out[((n * s.k + k) * s.out_h + y) * s.out_w + x] = output(s, in, filter, n, k, y, x);
        }
      }
    }
  }
}

}  // namespace kiln

// The CPU loop of preprocess: every output pixel from the formula of its filter, in f64.
// SPDX-License-Identifier: Apache-2.0
#include "templates/reference.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "core/errors.hpp"

namespace kiln {
namespace {

using Colour = std::array<double, 3>;

/// A pixel of a source and its share in an output pixel, along one axis.
struct Share {
  std::int64_t index = 0;
  double weight = 0;
};

struct ResizeFields {
  std::string format, filter, to;
  bool letterbox = false;
  bool bt709 = false;
  std::int64_t out_w = 0, out_h = 0;
};

ResizeFields resize_fields(const Problem& problem) {
  return {problem.text_of("format"),
          problem.text_of("filter"),
          problem.text_of("to"),
          problem.text_of("fit") == "letterbox",
          problem.text_of("matrix") == "bt709",
          problem.integer("out_w"),
          problem.integer("out_h")};
}

/// One image of the list.
struct SourceImage {
  std::int64_t first, pitch, w, h, chroma;
};

SourceImage source_image(const HostArray& regions, std::int64_t image, const HostArray& in,
                         bool packed) {
  const std::int64_t* region = regions.elements<std::int64_t>() + image * 5;
  const SourceImage source = {region[0], region[1], region[2], region[3], region[4]};
  const auto bytes = static_cast<std::int64_t>(in.count());
  const auto inside = [&](std::int64_t first, std::int64_t rows, std::int64_t row_bytes) {
    return first >= 0 && first + (rows - 1) * source.pitch + row_bytes <= bytes;
  };
  const bool fits = source.w > 0 && source.h > 0 && source.pitch >= 0 &&
                    inside(source.first, source.h, packed ? 3 * source.w : source.w) &&
                    (packed || inside(source.chroma, (source.h + 1) / 2, (source.w + 1) / 2 * 2));
  if (!fits) {
    throw InputError({}, "preprocess: image " + std::to_string(image) +
                             " of 'regions' is empty or lies outside 'in'");
  }
  return source;
}

/// What lies under output pixel `place` of an axis that goes from `from` to `to` pixels.
std::vector<Share> shares(bool area, std::int64_t place, std::int64_t from, std::int64_t to) {
  const double ratio = static_cast<double>(from) / static_cast<double>(to);
  std::vector<Share> made;
  if (area) {
    for (std::int64_t i = place * from / to; i * to < (place + 1) * from; ++i) {
      const std::int64_t covered =
          std::min((place + 1) * from, (i + 1) * to) - std::max(place * from, i * to);
      made.push_back({i, static_cast<double>(covered) / static_cast<double>(from)});
    }
    return made;
  }
  const double centre = std::max((static_cast<double>(place) + 0.5) * ratio - 0.5, 0.0);
  const auto whole = std::min(static_cast<std::int64_t>(centre), from - 1);
  const double part = centre - static_cast<double>(whole);
  made.push_back({whole, 1 - part});
  made.push_back({std::min(whole + 1, from - 1), part});
  return made;
}

Colour source_pixel(const HostArray& in, const SourceImage& source, bool packed, std::int64_t x,
                    std::int64_t y) {
  const auto byte = [&](std::int64_t at) { return in.get(static_cast<std::size_t>(at)); };
  if (packed) {
    const std::int64_t at = source.first + y * source.pitch + 3 * x;
    return {byte(at), byte(at + 1), byte(at + 2)};
  }
  const std::int64_t chroma = source.chroma + y / 2 * source.pitch + x / 2 * 2;
  return {byte(source.first + y * source.pitch + x), byte(chroma), byte(chroma + 1)};
}

/// Y, U and V of the limited range as red, green and blue.
Colour red_green_blue(const Colour& yuv, bool bt709) {
  const double luma = 255.0 / 219.0 * (yuv[0] - 16);
  const double u = yuv[1] - 128;
  const double v = yuv[2] - 128;
  const double red_share = bt709 ? 0.2126 : 0.299;
  const double blue_share = bt709 ? 0.0722 : 0.114;
  const double green_share = 1 - red_share - blue_share;
  const double chroma = 255.0 / 224.0;
  const double of_v = 2 * (1 - red_share) * chroma;
  const double of_u = 2 * (1 - blue_share) * chroma;
  Colour colour = {luma + of_v * v,
                   luma - of_u * blue_share / green_share * u - of_v * red_share / green_share * v,
                   luma + of_u * u};
  for (double& channel : colour) channel = std::clamp(channel, 0.0, 255.0);
  return colour;
}

/// The pixels of the output that an image fills.
struct FilledPart {
  std::int64_t w, h, left, top;
};

FilledPart filled_part(const ResizeFields& fields, const SourceImage& source) {
  FilledPart part = {fields.out_w, fields.out_h, 0, 0};
  if (!fields.letterbox) return part;
  if (source.w * fields.out_h >= source.h * fields.out_w) {
    part.h = std::max<std::int64_t>((2 * source.h * fields.out_w + source.w) / (2 * source.w), 1);
  } else {
    part.w = std::max<std::int64_t>((2 * source.w * fields.out_h + source.h) / (2 * source.h), 1);
  }
  part.left = (fields.out_w - part.w) / 2;
  part.top = (fields.out_h - part.h) / 2;
  return part;
}

Colour mean_of(const HostArray& in, const SourceImage& source, bool packed,
               const std::vector<Share>& across, const std::vector<Share>& down) {
  Colour sum = {0, 0, 0};
  for (const Share& y : down) {
    for (const Share& x : across) {
      const Colour pixel = source_pixel(in, source, packed, x.index, y.index);
      for (std::size_t c = 0; c < 3; ++c) sum[c] += x.weight * y.weight * pixel[c];
    }
  }
  return sum;
}

}  // namespace

void preprocess_reference(ReferenceCall& call) {
  const ResizeFields fields = resize_fields(call.problem);
  const HostArray& in = call.arrays.at("in");
  HostArray& out = call.arrays.at("out");
  const bool packed = fields.format != "nv12";
  const bool planes = call.problem.text_of("layout") == "chw";
  const bool area = fields.filter == "area";
  // nv12 becomes red, green and blue.
  const bool swaps = fields.to != (packed ? fields.format : "rgb");
  for (std::int64_t image = 0; image < call.problem.integer("n"); ++image) {
    const SourceImage source = source_image(call.arrays.at("regions"), image, in, packed);
    const FilledPart part = filled_part(fields, source);
    std::vector<std::vector<Share>> across;
    for (std::int64_t x = 0; x < part.w; ++x) across.push_back(shares(area, x, source.w, part.w));
    for (std::int64_t y = 0; y < fields.out_h; ++y) {
      const std::int64_t part_y = y - part.top;
      const bool row_inside = part_y >= 0 && part_y < part.h;
      const std::vector<Share> down =
          row_inside ? shares(area, part_y, source.h, part.h) : std::vector<Share>();
      for (std::int64_t x = 0; x < fields.out_w; ++x) {
        const std::int64_t part_x = x - part.left;
        Colour colour;
        colour.fill(call.scalars.at("border"));
        if (row_inside && part_x >= 0 && part_x < part.w) {
          const auto column = static_cast<std::size_t>(part_x);
          colour = mean_of(in, source, packed, across[column], down);
          if (!packed) colour = red_green_blue(colour, fields.bt709);
          if (swaps) std::swap(colour[0], colour[2]);
        }
        for (std::int64_t c = 0; c < 3; ++c) {
          const std::string channel = std::to_string(c);
          const std::int64_t at = planes ? ((image * 3 + c) * fields.out_h + y) * fields.out_w + x
                                         : ((image * fields.out_h + y) * fields.out_w + x) * 3 + c;
          out.elements<double>()[at] =
              colour[static_cast<std::size_t>(c)] * call.scalars.at("scale_" + channel) +
              call.scalars.at("shift_" + channel);
        }
      }
    }
  }
}

}  // namespace kiln

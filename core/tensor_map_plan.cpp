// plan_tensor_map: the numbers of a tensor map, and the rules that cuTensorMapEncodeTiled and
// cuTensorMapEncodeIm2col have for them.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <initializer_list>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/launch_plan_rules.hpp"

namespace kiln {
namespace plan_rules {

void illegal(std::string message) { throw Illegal{std::move(message)}; }

DType element_type(const Expression& expression, const std::string& name, const Scope& scope) {
  const std::string text = expression.evaluate_string(scope);
  const std::optional<DType> type = parse_dtype(text);
  if (!type) illegal(fmt::format("'{}' has the element type '{}', which there is not", name, text));
  return *type;
}

}  // namespace plan_rules

namespace {

using plan_rules::illegal;

constexpr std::int64_t kUnit = 16;                   // bytes: of addresses, strides, inner boxes
constexpr std::int64_t kMaxExtent = 1LL << 32;       // elements of a dimension
constexpr std::int64_t kMaxStrideBytes = 1LL << 40;  // exclusive
constexpr std::int64_t kMaxBox = 256;                // elements of a box along a dimension
constexpr std::int64_t kMaxPositions = 1024;         // of a box of an im2col map
constexpr std::int64_t kMaxElementStride = 8;

class Builder {
 public:
  Builder(const TensorMap& map, const LaunchPlan& plan, const Scope& scope)
      : map_(map), scope_(scope) {
    Scope with_buffers = scope;
    for (const BufferPlan& buffer : plan.buffers) with_buffers.set(buffer.name, buffer.name);
    out_.name = map.name;
    out_.buffer = map.of.evaluate_string(with_buffers);
    buffer_ = plan.find_buffer(out_.buffer);
    if (buffer_ == nullptr) {
      fail(fmt::format("'{}' is no buffer of this problem and config", out_.buffer));
    }
    out_.dtype = map.dtype ? plan_rules::element_type(*map.dtype, map.name, scope) : buffer_->dtype;
    element_bytes_ = static_cast<std::int64_t>(size_of(out_.dtype));
  }

  TensorMapPlan build() {
    out_.offset_bytes = map_.offset ? bytes_of(*map_.offset) : 0;
    if (out_.offset_bytes < 0 || out_.offset_bytes % kUnit != 0) {
      fail(fmt::format("its offset of {} bytes is no multiple of {}", out_.offset_bytes, kUnit));
    }
    set_shape();
    set_strides();
    set_options();
    set_box();
    set_element_strides();
    set_corners();
    check_size();
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    illegal(fmt::format("tensor map '{}': {}", map_.name, why));
  }

  /// Of so many elements.
  [[nodiscard]] std::int64_t bytes_of(const Expression& elements) const {
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(elements.evaluate_int(scope_), element_bytes_, &bytes)) {
      fail(fmt::format("'{}' is more than 2^63 bytes", elements.text()));
    }
    return bytes;
  }

  void set_shape() {
    for (const Expression& extent : map_.shape) {
      out_.shape.push_back(extent.evaluate_int(scope_));
      if (out_.shape.back() < 1 || out_.shape.back() > kMaxExtent) {
        fail(fmt::format("an extent must be from 1 to 2^32 ({} = {})", extent.text(),
                         out_.shape.back()));
      }
    }
  }

  void set_strides() {
    out_.stride_bytes.resize(out_.shape.size() - 1);
    std::int64_t dense = element_bytes_;
    for (std::size_t d = out_.stride_bytes.size(); d-- > 0;) {
      if (map_.strides.empty() && __builtin_mul_overflow(dense, out_.shape[d + 1], &dense)) {
        fail("it is larger than 2^63 bytes");
      }
      const std::int64_t stride = map_.strides.empty() ? dense : bytes_of(map_.strides[d]);
      if (stride < kUnit || stride >= kMaxStrideBytes || stride % kUnit != 0) {
        fail(fmt::format("a stride of {} bytes is no multiple of {} from {} to 2^40", stride, kUnit,
                         kUnit));
      }
      out_.stride_bytes[d] = stride;
    }
  }

  void set_options() {
    out_.fill_nan = map_.fill_nan;
    if (map_.fill_nan && !is_floating(out_.dtype)) {
      fail(fmt::format("its 'fill' is 'nan', which {} does not have", name_of(out_.dtype)));
    }
    if (map_.fill_nan && element_bytes_ == 1) {
      fail(fmt::format(
          "its 'fill' is 'nan', which the hardware has for f16, bf16, f32 and f64, not for {}",
          name_of(out_.dtype)));
    }
    out_.to_tf32 = map_.tf32 && map_.tf32->evaluate_bool(scope_);
    if (out_.to_tf32 && out_.dtype != DType::f32) {
      fail(fmt::format("its copies round f32 to tf32, and it holds {}", name_of(out_.dtype)));
    }
    out_.swizzle_bytes = one_of(map_.swizzle, "swizzle", {0, 32, 64, 128});
    out_.promotion_bytes = one_of(map_.promotion, "l2_promotion", {0, 64, 128, 256});
  }

  [[nodiscard]] std::int64_t one_of(const std::optional<Expression>& expression, const char* key,
                                    std::initializer_list<std::int64_t> allowed) const {
    if (!expression) return 0;
    const std::int64_t value = expression->evaluate_int(scope_);
    if (std::find(allowed.begin(), allowed.end(), value) == allowed.end()) {
      fail(fmt::format("'{}' is one of {} bytes, not {}", key, fmt::join(allowed, ", "), value));
    }
    return value;
  }

  void set_box() {
    for (const Expression& extent : map_.box) {
      const bool counts_positions = !map_.lower.empty() && out_.box.empty();
      const std::int64_t most = counts_positions ? kMaxPositions : kMaxBox;
      out_.box.push_back(extent.evaluate_int(scope_));
      if (out_.box.back() < 1 || out_.box.back() > most) {
        fail(fmt::format("an extent of a box must be from 1 to {} ({} = {})", most, extent.text(),
                         out_.box.back()));
      }
    }
    const std::int64_t inner = out_.box.back() * element_bytes_;
    if (inner % kUnit != 0 || (out_.swizzle_bytes > 0 && inner > out_.swizzle_bytes)) {
      fail(fmt::format("the innermost {} bytes of a box are no multiple of {}{}", inner, kUnit,
                       out_.swizzle_bytes > 0
                           ? fmt::format(" up to the swizzle's {}", out_.swizzle_bytes)
                           : std::string()));
    }
  }

  void set_element_strides() {
    out_.element_strides.assign(out_.shape.size(), 1);
    for (std::size_t d = 0; d < map_.element_strides.size(); ++d) {
      const Expression& stride = map_.element_strides[d];
      out_.element_strides[d] = stride.evaluate_int(scope_);
      const bool is_innermost = d + 1 == out_.shape.size();
      const std::int64_t most = is_innermost ? 1 : kMaxElementStride;
      if (out_.element_strides[d] < 1 || out_.element_strides[d] > most) {
        fail(fmt::format("an element stride must be from 1 to {}, the innermost one 1 ({} = {})",
                         kMaxElementStride, stride.text(), out_.element_strides[d]));
      }
    }
  }

  /// The hardware keeps the corners of an image in 16, 8 or 5 bits a dimension.
  void set_corners() {
    const std::int64_t limit = map_.lower.size() == 1 ? 32768 : map_.lower.size() == 2 ? 128 : 16;
    const auto corners = [&](const std::vector<Expression>& from, std::vector<std::int64_t>& to) {
      for (const Expression& corner : from) {
        to.push_back(corner.evaluate_int(scope_));
        if (to.back() >= -limit && to.back() < limit) continue;
        fail(fmt::format("a corner must be from {} to {} ({} = {})", -limit, limit - 1,
                         corner.text(), to.back()));
      }
    };
    corners(map_.lower, out_.lower);
    corners(map_.upper, out_.upper);
    for (std::size_t d = 0; d < out_.lower.size(); ++d) {
      if (out_.lower[d] < out_.shape[d + 1] + out_.upper[d]) continue;
      fail(fmt::format("no position lies between the corners {} and {}", map_.lower[d].text(),
                       map_.upper[d].text()));
    }
  }

  void check_size() const {
    std::int64_t end = out_.offset_bytes + out_.shape.back() * element_bytes_;
    bool is_inside = end <= buffer_->bytes();
    for (std::size_t d = 0; d < out_.stride_bytes.size() && is_inside; ++d) {
      std::int64_t rows = 0;
      is_inside = !__builtin_mul_overflow(out_.shape[d] - 1, out_.stride_bytes[d], &rows) &&
                  !__builtin_add_overflow(end, rows, &end) && end <= buffer_->bytes();
    }
    if (!is_inside) {
      fail(fmt::format("it reaches beyond the {} bytes of '{}'", buffer_->bytes(), out_.buffer));
    }
  }

  const TensorMap& map_;
  const Scope& scope_;
  const BufferPlan* buffer_ = nullptr;
  std::int64_t element_bytes_ = 1;
  TensorMapPlan out_;
};

}  // namespace

TensorMapPlan plan_tensor_map(const TensorMap& map, const LaunchPlan& plan,
                              const DeviceInfo& device, const Scope& scope) {
  if (!has_tensor_maps(device)) {
    illegal(fmt::format("tensor map '{}': tensor maps need CUDA with compute capability 9.0",
                        map.name));
  }
  return Builder(map, plan, scope).build();
}

}  // namespace kiln

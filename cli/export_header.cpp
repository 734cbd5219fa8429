// SPDX-License-Identifier: Apache-2.0
#include "cli/export_header.hpp"

#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/errors.hpp"

namespace kiln::cli {
namespace {

constexpr std::string_view kHead = R"(// Written by `kiln export --header`: {kernel} for {device}.
// Not to be edited: run the command again. C++17, standard library only.
//
//   const kiln_export::{kernel}::Entry* entry = kiln_export::{kernel}::find({{{sizes}}});
//   compile entry->source with entry->options, launch entry->steps in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kiln_export::{kernel} {{

/// One launch; or, where `entry` is empty, setting the bytes of buffer `clears` to zero.
struct Step {{
  std::string_view entry;
  std::uint32_t grid[3];
  std::uint32_t block[3];
  std::uint32_t cluster[3];
  std::uint32_t shared_bytes;  // dynamic
  bool programmatic;           // may begin before the step in front of it has ended
  std::string_view arguments;  // in the order of the kernel's parameters, separated by blanks
  std::string_view constants;  // arguments that the kernel sees in constant memory
  std::string_view clears;
}};

/// An argument or workspace in device memory.
struct Buffer {{
  std::string_view name;
  std::string_view dtype;
  std::size_t bytes;
  bool workspace;  // yours to allocate
  bool zeroed;     // all zero before the first run; every run leaves it so
}};

/// A number passed by value; `value` is empty where the caller gives it.
struct Scalar {{
  std::string_view name;
  std::string_view dtype;
  std::string_view value;
}};

/// A parameter of 128 bytes by value, for cuTensorMapEncodeTiled, or for cuTensorMapEncodeIm2col where
/// corner_count is not 0; lists have the outermost dimension first.
struct TensorMap {{
  std::string_view name;
  std::string_view buffer;
  std::string_view dtype;
  std::int64_t offset_bytes;  // from the buffer's first byte
  std::uint32_t rank;
  std::int64_t shape[5];         // elements
  std::int64_t stride_bytes[4];  // one fewer than the rank
  std::int64_t box[5];           // elements; for Im2col: pixels per column, channels per pixel
  std::uint32_t corner_count;    // for Im2col: two fewer than the rank
  std::int64_t lower[3];         // pixelBoxLowerCorner
  std::int64_t upper[3];         // pixelBoxUpperCorner
  std::int64_t element_strides[5];
  std::uint32_t swizzle_bytes;
  std::uint32_t promotion_bytes;
  bool fill_nan;
  bool tf32;  // copies round f32: CU_TENSOR_MAP_DATA_TYPE_TFLOAT32
}};

/// Whole-number fields of the problem.
struct Sizes {{
{fields}}};

struct Entry {{
  std::string_view problem;
  Sizes sizes;
  std::string_view config;
  std::string_view options;  // for the compiler, separated by blanks
  const char* source;
  const Step* steps;
  std::size_t step_count;
  const Buffer* buffers;
  std::size_t buffer_count;
  const Scalar* scalars;
  std::size_t scalar_count;
  const TensorMap* tensor_maps;
  std::size_t tensor_map_count;
}};

)";

constexpr std::string_view kTail = R"(
/// The entry for these sizes. Others get null: a geometry fits one problem.
inline const Entry* find(const Sizes& sizes) {{
  for (const Entry& entry : kEntries) {{
    if ({same}) return &entry;
  }}
  return nullptr;
}}

}}  // namespace kiln_export::{kernel}
)";

std::vector<std::string> size_names(const Winner& winner) {
  std::vector<std::string> names;
  for (const auto& [name, value] : winner.problem.fields()) {
    if (std::holds_alternative<std::int64_t>(value)) names.push_back(name);
  }
  return names;
}

/// `text` as a string literal; split, as compilers limit the length of one.
std::string literal(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        quoted += "\\\"";
        break;
      case '\\':
        quoted += "\\\\";
        break;
      case '\n':
        quoted += "\\n\"\n    \"";
        break;
      case '\t':
        quoted += "\\t";
        break;
      default:
        quoted += c;
    }
  }
  return quoted + "\"";
}

std::string triple(const std::array<std::uint32_t, 3>& values) {
  return fmt::format("{{{}, {}, {}}}", values[0], values[1], values[2]);
}

std::string steps_text(const Winner& winner, std::size_t number) {
  std::string text = fmt::format("inline constexpr Step kSteps{}[] = {{\n", number);
  for (const StepPlan& step : winner.plan.steps) {
    text += fmt::format(
        "    {{{}, {}, {}, {}, {}, {}, {}, {}, {}}},\n", literal(step.entry), triple(step.grid),
        triple(step.block), triple(step.cluster), step.shared_bytes, step.programmatic,
        literal(fmt::format("{}", fmt::join(step.arguments, " "))),
        literal(fmt::format("{}", fmt::join(step.constants, " "))), literal(step.buffer));
  }
  return text + "};\n";
}

std::string buffers_text(const Winner& winner, std::size_t number) {
  std::string text = fmt::format("inline constexpr Buffer kBuffers{}[] = {{\n", number);
  for (const BufferPlan& buffer : winner.plan.buffers) {
    text += fmt::format("    {{{}, {}, {}, {}, {}}},\n", literal(buffer.name),
                        literal(name_of(buffer.dtype)), buffer.bytes(), buffer.workspace,
                        buffer.zeroed);
  }
  return text + "};\n";
}

/// One more at the end, as an array may not be empty.
std::string scalars_text(const Winner& winner, std::size_t number) {
  std::string text = fmt::format("inline constexpr Scalar kScalars{}[] = {{\n", number);
  for (const ScalarPlan& scalar : winner.plan.scalars) {
    text +=
        fmt::format("    {{{}, {}, {}}},\n", literal(scalar.name), literal(name_of(scalar.dtype)),
                    literal(scalar.from_caller ? "" : to_text(scalar.value)));
  }
  return text + "    {}};\n";
}

/// The same.
std::string tensor_maps_text(const Winner& winner, std::size_t number) {
  std::string text = fmt::format("inline constexpr TensorMap kTensorMaps{}[] = {{\n", number);
  for (const TensorMapPlan& map : winner.plan.tensor_maps) {
    text += fmt::format(
        "    {{{}, {}, {}, {}, {}, {{{}}}, {{{}}}, {{{}}}, {}, {{{}}}, {{{}}}, {{{}}}, {}, {}, {}, "
        "{}}},\n",
        literal(map.name), literal(map.buffer), literal(name_of(map.dtype)), map.offset_bytes,
        map.shape.size(), fmt::join(map.shape, ", "), fmt::join(map.stride_bytes, ", "),
        fmt::join(map.box, ", "), map.lower.size(), fmt::join(map.lower, ", "),
        fmt::join(map.upper, ", "), fmt::join(map.element_strides, ", "), map.swizzle_bytes,
        map.promotion_bytes, map.fill_nan, map.to_tf32);
  }
  return text + "    {}};\n";
}

std::string entry_text(const Winner& winner, std::size_t number, std::size_t source) {
  std::vector<std::int64_t> sizes;
  for (const std::string& name : size_names(winner)) sizes.push_back(winner.problem.integer(name));
  return fmt::format(
      "    {{{},\n     {{{}}},\n     {},\n     {},\n     kSource{},\n     kSteps{}, {}, "
      "kBuffers{}, {}, kScalars{}, {},\n     kTensorMaps{}, {}}},\n",
      literal(winner.problem.text()), fmt::join(sizes, ", "), literal(winner.match.config.text()),
      literal(fmt::format("{}", fmt::join(winner.source.options, " "))), source, number,
      winner.plan.steps.size(), number, winner.plan.buffers.size(), number,
      winner.plan.scalars.size(), number, winner.plan.tensor_maps.size());
}

/// Problems of one header differ in their sizes and in nothing else: sizes are what find() is
/// asked.
void check_alike(const Winner& first, const Winner& other) {
  for (const auto& [name, value] : other.problem.fields()) {
    if (!std::holds_alternative<std::int64_t>(value) && first.problem.at(name) != value) {
      throw InputError(
          fmt::format("the problems of a header may differ in sizes only: '{}' is {} and {}", name,
                      to_text(first.problem.at(name)), to_text(value)));
    }
  }
}

}  // namespace

std::string dispatch_header(std::span<const Winner> winners, const DeviceInfo& device) {
  const Winner& first = winners.front();
  const std::vector<std::string> names = size_names(first);
  std::string fields;
  std::vector<std::string> same;
  for (const std::string& name : names) {
    fields += fmt::format("  std::int64_t {};\n", name);
    same.push_back(fmt::format("entry.sizes.{0} == sizes.{0}", name));
  }
  std::string text = fmt::format(
      kHead, fmt::arg("kernel", first.spec.name), fmt::arg("device", identity_of(device)),
      fmt::arg("sizes", fmt::format("{}", fmt::join(names, ", "))), fmt::arg("fields", fields));
  std::map<std::string, std::size_t> sources;  // problems that share a config share the source
  std::set<std::string> seen;
  std::string entries;
  for (std::size_t i = 0; i < winners.size(); ++i) {
    const Winner& winner = winners[i];
    check_alike(first, winner);
    if (!seen.insert(winner.problem.text()).second) {
      throw InputError("the problem '" + winner.problem.text() + "' is given twice");
    }
    const auto [source, is_new] = sources.emplace(winner.source.text, sources.size() + 1);
    if (is_new) {
      text += fmt::format("inline constexpr char kSource{}[] =\n    {};\n", source->second,
                          literal(winner.source.text));
    }
    text += steps_text(winner, i + 1) + buffers_text(winner, i + 1) + scalars_text(winner, i + 1);
    text += tensor_maps_text(winner, i + 1);
    entries += entry_text(winner, i + 1, source->second);
  }
  text += "\ninline constexpr Entry kEntries[] = {\n" + entries + "};\n";
  return text + fmt::format(kTail, fmt::arg("kernel", first.spec.name),
                            fmt::arg("same", fmt::format("{}", fmt::join(same, " && "))));
}

}  // namespace kiln::cli

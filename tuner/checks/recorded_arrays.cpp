// SPDX-License-Identifier: Apache-2.0
#include "tuner/checks/recorded_arrays.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/errors.hpp"
#include "core/hash.hpp"
#include "core/input_file.hpp"
#include "core/outside_reference.hpp"
#include "tuner/checks/expected.hpp"
#include "tuner/checks/npy.hpp"

namespace kiln {
namespace {

using RecordedFile = RecordedArrays::File;

/// `most_bytes`: more than an array of the wanted shape takes, whatever its type.
std::string bytes_of_file(const KernelSpec& spec, const RecordedFile& file,
                          std::size_t most_bytes) {
  const std::filesystem::path path = std::filesystem::path(spec.path).parent_path() / file.path;
  try {
    return read_input(path, {"an array of NumPy", most_bytes});
  } catch (const InputError& error) {
    throw InputError(file.where, fmt::format("[[verify.expected]]: {}", error.what()));
  }
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

/// Outputs may be wider than their argument: a reference in higher precision.
std::vector<DType> types_for(const BufferPlan& buffer, bool is_output) {
  std::vector<DType> types = {buffer.dtype};
  if (!is_output) return types;
  if (!is_floating(buffer.dtype)) return {buffer.dtype, DType::i64};
  return {buffer.dtype, DType::f32, DType::f64};
}

HostArray read_array(const KernelSpec& spec, const Problem& problem, const RecordedFile& file,
                     const BufferPlan& buffer, bool is_output) {
  const auto elements = static_cast<std::size_t>(buffer.count);
  const std::string bytes = bytes_of_file(spec, file, kMiB + elements * sizeof(double));
  const auto fail = [&](const std::string& what) {
    throw InputError(file.where, fmt::format("[[verify.expected]]: {}", what));
  };
  NpyArray array;
  try {
    array = parse_npy(bytes, file.path);
  } catch (const InputError& error) {
    fail(error.what());
  }
  const bool is_flat = array.shape.size() == 1 && array.count() == buffer.count;
  if (array.shape != buffer.shape && !is_flat) {
    fail(fmt::format("{} has the shape {}; expected {}, that of '{}' for {}", file.path,
                     shape_text(array.shape), shape_text(buffer.shape), buffer.name,
                     problem.text()));
  }
  for (const DType dtype : types_for(buffer, is_output)) {
    if (!array.holds(dtype)) continue;
    HostArray read(dtype, buffer.shape);
    std::memcpy(read.data.data(), array.data.data(), array.data.size());
    return is_output ? widened(read) : read;
  }
  fail(fmt::format("{} holds elements of type '{}', and '{}' is {}", file.path, array.descr,
                   buffer.name, name_of(buffer.dtype)));
  return {};
}

const RecordedFile* file_of(const std::vector<RecordedFile>& files, const std::string& argument) {
  const auto found = std::find_if(files.begin(), files.end(), [&](const RecordedFile& file) {
    return file.argument == argument;
  });
  return found == files.end() ? nullptr : &*found;
}

}  // namespace

std::optional<RecordedValues> read_recorded(const KernelSpec& spec, const Problem& problem,
                                            const LaunchPlan& plan) {
  const RecordedArrays* recorded = find_recorded(spec, problem);
  if (recorded == nullptr) return std::nullopt;
  RecordedValues values;
  const auto read_into = [&](std::map<std::string, HostArray>& arrays,
                             const std::vector<RecordedFile>& files, const BufferPlan& buffer,
                             bool is_output) {
    const RecordedFile* file = file_of(files, buffer.name);
    if (file == nullptr) {
      throw InputError(
          recorded->where,
          fmt::format("[[verify.expected]]: {} '{}' of {} has no file; expected one for each",
                      is_output ? "the output" : "the input", buffer.name, problem.text()));
    }
    arrays.emplace(buffer.name, read_array(spec, problem, *file, buffer, is_output));
    if (is_output) values.source += (values.source.empty() ? "" : ", ") + file->path;
  };
  for (const BufferPlan& buffer : plan.buffers) {
    if (buffer.workspace) continue;
    if (buffer.access != Access::write) read_into(values.inputs, recorded->inputs, buffer, false);
    if (buffer.access != Access::read) read_into(values.outputs, recorded->outputs, buffer, true);
  }
  return values;
}

std::string recorded_hash(const KernelSpec& spec, const Problem& problem) {
  const RecordedArrays* recorded = find_recorded(spec, problem);
  if (recorded == nullptr) return "";
  constexpr std::size_t kMostHashed = 4096 * kMiB;  // read_array() knows the size that it needs
  std::string text;
  for (const std::vector<RecordedFile>* files : {&recorded->inputs, &recorded->outputs}) {
    for (const RecordedFile& file : *files)
      text += fmt::format("{} {}\n", file.argument,
                          hash128_hex(bytes_of_file(spec, file, kMostHashed)));
  }
  return hash128_hex(text).substr(0, 16);
}

}  // namespace kiln

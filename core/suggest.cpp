// SPDX-License-Identifier: Apache-2.0
#include "core/suggest.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace kiln {
namespace {

// Levenshtein distance, one row at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

/// What other tools and people call the things that Kiln has names for.
struct Alias {
  std::string_view said;
  std::string_view meant;
};
constexpr Alias kAliases[] = {
    {"float", "f32"},
    {"float32", "f32"},
    {"fp32", "f32"},
    {"single", "f32"},
    {"double", "f64"},
    {"float64", "f64"},
    {"fp64", "f64"},
    {"half", "f16"},
    {"float16", "f16"},
    {"fp16", "f16"},
    {"bfloat16", "bf16"},
    {"fp8", "e4m3"},
    {"float8", "e4m3"},
    {"float8_e4m3fn", "e4m3"},
    {"float8_e5m2", "e5m2"},
    {"int8", "i8"},
    {"int", "i32"},
    {"int32", "i32"},
    {"uint8", "u8"},
    {"byte", "u8"},
    {"char", "u8"},
    {"gemm", "matmul"},
    {"sgemm", "matmul"},
    {"dgemm", "matmul"},
    {"hgemm", "matmul"},
    {"mm", "matmul"},
    {"bmm", "matmul"},
    {"sum", "reduce"},
    {"reduction", "reduce"},
    {"argmax", "arg_reduce"},
    {"argmin", "arg_reduce"},
    {"cumsum", "scan"},
    {"prefix_sum", "scan"},
    {"softmax", "normalize"},
    {"log_softmax", "normalize"},
    {"layer_norm", "normalize"},
    {"layernorm", "normalize"},
    {"rms_norm", "normalize"},
    {"rmsnorm", "normalize"},
    {"hist", "histogram"},
    {"bincount", "histogram"},
    {"permute", "transpose"},
    {"conv", "convolution"},
    {"conv2d", "convolution"},
    {"resize", "preprocess"},
    {"letterbox", "preprocess"},
    {"nvidia", "cuda"},
    {"amd", "hip"},
    {"rocm", "hip"},
    {"cpu", "opencl"},
    {"pocl", "opencl"},
    {"run", "tune"},
    {"new", "init"},
    {"create", "init"},
    {"delete", "rm"},
    {"remove", "rm"},
    {"search", "tune"},
    {"list", "show"},
    {"ls", "show"},
    {"get", "best"},
    {"query", "best"},
    {"--time", "--seconds"},
    {"--budget", "--seconds"},
    {"--iterations", "--trials"},
    {"--size", "--problem"},
    {"--database", "--db"},
    {"--output", "--out"},
};

/// In lower case, with one sign for what joins words.
std::string folded(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const bool is_upper = c >= 'A' && c <= 'Z';
    text += is_upper ? static_cast<char>(c - 'A' + 'a') : c == '-' ? '_' : c;
  }
  return text;
}

std::optional<std::string> same_in_other_letters(const std::string& name,
                                                 const std::vector<std::string>& candidates) {
  for (const std::string& candidate : candidates) {
    if (folded(candidate) == name) return candidate;
  }
  return std::nullopt;
}

std::optional<std::string> meant_by_alias(const std::string& name,
                                          const std::vector<std::string>& candidates) {
  for (const Alias& alias : kAliases) {
    if (folded(alias.said) != name) continue;
    if (auto meant = same_in_other_letters(folded(alias.meant), candidates)) return meant;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> nearest_name(std::string_view name,
                                        const std::vector<std::string>& candidates) {
  constexpr std::size_t kLongestName = 64;  // no one mistypes a longer one; bounds the work
  if (name.empty() || name.size() > kLongestName) return std::nullopt;
  const std::string plain = folded(name);
  if (auto same = same_in_other_letters(plain, candidates)) return same;
  if (auto meant = meant_by_alias(plain, candidates)) return meant;
  const std::size_t allowed =
      (name.size() + 1) / 3;  // a third of the name; none of a single letter
  std::optional<std::string> best;
  std::size_t fewest = allowed + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongestName) continue;
    const std::size_t edits = edit_distance(plain, folded(candidate));
    if (edits < fewest) {
      fewest = edits;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates) {
  const std::optional<std::string> nearest = nearest_name(name, candidates);
  return nearest ? "; did you mean '" + *nearest + "'?" : "";
}

std::string comma_list(const std::vector<std::string>& names) {
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto here = names.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(names.begin(), here, names[i]) != here) continue;
    if (!list.empty()) list += ", ";
    list += names[i];
  }
  return list;
}

}  // namespace kiln

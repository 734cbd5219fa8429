// SPDX-License-Identifier: Apache-2.0
#include "cli/init/t1_launch.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include <fmt/ranges.h>

#include "core/expression.hpp"

namespace kiln::cli {
namespace {

/// "4" or "name": needs no brackets.
bool is_plain(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_';
  });
}

std::string bracketed(const std::string& text) { return is_plain(text) ? text : "(" + text + ")"; }
/// As int() of Python.
std::string whole(const std::string& text) { return is_plain(text) ? text : "int(" + text + ")"; }

/// A list of texts and numbers, or one of them, as texts; empty: it is not there.
std::vector<std::string> list_in(const T1Part& part, const char* key) {
  std::vector<std::string> texts;
  const Json* list = part.find(key);
  if (list == nullptr) return texts;
  if (!list->is_array()) return {part.required(key)};
  for (const Json& each : *list) {
    if (!each.is_string() && !each.is_number())
      part.fail(fmt::format("needs \"{}\" to be a list of texts and numbers", key));
    texts.push_back(each.is_string() ? each.get<std::string>() : each.dump());
  }
  return texts;
}

/// The extents X, Y, Z of "GlobalSize" or "LocalSize"; what is not given is 1.
std::vector<std::string> extents(const T1Part& kernel, const char* key) {
  const Json* sizes = kernel.find(key);
  if (sizes == nullptr) kernel.fail(fmt::format("needs \"{}\"", key));
  const T1Part part(*sizes, kernel.path(), fmt::format("\"{}\"", key));
  std::vector<std::string> out;
  for (const char* axis : {"X", "Y", "Z"}) out.push_back(part.text(axis).value_or("1"));
  return out;
}

const Tunable* tunable_of(const Variant& variant, std::string_view name) {
  const auto found = std::find_if(variant.tunables.begin(), variant.tunables.end(),
                                  [&](const Tunable& each) { return each.name == name; });
  return found == variant.tunables.end() ? nullptr : &*found;
}

/// As Kernel Tuner launches: "ProblemSize" over the product of "GridDivX" (default: the block's
/// extent), rounded up, in blocks of the tunables block_size_x, _y and _z. It reads no other sizes.
T1Launch launch_of_kernel_tuner(const T1Part& kernel, const Variant& variant) {
  constexpr std::array kDivisors = {"GridDivX", "GridDivY", "GridDivZ"};
  constexpr std::array kBlocks = {"block_size_x", "block_size_y", "block_size_z"};
  constexpr std::array kUsualBlocks = {"256", "1", "1"};
  const std::vector<std::string> problem = list_in(kernel, "ProblemSize");
  if (problem.empty() || problem.size() > kBlocks.size())
    kernel.fail("needs \"ProblemSize\" to hold one to three sizes");
  T1Launch launch;
  for (std::size_t i = 0; i < kBlocks.size(); ++i) {
    const bool has_block = tunable_of(variant, kBlocks[i]) != nullptr;
    launch.block.emplace_back(has_block ? kBlocks[i] : kUsualBlocks[i]);
    std::vector<std::string> divisors = list_in(kernel, kDivisors[i]);
    if (divisors.empty() && has_block) divisors.emplace_back(kBlocks[i]);
    std::string product;
    for (const std::string& divisor : divisors)
      product += (product.empty() ? "" : " * ") + whole(divisor);
    const std::string size = i < problem.size() ? whole(problem[i]) : "1";
    launch.grid.push_back(product.empty() ? size : fmt::format("ceil_div({}, {})", size, product));
  }
  return launch;
}

/// As KTT launches: "GlobalSize" counts threads for OpenCL and blocks for the others, unless
/// "GlobalSizeType" says which.
T1Launch launch_of_ktt(const T1Part& kernel) {
  T1Launch launch{extents(kernel, "GlobalSize"), extents(kernel, "LocalSize")};
  const std::string language = kernel.text("Language").value_or("");
  const bool in_threads = kernel.text("GlobalSizeType").value_or(language) == "OpenCL";
  for (std::size_t i = 0; i < launch.grid.size(); ++i) {
    std::string& extent = launch.grid[i];
    if (in_threads && launch.block[i] != "1")
      extent = fmt::format("{} // {}", bracketed(extent), bracketed(launch.block[i]));
    extent = whole(extent);
  }
  return launch;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// `rest` stands behind the name of the list, and is shortened by the "[2]" there.
std::string element(const std::vector<std::string>& list, std::string_view& rest) {
  const std::size_t end = rest.find(']');
  int index = 0;
  const bool has_index =
      rest.starts_with('[') && end != std::string_view::npos &&
      std::from_chars(rest.data() + 1, rest.data() + end, index).ptr == rest.data() + end;
  if (!has_index) throw InputError("expected the place of an element, as in ProblemSize[0]");
  const auto size = static_cast<int>(list.size());
  if (index < 0) index += size;
  if (index < 0 || index >= size) throw InputError("there is no such element of the list");
  rest.remove_prefix(end + 1);
  return bracketed(list[static_cast<std::size_t>(index)]);
}

}  // namespace

bool is_of_ktt(const T1Part& kernel) { return kernel.find("ProblemSize") == nullptr; }

T1Launch launch_of(const T1Part& kernel, const Variant& variant) {
  return is_of_ktt(kernel) ? launch_of_ktt(kernel) : launch_of_kernel_tuner(kernel, variant);
}

T1Size::T1Size(const T1Part& kernel, const Variant& variant)
    : problem_(list_in(kernel, "ProblemSize")), variant_(variant) {}

std::string T1Size::text(const T1Part& argument) const {
  const std::string given = argument.required("Size");
  try {
    const Expression size = Expression::parse(fmt::format("int({})", with_numbers(given)));
    return std::to_string(size.evaluate_int(Scope()));
  } catch (const InputError& error) {
    argument.fail(
        fmt::format("has the \"Size\" '{}', which is no number: {}", given, error.what()));
  }
}

/// `text` with every "ProblemSize[0]", "max(name)" and "name[0]" as a number.
std::string T1Size::with_numbers(std::string_view text) const {
  std::string out;
  while (!text.empty()) {
    std::size_t end = 0;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end == 0) {
      out += text.front();
      text.remove_prefix(1);
      continue;
    }
    const std::string word(text.substr(0, end));
    text.remove_prefix(end);
    if (const auto list = list_named(word)) {
      out += element(*list, text);
    } else if (const auto number = of_list(word, text)) {
      out += *number;
    } else {
      out += word;
    }
  }
  return out;
}

std::optional<std::vector<std::string>> T1Size::list_named(const std::string& name) const {
  if (name == "ProblemSize") return problem_;
  const Tunable* tunable = tunable_of(variant_, name);
  if (tunable == nullptr) return std::nullopt;
  std::vector<std::string> values;
  for (const Value& value : tunable->values) values.push_back(to_text(value));
  return values;
}

/// max(name), min(name), sum(name) and len(name) of a list; `rest` is shortened by "(name)".
std::optional<std::string> T1Size::of_list(const std::string& function,
                                           std::string_view& rest) const {
  if (function != "max" && function != "min" && function != "sum" && function != "len")
    return std::nullopt;
  const std::size_t end = rest.find(')');
  if (!rest.starts_with('(') || end == std::string_view::npos) return std::nullopt;
  const auto list = list_named(std::string(rest.substr(1, end - 1)));
  if (!list || list->empty()) return std::nullopt;
  rest.remove_prefix(end + 1);
  if (list->size() == 1 && function != "len") return bracketed(list->front());
  if (function == "len") return std::to_string(list->size());
  if (function != "sum") return fmt::format("{}({})", function, fmt::join(*list, ", "));
  return fmt::format("({})", fmt::join(*list, " + "));
}

}  // namespace kiln::cli

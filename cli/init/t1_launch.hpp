// How a T1 file launches its kernel, as the tuner that the file is for launches it: Kernel Tuner
// reads "ProblemSize", KTT "GlobalSize" and "LocalSize".
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "core/json.hpp"
#include "core/spec.hpp"

namespace kiln::cli {

/// One object of the file, with its name for messages.
class T1Part {
 public:
  T1Part(const Json& json, std::string path, std::string name)
      : json_(json), path_(std::move(path)), name_(std::move(name)) {
    if (!json_.is_object()) fail("must be an object");
  }

  [[noreturn]] void fail(const std::string& message) const {
    throw InputError({path_, 0, 0}, name_ + " " + message);
  }

  [[nodiscard]] const Json* find(const char* key) const {
    const auto found = json_.find(key);
    return found == json_.end() || found->is_null() ? nullptr : &*found;
  }

  /// A text or a number, as text; nullopt when it is not there.
  [[nodiscard]] std::optional<std::string> text(const char* key) const {
    const Json* value = find(key);
    if (value == nullptr) return std::nullopt;
    if (value->is_string()) return value->get<std::string>();
    if (value->is_number() || value->is_boolean()) return value->dump();
    fail(fmt::format("needs \"{}\" to be a text or a number", key));
  }

  [[nodiscard]] std::string required(const char* key) const {
    if (const auto value = text(key)) return *value;
    fail(fmt::format("needs \"{}\"", key));
  }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  const Json& json_;
  std::string path_;
  std::string name_;
};

/// Blocks of the grid and threads of a block, per axis.
struct T1Launch {
  std::vector<std::string> grid;
  std::vector<std::string> block;
};

/// Files for Kernel Tuner have a problem size; it reads neither "GlobalSize" nor "LocalSize".
[[nodiscard]] bool is_of_ktt(const T1Part& kernel);

/// Throws InputError naming the key that is missing or no size.
[[nodiscard]] T1Launch launch_of(const T1Part& kernel, const Variant& variant);

/// The size of an argument, a Python expression over "ProblemSize" and the lists of the tunables'
/// values, as a number.
class T1Size {
 public:
  T1Size(const T1Part& kernel, const Variant& variant);

  /// Throws InputError for a text that is no number.
  [[nodiscard]] std::string text(const T1Part& argument) const;

 private:
  [[nodiscard]] std::string with_numbers(std::string_view text) const;
  [[nodiscard]] std::optional<std::vector<std::string>> list_named(const std::string& name) const;
  [[nodiscard]] std::optional<std::string> of_list(const std::string& function,
                                                   std::string_view& rest) const;

  std::vector<std::string> problem_;
  const Variant& variant_;
};

}  // namespace kiln::cli

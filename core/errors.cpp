// SPDX-License-Identifier: Apache-2.0
#include "core/errors.hpp"

#include "core/shown_text.hpp"

namespace kiln {
namespace {

std::string located(const SourceLocation& where, const std::string& message) {
  const std::string place = to_text(where);
  return place.empty() ? message : place + ": " + message;
}

}  // namespace

const std::string& FileName::text() const {
  static const std::string kUnknown;
  return name_ ? *name_ : kUnknown;
}

std::string to_text(const SourceLocation& where) {
  std::string text = where.file.text();
  // A column without a line would read as a line, so it is left out with it.
  if (where.line <= 0) return text;
  if (!text.empty()) text += ':';
  text += std::to_string(where.line);
  if (where.column > 0) text += ':' + std::to_string(where.column);
  return text;
}

Error::Error(ExitCode code, const std::string& message)
    : std::runtime_error(hidden_passwords(shown_text(message))), code_(code) {}

InputError::InputError(const SourceLocation& where, const std::string& message)
    : Error(ExitCode::bad_input, located(where, message)) {}

}  // namespace kiln

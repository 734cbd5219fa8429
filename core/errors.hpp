// The few exceptions that end a run, and the exit codes they carry.
//
// A config that fails is a recorded outcome (core/trial.hpp), never an exception. These types are
// for what a user must mend before anything can go on: a bad spec, no device, an unusable database.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace kiln {

/// Process exit codes of the `kiln` program (docs/cli.md lists them; never renumber).
enum class ExitCode : int {
  ok = 0,
  failed = 1,         ///< the work ran but found no valid config, or a check failed
  usage = 2,          ///< command line: unknown flag, missing or malformed value
  bad_input = 3,      ///< spec, template, constraint, problem, config or plan file
  no_device = 4,      ///< the asked-for device or backend is not there
  bad_database = 5,   ///< the database cannot be opened, read or written
  internal = 70,      ///< a defect of Kiln itself
  interrupted = 130,  ///< SIGINT (143 for SIGTERM)
};

/// The name of a file, shared by all places in it: a spec has thousands of places.
class FileName {
 public:
  FileName() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): stands where a text stood
  FileName(const std::string& name) : name_(std::make_shared<const std::string>(name)) {}
  FileName(const char* name)  // NOLINT(google-explicit-constructor): the same
      : FileName(std::string(name)) {}

  /// Empty: not known.
  [[nodiscard]] const std::string& text() const;
  friend bool operator==(const FileName& a, const FileName& b) { return a.text() == b.text(); }

 private:
  std::shared_ptr<const std::string> name_;
};

/// A place in a text that a user wrote. Lines and columns count from 1; 0 means "not known".
struct SourceLocation {
  FileName file;
  int line = 0;
  int column = 0;
  friend bool operator==(const SourceLocation&, const SourceLocation&) = default;
};

/// "file:line:column", leaving out what is not known.
[[nodiscard]] std::string to_text(const SourceLocation& where);

/// Base of all errors that end a run. what() is one clear sentence for the user.
class Error : public std::runtime_error {
 public:
  /// Shows control characters of `message` and hides passwords: it may quote anything.
  Error(ExitCode code, const std::string& message);
  [[nodiscard]] ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

/// Something a user wrote is wrong: what() starts with "file:line:column: " and says what was
/// expected.
class InputError : public Error {
 public:
  InputError(const SourceLocation& where, const std::string& message);
  /// For input without a file (command line values): what() is `message`.
  explicit InputError(const std::string& message) : Error(ExitCode::bad_input, message) {}
};

class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(ExitCode::usage, message) {}
};

/// A backend or device is not there; what() gives the reason.
class DeviceError : public Error {
 public:
  explicit DeviceError(const std::string& message) : Error(ExitCode::no_device, message) {}
};

class DatabaseError : public Error {
 public:
  explicit DatabaseError(const std::string& message) : Error(ExitCode::bad_database, message) {}
};

/// Another process writes the database; it may be free later.
class DatabaseBusyError : public DatabaseError {
 public:
  using DatabaseError::DatabaseError;
};

}  // namespace kiln

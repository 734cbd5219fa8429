// Call records: how often an application called each problem, and with which grade it ran. `kiln
// coverage` weighs them, and `kiln sweep --requested` tunes those that are not exact. Opt-in
// (KILN_STATISTICS=FILE).
//
// The file holds JSON lines and only grows. Each process appends whole lines, each with one write,
// so many processes may share a file without a lock: a line without counts at the first call that
// is not exact, since a program that is killed writes no more, and the counts when it ends.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

struct CallRecord {
  std::string kernel;
  std::string problem;  ///< Problem::text()
  std::string device;   ///< identity_of(device)
  std::string grade;    ///< of the match: "exact", ..., "default"
  std::string config;   ///< that ran
  std::int64_t selections = 0;
  std::int64_t launches = 0;

  friend bool operator==(const CallRecord&, const CallRecord&) = default;

  /// What an application calls: launches, or selections if it launches by its own means.
  [[nodiscard]] std::int64_t calls() const { return launches > 0 ? launches : selections; }
};

/// The file that $KILN_STATISTICS names; nullopt: none.
[[nodiscard]] std::optional<std::filesystem::path> call_records_path();

/// Why record_calls() could not write there; empty if it can.
[[nodiscard]] std::string calls_trouble(const std::filesystem::path& path);

/// Appends a record. Any process may call it. Returns false if it cannot be written.
bool record_calls(const std::filesystem::path& path, const CallRecord& record) noexcept;

/// Adds up records of one kernel, problem, device, grade and config; the most called come first.
[[nodiscard]] std::vector<CallRecord> added_up(const std::vector<CallRecord>& records);

/// The problems that were called on a device and ran without an exact match: one record for each,
/// the most called first.
[[nodiscard]] std::vector<CallRecord> untuned(const std::vector<CallRecord>& records);

struct CallList {
  std::vector<CallRecord> records;  ///< equal ones are added up; the most called first
  std::vector<std::string> bad;     ///< unreadable lines, each "FILE:LINE: ..."
};

/// Never throws for the content of a line.
[[nodiscard]] CallList read_calls(std::string_view text, const std::string& file);

}  // namespace kiln

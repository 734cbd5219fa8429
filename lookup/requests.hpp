// Untuned requests: a work list for `kiln sweep --requested` of problems that were requested and
// never tuned. Opt-in.
//
// The file holds JSON lines and only grows. Each process appends whole lines, each with one write,
// so many processes may share a file without a lock. Another line retires a tuned problem.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

struct Request {
  std::string kernel;
  std::string problem;  ///< Problem::text()
  std::string device;   ///< identity_of(device)
  std::string grade;    ///< the grade of the lookup, not "exact"; empty for a retirement
  std::int64_t count = 1;

  friend bool operator==(const Request&, const Request&) = default;
};

/// Returns the file for requests. nullopt if $KILN_RECORD_REQUESTS is empty or "0". If it is "1",
/// default_requests_path(), which is empty if there is no place. Else the path that it names.
[[nodiscard]] std::optional<std::filesystem::path> requested_path();
/// Returns requests.jsonl beside the default database; empty if that has no place.
[[nodiscard]] std::filesystem::path default_requests_path();

/// Returns why record_request() cannot write to `path`, as a sentence; empty if it can. Writes
/// nothing.
[[nodiscard]] std::string requests_trouble(const std::filesystem::path& path);

/// Appends a request. Any process and thread may call it. Returns false if it cannot be written; a
/// lost request does no harm.
bool record_request(const std::filesystem::path& path, const Request& request) noexcept;
/// Appends a retirement: the problem was tuned, and its earlier requests are done.
bool retire_request(const std::filesystem::path& path, const Request& request) noexcept;

struct RequestList {
  std::vector<Request> open;     ///< the most requested first, then by kernel and problem
  std::vector<std::string> bad;  ///< unreadable lines, each "FILE:LINE: ..."
};

/// Returns the requests that were not retired; equal requests are merged and counted.
[[nodiscard]] RequestList read_requests(std::string_view text, const std::string& file);

}  // namespace kiln

// Untuned requests: problems that were asked for and that no session has tuned, as a work list for
// `kiln sweep --requested`. Opt-in.
//
// A text of JSON lines that only grows: each process appends whole lines, each with one write, so
// that many may share a file without a lock. A problem that was tuned is retired by another line.
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
  std::string grade;    ///< what the lookup had instead of "exact"; of a retirement: empty
  std::int64_t count = 1;

  friend bool operator==(const Request&, const Request&) = default;
};

/// Where requests are recorded: nowhere when $KILN_RECORD_REQUESTS is empty or "0", at
/// default_requests_path() when it is "1" (empty: asked for, and there is no place), else at the
/// path that it names.
[[nodiscard]] std::optional<std::filesystem::path> requested_path();
/// requests.jsonl beside the default database; empty when that has no place.
[[nodiscard]] std::filesystem::path default_requests_path();

/// Why record_request() would not write to `path`, as a sentence; empty when it would. Only looks.
[[nodiscard]] std::string requests_trouble(const std::filesystem::path& path);

/// Appends that the problem was asked for. Any process, any thread. False when it cannot be
/// written: a request that is lost does no harm.
bool record_request(const std::filesystem::path& path, const Request& request) noexcept;
/// Appends that the problem was tuned: the requests before it are done.
bool retire_request(const std::filesystem::path& path, const Request& request) noexcept;

struct RequestList {
  std::vector<Request> open;     ///< the most often asked for first, then by kernel and problem
  std::vector<std::string> bad;  ///< lines that cannot be read, "FILE:LINE: ..." each
};

/// The requests that were not retired, equal ones merged with their count.
[[nodiscard]] RequestList read_requests(std::string_view text, const std::string& file);

}  // namespace kiln

// ReaderCrowd: processes that read one database over and over while others change it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "db/store.hpp"

namespace kiln::test {

/// What the crowd saw; in memory that all its processes share.
struct CrowdReport {
  std::atomic<bool> stop{false};
  std::atomic<long> ready{0};   ///< readers that have read once
  std::atomic<long> reads{0};   ///< databases opened and read
  std::atomic<long> errors{0};  ///< of them: that threw
  std::atomic<long> mixed{0};   ///< of them: that no single moment of the database explains
  char first_error[512] = {};   ///< written by whoever raises `errors` or `mixed` from zero
};

class ReaderCrowd {
 public:
  /// Says what is wrong with what a reader found; empty when nothing is.
  using Judge = std::function<std::string(const Store&)>;

  /// Starts `count` processes that rest for `pause` between two reads. The caller has no other
  /// threads and no connection to `database`: SQLite's locks do not survive a fork. Waits until
  /// each has read once.
  ReaderCrowd(std::size_t count, const std::filesystem::path& database, const Judge& judge,
              std::chrono::milliseconds pause);
  ~ReaderCrowd();
  ReaderCrowd(const ReaderCrowd&) = delete;
  ReaderCrowd& operator=(const ReaderCrowd&) = delete;

  /// SIGKILLs reader `index` and starts another in its place. No connection to `database` may be
  /// open.
  void replace(std::size_t index);
  /// Ends all, and gives what they saw.
  const CrowdReport& finish();

 private:
  pid_t start() const;

  std::filesystem::path database_;
  Judge judge_;
  std::chrono::milliseconds pause_;
  CrowdReport* report_;
  std::vector<pid_t> readers_;
};

}  // namespace kiln::test

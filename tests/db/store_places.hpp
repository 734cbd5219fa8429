// One suite over both stores: a file of SQLite, and a server of PostgreSQL.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "tests/backends/required.hpp"
#include "tests/db/scratch.hpp"
#include "tests/support/postgres_server.hpp"

namespace kiln::test {

enum class KeptBy { file, server };

class OverStores : public ::testing::TestWithParam<KeptBy> {
 protected:
  void SetUp() override {
    if (GetParam() == KeptBy::file || PostgresServer::missing().empty()) return;
    KILN_SKIP_UNLESS_REQUIRED("postgres", PostgresServer::missing());
  }

  /// Where a database of this name is; the same for the same name.
  [[nodiscard]] std::filesystem::path place(const std::string& name) {
    if (GetParam() == KeptBy::file) return folder_ / name.c_str();
    const auto [found, is_new] = urls_.try_emplace(name);
    if (is_new) found->second = PostgresServer::shared().new_database();
    return found->second;
  }
  [[nodiscard]] static bool is_file() { return GetParam() == KeptBy::file; }

  ScratchFolder folder_;

 private:
  std::map<std::string, std::string> urls_;
};

/// Runs the tests of a suite over both.
#define KILN_OVER_STORES(suite)                                                            \
  INSTANTIATE_TEST_SUITE_P(File, suite, ::testing::Values(::kiln::test::KeptBy::file),     \
                           [](const auto&) { return "Sqlite"; });                          \
  INSTANTIATE_TEST_SUITE_P(Server, suite, ::testing::Values(::kiln::test::KeptBy::server), \
                           [](const auto&) { return "Postgres"; })

}  // namespace kiln::test

// What ships with the program: the rows of data/, by kernel, and the compressed files in general.
// SPDX-License-Identifier: Apache-2.0
#include "wisdom/shipped.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/json.hpp"
#include "db/evidence.hpp"
#include "wisdom/wisdom.hpp"

namespace kiln {
namespace {

std::string without_samples(const std::string& evidence) {
  Json json = Json::parse(evidence);
  for (Json& finalist : json.at("finalists")) finalist.at("samples_ns") = Json::array();
  return json.dump();
}

/// The rows of data/*.jsonl by kernel, as they should be shipped.
std::map<std::string, std::vector<BestRecord>> rows_of_the_tree() {
  std::map<std::string, std::vector<BestRecord>> rows;
  for (const auto& entry : std::filesystem::directory_iterator(KILN_SOURCE_DIR "/data")) {
    if (entry.path().extension() != ".jsonl") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (WisdomEntry& row : read_wisdom(text, entry.path().filename()).entries) {
      row.best.evidence = without_samples(row.best.evidence);
      rows[row.best.key.kernel].push_back(std::move(row.best));
    }
  }
  return rows;
}

TEST(ShippedRows, AreThoseOfTheTreeWithoutSingleSamples) {
  const auto rows = rows_of_the_tree();
  EXPECT_FALSE(rows.empty());
  for (const auto& [kernel, expected] : rows) {
    const std::vector<BestRecord> shipped = shipped_bests(kernel);
    EXPECT_EQ(shipped.size(), expected.size()) << kernel;
    EXPECT_TRUE(write_wisdom(shipped) == write_wisdom(expected)) << kernel;
    for (const BestRecord& best : shipped) {
      EXPECT_EQ(best.layer, kShippedLayer);
      EXPECT_EQ(read_evidence(best.evidence).source.size(), 16U)
          << kernel << " " << best.problem_json;
    }
  }
  EXPECT_TRUE(shipped_bests("no_such_kernel").empty());
}

TEST(ShippedRows, AreNamedByFileAndKernel) {
  std::vector<std::string> paths;
  for (const EmbeddedFile& part : shipped_parts()) paths.emplace_back(part.path);
  EXPECT_TRUE(std::is_sorted(paths.begin(), paths.end()));
  EXPECT_THAT(paths, ::testing::Contains("nvidia_h200.jsonl/matmul"));
}

TEST(EmbeddedFiles, OfADamagedProgramAreNotReadHalf) {
  EmbeddedFile part = shipped_parts().front();
  EXPECT_EQ(part.text().size(), part.bytes);
  part.deflated_bytes /= 2;
  EXPECT_THROW((void)part.text(), std::logic_error);
  part = shipped_parts().front();
  part.bytes += 1;
  EXPECT_THROW((void)part.text(), std::logic_error);
}

}  // namespace
}  // namespace kiln

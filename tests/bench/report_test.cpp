// What the report says of rows that were measured.
// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/host/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "bench/peers/host/family_report.hpp"

namespace kiln::peers {
namespace {

using testing::HasSubstr;
using testing::Not;

Row row_of(int number, const std::string& peer, double peer_us) {
  Row row;
  row.number = number;
  row.problem = "matmul m=4096 n=4096 k=4096 dtype=bf16";
  row.peer = peer;
  row.config = "wgmma:tile_m=128";
  row.grade = "exact";
  row.kiln_us = 200;
  row.peer_us = peer_us;
  row.flops = 2.0 * 4096 * 4096 * 4096;
  row.bytes = 3.0 * 4096 * 4096 * 2;
  row.compared = true;
  row.agreement = {true, "equal"};
  row.kiln_samples = {199, 200, 201};
  row.peer_samples = {peer_us};
  return row;
}

Row way_of(int number, int index, double peer_us, const std::string& family = "cublasLt") {
  Row row = row_of(number, family, peer_us);
  row.choice = Choice{family, index, "id 66"};
  row.kiln_error = ProductError{1.5e-3, 8e-3};
  row.peer_error = ProductError{1.6e-3, 9e-3};
  return row;
}

TEST(FirstAndBest, KeepsOtherRows) {
  const std::vector<Row> kept = first_and_best({row_of(1, "cuBLAS sgemm", 300)});
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].peer, "cuBLAS sgemm");
  EXPECT_EQ(kept[0].role, Role::only);
}

TEST(FirstAndBest, KeepsTwoRowsOfAFamily) {
  const std::vector<Row> kept = first_and_best(
      {row_of(1, "cuBLAS", 300), way_of(1, 0, 220), way_of(1, 1, 190), way_of(1, 2, 210)});
  ASSERT_EQ(kept.size(), 3U);
  EXPECT_EQ(kept[1].peer, "cublasLt, first of 3");
  EXPECT_EQ(kept[1].role, Role::first);
  EXPECT_EQ(kept[1].peer_us, 220);
  EXPECT_EQ(kept[2].peer, "cublasLt, best of 3: no. 2");
  EXPECT_EQ(kept[2].role, Role::best);
  EXPECT_EQ(kept[2].peer_us, 190);
  EXPECT_EQ(kept[2].family_us, (std::vector<double>{220, 190, 210}));
}

TEST(FirstAndBest, NumbersWaysAsTheLibraryDoesWhereSomeFailed) {
  const std::vector<Row> kept = first_and_best({way_of(1, 2, 220), way_of(1, 5, 190)});
  EXPECT_EQ(kept[0].peer_us, 220);  // the first that ran
  EXPECT_EQ(kept[1].peer, "cublasLt, best of 2: no. 6");
}

TEST(FirstAndBest, KeepsFamiliesApart) {
  const std::vector<Row> kept = first_and_best(
      {way_of(1, 0, 220), way_of(1, 1, 210), way_of(1, 0, 180, "cublasLt, fast sums")});
  ASSERT_EQ(kept.size(), 4U);
  EXPECT_EQ(kept[1].peer_us, 210);
  EXPECT_EQ(kept[2].peer, "cublasLt, fast sums, first of 1");
  EXPECT_EQ(kept[3].peer, "cublasLt, fast sums, best of 1: no. 1");
}

Report report_of(std::vector<Row> rows) {
  Report report;
  report.device = "cuda:0 NVIDIA H100";
  report.driver = "CUDA 13.0";
  report.libraries = "cublasLt 13.0.2";
  report.rows = std::move(rows);
  return report;
}

TEST(Report, ShowsFirstAndBestOnOneLine) {
  const std::string table = family_table(first_and_best({way_of(7, 0, 220), way_of(7, 1, 190)}));
  EXPECT_EQ(
      table,
      "no.  problem                                 library   cache  Kiln us  TFLOP/s  TB/s  "
      "first us  over first  best us  which  over best  Kiln error  first error  best error  "
      "match\n"
      "  7  matmul m=4096 n=4096 k=4096 dtype=bf16  cublasLt  cold    200.00    687.2  0.50    "
      "220.00       1.10x   190.00    2/2      0.95x     1.5e-03      1.6e-03     1.6e-03  "
      "exact\n");
}

TEST(Report, AveragesOverProblems) {
  std::vector<Row> rows = first_and_best({way_of(1, 0, 400), way_of(1, 1, 200)});
  for (Row& row : first_and_best({way_of(2, 0, 400), way_of(2, 1, 800)})) rows.push_back(row);
  // Twice and twice the first; 1 and 2 times the best.
  EXPECT_EQ(family_summary(rows),
            "cold: geometric mean over 2 problems 2.000x the first, 1.414x the best; lowest 1.000x "
            "the best (problem 1)\n");
}

TEST(Report, CountsTheFastestFamilyOfAProblem) {
  const std::vector<Row> rows =
      first_and_best({way_of(1, 0, 400), way_of(1, 0, 100, "cublasLt, fast sums")});
  EXPECT_THAT(family_summary(rows), HasSubstr("1 problems 2.000x the first, 0.500x the best"));
}

TEST(Report, SummarisesCacheModesApart) {
  std::vector<Row> rows = first_and_best({way_of(1, 0, 200)});
  std::vector<Row> warm = first_and_best({way_of(1, 0, 100)});
  for (Row& row : warm) row.cache = CacheMode::warm;
  rows.insert(rows.end(), warm.begin(), warm.end());
  const std::string text = family_summary(rows);
  EXPECT_THAT(text, HasSubstr("cold: geometric mean over 1 problems 1.000x"));
  EXPECT_THAT(text, HasSubstr("warm: geometric mean over 1 problems 0.500x"));
}

TEST(Report, LeavesOutTheProductsWhereThereAreNone) {
  const std::string text = report_text(report_of({row_of(1, "CUB DeviceReduce::Sum", 250)}));
  EXPECT_THAT(text, HasSubstr("cuda:0 NVIDIA H100, driver CUDA 13.0, cublasLt 13.0.2; medians"));
  EXPECT_THAT(text, HasSubstr("1.25x"));
  EXPECT_THAT(text, Not(HasSubstr("over best")));
}

TEST(Report, NamesWhatIsMissing) {
  Report report = report_of({});
  report.missing = {{"matmul m=1 n=1 k=1", "cublasLt: the heuristic found no algorithm", false}};
  EXPECT_THAT(report_text(report),
              HasSubstr("matmul m=1 n=1 k=1: cublasLt: the heuristic found no algorithm\n"));
}

TEST(Report, SaysWhereResultsDisagree) {
  Row row = row_of(1, "cuBLAS sgemm", 300);
  row.agreement = {false, "largest error 1.0e+00 of the largest value (allowed 1.0e-04)"};
  EXPECT_THAT(report_text(report_of({row})), HasSubstr("NO: largest error 1.0e+00"));
}

TEST(Report, WritesOneLineOfJsonPerRow) {
  const std::vector<Row> rows = first_and_best({way_of(7, 0, 220), way_of(7, 1, 190)});
  const std::string line = json_line(rows[1]);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const nlohmann::json json = nlohmann::json::parse(line);
  EXPECT_EQ(json["number"], 7);
  EXPECT_EQ(json["cache"], "cold");
  EXPECT_EQ(json["role"], "best");
  EXPECT_EQ(json["library"], "cublasLt");
  EXPECT_EQ(json["algorithm_number"], 2);
  EXPECT_EQ(json["algorithms_us"], (std::vector<double>{220, 190}));
  EXPECT_EQ(json["kiln_error"]["relative"], 1.5e-3);
  EXPECT_NEAR(json["kiln_tflops"].get<double>(), 687.2, 0.1);
  EXPECT_FALSE(json.contains("kiln_samples_us"));
}

TEST(Report, KeepsAllSamplesInJson) {
  const nlohmann::json json =
      nlohmann::json::parse(json_text(report_of({row_of(1, "cuBLAS sgemm", 300)})));
  EXPECT_EQ(json["rows"][0]["kiln_samples_us"], (std::vector<double>{199, 200, 201}));
  EXPECT_EQ(json["rows"][0]["kiln_error"], nullptr);
  EXPECT_EQ(json["cold_cache"], true);
}

}  // namespace
}  // namespace kiln::peers

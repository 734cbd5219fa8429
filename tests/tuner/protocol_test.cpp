// Frames on the wire: whole, in pieces, and malformed.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/workers/protocol.hpp"

#include <gtest/gtest.h>

#include "core/json.hpp"
#include "tuner/workers/messages.hpp"

namespace kiln {
namespace {

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto* data = reinterpret_cast<const std::byte*>(text.data());
  return {data, data + text.size()};
}

TEST(Protocol, FramesComeOutAsTheyWentInHoweverTheyAreCut) {
  std::vector<std::byte> wire = to_wire({"{\"type\":\"a\"}", bytes_of("blob")});
  const std::vector<std::byte> second = to_wire({"{}", {}});
  wire.insert(wire.end(), second.begin(), second.end());

  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, wire.size()}) {
    FrameReader reader;
    std::vector<Frame> frames;
    for (std::size_t at = 0; at < wire.size(); at += piece) {
      reader.feed(std::span(wire).subspan(at, std::min(piece, wire.size() - at)));
      while (auto frame = reader.next()) frames.push_back(std::move(*frame));
    }
    ASSERT_EQ(frames.size(), 2U);
    EXPECT_EQ(frames[0].header, "{\"type\":\"a\"}");
    EXPECT_EQ(frames[0].blob, bytes_of("blob"));
    EXPECT_EQ(frames[1].header, "{}");
    EXPECT_FALSE(reader.malformed());
  }
}

TEST(Protocol, GarbageIsMalformedForGood) {
  FrameReader reader;
  reader.feed(bytes_of("this is what a broken worker writes"));
  EXPECT_FALSE(reader.next().has_value());
  EXPECT_TRUE(reader.malformed());
  reader.feed(to_wire({"{}", {}}));
  EXPECT_FALSE(reader.next().has_value());
}

TEST(Protocol, LengthsBeyondTheLimitAreMalformedBeforeAnythingIsAllocated) {
  std::vector<std::byte> wire = to_wire({"{}", {}});
  wire[7] = std::byte{0xFF};  // the highest byte of the header's length
  FrameReader reader;
  reader.feed(wire);
  EXPECT_FALSE(reader.next().has_value());
  EXPECT_TRUE(reader.malformed());
}

TEST(Messages, ATrialReportSurvivesTheWay) {
  TrialReport report;
  report.failure = Failure{Outcome::device_fault, "illegal address \xff", true};
  report.max_error = 0.25;
  report.samples.ns = {1.5, 2.5};
  report.samples.batch = 7;
  report.samples.dropped_early = true;
  report.verify_ns = 12;
  report.measure_ns = 34;
  const Frame frame = encode(report);
  EXPECT_EQ(type_of(frame), "measured");
  const TrialReport copy = decode<TrialReport>(frame);
  EXPECT_EQ(copy.failure->outcome, Outcome::device_fault);
  EXPECT_TRUE(copy.failure->sticky);
  EXPECT_EQ(copy.failure->message, "illegal address ?");
  EXPECT_EQ(copy.samples.ns, report.samples.ns);
  EXPECT_EQ(copy.samples.batch, 7);
  EXPECT_TRUE(copy.samples.dropped_early);
  EXPECT_EQ(copy.max_error, 0.25);
  EXPECT_EQ(copy.verify_ns, 12);
  EXPECT_EQ(copy.measure_ns, 34);
}

TEST(Messages, AProblemSurvivesTheWayWithItsTypes) {
  ProblemJob job;
  job.spec_text = "name = \"x\"";
  job.spec_files = {{"a.inja", "text"}};
  job.problem = {
      {"n", std::int64_t{5}}, {"alpha", 2.0}, {"dtype", std::string("f32")}, {"flag", true}};
  job.seed = 0xFFFFFFFFFFFFFFFF;
  job.measure.cold_cache = false;
  job.measure.timing = Timing::graph;
  job.measure.stop.max_samples = 17;
  job.measure.stop.behind_samples = 7;
  job.measure.stop.drop_factors = {4, 3, 2, 1.5};
  job.measure.race = false;
  job.measure.energy = true;
  job.measure.energy_ns = 9;
  const ProblemJob copy = decode<ProblemJob>(encode(job));
  EXPECT_EQ(copy.problem, job.problem);
  EXPECT_EQ(copy.spec_files, job.spec_files);
  EXPECT_EQ(copy.seed, job.seed);
  EXPECT_FALSE(copy.measure.cold_cache);
  EXPECT_EQ(copy.measure.timing, Timing::graph);
  EXPECT_EQ(copy.measure.stop.max_samples, 17U);
  EXPECT_EQ(copy.measure.stop.behind_samples, 7U);
  EXPECT_EQ(copy.measure.stop.drop_factors, job.measure.stop.drop_factors);
  EXPECT_FALSE(copy.measure.race);
  EXPECT_TRUE(copy.measure.energy);
  EXPECT_EQ(copy.measure.energy_ns, 9);
}

TEST(Messages, BinariesTravelInTheBlobOneAfterTheOther) {
  FinalsJob job;
  job.configs = {{"tile", {{"rows", std::int64_t{4}}}}, {"naive", {}}};
  job.binaries = {{bytes_of("first"), "log", 32, 0, 128, {}},
                  {bytes_of("second!"), "", -1, -1, -1, {{"conv<64>", "_Z4convILi64EEvv"}}}};
  const Frame frame = encode(job);
  EXPECT_EQ(frame.blob.size(), 12U);
  const FinalsJob copy = decode<FinalsJob>(frame);
  EXPECT_EQ(copy.configs, job.configs);
  ASSERT_EQ(copy.binaries.size(), 2U);
  EXPECT_EQ(copy.binaries[0].data, bytes_of("first"));
  EXPECT_EQ(copy.binaries[0].registers, 32);
  EXPECT_EQ(copy.binaries[1].data, bytes_of("second!"));
  EXPECT_EQ(copy.binaries[1].symbols, job.binaries[1].symbols);
}

TEST(Messages, AFrameOfAnotherShapeIsRefused) {
  EXPECT_EQ(type_of({"no json", {}}), "");
  EXPECT_EQ(type_of({"[1, 2]", {}}), "");
  EXPECT_THROW((void)decode<TrialReport>({"{\"type\":\"measured\"}", {}}), InputError);
  Frame short_blob = encode(CompileReport{std::nullopt, {bytes_of("binary"), "", 0, 0, 0, {}}, 1});
  short_blob.blob.resize(3);
  EXPECT_THROW((void)decode<CompileReport>(short_blob), InputError);
}

}  // namespace
}  // namespace kiln

// Workers and their protocol.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json.hpp"
#include "session_fixture.hpp"
#include "tuner/workers/messages.hpp"
#include "tuner/workers/protocol.hpp"
#include "tuner/workers/worker_host.hpp"
#include "tuner/workers/worker_process.hpp"

namespace kiln {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Workers that misbehave before any kernel runs: compilers that crash and hang, programs that talk
// nonsense.

class WorkerTest : public SessionTest {
 protected:
  /// A worker program that is this one, but does `deed` in place of compiling.
  [[nodiscard]] std::filesystem::path program_whose_compiler(const std::string& deed) const {
    const std::filesystem::path path = folder_ / "worker";
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
    std::ofstream(path) << "#!/bin/sh\nif [ \"$2\" = compile ]; then " << deed << "; fi\nexec '"
                        << self.string() << "' \"$@\"\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }

  /// The one trial of a session whose compile workers run `deed`.
  [[nodiscard]] Trial only_trial(const std::string& deed) {
    TuneRequest asked = request({"good"});
    asked.options.budget.trials = 1;
    asked.options.compile_deadline = std::chrono::seconds(1);
    asked.options.worker_program = program_whose_compiler(deed);
    Store store(database(), Store::Mode::write);
    SessionObserver silent;
    result_ = tune(asked, store, silent);
    return store.trials(result_.id).at(0).trial;
  }

  SessionResult result_;
};

// A process number says nothing where processes of other hosts or containers share the folder.
TEST_F(WorkerTest, AScratchFolderIsRemovedOnceNobodyHoldsItsLock) {
  const std::filesystem::path parent = folder_ / "tmp";
  const std::filesystem::path other = parent / "kiln-worker-999999999-AbCdEf";
  std::filesystem::create_directories(other);
  ASSERT_EQ(::setenv("TMPDIR", parent.c_str(), 1), 0);
  { const WorkerHost host; }
  EXPECT_TRUE(std::filesystem::exists(other)) << "it may be about to be locked";
  const int lock = ::open((other / "owner").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(::flock(lock, LOCK_EX), 0);
  {
    const WorkerHost host;
    const WorkerHost second;
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(parent), {}), 3);
  }
  EXPECT_TRUE(std::filesystem::exists(other));
  ::close(lock);
  { const WorkerHost host; }
  EXPECT_TRUE(std::filesystem::is_empty(parent));
  ::unsetenv("TMPDIR");
}

TEST_F(WorkerTest, ACompilerThatHangsIsKilled) {
  const Trial trial = only_trial("sleep 1000");
  EXPECT_EQ(trial.outcome, Outcome::compile_timeout);
  EXPECT_EQ(trial.message, "the compiler did not finish within 1 s and was killed");
  EXPECT_FALSE(result_.best.has_value());
  EXPECT_EQ(result_.failures, 1);
}

TEST_F(WorkerTest, ACompilerThatCrashesIsQuoted) {
  const Trial trial = only_trial("echo 'internal compiler error: out of luck' >&2; kill -SEGV $$");
  EXPECT_EQ(trial.outcome, Outcome::compile_crash);
  EXPECT_EQ(trial.message,
            "the worker died: signal SIGSEGV; it printed: internal compiler error: out of luck");
}

TEST_F(WorkerTest, ACompilerThatTalksNonsenseIsDead) {
  const Trial trial = only_trial("printf 'this is certainly no frame' >&3; exec sleep 1000");
  EXPECT_EQ(trial.outcome, Outcome::compile_crash);
  EXPECT_THAT(trial.message, StartsWith("the worker died: signal SIGKILL"));
}

TEST_F(WorkerTest, ACompilerWhoseAnswerLacksItsFieldsIsDead) {
  const std::filesystem::path answer = folder_ / "answer";
  const std::vector<std::byte> wire = to_wire({R"({"type": "compiled"})", {}});
  std::ofstream(answer, std::ios::binary)
      .write(reinterpret_cast<const char*>(wire.data()), static_cast<std::streamsize>(wire.size()));
  const Trial trial = only_trial("cat '" + answer.string() + "' >&3; exec sleep 1000");
  EXPECT_EQ(trial.outcome, Outcome::compile_crash);
  EXPECT_THAT(trial.message, StartsWith("the worker died: signal SIGKILL"));
}

// A worker's socket is then number 0 or 1 of this process.
TEST_F(WorkerTest, DevicesAreListedWhereStdinAndStdoutAreClosed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto list = [] {
    ::close(STDIN_FILENO);
    ::close(STDOUT_FILENO);
    for (const BackendDevices& backend : list_devices()) {
      if (backend.unavailable.find("the worker died") != std::string::npos) ::_exit(1);
    }
    ::_exit(0);
  };
  EXPECT_EXIT(list(), testing::ExitedWithCode(0), "");
}

TEST_F(WorkerTest, DevicesAreListedByShortLivedWorkers) {
  const std::vector<BackendDevices> backends = list_devices();
  ASSERT_FALSE(backends.empty());
  for (const BackendDevices& backend : backends) {
    EXPECT_NE(backend.devices.empty(), backend.unavailable.empty()) << backend.backend;
  }
}

TEST_F(WorkerTest, ABackendWhoseDriverCrashesIsUnavailable) {
  unsetenv("KILN_HIP_ROOT");  // its loader would start the worker, and takes no script
  const std::filesystem::path path = folder_ / "crashing";
  std::ofstream(path) << "#!/bin/sh\necho 'two LLVMs' >&2\nkill -ABRT $$\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  for (const BackendDevices& backend : list_devices(path)) {
    EXPECT_EQ(backend.unavailable, "the worker died: signal SIGABRT; it printed: two LLVMs");
  }
}

TEST_F(WorkerTest, OnlyTheLastLinesOfMuchOutputAreKept) {
  const std::filesystem::path path = folder_ / "chatty";
  std::ofstream(path) << "#!/bin/sh\nseq 1 20000\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  WorkerHost host(path);
  WorkerProcess worker(host.command({WorkerKind::list, "opencl", 0}));
  WorkerProcess* pointer = &worker;
  while (worker.alive()) poll_workers({&pointer, 1}, Clock::now() + std::chrono::seconds(1));
  EXPECT_EQ(worker.obituary(),
            "the worker died: exit code 0; it printed: 19997\n19998\n19999\n20000");
}

TEST_F(WorkerTest, CompilersKeepTheirMemory) {
  if (std::getenv("GLIBC_TUNABLES") != nullptr) GTEST_SKIP() << "the user has chosen";
  WorkerHost host;
  const ChildCommand compiler = host.command({WorkerKind::compile, "cuda", 0});
  ASSERT_TRUE(compiler.environment.contains("GLIBC_TUNABLES"));
  EXPECT_THAT(compiler.environment.at("GLIBC_TUNABLES"), StartsWith("glibc.malloc.trim_threshold"));
  EXPECT_FALSE(
      host.command({WorkerKind::device, "cuda", 0}).environment.contains("GLIBC_TUNABLES"));
}

TEST(WorkerArguments, GoThereAndBack) {
  const WorkerOptions options{WorkerKind::device, "opencl", 3};
  std::vector<std::string> texts = to_arguments(options);
  std::vector<const char*> arguments = {"kiln"};
  for (const std::string& text : texts) arguments.push_back(text.c_str());
  const auto parsed = parse_worker_arguments(static_cast<int>(arguments.size()), arguments.data());
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->kind, WorkerKind::device);
  EXPECT_EQ(parsed->backend, "opencl");
  EXPECT_EQ(parsed->device, 3);
  const std::vector<const char*> other = {"kiln", "tune", "reduce"};
  EXPECT_FALSE(parse_worker_arguments(3, other.data()).has_value());
}

// Frames on the wire: whole, in pieces, and malformed.

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

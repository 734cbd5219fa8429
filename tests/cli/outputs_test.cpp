// Files that commands write: outputs, outboxes, requests, recordings.
// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/fleet/outbox.hpp"
#include "core/errors.hpp"
#include "db/store.hpp"
#include "db/writer_lock.hpp"
#include "kiln_program.hpp"
#include "lookup/call_records.hpp"
#include "tests/db/store_places.hpp"

namespace kiln::cli {
namespace {

using ::testing::Not;

namespace fs = std::filesystem;
using test::PostgresServer;
using test::some_session;
using test::some_trial;

// What commands write replaces no file that it should not, and says why it cannot be written.

class Outputs : public TuningTest {
 protected:
  void SetUp() override {
    TuningTest::SetUp();
    if (IsSkipped()) return;
    copy_kernel("tests/cli/kernels/scale", "scale");
    ASSERT_EQ(kiln(tune_scale("--trials 2")).exit_code, 0);
  }

  void expect_refused(const Words& words, int code, const std::string& message) const {
    const Output output = kiln(words);
    EXPECT_EQ(output.exit_code, code) << output.out;
    EXPECT_EQ(output.err, "kiln: error: " + message + "\n");
  }
};

TEST_F(Outputs, NeverReplaceADatabase) {
  const std::string fault = "kiln.db: cannot be written: it is a database; name another file";
  expect_refused("report --db kiln.db -o kiln.db", 2, fault);
  expect_refused("db export kiln.db --db kiln.db", 2, fault);
  expect_refused("db lock kiln.db --db kiln.db", 2, fault);
  EXPECT_EQ(kiln("db check kiln.db").out, "kiln.db: sound\n");
}

TEST_F(Outputs, APublishedCopyReplacesDatabasesOnly) {
  write("plan.toml", "name = \"nightly\"\n");
  expect_refused("db publish plan.toml --db kiln.db", 5,
                 "plan.toml: is no database; publish to another file");
  EXPECT_EQ(read_text(folder_ / "plan.toml"), "name = \"nightly\"\n");
}

TEST_F(Outputs, AnAddressOfSqliteIsNoDatabase) {
  for (const char* name : {"file:kiln.db", "file:x?mode=memory", "new/"}) {
    expect_refused({"show", "--db", name}, 5,
                   "'" + std::string(name) + "' names no database file; name one with --db");
  }
}

TEST_F(Outputs, AnExportSparesTheFolderOfItsKernel) {
  expect_refused(
      "export ./scale --problem n=100 --device opencl --db kiln.db --source scale", 2,
      "scale: is the folder of the kernel, whose files would be replaced; name another one");
}

TEST_F(Outputs, GoThroughAPipeThatALinkNames) {
  std::filesystem::create_symlink("/proc/self/fd/1", folder_ / "pipe");
  const std::string line = "cd '" + folder_.string() +
                           "' && '" KILN_PROGRAM
                           "' db export pipe --db kiln.db | grep -c scale > count";
  EXPECT_EQ(std::system(line.c_str()), 0);
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "pipe"));
}

TEST_F(Outputs, KeepTheModeOfTheFileTheyReplace) {
  write("report.html", "");
  ::chmod((folder_ / "report.html").c_str(), 0600);
  ASSERT_EQ(kiln("report --db kiln.db -o report.html").exit_code, 0);
  struct stat facts {};
  ASSERT_EQ(::stat((folder_ / "report.html").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600U);
}

TEST_F(Outputs, SayWhyTheyCannotBeWritten) {
  expect_refused("report --db kiln.db -o nowhere/report.html", 2,
                 "nowhere/report.html: cannot be written: No such file or directory");
}

TEST_F(Outputs, WhatCannotBeLookedAtIsAnInputError) {
  const std::string name(300, 'a');
  const Output output = kiln({"replay", name});
  EXPECT_EQ(output.exit_code, 3);
  EXPECT_THAT(output.err, HasSubstr("cannot be read (File name too long)"));
}

// The outbox of a fleet's workers: several workers of a host share one, and none takes from
// another.

TEST(Outbox, RemovesTheFilesOfAJobOnlyForTheirWriter) {
  const test::ScratchFolder folder;
  const Outbox outbox(folder / "out", "id");
  const fs::path file = outbox.file_of(7);
  std::optional<Store> writer;
  writer.emplace(file, Store::Mode::write);
  const SessionId session = writer->begin_session(some_session("n=1"));
  writer->append(session, 1, some_trial(1));
  std::optional<Store> none;
  outbox.remove(7, none);
  EXPECT_TRUE(fs::exists(file));
  EXPECT_THROW(const WriterLock second(file), DatabaseBusyError);
  writer->append(session, 2, some_trial(2));
  EXPECT_EQ(Store(file, Store::Mode::read).trials(session).size(), 2U);

  outbox.remove(7, writer);
  EXPECT_FALSE(writer);
  EXPECT_TRUE(fs::is_empty(file.parent_path()));
}

TEST(Outbox, StaysInItsFolderWhateverTheServerCallsItself) {
  const test::ScratchFolder folder;
  for (const std::string& name :
       {std::string("../../evil"), std::string("/evil"), std::string(".."), std::string(),
        std::string("a/b"), std::string(300, 'x')}) {
    const fs::path file = Outbox(folder / "out", name).file_of(1);
    EXPECT_EQ(file.parent_path().parent_path(), fs::absolute(folder / "out")) << name;
    EXPECT_NE(file.parent_path().filename(), "..") << name;
  }
  EXPECT_EQ(Outbox(folder / "out", "id").file_of(1), fs::absolute(folder / "out/id/job-1.db"));
}

class FleetOutbox : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!PostgresServer::missing().empty())
      KILN_SKIP_UNLESS_REQUIRED("postgres", PostgresServer::missing());
    url_ = PostgresServer::shared().new_database();
    Fleet::init(url_);
  }

  /// As a worker leaves it that was stopped, or died, after a trial.
  void interrupt(const Outbox& outbox, const FleetLease& lease) const {
    Store store(outbox.file_of(lease.job), Store::Mode::write);
    outbox.note_lease(lease);
    const SessionId session = store.begin_session(some_session("n=1"));
    store.append(session, 1, some_trial(1));
    store.finish(session, SessionState::interrupted, 1, std::nullopt);
  }

  test::ScratchFolder folder_;
  std::string url_;
};

TEST_F(FleetOutbox, AWorkerThatStartsEndsTheLeaseOfADeadOneAndNoOther) {
  const Outbox outbox(folder_ / "out", "id");
  const FleetOffer offer = {{"scale aa"}, {""}};
  const FleetWorker first = {"host:1", "cuda:0", outbox.name()};
  const FleetWorker second = {"host:2", "cuda:1", outbox.name()};
  Fleet fleet(url_);
  fleet.submit("plan", {FleetJob{"scale", "aa", "n=1", "", "{}", 1.0}}, 3);
  const FleetLease dead = *fleet.lease(first, offer, 600);
  interrupt(outbox, dead);
  EXPECT_EQ(outbox.recover(fleet, second), 0U);
  EXPECT_EQ(fleet.state_of(dead.job), "waiting");

  // Leased anew; its worker has not yet opened the file when another one starts.
  FleetLease live = *fleet.lease(first, offer, 600);
  EXPECT_EQ(outbox.recover(fleet, second), 0U);
  EXPECT_EQ(fleet.renew(live, first, 1, 600), LeaseState::held);
}

// Recorded calls by the program: what ran without an exact match is tuned, once.

constexpr const char* kRequestedKernels = KILN_SOURCE_DIR "/tests/cli/kernels";

class RequestedTest : public TuningTest {
 protected:
  /// Identity of the device that `--device opencl` means.
  [[nodiscard]] std::string device() const {
    for (const Json& entry : Json::parse(kiln("devices --json").out)) {
      if (entry["backend"] != "opencl") continue;
      return identity_of(device_from_json(entry["devices"].at(0)));
    }
    return "";
  }

  [[nodiscard]] Output sweep(const Words& more) const {
    return kiln(Words(fmt::format("sweep --device opencl --requests r.jsonl --quiet --trials 2 "
                                  "--warm-cache --compile-workers 1 --kernel-path {} --db kiln.db",
                                  kRequestedKernels)) +
                more);
  }
};

TEST_F(RequestedTest, AreTunedOnce) {
  const std::string here = device();
  const std::filesystem::path file = folder_ / "r.jsonl";
  record_calls(file, {"scale", "n=64", here, "default", "c"});
  record_calls(file, {"scale", "n=64", "cuda/nvidia/elsewhere/sm_90a", "default", "c"});
  record_calls(file, {"gone", "n=1", here, "default", "c"});
  const Output first = sweep("--requested");
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("n=64"));
  EXPECT_THAT(first.err, StartsWith("kiln: warning: r.jsonl: gone n=1: unknown kernel 'gone'"));

  const Output second = sweep("--requested");
  EXPECT_EQ(second.exit_code, 0);
  EXPECT_EQ(second.out, "r.jsonl: nothing to tune on " + here + "\n") << "the database knows it";
}

TEST_F(RequestedTest, APlanAndRequestsExcludeEachOther) {
  const std::string text =
      "kiln: error: expected either a plan, --requested or --calls (see kiln sweep --help)\n";
  EXPECT_EQ(sweep("--requested plan.toml").err, text);
  EXPECT_EQ(sweep({}).err, text);
  EXPECT_EQ(sweep({}).exit_code, 2);
  EXPECT_EQ(sweep("--requested").err,
            "kiln: error: r.jsonl: there is no such file; expected calls "
            "as launchers record them\n");
}

// Expected outputs as .npy files: a kernel that nothing else proves, and each mistake in a file.

template <typename T>
std::string npy(const std::string& descr, const std::vector<T>& values) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({},), }}",
                                   descr, values.size());
  header.resize((header.size() + 10 + 63) / 64 * 64 - 11, ' ');
  header += '\n';
  std::string file = std::string("\x93NUMPY\x01", 7) + '\0';
  file += static_cast<char>(header.size() & 255U);
  file += static_cast<char>(header.size() >> 8U);
  file += header;
  file.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  return file;
}

class RecordedReference : public TuningTest {
 protected:
  void SetUp() override {
    TuningTest::SetUp();
    if (IsSkipped()) return;
    copy_kernel("tests/cli/kernels/recorded", "mine");
    for (int i = 0; i < 1001; ++i) in_.push_back(static_cast<float>(i * 7919 % 1009) / 8);
    for (std::size_t i = 0; i < 1000; ++i) {
      out_.push_back(0.5 * (in_[i] + in_[i + 1]));
      larger_.push_back(static_cast<std::int32_t>(in_[i + 1] > in_[i] ? i + 1 : i));
    }
    write("mine/arrays/in.npy", npy("<f4", in_));
    write("mine/arrays/out.npy", npy("<f8", out_));  // of a reference in higher precision
    write("mine/arrays/larger.npy", npy("<i4", larger_));
  }

  [[nodiscard]] Output tune(const std::string& problem = "n=1000", const Words& more = {}) const {
    return kiln(Words({"tune", "./mine", "--problem", problem, "--device", "opencl", "--trials",
                       "2", "--db", "kiln.db", "--quiet", "--warm-cache"}) +
                more);
  }

  /// The error of a run that must end with exit code 3 before anything is measured.
  [[nodiscard]] std::string fault() const {
    const Output output = tune();
    EXPECT_EQ(output.exit_code, 3) << output.out << output.err;
    return output.err;
  }

  std::vector<float> in_;
  std::vector<double> out_;
  std::vector<std::int32_t> larger_;
};

TEST_F(RecordedReference, ProvesAKernelAndIsPartOfTheSession) {
  const Output output = tune();
  ASSERT_EQ(output.exit_code, 0) << output.err;
  EXPECT_THAT(output.out, Not(HasSubstr("proved only")));
  EXPECT_THAT(tune().out, HasSubstr("answered from the database"));
  out_[17] *= 1 + 1e-4;  // other files: another session, and the kernel is wrong by them
  write("mine/arrays/out.npy", npy("<f8", out_));
  const Output wrong = tune();
  EXPECT_EQ(wrong.exit_code, 1) << wrong.out;
  const Json session = kiln_json("show latest --json --db kiln.db");
  EXPECT_THAT(session["rows"][0]["message"].get<std::string>(), HasSubstr("the first is out[17]"))
      << session["rows"][0]["message"];
}

TEST_F(RecordedReference, TakesATolerancePerOutput) {
  for (double& value : out_) value *= 1 + 1e-4;
  write("mine/arrays/out.npy", npy("<f8", out_));
  edit("mine/spec.toml", "out = \"1e-5\"", "out = \"1e-3\"");
  EXPECT_EQ(tune().exit_code, 0);
}

TEST_F(RecordedReference, BelongsToItsProblem) {
  const Output output = tune("n=999");
  EXPECT_EQ(output.exit_code, 3);
  EXPECT_THAT(output.err,
              HasSubstr("spec.toml:44:2: [verify]: nothing says what is right for n=999"));
  edit("mine/spec.toml", "[verify]\n", "[verify]\ndevice_reference = \"plain\"\n");
  const Output trusted = tune("n=999");
  EXPECT_EQ(trusted.exit_code, 0) << trusted.err;
  EXPECT_THAT(trusted.out, HasSubstr("proved only against its own variant 'plain'"));
}

TEST_F(RecordedReference, NamesTheMistakeWithItsPlace) {
  write("mine/arrays/in.npy", npy("<f8", out_));
  EXPECT_THAT(fault(), HasSubstr("spec.toml:49:18: [[verify.expected]]: arrays/in.npy has the "
                                 "shape (1000,); expected (1001,), that of 'in' for n=1000"));
  write("mine/arrays/in.npy", npy("<i4", std::vector<std::int32_t>(1001)));
  EXPECT_THAT(fault(), HasSubstr("arrays/in.npy holds elements of type '<i4', and 'in' is f32"));
  write("mine/arrays/in.npy", "1 2 3");
  EXPECT_THAT(fault(), HasSubstr("arrays/in.npy: is no .npy file"));
  EXPECT_TRUE(Store(folder_ / "kiln.db", Store::Mode::write).sessions().empty())
      << "a session that cannot begin is none";
  std::filesystem::remove(folder_ / "mine/arrays/in.npy");
  EXPECT_THAT(fault(), HasSubstr("spec.toml:49:18: [[verify.expected]]: "));
  edit("mine/spec.toml", "inputs = { in = \"arrays/in.npy\" }\n", "");
  EXPECT_THAT(fault(), HasSubstr("spec.toml:47:1: [[verify.expected]]: the input 'in' of n=1000"));
}

}  // namespace
}  // namespace kiln::cli

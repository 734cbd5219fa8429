// Expected outputs as .npy files: a kernel that nothing else proves, and each mistake in a file.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstring>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "db/store.hpp"
#include "kiln_program.hpp"

namespace kiln::cli {
namespace {

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
    Words words = {"tune",     "./mine", "--problem", problem,   "--device", "opencl",
                   "--trials", "2",      "--db",      "kiln.db", "--quiet",  "--warm-cache"};
    words.insert(words.end(), more.begin(), more.end());
    return kiln(words);
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
  EXPECT_EQ(output.out.find("proved only"), std::string::npos) << output.out;
  EXPECT_NE(tune().out.find("answered from the database"), std::string::npos);
  out_[17] *= 1 + 1e-4;  // other files: another session, and the kernel is wrong by them
  write("mine/arrays/out.npy", npy("<f8", out_));
  const Output wrong = tune();
  EXPECT_EQ(wrong.exit_code, 1) << wrong.out;
  const Json session = kiln_json("show latest --json --db kiln.db");
  EXPECT_NE(session["rows"][0]["message"].get<std::string>().find("the first is out[17]"),
            std::string::npos)
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

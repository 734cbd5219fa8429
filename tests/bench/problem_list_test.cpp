// Lists of problems, their numbers and selections, and the lists that are shipped.
// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/host/problem_list.hpp"

#include <filesystem>
#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "templates/library.hpp"

namespace kiln::peers {
namespace {

class ProblemLists : public testing::Test {
 protected:
  void SetUp() override {
    path_ = (std::filesystem::path(testing::TempDir()) /
             testing::UnitTest::GetInstance()->current_test_info()->name())
                .string();
    std::ofstream(path_) << "# a comment\n"
                         << "reduce n=2^20\n\n"
                         << "  transpose rows=4 cols=8  \n"
                         << "matmul m=3 n=4 k=5 dtype=f99\n";
  }
  void TearDown() override { std::filesystem::remove(path_); }

  [[nodiscard]] Options options(const std::string& only = "") const {
    Options options;
    options.problems = {"reduce n=64"};
    options.lists = {path_};
    options.only = only;
    return options;
  }
  [[nodiscard]] std::vector<int> numbers(const std::string& only) const {
    std::vector<int> numbers;
    for (const ListedProblem& problem : listed_problems(options(only)))
      numbers.push_back(problem.number);
    return numbers;
  }
  [[nodiscard]] std::string error(const std::string& only) const {
    try {
      static_cast<void>(listed_problems(options(only)));
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  }

  std::string path_;
};

TEST_F(ProblemLists, AreReadAfterTheCommandLine) {
  const std::vector<ListedProblem> problems = listed_problems(options());
  ASSERT_EQ(problems.size(), 4U);
  EXPECT_EQ(problems[0].line, "reduce n=64");
  EXPECT_EQ(problems[0].where, "");
  EXPECT_EQ(problems[2].line, "transpose rows=4 cols=8");
  EXPECT_EQ(problems[2].number, 3);
  EXPECT_EQ(problems[2].where, path_ + ":4");
}

TEST_F(ProblemLists, AreSelectedFromByNumber) {
  EXPECT_EQ(numbers(""), (std::vector<int>{1, 2, 3, 4}));
  EXPECT_EQ(numbers("2"), (std::vector<int>{2}));
  EXPECT_EQ(numbers("4,1-2"), (std::vector<int>{1, 2, 4}));
}

TEST_F(ProblemLists, RefuseSelectionsThatNameNothing) {
  EXPECT_EQ(error("5"), "--only: there is no problem 5; the last is 4");
  EXPECT_EQ(error("3-2"), "--only: '3-2' is no number or range; expected e.g. 1-6,9");
  EXPECT_EQ(error("0"), "--only: '0' is no number or range; expected e.g. 1-6,9");
  EXPECT_EQ(error("1,x"), "--only: 'x' is no number or range; expected e.g. 1-6,9");
  EXPECT_EQ(error("1,,2"), "--only: '' is no number or range; expected e.g. 1-6,9");
  EXPECT_EQ(error("-3"), "--only: '-3' is no number or range; expected e.g. 1-6,9");
}

TEST_F(ProblemLists, RefuseNoProblemsAndNoFile) {
  EXPECT_THROW(static_cast<void>(listed_problems({})), InputError);
  Options options;
  options.lists = {path_ + ".missing"};
  EXPECT_THROW(static_cast<void>(listed_problems(options)), InputError);
}

TEST_F(ProblemLists, NameThePlaceOfABadLine) {
  try {
    static_cast<void>(parse_problem(listed_problems(options("4")).front()));
    FAIL() << "dtype=f99 was taken";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()).rfind(path_ + ":5: problem field 'dtype' of matmul", 0), 0U)
        << error.what();
  }
}

TEST_F(ProblemLists, AreShownWithNumbers) {
  const NumberedProblems shown = numbered(listed_problems(options("1,4")));
  EXPECT_EQ(shown.text.rfind("  1  reduce n=64\n  4  error: " + path_ + ":5: ", 0), 0U)
      << shown.text;
  EXPECT_EQ(shown.errors, 1);
}

/// Does the spec have every field that the line names, and the element types that it asks for?
bool spec_has_fields(const std::string& line) {
  const KernelSpec spec = KernelLibrary().load("matmul");
  std::istringstream words(line.substr(line.find(' ')));
  for (std::string word; words >> word;) {
    const std::string name = word.substr(0, word.find('='));
    const auto field = std::find_if(spec.problem.begin(), spec.problem.end(),
                                    [&](const ProblemField& each) { return each.name == name; });
    if (field == spec.problem.end()) return false;
    const Value value = word.substr(word.find('=') + 1);
    if (field->type == FieldType::dtype &&
        std::find(field->values.begin(), field->values.end(), value) == field->values.end())
      return false;
  }
  return true;
}

std::vector<ListedProblem> shipped(const std::string& name) {
  Options options;
  options.lists = {std::string(KILN_SOURCE_DIR) + "/bench/peers/lists/" + name};
  return listed_problems(options);
}

class ShippedLists : public testing::TestWithParam<const char*> {};

TEST_P(ShippedLists, HoldDifferentProblemsThatTheKernelTakes) {
  std::set<std::string> texts;
  for (const ListedProblem& listed : shipped(GetParam())) {
    EXPECT_TRUE(texts.insert(listed.line).second) << listed.where << ": twice: " << listed.line;
    // A precision or an element type that matmul does not have yet.
    if (!spec_has_fields(listed.line)) continue;
    EXPECT_NO_THROW(static_cast<void>(parse_problem(listed))) << listed.where;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ShippedLists,
                         testing::Values("matmul.txt", "matmul_30.txt", "matmul_8bit.txt"));

TEST(ShippedMatmulList, HasThirtyProblems) { EXPECT_EQ(shipped("matmul_30.txt").size(), 30U); }

}  // namespace
}  // namespace kiln::peers

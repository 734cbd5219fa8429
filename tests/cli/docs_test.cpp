// What the README shows works as it stands: its blocks are taken from the page and run.
// SPDX-License-Identifier: Apache-2.0
#include <iomanip>
#include <sstream>

#include "cli/text_layout.hpp"
#include "kiln_program.hpp"

namespace kiln::cli {
namespace {

/// The fenced block of a page that holds `word`; without its fence.
std::string block_with(const std::string& page, const std::string& word) {
  std::istringstream lines(page);
  std::string block;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      if (inside && block.find(word) != std::string::npos) return block;
      inside = !inside;
      block.clear();
    } else if (inside) {
      block += line + "\n";
    }
  }
  return "";
}

std::string readme() { return read_text(KILN_SOURCE_DIR "/README.md"); }

TEST(Readme, ShowsTheFilesOfItsKernelAsTheyAre) {
  const std::string folder = KILN_SOURCE_DIR "/examples/twice/";
  EXPECT_EQ(block_with(readme(), "name = \"twice\""), read_text(folder + "spec.toml"));
  EXPECT_EQ(block_with(readme(), "KERNEL("), read_text(folder + "plain.inja"));
}

class FirstBlock : public ProgramTest {};

TEST_F(FirstBlock, OfTheReadmeIsWhatTheProgramPrints) {
  const std::string page = readme();
  const std::string block = block_with(page, "$ kiln");
  ASSERT_LT(page.find(block), page.find("## Get it")) << "it stands on top";
  const std::size_t end = block.find('\n');
  std::istringstream command(block.substr(0, end));
  Words words;
  for (std::string word; command >> std::quoted(word);) words.push_back(word);
  ASSERT_GE(words.size(), 4U) << block;
  const Output output = kiln({words.begin() + 2, words.end()}, {{"COLUMNS", "100"}});
  EXPECT_EQ(output.exit_code, 0) << output.err;
  EXPECT_EQ(output.out, block.substr(end + 1));
}

TEST(Readme, HasNoBlockWiderThan100Columns) {
  std::istringstream lines(readme());
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("```") != std::string::npos) inside = !inside;
    if (!inside) continue;
    EXPECT_LE(columns_of(line), 103U) << line;  // blocks of a list are indented by 3
  }
}

class ReadmeBlocks : public TuningTest {};

TEST_F(ReadmeBlocks, TheKernelOfFiveMinutesIsTunedFromTheBlocksAlone) {
  const std::string page = read_text(KILN_SOURCE_DIR "/docs/five_minutes.md");
  write("plus/spec.toml", block_with(page, "name = \"plus\""));
  write("plus/plain.inja", block_with(page, "KERNEL("));
  // Rows and columns that differ: an order that is mixed up gives a wrong result.
  const Output output =
      kiln("tune ./plus --problem rows=10,cols=70 --trials 2 --device opencl --db kiln.db");
  EXPECT_EQ(output.exit_code, 0) << output.err;
  EXPECT_THAT(output.out, HasSubstr("rows=10 cols=70"));
}

TEST_F(ReadmeBlocks, ItsKernelIsTunedFromTheBlocksAlone) {
  write("twice/spec.toml", block_with(readme(), "name = \"twice\""));
  write("twice/plain.inja", block_with(readme(), "KERNEL("));
  const Output output =
      kiln("tune ./twice --problem n=2^12 --trials 2 --device opencl --db kiln.db");
  EXPECT_EQ(output.exit_code, 0) << output.err;
  EXPECT_THAT(output.out, StartsWith("kernel  problem"));
}

}  // namespace
}  // namespace kiln::cli

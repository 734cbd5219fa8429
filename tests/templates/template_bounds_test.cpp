// How far templates may go in work and in text: what passes a limit is named with its place.
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/templates/small_kernel.hpp"

namespace kiln::test {
namespace {

using ::testing::HasSubstr;
using Files = std::map<std::string, std::string>;

/// The message for a template that includes others.
std::string error_with(const std::string& text, const Files& files) {
  KernelSpec spec = scale_spec(text + "\nKERNEL(1, 1, 1) scale_strided(void) {}\n");
  spec.files.insert(files.begin(), files.end());
  try {
    (void)render(spec);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(TemplateBounds, ATextThatDoublesEndsAtItsPlace) {
  std::string text = "{% set t = \"abcdefgh\" %}\n";
  for (int i = 0; i < 30; ++i) text += "{% set t = t + t %}\n";
  EXPECT_THAT(error_of(text), HasSubstr("scale/strided.inja:15:14: a text of more than 65536"));
}

TEST(TemplateBounds, LoopsThatDoNotEndInTimeAreNamed) {
  std::string text;
  for (int i = 0; i < 4; ++i) {
    text += "{% for i" + std::to_string(i) + " in range(60000) %}\n";
  }
  text += "{% set a = range(60000) %}\n{% endfor %}{% endfor %}{% endfor %}{% endfor %}\n";
  EXPECT_THAT(error_of(text), HasSubstr("the template takes too much work (5 million steps)"));
}

TEST(TemplateBounds, IndentsCountAsText) {
  const std::string blanks(4000, ' ');
  const Files files = {{"lines.inja", "{% for i in range(9000) %}\na\n{% endfor %}\n"}};
  EXPECT_THAT(error_with(blanks + "{% include \"lines.inja\" %}\n", files),
              HasSubstr("the template writes more than 8 MiB"));
}

TEST(TemplateBounds, ATreeOfIncludesEndsAtItsPlace) {
  Files files;
  for (int i = 0; i < 30; ++i) {
    const std::string next = "{% include \"t" + std::to_string(i + 1) + ".inja\" %}\n";
    files["t" + std::to_string(i) + ".inja"] = next + next;
  }
  files["t30.inja"] = "int a;\n";
  EXPECT_THAT(error_with("{% include \"t0.inja\" %}\n", files),
              HasSubstr("the includes of this template do not come to an end (500000 nodes)"));
}

}  // namespace
}  // namespace kiln::test

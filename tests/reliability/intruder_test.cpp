// Promise 10: a stranger's kernel reads no file outside its folder, and no value becomes code.
//
// A secret lies beside the kernel's folder, and the kernel tells the tests if anybody opens it
// (inotify).
// SPDX-License-Identifier: Apache-2.0
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <iostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "core/setting.hpp"
#include "templates/library.hpp"
#include "templates/renderer.hpp"
#include "tests/reliability/size.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/templates/small_kernel.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;
using test::MemoryFolder;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kSecret = "TOP SECRET";

/// Counts how often the files of a folder are opened.
class Watch {
 public:
  explicit Watch(const fs::path& folder) : descriptor_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    ::inotify_add_watch(descriptor_, folder.c_str(), IN_OPEN | IN_ACCESS);
  }
  ~Watch() { ::close(descriptor_); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  [[nodiscard]] bool saw_something() const {
    std::array<char, 4096> events{};
    bool seen = false;
    while (::read(descriptor_, events.data(), events.size()) > 0) seen = true;
    return seen;
  }

 private:
  int descriptor_;
};

void write_file(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// A kernel's folder with a secret outside of it, under the names that the paths below lead to.
class Intruder : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(root_ / "kernels" / "mine" / "sub");
    fs::create_directories(root_ / "outside");
    for (const char* name : {"secret.inja", "strided.inja", "spec.toml", "passwd"}) {
      write_file(root_ / "outside" / name, kSecret);
    }
    watch_ = std::make_unique<Watch>(root_ / "outside");
  }

  [[nodiscard]] fs::path kernel() const { return root_ / "kernels" / "mine"; }
  [[nodiscard]] fs::path outside() const { return root_ / "outside"; }

  void write_kernel(const std::string& spec, const std::string& text) const {
    fs::remove_all(kernel());
    fs::create_directories(kernel() / "sub");
    write_file(kernel() / "spec.toml", spec);
    write_file(kernel() / "strided.inja", text);
    write_file(kernel() / "convert.inja", test::kConvertTemplate);
  }

  /// Loads, checks and renders the kernel; the secret is in nothing that this gives or says.
  void expect_no_secret(const std::string& what) {
    ++cases_;
    try {
      const KernelSpec spec = KernelLibrary({root_ / "kernels"}).load("mine");
      for (const auto& [name, text] : spec.files) EXPECT_THAT(text, Not(HasSubstr(kSecret)));
      const Renderer renderer(spec);
      const Problem problem = Problem::parse(spec, "n=1000");
      const DeviceInfo device = device_for_architecture("cuda", "sm_80");
      const Config config = Setting(spec, problem, device).default_config();
      EXPECT_THAT(renderer.render({spec, problem, device}, config).text, Not(HasSubstr(kSecret)))
          << what;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), Not(HasSubstr(kSecret))) << what;
    }
    EXPECT_FALSE(watch_->saw_something()) << what << ": a file outside was opened";
  }

  /// Names that lead from the kernel's folder to the secret, by any reader that would follow them.
  [[nodiscard]] std::vector<std::string> ways_out() const {
    const std::string absolute = (outside() / "secret.inja").string();
    return {"../../outside/secret.inja",
            "./../../outside/secret.inja",
            ".././../outside/secret.inja",
            "sub/../../../outside/secret.inja",
            "sub/./../.././../outside/secret.inja",
            "..//..//outside//secret.inja",
            "../../kernels/../outside/secret.inja",
            "../mine/../../outside/secret.inja",
            absolute,
            "/" + absolute,
            "//" + absolute,
            "/." + absolute,
            "file://" + absolute,
            "file:" + absolute,
            "/proc/self/root" + absolute,
            "/proc/self/cwd/../../outside/secret.inja",
            "/dev/fd/../../.." + absolute,
            "..\\..\\outside\\secret.inja",
            "..\\/..\\/outside/secret.inja",
            "%2e%2e/%2e%2e/outside/secret.inja",
            "..%2f..%2foutside%2fsecret.inja",
            "%252e%252e/outside/secret.inja",
            "....//....//outside/secret.inja",
            "..;/..;/outside/secret.inja",
            "~/../../outside/secret.inja",
            "$HOME/../outside/secret.inja",
            "strided.inja/../../../outside/secret.inja",
            "strided.inja/../../outside/secret.inja",
            "../../outside/secret.inja\\u0000.inja",
            "strided.inja\\u0000/../../../outside/secret.inja",
            "../../outside/secret.inja ",
            " ../../outside/secret.inja",
            "../../outside/secret.inja#strided.inja",
            "../../outside/secret.inja?strided.inja",
            "link/secret.inja",
            "link.inja",
            "chain.inja",
            "\\u2025/\\u2025/outside/secret.inja",
            "\\uff0e\\uff0e/\\uff0e\\uff0e/outside/secret.inja",
            "*/../../../outside/secret.inja"};
  }

  /// Links to the outside that the names above go through.
  void add_links() const {
    fs::create_directory_symlink(outside(), kernel() / "link");
    fs::create_directory_symlink("../../outside", kernel() / "sub" / "link");
  }

  MemoryFolder root_;
  std::unique_ptr<Watch> watch_;
  int cases_ = 0;
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST_F(Intruder, TheSecretWouldBeSeen) {
  std::string text;
  std::ifstream(outside() / "secret.inja") >> text;
  EXPECT_EQ(text, "TOP");
  EXPECT_TRUE(watch_->saw_something());
}

TEST_F(Intruder, NoNameInASpecOrTemplateLeadsOut) {
  for (const std::string& way : ways_out()) {
    write_kernel(replaced(test::kScaleSpec, "\"strided.inja\"", "\"" + way + "\""),
                 test::kScaleTemplate);
    add_links();
    expect_no_secret("template = " + way);

    for (const char* around :
         {"@", "## if 1 == 2\n@\n## endif\n", "## for u in range(2)\n@\n## endfor\n"}) {
      write_kernel(test::kScaleSpec,
                   test::kScaleTemplate + replaced(around, "@", "{% include \"" + way + "\" %}\n"));
      add_links();
      expect_no_secret("include " + way + " in " + around);
    }

    write_kernel(replaced(test::kScaleSpec, "[verify.formulas]",
                          "[verify]\nreference = \"" + way + "\"\n[verify.formulas]"),
                 test::kScaleTemplate);
    expect_no_secret("reference = " + way);
  }
  EXPECT_GE(cases_, 200);
  std::cout << cases_ << " names, no file outside opened\n";
}

TEST_F(Intruder, NoLinkInTheFolderLeadsOut) {
  const std::string absolute = (outside() / "secret.inja").string();
  for (const std::string& target :
       {absolute, "../../outside/secret.inja"s, "link/secret.inja"s,
        "sub/../../../outside/secret.inja"s, "chain"s, "/proc/self/root" + absolute}) {
    for (const char* name : {"strided.inja", "convert.inja", "more.inja", "spec.toml"}) {
      write_kernel(test::kScaleSpec, test::kScaleTemplate);
      add_links();
      fs::create_symlink(absolute, kernel() / "chain");
      fs::remove(kernel() / name);
      fs::create_symlink(target, kernel() / name);
      expect_no_secret(std::string(name) + " -> " + target);
    }
  }
  // The kernel's folder may itself be a link: the user named it.
  write_kernel(test::kScaleSpec, test::kScaleTemplate);
  fs::create_directory_symlink(kernel(), root_ / "kernels" / "again");
  EXPECT_EQ(KernelLibrary({root_ / "kernels"}).load("again").name, "scale");
}

TEST_F(Intruder, ANameWithANulIsNoName) {
  write_kernel(test::kScaleSpec, test::kScaleTemplate);
  const KernelLibrary library({root_ / "kernels"});
  for (const std::string& name : {"mine\0"s, "\0mine"s, "mine\0/../../outside"s, ""s}) {
    EXPECT_THROW(static_cast<void>(library.load(name)), InputError);
  }
}

// --- Values
// ---------------------------------------------------------------------------------------

TEST(IntruderValue, OfAProblemReachesTheSourceAsALiteralOrNotAtAll) {
  const KernelSpec spec = test::scale_spec();
  for (const char* value : {"1;}", "1\n#include \"/etc/passwd\"", "f32; evil()", "1e999", "0x10",
                            "{{ n }}", "/*", "*/", "$(id)", "'", "\"", "1//", "f32\\", "\xff"}) {
    for (const char* field : {"n", "dtype"}) {
      std::string text = std::string("n=1000,") + field + "='" + value + "'";
      if (field == "n"s) text = "n='" + std::string(value) + "'";
      EXPECT_THROW(static_cast<void>(Problem::parse(spec, text)), InputError) << text;
    }
  }
}

TEST(IntruderValue, OfATunableIsOneThatTheSpecLists) {
  const KernelSpec spec = test::scale_spec();
  const Problem problem = Problem::parse(spec, "n=1000");
  const DeviceInfo device = device_for_architecture("cuda", "sm_80");
  for (const char* value : {"65", "64;evil()", "64\n", "'65'", "-64", "64.5", "true", "", "1e2",
                            "64/**/", "{{ block }}", "99999999999999999999"}) {
    EXPECT_THROW(static_cast<void>(
                     Setting(spec, problem, device).parse("strided:block=" + std::string(value))),
                 InputError)
        << value;
  }
}

TEST(IntruderValue, OfAFormulaIsParsedAndWrittenAnew) {
  const KernelSpec spec =
      test::scale_spec(std::string(test::kScaleTemplate) + "// {{ formula(\"map\", \"f32\") }}\n");
  const DeviceInfo device = device_for_architecture("cuda", "sm_80");
  for (const char* formula : {"x; evil()", "x */ evil /*", "evil(x)", "x\n#include <a>", "x // y",
                              "\"x\"", "x{}", "x[0]", "sizeof x", "&x", "x = 1", "__asm(x)"}) {
    EXPECT_THROW(
        static_cast<void>(Problem::parse(spec, "n=1000,map='" + std::string(formula) + "'")),
        InputError)
        << formula;
  }
  // What is a formula may hold line ends: they do not get out of the comments that quote it.
  const Problem problem =
      Problem::make(spec, {{"n", std::int64_t{1000}}, {"map", std::string("x +\n1")}});
  const std::string text =
      Renderer(spec)
          .render({spec, problem, device}, Setting(spec, problem, device).default_config())
          .text;
  EXPECT_THAT(text, Not(HasSubstr("\n1")));
}

}  // namespace
}  // namespace kiln

// Where kernels come from: the program itself, folders given by the user, a path.
// SPDX-License-Identifier: Apache-2.0
#include "templates/library.hpp"

#include <filesystem>
#include <fstream>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "spec/parse_spec.hpp"
#include "tests/support/error_of.hpp"
#include "tests/templates/small_kernel.hpp"

namespace kiln::test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::StartsWith;

class Library : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) /
            testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(root_);
    write("mine/scale/spec.toml", kScaleSpec);
    write("mine/scale/strided.inja", kScaleTemplate);
    write("mine/scale/convert.inja", kConvertTemplate);
    write("mine/scale/notes.txt", "no template");
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& name, const std::string& text) {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }

  static std::string error_of(const KernelLibrary& library, const std::string& name) {
    return test::error_of<InputError>([&] { return library.load(name); });
  }

  fs::path root_;
};

TEST_F(Library, EachFolderWithASpecIsABuiltInKernel) {
  std::set<std::string> folders;
  for (const auto& entry : fs::directory_iterator(KILN_SOURCE_DIR "/templates/kernels")) {
    if (fs::exists(entry.path() / "spec.toml")) folders.insert(entry.path().filename().string());
  }
  KernelLibrary library;
  EXPECT_THAT(library.names(), testing::ElementsAreArray(folders));
  EXPECT_THAT(folders, testing::IsSupersetOf({"matmul", "reduce"}));
  KernelSpec spec = library.load("reduce");
  EXPECT_EQ(spec.path, "built-in:reduce/spec.toml");
  EXPECT_THAT(spec.files, testing::Contains(testing::Key("grid_stride.inja")));
}

TEST_F(Library, BuiltInSpecsPassTheChecksThatLoadingThemLeavesOut) {
  std::vector<KernelSpec> specs = {KernelLibrary::load_toolbox(), KernelLibrary::load_ceilings()};
  for (const std::string& name : KernelLibrary().names())
    specs.push_back(KernelLibrary().load(name));
  for (const KernelSpec& spec : specs) {
    EXPECT_NO_THROW((void)parse_spec(spec.text, spec.path, SpecOrigin::user)) << spec.path;
  }
}

TEST_F(Library, AKernelPathIsAKernelOrAFolderOfKernels) {
  EXPECT_THAT(KernelLibrary({root_ / "mine"}).names(), IsSupersetOf({"scale", "reduce"}));
  KernelLibrary library({root_ / "mine" / "scale"});
  EXPECT_THAT(library.names(), IsSupersetOf({"scale", "reduce"}));
  EXPECT_EQ(library.load("scale").name, "scale");
}

TEST_F(Library, APathLoadsTheFolderWithItsTemplates) {
  fs::path folder = root_ / "mine" / "scale";
  for (const fs::path& path : {folder, folder / "spec.toml", fs::path(folder.string() + "/")}) {
    KernelSpec spec = KernelLibrary().load(path.string());
    EXPECT_EQ(spec.name, "scale") << path;
    EXPECT_THAT(spec.files, ElementsAre(testing::Key("convert.inja"), testing::Key("strided.inja")))
        << path;
  }
}

// Those of the built-in kernels that several of them include.
TEST_F(Library, SharedTemplatesComeWithThoseThatIncludeThem) {
  using testing::Contains;
  using testing::Key;
  using testing::Not;
  KernelLibrary library;
  for (const char* name : {"matmul", "convolution"}) {
    const KernelSpec spec = library.load(name);
    EXPECT_THAT(spec.files, Contains(Key("shared/wgmma.inja"))) << name;
    EXPECT_THAT(spec.files, Contains(Key("shared/arrive.inja"))) << "included by a shared one";
  }
  EXPECT_THAT(library.load("reduce").files, Not(Contains(Key("shared/wgmma.inja"))));
  write("mine/scale/strided.inja", "{% include \"shared/arrive.inja\" %}");
  const KernelSpec mine = library.load((root_ / "mine" / "scale").string());
  EXPECT_THAT(mine.files, Contains(Key("shared/arrive.inja")));
  EXPECT_THAT(mine.files, Not(Contains(Key("shared/wgmma.inja"))));
}

TEST_F(Library, AUsersKernelComesBeforeTheBuiltInOfThatName) {
  fs::rename(root_ / "mine" / "scale", root_ / "mine" / "reduce");
  EXPECT_EQ(KernelLibrary({root_ / "mine"}).load("reduce").path,
            (root_ / "mine/reduce/spec.toml").string());
}

TEST_F(Library, AnUnknownNameListsWhatThereIs) {
  EXPECT_EQ(error_of(KernelLibrary(), "redcue"),
            "unknown kernel 'redcue'; did you mean 'reduce'? (there are arg_reduce, convolution, "
            "histogram, "
            "matmul, normalize, preprocess, reduce, scan, "
            "transpose; searched: built into kiln)");
  std::string mine = (root_ / "mine").string();
  EXPECT_THAT(error_of(KernelLibrary({mine}), "sort"),
              HasSubstr("searched: built into kiln, " + mine));
}

TEST_F(Library, AFolderWithoutASpecIsNoKernel) {
  EXPECT_EQ(error_of(KernelLibrary(), (root_ / "mine").string()),
            (root_ / "mine").string() +
                ": no spec.toml here: a kernel is a folder with spec.toml and its templates; below "
                "it are " +
                (root_ / "mine" / "scale").string());
  EXPECT_THROW(KernelLibrary({root_ / "nowhere"}), InputError);
}

TEST_F(Library, AFileIsNoKernelAndWhatIsNotThereIsNeither) {
  const std::string source = (root_ / "saxpy.cl").string();
  std::ofstream(source) << "__kernel void saxpy() {}\n";
  EXPECT_EQ(error_of(KernelLibrary(), source),
            source + ": is a file: a kernel is a folder with spec.toml; 'kiln init " + source +
                "' writes one for a source");
  const std::string folder = (root_ / "mine" / "scale" / "").string();
  EXPECT_THAT(error_of(KernelLibrary(), folder + "strided.inja"),
              HasSubstr("; name the folder of this file, " + folder));
  const fs::path here = fs::current_path();
  fs::current_path(root_);
  EXPECT_THAT(error_of(KernelLibrary(), "saxpy.cl"), StartsWith("saxpy.cl: is a file: "));
  fs::current_path(here);
  const std::string gone = (root_ / "gone").string();
  EXPECT_EQ(error_of(KernelLibrary(), gone),
            gone + ": there is no such folder: a kernel is a folder with spec.toml");
}

TEST_F(Library, LinksOutOfTheFolderAreRefused) {
  write("secret.inja", "secret");
  fs::path link = root_ / "mine" / "scale" / "stolen.inja";
  fs::create_symlink("../../secret.inja", link);
  EXPECT_EQ(error_of(KernelLibrary(), (root_ / "mine/scale").string()),
            link.string() + ": leads out of the kernel's folder");
}

TEST_F(Library, AFileTooLargeIsNoTemplate) {
  write("mine/scale/large.inja", std::string((1 << 20) + 1, ' '));
  EXPECT_THAT(error_of(KernelLibrary(), (root_ / "mine/scale").string()),
              HasSubstr("holds more than 1 MiB"));
}

}  // namespace
}  // namespace kiln::test

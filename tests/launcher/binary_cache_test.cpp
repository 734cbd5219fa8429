// The cache folder as an attacker, a crash and another version of Kiln may leave it: always a miss,
// never a fault.
// SPDX-License-Identifier: Apache-2.0
#include "launcher/src/binary_cache.hpp"

#include <sys/stat.h>

#include <fstream>

#include <gtest/gtest.h>

#include "tests/launcher/opencl_application.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;
using test::LauncherFolder;

const std::string kKey = "0123456789abcdef0123456789abcdef";
const std::string kOtherKey = "ffffffffffffffffffffffffffffffff";

Binary some_binary() {
  Binary binary;
  binary.data.resize(5000, std::byte{0x5a});
  binary.log = "a warning";
  binary.registers = 40;
  binary.spill_bytes = 0;
  binary.shared_bytes = 4096;
  return binary;
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

TEST(BinaryCache, GivesBackWhatWasStored) {
  const LauncherFolder folder;
  const fs::path path = folder / "deep/er/cache";
  {
    const BinaryCache cache(path);
    EXPECT_EQ(cache.trouble(), "");
    EXPECT_FALSE(cache.find(kKey));
    EXPECT_TRUE(cache.store(kKey, some_binary()));
  }
  const BinaryCache cache(path);  // another process
  const std::optional<Binary> found = cache.find(kKey);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->data, some_binary().data);
  EXPECT_EQ(found->log, "a warning");
  EXPECT_EQ(found->registers, 40);
  EXPECT_EQ(found->spill_bytes, 0);
  EXPECT_EQ(found->shared_bytes, 4096);
  EXPECT_FALSE(cache.find(kOtherKey));

  struct stat facts {};
  ASSERT_EQ(::stat(path.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0700U);
  EXPECT_EQ(std::distance(fs::directory_iterator(path), fs::directory_iterator()), 1);
}

TEST(BinaryCache, TakesNothingDamaged) {
  const LauncherFolder folder;
  const fs::path path = folder / "cache";
  const BinaryCache cache(path);
  ASSERT_TRUE(cache.store(kKey, some_binary()));
  const fs::path entry = path / (kKey + ".bin");
  const std::string whole = read_file(entry);
  ASSERT_FALSE(whole.empty());

  for (std::size_t at = 0; at < whole.size(); at += 97) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 1);
    write_file(entry, flipped);
    EXPECT_FALSE(cache.find(kKey)) << "byte " << at;
    write_file(entry, whole.substr(0, at));
    EXPECT_FALSE(cache.find(kKey)) << "cut at " << at;
  }
  write_file(entry, whole);
  EXPECT_TRUE(cache.find(kKey));

  write_file(path / (kOtherKey + ".bin"), whole);  // renamed
  EXPECT_FALSE(cache.find(kOtherKey));
  EXPECT_TRUE(cache.store(kOtherKey, some_binary()));  // and mended
  EXPECT_TRUE(cache.find(kOtherKey));
}

TEST(BinaryCache, FollowsNoLinksAndOpensNoPipes) {
  const LauncherFolder folder;
  const fs::path path = folder / "cache";
  const BinaryCache cache(path);
  ASSERT_TRUE(cache.store(kKey, some_binary()));
  fs::rename(path / (kKey + ".bin"), folder / "elsewhere");
  fs::create_symlink(folder / "elsewhere", path / (kKey + ".bin"));
  EXPECT_FALSE(cache.find(kKey));
  ASSERT_EQ(::mkfifo((path / (kOtherKey + ".bin")).c_str(), 0600), 0);
  EXPECT_FALSE(cache.find(kOtherKey));

  fs::create_symlink(path, folder / "link");
  EXPECT_EQ(BinaryCache(folder / "link").trouble(), (folder / "link") + ": is a link or no folder");
}

TEST(BinaryCache, WantsAFolderThatOthersCannotWriteTo) {
  const LauncherFolder folder;
  const fs::path path = folder / "cache";
  fs::create_directory(path);
  fs::permissions(path, fs::perms::all);
  const BinaryCache open(path);
  EXPECT_EQ(open.trouble(), path.string() + ": other users may write to it (chmod 700 mends that)");
  EXPECT_FALSE(open.store(kKey, some_binary()));
  EXPECT_FALSE(open.find(kKey));

  fs::permissions(path, fs::perms::owner_all);
  const BinaryCache closed(path);
  ASSERT_TRUE(closed.store(kKey, some_binary()));
  fs::permissions(path / (kKey + ".bin"), fs::perms::group_write, fs::perm_options::add);
  EXPECT_FALSE(closed.find(kKey));
}

TEST(BinaryCache, KeysCannotNameOtherFiles) {
  const LauncherFolder folder;
  const BinaryCache cache(folder / "cache");
  for (const char* key : {"", "../../../etc/passwd", "0123456789abcdef0123456789abcde/",
                          "0123456789ABCDEF0123456789ABCDEF"}) {
    EXPECT_FALSE(cache.store(key, some_binary()));
    EXPECT_FALSE(cache.find(key));
  }
}

TEST(BinaryCache, WithoutAPlaceItMisses) {
  const BinaryCache nowhere{fs::path()};
  EXPECT_EQ(nowhere.trouble(),
            "there is no place for it: none of KILN_CACHE, XDG_CACHE_HOME and HOME is set");
  EXPECT_FALSE(nowhere.store(kKey, some_binary()));
  const LauncherFolder folder;
  write_file(folder / "file", "");
  EXPECT_EQ(BinaryCache(folder / "file").trouble(), (folder / "file") + ": is a link or no folder");
}

}  // namespace
}  // namespace kiln

// The cache folder as an attacker, a crash and another version of Kiln may leave it: always a miss,
// never a fault.
// SPDX-License-Identifier: Apache-2.0
#include "backends/binary_cache.hpp"

#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>

#include <gtest/gtest.h>

#include "core/device.hpp"
#include "launcher/src/cache_key.hpp"
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
  binary.symbols = {{"conv<16, true>", "_Z4convILi16ELb1EEvv"}, {"plain", "plain"}};
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
    EXPECT_TRUE(cache.store(kKey, some_binary(), "nvrtc 13.0"));
  }
  const BinaryCache cache(path);  // another process
  const std::optional<CachedBinary> found = cache.find(kKey);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->compiler, "nvrtc 13.0");
  EXPECT_EQ(found->binary.data, some_binary().data);
  EXPECT_EQ(found->binary.log, "a warning");
  EXPECT_EQ(found->binary.registers, 40);
  EXPECT_EQ(found->binary.spill_bytes, 0);
  EXPECT_EQ(found->binary.symbols, some_binary().symbols);
  EXPECT_EQ(found->binary.shared_bytes, 4096);
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
  ASSERT_TRUE(cache.store(kKey, some_binary(), "nvrtc 13.0"));
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
  EXPECT_TRUE(cache.store(kOtherKey, some_binary(), ""));  // and mended
  EXPECT_TRUE(cache.find(kOtherKey));
}

TEST(BinaryCache, FollowsNoLinksAndOpensNoPipes) {
  const LauncherFolder folder;
  const fs::path path = folder / "cache";
  const BinaryCache cache(path);
  ASSERT_TRUE(cache.store(kKey, some_binary(), "nvrtc 13.0"));
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
  EXPECT_FALSE(open.store(kKey, some_binary(), ""));
  EXPECT_FALSE(open.find(kKey));

  fs::permissions(path, fs::perms::owner_all);
  const BinaryCache closed(path);
  ASSERT_TRUE(closed.store(kKey, some_binary(), ""));
  fs::permissions(path / (kKey + ".bin"), fs::perms::group_write, fs::perm_options::add);
  EXPECT_FALSE(closed.find(kKey));
}

TEST(BinaryCache, MakesItsFolderForItsUserAloneHoweverItIsWritten) {
  const LauncherFolder folder;
  const mode_t before = ::umask(0002);
  const BinaryCache cache((folder / "new") + "/");
  ::umask(before);
  EXPECT_EQ(cache.trouble(), "");
  EXPECT_EQ(fs::status(folder / "new").permissions(), fs::perms::owner_all);
}

/// Gives a file away, which only root may do.
bool give_to_nobody(const fs::path& path) {
  constexpr uid_t kNobody = 65534;
  return ::geteuid() == 0 && ::lchown(path.c_str(), kNobody, kNobody) == 0;
}

TEST(BinaryCache, CompilesAnewWhatBelongsToAnotherUserAndNeverReadsIt) {
  const LauncherFolder folder;
  const fs::path path = folder / "cache";
  const BinaryCache cache(path);
  ASSERT_TRUE(cache.store(kKey, some_binary(), "nvrtc 13.0"));
  const fs::path entry = path / (kKey + ".bin");
  if (!give_to_nobody(entry)) GTEST_SKIP() << "only root may give a file to another user";

  const int watch = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  ASSERT_GE(::inotify_add_watch(watch, entry.c_str(), IN_ACCESS), 0);
  EXPECT_FALSE(cache.find(kKey));
  std::array<char, 4096> events{};
  EXPECT_EQ(::read(watch, events.data(), events.size()), -1) << "it was read";
  ::close(watch);

  ASSERT_TRUE(cache.store(kKey, some_binary(), "nvrtc 13.0"));  // as after compiling
  EXPECT_TRUE(cache.find(kKey));
  struct stat facts {};
  ASSERT_EQ(::stat(entry.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_uid, ::geteuid());

  ASSERT_TRUE(give_to_nobody(path));
  EXPECT_EQ(BinaryCache(path).trouble(), path.string() + ": belongs to another user");
}

TEST(BinaryCache, KeysCannotNameOtherFiles) {
  const LauncherFolder folder;
  const BinaryCache cache(folder / "cache");
  for (const char* key : {"", "../../../etc/passwd", "0123456789abcdef0123456789abcde/",
                          "0123456789ABCDEF0123456789ABCDEF"}) {
    EXPECT_FALSE(cache.store(key, some_binary(), ""));
    EXPECT_FALSE(cache.find(key));
  }
}

std::string key_of(int number) {
  return kKey.substr(2) + (number < 10 ? "0" : "") + std::to_string(number);
}

void was_used(const fs::path& folder, int number, std::chrono::minutes ago) {
  fs::last_write_time(folder / (key_of(number) + ".bin"), fs::file_time_type::clock::now() - ago);
}

TEST(BinaryCache, KeepsToItsSize) {
  const LauncherFolder folder;
  const fs::path path = folder / "cache";
  const BinaryCache cache(path, 16000);  // three entries of some 5 kB
  for (int number = 0; number < 3; ++number) {
    ASSERT_TRUE(cache.store(key_of(number), some_binary(), ""));
    was_used(path, number, std::chrono::minutes(30 - number));
  }
  ASSERT_TRUE(cache.find(key_of(0)));  // the oldest is the last used now
  ASSERT_TRUE(cache.store(key_of(3), some_binary(), ""));
  EXPECT_TRUE(cache.find(key_of(0)));
  EXPECT_FALSE(cache.find(key_of(1)));
  EXPECT_TRUE(cache.find(key_of(2)));
  EXPECT_TRUE(cache.find(key_of(3)));

  Binary huge = some_binary();
  huge.data.resize(20000);
  EXPECT_FALSE(cache.store(key_of(4), huge, ""));  // no room is made for what does not fit
  EXPECT_TRUE(cache.find(key_of(3)));
}

TEST(BinaryCache, SweepsUpAfterKilledProcesses) {
  const LauncherFolder folder;
  const fs::path path = folder / "cache";
  const BinaryCache cache(path);
  write_file(path / ".new-1-1", "half an entry");
  write_file(path / ".new-1-2", "another at work");
  fs::last_write_time(path / ".new-1-1", fs::file_time_type::clock::now() - std::chrono::hours(2));
  ASSERT_TRUE(cache.store(kKey, some_binary(), ""));
  EXPECT_FALSE(fs::exists(path / ".new-1-1"));
  EXPECT_TRUE(fs::exists(path / ".new-1-2"));
}

// In another container that shares the folder, a process may have our number.
TEST(BinaryCache, LeavesTheFileOfAProcessOfTheSameNumberAlone) {
  const LauncherFolder folder;
  const fs::path path = folder / "cache";
  const BinaryCache cache(path);
  const auto name = [&](int i) {
    return path / (".new-" + std::to_string(::getpid()) + "-" + std::to_string(i));
  };
  for (int i = 0; i < 1000; ++i) write_file(name(i), "half an entry");
  ASSERT_TRUE(cache.store(kKey, some_binary(), ""));
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(fs::exists(name(i))) << i;
}

// Entry `number` holds its number, so that a reader sees whether it got the right one whole.
bool store_and_check(const BinaryCache& cache, int rounds, unsigned seed) {
  for (int round = 0; round < rounds; ++round) {
    seed = seed * 1664525U + 1013904223U;
    const int number = static_cast<int>(seed >> 24U) % 20;
    const std::vector<std::byte> content(3000, static_cast<std::byte>(number));
    if (const std::optional<CachedBinary> found = cache.find(key_of(number))) {
      if (found->binary.data != content) return false;
    } else {
      Binary binary;
      binary.data = content;
      cache.store(key_of(number), binary, "");
    }
  }
  return true;
}

TEST(BinaryCache, IsSharedByProcesses) {
  const LauncherFolder folder;
  const fs::path path = folder / "cache";
  std::vector<pid_t> children;
  for (unsigned child = 0; child < 4; ++child) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      const BinaryCache cache(path, 30000);  // ten of the twenty entries: they push each other out
      ::_exit(cache.trouble().empty() && store_and_check(cache, 300, child) ? 0 : 1);
    }
    children.push_back(pid);
  }
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(path)) bytes += entry.file_size();
  EXPECT_GT(bytes, 0U);
  EXPECT_LE(bytes, 30000U);
}

TEST(BinaryCache, TakesItsSizeFromTheEnvironment) {
  const auto limit = [](const char* text) {
    ::setenv("KILN_CACHE_LIMIT", text, 1);
    CacheLimit found = default_cache_limit();
    ::unsetenv("KILN_CACHE_LIMIT");
    return found;
  };
  EXPECT_EQ(limit("5000").bytes, 5000U);
  EXPECT_EQ(limit("64M").bytes, std::uint64_t{64} << 20U);
  EXPECT_EQ(limit("2G").bytes, std::uint64_t{2} << 30U);
  EXPECT_EQ(limit("2G").trouble, "");
  EXPECT_EQ(limit("").bytes, kDefaultCacheBytes);
  EXPECT_EQ(limit("").trouble, "");
  for (const std::string nonsense :
       {"0", "-1", "64 M", "5 GiB", "1.5G", "much", "G", "99999999999G", "99999999999999999999"}) {
    const CacheLimit wrong = limit(nonsense.c_str());
    EXPECT_EQ(wrong.bytes, kDefaultCacheBytes) << nonsense;
    EXPECT_EQ(wrong.trouble, "KILN_CACHE_LIMIT is '" + nonsense +
                                 "', which is no size of a cache: expected bytes, or a number "
                                 "with K, M or G, such as 512M");
  }
}

TEST(BinaryCache, WithoutAPlaceItMisses) {
  const BinaryCache nowhere{fs::path()};
  EXPECT_EQ(nowhere.trouble(),
            "there is no place for it: none of KILN_CACHE, XDG_CACHE_HOME and HOME is set");
  EXPECT_FALSE(nowhere.store(kKey, some_binary(), ""));
  const LauncherFolder folder;
  write_file(folder / "file", "");
  EXPECT_EQ(BinaryCache(folder / "file").trouble(), (folder / "file") + ": is a link or no folder");
}

TEST(CacheKey, HoldsWhatTheBinaryDependsOn) {
  const Source source{"a.cu", "text", {"a"}, false, {}, {}};
  DeviceInfo device;
  device.backend = "cuda";
  device.architecture = "sm_90a";
  device.compiler = "nvrtc 13.0";
  const auto key = [&](const char* options, Launcher::Toolkit toolkit) {
    return cache_key(source, device, options, toolkit);
  };
  const std::string before = key("-O2", Launcher::Toolkit::any);
  EXPECT_EQ(key("-O2", Launcher::Toolkit::any), before);
  EXPECT_NE(key("-O3", Launcher::Toolkit::any), before);
  const std::string same = key("-O2", Launcher::Toolkit::same);
  device.compiler = "nvrtc 13.1";
  EXPECT_EQ(key("-O2", Launcher::Toolkit::any), before);
  EXPECT_NE(key("-O2", Launcher::Toolkit::same), same);
}

}  // namespace
}  // namespace kiln

// SPDX-License-Identifier: Apache-2.0
#include "cli/text_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "cli/print.hpp"
#include "core/errors.hpp"
#include "db/file_system.hpp"

namespace kiln::cli {
namespace fs = std::filesystem;

namespace {

[[noreturn]] void refuse_to_write(const fs::path& path, const std::string& reason) {
  throw UsageError(fmt::format("{}: cannot be written: {}", path.string(), reason));
}

/// Throws UsageError naming `shown` if not all of the text arrives. `mode`: as of fopen().
void put_text(const fs::path& path, const char* mode, std::string_view text,
              const fs::path& shown) {
  errno = 0;
  std::FILE* const file = std::fopen(path.c_str(), mode);
  if (file == nullptr) refuse_to_write(shown, std::strerror(errno));
  const bool is_whole = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int fault = errno;
  if (std::fclose(file) == 0 && is_whole) return;
  refuse_to_write(shown, std::strerror(is_whole ? errno : fault));
}

/// The same for what is no file. A pipe that nobody reads would be waited for.
void put_text_into(const fs::path& path, std::string_view text) {
  const int opened = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  if (opened < 0 && errno == ENXIO) refuse_to_write(path, "it is a pipe that no program reads");
  put_text(path, "we", text, path);
  if (opened >= 0) ::close(opened);
}

/// The file that a link leads to, which may not be there yet; else `path` itself.
fs::path behind_links(const fs::path& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error ? linked_file(path) : real;  // the file of a link that dangles
}

/// The first bytes of a regular file.
std::string head_of(const fs::path& path, std::size_t bytes) {
  std::string head(bytes, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  return head;
}

/// Whether nobody misses what is at `path`: nothing, an empty file, this very text, or a file of
/// Kiln's own.
bool may_replace(const fs::path& path, std::string_view text, const Replacing& replacing) {
  std::error_code error;
  if (replacing.force || !fs::exists(path, error) || fs::file_size(path, error) == 0) return true;
  return has_mark(path, replacing.mark) || head_of(path, text.size() + 1) == text;
}

}  // namespace

bool has_mark(const fs::path& path, std::string_view mark) {
  constexpr std::size_t kHead = 4096;
  std::error_code error;
  return !mark.empty() && fs::is_regular_file(path, error) &&
         head_of(path, kHead).find(mark) != std::string::npos;
}

void write_text_file(const fs::path& path, std::string_view text, const Replacing& replacing) {
  if (path == "-") {
    print_data(text);
    return;
  }
  std::error_code error;
  const fs::file_status there = fs::status(path, error);
  if (fs::is_directory(there)) refuse_to_write(path, "it is a folder");
  if (fs::exists(there) && !fs::is_regular_file(there)) {  // /dev/null, a pipe: never replaced
    put_text_into(path, text);
    return;
  }
  if (is_sqlite_file(path)) refuse_to_write(path, "it is a database; name another file");
  if (!may_replace(path, text, replacing))
    refuse_to_write(path, "there is a file that Kiln did not write; --force replaces it");
  // What a link leads to is replaced, not the link.
  const fs::path target = behind_links(path);
  const fs::path written = target.string() + ".tmp-" + std::to_string(::getpid());
  fs::remove(written, error);  // of a killed process with this number
  try {
    put_text(written, "wxe", text, path);  // x: not through a link that waits there
    if (fs::exists(there)) fs::permissions(written, there.permissions(), error);
    fs::rename(written, target);
  } catch (const fs::filesystem_error& failure) {
    fs::remove(written, error);
    refuse_to_write(path, failure.code().message());
  } catch (const UsageError&) {
    fs::remove(written, error);
    throw;
  }
}

}  // namespace kiln::cli

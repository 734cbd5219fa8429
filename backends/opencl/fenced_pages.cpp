// Maps memory of this process, with a protected page behind it.
// SPDX-License-Identifier: Apache-2.0
#include "backends/opencl/fenced_pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <utility>

#include <fmt/format.h>

#include "backends/alignment.hpp"

namespace kiln {
namespace {

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

}  // namespace

Result<FencedPages> FencedPages::map(std::size_t bytes) {
  const std::size_t page = page_bytes();
  FencedPages pages;
  pages.bytes_ = round_up(bytes, page);
  void* data = ::mmap(nullptr, pages.bytes_ + page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED)
    return Failure{Outcome::out_of_memory, fmt::format("mmap of {} bytes", pages.bytes_ + page)};
  pages.data_ = data;
  if (::mprotect(static_cast<std::byte*>(data) + pages.bytes_, page, PROT_NONE) != 0)
    return Failure{Outcome::launch_error, "mprotect of the page behind a buffer"};
  return pages;
}

FencedPages::FencedPages(FencedPages&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}

FencedPages& FencedPages::operator=(FencedPages&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

FencedPages::~FencedPages() {
  if (data_ != nullptr) ::munmap(data_, bytes_ + page_bytes());
}

}  // namespace kiln

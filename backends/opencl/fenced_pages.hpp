// Memory of this process with a page behind it that must not be touched: what a CPU device may use
// in place (CL_MEM_USE_HOST_PTR), so that a kernel that reads or writes past the end faults.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "core/result.hpp"

namespace kiln {

class FencedPages {
 public:
  FencedPages() = default;  ///< none
  /// At least `bytes`, in whole pages.
  [[nodiscard]] static Result<FencedPages> map(std::size_t bytes);
  FencedPages(FencedPages&& other) noexcept;
  FencedPages& operator=(FencedPages&& other) noexcept;
  ~FencedPages();

  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;  ///< without the fence
};

}  // namespace kiln

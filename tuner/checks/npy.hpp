// Arrays as NumPy's save() writes them: the header of a .npy file, and where its elements are.
//
// The format is that of NumPy's "NPY format" (versions 1.0 to 3.0). A file may come from a
// stranger.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.hpp"

namespace kiln {

struct NpyArray {
  std::string descr;  ///< NumPy's name of the element type: "<f4"
  std::vector<std::int64_t> shape;
  std::string_view data;  ///< in C order; points into the file's bytes

  [[nodiscard]] std::int64_t count() const;
  /// Whether its elements are those of `dtype`. NumPy has no name for bf16 and 8-bit floats: their
  /// bits may be saved as unsigned integers or as void.
  [[nodiscard]] bool holds(DType dtype) const;
};

/// Throws InputError "FILE: ..." with what was expected: no .npy file, another byte order than the
/// machine's, Fortran order, a shape that does not fit the bytes.
[[nodiscard]] NpyArray parse_npy(std::string_view bytes, const std::string& file);

}  // namespace kiln

// The transpose that every config is checked against.
// SPDX-License-Identifier: Apache-2.0
#include "templates/reference.hpp"

namespace kiln {
namespace {

// out[b][c][r] = in[b][r][c], elements kept as they are (Out is the reference's type for In).
template <typename Out>
void transpose(const HostArray& in, HostArray& out) {
  const std::int64_t batch = in.shape[0];
  const std::int64_t rows = in.shape[1];
  const std::int64_t cols = in.shape[2];
  Out* to = out.elements<Out>();
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < cols; ++c) {
        const auto from = static_cast<std::size_t>((b * rows + r) * cols + c);
        to[(b * cols + c) * rows + r] = static_cast<Out>(in.get(from));
      }
    }
  }
}

}  // namespace

void transpose_reference(ReferenceCall& call) {
  const HostArray& in = call.arrays.at("in");
  HostArray& out = call.arrays.at("out");
  if (out.dtype == DType::i64) {
    transpose<std::int64_t>(in, out);
  } else {
    transpose<double>(in, out);
  }
}

}  // namespace kiln

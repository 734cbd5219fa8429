// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "tests/fuzz/targets.hpp"
#include "tuner/checks/npy.hpp"

namespace kiln::fuzz {
namespace {

std::string npy_file(const std::string& header, std::size_t bytes, char version = 1) {
  std::string file = std::string("\x93NUMPY") + version + '\0';
  const std::size_t length = header.size();
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    file += static_cast<char>(length >> static_cast<unsigned>(8 * i) & 255U);
  return file + header + std::string(bytes, '\1');
}

}  // namespace

void run_npy(std::string_view input) {
  const NpyArray array = parse_npy(input, "x.npy");
  const auto count = static_cast<std::size_t>(array.count());
  for (const DType dtype : all_dtypes()) {
    if (array.holds(dtype) && count * size_of(dtype) != array.data.size())
      throw std::logic_error("an array whose elements are not where it says");
  }
}

std::vector<std::string> npy_seeds() {
  std::vector<std::string> seeds = {
      npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }\n", 48),
      npy_file("{'descr': '|u1', 'fortran_order': False, 'shape': (7,), }", 7, 2),
      npy_file("{'descr': '<f8', 'fortran_order': True, 'shape': (), }", 8, 3),
      npy_file("{'descr': '<i8', 'fortran_order': False, 'shape': (0, 5), }", 0),
      npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", 0)};
  for (const char* part : {"(", "{", "'a': (1,", "1, "}) {
    seeds.push_back(npy_file(nested("{'descr': '<f4', 'shape': (@", part), 4, 2));
  }
  for (std::string& text : corpus("npy")) seeds.push_back(std::move(text));
  return seeds;
}

}  // namespace kiln::fuzz

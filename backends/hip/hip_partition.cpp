// SPDX-License-Identifier: Apache-2.0
#include "backends/hip/hip_partition.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>

namespace kiln {
namespace {

constexpr std::string_view kShape = "0000:00:00.0";  // domain, bus, device and function

bool is_bus_id(std::string_view text) {
  return text.size() == kShape.size() &&
         std::equal(text.begin(), text.end(), kShape.begin(), [](char c, char shape) {
           return shape == '0' ? std::isxdigit(static_cast<unsigned char>(c)) != 0 : c == shape;
         });
}

/// The word in the file, letters and digits only; empty where there is none.
std::string word_in(const std::filesystem::path& path) {
  constexpr std::size_t kLongest = 16;
  std::ifstream file(path);
  std::string word;
  if (!(file >> word) || word.size() > kLongest) return {};
  const bool is_plain = std::all_of(word.begin(), word.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0;
  });
  return is_plain ? word : std::string();
}

}  // namespace

std::string read_amd_partition(const std::filesystem::path& pci_devices, std::string_view bus_id) {
  if (!is_bus_id(bus_id)) return {};
  // The parts of a board count as its functions; the files are those of function 0.
  std::string board(bus_id);
  board.back() = '0';
  std::transform(board.begin(), board.end(), board.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::string compute = word_in(pci_devices / board / "current_compute_partition");
  const std::string memory = word_in(pci_devices / board / "current_memory_partition");
  if (compute.empty() || memory.empty()) return compute + memory;
  return compute + "/" + memory;
}

}  // namespace kiln

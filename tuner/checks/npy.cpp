// SPDX-License-Identifier: Apache-2.0
#include "tuner/checks/npy.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/errors.hpp"

namespace kiln {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMaxHeaderBytes = 65536;
constexpr std::size_t kMaxDimensions = 32;

/// An element type of NumPy, and those of Kiln whose elements it may hold.
struct NumpyType {
  std::string_view descr;
  std::size_t bytes;
  std::array<std::optional<DType>, 3> held;
};
constexpr std::array kNpyTypes = {
    NumpyType{"|i1", 1, {DType::i8}},
    NumpyType{"|u1", 1, {DType::u8, DType::e4m3, DType::e5m2}},
    NumpyType{"|V1", 1, {DType::e4m3, DType::e5m2}},
    NumpyType{"|b1", 1, {DType::u8}},
    NumpyType{"<i2", 2, {DType::i16}},
    NumpyType{"<u2", 2, {DType::u16, DType::bf16}},
    NumpyType{"|V2", 2, {DType::bf16}},
    NumpyType{"<f2", 2, {DType::f16}},
    NumpyType{"<i4", 4, {DType::i32}},
    NumpyType{"<u4", 4, {DType::u32}},
    NumpyType{"<f4", 4, {DType::f32}},
    NumpyType{"<i8", 8, {DType::i64}},
    NumpyType{"<u8", 8, {DType::u64}},
    NumpyType{"<f8", 8, {DType::f64}},
};

/// nullptr: none that is known.
const NumpyType* find_type(std::string_view descr) {
  const auto* type = std::find_if(kNpyTypes.begin(), kNpyTypes.end(),
                                  [&](const NumpyType& each) { return each.descr == descr; });
  return type == kNpyTypes.end() ? nullptr : type;
}

/// Reads the header: a Python dictionary of a text, a truth and a tuple of whole numbers.
class HeaderReader {
 public:
  HeaderReader(std::string_view text, std::size_t offset, const std::string& file)
      : text_(text), offset_(offset), file_(file) {}

  void read(NpyArray& array, bool& fortran_order) {
    bool has_descr = false;
    bool has_order = false;
    bool has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = read_text();
      expect(':');
      if (key == "descr" && !has_descr) {
        array.descr = read_text();
        has_descr = true;
      } else if (key == "fortran_order" && !has_order) {
        fortran_order = read_truth();
        has_order = true;
      } else if (key == "shape" && !has_shape) {
        array.shape = read_shape();
        has_shape = true;
      } else {
        fail(
            fmt::format("the key '{}' is unknown or appears twice; expected descr, fortran_order "
                        "and shape, once each",
                        key));
      }
      if (accept(',')) continue;
      expect('}');
      break;
    }
    skip_space();
    if (at_ < text_.size()) fail("something follows the dictionary");
    if (!has_descr || !has_order || !has_shape)
      fail("expected the keys descr, fortran_order and shape");
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool accept(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(fmt::format("expected '{}'", c));
  }
  std::string read_text() {
    skip_space();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) fail("expected a text");
    const char quote = text_[at_++];
    const std::size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) fail("the text has no end");
    std::string read(text_.substr(at_, end - at_));
    at_ = end + 1;
    const bool is_plain =
        std::all_of(read.begin(), read.end(), [](char c) { return c >= ' ' && c <= '~'; });
    if (!is_plain) fail("the text holds more than printable characters");
    return read;
  }
  bool read_truth() {
    skip_space();
    for (const auto& [word, value] : {std::pair("True", true), std::pair("False", false)}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += std::string_view(word).size();
      return value;
    }
    fail("expected True or False");
  }
  std::vector<std::int64_t> read_shape() {
    std::vector<std::int64_t> shape;
    expect('(');
    while (!accept(')')) {
      skip_space();
      std::int64_t extent = 0;
      const auto [end, error] =
          std::from_chars(text_.data() + at_, text_.data() + text_.size(), extent);
      if (error != std::errc() || extent < 0) fail("expected a whole number of 0 or more");
      at_ = static_cast<std::size_t>(end - text_.data());
      if (shape.size() == kMaxDimensions)
        fail(fmt::format("the shape has more than {} dimensions", kMaxDimensions));
      shape.push_back(extent);
      if (accept(',')) continue;
      expect(')');
      break;
    }
    return shape;
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(fmt::format("{}: byte {} of its header: {}", file_, offset_ + at_, what));
  }

  std::string_view text_;
  std::size_t offset_;
  const std::string& file_;
  std::size_t at_ = 0;
};

std::uint32_t little_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    value = value << 8U | static_cast<unsigned char>(bytes[i]);
  return value;
}

/// nullopt: more than any file holds.
std::optional<std::size_t> bytes_of(const std::vector<std::int64_t>& shape, std::size_t item) {
  std::size_t bytes = item;
  for (const std::int64_t extent : shape) {
    const auto count = static_cast<std::size_t>(extent);
    if (count > 0 && bytes > std::numeric_limits<std::size_t>::max() / 2 / count)
      return std::nullopt;
    bytes *= count;
  }
  return bytes;
}

}  // namespace

std::int64_t NpyArray::count() const {
  std::int64_t product = 1;
  for (const std::int64_t extent : shape) product *= extent;
  return product;
}

bool NpyArray::holds(DType dtype) const {
  const NumpyType* type = find_type(descr);
  return type != nullptr &&
         std::find(type->held.begin(), type->held.end(), dtype) != type->held.end();
}

NpyArray parse_npy(std::string_view bytes, const std::string& file) {
  const auto fail = [&](const std::string& what) { throw InputError(file + ": " + what); };
  constexpr std::size_t kVersionEnd = 8;
  if (!bytes.starts_with(kMagic) || bytes.size() < kVersionEnd)
    fail("is no .npy file; expected one as numpy.save() writes it");
  const int version = static_cast<unsigned char>(bytes[kMagic.size()]);
  if (version < 1 || version > 3)
    fail(fmt::format("is of version {} of the .npy format; expected 1, 2 or 3", version));
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  const std::size_t header_at = kVersionEnd + length_bytes;
  if (bytes.size() < header_at) fail("ends in its header");
  const std::size_t header_bytes = little_endian(bytes.substr(kVersionEnd, length_bytes));
  if (header_bytes > kMaxHeaderBytes || header_at + header_bytes > bytes.size())
    fail(fmt::format("has a header of {} bytes; expected at most what the file holds, and {}",
                     header_bytes, kMaxHeaderBytes));
  NpyArray array;
  bool fortran_order = false;
  HeaderReader(bytes.substr(header_at, header_bytes), header_at, file).read(array, fortran_order);
  const NumpyType* type = find_type(array.descr);
  if (type == nullptr) {
    fail(
        fmt::format("has elements of type '{}'; expected little-endian numbers of an element type "
                    "that Kiln knows, such as '<f4'",
                    array.descr));
  }
  const bool is_flat = array.shape.size() < 2;
  if (fortran_order && !is_flat)
    fail("is in Fortran order; expected C order (numpy.ascontiguousarray)");
  array.data = bytes.substr(header_at + header_bytes);
  const std::optional<std::size_t> wanted = bytes_of(array.shape, type->bytes);
  if (!wanted || *wanted != array.data.size()) {
    fail(fmt::format("holds {} bytes of elements, and its shape asks for {}", array.data.size(),
                     wanted ? fmt::format("{}", *wanted) : "more than any file holds"));
  }
  return array;
}

}  // namespace kiln

// .npy files of strangers: what is read, and one sentence for each thing that is not.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/checks/npy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"

namespace kiln {
namespace {

using ::testing::ElementsAre;

std::string npy_of(const std::string& header, std::size_t bytes, char version = 1) {
  std::string file = std::string("\x93NUMPY") + version + '\0';
  for (unsigned i = 0; i < (version == 1 ? 2 : 4); ++i)
    file += static_cast<char>(header.size() >> 8 * i & 255U);
  return file + header + std::string(bytes, '\0');
}

std::string fault_of(const std::string& file) {
  try {
    static_cast<void>(parse_npy(file, "x.npy"));
    return "no fault";
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(Npy, HoldsItsShapeAndElements) {
  for (const char version : {1, 2, 3}) {
    const std::string file =
        npy_of("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }  \n", 48, version);
    const NpyArray array = parse_npy(file, "x.npy");
    EXPECT_THAT(array.shape, ElementsAre(3, 4));
    EXPECT_EQ(array.data.size(), 48U);
    EXPECT_TRUE(array.holds(DType::f32));
    EXPECT_FALSE(array.holds(DType::i32));
  }
  EXPECT_EQ(
      parse_npy(npy_of("{'shape': (), 'fortran_order': True, 'descr': '<f8'}", 8), "x").count(), 1);
}

TEST(Npy, TypesThatNumpyHasNotAreTheirBits) {
  const auto holds = [](const char* descr, std::size_t bytes, DType dtype) {
    return parse_npy(npy_of(std::string("{'descr': '") + descr +
                                "', 'fortran_order': False, 'shape': (1,)}",
                            bytes),
                     "x.npy")
        .holds(dtype);
  };
  EXPECT_TRUE(holds("|V2", 2, DType::bf16));
  EXPECT_TRUE(holds("<u2", 2, DType::bf16));
  EXPECT_FALSE(holds("<f2", 2, DType::bf16));
  EXPECT_TRUE(holds("|u1", 1, DType::e4m3));
  EXPECT_TRUE(holds("|V1", 1, DType::e5m2));
  EXPECT_FALSE(holds("|V1", 1, DType::u8));
  EXPECT_TRUE(holds("|b1", 1, DType::u8));
  EXPECT_FALSE(holds("|b1", 1, DType::e4m3));
}

TEST(Npy, MistakesHaveASentence) {
  const auto header = [](const std::string& descr, const std::string& order,
                         const std::string& shape) {
    return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + "}";
  };
  EXPECT_EQ(fault_of("PK"), "x.npy: is no .npy file; expected one as numpy.save() writes it");
  EXPECT_EQ(fault_of(npy_of("{}", 0, 9)),
            "x.npy: is of version 9 of the .npy format; expected 1, 2 or 3");
  EXPECT_EQ(fault_of(npy_of(header(">f4", "False", "(1,)"), 4)),
            "x.npy: has elements of type '>f4'; expected little-endian numbers of an element type "
            "that Kiln knows, such as '<f4'");
  EXPECT_EQ(fault_of(npy_of(header("<f4", "True", "(2, 2)"), 16)),
            "x.npy: is in Fortran order; expected C order (numpy.ascontiguousarray)");
  EXPECT_EQ(fault_of(npy_of(header("<f4", "False", "(2,)"), 4)),
            "x.npy: holds 4 bytes of elements, and its shape asks for 8");
  EXPECT_EQ(fault_of(npy_of(header("<f4", "False", "(4294967296, 4294967296)"), 4)),
            "x.npy: holds 4 bytes of elements, and its shape asks for more than any file holds");
  EXPECT_EQ(fault_of(npy_of(header("<f4", "False", "(-1,)"), 4)),
            "x.npy: byte 61 of its header: expected a whole number of 0 or more");
  EXPECT_EQ(fault_of(npy_of("{'descr': '<f4', 'shape': (1,)}", 4)),
            "x.npy: byte 41 of its header: expected the keys descr, fortran_order and shape");
  EXPECT_EQ(fault_of(npy_of("{'size': 3}", 4)),
            "x.npy: byte 18 of its header: the key 'size' is unknown or appears twice; expected "
            "descr, fortran_order and shape, once each");
}

}  // namespace
}  // namespace kiln

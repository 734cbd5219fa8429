// Our declarations of NPP's types and numbers against NVIDIA's header, where that is found at build
// time.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>

#include <gtest/gtest.h>

#include "bench/peers/host/npp_api.hpp"
#include "core/errors.hpp"

#ifdef KILN_HAS_NPP_HEADER
#include <nppdefs.h>
#endif

namespace kiln::peers {
namespace {

TEST(NppStatus, ErrorsNameTheCallAndWarningsPass) {
  EXPECT_NO_THROW(check_npp(0, "nppiResize"));
  EXPECT_NO_THROW(check_npp(29, "nppiResize"));
  try {
    check_npp(-6, "nppiResize");
    ADD_FAILURE() << "a negative status passed";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "nppiResize: NPP's status -6");
  }
}

#ifdef KILN_HAS_NPP_HEADER

TEST(NppHeader, AgreesOnTypes) {
  static_assert(sizeof(NppSize) == sizeof(NppiSize));
  static_assert(offsetof(NppSize, height) == offsetof(NppiSize, height));
  static_assert(sizeof(NppRect) == sizeof(NppiRect));
  static_assert(offsetof(NppRect, width) == offsetof(NppiRect, width));
  static_assert(sizeof(NppBatchImage) == sizeof(NppiResizeBatchCXR));
  static_assert(offsetof(NppBatchImage, output) == offsetof(NppiResizeBatchCXR, pDst));
  static_assert(sizeof(NppContext) == sizeof(NppStreamContext));
  static_assert(offsetof(NppContext, max_shared_bytes) ==
                offsetof(NppStreamContext, nSharedMemPerBlock));
  static_assert(offsetof(NppContext, minor) ==
                offsetof(NppStreamContext, nCudaDevAttrComputeCapabilityMinor));
  static_assert(offsetof(NppContext, stream_flags) == offsetof(NppStreamContext, nStreamFlags));
  EXPECT_EQ(kNppLinear, NPPI_INTER_LINEAR);
  EXPECT_EQ(kNppSuper, NPPI_INTER_SUPER);
}

#else
TEST(NppHeader, IsNotHere) { GTEST_SKIP() << "no nppdefs.h was found when this was built"; }
#endif

}  // namespace
}  // namespace kiln::peers

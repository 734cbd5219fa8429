// Our declarations of CUDA's calls, structures and numbers against NVIDIA's headers, where those
// are found at build time.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>

#include <gtest/gtest.h>

#include "backends/cuda/cuda_api.hpp"
#include "backends/cuda/nvrtc_api.hpp"
#include "backends/cuda/tensor_map.hpp"
#include "backends/driver_errors.hpp"
#include "tests/backends/same_call.hpp"

#ifdef KILN_HAS_CUDA_HEADERS
#include <cuda.h>
#include <nvrtc.h>
#endif

namespace kiln {
namespace {

static_assert(SameCall<int (*)(void**, unsigned), int (*)(char**, int)>::value);
static_assert(!SameCall<int (*)(void*), int (*)(int)>::value);
static_assert(!SameCall<int (*)(int), int (*)(int, int)>::value);

#ifdef KILN_HAS_CUDA_HEADERS

TEST(CudaHeaders, AgreeOnTheCalls) {
#define KILN_COMPARE(member, symbol, ...) \
  static_assert(SameCall<decltype(CudaApi::member), decltype(&::symbol)>::value, #symbol);
  KILN_CUDA_CALLS(KILN_COMPARE)
  KILN_CUDA_MEMORY_CALLS(KILN_COMPARE)
#undef KILN_COMPARE
#define KILN_COMPARE(member, symbol) \
  static_assert(SameCall<decltype(StreamApi::member), decltype(&::symbol)>::value, #symbol);
  KILN_CUDA_STREAM_CALLS(KILN_COMPARE)
  KILN_CUDA_GRAPH_CALLS(KILN_COMPARE)
#undef KILN_COMPARE
  static_assert(
      SameCall<decltype(CudaApi::launch_kernel_ex), decltype(&::cuLaunchKernelEx)>::value);
  EXPECT_EQ(kCaptureRelaxed, static_cast<int>(CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_EQ(kCaptureNone, static_cast<int>(CU_STREAM_CAPTURE_STATUS_NONE));
  EXPECT_EQ(kStreamNonBlocking, static_cast<unsigned>(CU_STREAM_NON_BLOCKING));
  EXPECT_EQ(kEventDefault, static_cast<unsigned>(CU_EVENT_DEFAULT));
}

TEST(CudaHeaders, AgreeOnDeviceAttributes) {
  using enum CudaDeviceAttribute;
  EXPECT_NUMBER(max_threads_per_block, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  EXPECT_NUMBER(max_block_x, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
  EXPECT_NUMBER(max_block_y, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y);
  EXPECT_NUMBER(max_block_z, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
  EXPECT_NUMBER(max_grid_x, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
  EXPECT_NUMBER(max_grid_y, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
  EXPECT_NUMBER(max_grid_z, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
  EXPECT_NUMBER(max_shared_bytes, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  EXPECT_NUMBER(warp_size, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  EXPECT_NUMBER(max_registers_per_block, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
  EXPECT_NUMBER(clock_khz, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  EXPECT_NUMBER(multiprocessor_count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  EXPECT_NUMBER(memory_clock_khz, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  EXPECT_NUMBER(memory_bus_bits, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  EXPECT_NUMBER(l2_bytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  EXPECT_NUMBER(max_threads_per_multiprocessor, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  EXPECT_NUMBER(capability_major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  EXPECT_NUMBER(capability_minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  EXPECT_NUMBER(shared_bytes_per_multiprocessor,
                CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  EXPECT_NUMBER(max_shared_bytes_optin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  EXPECT_NUMBER(manages_virtual_memory, CU_DEVICE_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED);
}

TEST(CudaHeaders, AgreeOnFunctionAttributesAndErrors) {
  EXPECT_NUMBER(CudaFunctionAttribute::static_shared_bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  EXPECT_NUMBER(CudaFunctionAttribute::max_dynamic_shared_bytes,
                CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  EXPECT_NUMBER(CudaFunctionAttribute::non_portable_cluster_size_allowed,
                CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
  EXPECT_NUMBER(DriverCode::out_of_memory, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_NUMBER(DriverCode::device_unavailable, CUDA_ERROR_DEVICE_UNAVAILABLE);
  EXPECT_NUMBER(DriverCode::no_device, CUDA_ERROR_NO_DEVICE);
  EXPECT_NUMBER(DriverCode::ecc_uncorrectable, CUDA_ERROR_ECC_UNCORRECTABLE);
  EXPECT_NUMBER(DriverCode::nvlink_uncorrectable, CUDA_ERROR_NVLINK_UNCORRECTABLE);
  EXPECT_NUMBER(DriverCode::illegal_address, CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_NUMBER(DriverCode::launch_timeout, CUDA_ERROR_LAUNCH_TIMEOUT);
  EXPECT_NUMBER(DriverCode::context_is_destroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_NUMBER(DriverCode::device_assert, CUDA_ERROR_ASSERT);
  EXPECT_NUMBER(DriverCode::hardware_stack_error, CUDA_ERROR_HARDWARE_STACK_ERROR);
  EXPECT_NUMBER(DriverCode::illegal_instruction, CUDA_ERROR_ILLEGAL_INSTRUCTION);
  EXPECT_NUMBER(DriverCode::misaligned_address, CUDA_ERROR_MISALIGNED_ADDRESS);
  EXPECT_NUMBER(DriverCode::invalid_address_space, CUDA_ERROR_INVALID_ADDRESS_SPACE);
  EXPECT_NUMBER(DriverCode::invalid_pc, CUDA_ERROR_INVALID_PC);
  EXPECT_NUMBER(DriverCode::launch_failed, CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_NUMBER(DriverCode::unknown, CUDA_ERROR_UNKNOWN);
#if CUDA_VERSION >= 13000  // younger than the oldest toolkit that builds this
  EXPECT_NUMBER(DriverCode::contained, CUDA_ERROR_CONTAINED);
  EXPECT_NUMBER(DriverCode::tensor_memory_leak, CUDA_ERROR_TENSOR_MEMORY_LEAK);
#endif
}

TEST(CudaHeaders, AgreeOnTheLaunchStructures) {
  EXPECT_EQ(sizeof(CudaLaunchConfig), sizeof(CUlaunchConfig));
  EXPECT_EQ(offsetof(CudaLaunchConfig, grid_x), offsetof(CUlaunchConfig, gridDimX));
  EXPECT_EQ(offsetof(CudaLaunchConfig, block_x), offsetof(CUlaunchConfig, blockDimX));
  EXPECT_EQ(offsetof(CudaLaunchConfig, shared_bytes), offsetof(CUlaunchConfig, sharedMemBytes));
  EXPECT_EQ(offsetof(CudaLaunchConfig, stream), offsetof(CUlaunchConfig, hStream));
  EXPECT_EQ(offsetof(CudaLaunchConfig, attributes), offsetof(CUlaunchConfig, attrs));
  EXPECT_EQ(offsetof(CudaLaunchConfig, attribute_count), offsetof(CUlaunchConfig, numAttrs));
  EXPECT_EQ(sizeof(CudaLaunchAttribute), sizeof(CUlaunchAttribute));
  EXPECT_EQ(offsetof(CudaLaunchAttribute, value), offsetof(CUlaunchAttribute, value));
  EXPECT_EQ(CudaLaunchAttribute::cluster(1, 1, 1).id,
            static_cast<int>(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION));
  EXPECT_EQ(CudaLaunchAttribute::programmatic().id,
            static_cast<int>(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION));
}

TEST(CudaHeaders, AgreeOnTensorMaps) {
  static_assert(
      SameCall<decltype(CudaApi::tensor_map_encode), decltype(&::cuTensorMapEncodeTiled)>::value);
  static_assert(SameCall<decltype(CudaApi::tensor_map_encode_im2col),
                         decltype(&::cuTensorMapEncodeIm2col)>::value);
  EXPECT_EQ(sizeof(TensorMapBytes), sizeof(CUtensorMap));
  using enum CudaTensorType;
  EXPECT_NUMBER(u8, CU_TENSOR_MAP_DATA_TYPE_UINT8);
  EXPECT_NUMBER(u16, CU_TENSOR_MAP_DATA_TYPE_UINT16);
  EXPECT_NUMBER(u32, CU_TENSOR_MAP_DATA_TYPE_UINT32);
  EXPECT_NUMBER(i32, CU_TENSOR_MAP_DATA_TYPE_INT32);
  EXPECT_NUMBER(u64, CU_TENSOR_MAP_DATA_TYPE_UINT64);
  EXPECT_NUMBER(i64, CU_TENSOR_MAP_DATA_TYPE_INT64);
  EXPECT_NUMBER(f16, CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
  EXPECT_NUMBER(f32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
  EXPECT_NUMBER(f64, CU_TENSOR_MAP_DATA_TYPE_FLOAT64);
  EXPECT_NUMBER(bf16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
  EXPECT_EQ(1, CU_TENSOR_MAP_SWIZZLE_32B);
  EXPECT_EQ(3, CU_TENSOR_MAP_SWIZZLE_128B);
  EXPECT_EQ(1, CU_TENSOR_MAP_L2_PROMOTION_L2_64B);
  EXPECT_EQ(3, CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
  EXPECT_EQ(0, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  EXPECT_EQ(1, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
}

TEST(CudaHeaders, AgreeOnTheMemoryStructures) {
  EXPECT_EQ(sizeof(CudaMemoryLocation), sizeof(CUmemLocation));
  EXPECT_EQ(offsetof(CudaMemoryLocation, ordinal), offsetof(CUmemLocation, id));
  EXPECT_EQ(sizeof(CudaMemoryProperties), sizeof(CUmemAllocationProp));
  EXPECT_EQ(offsetof(CudaMemoryProperties, location), offsetof(CUmemAllocationProp, location));
  EXPECT_EQ(offsetof(CudaMemoryProperties, flags), offsetof(CUmemAllocationProp, allocFlags));
  EXPECT_EQ(sizeof(CudaMemoryAccess), sizeof(CUmemAccessDesc));
  EXPECT_EQ(offsetof(CudaMemoryAccess, rights), offsetof(CUmemAccessDesc, flags));
  EXPECT_NUMBER(CudaMemoryLocation{}.type, CU_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_NUMBER(CudaMemoryProperties{}.type, CU_MEM_ALLOCATION_TYPE_PINNED);
  EXPECT_NUMBER(CudaMemoryAccess{}.rights, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
}

TEST(NvrtcHeaders, AgreeOnCallsAndErrors) {
#define KILN_COMPARE(result, member, symbol, signature) \
  static_assert(SameCall<decltype(NvrtcApi::member), decltype(&::symbol)>::value, #symbol);
  KILN_NVRTC_CALLS(KILN_COMPARE)
#undef KILN_COMPARE
  EXPECT_NUMBER(NvrtcCode::success, NVRTC_SUCCESS);
  EXPECT_NUMBER(NvrtcCode::invalid_option, NVRTC_ERROR_INVALID_OPTION);
  EXPECT_NUMBER(NvrtcCode::compilation, NVRTC_ERROR_COMPILATION);
}

#else
TEST(CudaHeaders, AreNotHere) { GTEST_SKIP() << "no cuda.h was found when this was built"; }
#endif

}  // namespace
}  // namespace kiln

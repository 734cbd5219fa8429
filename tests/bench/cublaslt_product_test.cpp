// Calls of cublasLt: against a recording stand-in, and descriptors against the real library where
// it is installed (it needs no GPU for them).
// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/host/cublaslt_product.hpp"

#include <cstring>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"

namespace kiln::peers {
namespace {

/// What a stand-in was told; one at a time.
struct Recorded {
  int living = 0;  // handles and descriptors
  std::map<int, std::uint64_t> operation;
  std::vector<std::map<int, std::uint64_t>> layouts;  // in the order made
  std::map<int, std::uint64_t> preference;
  std::vector<int> statuses = {0, 15, 0};  // of the heuristics that are found
  int find_status = 0;
  double alpha = 0;
  double beta = 0;
  std::uint64_t algorithm = 0;
  const void* first = nullptr;
  const void* second = nullptr;
};
Recorded* recorded = nullptr;

std::uint64_t number_in(const void* value, std::size_t bytes) {
  std::uint64_t number = 0;
  std::memcpy(&number, value, bytes);
  return number;
}

int make(void** object) {
  ++recorded->living;
  *object = recorded;
  return 0;
}

LtApi stand_in() {
  LtApi api;
  api.create = make;
  api.preference_create = make;
  api.operation_create = [](void** object, int, int) { return make(object); };
  api.layout_create = [](void** object, int, std::uint64_t, std::uint64_t, std::int64_t) {
    recorded->layouts.emplace_back();
    return make(object);
  };
  const auto destroy = [](void*) { return --recorded->living < 0 ? 7 : 0; };
  api.destroy = destroy;
  api.preference_destroy = destroy;
  api.operation_destroy = destroy;
  api.layout_destroy = destroy;
  api.operation_set = [](void*, int attribute, const void* value, std::size_t bytes) {
    recorded->operation[attribute] = number_in(value, bytes);
    return 0;
  };
  api.layout_set = [](void*, int attribute, const void* value, std::size_t bytes) {
    recorded->layouts.back()[attribute] = number_in(value, bytes);
    return 0;
  };
  api.preference_set = [](void*, int attribute, const void* value, std::size_t bytes) {
    recorded->preference[attribute] = number_in(value, bytes);
    return 0;
  };
  api.find_algorithms = [](void*, void*, void*, void*, void*, void*, void*, int wanted,
                           LtHeuristic* found, int* count) {
    *count = std::min(wanted, static_cast<int>(recorded->statuses.size()));
    for (int i = 0; i < *count; ++i) {
      found[i].status = recorded->statuses[static_cast<std::size_t>(i)];
      found[i].algorithm.data[0] = static_cast<std::uint64_t>(100 + i);
    }
    return recorded->find_status;
  };
  api.algorithm_get = [](const LtAlgorithm* algorithm, int attribute, void* value,
                         std::size_t bytes, std::size_t* written) {
    if (attribute == static_cast<int>(LtAlgorithmAttribute::cluster)) return 15;
    const auto number = static_cast<std::int32_t>(algorithm->data[0]) + attribute;
    std::memcpy(value, &number, bytes);
    *written = bytes;
    return 0;
  };
  api.multiply = [](void*, void*, const void* alpha, const void* a, void*, const void* b, void*,
                    const void* beta, const void*, void*, void*, void*,
                    const LtAlgorithm* algorithm, void*, std::size_t, void*) {
    recorded->alpha = *static_cast<const float*>(alpha);
    recorded->beta = *static_cast<const float*>(beta);
    recorded->algorithm = algorithm->data[0];
    recorded->first = a;
    recorded->second = b;
    return 0;
  };
  api.status_name = [](int status) {
    return status == 15 ? "CUBLAS_STATUS_NOT_SUPPORTED" : "CUBLAS_STATUS_OTHER";
  };
  return api;
}

class LtProductCalls : public testing::Test {
 protected:
  void SetUp() override { recorded = &record_; }
  void TearDown() override {
    EXPECT_EQ(record_.living, 0) << "handles and descriptors that were not destroyed";
    recorded = nullptr;
  }

  [[nodiscard]] std::uint64_t preference(LtPreferenceAttribute attribute) const {
    return record_.preference.at(static_cast<int>(attribute));
  }

  Recorded record_;
  LtApi api_ = stand_in();
  LtPlan plan_;
  LtPointers pointers_ = {reinterpret_cast<const void*>(0x10010),
                          reinterpret_cast<const void*>(0x20040), reinterpret_cast<void*>(0x30000),
                          reinterpret_cast<void*>(0x40000), 1U << 26U};
};

TEST_F(LtProductCalls, DescribeTheProduct) {
  plan_.transpose_first = LtTranspose::yes;
  const LtProduct product(api_, plan_, LtSums::exact, pointers_, 8);
  EXPECT_EQ(record_.operation, (std::map<int, std::uint64_t>{{3, 1}, {4, 0}}));
  EXPECT_EQ(preference(LtPreferenceAttribute::workspace_bytes), 1U << 26U);
  EXPECT_EQ(preference(LtPreferenceAttribute::alignment_a), 16U);
  EXPECT_EQ(preference(LtPreferenceAttribute::alignment_b), 64U);
  EXPECT_EQ(preference(LtPreferenceAttribute::alignment_c), 256U);
  EXPECT_EQ(preference(LtPreferenceAttribute::alignment_d), 256U);
  for (const auto& layout : record_.layouts) EXPECT_TRUE(layout.empty()) << "no batch";
}

TEST_F(LtProductCalls, AskForFastSumsOnlyWhereTheyAreWanted) {
  const LtProduct product(api_, plan_, LtSums::fast, pointers_, 8);
  EXPECT_EQ(record_.operation.at(25), 1U);
}

TEST_F(LtProductCalls, DescribeBatches) {
  plan_.batch = 4;
  plan_.first.batch_stride = 0;
  plan_.second.batch_stride = 100;
  plan_.result.batch_stride = 200;
  const LtProduct product(api_, plan_, LtSums::exact, pointers_, 8);
  ASSERT_EQ(record_.layouts.size(), 3U);
  EXPECT_EQ(record_.layouts[0], (std::map<int, std::uint64_t>{{5, 4}, {6, 0}}));
  EXPECT_EQ(record_.layouts[1], (std::map<int, std::uint64_t>{{5, 4}, {6, 100}}));
  EXPECT_EQ(record_.layouts[2], (std::map<int, std::uint64_t>{{5, 4}, {6, 200}}));
}

TEST_F(LtProductCalls, KeepUsableAlgorithmsInOrder) {
  const LtProduct product(api_, plan_, LtSums::exact, pointers_, 8);
  ASSERT_EQ(product.count(), 2);  // the second of three is not supported
  EXPECT_EQ(product.describe(1), "id 102, tile 103, stages 108, splits 104, cluster ?");
}

TEST_F(LtProductCalls, RunTheChosenAlgorithm) {
  const LtProduct product(api_, plan_, LtSums::exact, pointers_, 8);
  product.run(1, 2, 3, nullptr);
  EXPECT_EQ(record_.algorithm, 102U);
  EXPECT_EQ(record_.alpha, 2);
  EXPECT_EQ(record_.beta, 3);
  EXPECT_EQ(record_.first, pointers_.first);
  EXPECT_EQ(record_.second, pointers_.second);
}

std::string error_of(const LtApi& api, const LtPlan& plan) {
  try {
    const LtProduct product(api, plan, LtSums::exact, {}, 8);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(LtProductCalls, SayWhyThereIsNoAlgorithm) {
  record_.find_status = 15;
  EXPECT_EQ(error_of(api_, plan_), "cublasLt find_algorithms: CUBLAS_STATUS_NOT_SUPPORTED");
  record_.find_status = 0;
  record_.statuses = {15, 15};
  EXPECT_EQ(error_of(api_, plan_), "the heuristic found no algorithm");
}

// The real library checks the size of every attribute.
TEST(CublasLtLibrary, TakesTheDescriptors) {
  const LtApi* api = nullptr;
  try {
    api = &cublaslt();
  } catch (const DeviceError& error) {
    GTEST_SKIP() << error.what();
  }
  EXPECT_THAT(version_text(*api), testing::MatchesRegex("1[23]\\.[0-9]+\\.[0-9]+"));
  LtPlan plan;
  plan.batch = 3;
  for (LtMatrix* matrix : {&plan.first, &plan.second, &plan.result})
    *matrix = {LtType::e4m3, 64, 32, 64, 64 * 32, 1};
  const LtDescriptors descriptors(*api, plan, LtSums::fast,
                                  {nullptr, nullptr, nullptr, nullptr, 64});
  const std::int64_t too_wide = 0;
  EXPECT_NE(api->operation_set(descriptors.operation(),
                               static_cast<int>(LtOperationAttribute::transpose_a), &too_wide,
                               sizeof too_wide),
            0);
}

}  // namespace
}  // namespace kiln::peers

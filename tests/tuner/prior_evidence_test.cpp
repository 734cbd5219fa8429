// What the prior calls hopeless, held against the bests that were measured on a GPU and are part of
// the program.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/json.hpp"
#include "search/prior.hpp"
#include "search/space.hpp"
#include "templates/library.hpp"
#include "tests/reliability/size.hpp"
#include "wisdom/shipped.hpp"

namespace kiln {
namespace {

constexpr std::size_t kDrawn = 160;  // as many as the start of a session draws

Problem problem_of(const KernelSpec& spec, const BestRecord& best) {
  const Json json = Json::parse(best.problem_json);
  std::vector<std::pair<std::string, Value>> fields;
  for (const auto& [name, value] : json.items()) fields.emplace_back(name, value_from_json(value));
  return Problem::make(spec, fields);
}

TEST(PriorEvidence, NoBestThatWasMeasuredIsHopeless) {
  const std::size_t one_of = test::part_of_lists() > 1 ? 36 : 1;  // each costs a second
  std::size_t bests = 0;
  std::size_t drawn = 0;
  std::size_t kept = 0;
  for (const std::string& kernel : KernelLibrary().names()) {
    const KernelSpec spec = KernelLibrary().load(kernel);
    std::size_t number = 0;
    for (const BestRecord& best : shipped_bests(kernel)) {
      const std::size_t place = number++;
      if ((place + test::draw_of_the_commit()) % one_of != 0) continue;
      const Problem problem = problem_of(spec, best);
      const Space space = Space::build({spec, problem, best.device_info});
      const std::optional<std::size_t> index = space.index_of(best.config);
      if (!index) continue;  // of an earlier version of the spec
      Random random(1);
      std::vector<std::size_t> indices = {*index};
      while (indices.size() < kDrawn) indices.push_back(*space.sample(random));
      const Prior prior({spec, problem, best.device_info});
      const std::vector<std::size_t> left = hopeful(prior, space, indices, 0);
      EXPECT_EQ(left.front(), *index) << kernel << " " << problem.text();
      ++bests;
      drawn += indices.size();
      kept += left.size();
    }
  }
  EXPECT_GE(bests, 8u);
  EXPECT_LT(static_cast<double>(kept), 0.9 * static_cast<double>(drawn)) << "it is of some use";
  RecordProperty("kept_per_mille", static_cast<int>(1000 * kept / std::max<std::size_t>(1, drawn)));
}

}  // namespace
}  // namespace kiln

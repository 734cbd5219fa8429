// The model of the times: coordinates of configs, and what a Gaussian process makes of them.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <functional>
#include <set>

#include <gtest/gtest.h>

#include "search/model/coordinates.hpp"
#include "search/model/gaussian_process.hpp"
#include "search/model/model_search.hpp"
#include "search/random.hpp"
#include "search/recorded_space.hpp"

namespace kiln {
namespace {

Trial trial(const std::string& variant, std::vector<std::pair<std::string, Value>> values,
            double ns) {
  Trial out;
  out.config = {variant, std::move(values)};
  out.time_ns = ns;
  return out;
}

Value number(std::int64_t value) { return value; }

// All configs of x in 0..9 and y in 0..9.
Space square() {
  std::vector<Trial> trials;
  for (std::int64_t x = 0; x < 10; ++x) {
    for (std::int64_t y = 0; y < 10; ++y) {
      trials.push_back(trial("v", {{"x", number(x)}, {"y", number(y)}}, 1 + x));
    }
  }
  return recorded_space("square", trials).space;
}

TEST(Coordinates, PutValuesAtEvenStepsAndTextsApart) {
  const Space space =
      recorded_space("old", {trial("v", {{"a", number(1)}, {"b", std::string("p")}}, 1),
                             trial("v", {{"a", number(2)}, {"b", std::string("q")}}, 2),
                             trial("v", {{"a", number(64)}, {"b", std::string("r")}}, 3)})
          .space;
  const Coordinates coordinates(space);
  ASSERT_EQ(coordinates.dimensions(), 2u);
  EXPECT_TRUE(coordinates.is_ordered(0));
  EXPECT_FALSE(coordinates.is_ordered(1));
  EXPECT_EQ(coordinates.point(0)[0], 0);
  EXPECT_EQ(coordinates.point(1)[0], 0.5);
  EXPECT_EQ(coordinates.point(2)[0], 1);
  EXPECT_EQ(coordinates.squared_distance(coordinates.point(0), coordinates.point(1)), 1.25);
  EXPECT_EQ(coordinates.squared_distance(coordinates.point(0), coordinates.point(2)), 2);
}

TEST(Coordinates, AddTheAlignmentOfNumbersThatAreNoPowersOfTwo) {
  const Space space =
      recorded_space("old",
                     {trial("v", {{"a", number(16)}}, 1), trial("v", {{"a", number(32)}}, 2),
                      trial("v", {{"a", number(48)}}, 3), trial("v", {{"a", number(64)}}, 4)})
          .space;
  const Coordinates coordinates(space);
  ASSERT_EQ(coordinates.dimensions(), 2u);
  EXPECT_EQ(coordinates.point(0)[1], 0) << "16 = 2^4, the least";
  EXPECT_EQ(coordinates.point(1)[1], 0.5);
  EXPECT_EQ(coordinates.point(2)[1], 0) << "48 = 3 * 2^4";
  EXPECT_EQ(coordinates.point(3)[1], 1);
}

TEST(Coordinates, GiveVariantsADimensionAndAbsentTunablesNoPlace) {
  const Space space = recorded_space("old", {trial("v", {{"a", number(1)}, {"b", number(1)}}, 1),
                                             trial("v", {{"a", number(2)}, {"b", number(2)}}, 2),
                                             trial("w", {{"a", number(2)}}, 3)})
                          .space;
  const Coordinates coordinates(space);
  ASSERT_EQ(coordinates.dimensions(), 3u);
  EXPECT_EQ(coordinates.point(1)[1], coordinates.point(2)[1]) << "a means the same in both";
  EXPECT_EQ(coordinates.point(2)[2], Coordinates::kNowhere);
  EXPECT_EQ(coordinates.squared_distance(coordinates.point(1), coordinates.point(2)), 2)
      << "another variant, and b is not there";
}

TEST(GaussianKernel, LearnsWhichTunableDoesNotMatter) {
  const Space space = square();
  const Coordinates coordinates(space);
  Random random(1);
  Points places(2, 40);
  Eigen::VectorXd values(40);
  for (Eigen::Index i = 0; i < 40; ++i) {
    const std::vector<float> point = coordinates.point(*space.sample(random));
    places.col(i) = Eigen::Map<const Eigen::VectorXf>(point.data(), 2);
    values[i] = std::sin(5.0 * static_cast<double>(point[0]));
  }
  values.array() -= values.mean();
  const GaussianKernel fitted =
      fit_kernel(coordinates, places, values, GaussianKernel::initial(coordinates));
  EXPECT_GT(fitted.log_weights[0], fitted.log_weights[1] + 3);
}

TEST(GaussianProcess, AgreesWithTheFormulaInWhateverOrderThingsAreAdded) {
  const Space space = square();
  const Coordinates coordinates(space);
  GaussianKernel kernel = GaussianKernel::initial(coordinates);
  kernel.log_noise = std::log(0.01);
  GaussianProcess process(coordinates, kernel, 8, 8);
  const std::vector<std::size_t> points = {3, 27, 55, 90};
  const std::vector<std::size_t> candidates = {4, 60, 99};
  process.add_candidate(coordinates.point(candidates[0]));
  process.add_point(coordinates.point(points[0]));
  process.add_point(coordinates.point(points[1]));
  process.add_candidate(coordinates.point(33));
  process.add_candidate(coordinates.point(candidates[2]));
  process.remove_candidate(1);  // 99 takes its place
  process.add_point(coordinates.point(points[2]));
  process.add_candidate(coordinates.point(candidates[1]));
  process.add_point(coordinates.point(points[3]));
  ASSERT_EQ(process.candidates(), 3u);

  const auto covariance = [&](std::size_t a, std::size_t b) {
    const std::vector<float> one = coordinates.point(a);
    const std::vector<float> two = coordinates.point(b);
    const double r = std::sqrt(5.0 * std::exp(kernel.log_weights[0]) *
                               static_cast<double>(coordinates.squared_distance(one, two)));
    return (1 + r + r * r / 3) * std::exp(-r);
  };
  Eigen::Matrix4d among;
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      among(i, j) =
          covariance(points[static_cast<std::size_t>(i)], points[static_cast<std::size_t>(j)]) +
          (i == j ? 0.01 : 0.0);
    }
  }
  const Eigen::Vector4d values(1, -1, 0.5, -0.5);
  const Eigen::VectorXf means = process.means(values.cast<float>());
  const std::vector<std::size_t> order = {4, 99, 60};
  for (std::size_t c = 0; c < order.size(); ++c) {
    Eigen::Vector4d with;
    for (int i = 0; i < 4; ++i) with[i] = covariance(points[static_cast<std::size_t>(i)], order[c]);
    const Eigen::Vector4d solved = among.ldlt().solve(with);
    const auto at = static_cast<Eigen::Index>(c);
    EXPECT_NEAR(means[at], solved.dot(values), 1e-4);
    EXPECT_NEAR(process.variances()[at], 1 - solved.dot(with), 1e-4);
  }
}

// Proposes and learns 60 trials of the function over the square; the skill in the end.
double skill_with(const std::function<double(std::size_t)>& time_ns) {
  const Space space = square();
  const Coordinates coordinates(space);
  Random random(1);
  std::set<std::size_t> taken;
  ModelSearch model(space, coordinates, random,
                    [&](std::size_t index) { return taken.count(index) > 0; });
  const auto try_out = [&](std::size_t index) {
    taken.insert(index);
    model.learn(index, trial("v", {}, time_ns(index)));
  };
  for (const std::size_t index : {0u, 9u, 44u, 90u, 99u}) try_out(index);
  EXPECT_EQ(model.skill(), std::nullopt) << "nothing was predicted yet";
  for (int i = 0; i < 60; ++i) try_out(*model.propose(Choice::improvement));
  return model.skill().value();
}

TEST(ModelSearch, KnowsWhetherItsPredictionsComeTrue) {
  EXPECT_GT(skill_with([](std::size_t index) { return 100.0 + static_cast<double>(index); }), 0.9);
  Random noise(7);
  std::vector<double> times(100);
  for (double& time : times) time = 100 + 100 * noise.unit();
  EXPECT_LT(skill_with([&](std::size_t index) { return times[index]; }), 0.6);
}

// Of 80 proposals, those of the second of two variants, all of whose 200 configs take `slower`
// times as long as those of the first.
std::size_t proposals_of_the_second(double slower) {
  std::vector<Trial> trials;
  for (const char* variant : {"a", "b"}) {
    for (std::int64_t x = 0; x < 200; ++x) {
      const double ns = 1 + static_cast<double>(x);
      trials.push_back(trial(variant, {{"x", number(x)}}, ns));
    }
  }
  const Space space = recorded_space("two", trials).space;
  const Coordinates coordinates(space);
  Random random(1);
  std::set<std::size_t> taken;
  ModelSearch model(space, coordinates, random,
                    [&](std::size_t index) { return taken.count(index) > 0; });
  const auto try_out = [&](std::size_t index) {
    taken.insert(index);
    const double x = as_double(space.at(index).values.front().second);
    const double ns = 1000 + x;
    model.learn(index, trial("", {}, space.at(index).variant == "a" ? ns : slower * ns));
  };
  for (const std::size_t index : {0u, 100u, 200u, 300u}) try_out(index);
  std::size_t seconds = 0;
  for (int i = 0; i < 80; ++i) {
    const std::size_t index = *model.propose(Choice::fastest);
    if (space.at(index).variant == "b") ++seconds;
    try_out(index);
  }
  return seconds;
}

// The fastest predicted configs are all of the first.
TEST(ModelSearch, GivesEveryFourthProposalToTheVariantThatComesClose) {
  EXPECT_GE(proposals_of_the_second(1.1), 20U);
  EXPECT_LT(proposals_of_the_second(1.5), 10U) << "only where the model expects something";
}

}  // namespace
}  // namespace kiln

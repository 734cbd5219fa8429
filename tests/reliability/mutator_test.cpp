// Mutants are mistakes of the kernels, not of the language: a vendor's compiler takes them.
// SPDX-License-Identifier: Apache-2.0
#include "mutator.hpp"

#include <map>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "backends/backend.hpp"
#include "core/errors.hpp"
#include "core/launch_plan.hpp"
#include "core/setting.hpp"
#include "mutant_subjects.hpp"
#include "templates/library.hpp"
#include "templates/renderer.hpp"
#include "tests/backends/required.hpp"

namespace kiln {
namespace {

/// The first mutant of each kind, of the variants that a problem has.
std::map<std::string, Mutant> one_of_each_kind(const Subject& subject, const DeviceInfo& device) {
  const KernelSpec spec = KernelLibrary().load(subject.kernel);
  const Renderer renderer(spec);
  const Problem problem = Problem::parse(spec, subject.problems.front());
  std::map<std::string, Mutant> mutants;
  for (const Variant& variant : spec.variants) {
    const Config config = Setting(spec, problem, device).default_config(variant);
    if (!Setting(spec, problem, device).plan(config)) continue;
    for (Mutant& mutant : mutants_of(renderer.render({spec, problem, device}, config)))
      mutants.emplace(mutant.kind, std::move(mutant));
  }
  return mutants;
}

TEST(MutatorTest, WritesWhatNvrtcCompiles) {
  const DeviceInfo device = device_for_architecture("cuda", "sm_90a");
  std::unique_ptr<Compiler> compiler;
  try {
    compiler = make_backend("cuda")->open_compiler(device);
  } catch (const DeviceError& error) {
    KILN_SKIP_UNLESS_REQUIRED("nvrtc", error.what());
  }
  for (const Subject& subject : subjects("cuda")) {
    const std::map<std::string, Mutant> mutants = one_of_each_kind(subject, device);
    for (const std::string kind :
         {"bound", "barrier", "race", "stale", "nan", "input", "outside", "constant"}) {
      const auto found = mutants.find(kind);
      if (found == mutants.end()) continue;
      const Result<Binary> binary = compiler->compile(found->second.source);
      EXPECT_TRUE(binary) << subject.kernel << ", " << kind << ", " << found->second.what << ": "
                          << binary.failure().message;
    }
    for (const std::string kind : {"bound", "stale", "input", "outside"})
      EXPECT_EQ(mutants.count(kind), 1U) << subject.kernel << " has no mutant of the kind " << kind;
  }
}

}  // namespace
}  // namespace kiln

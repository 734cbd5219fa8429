// What tests ask of a built-in kernel: what its CPU loop computes, what it refuses and why, what it
// renders to.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "core/setting.hpp"
#include "templates/library.hpp"
#include "templates/reference.hpp"
#include "templates/renderer.hpp"
#include "tests/support/error_of.hpp"

namespace kiln::test {

inline HostArray array_of(DType type, const std::vector<std::int64_t>& shape,
                          const std::vector<double>& values) {
  HostArray array(type, shape);
  EXPECT_EQ(array.count(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) array.set(i, values[i]);
  return array;
}

inline HostArray array_of(DType type, const std::vector<double>& values) {
  return array_of(type, {static_cast<std::int64_t>(values.size())}, values);
}

inline std::vector<double> values_of(const HostArray& array) {
  std::vector<double> values;
  for (std::size_t i = 0; i < array.count(); ++i) values.push_back(array.get(i));
  return values;
}

/// Runs a kernel's CPU loop over `arrays`, whose outputs it writes.
inline void run_reference(const std::string& kernel, const std::string& problem_text,
                          std::map<std::string, HostArray>& arrays,
                          const std::map<std::string, double>& scalars = {}) {
  const KernelSpec spec = KernelLibrary().load(kernel);
  const Problem problem = Problem::parse(spec, problem_text);
  ReferenceCall call{problem, arrays, scalars};
  find_reference(spec.verify.reference)(call);
}

/// The same, and gives one output.
inline std::vector<double> compute(const std::string& kernel, const std::string& problem,
                                   std::map<std::string, HostArray> arrays,
                                   const std::string& output,
                                   const std::map<std::string, double>& scalars = {}) {
  run_reference(kernel, problem, arrays, scalars);
  return values_of(arrays.at(output));
}

/// Why the kernel does not take the problem; "accepted" if it does.
inline std::string refusal_of(const std::string& kernel, const std::string& problem) {
  const KernelSpec spec = KernelLibrary().load(kernel);
  return error_of<InputError>([&] { (void)Problem::parse(spec, problem); }, "accepted");
}

/// Why the config is not legal for the problem on an sm_90a; "legal" if it is.
inline std::string objection_to(const std::string& kernel, const std::string& problem,
                                const std::string& config) {
  const KernelSpec spec = KernelLibrary().load(kernel);
  const DeviceInfo device = device_for_architecture("cuda", "sm_90a");
  const Problem parsed = Problem::parse(spec, problem);
  const Setting setting(spec, parsed, device);
  const Status status = setting.check(setting.parse(config));
  return status ? "legal" : status.failure().message;
}

/// The sources of a kernel for an sm_90a.
class Rendered {
 public:
  explicit Rendered(const std::string& kernel)
      : spec_(KernelLibrary().load(kernel)), renderer_(spec_) {}

  std::string operator()(const std::string& problem_text, const std::string& config) const {
    const Problem problem = Problem::parse(spec_, problem_text);
    const Setting setting(spec_, problem, device_);
    return renderer_.render(setting, setting.parse(config)).text;
  }

 private:
  KernelSpec spec_;
  Renderer renderer_;
  DeviceInfo device_ = device_for_architecture("cuda", "sm_90a");
};

}  // namespace kiln::test

// What a Launcher and its kernels hold behind their handles.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <kiln/launcher.hpp>

#include "core/problem.hpp"
#include "db/lookup.hpp"
#include "launcher/src/databases.hpp"
#include "launcher/src/prepared_kernel.hpp"
#include "launcher/src/problem_table.hpp"
#include "launcher/src/request_recorder.hpp"
#include "launcher/src/runtime.hpp"
#include "templates/library.hpp"
#include "templates/renderer.hpp"

namespace kiln {

struct Launcher::Kernel::State {
  std::unique_ptr<PreparedKernel> kernel;
  Launcher::Match match;
  std::string problem;
  std::vector<Requirement> arguments;
  std::vector<Requirement> workspaces;
};

struct Launcher::State {
  explicit State(const Options& options);

  [[nodiscard]] Expected<MatchHandle> select(std::string_view kernel, std::string_view problem);
  [[nodiscard]] Expected<Kernel> prepare(std::string_view kernel, std::string_view problem);

  Options options;
  std::shared_ptr<Runtime> runtime;
  std::vector<Warning> warnings;

 private:
  /// A kernel's spec, templates and bests, read when it is first asked for.
  struct KernelEntry {
    std::shared_ptr<const KernelSpec> spec;
    Renderer renderer;
    std::span<const BestRecord> rows;  ///< in rows_
  };
  [[nodiscard]] Expected<const KernelEntry*> find_kernel(std::string_view kernel);
  [[nodiscard]] Expected<Problem> parse_problem(const KernelSpec& spec,
                                                std::string_view text) const;
  [[nodiscard]] Expected<kiln::Match> find_match(const KernelSpec& spec, const Problem& problem,
                                                 std::span<const BestRecord> rows) const;
  [[nodiscard]] Expected<std::shared_ptr<Kernel::State>> prepare_anew(std::string_view kernel,
                                                                      std::string_view problem);
  [[nodiscard]] Expected<std::unique_ptr<PreparedKernel>> make_kernel(const KernelEntry& entry,
                                                                      const Problem& problem,
                                                                      const kiln::Match& match);

  KernelLibrary library_;
  TunedRows rows_;
  RequestRecorder recorder_;

  std::mutex kernels_mutex_;                                 ///< over kernels_ and rows_
  std::map<std::string, KernelEntry, std::less<>> kernels_;  ///< only grows
  std::mutex prepare_mutex_;  ///< one kernel is rendered and compiled at a time

  ProblemTable<const Match> matches_;
  ProblemTable<Kernel::State> prepared_;
};

}  // namespace kiln

// What a Launcher and its kernels hold behind their handles.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kiln/launcher.hpp>

#include "core/problem.hpp"
#include "db/lookup.hpp"
#include "launcher/src/databases.hpp"
#include "launcher/src/prepared_kernel.hpp"
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
  std::atomic<std::uint64_t> last_used{0};  ///< the launcher's count of prepare() calls
};

struct Launcher::State {
  explicit State(const Options& options);

  [[nodiscard]] Expected<Match> select(std::string_view kernel, std::string_view problem);
  [[nodiscard]] Expected<Kernel> prepare(std::string_view kernel, std::string_view problem);

  Options options;
  std::shared_ptr<Runtime> runtime;
  std::vector<Warning> warnings;

 private:
  /// A kernel's spec and templates, read when it is first asked for.
  struct KernelEntry {
    std::shared_ptr<const KernelSpec> spec;
    Renderer renderer;
  };
  /// Kernel and problem as the application writes them; looked up without making strings.
  using Key = std::pair<std::string, std::string>;
  using KeyView = std::pair<std::string_view, std::string_view>;
  struct KeyLess {
    using is_transparent = void;
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return KeyView(a.first, a.second) < KeyView(b.first, b.second);
    }
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
  void forget_one();

  KernelLibrary library_;
  TunedRows rows_;

  std::mutex cold_mutex_;  ///< one selection or preparation of something new at a time
  std::map<std::string, KernelEntry, std::less<>> kernels_;

  std::shared_mutex warm_mutex_;  ///< the two maps of what was asked before
  std::map<Key, Match, KeyLess> matches_;
  std::map<Key, std::shared_ptr<Kernel::State>, KeyLess> prepared_;
  std::atomic<std::uint64_t> clock_{0};
};

}  // namespace kiln

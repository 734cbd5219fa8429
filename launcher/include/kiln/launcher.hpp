// kiln::Launcher: the right kernel for every problem, on the application's own stream or queue.
//
//   auto launcher = kiln::Launcher(kiln::Launcher::Options::on_opencl_queue(queue));
//   auto kernel = launcher.prepare("transpose", "rows=4096 cols=4096 dtype=f32").value();
//   kernel.launch(queue, {kiln::memory("in", in, bytes), kiln::memory("out", out, bytes)}).value();
//
// The launcher finds the config for a problem in the tuning database, compiles it (or takes it from
// the cache on disk) and launches it. It never tunes by itself: with Options::tune_on_miss the
// `kiln` program tunes in separate processes. It never synchronises. Calls return an Expected and
// do not throw; only value() throws. Selection never fails for lack of data: without a database,
// kernels run with their default configs.
//
// All classes here are handles: cheap to copy, safe to use from many threads. docs/launcher.md is
// the guide. C++17, standard library only.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kiln/arguments.hpp>
#include <kiln/expected.hpp>

#if defined(__GNUC__)
#define KILN_API __attribute__((visibility("default")))
#define KILN_HIDDEN __attribute__((visibility("hidden")))
#else
#define KILN_API
#define KILN_HIDDEN
#endif

namespace kiln {

class KILN_API Launcher {
 public:
  /// The application's own objects. Neither is owned; all must outlive the launcher and its
  /// kernels.
  struct Native {
    void* context = nullptr;  ///< CUcontext (null: the current one) or cl_context; HIP: unused
    void* device = nullptr;   ///< cl_device_id; others: unused
    void* queue = nullptr;    ///< CUstream or cudaStream_t, hipStream_t, cl_command_queue
  };

  /// Who provides the device memory that some configs need between their steps.
  enum class Workspace {
    /// The launcher. prepare() allocates it, and the first launch on each further queue. It is kept
    /// until the kernel is destroyed or forget_queue() is called.
    pooled,
    /// The application, which passes it to launch() by name. Kernel::workspaces() lists the sizes.
    caller,
  };

  /// Which compiled kernels of the cache may be used.
  enum class Toolkit {
    any,   ///< kernels of any compiler version: a warm cache needs no compiler on the machine
    same,  ///< only kernels of this machine's compiler: after an upgrade, all are compiled again
  };

  /// Whether the installed `kiln` program tunes problems without an exact match, in separate
  /// processes.
  enum class TuneOnMiss {
    never,
    /// select() and prepare() use the best known config. Once the problem is tuned, the next call
    /// sees the new best.
    background,
    /// The first select() or prepare() of a problem waits for its tuning.
    first_use,
  };

  /// What a kernel does for a problem without an exact match.
  enum class Untuned : int {
    /// prepare() compiles the config that the lookup chooses, if it has to. The choice is
    /// deterministic.
    wait = 0,
    /// Launches run a config that is compiled already, if there is one. A thread compiles the
    /// chosen config, and launches run it from then on.
    ready = 1,
    /// As `ready`. In addition, up to eight configs take turns on the application's own launches,
    /// timed by events on its queue (not in captures), and the fastest stays: for this process, and
    /// in the cache for later ones.
    race = 2,
  };

  /// How the application launches. Rows of the databases were timed in one way or the other, and
  /// the fastest config may differ.
  enum class Timing : int {
    /// Decided at each launch. A launch into a stream that is being captured runs the config of the
    /// row that was timed in a graph, if there is one. Any other launch runs that of the eager row.
    automatic = 0,
    eager = 1,  ///< rows of `kiln tune --timing eager`, the default, come first
    graph = 2,  ///< rows of `kiln tune --timing graph` come first
  };

  struct Options {
    // Where to run.
    std::string backend = "auto";  ///< "cuda", "hip", "opencl"; auto: the first that has a device
    int ordinal = 0;               ///< index of the device within the backend
    /// If set, the launcher runs on these objects: `ordinal` is ignored, `backend` must be named.
    std::optional<Native> native;

    // What to run.
    std::vector<std::string> databases;  ///< in order of preference; empty: the default places
    /// Whether the rows that are part of Kiln answer, after every database.
    bool use_shipped = true;
    std::vector<std::string> kernel_paths;  ///< folders of the application's own kernels
    /// Set it if the application always launches in one way: then a kernel has one config.
    Timing timing = Timing::automatic;
    /// File of `kiln db lock`, used in place of the databases, so that all ranks of a job choose
    /// alike; empty: $KILN_LOCK.
    std::string lock;
    /// Counts selections and launches: "1" prints one line on stderr when the program ends, "0"
    /// counts nothing, any other text is a file for `kiln coverage` and `kiln sweep --requested`;
    /// empty: $KILN_STATISTICS.
    std::string statistics;

    /// Results may differ in their last bits while configs take turns: each adds up in its own
    /// order.
    Untuned untuned = Untuned::wait;

    // Whether to tune untuned problems (docs/launcher.md).
    TuneOnMiss tune_on_miss = TuneOnMiss::never;
    double tune_seconds = 30;          ///< wall time of the session of one problem
    double tune_budget_seconds = 600;  ///< wall time of all sessions of this launcher
    /// The `kiln` program; empty: bin/kiln of the library's prefix, else the one in $PATH.
    std::string tuner;

    // How.
    Workspace workspace = Workspace::pooled;
    /// Folder of compiled kernels; empty: $KILN_CACHE, $XDG_CACHE_HOME/kiln or ~/.cache/kiln.
    std::string cache_folder;
    bool use_cache = true;  ///< false: compile in every process
    /// Size limit of the cache in bytes; 0: $KILN_CACHE_LIMIT or 1 GiB.
    std::uint64_t cache_bytes = 0;
    Toolkit toolkit = Toolkit::any;  ///< OpenCL binaries always need the driver that made them

    static Options on_device(std::string backend, int ordinal = 0) {
      Options options;
      options.backend = std::move(backend);
      options.ordinal = ordinal;
      return options;
    }
    /// `queue` is a cl_command_queue: its context and device are used.
    static Options on_opencl_queue(void* queue) { return on("opencl", {nullptr, nullptr, queue}); }
    /// `stream` is a CUstream or cudaStream_t; the calling thread's current context is used.
    static Options on_cuda_stream(void* stream) { return on("cuda", {nullptr, nullptr, stream}); }
    static Options on_hip_stream(void* stream) { return on("hip", {nullptr, nullptr, stream}); }

   private:
    static Options on(const char* backend, Native native) {
      Options options = on_device(backend);
      options.native = native;
      return options;
    }
  };

  /// How well the match fits the problem, the best grade first.
  enum class Grade : int {
    exact = 0,        ///< tuned for this problem on this device
    near_size = 1,    ///< the nearest problem tuned on this device
    same_arch = 2,    ///< the nearest problem tuned on another device of this architecture
    same_vendor = 3,  ///< the nearest problem tuned on another device of this vendor
    fallback = 4,     ///< "default": the spec's default config
  };

  /// What a lookup returns.
  struct Match {
    std::string config;  ///< "tile:tile_cols=32,pad=1"
    Grade grade = Grade::fallback;
    double distance = 0;  ///< log2 units between the problem and the tuned one; 0: exact or default
    std::string reason;   ///< one sentence
    bool stale = false;   ///< tuned under another driver, compiler or source
    /// There is only a row of the other timing; `reason` says so.
    bool other_timing = false;
  };
  /// A shared Match: never null, cheap to copy.
  using MatchHandle = std::shared_ptr<const Match>;

  /// A problem that does not stop the launcher.
  struct Warning {
    enum class Kind : int {
      database_missing = 1,   ///< no such file, or no place for a database
      database_unusable = 2,  ///< damaged, newer, of another program, not readable
      /// The folder cannot be used safely; kernels are compiled in every process.
      cache_unusable = 3,
      lock_unusable = 4,  ///< missing, damaged or edited: the databases are read instead
      lock_unfit = 5,     ///< holds nothing for this device: other grades or defaults are chosen
      tuning_unavailable = 6,    ///< tune_on_miss: no `kiln` program, no database, or a lock
      tuning_failed = 7,         ///< tune_on_miss: a session ended without a best
      tuning_budget_used = 8,    ///< tune_on_miss: tune_budget_seconds are over
      cache_limit_unusable = 9,  ///< $KILN_CACHE_LIMIT is not a size: 1 GiB is the limit
      statistics_unusable = 11,  ///< the file for calls cannot be written
    };
    Kind kind = Kind::database_missing;
    std::string message;
  };

  /// The state of tune_on_miss.
  struct Tuning {
    std::size_t waiting = 0;        ///< problems that wait, including the one being tuned
    std::size_t tuned = 0;          ///< problems that were tuned
    std::size_t failed = 0;         ///< problems that were given up
    double seconds = 0;             ///< used seconds of tune_budget_seconds
    std::vector<Warning> warnings;  ///< why problems were given up or not tuned
  };

  /// What this launcher did so far, by grade (index: static_cast<int>(Grade)). All 0 if nothing is
  /// counted.
  struct Statistics {
    bool counting = false;
    std::array<std::uint64_t, 5> selections{};  ///< calls of select() and prepare()
    std::array<std::uint64_t, 5> launches{};    ///< a launch into a capturing stream counts once
  };

  /// A compiled kernel for one problem, ready to launch.
  class KILN_API Kernel {
   public:
    /// Puts the kernel's steps on `queue`: a stream or command queue of the launcher's context, or
    /// null for the queue that the launcher was opened with. Returns at once. An error of the
    /// running kernel shows when you next wait for the queue. Arguments may come in any order.
    /// Allocates nothing once the kernel has run on that queue.
    Expected<void> launch(void* queue,
                          std::initializer_list<LaunchArgument> arguments) const noexcept {
      return launch(queue, arguments.begin(), arguments.size());
    }
    Expected<void> launch(void* queue, const LaunchArgument* arguments,
                          std::size_t count) const noexcept;

    /// Allocates everything that launches on `queue` need (workspaces, a program), so that even the
    /// first launch allocates nothing. Call it before you capture the stream into a CUDA graph,
    /// which forbids allocations. Otherwise the first launch does it.
    Expected<void> prepare_queue(void* queue) const noexcept;

    /// The config that launches run; with Options::untuned, the one that they run at the moment.
    /// The reference stays valid as long as the kernel.
    [[nodiscard]] const Match& match() const noexcept;
    /// Whether match() may still change: configs are being compiled or take turns.
    [[nodiscard]] bool is_settling() const noexcept;
    /// The match of a launch into a stream that is being captured. match() itself unless
    /// Options::timing is automatic.
    [[nodiscard]] const Match& captured_match() const noexcept;
    /// The problem with every field, e.g. "n=1000000 dtype=f32 op=sum".
    [[nodiscard]] const std::string& problem() const noexcept;
    /// Whether the binary came from the cache on disk, so that nothing was compiled.
    [[nodiscard]] bool from_cache() const noexcept;

    struct Requirement {
      std::string name;
      std::string dtype;      ///< "f32"
      std::size_t bytes = 0;  ///< least size of the memory; size of a scalar
      bool scalar = false;    ///< passed by value
      /// Workspace: must be all zero before the first launch; launches leave it zero.
      bool zeroed = false;
    };
    /// The arguments of launch(), in the order of the spec.
    [[nodiscard]] const std::vector<Requirement>& arguments() const noexcept;
    /// Device memory between steps; empty for most configs.
    [[nodiscard]] const std::vector<Requirement>& workspaces() const noexcept;

   private:
    friend class Launcher;
    struct KILN_HIDDEN State;
    explicit Kernel(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}
    std::shared_ptr<State> state_;
  };

  /// Opens the device and reads the databases. Fails only if the device is missing or an option
  /// makes no sense. A missing or damaged database is a warning.
  static Expected<Launcher> open(const Options& options) noexcept;
  /// The throwing twin: throws LaunchFailure.
  explicit Launcher(const Options& options) : Launcher(open(options).value()) {}

  [[nodiscard]] const std::vector<Warning>& warnings() const noexcept;
  /// "cuda:0 NVIDIA H200 (sm_90a)".
  [[nodiscard]] const std::string& device() const noexcept;

  /// Returns the config that would run. `problem` as on the command line:
  /// "m=4096 n=4096 k=64 dtype=f32". A second call with the same text hashes the text, searches a
  /// table and allocates nothing.
  Expected<MatchHandle> select(std::string_view kernel, std::string_view problem) const noexcept;

  /// Returns the kernel ready to launch: selected, rendered, compiled or read from the cache, and
  /// loaded. The same call again returns the same kernel without work. Deterministic: the launcher
  /// reads its databases once, when it opens.
  Expected<Kernel> prepare(std::string_view kernel, std::string_view problem) const noexcept;

  /// Releases everything that kernels keep for `queue` (workspaces, programs). Call it before you
  /// destroy the queue; otherwise it is kept as long as the kernels. No launch of Kiln on `queue`
  /// may still be running or be part of a captured graph, and no thread may launch there meanwhile.
  /// Launches on other queues go on. Frees device memory, which waits for the device and is
  /// forbidden during a capture. A later launch on `queue` allocates again. For a stream per thread
  /// (cudaStreamPerThread), only the calling thread's stream is meant. Null, the launcher's own
  /// queue, is refused.
  Expected<void> forget_queue(void* queue) const noexcept;

  /// Returns the counts of Options::statistics. Any thread may call it.
  [[nodiscard]] Expected<Statistics> statistics() const noexcept;

  /// Returns the state of tune_on_miss. Any thread may call it.
  [[nodiscard]] Expected<Tuning> tuning() const noexcept;
  /// Waits until no problem is left to tune. Returns false after `seconds`.
  Expected<bool> wait_for_tuning(double seconds) const noexcept;

 private:
  struct KILN_HIDDEN State;
  explicit Launcher(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

/// "exact", "near_size", "same_arch", "same_vendor", "default".
[[nodiscard]] constexpr const char* to_string(Launcher::Grade grade) noexcept {
  switch (grade) {
    case Launcher::Grade::exact:
      return "exact";
    case Launcher::Grade::near_size:
      return "near_size";
    case Launcher::Grade::same_arch:
      return "same_arch";
    case Launcher::Grade::same_vendor:
      return "same_vendor";
    case Launcher::Grade::fallback:
      return "default";
  }
  return "?";
}

}  // namespace kiln

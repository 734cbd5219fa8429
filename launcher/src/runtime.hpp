// Runtime: the device of a launcher, with its compilers, binaries and modules. Each is made once.
//
// A Launcher and its kernels share it. It lives until the last of them is destroyed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>

#include <kiln/launcher.hpp>

#include "backends/backend.hpp"
#include "backends/binary_cache.hpp"

namespace kiln {

class Runtime {
 public:
  /// Throws DeviceError, UsageError.
  explicit Runtime(const Launcher::Options& options);

  [[nodiscard]] const DeviceInfo& info() const { return device_->info(); }
  /// The device for lookups: without a compiler if this machine has none.
  [[nodiscard]] const DeviceInfo& info_for_lookup() const { return known_to_lookup_; }
  [[nodiscard]] const std::string& device_text() const { return device_text_; }
  /// Why there is no cache on disk, and why its limit is not the one of the environment; empty: no
  /// trouble.
  [[nodiscard]] const std::string& cache_trouble() const { return cache_trouble_; }
  [[nodiscard]] const std::string& cache_limit_trouble() const { return cache_limit_trouble_; }

  /// `queue`, or a stream per thread that null stands for: each thread's is a queue of its own.
  [[nodiscard]] void* named_queue(void* queue) const {
    return queue == nullptr ? own_stream_per_thread_ : queue;
  }

  /// Whether `queue` (null: the launcher's own) is being captured into a graph. Any thread.
  [[nodiscard]] bool is_capturing(void* queue) const { return device_->is_capturing(queue); }

  /// Null if the options exclude a cache.
  [[nodiscard]] const BinaryCache* cache() const { return cache_.get(); }

  [[nodiscard]] Result<std::unique_ptr<QueueTimer>> make_timer(void* queue);
  /// Lets the calling thread allocate and load while other threads capture streams.
  void work_beside_captures() { device_->work_beside_captures(); }

  /// Whether load() would compile nothing. Any thread.
  [[nodiscard]] bool has_binary(const Source& source);
  /// Compiles `source`, so that a later load() does not. Touches no device; other compiling goes on
  /// meanwhile. One thread at a time.
  [[nodiscard]] Status compile_ahead(const Source& source);

  /// A program on the device.
  struct Program {
    std::unique_ptr<Module> module;
    bool from_cache = false;  ///< nothing was compiled for it
    bool taken = false;       ///< a caller has it exclusively
  };
  /// Compiles (or finds) and loads `source`. Takes seconds the first time and no time later. Any
  /// thread may call it. The Runtime owns the program and keeps it until its own end.
  [[nodiscard]] Result<Program*> load(const Source& source);
  /// Like load(), but the caller has the program exclusively until release(): constants are part of
  /// the program's memory. A released program is given out again for the same queue only, so its
  /// earlier launches come first.
  [[nodiscard]] Result<Program*> take(const Source& source, void* queue);
  void release(Program* taken);
  /// Unloads the programs that were taken for `queue` and released.
  void forget_queue(void* queue);

  /// A Device is not thread-safe: hold this lock while you use it.
  [[nodiscard]] std::unique_lock<std::mutex> lock() { return std::unique_lock(device_mutex_); }
  /// Returns the device, set to `queue` (null: the launcher's own). Only under lock().
  [[nodiscard]] Device& on_queue(void* queue);

 private:
  [[nodiscard]] Result<Binary> compile(const Source& source);
  /// Under load_mutex_.
  [[nodiscard]] Status fill(Program& program, const Source& source, const std::string& key);
  [[nodiscard]] Result<std::unique_ptr<Module>> load_on_device(const Binary& binary);

  std::unique_ptr<Backend> backend_;
  std::mutex device_mutex_;
  std::unique_ptr<Device> device_;
  void* own_stream_per_thread_ = nullptr;  ///< null: the launcher's own queue is one queue
  DeviceInfo known_to_lookup_;
  std::string device_text_;

  const Launcher::Toolkit toolkit_;
  std::unique_ptr<BinaryCache> cache_;
  std::string cache_trouble_;
  std::string cache_limit_trouble_;

  std::mutex load_mutex_;                         ///< guards compiling and the list of programs
  std::unique_ptr<Compiler> compiler_;            ///< made when the first source must be compiled
  std::map<std::string, Binary> compiled_ahead_;  ///< by key; not loaded yet
  /// Key: source, queue and a number. Number 0 is shared; a program with another number has one
  /// user at a time.
  std::map<std::tuple<std::string, void*, std::size_t>, Program> programs_;

  std::unique_ptr<Compiler> compiler_ahead_;  ///< of compile_ahead()
};

}  // namespace kiln

// Runtime: the device of a launcher, with everything that costs time done once: compilers,
// binaries, modules.
//
// Shared by a Launcher and its kernels; lives until the last of them is gone.
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
#include "launcher/src/binary_cache.hpp"

namespace kiln {

class Runtime {
 public:
  /// Throws DeviceError, UsageError.
  explicit Runtime(const Launcher::Options& options);

  [[nodiscard]] const DeviceInfo& info() const { return device_->info(); }
  /// The same for lookups: without a compiler where there is none here.
  [[nodiscard]] const DeviceInfo& info_for_lookup() const { return known_to_lookup_; }
  [[nodiscard]] const std::string& device_text() const { return device_text_; }
  /// Why there is no cache on disk, or why its limit is not the one of the environment; empty: all
  /// is well.
  [[nodiscard]] const std::string& cache_trouble() const { return cache_trouble_; }
  [[nodiscard]] const std::string& cache_limit_trouble() const { return cache_limit_trouble_; }

  /// Null: none is wanted.
  [[nodiscard]] const BinaryCache* cache() const { return cache_.get(); }

  /// A program on the device.
  struct Program {
    std::unique_ptr<Module> module;
    bool from_cache = false;  ///< nothing was compiled for it
    bool taken = false;       ///< somebody has it for themselves
  };
  /// Compiles (or finds) and loads `source`. Takes seconds the first time, nothing later. Any
  /// thread. The Runtime owns the program, which lives as long.
  [[nodiscard]] Result<Program*> load(const Source& source);
  /// The same for a caller that needs the program for itself until release(): constants are part of
  /// its memory. Who takes a program that was released used it on the same queue before, so what is
  /// under way there comes first.
  [[nodiscard]] Result<Program*> take(const Source& source, void* queue);
  void release(Program* taken);
  /// Unloads the programs that were taken for `queue` and released.
  void forget_queue(void* queue);

  /// A device is no thread-safe object: hold this while using it.
  [[nodiscard]] std::unique_lock<std::mutex> lock() { return std::unique_lock(device_mutex_); }
  /// The device, on `queue` (null: the launcher's own). Only under lock().
  [[nodiscard]] Device& on_queue(void* queue);

 private:
  [[nodiscard]] Result<Binary> compile(const Source& source);
  /// Under load_mutex_.
  [[nodiscard]] Status fill(Program& program, const Source& source, const std::string& key);
  [[nodiscard]] Result<std::unique_ptr<Module>> load_on_device(const Binary& binary);

  std::unique_ptr<Backend> backend_;
  std::mutex device_mutex_;
  std::unique_ptr<Device> device_;
  DeviceInfo known_to_lookup_;
  std::string device_text_;

  const Launcher::Toolkit toolkit_;
  std::unique_ptr<BinaryCache> cache_;
  std::string cache_trouble_;
  std::string cache_limit_trouble_;

  std::mutex load_mutex_;               ///< compiling and the list of programs
  std::unique_ptr<Compiler> compiler_;  ///< made when something has to be compiled
  /// By source, queue, and a number: 0 is for everybody, others are for one at a time each.
  std::map<std::tuple<std::string, void*, std::size_t>, Program> programs_;
};

}  // namespace kiln

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
  [[nodiscard]] const std::string& cache_trouble() const { return cache_trouble_; }

  /// A program as a device holds it.
  struct Loaded {
    Module* module = nullptr;  ///< owned by the Runtime: lives as long
    bool from_cache = false;   ///< nothing was compiled for it
  };
  /// Which instance of a program: constants are part of a module's memory, so queues that run at
  /// the same time need their own. 0: the one for everybody.
  using Instance = std::uintptr_t;
  /// Compiles (or finds) and loads `source`. Takes seconds the first time, nothing later. Any
  /// thread.
  [[nodiscard]] Result<Loaded> load(const Source& source, Instance instance);

  /// A device is no thread-safe object: hold this while using it.
  [[nodiscard]] std::unique_lock<std::mutex> lock() { return std::unique_lock(device_mutex_); }
  /// The device, on `queue` (null: the launcher's own). Only under lock().
  [[nodiscard]] Device& on_queue(void* queue);

 private:
  [[nodiscard]] Result<Binary> compile(const Source& source);
  [[nodiscard]] Result<std::unique_ptr<Module>> load_on_device(const Binary& binary);

  std::unique_ptr<Backend> backend_;
  std::mutex device_mutex_;
  std::unique_ptr<Device> device_;
  DeviceInfo known_to_lookup_;
  std::string device_text_;

  const Launcher::Toolkit toolkit_;
  std::unique_ptr<BinaryCache> cache_;
  std::string cache_trouble_;

  std::mutex load_mutex_;               ///< compiling and the list of modules
  std::unique_ptr<Compiler> compiler_;  ///< made when something has to be compiled
  std::map<std::pair<std::string, Instance>, std::pair<std::unique_ptr<Module>, bool>> modules_;
};

}  // namespace kiln

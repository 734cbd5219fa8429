// An application with an OpenCL context of its own, as the launcher meets it: queues, memory, no
// Kiln types.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <CL/cl.h>

#include <kiln/launcher.hpp>

#include "tests/support/scratch_folder.hpp"

namespace kiln::test {

/// The first OpenCL device with a context; one for the whole program, as starting a compiler takes
/// a second.
class OpenClApplication {
 public:
  static OpenClApplication& instance();

  [[nodiscard]] cl_command_queue queue() const { return queue_; }
  /// The caller waits for it and releases it.
  [[nodiscard]] cl_command_queue make_queue() const;
  /// Until the queue has run dry. A test that launches ends with this or with a download.
  void wait();

  ~OpenClApplication();
  OpenClApplication(const OpenClApplication&) = delete;
  OpenClApplication& operator=(const OpenClApplication&) = delete;

  /// Memory holding `bytes` bytes; released when the program ends.
  [[nodiscard]] cl_mem allocate(std::size_t bytes);
  template <typename T>
  [[nodiscard]] cl_mem upload(const std::vector<T>& values) {
    const cl_mem memory = allocate(values.size() * sizeof(T));
    write(memory, values.data(), values.size() * sizeof(T));
    return memory;
  }
  /// Waits for `queue` and reads.
  template <typename T>
  [[nodiscard]] std::vector<T> download(cl_mem memory, std::size_t count,
                                        cl_command_queue queue = nullptr) {
    std::vector<T> values(count);
    read(memory, values.data(), count * sizeof(T), queue == nullptr ? queue_ : queue);
    return values;
  }

 private:
  OpenClApplication();
  void write(cl_mem memory, const void* from, std::size_t bytes);
  void read(cl_mem memory, void* to, std::size_t bytes, cl_command_queue queue);

  cl_device_id device_ = nullptr;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
};

/// A folder for databases and caches that goes with the test.
class LauncherFolder : public ScratchFolder {
 public:
  [[nodiscard]] std::string operator/(const char* name) const { return (path() / name).string(); }

  /// On the application's queue, with a cache and a database in this folder, the only rows.
  [[nodiscard]] Launcher::Options options() const {
    auto options = Launcher::Options::on_opencl_queue(OpenClApplication::instance().queue());
    options.databases = {*this / "kiln.db"};
    options.use_shipped = false;
    options.cache_folder = *this / "cache";
    return options;
  }
};

/// The text of an Expected's error, or "no error".
template <typename T>
std::string error_text(const Expected<T>& expected) {
  return expected ? "no error" : expected.error().message;
}

/// Small odd whole numbers, different at each index, so that sums are exact in any order.
template <typename T>
std::vector<T> odd_numbers(std::size_t count, unsigned seed = 1) {
  std::vector<T> values(count);
  for (T& value : values) {
    seed = seed * 1664525U + 1013904223U;
    value = static_cast<T>(static_cast<int>(seed >> 30U) * 2 - 3);
  }
  return values;
}

}  // namespace kiln::test

// BackgroundThread: one thread of low priority for work that no call of the application waits for.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

namespace kiln {

class BackgroundThread {
 public:
  /// `at_start` is the thread's first work. It starts with the first post().
  explicit BackgroundThread(std::function<void()> at_start);
  /// Drops the work that waits, and waits for what is being done, unless the thread itself destroys
  /// the object.
  ~BackgroundThread();
  BackgroundThread(const BackgroundThread&) = delete;
  BackgroundThread& operator=(const BackgroundThread&) = delete;

  /// Does `work` after all earlier work. `work` must not throw. If the system has no thread left,
  /// nothing is done. Any thread may call it, also the thread itself.
  void post(std::function<void()> work);

 private:
  struct Core;  // outlives the object while the thread runs
  std::shared_ptr<Core> core_;
};

}  // namespace kiln

// SPDX-License-Identifier: Apache-2.0
#include "launcher/src/background_thread.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace kiln {
namespace {

constexpr int kNiceness = 10;

}  // namespace

struct BackgroundThread::Core {
  std::function<void()> at_start;
  std::mutex mutex;  // guards everything below
  std::condition_variable changed;
  std::deque<std::function<void()>> waiting;
  bool stopping = false;
  std::thread thread;

  void run() {
    // On Linux the priority is the thread's own.
    (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), kNiceness);
    at_start();
    std::unique_lock held(mutex);
    while (true) {
      changed.wait(held, [this] { return stopping || !waiting.empty(); });
      if (stopping) return;
      std::function<void()> work = std::move(waiting.front());
      waiting.pop_front();
      held.unlock();
      work();
      work = nullptr;  // what it holds goes without the lock
      held.lock();
    }
  }
};

BackgroundThread::BackgroundThread(std::function<void()> at_start)
    : core_(std::make_shared<Core>()) {
  core_->at_start = std::move(at_start);
}

BackgroundThread::~BackgroundThread() {
  std::deque<std::function<void()>> dropped;
  std::thread thread;
  {
    const std::lock_guard held(core_->mutex);
    core_->stopping = true;
    dropped.swap(core_->waiting);
    thread.swap(core_->thread);
  }
  core_->changed.notify_all();
  if (!thread.joinable()) return;
  if (thread.get_id() == std::this_thread::get_id()) {
    thread.detach();
  } else {
    thread.join();
  }
}

void BackgroundThread::post(std::function<void()> work) {
  {
    const std::lock_guard held(core_->mutex);
    if (core_->stopping) return;
    if (!core_->thread.joinable()) {
      // The application's signals are handled by its own threads.
      sigset_t all;
      sigset_t before;
      ::sigfillset(&all);
      ::pthread_sigmask(SIG_SETMASK, &all, &before);
      try {
        core_->thread = std::thread([core = core_] { core->run(); });
      } catch (const std::system_error&) {
        // The work is not done.
      }
      ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
      if (!core_->thread.joinable()) return;
    }
    core_->waiting.push_back(std::move(work));
  }
  core_->changed.notify_all();
}

}  // namespace kiln

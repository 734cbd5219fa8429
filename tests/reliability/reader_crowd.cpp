// SPDX-License-Identifier: Apache-2.0
#include "tests/reliability/reader_crowd.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <new>
#include <stdexcept>
#include <thread>

namespace kiln::test {
namespace {

void note(CrowdReport& report, std::atomic<long>& counter, const std::string& text) {
  if (counter.fetch_add(1) == 0) {
    std::snprintf(report.first_error, sizeof report.first_error, "%s", text.c_str());
  }
}

[[noreturn]] void read_until_told(const std::filesystem::path& database,
                                  const ReaderCrowd::Judge& judge, std::chrono::milliseconds pause,
                                  CrowdReport& report) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  bool first = true;
  while (!report.stop) {
    try {
      if (const std::string fault = judge(Store(database, Store::Mode::read)); !fault.empty()) {
        note(report, report.mixed, fault);
      }
    } catch (const std::exception& error) {
      note(report, report.errors, error.what());
    }
    ++report.reads;
    if (first) {
      ++report.ready;
      first = false;
    }
    std::this_thread::sleep_for(pause);
  }
  ::_exit(0);
}

}  // namespace

ReaderCrowd::ReaderCrowd(std::size_t count, const std::filesystem::path& database,
                         const Judge& judge, std::chrono::milliseconds pause)
    : database_(database), judge_(judge), pause_(pause) {
  void* shared = ::mmap(nullptr, sizeof(CrowdReport), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) throw std::runtime_error("no shared memory");
  report_ = new (shared) CrowdReport;
  while (readers_.size() < count) readers_.push_back(start());
  while (report_->ready < static_cast<long>(count)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

ReaderCrowd::~ReaderCrowd() {
  finish();
  ::munmap(report_, sizeof(CrowdReport));
}

pid_t ReaderCrowd::start() const {
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("no process");
  if (child == 0) read_until_told(database_, judge_, pause_, *report_);
  return child;
}

void ReaderCrowd::replace(std::size_t index) {
  ::kill(readers_[index], SIGKILL);
  ::waitpid(readers_[index], nullptr, 0);
  readers_[index] = start();
}

const CrowdReport& ReaderCrowd::finish() {
  report_->stop = true;
  for (const pid_t reader : readers_) ::waitpid(reader, nullptr, 0);
  readers_.clear();
  return *report_;
}

}  // namespace kiln::test

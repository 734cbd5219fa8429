// Moves the bytes of a worker's frames without blocking, and words the reason of its death.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/workers/worker_process.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace kiln {
namespace {

constexpr std::size_t kReadBytes = 65536;
constexpr std::size_t kKeptOutput = 4096;  ///< bytes of output kept for the obituary
constexpr std::size_t kQuotedLines = 4;

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

int milliseconds_until(Clock::time_point when) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(when - Clock::now()).count();
  return static_cast<int>(std::clamp<long long>(left, 0, 3'600'000));
}

}  // namespace

void WorkerProcess::send(const Frame& frame) {
  if (!alive_) return;
  unsent_.push_back(to_wire(frame));
  write_some();
}

std::optional<Frame> WorkerProcess::receive() {
  if (received_.empty()) return std::nullopt;
  Frame frame = std::move(received_.front());
  received_.pop_front();
  return frame;
}

void WorkerProcess::kill() {
  child_.kill();
  alive_ = false;
}

std::string WorkerProcess::obituary() {
  const std::string ending = child_.wait();
  read_output();
  const std::string words = last_words();
  return "the worker died: " + ending + (words.empty() ? "" : "; it printed: " + words);
}

std::string WorkerProcess::last_words() const {
  std::size_t end = output_.find_last_not_of(" \n");
  if (end == std::string::npos) return {};
  std::size_t start = end + 1;
  for (std::size_t line = 0; line < kQuotedLines && start > 0; ++line) {
    const std::size_t newline = output_.rfind('\n', start - 1);
    start = newline == std::string::npos ? 0 : newline;
  }
  if (output_[start] == '\n') ++start;
  return output_.substr(start, end + 1 - start);
}

void WorkerProcess::write_some() {
  while (alive_ && !unsent_.empty()) {
    const std::vector<std::byte>& first = unsent_.front();
    const ssize_t put = ::send(child_.socket(), first.data() + sent_of_first_,
                               first.size() - sent_of_first_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (put < 0) {
      // What the worker said before it went is still to be read; read_some finds the end.
      if (!would_block()) unsent_.clear();
      return;
    }
    sent_of_first_ += static_cast<std::size_t>(put);
    if (sent_of_first_ == first.size()) {
      unsent_.pop_front();
      sent_of_first_ = 0;
    }
  }
}

void WorkerProcess::read_some() {
  std::array<std::byte, kReadBytes> bytes;
  while (alive_) {
    const ssize_t got = ::recv(child_.socket(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got < 0 && would_block()) break;
    if (got <= 0) {
      alive_ = false;
      break;
    }
    reader_.feed({bytes.data(), static_cast<std::size_t>(got)});
    while (auto frame = reader_.next()) received_.push_back(std::move(*frame));
    if (reader_.malformed()) kill();
  }
}

bool WorkerProcess::overdue() {
  if (!deadline_ || Clock::now() < *deadline_) return false;
  read_some();
  return alive_ && received_.empty();
}

void WorkerProcess::read_output() {
  std::array<char, kReadBytes> bytes;
  ssize_t got = 0;
  while ((got = ::read(child_.output(), bytes.data(), bytes.size())) > 0) {
    output_.append(bytes.data(), static_cast<std::size_t>(got));
    if (output_.size() > kKeptOutput) output_.erase(0, output_.size() - kKeptOutput);
  }
  output_ended_ = output_ended_ || got == 0;
}

void poll_workers(std::span<WorkerProcess* const> workers, Clock::time_point until) {
  std::vector<pollfd> polled;
  for (WorkerProcess* worker : workers) {
    if (!worker->alive_ || !worker->received_.empty()) return;  // there is news already
    if (worker->deadline_) until = std::min(until, *worker->deadline_);
    const short wanted = worker->unsent_.empty() ? POLLIN : POLLIN | POLLOUT;
    polled.push_back({worker->child_.socket(), wanted, 0});
    // An output that was closed has news for ever; poll() passes over negative numbers.
    polled.push_back({worker->output_ended_ ? -1 : worker->child_.output(), POLLIN, 0});
  }
  if (::poll(polled.data(), polled.size(), milliseconds_until(until)) <= 0) return;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    if (polled[2 * i].revents & POLLOUT) workers[i]->write_some();
    if (polled[2 * i].revents & (POLLIN | POLLHUP | POLLERR)) workers[i]->read_some();
    if (polled[2 * i + 1].revents != 0) workers[i]->read_output();
  }
}

}  // namespace kiln

// Starts a worker for each backend, and collects the devices that they find.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/devices.hpp"

#include <memory>

#include "backends/backend.hpp"
#include "tuner/workers/messages.hpp"
#include "tuner/workers/worker_host.hpp"
#include "tuner/workers/worker_process.hpp"

namespace kiln {
namespace {

constexpr std::chrono::seconds kListDeadline{30};

struct Question {
  BackendDevices answer;
  std::unique_ptr<WorkerProcess> worker;
};

/// Takes the worker's answer, if there is one; afterwards the worker is gone.
void take_answer(Question& question) {
  WorkerProcess& worker = *question.worker;
  std::string& reason = question.answer.unavailable;
  if (const auto frame = worker.receive()) {
    if (type_of(*frame) == DeviceList::kType) {
      question.answer.devices = decode<DeviceList>(*frame).devices;
      if (question.answer.devices.empty()) reason = "no device";
    } else {
      reason = decode<Unavailable>(*frame).reason;
    }
  } else if (!worker.alive()) {
    reason = worker.obituary();
  } else if (worker.overdue()) {
    reason = "the driver did not answer within " + std::to_string(kListDeadline.count()) + " s";
  } else {
    return;
  }
  if (std::string lack; !reason.empty() && !(lack = WorkerHost::lack_of_system(reason)).empty())
    reason = std::move(lack);
  question.worker.reset();
}

}  // namespace

std::vector<BackendDevices> list_devices(const std::filesystem::path& worker_program) {
  WorkerHost host(worker_program);
  std::vector<Question> questions;
  for (const std::string_view backend : backend_names()) {
    Question question;
    question.answer.backend = backend;
    question.worker =
        std::make_unique<WorkerProcess>(host.command({WorkerKind::list, std::string(backend), 0}));
    question.worker->set_deadline(Clock::now() + kListDeadline);
    questions.push_back(std::move(question));
  }
  while (true) {
    std::vector<WorkerProcess*> workers;
    for (const Question& question : questions) {
      if (question.worker) workers.push_back(question.worker.get());
    }
    if (workers.empty()) break;
    poll_workers(workers, Clock::now() + kListDeadline);
    for (Question& question : questions) {
      if (question.worker) take_answer(question);
    }
  }
  std::vector<BackendDevices> answers;
  for (Question& question : questions) answers.push_back(std::move(question.answer));
  return answers;
}

}  // namespace kiln

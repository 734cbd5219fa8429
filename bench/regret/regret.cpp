// SPDX-License-Identifier: Apache-2.0
#include "bench/regret/regret.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "core/errors.hpp"
#include "core/setting.hpp"
#include "core/statistics.hpp"
#include "templates/renderer.hpp"

namespace kiln::regret {
namespace {

constexpr double kMaxCpuOperations = 3e7;  // as in a session: above, the device computes references

void require(const std::optional<Failure>& failure) {
  if (failure) throw DeviceError(failure->message);
}

template <typename T>
T required(Result<T> result) {
  if (!result) throw DeviceError(result.failure().message);
  return std::move(*result);
}

}  // namespace

Comparison::Comparison(const std::string& backend, int ordinal, std::vector<BestRecord> tuned,
                       std::vector<BestRecord> fresh, Own own)
    : tuned_(std::move(tuned)),
      fresh_(std::move(fresh)),
      own_(own),
      engine_(open_device_engine(backend, ordinal)),
      backend_(make_backend(backend)),
      compiler_(backend_->open_compiler(engine_->device())) {}

std::vector<std::string> Comparison::warnings() const {
  const std::string here = identity_of(engine_->device());
  std::map<std::string, int> elsewhere;
  for (const auto* rows : {&tuned_, &fresh_}) {
    for (const BestRecord& best : *rows) {
      if (best.key.device != here) ++elsewhere[best.key.device];
    }
  }
  std::vector<std::string> warnings;
  for (const auto& [device, rows] : elsewhere) {
    warnings.push_back(
        fmt::format("{} rows were tuned on another device: {}, not {}", rows, device, here));
  }
  return warnings;
}

Regret Comparison::compare(const std::string& kernel, const std::string& problem_text) {
  Entry entry;
  entry.spec = library_.load(kernel);
  entry.problem = Problem::parse(entry.spec, problem_text);
  Regret regret;
  regret.kernel = entry.spec.name;
  regret.problem = entry.problem.short_text(entry.spec);
  try {
    const DeviceInfo& device = engine_->device();
    const Match looked_up = required(lookup({entry.spec, entry.problem, device}, tuned_));
    const Match fresh = required(lookup({entry.spec, entry.problem, device}, fresh_));
    regret.grade = looked_up.grade;
    if (looked_up.grade == Grade::exact && own_ == Own::refused) {
      throw InputError("it was tuned: no regret to measure (--short-sessions takes it)");
    }
    if (fresh.grade != Grade::exact) throw InputError("no fresh session found a best for it");
    entry.looked_up = looked_up.config;
    entry.fresh = fresh.config;
    regret.looked_up = looked_up.config.text();
    regret.fresh = fresh.config.text();
    if (entry.looked_up != entry.fresh) measure(entry, regret);
  } catch (const Error& error) {
    regret.error = error.what();
  }
  return regret;
}

Result<Binary> Comparison::compile(const Entry& entry, const Config& config) const {
  return compiler_->compile(
      Renderer(entry.spec).render({entry.spec, entry.problem, engine_->device()}, config));
}

void Comparison::measure(const Entry& entry, Regret& regret) {
  require(engine_
              ->prepare({entry.spec.path, entry.spec.text, entry.spec.files, entry.problem.fields(),
                         1, MeasureOptions(), kMaxCpuOperations})
              .failure);
  FinalsJob job;
  for (const Config* config : {&entry.looked_up, &entry.fresh}) {
    job.configs.push_back(*config);
    job.binaries.push_back(required(compile(entry, *config)));
  }
  const FinalsReport report = engine_->run_finals(job);
  require(report.failure);
  for (const std::string& wrong : report.wrong) {
    if (!wrong.empty()) throw DeviceError("a wrong result: " + wrong);
  }
  regret.looked_up_ns = median(report.samples.at(0));
  regret.fresh_ns = median(report.samples.at(1));
  regret.share = regret.looked_up_ns / regret.fresh_ns - 1;
}

}  // namespace kiln::regret

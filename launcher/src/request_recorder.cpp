// SPDX-License-Identifier: Apache-2.0
#include "launcher/src/request_recorder.hpp"

#include "lookup/requests.hpp"

namespace kiln {

RequestRecorder::RequestRecorder(const std::string& path)
    : path_(path.empty() ? requested_path() : std::optional<std::filesystem::path>(path)) {}

std::string RequestRecorder::trouble() const { return path_ ? requests_trouble(*path_) : ""; }

void RequestRecorder::note(const KernelSpec& spec, const Problem& problem, const DeviceInfo& device,
                           const Match& match) {
  if (!path_ || match.grade == Grade::exact) return;
  const std::string text = problem.text();
  {
    const std::lock_guard held(mutex_);
    if (!noted_.emplace(spec.name, text).second) return;
  }
  record_request(*path_, {spec.name, text, identity_of(device), std::string(name_of(match.grade))});
}

}  // namespace kiln

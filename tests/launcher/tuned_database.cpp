// SPDX-License-Identifier: Apache-2.0
#include "tests/launcher/tuned_database.hpp"

#include "backends/backend.hpp"
#include "db/store.hpp"

namespace kiln::test {

void store_best(const std::string& path, const Tuned& tuned,
                const std::function<void(DeviceInfo&)>& change) {
  DeviceInfo device = make_backend("opencl")->devices().at(0);
  change(device);
  Store store(path, Store::Mode::write);
  SessionRecord session;
  session.key = {.kernel = tuned.kernel,
                 .spec_hash = "",
                 .problem = tuned.problem,
                 .device = identity_of(device),
                 .driver = device.driver,
                 .compiler = device.compiler,
                 .tool_version = "",
                 .strategy = "",
                 .seed = 0,
                 .options = "",
                 .timing = tuned.timing};
  session.device_info = device;
  session.problem_json = tuned.problem_json;
  const SessionId id = store.begin_session(session);
  BestRecord best;
  best.config = tuned.config;
  best.verdict = Verdict::better;
  store.finish(id, SessionState::finished, 1, best);
}

}  // namespace kiln::test

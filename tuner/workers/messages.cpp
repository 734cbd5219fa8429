// SPDX-License-Identifier: Apache-2.0
#include "tuner/workers/messages.hpp"

#include "tuner/workers/message_codec.hpp"

namespace kiln {

std::string type_of(const Frame& frame) {
  const Json header = Json::parse(frame.header, nullptr, false);
  return header.is_object() && header.contains("type") && header["type"].is_string()
             ? header["type"]
             : "";
}

template Frame encode(const Unavailable&);
template Frame encode(const DeviceList&);
template Frame encode(const CompileJob&);
template Frame encode(const CompileReport&);
template Frame encode(const Opened&);
template Frame encode(const ProblemJob&);
template Frame encode(const ProblemReport&);
template Frame encode(const TrialJob&);
template Frame encode(const TrialReport&);
template Frame encode(const Checked&);
template Frame encode(const Doing&);
template Frame encode(const FinalsJob&);
template Frame encode(const FinalsReport&);

template Unavailable decode(const Frame&);
template DeviceList decode(const Frame&);
template CompileJob decode(const Frame&);
template CompileReport decode(const Frame&);
template Opened decode(const Frame&);
template ProblemJob decode(const Frame&);
template ProblemReport decode(const Frame&);
template TrialJob decode(const Frame&);
template TrialReport decode(const Frame&);
template Checked decode(const Frame&);
template Doing decode(const Frame&);
template FinalsJob decode(const Frame&);
template FinalsReport decode(const Frame&);

}  // namespace kiln

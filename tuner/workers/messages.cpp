// Encodes messages as JSON headers and blobs, and decodes them. Blobs hold binaries, one after the
// other; headers hold their lengths.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/workers/messages.hpp"

#include <nlohmann/json.hpp>

#include "core/field_json.hpp"
#include "core/json.hpp"

namespace kiln {
namespace {

Frame frame_of(const char* type, Json body) {
  body["type"] = type;
  // A compiler log or a path may hold bytes that are no UTF-8: they are replaced, never thrown
  // over.
  return {body.dump(-1, ' ', false, Json::error_handler_t::replace), {}};
}

/// Reads the header and hands it to `read`; every way in which it can be malformed is one error.
template <typename Read>
auto parse(const Frame& frame, Read&& read) {
  try {
    return read(Json::parse(frame.header));
  } catch (const nlohmann::json::exception& error) {
    throw InputError(std::string("malformed message between processes: ") + error.what());
  }
}

Json failure_json(const std::optional<Failure>& failure) {
  if (!failure) return nullptr;
  return {{"outcome", name_of(failure->outcome)},
          {"message", failure->message},
          {"sticky", failure->sticky}};
}

std::optional<Failure> failure_from(const Json& json) {
  if (json.is_null()) return std::nullopt;
  const auto outcome = parse_outcome(json.at("outcome").get<std::string>());
  if (!outcome) throw InputError("malformed message between processes: unknown outcome");
  return Failure{*outcome, json.at("message"), json.at("sticky")};
}

/// Appends the binary's bytes to the blob and returns the rest of it.
Json binary_json(const Binary& binary, std::vector<std::byte>& blob) {
  blob.insert(blob.end(), binary.data.begin(), binary.data.end());
  return {{"bytes", binary.data.size()},         {"log", binary.log},
          {"registers", binary.registers},       {"spill_bytes", binary.spill_bytes},
          {"shared_bytes", binary.shared_bytes}, {"symbols", binary.symbols}};
}

/// Takes the next binary from the blob at `offset`, which moves on.
Binary binary_from(const Json& json, const std::vector<std::byte>& blob, std::size_t& offset) {
  const std::size_t bytes = json.at("bytes");
  if (bytes > blob.size() - offset)
    throw InputError("malformed message between processes: blob too short");
  const auto start = blob.begin() + static_cast<std::ptrdiff_t>(offset);
  offset += bytes;
  return {{start, start + static_cast<std::ptrdiff_t>(bytes)},
          json.at("log"),
          json.at("registers"),
          json.at("spill_bytes"),
          json.at("shared_bytes"),
          json.at("symbols")};
}

template <typename T>
T from_fields(const Json& json) {
  T value;
  read_field(json, value);
  return value;
}

Json optional_number(const std::optional<double>& number) {
  return number ? Json(*number) : Json(nullptr);
}

std::optional<double> optional_number_from(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(json.get<double>());
}

}  // namespace

std::string type_of(const Frame& frame) {
  const Json header = Json::parse(frame.header, nullptr, false);
  return header.is_object() && header.contains("type") && header["type"].is_string()
             ? header["type"]
             : "";
}

// --- Any worker, listing worker ---

Frame encode(const Unavailable& message) {
  return frame_of("unavailable",
                  {{"reason", message.reason}, {"code", static_cast<int>(message.code)}});
}

Unavailable decode_unavailable(const Frame& frame) {
  return parse(frame, [](const Json& json) {
    return Unavailable{json.at("reason"), static_cast<ExitCode>(json.at("code").get<int>())};
  });
}

Frame encode(const DeviceList& message) {
  Json devices = Json::array();
  for (const DeviceInfo& device : message.devices) devices.push_back(to_json(device));
  return frame_of("devices", {{"devices", std::move(devices)}});
}

DeviceList decode_device_list(const Frame& frame) {
  return parse(frame, [](const Json& json) {
    DeviceList list;
    for (const Json& device : json.at("devices")) list.devices.push_back(device_from_json(device));
    return list;
  });
}

// --- Compile worker ---

Frame encode(const CompileJob& message) {
  return frame_of("compile", {{"target", to_json(message.target)},
                              {"source", to_json(message.source)},
                              {"use", static_cast<int>(message.use)}});
}

CompileJob decode_compile_job(const Frame& frame) {
  return parse(frame, [](const Json& json) {
    return CompileJob{device_from_json(json.at("target")), source_from_json(json.at("source")),
                      static_cast<BinaryUse>(json.at("use").get<int>())};
  });
}

Frame encode(const CompileReport& message) {
  std::vector<std::byte> blob;
  Json binary = binary_json(message.binary, blob);
  Frame frame = frame_of("compiled", {{"failure", failure_json(message.failure)},
                                      {"binary", std::move(binary)},
                                      {"compile_ns", message.compile_ns}});
  frame.blob = std::move(blob);
  return frame;
}

CompileReport decode_compile_report(const Frame& frame) {
  return parse(frame, [&](const Json& json) {
    std::size_t offset = 0;
    return CompileReport{failure_from(json.at("failure")),
                         binary_from(json.at("binary"), frame.blob, offset), json.at("compile_ns")};
  });
}

// --- Device worker ---

Frame encode(const Opened& message) {
  return frame_of("opened", {{"device", to_json(message.device)},
                             {"energy_unavailable", message.energy_unavailable},
                             {"graphs_unavailable", message.graphs_unavailable}});
}

Opened decode_opened(const Frame& frame) {
  return parse(frame, [](const Json& json) {
    return Opened{device_from_json(json.at("device")), json.at("energy_unavailable"),
                  json.at("graphs_unavailable")};
  });
}

Frame encode(const ProblemJob& message) {
  Json problem = Json::array();
  for (const auto& [name, value] : message.problem) problem.push_back({name, to_json(value)});
  return frame_of("problem", {{"spec_path", message.spec_path},
                              {"spec_text", message.spec_text},
                              {"spec_files", message.spec_files},
                              {"problem", std::move(problem)},
                              {"seed", message.seed},
                              {"measure", field_json(message.measure)},
                              {"max_cpu_operations", message.max_cpu_operations},
                              {"extra_operations", message.extra_operations}});
}

ProblemJob decode_problem_job(const Frame& frame) {
  return parse(frame, [](const Json& json) {
    ProblemJob job;
    job.spec_path = json.at("spec_path");
    job.spec_text = json.at("spec_text");
    job.spec_files = json.at("spec_files").get<std::map<std::string, std::string>>();
    for (const Json& field : json.at("problem"))
      job.problem.emplace_back(field.at(0), value_from_json(field.at(1)));
    job.seed = json.at("seed");
    read_field(json.at("measure"), job.measure);
    job.max_cpu_operations = json.at("max_cpu_operations");
    job.extra_operations = json.at("extra_operations");
    return job;
  });
}

Frame encode(const ProblemReport& message) {
  return frame_of("prepared",
                  {{"failure", failure_json(message.failure)}, {"reference", message.reference}});
}

ProblemReport decode_problem_report(const Frame& frame) {
  return parse(frame, [](const Json& json) {
    return ProblemReport{failure_from(json.at("failure")), json.at("reference")};
  });
}

Frame encode(const TrialJob& message) {
  std::vector<std::byte> blob;
  Json binary = binary_json(message.binary, blob);
  Frame frame = frame_of("trial", {{"config", to_json(message.config)},
                                   {"plan", to_json(message.plan)},
                                   {"binary", std::move(binary)},
                                   {"incumbent_ns", message.incumbent_ns},
                                   {"prove", message.purpose == TrialPurpose::prove}});
  frame.blob = std::move(blob);
  return frame;
}

TrialJob decode_trial_job(const Frame& frame) {
  return parse(frame, [&](const Json& json) {
    std::size_t offset = 0;
    return TrialJob{config_from_json(json.at("config")), plan_from_json(json.at("plan")),
                    binary_from(json.at("binary"), frame.blob, offset), json.at("incumbent_ns"),
                    json.at("prove").get<bool>() ? TrialPurpose::prove : TrialPurpose::measure};
  });
}

Frame encode(const TrialReport& message) {
  return frame_of("measured", {{"failure", failure_json(message.failure)},
                               {"proven", message.proven},
                               {"max_error", message.max_error},
                               {"samples", field_json(message.samples)},
                               {"energy_j", optional_number(message.energy_j)},
                               {"verify_ns", message.verify_ns},
                               {"measure_ns", message.measure_ns},
                               {"runs", message.runs}});
}

TrialReport decode_trial_report(const Frame& frame) {
  return parse(frame, [](const Json& json) {
    // An error that is no number or infinite travels as null.
    const Json& error = json.at("max_error");
    return TrialReport{failure_from(json.at("failure")),
                       json.at("proven"),
                       error.is_null() ? 0.0 : error.get<double>(),
                       from_fields<Samples>(json.at("samples")),
                       optional_number_from(json.at("energy_j")),
                       json.at("verify_ns"),
                       json.at("measure_ns"),
                       json.at("runs")};
  });
}

Frame encode(const Checked& message) { return frame_of("checked", {{"run_ns", message.run_ns}}); }

Checked decode_checked(const Frame& frame) {
  return parse(frame, [](const Json& json) { return Checked{json.at("run_ns")}; });
}

Frame encode(const FinalsJob& message) {
  std::vector<std::byte> blob;
  Json plans = Json::array();
  Json binaries = Json::array();
  for (const LaunchPlan& plan : message.plans) plans.push_back(to_json(plan));
  for (const Binary& binary : message.binaries) binaries.push_back(binary_json(binary, blob));
  Frame frame = frame_of("finals", {{"plans", std::move(plans)},
                                    {"binaries", std::move(binaries)},
                                    {"rounds", field_json(message.rounds)}});
  frame.blob = std::move(blob);
  return frame;
}

FinalsJob decode_finals_job(const Frame& frame) {
  return parse(frame, [&](const Json& json) {
    FinalsJob job;
    std::size_t offset = 0;
    for (const Json& plan : json.at("plans")) job.plans.push_back(plan_from_json(plan));
    for (const Json& binary : json.at("binaries"))
      job.binaries.push_back(binary_from(binary, frame.blob, offset));
    read_field(json.at("rounds"), job.rounds);
    return job;
  });
}

Frame encode(const FinalsReport& message) {
  return frame_of("finished", {{"failure", failure_json(message.failure)},
                               {"wrong", message.wrong},
                               {"samples", message.samples},
                               {"energy_j", message.energy_j}});
}

FinalsReport decode_finals_report(const Frame& frame) {
  return parse(frame, [](const Json& json) {
    return FinalsReport{failure_from(json.at("failure")),
                        json.at("wrong").get<std::vector<std::string>>(),
                        json.at("samples").get<std::vector<std::vector<double>>>(),
                        json.at("energy_j").get<std::vector<std::vector<double>>>()};
  });
}

}  // namespace kiln

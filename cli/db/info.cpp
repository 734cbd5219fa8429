// `kiln db info`: what the database file holds: kernels, devices, dates, and what is out of date.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/db/command.hpp"
#include "cli/device_choice.hpp"
#include "cli/json_output.hpp"
#include "cli/print.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "cli/text_layout.hpp"
#include "cli/units.hpp"
#include "core/errors.hpp"
#include "db/store.hpp"
#include "lookup/lookup.hpp"
#include "lookup/source_check.hpp"

namespace kiln::cli {
namespace {

/// Sessions that have something in common: a kernel, or a device.
struct Group {
  std::set<std::string> problems;
  std::int64_t sessions = 0;
  std::int64_t bests = 0;
  std::int64_t stale = 0;  ///< bests of another driver, compiler or source than is here now
  std::string first;       ///< UTC, when the first session started
  std::string last;

  void add(const SessionRecord& session) {
    problems.insert(session.key.problem);
    ++sessions;
    if (first.empty() || session.started_at < first) first = session.started_at;
    last = std::max(last, session.started_at);
  }
};

struct Content {
  Store::Info info;
  std::map<std::string, Group> kernels;
  std::map<std::string, Group> devices;  ///< by identity
};

/// Has the source changed since the best was measured? Kernels that are not here are not judged.
class KernelSources {
 public:
  explicit KernelSources(KernelLibrary library) : library_(std::move(library)) {}

  [[nodiscard]] bool has_changed(const BestRecord& best) {
    const auto [place, is_new] = kernels_.try_emplace(best.key.kernel);
    if (is_new) {
      try {
        place->second = std::make_unique<Kernel>(library_.load(best.key.kernel));
      } catch (const InputError&) {
        place->second.reset();
      }
    }
    return place->second != nullptr && !place->second->sources.change_in(best).empty();
  }

 private:
  struct Kernel {
    explicit Kernel(KernelSpec loaded) : spec(std::move(loaded)) {}
    KernelSpec spec;
    SourceCheck sources{spec};
  };
  KernelLibrary library_;
  std::map<std::string, std::unique_ptr<Kernel>> kernels_;
};

Content read_content(const CommonOptions& options) {
  const Store store(options.database, Store::Mode::read);
  Content content;
  content.info = store.info();
  for (const SessionRecord& session : store.sessions()) {
    content.kernels[session.key.kernel].add(session);
    content.devices[session.key.device].add(session);
  }
  KernelSources sources(options.library());
  std::map<std::string, DeviceInfo> here;  // by identity
  for (const BestRecord& best : store.bests()) {
    const auto [device, is_new] = here.try_emplace(best.key.device);
    if (is_new) device->second = as_here(best.device_info);
    const bool is_stale = !changes_since(best, device->second).empty() || sources.has_changed(best);
    for (Group* group : {&content.kernels[best.key.kernel], &content.devices[best.key.device]}) {
      ++group->bests;
      group->stale += is_stale ? 1 : 0;
    }
  }
  return content;
}

Json groups_json(const std::map<std::string, Group>& groups) {
  Json json = Json::array();
  for (const auto& [name, group] : groups) {
    json.push_back({{"name", name},
                    {"problems", group.problems.size()},
                    {"sessions", group.sessions},
                    {"bests", group.bests},
                    {"stale", group.stale},
                    {"first_started_at", group.first},
                    {"last_started_at", group.last}});
  }
  return json;
}

Json info_json(const Content& content) {
  const Store::Info& info = content.info;
  return {{"path", info.path},
          {"schema_version", info.schema_version},
          {"bytes", info.bytes},
          {"sessions", info.sessions},
          {"trials", info.trials},
          {"failures", info.failures},
          {"bests", info.bests},
          {"devices", info.devices},
          {"by_kernel", groups_json(content.kernels)},
          {"by_device", groups_json(content.devices)}};
}

void print_groups(const std::string& noun, const std::map<std::string, Group>& groups) {
  using Align = Table::Align;
  Table table({{noun},
               {"problems", Align::right},
               {"sessions", Align::right},
               {"bests", Align::right},
               {"stale", Align::right},
               {"first"},
               {"last"}});
  constexpr std::size_t kDate = 10;  // of "2026-11-26T08:00:00Z"
  for (const auto& [name, group] : groups) {
    table.add_row({name, std::to_string(group.problems.size()), std::to_string(group.sessions),
                   std::to_string(group.bests), std::to_string(group.stale),
                   group.first.substr(0, kDate), group.last.substr(0, kDate)});
  }
  if (!table.empty()) print_shown("\n{}", table.text(output_width()));
}

void print_db_info_text(const Content& content) {
  const Store::Info& info = content.info;
  print_shown(
      "{}",
      paragraph(fmt::format("{}: schema {}, {}, {}, {} ({} failed), {}", info.path,
                            info.schema_version, pretty_bytes(static_cast<double>(info.bytes)),
                            counted(info.sessions, "session"), counted(info.trials, "trial"),
                            info.failures, counted(info.bests, "best")),
                output_width()));
  print_groups("kernel", content.kernels);
  print_groups("device", content.devices);
  std::int64_t stale = 0;
  for (const auto& [name, group] : content.kernels) stale += group.stale;
  if (stale == 0) return;
  print_shown("\n{}", paragraph(fmt::format("{} measured with another driver, compiler or source: "
                                            "`kiln best` says so, and `kiln tune` measures anew",
                                            stale == 1 ? "1 best was"
                                                       : fmt::format("{} bests were", stale)),
                                output_width()));
}

ExitCode run_db_info(const CommonOptions& options) {
  const Content content = read_content(options);
  if (options.json) {
    print_shown("{}", json_output(info_json(content)));
  } else {
    print_db_info_text(content);
  }
  return ExitCode::ok;
}

}  // namespace

void add_db_info(CLI::App& db, Work& work) {
  CLI::App* command =
      db.add_subcommand("info", "What the file holds: kernels, devices, dates, stale bests");
  auto options = std::make_shared<CommonOptions>();
  add_kernel_path_option(*command, *options);
  add_reading_options(*command, options, work, run_db_info);
}

}  // namespace kiln::cli

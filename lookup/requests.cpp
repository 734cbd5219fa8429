// SPDX-License-Identifier: Apache-2.0
#include "lookup/requests.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>

#include <nlohmann/json.hpp>

#include "core/json_line.hpp"
#include "core/utc_time.hpp"
#include "db/rows.hpp"
#include "db/server_place.hpp"

namespace kiln {
namespace fs = std::filesystem;
namespace {

using Key = std::tuple<std::string, std::string, std::string>;  // kernel, problem, device

struct Seen {
  std::int64_t count = 0;
  std::string grade;
};

class RequestsReader {
 public:
  void read(const Json& json) {
    const JsonLine line(json);
    const Key key{line.text("kernel"), line.text("problem"), line.text("device")};
    if (line.has("tuned_at")) {
      seen_.erase(key);
      return;
    }
    Seen& seen = seen_[key];
    seen.grade = line.text("grade");
    ++seen.count;
  }

  [[nodiscard]] std::vector<Request> open() const {
    std::vector<Request> list;
    for (const auto& [key, seen] : seen_) {
      list.push_back(
          {std::get<0>(key), std::get<1>(key), std::get<2>(key), seen.grade, seen.count});
    }
    std::stable_sort(list.begin(), list.end(),
                     [](const Request& a, const Request& b) { return a.count > b.count; });
    return list;
  }

 private:
  std::map<Key, Seen> seen_;
};

}  // namespace

fs::path default_requests_path() {
  fs::path database = default_database_path();
  if (names_server(database)) database = default_database_file();
  return database.empty() ? fs::path() : database.parent_path() / "requests.jsonl";
}

std::optional<fs::path> requested_path() {
  const char* value = std::getenv("KILN_RECORD_REQUESTS");
  const std::string text = value == nullptr ? "" : value;
  if (text.empty() || text == "0") return std::nullopt;
  return text == "1" ? default_requests_path() : fs::path(text);
}

std::string requests_trouble(const fs::path& path) {
  if (path.empty()) {
    return "there is no place for requests: none of KILN_DB, XDG_DATA_HOME and HOME is set";
  }
  return json_lines_trouble(path);
}

bool record_request(const fs::path& path, const Request& request) noexcept {
  return append_json_line(path, {{"kernel", request.kernel},
                                 {"problem", request.problem},
                                 {"device", request.device},
                                 {"grade", request.grade},
                                 {"asked_at", utc_now()}});
}

bool retire_request(const fs::path& path, const Request& request) noexcept {
  return append_json_line(path, {{"kernel", request.kernel},
                                 {"problem", request.problem},
                                 {"device", request.device},
                                 {"tuned_at", utc_now()}});
}

RequestList read_requests(std::string_view text, const std::string& file) {
  RequestsReader reader;
  RequestList list;
  list.bad = read_json_lines(text, file, [&](const Json& json) { reader.read(json); });
  list.open = reader.open();
  return list;
}

}  // namespace kiln

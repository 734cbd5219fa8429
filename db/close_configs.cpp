// SPDX-License-Identifier: Apache-2.0
#include "db/close_configs.hpp"

#include <algorithm>
#include <optional>

#include <nlohmann/json.hpp>

#include "core/json.hpp"

namespace kiln {
namespace {

std::vector<const TrialRecord*> by_time(const std::vector<TrialRecord>& trials) {
  std::vector<const TrialRecord*> ordered;
  for (const TrialRecord& record : trials) {
    if (record.trial.ok() && record.trial.time_ns > 0) ordered.push_back(&record);
  }
  std::sort(ordered.begin(), ordered.end(), [](const auto* a, const auto* b) {
    return a->trial.time_ns != b->trial.time_ns ? a->trial.time_ns < b->trial.time_ns
                                                : a->sequence < b->sequence;
  });
  return ordered;
}

/// What one entry of a list says.
struct Entry {
  std::optional<std::string> config;
  std::optional<double> median_ns;
  std::optional<double> slowdown;
  std::int64_t registers = -1;
  std::int64_t shared_bytes = -1;
};

/// The lists of a row's evidence, read in one pass that builds nothing of the rest: samples and
/// origins are most of it. No lists at all when the evidence is no JSON.
class EvidenceLists : public Json::json_sax_t {
 public:
  explicit EvidenceLists(const std::string& evidence) {
    if (!Json::sax_parse(evidence, this)) finalists_ = close_ = first_ = {};
  }

  [[nodiscard]] const std::vector<Entry>& finalists() const { return finalists_; }
  [[nodiscard]] const std::vector<Entry>& close() const { return close_; }
  [[nodiscard]] const std::vector<Entry>& first() const { return first_; }

  bool key(string_t& name) override {
    key_ = name;
    if (depth_ == kInEvidence) list_ = list_named(name);
    return true;
  }
  bool start_object(std::size_t /*elements*/) override {
    if (++depth_ == kInEntry && in_list_ && list_->size() < kMaxListed) {
      entry_ = &list_->emplace_back();
    }
    return true;
  }
  bool start_array(std::size_t /*elements*/) override {
    if (++depth_ == kInList) in_list_ = list_ != nullptr;
    return true;
  }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }

  bool string(string_t& value) override {
    if (is_of_entry() && key_ == "config") entry_->config = value;
    return true;
  }
  bool number_integer(number_integer_t value) override {
    return number(static_cast<double>(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    constexpr number_unsigned_t kMost = 1 << 30;
    if (is_of_entry() && value <= kMost) {
      if (key_ == "registers") entry_->registers = static_cast<std::int64_t>(value);
      if (key_ == "shared_bytes") entry_->shared_bytes = static_cast<std::int64_t>(value);
    }
    return number(static_cast<double>(value));
  }
  bool number_float(number_float_t value, const string_t& /*text*/) override {
    return number(value);
  }

  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool binary(binary_t& /*value*/) override { return true; }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return false;
  }

 private:
  // {"finalists": [{"config": ...}]}: so many brackets are open.
  static constexpr int kInEvidence = 1;
  static constexpr int kInList = 2;
  static constexpr int kInEntry = 3;

  std::vector<Entry>* list_named(const std::string& name) {
    if (name == "finalists") return &finalists_;
    if (name == "close") return &close_;
    return name == "first" ? &first_ : nullptr;
  }
  [[nodiscard]] bool is_of_entry() const { return entry_ != nullptr && depth_ == kInEntry; }
  bool number(double value) {
    if (is_of_entry() && key_ == "median_ns") entry_->median_ns = value;
    if (is_of_entry() && key_ == "slowdown") entry_->slowdown = value;
    return true;
  }
  bool leave() {
    --depth_;
    if (depth_ < kInEntry) entry_ = nullptr;
    if (depth_ < kInList) in_list_ = false;
    return true;
  }

  std::vector<Entry> finalists_, close_, first_;
  std::vector<Entry>* list_ = nullptr;  ///< of the key of the evidence that was read last
  bool in_list_ = false;
  Entry* entry_ = nullptr;  ///< the entry of *list_ that is being read
  int depth_ = 0;
  std::string key_;
};

// A config that is named twice keeps its first slowdown.
void add(std::vector<CloseConfig>& list, const Entry& entry, std::optional<double> time,
         double unit) {
  if (!entry.config || !time || unit <= 0) return;
  auto known = std::find_if(list.begin(), list.end(), [&](const CloseConfig& other) {
    return other.config == *entry.config;
  });
  if (known == list.end()) {
    known = list.insert(list.end(), {*entry.config, std::max(1.0, *time / unit)});
  }
  known->registers = std::max(known->registers, entry.registers);
  known->shared_bytes = std::max(known->shared_bytes, entry.shared_bytes);
}

std::vector<CloseConfig> close_in(const BestRecord& best, const EvidenceLists& lists) {
  std::vector<CloseConfig> list = {{best.config.text(), 1}};
  // The finals were measured in turns: their medians compare better than those of the search.
  for (const Entry& entry : lists.finalists()) add(list, entry, entry.median_ns, best.time_ns);
  for (const Entry& entry : lists.close()) add(list, entry, entry.slowdown, 1);
  return list;
}

}  // namespace

std::vector<const TrialRecord*> close_trials(const std::vector<TrialRecord>& trials) {
  std::vector<const TrialRecord*> close;
  for (const TrialRecord* record : by_time(trials)) {
    if (close.size() == kMaxClose) break;
    if (!close.empty() && record->trial.time_ns > kCloseFactor * close.front()->trial.time_ns)
      break;
    close.push_back(record);
  }
  return close;
}

void add_close_configs(Evidence& evidence, const std::vector<TrialRecord>& trials) {
  evidence.close.emplace();
  evidence.first.emplace();
  const std::vector<const TrialRecord*> ordered = by_time(trials);
  const std::size_t closest = close_trials(trials).size();
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    if (i >= closest && ordered[i]->sequence > kFirstTrials) continue;
    const Trial& trial = ordered[i]->trial;
    (i < closest ? evidence.close : evidence.first)
        ->push_back({trial.config.text(), trial.time_ns / ordered.front()->trial.time_ns,
                     trial.registers, trial.shared_bytes});
  }
}

std::vector<CloseConfig> close_configs(const BestRecord& best) {
  return close_in(best, EvidenceLists(best.evidence));
}

std::vector<CloseConfig> known_configs(const BestRecord& best) {
  const EvidenceLists lists(best.evidence);
  std::vector<CloseConfig> list = close_in(best, lists);
  for (const Entry& entry : lists.first()) add(list, entry, entry.slowdown, 1);
  return list;
}

}  // namespace kiln

// SPDX-License-Identifier: Apache-2.0
#include "blas/recording.hpp"

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backends/cuda/cuda_api.hpp"
#include "blas/driver.hpp"

namespace kiln::blas {
namespace {

// Each of the first calls, without the very first, and one in so many later.
constexpr std::uint64_t kFirstSampled = 8;
constexpr std::uint64_t kSampledOneIn = 16;

std::string program_of_this_process() {
  std::array<char, 4096> path{};
  const auto length = ::readlink("/proc/self/exe", path.data(), path.size());
  return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : "";
}

/// The cuBLAS that belongs to a library of the family: tuning loads it and finds cublasLt by it.
std::string cublas_beside(std::string path) {
  constexpr std::string_view kLt = "libcublasLt.so";
  const std::size_t at = path.rfind(kLt);
  if (at != std::string::npos) path.replace(at, kLt.size(), "libcublas.so");
  return path;
}

}  // namespace

Recording::Sample* Recording::begin(ProductEntry& entry, void* context, void* stream) noexcept {
  const std::uint64_t call = entry.calls.fetch_add(1, std::memory_order_relaxed);
  if (call == 0 || (call > kFirstSampled && call % kSampledOneIn != 0)) return nullptr;
  const StreamApi& api = cuda().stream;
  int capturing = 1;
  if (api.is_capturing == nullptr || api.is_capturing(stream, &capturing) != 0 || capturing != 0)
    return nullptr;
  Sample& sample = samples_[next_.fetch_add(1, std::memory_order_relaxed) % samples_.size()];
  Sample::State free = Sample::State::free;
  if (!sample.state.compare_exchange_strong(free, Sample::State::taken)) return nullptr;
  const bool is_new = sample.from == nullptr;
  const bool has_events =
      is_new ? api.event_create(&sample.from, 0) == 0 && api.event_create(&sample.to, 0) == 0
             : sample.context == context;
  if (is_new) sample.context = context;
  sample.entry = &entry;
  if (has_events && api.event_record(sample.from, stream) == 0) return &sample;
  sample.state = Sample::State::free;
  return nullptr;
}

void Recording::end(Sample* sample, void* stream) noexcept {
  if (sample == nullptr) return;
  const bool ended = cuda().stream.event_record(sample->to, stream) == 0;
  sample->state = ended ? Sample::State::ended : Sample::State::free;
}

void Recording::count_other(const char* function) noexcept {
  if (!is_on()) return;
  for (Other& other : others_) {
    const char* known = nullptr;
    if (other.function.compare_exchange_strong(known, function) || known == function) {
      other.calls.fetch_add(1, std::memory_order_relaxed);
      return;
    }
  }
}

void Recording::harvest() {
  const DriverCalls& calls = driver();
  if (calls.event_query == nullptr) return;
  for (Sample& sample : samples_) {
    if (sample.state.load() != Sample::State::ended) continue;
    if (calls.event_query(sample.to) != 0) continue;
    float ms = 0;
    if (cuda().stream.event_elapsed(&ms, sample.from, sample.to) == 0) {
      sample.entry->sampled.fetch_add(1);
      sample.entry->sampled_ns.fetch_add(static_cast<std::uint64_t>(ms * 1e6F));
    }
    sample.state = Sample::State::free;
  }
}

void Recording::write(ProductTable& table, const std::string& device) {
  if (!is_on()) return;
  nlohmann::ordered_json json;
  json["kiln_blas_record"] = 1;
  json["program"] = program_of_this_process();
  json["device"] = device;
  json["seconds"] =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  json["calls"] = nlohmann::ordered_json::array();
  table.for_each([&](ProductEntry& entry) {
    const std::uint64_t sampled = entry.sampled;
    const char* function = entry.function;
    json["calls"].push_back({{"function", function != nullptr ? function : ""},
                             {"library", entry.library->release},
                             {"library_path", cublas_beside(entry.library->path)},
                             {"problem", problem_text(entry.product)},
                             {"calls", entry.calls.load()},
                             {"taken_over", entry.taken_over.load()},
                             {"sampled", sampled},
                             {"gpu_ns", sampled > 0 ? static_cast<double>(entry.sampled_ns) /
                                                          static_cast<double>(sampled)
                                                    : 0.0}});
  });
  json["not_understood"] = nlohmann::ordered_json::object();
  for (const Other& other : others_) {
    if (const char* function = other.function)
      json["not_understood"][function] = other.calls.load();
  }
  const std::string path = fmt::format("{}.{}", file_, ::getpid());
  const std::string half = path + ".new";
  {
    std::ofstream out(half);
    out << json.dump(1) << "\n";
    if (!out.flush()) return;
  }
  (void)std::rename(half.c_str(), path.c_str());
}

}  // namespace kiln::blas

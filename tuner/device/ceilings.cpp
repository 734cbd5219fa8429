// Runs the streaming and the multiplying kernels in several shapes, and keeps the fastest times.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/ceilings.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/launch_plan.hpp"
#include "core/setting.hpp"
#include "templates/library.hpp"
#include "templates/renderer.hpp"
#include "tuner/checks/guarded_buffer.hpp"
#include "tuner/checks/launch_sequence.hpp"

namespace kiln {
namespace {

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kWordBytes = 16;  // one load of stream_copy and stream_read
constexpr std::int64_t kMaxRounds = 1 << 20;

// What is tried; each is a config of templates/ceilings without its variant. Few, so that they
// compile within a second.
struct Shapes {
  std::span<const std::string_view> streams;
  std::span<const std::string_view> chains;
  double fma_run_ns;  // length of a timed run of multiply-adds: far above what a launch costs
  int timed_runs;     // the fastest counts; one more goes before them, untimed
};

constexpr std::array<std::string_view, 5> kGpuStreams = {
    "block=256,unroll=4,blocks_per_unit=8,streaming=true",
    "block=512,unroll=8,blocks_per_unit=4,streaming=true",
    "block=1024,unroll=4,blocks_per_unit=2,streaming=true",
    "block=256,unroll=4,blocks_per_unit=0,streaming=true",
    "block=512,unroll=4,blocks_per_unit=0,streaming=false",
};
constexpr std::array<std::string_view, 3> kGpuChains = {
    "block=256,blocks_per_unit=8,chains=8",
    "block=256,blocks_per_unit=4,chains=16",
    "block=512,blocks_per_unit=4,chains=4",
};
// A processor runs the threads of a block one after the other: blocks of one thread that walks in
// rows.
constexpr std::array<std::string_view, 2> kCpuStreams = {
    "block=1,unroll=64,blocks_per_unit=4",
    "block=1,unroll=8,blocks_per_unit=1",
};
constexpr std::array<std::string_view, 2> kCpuChains = {
    "block=1,blocks_per_unit=4,chains=64",
    "block=1,blocks_per_unit=4,chains=128",
};

Shapes shapes_for(const DeviceInfo& device) {
  if (device.is_cpu) return {kCpuStreams, kCpuChains, 5e6, 3};
  return {kGpuStreams, kGpuChains, 2e6, 6};
}

/// Words in one of the two buffers, whole MiB: far more than a GPU's cache holds; on a processor
/// less than some caches hold, so that it does not take long.
std::int64_t words_for(const DeviceInfo& device) {
  const std::int64_t wanted = device.is_cpu ? 64 * kMiB : 2048 * kMiB;
  const std::int64_t bytes = std::max(kMiB, std::min(wanted, device.global_bytes / 8));
  return bytes / kMiB * (kMiB / kWordBytes);
}

/// One config of templates/ceilings on the device, for one problem.
struct Prepared {
  LaunchPlan plan;
  OwnedBuffer sums;
  std::unique_ptr<LaunchSequence> sequence;
};

class CeilingBench {
 public:
  CeilingBench(Device& device, Compiler& compiler)
      : device_(device),
        compiler_(compiler),
        spec_(KernelLibrary::load_ceilings()),
        renderer_(spec_),
        shapes_(shapes_for(device.info())),
        words_(words_for(device.info())) {}

  /// Makes `in` and `out`, written once so that every page is there.
  Status allocate() {
    for (OwnedBuffer* buffer : {&in_, &out_}) {
      const auto bytes = static_cast<std::size_t>(words_ * kWordBytes);
      Result<OwnedBuffer> made = OwnedBuffer::allocate(device_, bytes);
      if (!made) return made.failure();
      *buffer = std::move(*made);
      if (Status filled = device_.fill(buffer->get(), 0, bytes, 0x5a); !filled) return filled;
    }
    return Done{};
  }

  /// Bytes per second of the fastest shape; every word counts for `bytes_per_word`.
  Result<double> stream_rate(std::string_view variant, std::int64_t bytes_per_word) {
    return best_of(variant, shapes_.streams, [&](const Config& config) -> Result<double> {
      Result<double> ns = time(config);
      if (!ns) return ns;
      return static_cast<double>(words_ * bytes_per_word) / *ns * 1e9;
    });
  }

  /// Operations per second of the fastest shape.
  Result<double> multiply_add_rate(std::string_view variant) {
    return best_of(variant, shapes_.chains,
                   [&](const Config& config) { return multiply_add_rate_of(config); });
  }

 private:
  template <typename Rate>
  Result<double> best_of(std::string_view variant, std::span<const std::string_view> shapes,
                         const Rate& rate_of) {
    Failure last{Outcome::launch_error, "no shape was tried", false};
    double best = 0;
    for (const std::string_view shape : shapes) {
      const std::string text = std::string(variant) + ":" + std::string(shape);
      Result<double> rate = rate_of(Setting(spec_, problem(), device_.info()).parse(text));
      if (rate) {
        best = std::max(best, *rate);
      } else {
        last = rate.failure();
        if (last.sticky) return last;
      }
    }
    if (best == 0) return last;
    return best;
  }

  /// Lengthens the chains until a run takes as long as it should.
  Result<double> multiply_add_rate_of(const Config& config) {
    const std::int64_t chains = std::get<std::int64_t>(*config.find("chains"));
    for (rounds_ = 64;; rounds_ *= 4) {
      std::int64_t threads = 0;
      Result<double> ns = time(config, &threads);
      if (!ns) return ns;
      if (*ns < shapes_.fma_run_ns && rounds_ < kMaxRounds) continue;
      return 2.0 * static_cast<double>(threads) * static_cast<double>(chains * rounds_) / *ns * 1e9;
    }
  }

  [[nodiscard]] Problem problem() const {
    return Problem::make(spec_, {{"words", words_}, {"rounds", rounds_}});
  }

  /// Nanoseconds of the fastest run; `threads`: how many the launch had.
  Result<double> time(const Config& config, std::int64_t* threads = nullptr) {
    Result<Module*> module = module_of(config);
    if (!module) return module.failure();
    Result<Prepared> prepared = prepare(config, **module);
    if (!prepared) return prepared.failure();
    if (threads != nullptr) {
      const StepPlan& step = prepared->plan.steps.front();
      *threads = static_cast<std::int64_t>(step.grid[0]) * step.block[0];
    }
    double best = std::numeric_limits<double>::infinity();
    for (int run = 0; run <= shapes_.timed_runs; ++run) {
      Result<double> ns = run_once(*prepared->sequence);
      if (!ns) return ns;
      if (run > 0) best = std::min(best, std::max(*ns, 1.0));
    }
    return best;
  }

  Result<double> run_once(const LaunchSequence& sequence) {
    Result<EventId> begin = device_.record();
    if (!begin) return begin.failure();
    if (Status enqueued = sequence.enqueue(device_); !enqueued) return enqueued.failure();
    Result<EventId> end = device_.record();
    if (!end) return end.failure();
    return device_.elapsed_ns(*begin, *end);
  }

  /// The compiled config; kept for the next call, which often asks for the same source.
  Result<Module*> module_of(const Config& config) {
    Source source = renderer_.render({spec_, problem(), device_.info()}, config);
    if (module_ && source.text == module_text_) return module_.get();
    Result<Binary> binary = compiler_.compile(source);
    if (!binary) return binary.failure();
    Result<std::unique_ptr<Module>> module = device_.load(*binary);
    if (!module) return module.failure();
    module_ = std::move(*module);
    module_text_ = std::move(source.text);
    return module_.get();
  }

  Result<Prepared> prepare(const Config& config, Module& module) {
    Result<LaunchPlan> plan = Setting(spec_, problem(), device_.info()).plan(config);
    if (!plan) return plan.failure();
    Prepared prepared;
    prepared.plan = std::move(*plan);
    if (const BufferPlan* sums = prepared.plan.find_buffer("sums")) {
      Result<OwnedBuffer> made =
          OwnedBuffer::allocate(device_, static_cast<std::size_t>(sums->bytes()));
      if (!made) return made.failure();
      prepared.sums = std::move(*made);
    }
    prepared.sequence = std::make_unique<LaunchSequence>(
        prepared.plan, module, [&](const std::string& name) -> const Buffer* {
          return name == "in" ? &in_.get() : name == "out" ? &out_.get() : &prepared.sums.get();
        });
    return prepared;
  }

  Device& device_;
  Compiler& compiler_;
  const KernelSpec spec_;
  const Renderer renderer_;
  const Shapes shapes_;
  const std::int64_t words_;
  std::int64_t rounds_ = 64;
  OwnedBuffer in_;
  OwnedBuffer out_;
  std::unique_ptr<Module> module_;
  std::string module_text_;
};

}  // namespace

Result<Ceilings> measure_ceilings(Device& device, Compiler& compiler) {
  CeilingBench bench(device, compiler);
  if (Status allocated = bench.allocate(); !allocated) return allocated.failure();
  Result<double> copy = bench.stream_rate("stream_copy", 2 * kWordBytes);
  if (!copy) return copy.failure();
  Result<double> read = bench.stream_rate("stream_read", kWordBytes);
  if (!read) return read.failure();
  Result<double> f32 = bench.multiply_add_rate("fma_f32");
  if (!f32) return f32.failure();
  Ceilings ceilings{*read, *copy, *f32, 0};
  if (device.info().has_f64) {
    Result<double> f64 = bench.multiply_add_rate("fma_f64");
    if (!f64) return f64.failure();
    ceilings.f64_flops = *f64;
  }
  return ceilings;
}

}  // namespace kiln

// Allocates the arguments of a problem, fills the inputs, poisons the outputs, and guards all.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/checks/problem_data.hpp"

#include <algorithm>
#include <span>

#include "core/hash.hpp"
#include "core/setting.hpp"
#include "tuner/checks/input_values.hpp"
#include "tuner/rules/drawn_scalars.hpp"

namespace kiln {
namespace {

// Both input sets stay in memory when everything then takes less than this share of it.
constexpr double kResidentShare = 0.4;

// The part of an input that stir() changes, and the elements between places where parts begin.
constexpr std::int64_t kStirredPart = 8;
constexpr std::int64_t kStirredStep = 64;

constexpr std::size_t position_of(InputSet set) { return static_cast<std::size_t>(set); }

/// Every argument and every set draws its own numbers.
std::uint64_t seed_of(std::uint64_t seed, const std::string& argument, std::size_t set) {
  return seed ^ hash64(argument) ^ (set == position_of(InputSet::timing) ? hash64("timing") : 0);
}

bool is_input(const BufferPlan& plan) {
  return plan.access == Access::read || plan.access == Access::read_write;
}
bool is_output(const BufferPlan& plan) {
  return plan.access == Access::write || plan.access == Access::read_write;
}

struct Range {
  double low;
  double high;
};

Range default_range(DType dtype) {
  if (is_floating(dtype)) return {-1, 1};
  if (dtype == DType::i8) return {-128, 127};
  return {0, dtype == DType::u8 ? 255.0 : 1000.0};
}

Fill make_fill(const Argument& argument, const Expression& kind, DType dtype, const Scope& scope,
               std::uint64_t seed, InputSet set) {
  const Range usual = default_range(dtype);
  Fill fill;
  fill.kind = evaluate_fill(kind, scope);
  fill.low = argument.low ? argument.low->evaluate_number(scope) : usual.low;
  fill.high = argument.high ? argument.high->evaluate_number(scope) : usual.high;
  fill.seed = seed_of(seed, argument.name, position_of(set));
  return fill;
}

/// What kernels go wrong at: edges among random numbers, extremes in any place of a ramp, and, in
/// the second set, at its ends, where tails are lost; of either sign.
void add_edges(std::array<Fill, kInputSets>& fills, DType dtype,
               std::span<const double> thresholds) {
  Fill& first = fills[0];
  if (first.kind == "uniform") first.edges = edge_values(first, dtype, thresholds);
  if (first.kind != "ramp") return;
  first.shifts_rows = true;
  const std::uint64_t seed = fills[1].seed;
  fills[1] = first;
  fills[1].seed = seed;
  first.exchanges_ends = true;
}

/// `sums`: whether outputs are sums, in which large numbers meet.
void add_specials(std::array<Fill, kInputSets>& fills, DType dtype, VerifyInputs verify,
                  bool sums) {
  SpecialValues values = special_values(dtype);
  const bool is_first = verify == VerifyInputs::with_nans;
  if (!is_first && sums && is_floating(dtype)) {
    values.limits = values.infinities;  // one at a time: a sum of both is NaN
    if (!values.infinities.empty()) {
      values.infinities.pop_back();
      values.limits.erase(values.limits.begin());
    }
  }
  fills[0].specials_are_few = fills[1].specials_are_few = sums;
  fills[0].specials = std::move(is_first ? values.nans : values.infinities);
  fills[1].specials = std::move(is_first ? values.tiny : values.limits);
}

/// In the same memory, and with the same first and last element.
void add_altered(std::array<Fill, kInputSets>& fills) {
  Fill& altered = fills[position_of(InputSet::altered)];
  altered = fills[0];
  altered.alters_few = altered.kind != "sorted";
}

/// The scalars that elements of `dtype` may be compared with.
std::vector<double> thresholds_in(const LaunchPlan& plan, DType dtype) {
  std::vector<double> values;
  for (const ScalarPlan& scalar : plan.scalars) {
    if (scalar.dtype == dtype && scalar.from_caller) values.push_back(as_double(scalar.value));
  }
  return values;
}

}  // namespace

std::uint8_t poison_byte(DType dtype, Poison poison) {
  if (poison == Poison::other) return 0x5A;
  return is_floating(dtype) ? 0xFF : 0xA5;
}

std::size_t ProblemData::Argument::index_of(InputSet set) { return position_of(set); }

bool ProblemData::Argument::may_stir() const {
  const std::string& kind = fills[position_of(InputSet::timing)].kind;
  return plan.access == Access::read && computed[0].empty() && plan.count >= 2 &&
         (kind == "uniform" || kind == "integers" || kind == "skewed");
}

void ProblemData::compute_elements(Argument& argument, const kiln::Argument& spec_argument,
                                   const Scope& scope) {
  const std::vector<Expression>* sets[] = {&spec_argument.elements_verify, &spec_argument.elements,
                                           &spec_argument.elements_verify};
  const BufferPlan& plan = argument.plan;
  for (std::size_t i = 0; i < kInputSets; ++i)
    argument.computed[i] = computed_elements(*sets[i], plan.dtype, plan.shape, scope).data;
}

Result<std::unique_ptr<ProblemData>> ProblemData::create(
    Device& device, Toolbox& toolbox, const KernelSpec& spec, const Problem& problem,
    const LaunchPlan& plan, std::uint64_t seed, VerifyInputs verify,
    std::map<std::string, HostArray> recorded) {
  std::unique_ptr<ProblemData> data(new ProblemData(device, toolbox));
  const Scope scope = Setting(spec, problem, device.info()).scope();
  const bool sums = spec.verify.sum_length.evaluate_number(scope) != 1;
  for (const BufferPlan& buffer : plan.buffers) {
    if (buffer.workspace) continue;
    Argument argument;
    argument.plan = buffer;
    if (is_input(buffer)) {
      const kiln::Argument& spec_argument = *spec.find_argument(buffer.name);
      argument.fills[0] = make_fill(spec_argument, spec_argument.fill_verify, buffer.dtype, scope,
                                    seed, InputSet::verify);
      argument.fills[1] =
          make_fill(spec_argument, spec_argument.fill, buffer.dtype, scope, seed, InputSet::timing);
      if (!spec_argument.elements.empty()) {
        compute_elements(argument, spec_argument, scope);
      } else if (verify == VerifyInputs::with_edges) {
        add_edges(argument.fills, buffer.dtype, thresholds_in(plan, buffer.dtype));
        if (spec_argument.fill_extra) {
          Fill& second = argument.fills[1];
          second = make_fill(spec_argument, *spec_argument.fill_extra, buffer.dtype, scope, seed,
                             InputSet::timing);
          second.shifts_rows = second.kind == "integers";
        }
      } else if (verify == VerifyInputs::repeated) {
        add_altered(argument.fills);
      } else if (verify != VerifyInputs::filled && takes_special_values(spec_argument, scope)) {
        add_specials(argument.fills, buffer.dtype, verify, sums);
      }
      if (const auto values = recorded.find(buffer.name); values != recorded.end())
        argument.computed.fill(values->second.data);
      data->sets_differ_ |= !argument.sets_are_equal();
      Fill same_seed = argument.fills[1];
      same_seed.seed = argument.fills[0].seed;
      data->kinds_differ_ |= argument.computed[0].empty() ? argument.fills[0] != same_seed
                                                          : !argument.sets_are_equal();
    }
    if (is_output(buffer))
      data->outputs_.push_back(
          {buffer.name, buffer.dtype, buffer.shape, buffer.count, buffer.access});
    data->arguments_.push_back(std::move(argument));
  }
  if (Status status = data->allocate(plan, verify); !status) return status.failure();
  return data;
}

Status ProblemData::allocate(const LaunchPlan& plan, VerifyInputs verify) {
  double total = 0;
  for (const BufferPlan& buffer : plan.buffers) total += static_cast<double>(buffer.bytes());
  // Twice the inputs and three times the outputs (two references) is at most three times
  // everything.
  const bool roomy = 3 * total < kResidentShare * static_cast<double>(device_.info().global_bytes);
  const Fence fence = verify == VerifyInputs::filled ? Fence::none : Fence::behind;
  for (Argument& argument : arguments_) {
    const bool two = roomy && verify != VerifyInputs::repeated &&
                     argument.plan.access == Access::read && !argument.sets_are_equal();
    argument.shares_buffer = !two;
    for (std::size_t i = 0; i < (two ? 2 : 1); ++i) {
      const auto bytes = static_cast<std::size_t>(argument.plan.bytes());
      Result<GuardedBuffer> buffer =
          GuardedBuffer::allocate(device_, argument.plan.name, bytes, fence);
      if (!buffer) return buffer.failure();
      argument.buffers.push_back(std::move(*buffer));
    }
  }
  return Done{};
}

/// Around a buffer of its own a set's zones lie for good; around a shared one they change with it.
Status ProblemData::arm_zones(Argument& argument, InputSet set) {
  const std::size_t index = position_of(set);
  if (argument.shares_buffer && argument.zones_of == index) return Done{};
  argument.zones_of = index;
  const Fill& fill = argument.fills[index];
  const std::uint64_t turn = fill.seed + index;
  const auto zone = [&](ZoneSide side) {
    return input_zone(fill, argument.plan.dtype, side, turn);
  };
  GuardedBuffer& buffer = argument.buffer(set);
  buffer.set_zones(zone(ZoneSide::before), zone(ZoneSide::behind));
  return buffer.arm();
}

Status ProblemData::choose_elements(const Argument& argument, InputSet set) {
  const Fill& fill = argument.fills[position_of(set)];
  const Buffer& view = argument.buffer(set).view();
  HostArray array(argument.plan.dtype, argument.plan.shape);
  if (Status status = device_.download(view, 0, array.data); !status) return status;
  place_values(array, fill.edges, fill.seed);
  scatter_values(array, fill.specials, fill.specials_are_few ? Scatter::few : Scatter::many,
                 fill.seed);
  if (fill.alters_few) alter_few(array, fill.seed);
  if (fill.exchanges_ends) exchange_ends(array, fill.seed);
  if (fill.shifts_rows) shift_rows(array, fill);
  return device_.upload(view, 0, array.data);
}

Status ProblemData::fill_input(Argument& argument, InputSet set) {
  const std::size_t index = position_of(set);
  if (argument.shares_buffer || !argument.filled[index]) {
    if (Status status = arm_zones(argument, set); !status) return status;
  }
  const bool same_as_other = argument.shares_buffer && argument.sets_are_equal();
  const bool keeps = argument.plan.access == Access::read && argument.filled[index];
  if (keeps) return Done{};
  const BufferPlan& plan = argument.plan;
  const Buffer& view = argument.buffer(set).view();
  const Fill& fill = argument.fills[index];
  const std::vector<std::byte>& computed = argument.computed[index];
  if (Status status = computed.empty() ? toolbox_.fill(view, plan.dtype, plan.count, fill)
                                       : device_.upload(view, 0, computed);
      !status)
    return status;
  if (fill.exchanges_ends || fill.shifts_rows || fill.alters_few || !fill.edges.empty() ||
      !fill.specials.empty()) {
    if (Status status = choose_elements(argument, set); !status) return status;
  }
  if (argument.shares_buffer) argument.filled = {same_as_other, same_as_other, false};
  argument.filled[index] = true;
  if (argument.shares_buffer || index == position_of(InputSet::timing)) argument.is_stirred = false;
  if (plan.access != Access::read || argument.hash[index]) return Done{};
  const Result<std::uint64_t> hash = toolbox_.checksum(view, view.bytes);
  if (!hash) return hash.failure();
  argument.hash[index] = *hash;
  if (same_as_other) argument.hash[0] = argument.hash[1] = *hash;
  return Done{};
}

void ProblemData::reseed(std::uint64_t seed) {
  for (Argument& argument : arguments_) {
    for (std::size_t i = 0; i < kInputSets; ++i)
      argument.fills[i].seed = seed_of(seed, argument.plan.name, i);
    argument.filled = {};
    argument.zones_of.reset();
    argument.hash = {};
  }
}

void ProblemData::keep_timing_set() {
  only_timing_ = true;
  sets_differ_ = kinds_differ_ = false;
}

Status ProblemData::load(InputSet set, Before outputs) {
  set = used(set);
  for (Argument& argument : arguments_) {
    // A shared buffer holds what was stirred whatever set it is for.
    if (argument.is_stirred && (argument.shares_buffer || set == InputSet::timing))
      argument.filled[position_of(set)] = false;
  }
  return load_arguments(set, outputs);
}

Status ProblemData::load_for_timing() { return load_arguments(InputSet::timing, Before::poison); }

Status ProblemData::stir(std::size_t most_bytes) {
  ++stirs_;
  for (Argument& argument : arguments_) {
    if (!argument.may_stir()) continue;
    const auto size = static_cast<std::int64_t>(size_of(argument.plan.dtype));
    const std::int64_t count = argument.plan.count;
    const std::int64_t step = count < 2 * kStirredPart * kStirredStep ? 1 : kStirredStep;
    const std::int64_t part = std::clamp<std::int64_t>(
        std::min(count / kStirredPart, static_cast<std::int64_t>(most_bytes) / size) / step * step,
        1, count / 2);
    const std::int64_t half = count / 2 / step * step;
    std::uint64_t random = hash64(argument.plan.name) ^ (stirs_ * 0x9E3779B97F4A7C15U);
    const auto place_in = [&](std::int64_t room) {
      random = random * 6364136223846793005U + 1442695040888963407U;
      return static_cast<std::int64_t>((random >> 33U) %
                                       static_cast<std::uint64_t>(room / step + 1)) *
             step;
    };
    // The first elements change every fourth time.
    std::int64_t low = stirs_ % 4 == 0 ? 0 : place_in(half - part);
    std::int64_t high = half + place_in(count - half - part);
    if (stirs_ % 2 == 0) std::swap(low, high);
    const Buffer& view = argument.buffer(InputSet::timing).view();
    const auto offset = [&](std::int64_t element) {
      return static_cast<std::size_t>(element * size);
    };
    Status status = device_.copy(view, offset(low), view, offset(high), offset(part));
    if (!status) return status;
    argument.is_stirred = true;
  }
  return Done{};
}

Status ProblemData::load_arguments(InputSet set, Before outputs) {
  for (Argument& argument : arguments_) {
    if (zones_damaged_) {
      for (GuardedBuffer& buffer : argument.buffers) {
        if (Status status = buffer.arm(); !status) return status;
      }
    }
    if (is_input(argument.plan)) {
      if (Status status = fill_input(argument, set); !status) return status;
      continue;
    }
    if (outputs == Before::as_left) continue;
    const Buffer& view = argument.buffer(set).view();
    if (Status status =
            device_.fill(view, 0, view.bytes, poison_byte(argument.plan.dtype, poison_));
        !status)
      return status;
  }
  zones_damaged_ = false;
  return Done{};
}

Result<std::string> ProblemData::inspect_input(Argument& argument, InputSet set) {
  const bool is_stirred = argument.is_stirred && set == InputSet::timing;
  if (argument.plan.access != Access::read || is_stirred) return std::string();
  const Buffer& view = argument.buffer(set).view();
  const Result<std::uint64_t> hash = toolbox_.checksum(view, view.bytes);
  if (!hash) return hash.failure();
  if (argument.hash[position_of(set)] == *hash) return std::string();
  argument.filled = {};
  return "changed its read-only input '" + argument.plan.name + "'";
}

Result<std::string> ProblemData::inspect(InputSet set) {
  set = used(set);
  std::string damage;
  for (Argument& argument : arguments_) {
    const Result<std::string> zones = argument.buffer(set).inspect();
    if (!zones) return zones;
    zones_damaged_ |= !zones->empty();
    const Result<std::string> input = inspect_input(argument, set);
    if (!input) return input;
    if (damage.empty()) damage = zones->empty() ? *input : *zones;
  }
  // A write far out may have hit anything: trust nothing that cannot be proved.
  if (zones_damaged_) {
    for (Argument& argument : arguments_) argument.filled = {};
  }
  return damage;
}

const Buffer* ProblemData::find(const std::string& name, InputSet set) const {
  set = used(set);
  for (const Argument& argument : arguments_) {
    if (argument.plan.name == name) return &argument.buffer(set).view();
  }
  return nullptr;
}

Result<std::map<std::string, HostArray>> ProblemData::download_inputs(InputSet set) {
  set = used(set);
  std::map<std::string, HostArray> arrays;
  for (Argument& argument : arguments_) {
    if (!is_input(argument.plan)) continue;
    HostArray array(argument.plan.dtype, argument.plan.shape);
    if (Status status = device_.download(argument.buffer(set).view(), 0, array.data); !status)
      return status.failure();
    arrays.emplace(argument.plan.name, std::move(array));
  }
  return arrays;
}

// --- Workspaces ---

Status Workspaces::prepare_entry(Entry& entry, const BufferPlan& workspace) {
  const auto bytes = static_cast<std::size_t>(workspace.bytes());
  entry.dtype = workspace.dtype;
  entry.name = workspace.name;
  // A fence stands behind a buffer of one size.
  const bool fits = entry.buffer && (fence_ == Fence::none ? entry.buffer->room() >= bytes
                                                           : entry.buffer->room() == bytes);
  if (fits) return entry.buffer->assign(workspace.name, bytes);
  entry.buffer.reset();  // first: on a full device there may be room for one of them only
  Result<GuardedBuffer> memory = GuardedBuffer::allocate(device_, workspace.name, bytes, fence_);
  if (!memory) return memory.failure();
  entry.buffer.emplace(std::move(*memory));
  return Done{};
}

Status Workspaces::prepare(const LaunchPlan& plan) {
  std::size_t used[2] = {0, 0};
  for (std::vector<Entry>* pool : {&scratch_pool_, &zeroed_pool_}) {
    for (Entry& entry : *pool) entry.name.clear();
  }
  for (const BufferPlan& workspace : plan.buffers) {
    if (!workspace.workspace) continue;
    std::vector<Entry>& pool = workspace.zeroed ? zeroed_pool_ : scratch_pool_;
    const std::size_t index = used[workspace.zeroed ? 1 : 0]++;
    if (index == pool.size()) pool.emplace_back();
    if (Status status = prepare_entry(pool[index], workspace); !status) return status;
  }
  return Done{};
}

Status Workspaces::poison() {
  for (std::vector<Entry>* pool : {&scratch_pool_, &zeroed_pool_}) {
    for (Entry& entry : *pool) {
      if (entry.name.empty()) continue;
      const Buffer& view = entry.buffer->view();
      const std::uint8_t byte =
          pool == &zeroed_pool_ ? std::uint8_t{0} : poison_byte(entry.dtype, poison_);
      if (Status status = device_.fill(view, 0, view.bytes, byte); !status) return status;
      if (Status status = entry.buffer->arm(); !status) return status;
    }
  }
  return Done{};
}

Status Workspaces::clear_zeroed() {
  for (Entry& entry : zeroed_pool_) {
    if (!entry.buffer) continue;
    Buffer all = entry.buffer->view();
    all.bytes = entry.buffer->room();
    if (Status status = device_.fill(all, 0, all.bytes, 0); !status) return status;
  }
  return Done{};
}

Result<bool> Workspaces::is_all_zero(const Buffer& buffer) {
  std::vector<std::byte> bytes(buffer.bytes);  // counters: a few bytes
  if (Status status = device_.download(buffer, 0, bytes); !status) return status.failure();
  return std::all_of(bytes.begin(), bytes.end(),
                     [](std::byte byte) { return byte == std::byte{0}; });
}

Result<std::string> Workspaces::inspect() {
  for (std::vector<Entry>* pool : {&scratch_pool_, &zeroed_pool_}) {
    for (Entry& entry : *pool) {
      if (entry.name.empty()) continue;
      Result<std::string> damage = entry.buffer->inspect();
      if (!damage || !damage->empty()) return damage;
      if (pool == &scratch_pool_) continue;
      const Result<bool> zero = is_all_zero(entry.buffer->view());
      if (!zero) return zero.failure();
      if (!*zero)
        return "the workspace '" + entry.name +
               "' is declared zeroed but the kernel did not leave it all zero";
    }
  }
  return std::string();
}

const Buffer* Workspaces::find(const std::string& name) const {
  for (const std::vector<Entry>* pool : {&scratch_pool_, &zeroed_pool_}) {
    for (const Entry& entry : *pool) {
      if (!name.empty() && entry.name == name) return &entry.buffer->view();
    }
  }
  return nullptr;
}

}  // namespace kiln

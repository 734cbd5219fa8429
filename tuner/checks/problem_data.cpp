// Allocates the arguments of a problem, fills the inputs, poisons the outputs, and guards all.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/checks/problem_data.hpp"

#include <algorithm>
#include <span>

#include "core/hash.hpp"
#include "core/setting.hpp"
#include "tuner/checks/input_values.hpp"

namespace kiln {
namespace {

// Both input sets stay in memory when everything then takes less than this share of it.
constexpr double kResidentShare = 0.4;

constexpr std::size_t position_of(InputSet set) { return set == InputSet::verify ? 0 : 1; }

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
               std::uint64_t seed) {
  const Range usual = default_range(dtype);
  Fill fill;
  fill.kind = evaluate_fill(kind, scope);
  fill.low = argument.low ? argument.low->evaluate_number(scope) : usual.low;
  fill.high = argument.high ? argument.high->evaluate_number(scope) : usual.high;
  // Every argument draws its own numbers.
  fill.seed = seed ^ hash64(argument.name);
  return fill;
}

/// What kernels go wrong at: edges among random numbers, extremes in any place of a ramp, and, in
/// the second set, at its ends, where tails are lost; of either sign.
void add_edges(std::array<Fill, 2>& fills, DType dtype, std::span<const double> thresholds) {
  Fill& first = fills[0];
  if (first.kind == "uniform") first.edges = edge_values(first, dtype, thresholds);
  if (first.kind != "ramp") return;
  first.shifts_rows = true;
  fills[1] = first;
  first.exchanges_ends = true;
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

void ProblemData::compute_elements(Argument& argument, const kiln::Argument& spec_argument,
                                   const Scope& scope) {
  const std::vector<Expression>* sets[] = {&spec_argument.elements_verify, &spec_argument.elements};
  const BufferPlan& plan = argument.plan;
  for (std::size_t i = 0; i < 2; ++i)
    argument.computed[i] = computed_elements(*sets[i], plan.dtype, plan.shape, scope).data;
}

Result<std::unique_ptr<ProblemData>> ProblemData::create(
    Device& device, Toolbox& toolbox, const KernelSpec& spec, const Problem& problem,
    const LaunchPlan& plan, std::uint64_t seed, VerifyInputs verify,
    std::map<std::string, HostArray> recorded) {
  std::unique_ptr<ProblemData> data(new ProblemData(device, toolbox));
  const Scope scope = Setting(spec, problem, device.info()).scope();
  for (const BufferPlan& buffer : plan.buffers) {
    if (buffer.workspace) continue;
    Argument argument;
    argument.plan = buffer;
    if (is_input(buffer)) {
      const kiln::Argument& spec_argument = *spec.find_argument(buffer.name);
      argument.fills[0] =
          make_fill(spec_argument, spec_argument.fill_verify, buffer.dtype, scope, seed);
      argument.fills[1] = make_fill(spec_argument, spec_argument.fill, buffer.dtype, scope, seed);
      if (!spec_argument.elements.empty()) {
        compute_elements(argument, spec_argument, scope);
      } else if (verify == VerifyInputs::with_edges) {
        add_edges(argument.fills, buffer.dtype, thresholds_in(plan, buffer.dtype));
        if (spec_argument.fill_extra) {
          Fill& second = argument.fills[1];
          second = make_fill(spec_argument, *spec_argument.fill_extra, buffer.dtype, scope, seed);
          second.shifts_rows = second.kind == "integers";
        }
      }
      if (const auto values = recorded.find(buffer.name); values != recorded.end())
        argument.computed = {values->second.data, values->second.data};
      data->sets_differ_ |= !argument.sets_are_equal();
    }
    if (is_output(buffer))
      data->outputs_.push_back(
          {buffer.name, buffer.dtype, buffer.shape, buffer.count, buffer.access});
    data->arguments_.push_back(std::move(argument));
  }
  const Fence fence = verify == VerifyInputs::with_edges ? Fence::behind : Fence::none;
  if (Status status = data->allocate(plan, fence); !status) return status.failure();
  return data;
}

Status ProblemData::allocate(const LaunchPlan& plan, Fence behind_inputs) {
  double total = 0;
  for (const BufferPlan& buffer : plan.buffers) total += static_cast<double>(buffer.bytes());
  // Twice the inputs and three times the outputs (two references) is at most three times
  // everything.
  const bool roomy = 3 * total < kResidentShare * static_cast<double>(device_.info().global_bytes);
  for (Argument& argument : arguments_) {
    const bool two = roomy && argument.plan.access == Access::read && !argument.sets_are_equal();
    argument.shares_buffer = !two;
    const Fence fence = is_input(argument.plan) ? behind_inputs : Fence::none;
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
  if (fill.exchanges_ends || fill.shifts_rows || !fill.edges.empty()) {
    if (Status status = choose_elements(argument, set); !status) return status;
  }
  if (argument.shares_buffer) argument.filled = {same_as_other, same_as_other};
  argument.filled[index] = true;
  if (plan.access != Access::read || argument.hash[index]) return Done{};
  const Result<std::uint64_t> hash = toolbox_.checksum(view, view.bytes);
  if (!hash) return hash.failure();
  argument.hash[index] = *hash;
  if (same_as_other) argument.hash = {*hash, *hash};
  return Done{};
}

void ProblemData::reseed(std::uint64_t seed) {
  for (Argument& argument : arguments_) {
    for (Fill& fill : argument.fills) fill.seed = seed ^ hash64(argument.plan.name);
    argument.filled = {false, false};
    argument.zones_of.reset();
    argument.hash = {};
  }
}

Status ProblemData::load(InputSet set) {
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
  if (argument.plan.access != Access::read) return std::string();
  const Buffer& view = argument.buffer(set).view();
  const Result<std::uint64_t> hash = toolbox_.checksum(view, view.bytes);
  if (!hash) return hash.failure();
  if (argument.hash[position_of(set)] == *hash) return std::string();
  argument.filled = {false, false};
  return "changed its read-only input '" + argument.plan.name + "'";
}

Result<std::string> ProblemData::inspect(InputSet set) {
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
    for (Argument& argument : arguments_) argument.filled = {false, false};
  }
  return damage;
}

const Buffer* ProblemData::find(const std::string& name, InputSet set) const {
  for (const Argument& argument : arguments_) {
    if (argument.plan.name == name) return &argument.buffer(set).view();
  }
  return nullptr;
}

Result<std::map<std::string, HostArray>> ProblemData::download_inputs(InputSet set) {
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
  if (entry.buffer && entry.buffer->room() >= bytes) {
    return entry.buffer->assign(workspace.name, bytes);
  }
  entry.buffer.reset();  // first: on a full device there may be room for one of them only
  Result<GuardedBuffer> memory = GuardedBuffer::allocate(device_, workspace.name, bytes);
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

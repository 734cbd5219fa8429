// KernelSpec: what a spec.toml says, validated. docs/spec_format.md is the same in prose.
//
// Read once per run; immutable afterwards; shared by every stage. Nothing in it depends on a
// problem, a config or a device: those arrive as Scope when its expressions are evaluated.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/expression.hpp"
#include "core/loop.hpp"
#include "core/text_pattern.hpp"

namespace kiln {

struct OutsideReference;  // core/outside_reference.hpp
struct CommandSpec;       // core/command_spec.hpp

enum class FieldType { integer, floating, boolean, text, dtype, formula };

/// One field of the problem: a size, an element type, a choice or a formula.
struct ProblemField {
  std::string name;
  std::string doc;
  FieldType type = FieldType::integer;
  std::vector<Value> values;     ///< the only values allowed; empty: any
  std::optional<Value> minimum;  ///< inclusive; integer and floating
  std::optional<Value> maximum;
  /// Key `default`: expression over earlier fields; absent: must be given.
  std::optional<Expression> fallback;
  std::vector<std::string> variables;  ///< formulas: the names it may use
  bool specialize = false;  ///< baked into the source; otherwise a run-time argument at most
  double weight = 1.0;      ///< share in the distance between problems; 0: ignored by near_size
  SourceLocation where;
};

/// A rule between expressions, with the reason in words.
struct Constraint {
  Expression require;
  std::string because;
};

/// A size by which problems are compared, where that says more of them than their fields do.
struct DistanceTerm {
  Expression of;
  double weight = 1.0;
};

enum class Access { read, write, read_write, scalar };

/// One argument of the kernel in the order the caller passes it.
struct Argument {
  std::string name;
  std::string doc;
  Access access = Access::read;
  Expression dtype;                ///< gives the name of an element type
  std::vector<Expression> shape;   ///< buffers: elements per dimension, outermost first
  std::optional<Expression> when;  ///< absent or true: the argument exists for this problem
  /// Scalars computed from the problem; the caller never passes them.
  std::optional<Expression> value;
  std::optional<Expression> example;  ///< scalars passed by the caller: the value used while tuning
  Expression fill;         ///< inputs: how they are filled for timing (docs/spec_format.md)
  Expression fill_verify;  ///< inputs: how they are filled for the first check
  /// Inputs: the fill of the second check on other problems than the tuned one.
  std::optional<Expression> fill_extra;
  /// Inputs: range of the fill. Scalars of the caller: range of the values that checks draw.
  std::optional<Expression> low;
  std::optional<Expression> high;
  /// Inputs: whether checks put NaN, infinities, -0, subnormals and the type's limits among the
  /// elements; absent: they do if the range is not stated.
  std::optional<Expression> special;
  /// Inputs with computed elements instead of a fill: one expression for each index of the
  /// innermost dimension, or one for all; empty: the input has a fill.
  std::vector<Expression> elements;
  std::vector<Expression> elements_verify;  ///< the same in the first check
  SourceLocation where;
};

struct Tunable {
  std::string name;
  std::string doc;
  std::vector<Value> values;  ///< in the order of the spec; all of one type
  Value fallback;             ///< key `default`; one of values; safe on every device
  /// Conditional: exists only where true (over earlier tunables, problem, device).
  std::optional<Expression> when;
  SourceLocation where;
};

/// A named value computed once per config, for templates and later expressions.
struct Derived {
  std::string name;
  Expression value;
};

struct Workspace {
  std::string name;
  Expression dtype;
  Expression count;                ///< elements
  bool zeroed = false;             ///< all zero before the first run; every run leaves it all zero
  std::optional<Expression> when;  ///< exists only where true
};

/// A description of a buffer for bulk tensor copies (CUDA 9.0 and later): 128 bytes that the host
/// encodes and the kernel takes by value. Lists have the outermost dimension first.
struct TensorMap {
  std::string name;
  Expression of;  ///< name of an argument or workspace; such names stand for themselves
  std::optional<Expression> dtype;   ///< absent: that of the buffer
  std::optional<Expression> offset;  ///< elements from the buffer's first to the map's
  std::vector<Expression> shape;     ///< elements per dimension, 1 to 5 of them
  std::vector<Expression> strides;   ///< elements, one fewer than shape; empty: dense
  std::vector<Expression> box;       ///< elements of a copied tile; of im2col: see `lower`
  /// An im2col map, of images [.., height, width, channels]: a box is [positions, channels]. The
  /// positions are walked in order, image after image, from `lower` to `upper` elements beyond the
  /// end of each middle dimension. Empty: a plain map.
  std::vector<Expression> lower;
  std::vector<Expression> upper;
  std::vector<Expression> element_strides;  ///< one in how many elements is copied; empty: all
  std::optional<Expression> swizzle;        ///< bytes: 0, 32, 64 or 128
  /// Bytes fetched into the last-level cache: 0, 64, 128, 256.
  std::optional<Expression> promotion;
  std::optional<Expression> tf32;  ///< whether copies round elements of f32 to tf32
  bool fill_nan = false;           ///< what a copy gives outside the shape; otherwise zeros
  std::optional<Expression> when;  ///< exists only where true
  SourceLocation where;
};

enum class StepKind {
  launch,  ///< run a kernel of the rendered source
  clear,   ///< set every byte of a buffer to zero
};

/// One step of a variant. Steps run in order on one stream or queue.
struct Step {
  StepKind kind = StepKind::launch;
  std::optional<Expression> when;
  /// Launch: the kernel in the source, by its name. In a plain source it may have template
  /// arguments, and both may have holes: "conv<{block_x}, {padded}>".
  TextPattern entry;
  std::vector<Expression> grid;            ///< launch: blocks per dimension (1 to 3)
  std::vector<Expression> block;           ///< launch: threads per dimension (1 to 3)
  std::vector<Expression> cluster;         ///< launch: blocks per cluster; empty: none
  std::optional<Expression> shared_bytes;  ///< launch: dynamic shared memory
  std::vector<Derived> local;              ///< launch: __local parameters and their bytes
  std::optional<Expression> programmatic;  ///< launch: may begin before the step before has ended
  /// Launch: names of arguments, workspaces and tensor maps in the kernel's order.
  std::vector<std::string> arguments;
  /// Launch: read arguments that the kernel sees in constant memory.
  std::vector<std::string> constants;
  std::string buffer;  ///< clear: argument or workspace
  SourceLocation where;
};

/// A source that reaches the compiler as it is: values come as macros and template arguments.
struct PlainSource {
  std::string file;                  ///< below the spec's folder; its ending names the language
  std::vector<std::string> folders;  ///< below the spec's folder: where includes are looked up
  /// Macro and value, in the order of the file. Absent: every value that a template would see, by
  /// its own name, where the source holds that name.
  std::optional<std::vector<Derived>> defines;
  SourceLocation where;  ///< of key `source`
};

/// One algorithm for the kernel.
struct Variant {
  std::string name;
  std::string summary;               ///< which limit it attacks
  std::vector<std::string> groups;   ///< names of the [groups.NAME] whose parts it has
  std::string template_file;         ///< in the spec's folder; empty: a plain source
  std::optional<PlainSource> plain;  ///< in place of a template
  /// Over backend, device.* and the problem; absent: always possible.
  std::optional<Expression> requires_;
  std::vector<Tunable> tunables;
  std::vector<Derived> derived;
  std::vector<Constraint> constraints;
  std::vector<Workspace> workspaces;
  std::vector<TensorMap> tensor_maps;
  std::vector<Step> steps;
  std::optional<Loop> loop;  ///< what the main loop does; absent: the search knows less
  /// Backend -> extra options, space separated; they may differ from config to config.
  std::map<std::string, TextPattern> compiler_options;
  SourceLocation where;
};

/// How results are proved.
struct Verification {
  std::string reference;  ///< CPU loop by name (built-in kernels); may be empty
  /// Elementwise: output name -> expression over same-index elements and scalars.
  std::map<std::string, Expression> formulas;
  /// Output name -> is this element written? Of outputs that are written in part.
  std::map<std::string, Expression> written;
  /// Share of an output's elements that may lie outside the tolerance (default: none).
  std::optional<Expression> differing;
  /// "variant" or "variant:tunable=value,...": trusted if the CPU loop is too slow.
  std::string device_reference;
  /// Scalar operations of the CPU loop. Above a limit, the device reference is used.
  std::optional<Expression> cpu_operations;
  Expression sum_length;  ///< terms added into one output element (1: none); sets the tolerance
  std::optional<Expression> exact;  ///< true: the first check (fill_verify) must agree bit for bit
  /// Relative rounding of the inputs that a kernel may make before it computes (default: none).
  std::optional<Expression> input_eps;
  std::optional<Expression> tolerance;  ///< relative to the result's magnitude; overrides the rule
  std::map<std::string, Expression> tolerances;  ///< the same of single outputs
  /// A C function or recorded arrays in the spec's folder; nullptr: none.
  std::shared_ptr<const OutsideReference> outside;
  SourceLocation where;  ///< of the table in the spec

  /// Returns whether the only reference is a variant of the spec itself, recorded problems aside.
  [[nodiscard]] bool by_itself() const;
};

/// What `[verify] written` and `elements` call the place of an element: its flat index, and `i0`,
/// `i1`, ... along the dimensions of the buffer, outermost first.
inline constexpr std::string_view kFlatIndexName = "index";
inline constexpr std::size_t kMaxNamedDimensions = 8;
/// The names of a place in a buffer of so many dimensions.
[[nodiscard]] std::vector<std::string> place_names(std::size_t dimensions);

struct Cost {
  std::optional<Expression> bytes;  ///< bytes of device memory that must move at least
  std::optional<Expression> flops;  ///< arithmetic operations that must be done
};

enum class Goal { minimise, maximise };

/// A number that the spec computes from a trial; a session may look for its least or its most.
struct Metric {
  std::string name;
  std::string doc;
  std::string unit;  ///< for tables; may be empty
  Goal goal = Goal::minimise;
  Expression value;  ///< over what a config knows and core/metrics.hpp's measured names
  SourceLocation where;
};

struct KernelSpec {
  std::string name;
  std::string summary;
  std::vector<ProblemField> problem;  ///< in the order of the file
  std::vector<Constraint> problem_rules;
  std::vector<Derived> derived;  ///< over the problem only
  /// [[distance]], over the fields and `derived`; empty: the numeric fields with their weights.
  std::vector<DistanceTerm> distance;
  std::vector<Argument> arguments;
  std::vector<Variant> variants;  ///< the first possible one holds the default config
  Verification verify;
  /// Tunables that arguments or references name, with their defaults: what these are without a
  /// config. spec_for() sets those of a config.
  std::vector<std::pair<std::string, Value>> config_values;
  Cost cost;
  std::vector<Metric> metrics;  ///< in the order of the file
  /// [command]: a program is what is measured, not a kernel; nullptr: a kernel.
  std::shared_ptr<const CommandSpec> command;

  std::string path;  ///< of spec.toml, for messages; "built-in:reduce/spec.toml"
  std::string text;  ///< the file as read
  /// By path below the spec's folder: its *.inja, the plain sources and the headers that these
  /// include. Filled by the library.
  std::map<std::string, std::string> files;
  /// computation_hash() of the shipped kernel of this name. Empty: there is none, or this is it.
  std::string shipped_computation;

  [[nodiscard]] const Variant* find_variant(std::string_view name) const;
  [[nodiscard]] const Argument* find_argument(std::string_view name) const;
  [[nodiscard]] const ProblemField* find_field(std::string_view name) const;
};

/// The fills of docs/spec_format.md ("uniform", "integers", ...): extra names in `fill` and
/// `fill_verify`.
[[nodiscard]] const std::vector<std::string>& fill_names();

/// The fill that an argument's `fill` or `fill_verify` names; `scope` as for its shape. Throws
/// EvaluationError when it is no fill.
[[nodiscard]] std::string evaluate_fill(const Expression& fill, const Scope& scope);

/// The kernel that a step launches: its name with every hole filled. `scope` as for its grid.
/// Throws EvaluationError, or InputError where the backend's language has no such type.
[[nodiscard]] std::string entry_of(const Step& step, const Scope& scope);

/// The words of spec files: "read_write", "formula", ...
[[nodiscard]] std::string_view name_of(Access access);
[[nodiscard]] std::string_view name_of(FieldType type);

/// Name and text of the files that the source of `variant` is made of: its template or plain
/// source, and all that these include.
[[nodiscard]] std::map<std::string, std::string> source_files(const KernelSpec& spec,
                                                              const Variant& variant);

/// Returns whether the example of this scalar follows from scalars before it. Checks that change
/// those evaluate it again.
[[nodiscard]] bool follows_scalars(const KernelSpec& spec, const Argument& argument);

/// Content key of everything that shapes results: spec text and its templates (hex, 16 characters).
[[nodiscard]] std::string content_hash(const KernelSpec& spec);

/// Returns a key of what the kernel computes (hex, 16 characters): problem fields, arguments,
/// derived values and references. Templates do not count. But if the only reference is a variant of
/// the kernel, the template of that variant defines the computation and counts. Kernels of one name
/// with different keys are different kernels.
[[nodiscard]] std::string computation_hash(const KernelSpec& spec);

/// The same for one variant: its template and what that includes, without the spec's other
/// variants.
[[nodiscard]] std::string template_hash(const KernelSpec& spec, const Variant& variant);

/// Content key of how configs of a variant are run, whatever their source: steps, workspaces,
/// tensor maps, derived values, fills of the inputs and bounds of the check (hex, 16 characters).
[[nodiscard]] std::string launch_hash(const KernelSpec& spec, const Variant& variant);

}  // namespace kiln

// Renders templates, plain sources and commands, and checks that the launched kernels are there.
// SPDX-License-Identifier: Apache-2.0
#include "templates/renderer.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>
#include <utility>

#include "core/command_spec.hpp"
#include "core/constraint_text.hpp"
#include "core/hash.hpp"
#include "core/setting.hpp"
#include "core/source_text.hpp"
#include "core/suggest.hpp"
#include "templates/plain_source.hpp"
#include "templates/prelude.hpp"
#include "templates/source_head.hpp"
#include "templates/template_evaluator.hpp"

namespace kiln {

struct Renderer::State {
  KernelSpec spec;
  TemplateSet templates;
  std::map<std::string, TemplateNames> names;  // by variant
  std::map<std::string, PlainText> plain;      // by variant that has a plain source

  // `scope` is that of the config.
  [[nodiscard]] TemplateInput input_for(const Variant& variant, const Scope& scope,
                                        const Setting& setting) const;
  [[nodiscard]] std::string plain_text(const Variant& variant, const Scope& scope,
                                       const DeviceInfo& device) const;
  [[nodiscard]] Source plain_source(const Variant& variant, const Scope& scope,
                                    const DeviceInfo& device) const;
};

namespace {

std::string file_path(const KernelSpec& spec, const std::string& file) {
  std::size_t slash = spec.path.rfind('/');
  return slash == std::string::npos ? file : spec.path.substr(0, slash + 1) + file;
}

bool is_template(const std::string& file) { return file.ends_with(".inja"); }

void add_parsed(TemplateSet& templates, const KernelSpec& spec,
                const std::map<std::string, std::string>& files) {
  for (const auto& [name, text] : files) {
    if (!is_template(name) || templates.files.contains(name)) continue;
    templates.files.emplace(name, parse_template(file_path(spec, name), text, templates.names));
  }
}

const Variant& find_variant(const KernelSpec& spec, const std::string& name) {
  const Variant* variant = spec.find_variant(name);
  if (variant == nullptr) {
    throw InputError("kernel '" + spec.name + "' has no variant '" + name + "'");
  }
  return *variant;
}

bool is_identifier(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

/// What a config or a problem brings must not become code of its own: only words pass. Derived
/// values may hold any text: it is the spec's own, like the template.
void require_word(const KernelSpec& spec, const Variant& variant, const std::string& name,
                  const Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr || is_identifier(*text)) return;
  auto is_this = [&](const Tunable& tunable) { return tunable.name == name; };
  bool given = spec.find_field(name) != nullptr ||
               std::any_of(variant.tunables.begin(), variant.tunables.end(), is_this);
  if (!given) return;
  throw InputError("'" + name + "' is the text \"" + *text +
                   "\"; templates take only letters, digits and '_'");
}

std::string joined(const std::vector<RenderedLine>& lines) {
  std::string text;
  for (const RenderedLine& line : lines) text += line.text + "\n";
  return text;
}

bool has_identifier(const std::string& text, const std::string& name) {
  auto part_of_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    std::size_t end = at + name.size();
    if ((at == 0 || !part_of_name(text[at - 1])) &&
        (end >= text.size() || !part_of_name(text[end])))
      return true;
  }
  return false;
}

/// The kernels that the variant's steps launch for this problem; each must be in the text.
std::vector<std::string> entries_of(const KernelSpec& spec, const Variant& variant,
                                    const std::string& text, const Scope& scope) {
  std::vector<std::string> entries;
  for (const Step& step : variant.steps) {
    if (step.kind != StepKind::launch) continue;
    const std::string& entry = step.entry.text();
    if (std::count(entries.begin(), entries.end(), entry) > 0) continue;
    bool present = has_identifier(text, entry);
    if (!present && (!step.when || exists(*step.when, scope))) {
      const std::set<std::string> names = identifiers_of(text);
      throw InputError(step.where, "a step launches '" + entry + "', but the text rendered from " +
                                       file_path(spec, variant.template_file) +
                                       " has no such kernel" +
                                       did_you_mean(entry, {names.begin(), names.end()}));
    }
    if (present) entries.push_back(entry);
  }
  return entries;
}

std::vector<std::string> options_of(const Variant& variant, const std::string& backend,
                                    const Scope& scope) {
  std::vector<std::string> options;
  auto found = variant.compiler_options.find(backend);
  if (found == variant.compiler_options.end()) return options;
  std::istringstream words(found->second.fill(scope));
  for (std::string word; words >> word;) options.push_back(word);
  return options;
}

/// A comment above an #include moves the lines that a plain source notes.
std::string without_line_numbers(const std::string& text) {
  std::string kept;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("#line ")) kept += line + '\n';
  }
  return kept;
}

std::string launch_text(const StepPlan& step) {
  std::ostringstream text;
  text << (step.kind == StepKind::launch ? step.entry : "clear " + step.buffer);
  for (const auto& extents : {step.grid, step.block, step.cluster}) {
    for (const std::uint32_t extent : extents) text << ' ' << extent;
  }
  text << ' ' << step.shared_bytes;
  for (const auto& [name, bytes] : step.locals) text << ' ' << name << '=' << bytes;
  text << (step.programmatic ? " programmatic" : "");
  return text.str();
}

std::string source_name(const KernelSpec& spec, const Variant& variant, const DeviceInfo& device) {
  return spec.name + "." + variant.name + "." + std::string(source_extension(device.backend));
}

/// The lines of the build, and what the files hold that it reads: equal texts are equal builds.
Source command_source(const KernelSpec& spec, const Scope& scope) {
  Source source;
  source.name = spec.name + ".sh";
  for (const std::string& file : spec.command->files) {
    source.text += "# " + file + " " + hash64_hex(spec.files.at(file)) + "\n";
  }
  for (const TextPattern& line : spec.command->build) {
    source.text += shell_text(spec, line, scope) + "\n";
  }
  return source;
}

void append(Source& source, const std::string& text) {
  source.text += text;
  source.origins.resize(source.origins.size() +
                        static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')));
}

}  // namespace

Renderer::Renderer(const KernelSpec& spec, std::span<const Variant> variants) {
  auto state = std::make_shared<State>();
  state->spec = spec;
  const bool is_whole = variants.size() == spec.variants.size();
  if (is_whole) add_parsed(state->templates, spec, spec.files);
  for (const Variant& variant : variants) {
    if (!is_whole) add_parsed(state->templates, spec, source_files(spec, variant));
    const std::vector<LintFinding> findings = lint_variant(spec, variant, state->templates);
    if (!findings.empty()) throw InputError(findings.front().where, findings.front().message);
    state->names.emplace(variant.name, template_names(spec, variant));
    if (variant.plain) state->plain.emplace(variant.name, prepare_plain_source(spec, variant));
  }
  state_ = std::move(state);
}

Renderer::Renderer(const KernelSpec& spec) : Renderer(spec, std::span(spec.variants)) {}

Renderer::Renderer(const KernelSpec& spec, const std::string& variant)
    : Renderer(spec, std::span(&find_variant(spec, variant), 1)) {}

std::vector<LintFinding> Renderer::unused_tunables() const {
  std::vector<LintFinding> findings;
  for (const Variant& variant : state_->spec.variants) {
    for (LintFinding& finding : kiln::unused_tunables(state_->spec, variant, state_->templates)) {
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

void require_used_tunables(const KernelSpec& spec) {
  const std::vector<LintFinding> findings = Renderer(spec).unused_tunables();
  if (!findings.empty()) throw InputError(findings.front().where, findings.front().message);
}

TemplateInput Renderer::State::input_for(const Variant& variant, const Scope& scope,
                                         const Setting& setting) const {
  const TemplateNames& known = names.at(variant.name);
  TemplateInput input;
  for (const auto& [name, value] : scope.values()) {
    if (known.visible.count(name) == 0) continue;
    require_word(spec, variant, name, value);
    input.values[name] = value;
  }
  input.values["warp_size"] = setting.device().warp_size;
  for (const std::string& name : known.formulas) {
    const ProblemField* field = spec.find_field(name);
    input.formulas.emplace(
        name, Expression::parse_formula(setting.problem().text_of(name), field->variables));
  }
  return input;
}

std::string Renderer::State::plain_text(const Variant& variant, const Scope& scope,
                                        const DeviceInfo& device) const {
  const PlainText& prepared = plain.at(variant.name);
  TemplateInput input;
  for (const std::string& name : prepared.read) {
    if (const Value* value = scope.find(name)) input.values[name] = *value;
  }
  return source_head(spec, variant, input, {prepared.read.begin(), prepared.read.end()}) + "\n" +
         define_lines(prepared, scope, device.backend) + prepared.text;
}

Source Renderer::State::plain_source(const Variant& variant, const Scope& scope,
                                     const DeviceInfo& device) const {
  Source source;
  source.name = source_name(spec, variant, device);
  source.text = plain_text(variant, scope, device);
  source.entries = plain_entries(variant, scope);
  source.has_cpp_names = device.backend != "opencl";
  source.options = options_of(variant, device.backend, scope);
  return source;
}

Source Renderer::render(const Setting& setting, const Config& config) const {
  const KernelSpec& spec = state_->spec;
  const DeviceInfo& device = setting.device();
  const Variant& variant = find_variant(state_->spec, config.variant);
  const Scope scope = setting.scope(config);
  if (spec.command) return command_source(spec, scope);
  if (variant.plain) return state_->plain_source(variant, scope, device);
  TemplateInput input = state_->input_for(variant, scope, setting);
  TemplateOutput kernel = evaluate_template(state_->templates, variant.template_file, input);
  std::string text = joined(kernel.lines);

  Source source;
  source.name = source_name(spec, variant, device);
  append(source, source_head(spec, variant, input, kernel.read));
  append(source, "\n" + prelude_for(device.backend, text, device.warp_size) + "\n");
  source.text += text;
  for (const RenderedLine& line : kernel.lines) source.origins.push_back(line.origin);
  source.entries = entries_of(spec, variant, text, scope);
  source.options = options_of(variant, device.backend, scope);
  return source;
}

std::string Renderer::render_readable(const Setting& setting, const Config& config) const {
  const Variant& variant = find_variant(state_->spec, config.variant);
  if (state_->spec.command) return render(setting, config).text;
  const Scope scope = setting.scope(config);
  if (variant.plain) return state_->plain_text(variant, scope, setting.device());
  TemplateInput input = state_->input_for(variant, scope, setting);
  TemplateOutput kernel = evaluate_template(state_->templates, variant.template_file, input);
  return source_head(state_->spec, variant, input, kernel.read) + "\n" + joined(kernel.lines);
}

std::optional<std::string> Renderer::source_hash(const Setting& setting,
                                                 const Config& config) const {
  if (state_->spec.command) return std::nullopt;
  const Variant& variant = find_variant(state_->spec, config.variant);
  const Result<LaunchPlan> plan = setting.plan(config);
  if (!plan) return std::nullopt;
  const Scope scope = setting.scope(config);
  const std::string& backend = setting.device().backend;
  std::string text;
  if (variant.plain) {
    const PlainText& prepared = state_->plain.at(variant.name);
    text = without_line_numbers(define_lines(prepared, scope, backend) + prepared.text);
  } else {
    const TemplateInput input = state_->input_for(variant, scope, setting);
    text = joined(evaluate_template(state_->templates, variant.template_file, input).lines);
  }
  KeyText key;
  key.add(without_comments(text));
  for (const std::string& option : options_of(variant, backend, scope)) key.add(option);
  for (const StepPlan& step : plan->steps) key.add(launch_text(step));
  return hash64_hex(key.text());
}

std::vector<LintFinding> lint(const KernelSpec& spec) {
  std::vector<LintFinding> findings;
  TemplateSet templates;
  for (const auto& [name, text] : spec.files) {
    if (!is_template(name)) continue;
    try {
      templates.files.emplace(name, parse_template(file_path(spec, name), text, templates.names));
    } catch (const InputError& error) {
      // what() begins with the place, which is all that is known of it here.
      findings.emplace_back().message = error.what();
    }
  }
  if (findings.empty()) findings = lint_heads(templates);
  if (!findings.empty()) return findings;
  for (const Variant& variant : spec.variants) {
    for (LintFinding& finding : lint_variant(spec, variant, templates))
      findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace kiln

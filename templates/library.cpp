// Finds kernels in folders and in the program, and reads their specs, templates and sources.
// SPDX-License-Identifier: Apache-2.0
#include "templates/library.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <system_error>

#include "core/command_spec.hpp"
#include "core/errors.hpp"
#include "core/input_file.hpp"
#include "core/outside_reference.hpp"
#include "core/source_text.hpp"
#include "core/suggest.hpp"
#include "spec/parse_spec.hpp"
#include "templates/embedded.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;

constexpr FileKind kKernelFile = {"a spec, template or source", kMiB};
constexpr std::string_view kBuiltIn = "built-in:";

/// A file of a kernel must lie in the kernel's folder, links followed.
void require_inside(const fs::path& folder, const fs::path& file) {
  std::error_code error;
  fs::path real = fs::canonical(file, error);
  if (error || real.parent_path() != fs::canonical(folder)) {
    throw InputError({file.string(), 0, 0}, "leads out of the kernel's folder");
  }
}

KernelSpec load_embedded(const std::string& folder);
std::vector<std::string> embedded_names();

/// What the kernel of this name that comes with Kiln computes; empty: none does.
std::string shipped_computation(const std::string& name) {
  const std::vector<std::string> names = embedded_names();
  if (std::find(names.begin(), names.end(), name) == names.end()) return {};
  return computation_hash(load_embedded("kernels/" + name));
}

/// As require_inside(), for plain sources and headers, which may lie in folders below.
void require_below(const fs::path& folder, const fs::path& file) {
  std::error_code error;
  const fs::path below = fs::canonical(file, error).lexically_relative(fs::canonical(folder));
  if (error || below.empty() || *below.begin() == "..") {
    throw InputError({file.string(), 0, 0}, "leads out of the kernel's folder");
  }
}

constexpr std::size_t kMaxSources = 1000;  // files of one spec; more are no kernel

/// Reads the plain source `file` and the headers that lie in the folder. A file that is not there
/// is left to the compiler, which may know it.
void read_sources(KernelSpec& spec, const fs::path& folder, const PlainSource& plain) {
  std::vector<std::string> waiting = {plain.file};
  std::set<std::string> seen;
  while (!waiting.empty()) {
    const std::string name = std::move(waiting.back());
    waiting.pop_back();
    std::error_code error;
    if (!seen.insert(name).second || !fs::is_regular_file(folder / name, error)) continue;
    require_below(folder, folder / name);
    if (spec.files.count(name) == 0) spec.files[name] = read_input(folder / name, kKernelFile);
    if (spec.files.size() > kMaxSources) {
      throw InputError(plain.where, "'" + plain.file + "' includes more than " +
                                        std::to_string(kMaxSources) + " files");
    }
    for (const Directive& directive : directives_of(spec.files[name])) {
      for (std::string& candidate : include_candidates(directive, name, plain.folders))
        waiting.push_back(std::move(candidate));
    }
  }
}

/// Reads a file that the spec names in `table` and cannot do without.
void read_named(KernelSpec& spec, const fs::path& folder, const std::string& name,
                const SourceLocation& where, const std::string& table) {
  std::error_code error;
  if (!fs::is_regular_file(folder / name, error))
    throw InputError(where, table + ": no file '" + name + "' in the spec's folder");
  require_below(folder, folder / name);
  spec.files[name] = read_input(folder / name, kKernelFile);
}

/// Adds the shared templates that the spec's own ones include, and those that these include.
void add_shared(KernelSpec& spec) {
  constexpr std::string_view kShared = "\"shared/";
  std::vector<std::string> waiting;
  for (const auto& [name, text] : spec.files) waiting.push_back(text);
  while (!waiting.empty()) {
    const std::string text = std::move(waiting.back());
    waiting.pop_back();
    for (std::size_t at = text.find(kShared); at != std::string::npos;
         at = text.find(kShared, at + 1)) {
      const std::string name = text.substr(at + 1, text.find('"', at + 1) - at - 1);
      const std::optional<std::string> file = embedded_file("kernels/" + name);
      if (file && spec.files.emplace(name, *file).second) waiting.push_back(*file);
    }
  }
}

KernelSpec load_folder(const fs::path& folder) {
  const fs::path spec_file = folder / "spec.toml";
  require_inside(folder, spec_file);
  return KernelLibrary::load_text(read_input(spec_file, kKernelFile), spec_file);
}

/// `folder` is the embedded one: "kernels/reduce", "toolbox" or "ceilings".
KernelSpec load_embedded(const std::string& folder) {
  std::string name = folder.substr(folder.rfind('/') + 1);
  KernelSpec spec = parse_spec(embedded_file(folder + "/spec.toml").value(),
                               std::string(kBuiltIn) + name + "/spec.toml", SpecOrigin::built_in);
  for (const EmbeddedFile& file : embedded_files()) {
    if (!file.path.starts_with(folder + "/") || !file.path.ends_with(".inja")) continue;
    spec.files[std::string(file.path.substr(folder.size() + 1))] = file.text();
  }
  add_shared(spec);
  return spec;
}

std::vector<std::string> embedded_names() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : embedded_files()) {
    constexpr std::string_view kPrefix = "kernels/";
    constexpr std::string_view kSuffix = "/spec.toml";
    if (!file.path.starts_with(kPrefix) || !file.path.ends_with(kSuffix)) continue;
    names.emplace_back(
        file.path.substr(kPrefix.size(), file.path.size() - kPrefix.size() - kSuffix.size()));
  }
  return names;
}

/// The name that the spec in a folder states; empty where it cannot be read.
std::string stated_name(const fs::path& folder) {
  try {
    return parse_spec(read_input(folder / "spec.toml", kKernelFile),
                      (folder / "spec.toml").string())
        .name;
  } catch (const InputError&) {
    return "";
  }
}

bool is_kernel_folder(const fs::path& path) {
  std::error_code error;
  return fs::exists(path / "spec.toml", error);
}

}  // namespace

KernelLibrary::KernelLibrary(std::vector<fs::path> kernel_paths)
    : searched_(std::move(kernel_paths)) {
  for (const fs::path& path : searched_) {
    std::error_code error;
    if (!fs::is_directory(path, error))
      throw InputError({path.string(), 0, 0}, "no such folder (kernel path)");
    if (is_kernel_folder(path)) {
      folders_.push_back(path);
      continue;
    }
    std::vector<fs::path> found;
    const fs::directory_iterator entries(path, error);
    if (error)
      throw InputError({path.string(), 0, 0}, "cannot be read (kernel path): " + error.message());
    for (const auto& entry : entries) {
      if (is_kernel_folder(entry.path())) found.push_back(entry.path());
    }
    std::sort(found.begin(), found.end());
    folders_.insert(folders_.end(), found.begin(), found.end());
  }
}

std::vector<std::string> KernelLibrary::names() const {
  std::vector<std::string> all = embedded_names();
  for (const fs::path& folder : folders_)
    all.push_back(fs::absolute(folder / "").parent_path().filename().string());
  std::set<std::string> unique(all.begin(), all.end());
  return {unique.begin(), unique.end()};
}

namespace {

InputError no_kernel(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) {
    return {{path, 0, 0}, "there is no such folder: a kernel is a folder with spec.toml"};
  }
  if (fs::is_regular_file(path, error)) {
    std::string hint = "'kiln init " + path + "' writes one for a source";
    if (fs::path(path).extension() == ".toml") {
      hint = "a plan runs by 'kiln sweep " + path + "'";
    } else if (const fs::path name = fs::path(path).filename();
               is_kernel_folder(fs::absolute(path).parent_path())) {
      const std::string folder = path.substr(0, path.size() - name.string().size());
      hint = "name the folder of this file, " + (folder.empty() ? "./" : folder);
    }
    return {{path, 0, 0}, "is a file: a kernel is a folder with spec.toml; " + hint};
  }
  std::set<std::string> kernels;
  for (const auto& entry : fs::directory_iterator(path, error)) {
    if (is_kernel_folder(entry.path())) kernels.insert(entry.path().string());
  }
  const std::string below = comma_list({kernels.begin(), kernels.end()});
  return {{path, 0, 0},
          "no spec.toml here: a kernel is a folder with spec.toml and its templates" +
              (below.empty() ? "" : "; below it are " + below)};
}

}  // namespace

KernelSpec KernelLibrary::load(const std::string& name_or_path) const {
  if (name_or_path.empty() || name_or_path.find('\0') != std::string::npos) {
    throw InputError("give the name of a kernel or the path of its folder");
  }
  for (const fs::path& folder : folders_) {
    if (fs::absolute(folder / "").parent_path().filename() == name_or_path)
      return load_folder(folder);
  }
  // Tables and databases name a kernel as its spec does, whatever its folder is called.
  for (const fs::path& folder : folders_) {
    if (stated_name(folder) == name_or_path) return load_folder(folder);
  }
  std::vector<std::string> built_in = embedded_names();
  if (std::count(built_in.begin(), built_in.end(), name_or_path) > 0)
    return load_embedded("kernels/" + name_or_path);

  fs::path path = name_or_path;
  if (path.filename() == "spec.toml")
    path = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (is_kernel_folder(path)) return load_folder(path);
  std::error_code error;
  const bool is_path = name_or_path.find('/') != std::string::npos;
  if (is_path || fs::exists(name_or_path, error)) throw no_kernel(name_or_path);
  std::string searched = "built into kiln";
  for (const fs::path& folder : searched_) searched += ", " + folder.string();
  throw InputError("unknown kernel '" + name_or_path + "'" + did_you_mean(name_or_path, names()) +
                   " (there are " + comma_list(names()) + "; searched: " + searched + ")");
}

KernelSpec KernelLibrary::load_text(const std::string& text, const fs::path& path) {
  KernelSpec spec = parse_spec(text, path.string());
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".inja") continue;
    require_inside(folder, entry.path());
    spec.files[entry.path().filename().string()] = read_input(entry.path(), kKernelFile);
  }
  for (const Variant& variant : spec.variants) {
    if (variant.plain) read_sources(spec, folder, *variant.plain);
  }
  if (spec.verify.outside && spec.verify.outside->function) {
    const OutsideFunction& function = *spec.verify.outside->function;
    read_named(spec, folder, function.file, function.where, "[verify]");
  }
  if (spec.command) {
    for (const std::string& name : spec.command->files)
      read_named(spec, folder, name, spec.command->where, "[command]");
  }
  add_shared(spec);
  spec.shipped_computation = shipped_computation(spec.name);
  return spec;
}

KernelSpec KernelLibrary::load_toolbox() { return load_embedded("toolbox"); }
KernelSpec KernelLibrary::load_ceilings() { return load_embedded("ceilings"); }

}  // namespace kiln

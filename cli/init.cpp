// `kiln init FILE`: a first spec for a plain source, or for another tuner's description of one.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <memory>
#include <sstream>

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/init/draft.hpp"
#include "cli/options.hpp"
#include "cli/print.hpp"
#include "cli/recorded_files.hpp"
#include "cli/text_files.hpp"
#include "cli/trust.hpp"
#include "core/input_file.hpp"
#include "core/shell_word.hpp"
#include "core/suggest.hpp"
#include "interchange/kernel_tuner_cache.hpp"
#include "spec/parse_spec.hpp"
#include "templates/renderer.hpp"

namespace kiln::cli {
namespace fs = std::filesystem;
namespace {

struct InitFlags {
  fs::path source;
  fs::path t1;
  fs::path kernel_tuner;  ///< a T1 file as Kernel Tuner reads it, or a cache that it wrote
  std::string kernel;
  bool force = false;
};

const SourceKernel& chosen(const SourceFacts& facts, const InitFlags& options) {
  const std::string file = options.source.string();
  std::vector<std::string> names;
  for (const SourceKernel& kernel : facts.kernels) names.push_back(kernel.name);
  if (names.empty()) {
    throw InputError({file, 0, 0},
                     "no kernel found; expected __global__ void NAME(...) or "
                     "__kernel void NAME(...)");
  }
  if (options.kernel.empty()) {
    if (names.size() == 1) return facts.kernels.front();
    throw UsageError(fmt::format("{} has {} kernels ({}): name one with --kernel", file,
                                 names.size(), comma_list(names)));
  }
  const auto found = std::find(names.begin(), names.end(), options.kernel);
  if (found == names.end()) {
    throw UsageError(fmt::format("{} has no kernel '{}'{} (it has: {})", file, options.kernel,
                                 did_you_mean(options.kernel, names), comma_list(names)));
  }
  return facts.kernels[static_cast<std::size_t>(found - names.begin())];
}

/// Why no spec was written: a fault of the draft, whose place is in no file that anybody can look
/// at, so that the line itself stands in its place.
std::string unwritten_text(const std::string& fault, const std::string& file,
                           const std::string& draft) {
  int number = 0;
  const char* first = fault.c_str() + std::min(file.size() + 1, fault.size());
  const auto [end, bad] = std::from_chars(first, fault.c_str() + fault.size(), number);
  if (!fault.starts_with(file + ":") || bad != std::errc()) return "no spec was written: " + fault;
  std::istringstream lines(draft);
  std::string line;
  for (int i = 0; i < number; ++i) std::getline(lines, line);
  const std::size_t words = fault.find(": ", static_cast<std::size_t>(end - fault.c_str()));
  return fmt::format("no spec was written, for of its line `{}`: {}", line,
                     words == std::string::npos ? fault : fault.substr(words + 2));
}

/// Writes the spec beside the source, and proves that Kiln reads it.
ExitCode write(Draft draft, const fs::path& folder, bool force) {
  const std::vector<std::string> taken = KernelLibrary().names();
  const bool is_taken = std::find(taken.begin(), taken.end(), draft.name) != taken.end();
  if (is_taken) {
    draft.comments.push_back(
        fmt::format("Called my_{0}, as {0} is a kernel that comes with Kiln.", draft.name));
    draft.name.insert(0, "my_");
  }
  const fs::path file = folder / "spec.toml";
  std::error_code unused;
  if (!force && fs::exists(file, unused)) {
    throw UsageError(fmt::format(
        "{} is there already: --force replaces it; a kernel beside it needs a folder of its own",
        file.string()));
  }
  const std::string text = spec_text(draft);
  try {
    (void)parse_spec(text, file.string());
  } catch (const InputError& error) {
    throw InputError(unwritten_text(error.what(), file.string(), text));
  }
  write_text_file(file, text, {{}, force});
  trust_folder(folder.empty() ? "." : folder);
  const KernelSpec spec = KernelLibrary().load(file.string());
  (void)Renderer(spec);
  // A bare name may be that of a built-in kernel, which comes first.
  const bool is_bare = folder.is_relative() && folder.string().front() != '.';
  const std::size_t guesses = guesses_in(draft);
  print_shown("{}: {}, then\n  kiln tune {}", file.string(),
              guesses == 1 ? "1 line is a guess; confirm it"
                           : fmt::format("{} lines are guesses; confirm them", guesses),
              shell_word((is_bare ? "./" : "") + folder.string()));
  for (const ProblemField& field : spec.problem) {
    print_shown("{}{}=...", &field == &spec.problem.front() ? " --problem " : ",", field.name);
  }
  print_shown("\n");
  if (is_taken) print_shown("{}\n", draft.comments.back());
  return ExitCode::ok;
}

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

/// A macro of the source takes the values that Kernel Tuner tried. `text`: its cache.
void take_values(Draft& draft, const std::string& text, const std::string& path) {
  const RecordedTrials recorded = read_kernel_tuner_cache(text, path);
  std::vector<std::string> unused;
  for (const RecordedTunable& tunable : recorded.tunables) {
    if (!set_values(draft, tunable.name, tunable.values)) unused.push_back(tunable.name);
  }
  if (unused.size() == recorded.tunables.size()) {
    throw InputError({path, 0, 0},
                     fmt::format("none of its tunables ({}) is a macro or a template parameter of "
                                 "the source",
                                 comma_list(unused)));
  }
  for (const std::string& name : unused)
    draft.comments.push_back(name + " of " + path + " is no macro of the source");
}

ExitCode init_from_kernel_tuner(const InitFlags& options) {
  const std::string path = options.kernel_tuner.string();
  const std::string text = read_maybe_gzip(path);
  if (!is_kernel_tuner_cache(text)) {
    if (!options.source.empty()) {
      throw UsageError(fmt::format("--kernel-tuner {}: a T1 file names its source itself", path));
    }
    return write(draft_from_t1(text, path), folder_of(options.kernel_tuner), options.force);
  }
  if (options.source.empty())
    throw UsageError(fmt::format("--kernel-tuner {}: a cache needs the source beside it", path));
  const SourceFacts facts = read_source(read_input(options.source, kSourceFile));
  Draft draft =
      draft_from_source(facts, chosen(facts, options), options.source.filename().string());
  take_values(draft, text, path);
  return write(draft, folder_of(options.source), options.force);
}

ExitCode run_init(const InitFlags& options) {
  if (!options.kernel_tuner.empty()) {
    if (!options.t1.empty()) throw UsageError("--t1 and --kernel-tuner exclude each other");
    return init_from_kernel_tuner(options);
  }
  if (options.source.empty() == options.t1.empty()) {
    throw UsageError("init needs a source, or --t1 with a file, and not both");
  }
  if (!options.t1.empty()) {
    const std::string text = read_input(options.t1, {"a T1 file", 16 * kMiB});
    return write(draft_from_t1(text, options.t1.string()), folder_of(options.t1), options.force);
  }
  const std::string text = read_input(options.source, kSourceFile);
  const SourceFacts facts = read_source(text);
  const Draft draft =
      draft_from_source(facts, chosen(facts, options), options.source.filename().string());
  return write(draft, folder_of(options.source), options.force);
}

}  // namespace

void add_init_command(CLI::App& app, Work& work) {
  auto options = std::make_shared<InitFlags>();
  CLI::App* command =
      app.add_subcommand("init", "Write a first spec for a plain source, for you to confirm");
  add_value(*command, "source", options->source, "FILE",
            "File with the kernel: .cu, .hip, .cpp or .cl");
  add_value(*command, "--t1", options->t1, "FILE",
            "Description of a kernel in the T1 format of other tuners, in place of a source");
  add_value(*command, "--kernel-tuner", options->kernel_tuner, "FILE",
            "A T1 file as Kernel Tuner reads it, in place of a source; or a cache that it\n"
            "wrote, with the source: its tunables take the values that were tried");
  add_value(*command, "--kernel", options->kernel, "NAME",
            "Which kernel, where the file has several");
  command->add_flag("--force", options->force, "Replace a spec.toml that is there");
  command->footer(
      "Writes spec.toml beside the source, or beside the T1 file. Parameters are read from the "
      "source;\n"
      "macros under #ifndef and template parameters become tunables. What Kiln cannot know (sizes "
      "of\n"
      "buffers, the grid) is guessed and marked GUESS.\n"
      "\n"
      "Example:\n"
      "  kiln init ./mine/matmul.cu --kernel tiled\n"
      "  kiln init ./mine/matmul.cu --kernel-tuner cache.json");
  command->callback([options, &work] { work = [options] { return run_init(*options); }; });
}

}  // namespace kiln::cli

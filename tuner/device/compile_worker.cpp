// The compile worker: one source in, one binary or log out.
// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <memory>
#include <new>
#include <sstream>

#include <fmt/format.h>

#include "backends/backend.hpp"
#include "core/command_spec.hpp"
#include "core/suggest.hpp"
#include "templates/prelude.hpp"
#include "tuner/device/worker_loops.hpp"
#include "tuner/workers/messages.hpp"

namespace kiln {
namespace {

/// A compiler whose memory ran out throws, where it does not end the process with words of its own.
Result<Binary> compile_within_memory(Compiler& compiler, const Source& source) {
  try {
    return compiler.compile(source);
  } catch (const std::bad_alloc&) {
    rlimit limit{};
    ::getrlimit(RLIMIT_DATA, &limit);
    if (limit.rlim_cur == RLIM_INFINITY)
      return Failure{Outcome::compile_crash, "the compiler ran out of memory"};
    return Failure{Outcome::compile_crash,
                   fmt::format("the compiler wanted more than the {:.3g} GiB of memory that it "
                               "may have",
                               static_cast<double>(limit.rlim_cur) / (1 << 30))};
  }
}

/// A word in the line of the template that `message` begins with, which is nearly one of the
/// dialect: "; did you mean 'KERNEL'?". Empty: there is none.
std::string word_hint(const std::string& message, const Source& source,
                      const std::string& backend) {
  const auto origin = std::ranges::find_if(source.origins, [&](const std::string& each) {
    return !each.empty() && message.starts_with(each + ": ");
  });
  if (origin == source.origins.end()) return "";
  std::istringstream lines(source.text);
  std::string line;
  for (auto i = source.origins.begin(); i <= origin; ++i) std::getline(lines, line);
  const std::vector<std::string> known = dialect_words(backend);
  std::string word;
  for (const char c : line + ' ') {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      word += c;
      continue;
    }
    const bool is_upper =
        std::isupper(static_cast<unsigned char>(word.empty() ? ' ' : word[0])) != 0;
    const bool is_odd = is_upper && std::ranges::find(known, word) == known.end() &&
                        source.text.find("#define " + word) == std::string::npos;
    if (is_odd && nearest_name(word, known))
      return fmt::format(" ('{}'{})", word, did_you_mean(word, known));
    word.clear();
  }
  return "";
}

/// The same message, with a hint at the end of its first line.
Failure with_word_hint(Failure failure, const Source& source, const std::string& backend) {
  if (failure.outcome != Outcome::compile_error || backend == kCommandBackend) return failure;
  const std::string hint = word_hint(failure.message, source, backend);
  failure.message.insert(std::min(failure.message.find('\n'), failure.message.size()), hint);
  return failure;
}

}  // namespace

void serve_compile_jobs(const WorkerOptions& options, const WorkerParts& parts,
                        BlockingChannel& channel) {
  std::unique_ptr<Compiler> compiler;
  while (const auto frame = channel.receive()) {
    const CompileJob job = decode<CompileJob>(*frame);
    if (!compiler) {
      compiler = parts.open_compiler(options, job.target);
      compiler->prepare_for(job.use);
    }
    const auto start = std::chrono::steady_clock::now();
    Result<Binary> binary = compile_within_memory(*compiler, job.source);
    const std::chrono::nanoseconds spent = std::chrono::steady_clock::now() - start;

    CompileReport report;
    report.compile_ns = spent.count();
    if (binary) {
      report.binary = std::move(*binary);
    } else {
      report.failure = with_word_hint(binary.failure(), job.source, job.target.backend);
    }
    if (!channel.send(encode(report))) return;
  }
}

}  // namespace kiln

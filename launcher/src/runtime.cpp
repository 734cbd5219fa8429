// SPDX-License-Identifier: Apache-2.0
#include "launcher/src/runtime.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "core/errors.hpp"
#include "launcher/src/cache_key.hpp"
#include "launcher/src/queue_launch.hpp"

namespace kiln {
namespace {

// libamdhip64 brings an LLVM that cannot share a process with PoCL's: load it only where the kernel
// driver of AMD GPUs is.
bool may_have_devices(std::string_view backend) {
  std::error_code error;
  return backend != "hip" || std::filesystem::exists("/dev/kfd", error);
}

std::unique_ptr<Backend> first_backend_with_a_device() {
  std::string reasons;
  for (const std::string_view name : backend_names()) {
    if (!may_have_devices(name)) {
      reasons += fmt::format("\n  {}: there is no /dev/kfd", name);
      continue;
    }
    try {
      std::unique_ptr<Backend> backend = make_backend(name);
      if (!backend->devices().empty()) {
        return backend;
      }
    } catch (const DeviceError& error) {
      reasons += fmt::format("\n  {}: {}", name, error.what());
    }
  }
  throw DeviceError("no backend has a device:" + reasons);
}

std::unique_ptr<Device> open(Backend& backend, const Launcher::Options& options) {
  if (!options.native) {
    return backend.open_device(options.ordinal);
  }
  const Launcher::Native& native = *options.native;
  return backend.attach(
      {.context = native.context, .device = native.device, .queue = native.queue});
}

}  // namespace

Runtime::Runtime(const Launcher::Options& options) : toolkit_(options.toolkit) {
  if (options.backend == "auto" && options.native) {
    throw UsageError("the backend must be named where the application gives its own queue");
  }
  backend_ =
      options.backend == "auto" ? first_backend_with_a_device() : make_backend(options.backend);
  device_ = open(*backend_, options);
  if (options.native && QueueKey::is_one_of_many(options.native->queue))
    own_stream_per_thread_ = options.native->queue;
  known_to_lookup_ = device_->info();
  if (known_to_lookup_.compiler.ends_with("unavailable")) {
    known_to_lookup_.compiler
        .clear();  // nothing will be compiled here: no sign that a row is stale
  }
  device_text_ = fmt::format("{} {} ({})", selector_of(info()), info().name, info().architecture);
  if (options.use_cache) {
    CacheLimit limit{options.cache_bytes, ""};
    if (options.cache_bytes == 0) limit = default_cache_limit();
    cache_limit_trouble_ = std::move(limit.trouble);
    cache_ = std::make_unique<BinaryCache>(options.cache_folder.empty()
                                               ? default_cache_folder()
                                               : std::filesystem::path(options.cache_folder),
                                           limit.bytes);
    cache_trouble_ = cache_->trouble();
  }
}

Device& Runtime::on_queue(void* queue) {
  device_->use_queue(queue);
  return *device_;
}

Result<Binary> Runtime::compile(const Source& source) {
  if (!compiler_) {
    try {
      compiler_ = backend_->open_compiler(info());
    } catch (const DeviceError& error) {
      return Failure{Outcome::compile_error, error.what()};
    }
  }
  return compiler_->compile(source);
}

Result<std::unique_ptr<Module>> Runtime::load_on_device(const Binary& binary) {
  const std::unique_lock held = lock();
  return device_->load(binary);
}

Result<Runtime::Program*> Runtime::load(const Source& source) {
  const std::string key = cache_key(source, info(), backend_->compiler_options(), toolkit_);
  const std::lock_guard held(load_mutex_);
  Program& program = programs_[{key, nullptr, 0}];
  if (const Status filled = fill(program, source, key); !filled) return filled.failure();
  return &program;
}

Result<Runtime::Program*> Runtime::take(const Source& source, void* queue) {
  const std::string key = cache_key(source, info(), backend_->compiler_options(), toolkit_);
  const std::lock_guard held(load_mutex_);
  std::size_t number = 1;
  while (programs_[{key, queue, number}].taken) ++number;
  Program& program = programs_[{key, queue, number}];
  if (const Status filled = fill(program, source, key); !filled) return filled.failure();
  program.taken = true;
  return &program;
}

Result<std::unique_ptr<QueueTimer>> Runtime::make_timer(void* queue) {
  const std::unique_lock held = lock();
  return device_->make_timer(queue);
}

bool Runtime::has_binary(const Source& source) {
  const std::string key = cache_key(source, info(), backend_->compiler_options(), toolkit_);
  {
    const std::lock_guard held(load_mutex_);
    const auto shared = programs_.find({key, nullptr, 0});
    if (shared != programs_.end() && shared->second.module) return true;
    if (compiled_ahead_.contains(key)) return true;
  }
  return cache_ && cache_->find(key);
}

Status Runtime::compile_ahead(const Source& source) {
  if (has_binary(source)) return Done{};
  if (!compiler_ahead_) {
    try {
      compiler_ahead_ = backend_->open_compiler(info());
    } catch (const DeviceError& error) {
      return Failure{Outcome::compile_error, error.what()};
    }
  }
  Result<Binary> binary = compiler_ahead_->compile(source);
  if (!binary) return binary.failure();
  const std::string key = cache_key(source, info(), backend_->compiler_options(), toolkit_);
  if (cache_) cache_->store(key, *binary, info().compiler);
  const std::lock_guard held(load_mutex_);
  compiled_ahead_.emplace(key, std::move(*binary));
  return Done{};
}

void Runtime::release(Program* taken) {
  const std::lock_guard held(load_mutex_);
  taken->taken = false;
}

void Runtime::forget_queue(void* queue) {
  const std::lock_guard held(load_mutex_);
  const auto device_held = lock();
  std::erase_if(programs_, [&](const auto& entry) {
    const auto& [key, of_queue, number] = entry.first;
    return number > 0 && of_queue == queue && !entry.second.taken;
  });
  device_->use_queue(nullptr);  // not one that will be gone
}

Status Runtime::fill(Program& program, const Source& source, const std::string& key) {
  auto& [module, from_cache, taken] = program;
  if (module) return Done{};
  if (const auto ahead = compiled_ahead_.extract(key); !ahead.empty()) {
    Result<std::unique_ptr<Module>> loaded = load_on_device(ahead.mapped());
    if (!loaded) return loaded.failure();
    module = std::move(*loaded);
    return Done{};
  }
  if (const std::optional<CachedBinary> cached = cache_ ? cache_->find(key) : std::nullopt) {
    Result<std::unique_ptr<Module>> loaded = load_on_device(cached->binary);
    if (loaded) {
      module = std::move(*loaded);
      from_cache = true;
      return Done{};
    }
    // A binary that this driver does not take: compile as if there were none.
  }
  const Result<Binary> binary = compile(source);
  if (!binary) {
    return binary.failure();
  }
  Result<std::unique_ptr<Module>> loaded = load_on_device(*binary);
  if (!loaded) {
    return loaded.failure();
  }
  if (cache_) {
    cache_->store(key, *binary, info().compiler);
  }
  module = std::move(*loaded);
  return Done{};
}

}  // namespace kiln

// SPDX-License-Identifier: Apache-2.0
#include "blas/takeover.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <vector>

#include <fmt/format.h>

#include "backends/cuda/cuda_api.hpp"
#include "blas/driver.hpp"
#include "blas/settings.hpp"
#include "core/errors.hpp"
#include "templates/library.hpp"
#include "templates/reference.hpp"

namespace kiln::blas {
namespace {

constexpr std::int64_t kWorkspacePart = 16;  // one in so many bytes of the device
constexpr int kNiceness = 19;
constexpr int kRecordMs = 200;       // between two looks at samples
constexpr int kWriteEveryLooks = 5;  // looks between two writings of a record
constexpr int kRelaxedCapture = 2;   // CU_STREAM_CAPTURE_MODE_RELAXED

void* current_context() noexcept {
  void* context = nullptr;
  cuda().context_get_current(&context);
  return context;
}

/// Whether work on the stream goes into a graph, or the driver does not say. Such calls stay the
/// library's: a graph outlives what this library knows of its memory.
bool is_captured(void* stream) noexcept {
  const StreamApi& api = cuda().stream;
  int state = kCaptureNone;
  return api.is_capturing == nullptr || api.is_capturing(stream, &state) != 0 ||
         state != kCaptureNone;
}

/// How far two right results may be apart, as the norm of the difference over the norm.
double bound_of(const MatrixProduct& product) {
  const double walk = std::sqrt(static_cast<double>(product.k));
  const double rounding = epsilon_of(product.out);
  if (product.precision == MatrixProduct::Precision::high) return 2e-3;
  const double sum = product.dtype == DType::f64 ? epsilon_of(DType::f64) : epsilon_of(DType::f32);
  return rounding + 4 * sum * walk;
}

/// Memory of the device while a call is checked.
class CheckMemory {
 public:
  explicit CheckMemory(std::size_t bytes) {
    if (cuda().stream.mem_alloc(&address_, bytes) != 0) address_ = 0;
  }
  ~CheckMemory() {
    if (address_ != 0) cuda().stream.mem_free(address_);
  }
  CheckMemory(const CheckMemory&) = delete;
  CheckMemory& operator=(const CheckMemory&) = delete;
  [[nodiscard]] std::uintptr_t address() const { return address_; }

 private:
  std::uintptr_t address_ = 0;
};

/// Compares the elements of C alone, not what lies between its rows. NaN in both places agrees.
double distance(const MatrixProduct& product, const HostArray& mine, const HostArray& theirs) {
  double difference = 0;
  double norm = 0;
  for (std::int64_t batch = 0; batch < product.batch; ++batch) {
    for (std::int64_t row = 0; row < product.m; ++row) {
      const std::int64_t first = batch * product.stride_c + row * product.ldc;
      for (std::int64_t column = 0; column < product.n; ++column) {
        const auto at = static_cast<std::size_t>(first + column);
        const double a = mine.get(at);
        const double b = theirs.get(at);
        if (a == b || (std::isnan(a) && std::isnan(b))) {
          norm += std::isfinite(b) ? b * b : 0;
          continue;
        }
        difference += (a - b) * (a - b);
        norm += b * b;
      }
    }
  }
  return difference == 0 ? 0 : std::sqrt(difference / norm);
}

}  // namespace

Takeover& Takeover::instance() noexcept {
  static Takeover& takeover = *new Takeover;
  return takeover;
}

Takeover::Takeover() : recording_(settings().record), process_(::getpid()) {
  ::sem_init(&work_, 0, 0);
  if (settings().is_idle()) {
    knows_nothing_ = true;
    return;
  }
  try {
    table_ = std::make_unique<ProductTable>();
    (void)cuda();
    (void)driver();
    // The program's signals are none of the thread's business.
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { run(); });
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    std::atexit([] { instance().stop(); });
  } catch (const std::exception& error) {
    knows_nothing_ = true;
    tell(std::string("everything is forwarded: ") + error.what());
  }
}

std::optional<std::size_t> Takeover::current_device() noexcept {
  void* const context = current_context();
  if (context == nullptr) return std::nullopt;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    void* known = devices_[i].context.load(std::memory_order_acquire);
    if (known == context) return i;
    if (known != nullptr) continue;
    if (devices_[i].context.compare_exchange_strong(known, context) || known == context) return i;
  }
  return std::nullopt;
}

int Takeover::serve(const RealLibrary& real, const ProductCall& call, Forward& forward) noexcept {
  bool is_new = false;
  ProductEntry* entry = table_->find_or_add(call.product, real, is_new);
  if (entry == nullptr) return forward();
  const std::optional<std::size_t> index = current_device();
  if (!index) return forward();
  ProductEntry::OnDevice& here = entry->devices[*index];
  if (!here.wanted.load(std::memory_order_relaxed) && !here.wanted.exchange(true)) {
    entry->function.store(call.function, std::memory_order_relaxed);
    wake();
  }
  const ReadyProduct* kernel = enabled_.load(std::memory_order_relaxed)
                                   ? here.kernel.load(std::memory_order_acquire)
                                   : nullptr;
  if (kernel != nullptr && settings().mode == Settings::Mode::check)
    return check(call, *kernel, forward);
  const auto launched = [&] {
    return kernel != nullptr && !is_captured(call.stream) && kernel->launch(call);
  };
  if (!recording_.is_on()) return launched() ? cublas::kSuccess : forward();
  Recording::Sample* sample =
      recording_.begin(*entry, devices_[*index].context.load(), call.stream);
  int status = cublas::kSuccess;
  if (launched()) {
    entry->taken_over.fetch_add(1, std::memory_order_relaxed);
  } else {
    status = forward();
  }
  Recording::end(sample, call.stream);
  return status;
}

/// The program gets the library's result. Waits for the stream: a check is not for every day.
int Takeover::check(const ProductCall& call, const ReadyProduct& kernel,
                    Forward& forward) noexcept {
  const StreamApi& api = cuda().stream;
  if (is_captured(call.stream)) return forward();
  try {
    const MatrixProduct& product = call.product;
    const auto count = static_cast<std::size_t>(product.extent_of_c());
    const std::size_t bytes = count * size_of(product.out);
    const CheckMemory mine(bytes);
    ProductCall twin = call;
    twin.operands.c = reinterpret_cast<void*>(mine.address());
    const auto c = reinterpret_cast<std::uintptr_t>(call.operands.c);
    const bool ran = mine.address() != 0 &&
                     api.copy_on_device(mine.address(), c, bytes, call.stream) == 0 &&
                     kernel.launch(twin);
    const int status = forward();
    if (!ran || status != cublas::kSuccess) return status;
    HostArray ours(product.out, {product.extent_of_c()});
    HostArray theirs(product.out, {product.extent_of_c()});
    if (api.copy_to_host(ours.data.data(), mine.address(), bytes, call.stream) != 0 ||
        api.copy_to_host(theirs.data.data(), c, bytes, call.stream) != 0 ||
        api.stream_synchronize(call.stream) != 0) {
      return status;
    }
    const double apart = distance(product, ours, theirs);
    const bool is_beyond = !(apart <= bound_of(product));
    const std::lock_guard held(check_mutex_);
    ++checked_;
    beyond_ += is_beyond ? 1 : 0;
    if (is_beyond)
      tell(fmt::format("check: {} differs by {:.3g} of its norm, the bound is {:.3g}: {}",
                       call.function, apart, bound_of(product), problem_text(product)));
    if (!(apart <= worst_)) {
      worst_ = apart;
      worst_product_ = problem_text(product);
    }
    return status;
  } catch (...) {
    return forward();
  }
}

// --- The thread ---------------------------------------------------------------------------------

void Takeover::run() {
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), kNiceness);
  // What this thread allocates and loads has nothing to do with captures of the program's threads.
  int mode = kRelaxedCapture;
  if (driver().exchange_capture_mode != nullptr) driver().exchange_capture_mode(&mode);
  try {
    matmul_ = std::make_shared<const KernelSpec>(KernelLibrary().load("matmul"));
  } catch (const std::exception& error) {
    tell(std::string("everything is forwarded: ") + error.what());
  }
  int looks = 0;
  while (!stopping_.load()) {
    if (recording_.is_on()) {
      timespec until{};
      ::clock_gettime(CLOCK_REALTIME, &until);
      until.tv_nsec += kRecordMs * 1'000'000L;
      until.tv_sec += until.tv_nsec / 1'000'000'000L;
      until.tv_nsec %= 1'000'000'000L;
      ::sem_timedwait(&work_, &until);
    } else {
      ::sem_wait(&work_);
    }
    if (stopping_.load() || !matmul_) continue;
    for (OnDevice& device : devices_) {
      if (device.context.load() != nullptr && !device.is_open) open(device);
    }
    table_->for_each([&](ProductEntry& entry) {
      for (std::size_t i = 0; i < devices_.size() && devices_[i].is_open; ++i) {
        ProductEntry::OnDevice& here = entry.devices[i];
        if (!stopping_.load() && here.wanted.load() && !here.answered.load()) answer(entry, i);
      }
    });
    if (!recording_.is_on()) continue;
    recording_.harvest();
    if (++looks % kWriteEveryLooks != 0) continue;
    const OnDevice& first = devices_.front();
    recording_.write(*table_, first.runtime ? selector_of(first.runtime->info()) : "");
  }
}

void Takeover::open(OnDevice& device) {
  device.is_open = true;
  void* const context = device.context.load();
  try {
    Launcher::Options options;
    options.backend = "cuda";
    options.native = Launcher::Native{context, nullptr, nullptr};
    device.runtime = std::make_shared<Runtime>(options);
    const DeviceInfo& info = device.runtime->info();
    if (settings().mode != Settings::Mode::off)
      device.known = read_known_products(settings().database, *matmul_, info, trouble_);
    device.workspaces =
        std::make_unique<Workspaces>(static_cast<std::size_t>(info.global_bytes / kWorkspacePart));
    if (!device.known.empty()) {
      // NVRTC registers what it does at exit when it is loaded; this process must wait for the
      // thread before that.
      (void)make_backend("cuda")->open_compiler(info);
      std::atexit([] { instance().stop(); });
    }
  } catch (const std::exception& error) {
    trouble_ = error.what();
  }
  const bool knows = std::any_of(devices_.begin(), devices_.end(),
                                 [](const OnDevice& each) { return !each.known.empty(); });
  if (knows) return;
  if (!trouble_.empty()) tell("everything is forwarded: " + trouble_);
  // Another device may know more: what it says comes with its first call.
  knows_nothing_ = !recording_.is_on() && devices_[1].context.load() == nullptr;
}

void Takeover::answer(ProductEntry& entry, std::size_t index) {
  OnDevice& device = devices_[index];
  ProductEntry::OnDevice& here = entry.devices[index];
  here.answered = true;
  if (device.known.empty()) return;
  std::string text;
  try {
    const Problem problem = Problem::parse(*matmul_, problem_text(entry.product));
    text = problem.text();
    const auto known = device.known.find(text);
    if (known == device.known.end() || known->second.library != entry.library->release) return;
    Result<std::unique_ptr<ReadyProduct>> ready = ReadyProduct::make(
        device.runtime, *device.workspaces, matmul_, problem, known->second.config);
    if (!ready) {
      tell_once(ready.failure().message, text);
      return;
    }
    here.kernel.store(ready->release(), std::memory_order_release);  // for ever
  } catch (const InputError&) {
    return;  // no problem of `matmul`
  } catch (const std::exception& error) {
    tell_once(error.what(), text);
  }
}

void Takeover::tell_once(const std::string& reason, const std::string& problem) {
  if (!told_.insert(reason).second) return;
  tell("a product stays the library's: " + reason + ": " + problem);
}

void Takeover::stop() {
  if (::getpid() != process_ || stopping_.exchange(true)) return;
  wake();
  if (thread_.joinable()) thread_.join();
  if (recording_.is_on() && table_) {
    recording_.harvest();
    const OnDevice& first = devices_.front();
    recording_.write(*table_, first.runtime ? selector_of(first.runtime->info()) : "");
  }
  const std::lock_guard held(check_mutex_);
  if (checked_ == 0) return;
  tell(
      fmt::format("check: {} calls compared, {} beyond the bound; the largest difference is {:.3g} "
                  "of the norm: {}",
                  checked_, beyond_, worst_, worst_product_));
}

}  // namespace kiln::blas

// Selects and launches tuned kernels through a kiln::Launcher on the database of the comparison.
// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/kiln_side.hpp"

#include <cstdint>
#include <map>

#include <kiln/launcher.hpp>

namespace kiln::peers {
namespace {

bool is_whole(const std::string& dtype) { return dtype.front() == 'i' || dtype.front() == 'u'; }

class LaunchedKernel final : public TunedKernel {
 public:
  LaunchedKernel(Launcher::Kernel kernel, const Workload& workload)
      : kernel_(std::move(kernel)), result_(workload.output_dtype, workload.output_count) {
    for (const Workload::Output& output : workload.other_outputs)
      others_.emplace(output.name, DeviceArray(output.dtype, output.count));
    for (const Launcher::Kernel::Requirement& need : kernel_.arguments()) {
      if (need.scalar) {
        const double value = workload.scalars.at(need.name);
        arguments_.push_back(is_whole(need.dtype)
                                 ? scalar(need.name, static_cast<std::int64_t>(value))
                                 : scalar(need.name, value));
      } else {
        const auto other = others_.find(need.name);
        const DeviceArray& array = need.name == workload.output ? result_
                                   : other != others_.end()     ? other->second
                                                                : workload.inputs.at(need.name);
        arguments_.push_back(memory(need.name, array.data(), array.bytes()));
      }
    }
  }

  std::string name() const override { return "Kiln"; }
  void run(cudaStream_t stream) override {
    kernel_.launch(stream, arguments_.data(), arguments_.size()).value();
  }
  const DeviceArray* result() const override { return &result_; }
  std::string config() const override { return kernel_.match().config; }
  std::string grade() const override { return to_string(kernel_.match().grade); }
  std::string reason() const override { return kernel_.match().reason; }

 private:
  Launcher::Kernel kernel_;  // owns the names that arguments_ refers to
  DeviceArray result_;
  std::map<std::string, DeviceArray> others_;
  std::vector<LaunchArgument> arguments_;
};

Launcher::Options options_for(const std::string& database, cudaStream_t stream) {
  Launcher::Options options = Launcher::Options::on_cuda_stream(stream);
  if (!database.empty()) options.databases = {database};
  return options;
}

}  // namespace

struct KilnSide::Impl {
  Launcher launcher;
};

KilnSide::KilnSide(const std::string& database, cudaStream_t stream)
    : impl_(new Impl{Launcher(options_for(database, stream))}) {}
KilnSide::~KilnSide() = default;

const std::string& KilnSide::device() const { return impl_->launcher.device(); }

std::vector<std::string> KilnSide::warnings() const {
  std::vector<std::string> texts;
  for (const Launcher::Warning& warning : impl_->launcher.warnings())
    texts.push_back(warning.message);
  return texts;
}

std::unique_ptr<TunedKernel> KilnSide::prepare(const Workload& workload) const {
  return std::make_unique<LaunchedKernel>(
      impl_->launcher.prepare(workload.kernel, workload.text).value(), workload);
}

}  // namespace kiln::peers

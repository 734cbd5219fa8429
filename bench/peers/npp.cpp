// The peers from NPP: the chain of calls that does what preprocess does in one launch.
// SPDX-License-Identifier: Apache-2.0
#include <exception>

#include <fmt/format.h>

#include "bench/peers/cuda_check.hpp"
#include "bench/peers/host/load_error.hpp"
#include "bench/peers/host/npp_api.hpp"
#include "bench/peers/peer.hpp"

namespace kiln::peers {
namespace {

/// Of the current device; the stream comes with each run.
NppContext context_of_device() {
  int device = 0;
  cudaDeviceProp properties = {};
  KILN_CUDA(cudaGetDevice(&device));
  KILN_CUDA(cudaGetDeviceProperties(&properties, device));
  NppContext context;
  context.device = device;
  context.compute_units = properties.multiProcessorCount;
  context.max_threads_per_unit = properties.maxThreadsPerMultiProcessor;
  context.max_threads_per_block = properties.maxThreadsPerBlock;
  context.max_shared_bytes = properties.sharedMemPerBlock;
  context.major = properties.major;
  context.minor = properties.minor;
  return context;
}

/// What both chains work on: the sources, resized bytes, interleaved floats, planes. The resized
/// images stand one below the other, so that all but the first and the last step take them as one.
class NppChain : public Peer {
 public:
  explicit NppChain(const Workload& workload)
      : api_(npp()),
        context_(context_of_device()),
        images_(static_cast<int>(workload.problem.integer("n"))),
        pitch_(static_cast<int>(workload.problem.integer("pitch"))),
        source_{static_cast<int>(workload.problem.integer("src_w")),
                static_cast<int>(workload.problem.integer("src_h"))},
        size_{static_cast<int>(workload.problem.integer("out_w")),
              static_cast<int>(workload.problem.integer("out_h"))},
        all_{size_.width, size_.height * images_},
        interpolation_(workload.is("filter", "area") ? kNppSuper : kNppLinear),
        swaps_(workload.problem.text_of("format") != workload.problem.text_of("to")),
        resized_(DType::u8, workload.output_count),
        floats_(DType::f32, workload.output_count),
        output_(workload.output_dtype, workload.output_count) {
    const std::vector<double>& regions = workload.computed.at("regions");
    const auto* in = workload.inputs.at("in").as<const std::uint8_t>();
    for (int i = 0; i < images_; ++i)
      sources_.push_back(in + static_cast<std::int64_t>(regions[static_cast<std::size_t>(5 * i)]));
    for (int c = 0; c < 3; ++c) {
      scales_[c] = static_cast<float>(workload.scalars.at(fmt::format("scale_{}", c)));
      shifts_[c] = static_cast<float>(workload.scalars.at(fmt::format("shift_{}", c)));
    }
  }

  /// NPP's linear does something else where an image shrinks: it looks at `x * from / to`, not at
  /// the centre of pixel x.
  const DeviceArray* result() const override {
    const bool shrinks = source_.width > size_.width || source_.height > size_.height;
    return shrinks && interpolation_ == kNppLinear ? nullptr : &output_;
  }

 protected:
  [[nodiscard]] NppRect whole(NppSize size) const { return {0, 0, size.width, size.height}; }
  [[nodiscard]] std::uint8_t* resized(int image) const {
    return resized_.as<std::uint8_t>() + image * bytes_of_image();
  }
  [[nodiscard]] std::int64_t bytes_of_image() const {
    return std::int64_t{3} * size_.width * size_.height;
  }
  void resize_each(NppContext context) const {
    for (int i = 0; i < images_; ++i) {
      check_npp(
          api_.resize(sources_[static_cast<std::size_t>(i)], pitch_, source_, whole(source_),
                      resized(i), 3 * size_.width, size_, whole(size_), interpolation_, context),
          "nppiResize_8u_C3R_Ctx");
    }
  }
  void scale(const float* scales, const float* shifts, NppContext context) const {
    const int pitch = 3 * size_.width;
    const int float_pitch = pitch * static_cast<int>(sizeof(float));
    auto* floats = floats_.as<float>();
    check_npp(api_.convert(resized(0), pitch, floats, float_pitch, all_, context),
              "nppiConvert_8u32f_C3R_Ctx");
    check_npp(api_.multiply(scales, floats, float_pitch, all_, context), "nppiMulC_32f_C3IR_Ctx");
    check_npp(api_.add(shifts, floats, float_pitch, all_, context), "nppiAddC_32f_C3IR_Ctx");
  }
  /// `first`, `last`: which plane of the output the first and the last channel become.
  void copy_to_planes(int first, int last, NppContext context) const {
    const std::int64_t plane = std::int64_t{1} * size_.width * size_.height;
    for (int i = 0; i < images_; ++i) {
      float* to = output_.as<float>() + 3 * plane * i;
      float* const planes[3] = {to + first * plane, to + plane, to + last * plane};
      check_npp(api_.copy_to_planes(floats_.as<float>() + 3 * plane * i,
                                    3 * size_.width * static_cast<int>(sizeof(float)), planes,
                                    size_.width * static_cast<int>(sizeof(float)), size_, context),
                "nppiCopy_32f_C3P3R_Ctx");
    }
  }

  [[nodiscard]] NppContext on(cudaStream_t stream) const {
    NppContext context = context_;
    context.stream = stream;
    KILN_CUDA(cudaStreamGetFlags(stream, &context.stream_flags));
    return context;
  }

  const NppApi& api_;
  NppContext context_;
  int images_;
  int pitch_;
  NppSize source_;
  NppSize size_;
  NppSize all_;  ///< the output images one below the other
  int interpolation_;
  bool swaps_;
  std::vector<const std::uint8_t*> sources_;
  float scales_[3] = {};
  float shifts_[3] = {};
  DeviceArray resized_;
  DeviceArray floats_;
  DeviceArray output_;
};

/// Step by step, as the samples of NPP do it.
class NppStepByStep final : public NppChain {
 public:
  using NppChain::NppChain;
  std::string name() const override {
    return "NPP Resize, SwapChannels, Convert, MulC, AddC, Copy C3P3";
  }
  void run(cudaStream_t stream) override {
    constexpr int kReversed[3] = {2, 1, 0};
    const NppContext context = on(stream);
    resize_each(context);
    if (swaps_) {
      check_npp(api_.swap_channels(resized(0), 3 * size_.width, all_, kReversed, context),
                "nppiSwapChannels_8u_C3IR_Ctx");
    }
    scale(scales_, shifts_, context);
    copy_to_planes(0, 2, context);
  }
};

/// With as few calls as can be: all images resized in one, and channels swapped by the last copy.
class NppFewestCalls final : public NppChain {
 public:
  explicit NppFewestCalls(const Workload& workload) : NppChain(workload) {
    std::vector<NppBatchImage> batch;
    for (int i = 0; i < images_; ++i)
      batch.push_back({sources_[static_cast<std::size_t>(i)], pitch_, resized(i), 3 * size_.width});
    batch_ = DeviceArray(batch.size() * sizeof batch.front());
    KILN_CUDA(cudaMemcpy(batch_.data(), batch.data(), batch_.bytes(), cudaMemcpyHostToDevice));
  }
  std::string name() const override { return "NPP ResizeBatch, Convert, MulC, AddC, Copy C3P3"; }
  void run(cudaStream_t stream) override {
    const NppContext context = on(stream);
    check_npp(
        api_.resize_batch(source_, whole(source_), size_, whole(size_), interpolation_,
                          batch_.as<NppBatchImage>(), static_cast<unsigned>(images_), context),
        "nppiResizeBatch_8u_C3R_Ctx");
    const float scales[3] = {scales_[swaps_ ? 2 : 0], scales_[1], scales_[swaps_ ? 0 : 2]};
    const float shifts[3] = {shifts_[swaps_ ? 2 : 0], shifts_[1], shifts_[swaps_ ? 0 : 2]};
    scale(scales, shifts, context);
    copy_to_planes(swaps_ ? 2 : 0, swaps_ ? 0 : 2, context);
  }

 private:
  DeviceArray batch_;
};

}  // namespace

const std::string& why_no_npp() {
  static const std::string reason = load_error(npp);
  return reason;
}

void add_npp(const Workload& workload, Peers& peers) {
  const bool has_chain = workload.kernel == "preprocess" && !workload.is("format", "nv12") &&
                         workload.is("fit", "stretch") && workload.is("layout", "chw") &&
                         workload.is("dtype", "f32");
  if (!has_chain || !why_no_npp().empty()) return;
  peers.push_back(std::make_unique<NppStepByStep>(workload));
  if (workload.problem.integer("n") > 1)
    peers.push_back(std::make_unique<NppFewestCalls>(workload));
}

}  // namespace kiln::peers

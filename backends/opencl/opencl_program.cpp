// Compiling where nothing runs, linking where it runs.
// SPDX-License-Identifier: Apache-2.0
#include "backends/opencl/opencl_program.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "backends/compiler_log.hpp"
#include "backends/opencl/opencl_devices.hpp"
#include "core/errors.hpp"
#include "core/hash.hpp"

namespace kiln {
namespace {

// A Binary is one header line and a payload: "kiln-opencl KIND HASH OPTIONS\n". The hash is of the
// payload: drivers crash on damaged binaries, so they never see one.
constexpr std::string_view kMagic = "kiln-opencl";
constexpr std::string_view kProgramKind = "program";  // what clGetProgramInfo gave
constexpr std::string_view kObjectKind = "object";    // the same before linking
constexpr std::string_view kSourceKind =
    "source";  // drivers that give nothing: compiled again at loading

// PoCL, asked for the binary of a linked program, generates code for blocks of any size. A launch
// does not use it: it generates code for its own block size, once for small grids and once for
// large ones, which takes as long again each time. So a binary for one use is an object, and one
// that is to be ready has the code for the block size that its kernels require.
bool is_pocl(cl_device_id device) {
  cl_platform_id platform = nullptr;
  const cl_int code = opencl().get_device_info(device, CL_DEVICE_PLATFORM, sizeof(cl_platform_id),
                                               &platform, nullptr);
  return code == CL_SUCCESS && platform_text(platform, CL_PLATFORM_NAME) == kPoclName;
}

/// While it lives, PoCL also generates code for `block`, unless the user says for which.
class SpecializedBlock {
 public:
  explicit SpecializedBlock(const std::string& block) : set_(::getenv(kVariable) == nullptr) {
    if (set_) ::setenv(kVariable, (block + "-goffs0-smallgrid," + block + "-goffs0").c_str(), 1);
  }
  ~SpecializedBlock() {
    if (set_) ::unsetenv(kVariable);
  }
  SpecializedBlock(const SpecializedBlock&) = delete;

 private:
  static constexpr const char* kVariable = "POCL_BINARY_SPECIALIZE_WG";
  bool set_;
};

/// The block size that all kernels of `program` require, as PoCL writes it: "32-8-1"; empty where
/// there is no such size.
std::string required_block(cl_program program, cl_device_id device,
                           std::span<const std::string> entries) {
  std::string common;
  for (const std::string& entry : entries) {
    cl_int code = CL_SUCCESS;
    const OwnedKernel kernel = own(opencl().create_kernel(program, entry.c_str(), &code));
    std::array<std::size_t, 3> size{};
    if (code != CL_SUCCESS ||
        opencl().get_kernel_work_group_info(kernel.get(), device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
                                            sizeof size, &size, nullptr) != CL_SUCCESS ||
        size[0] == 0) {
      return {};
    }
    std::string block = fmt::format("{}-{}-{}", size[0], size[1], size[2]);
    if (!common.empty() && common != block) return {};
    common = std::move(block);
  }
  return common;
}

/// PoCL takes these from the options of a build only, not from an object.
bool matters_to_linking(std::string_view options) {
  constexpr std::string_view kLinkOptions[] = {"-cl-denorms-are-zero", "-cl-no-signed-zeros",
                                               "-cl-unsafe-math-optimizations",
                                               "-cl-finite-math-only", "-cl-fast-relaxed-math"};
  return std::any_of(
      std::begin(kLinkOptions), std::end(kLinkOptions),
      [&](std::string_view option) { return options.find(option) != std::string_view::npos; });
}

std::string build_log(cl_program program, cl_device_id device) {
  std::size_t bytes = 0;
  opencl().get_program_build_info(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &bytes);
  std::string log(bytes, '\0');
  opencl().get_program_build_info(program, device, CL_PROGRAM_BUILD_LOG, bytes, log.data(),
                                  nullptr);
  while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
  return log;
}

/// What `code` of `call` means: the program's log where there is one.
Failure build_failure(cl_int code, cl_program program, cl_device_id device, std::string_view call) {
  std::string log = program == nullptr ? std::string() : build_log(program, device);
  if (log.empty()) return opencl_failure(code, call, Outcome::compile_error);
  return {Outcome::compile_error, std::move(log)};
}

Result<OwnedProgram> make_program(cl_context context, std::string_view text) {
  const char* data = text.data();
  const std::size_t length = text.size();
  cl_int code = CL_SUCCESS;
  OwnedProgram program =
      own(opencl().create_program_with_source(context, 1, &data, &length, &code));
  if (code != CL_SUCCESS)
    return opencl_failure(code, "clCreateProgramWithSource", Outcome::compile_error);
  return program;
}

Result<OwnedProgram> build_source(cl_context context, cl_device_id device, std::string_view text,
                                  const std::string& options) {
  Result<OwnedProgram> program = make_program(context, text);
  if (!program) return program;
  const cl_int code =
      opencl().build_program(program->get(), 1, &device, options.c_str(), nullptr, nullptr);
  if (code == CL_SUCCESS) return program;
  return build_failure(code, program->get(), device, fmt::format("clBuildProgram \"{}\"", options));
}

Result<OwnedProgram> compile_object(cl_context context, cl_device_id device, std::string_view text,
                                    const std::string& options) {
  Result<OwnedProgram> program = make_program(context, text);
  if (!program) return program;
  const cl_int code = opencl().compile_program(program->get(), 1, &device, options.c_str(), 0,
                                               nullptr, nullptr, nullptr, nullptr);
  if (code == CL_SUCCESS) return program;
  return build_failure(code, program->get(), device,
                       fmt::format("clCompileProgram \"{}\"", options));
}

Result<OwnedProgram> link(cl_context context, cl_device_id device, cl_program object) {
  cl_int code = CL_SUCCESS;
  OwnedProgram program =
      own(opencl().link_program(context, 1, &device, "", 1, &object, nullptr, nullptr, &code));
  if (code == CL_SUCCESS) return program;
  return build_failure(code, program.get(), device, "clLinkProgram");
}

/// The program's binary for its only device; empty when the driver gives none.
std::string program_binary(cl_program program) {
  std::size_t bytes = 0;
  if (opencl().get_program_info(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, nullptr) !=
      CL_SUCCESS) {
    return {};
  }
  std::string data(bytes, '\0');
  char* address = data.data();
  if (opencl().get_program_info(program, CL_PROGRAM_BINARIES, sizeof address, &address, nullptr) !=
      CL_SUCCESS) {
    return {};
  }
  return data;
}

std::vector<std::byte> pack(std::string_view kind, std::string_view options,
                            std::string_view payload) {
  const std::string text =
      fmt::format("{} {} {} {}\n{}", kMagic, kind, hash64_hex(payload), options, payload);
  std::vector<std::byte> data(text.size());
  std::memcpy(data.data(), text.data(), text.size());
  return data;
}

struct Unpacked {
  std::string kind;
  std::string options;
  std::string_view payload;
};

std::optional<Unpacked> unpack(std::span<const std::byte> data) {
  const std::string_view text(reinterpret_cast<const char*>(data.data()), data.size());
  const std::size_t line_end = text.find('\n');
  if (!text.starts_with(kMagic) || line_end == std::string_view::npos) return std::nullopt;
  std::istringstream header{std::string(text.substr(kMagic.size(), line_end - kMagic.size()))};
  Unpacked unpacked;
  std::string hash;
  header >> unpacked.kind >> hash >> std::ws;
  std::getline(header, unpacked.options);
  unpacked.payload = text.substr(line_end + 1);
  if (hash64_hex(unpacked.payload) != hash) return std::nullopt;
  return unpacked;
}

class OpenClCompiler final : public Compiler {
 public:
  OpenClCompiler(OwnedContext context, cl_device_id device)
      : context_(std::move(context)), device_(device), is_pocl_(is_pocl(device)) {}

  Result<Binary> compile(const Source& source) override {
    std::string options{kOpenClOptions};
    for (const std::string& option : source.options) options.append(" ").append(option);
    Result<Binary> binary = is_pocl_ && use_ == BinaryUse::once && !matters_to_linking(options)
                                ? compile_to_object(source, options)
                                : compile_to_program(source, options);
    if (binary) return binary;
    Failure failure = binary.failure();
    failure.message = with_template_places(failure.message, source);
    return failure;
  }

  void prepare_for(BinaryUse use) override { use_ = use; }

 private:
  Result<Binary> compile_to_program(const Source& source, const std::string& options) const {
    Result<OwnedProgram> program = build_source(context_.get(), device_, source.text, options);
    if (!program) return program.failure();
    Binary binary;
    binary.log = with_template_places(build_log(program->get(), device_), source);
    if (Status status = inspect(program->get(), source, binary); !status) return status.failure();
    const std::string program_data = binary_of(program->get(), source);
    binary.data = program_data.empty() ? pack(kSourceKind, options, source.text)
                                       : pack(kProgramKind, options, program_data);
    return binary;
  }

  std::string binary_of(cl_program program, const Source& source) const {
    const std::string block = is_pocl_ && use_ == BinaryUse::ready
                                  ? required_block(program, device_, source.entries)
                                  : std::string();
    if (block.empty()) return program_binary(program);
    const SpecializedBlock specialized(block);
    return program_binary(program);
  }

  /// Linked too, so that what is missing is found here.
  Result<Binary> compile_to_object(const Source& source, const std::string& options) const {
    Result<OwnedProgram> object = compile_object(context_.get(), device_, source.text, options);
    if (!object) return object.failure();
    Result<OwnedProgram> program = link(context_.get(), device_, object->get());
    if (!program) return compile_to_program(source, options);  // whose log says what is missing
    Binary binary;
    binary.log = with_template_places(build_log(object->get(), device_), source);
    if (Status status = inspect(program->get(), source, binary); !status) return status.failure();
    binary.data = pack(kObjectKind, options, program_binary(object->get()));
    return binary;
  }

  /// All entries must be there; their static shared memory is reported.
  Status inspect(cl_program program, const Source& source, Binary& binary) const {
    for (const std::string& entry : source.entries) {
      cl_int code = CL_SUCCESS;
      const OwnedKernel kernel = own(opencl().create_kernel(program, entry.c_str(), &code));
      if (code != CL_SUCCESS) {
        return Failure{Outcome::compile_error,
                       fmt::format("{} has no kernel named '{}' ({})", source.name, entry,
                                   opencl_code_name(code))};
      }
      cl_ulong bytes = 0;
      if (opencl().get_kernel_work_group_info(kernel.get(), device_, CL_KERNEL_LOCAL_MEM_SIZE,
                                              sizeof bytes, &bytes, nullptr) == CL_SUCCESS) {
        binary.shared_bytes = std::max(binary.shared_bytes, static_cast<std::int64_t>(bytes));
      }
    }
    return Done{};
  }

  OwnedContext context_;
  cl_device_id device_;
  bool is_pocl_;
  BinaryUse use_ = BinaryUse::kept;
};

Result<OwnedProgram> program_from_binary(cl_context context, cl_device_id device,
                                         std::string_view data) {
  const auto* address = reinterpret_cast<const unsigned char*>(data.data());
  const std::size_t bytes = data.size();
  cl_int code = CL_SUCCESS;
  cl_int status = CL_SUCCESS;
  OwnedProgram program = own(
      opencl().create_program_with_binary(context, 1, &device, &bytes, &address, &status, &code));
  if (code != CL_SUCCESS) return opencl_failure(code, "clCreateProgramWithBinary");
  return program;
}

Result<OwnedProgram> built(OwnedProgram program, cl_device_id device) {
  const cl_int code = opencl().build_program(program.get(), 1, &device, "", nullptr, nullptr);
  if (code != CL_SUCCESS) return opencl_failure(code, "clBuildProgram of a binary");
  return program;
}

Result<OwnedProgram> program_from(cl_context context, cl_device_id device, const Binary& binary) {
  const std::optional<Unpacked> unpacked = unpack(binary.data);
  if (!unpacked) return Failure{Outcome::launch_error, "damaged OpenCL binary"};
  if (unpacked->kind == kSourceKind) {
    return build_source(context, device, unpacked->payload, unpacked->options);
  }
  Result<OwnedProgram> program = program_from_binary(context, device, unpacked->payload);
  if (!program) return program;
  return unpacked->kind == kObjectKind ? link(context, device, program->get())
                                       : built(std::move(*program), device);
}

}  // namespace

std::unique_ptr<Compiler> make_opencl_compiler(cl_device_id device) {
  cl_int code = CL_SUCCESS;
  OwnedContext context = own(opencl().create_context(nullptr, 1, &device, nullptr, nullptr, &code));
  if (code != CL_SUCCESS) throw DeviceError(opencl_failure(code, "clCreateContext").message);
  return std::make_unique<OpenClCompiler>(std::move(context), device);
}

Result<const OpenClKernel*> OpenClModule::kernel(std::string_view name) {
  for (const OpenClKernel& kernel : kernels_) {
    if (kernel.name == name) return &kernel;
  }
  Result<OpenClKernel> made = make_kernel(name);
  if (!made) return made.failure();
  kernels_.push_back(std::move(*made));
  return &kernels_.back();
}

Result<OpenClKernel> OpenClModule::make_kernel(std::string_view name) const {
  OpenClKernel made;
  made.name = name;
  cl_int code = CL_SUCCESS;
  made.handle = own(opencl().create_kernel(program_.get(), made.name.c_str(), &code));
  if (code != CL_SUCCESS) return opencl_failure(code, fmt::format("clCreateKernel '{}'", name));
  cl_kernel handle = made.handle.get();
  KILN_OPENCL_TRY(get_kernel_info, handle, CL_KERNEL_NUM_ARGS, sizeof made.parameter_count,
                  &made.parameter_count, nullptr);
  // Read before any argument is set: PoCL counts dynamic local memory in later.
  cl_ulong shared = 0;
  KILN_OPENCL_TRY(get_kernel_work_group_info, handle, device_, CL_KERNEL_LOCAL_MEM_SIZE,
                  sizeof shared, &shared, nullptr);
  made.static_shared_bytes = shared;
  KILN_OPENCL_TRY(get_kernel_work_group_info, handle, device_, CL_KERNEL_WORK_GROUP_SIZE,
                  sizeof made.max_threads, &made.max_threads, nullptr);
  return made;
}

Result<std::unique_ptr<Module>> load_opencl_module(cl_context context, cl_device_id device,
                                                   const Binary& binary) {
  Result<OwnedProgram> program = program_from(context, device, binary);
  if (!program) return program.failure();
  return std::unique_ptr<Module>(std::make_unique<OpenClModule>(std::move(*program), device));
}

}  // namespace kiln

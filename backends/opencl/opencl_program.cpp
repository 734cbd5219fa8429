// clBuildProgram twice: once to get a binary, once to link it where it runs.
// SPDX-License-Identifier: Apache-2.0
#include "backends/opencl/opencl_program.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "backends/compiler_log.hpp"
#include "core/errors.hpp"
#include "core/hash.hpp"

namespace kiln {
namespace {

// A Binary is one header line and a payload: "kiln-opencl KIND HASH OPTIONS\n". The hash is of the
// payload: drivers crash on damaged binaries, so they never see one.
constexpr std::string_view kMagic = "kiln-opencl";
constexpr std::string_view kProgramKind = "program";  // what clGetProgramInfo gave
constexpr std::string_view kSourceKind =
    "source";  // drivers that give nothing: compiled again at loading

std::string build_log(cl_program program, cl_device_id device) {
  std::size_t bytes = 0;
  opencl().get_program_build_info(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &bytes);
  std::string log(bytes, '\0');
  opencl().get_program_build_info(program, device, CL_PROGRAM_BUILD_LOG, bytes, log.data(),
                                  nullptr);
  while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
  return log;
}

Result<OwnedProgram> build_source(cl_context context, cl_device_id device, std::string_view text,
                                  const std::string& options) {
  const char* data = text.data();
  const std::size_t length = text.size();
  cl_int code = CL_SUCCESS;
  OwnedProgram program =
      own(opencl().create_program_with_source(context, 1, &data, &length, &code));
  if (code != CL_SUCCESS)
    return opencl_failure(code, "clCreateProgramWithSource", Outcome::compile_error);
  code = opencl().build_program(program.get(), 1, &device, options.c_str(), nullptr, nullptr);
  if (code == CL_SUCCESS) return program;
  const std::string log = build_log(program.get(), device);
  if (log.empty())
    return opencl_failure(code, fmt::format("clBuildProgram \"{}\"", options),
                          Outcome::compile_error);
  return Failure{Outcome::compile_error, log};
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
      : context_(std::move(context)), device_(device) {}

  Result<Binary> compile(const Source& source) override {
    std::string options{kOpenClOptions};
    for (const std::string& option : source.options) options.append(" ").append(option);
    Result<OwnedProgram> program = build_source(context_.get(), device_, source.text, options);
    if (!program) {
      Failure failure = program.failure();
      failure.message = with_template_places(failure.message, source);
      return failure;
    }
    Binary binary;
    binary.log = with_template_places(build_log(program->get(), device_), source);
    if (Status status = inspect(program->get(), source, binary); !status) return status.failure();
    const std::string program_data = program_binary(program->get());
    binary.data = program_data.empty() ? pack(kSourceKind, options, source.text)
                                       : pack(kProgramKind, options, program_data);
    return binary;
  }

 private:
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
  code = opencl().build_program(program.get(), 1, &device, "", nullptr, nullptr);
  if (code != CL_SUCCESS) return opencl_failure(code, "clBuildProgram of a binary");
  return program;
}

Result<OwnedProgram> program_from(cl_context context, cl_device_id device, const Binary& binary) {
  const std::optional<Unpacked> unpacked = unpack(binary.data);
  if (!unpacked) return Failure{Outcome::launch_error, "damaged OpenCL binary"};
  if (unpacked->kind == kSourceKind) {
    return build_source(context, device, unpacked->payload, unpacked->options);
  }
  return program_from_binary(context, device, unpacked->payload);
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
  cl_ulong shared =
      0;  // read before any argument is set: PoCL counts dynamic local memory in later
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

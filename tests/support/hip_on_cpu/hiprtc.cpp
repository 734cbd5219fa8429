// The hipRTC calls that Kiln makes, over the C++ compiler of the machine: HIP text becomes a shared
// library for the CPU. See calls.cpp.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/scratch_folder.hpp"
#include "tests/support/hip_on_cpu/architecture.hpp"

namespace {

constexpr int kCompilationError = 6;  // HIPRTC_ERROR_COMPILATION

struct Program {
  std::string text;
  std::string name;
  std::string log;
  std::string code;
};

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The note in which AMD's compilers say what kernels take (NT_AMDGPU_METADATA), as assembly. It
/// says nothing but names and what the text says of itself: "enum { SPILLED_REGISTERS = 200 };".
std::string note_of(const std::vector<std::string>& kernels, const std::string& text) {
  static const std::regex kSpills(R"(\bSPILLED_REGISTERS = (\d+))");
  std::smatch found;
  const int spilled = std::regex_search(text, found, kSpills) ? std::stoi(found[1]) : 0;
  nlohmann::json list = nlohmann::json::array();
  for (const std::string& kernel : kernels) {
    list.push_back({{".name", kernel}, {".vgpr_count", 32}, {".vgpr_spill_count", spilled}});
  }
  const auto bytes = nlohmann::json::to_msgpack({{"amdhsa.kernels", list}});
  return fmt::format(
      "asm(\".pushsection .note.kernels, \\\"a\\\", @note\\n.balign 4\\n.long 7, {}, 32\\n"
      ".asciz \\\"AMDGPU\\\"\\n.balign 4\\n.byte {}\\n.balign 4\\n.popsection\");\n",
      bytes.size(), fmt::join(bytes, ","));
}

/// The vectors of AMD's compiler as structs, and for each kernel a function that takes its
/// arguments as a launch hands them over.
std::string as_cpp(const Program& program) {
  static const std::regex kWords(
      R"(typedef u32 (u32x[24]) __attribute__\(\(ext_vector_type\([24]\)\)\);)");
  static const std::regex kVectors(
      R"(typedef (\w+) (\w+) __attribute__\(\(ext_vector_type\(([^()]*)\)\)\);)");
  static const std::regex kKernel(R"(\bKERNEL(?:(?:_MIN_BLOCKS)?\([^\n]*\))? (\w+)\()");
  std::string text = std::regex_replace(program.text, kWords, "typedef kiln_$1 $1;");
  text = std::regex_replace(text, kVectors, "struct $2 { $1 e[$3]; };");
  std::string calls;
  std::vector<std::string> kernels;
  for (std::sregex_iterator at(text.begin(), text.end(), kKernel), end; at != end; ++at) {
    const std::string kernel = (*at)[1];
    kernels.push_back(kernel);
    calls += "extern \"C\" void kiln_run_" + kernel + "(void** arguments) { kiln_call(&" + kernel +
             ", arguments); }\n";
  }
  if (text.find("kiln_dynamic_shared") != std::string::npos)
    calls +=
        "thread_local __attribute__((aligned(128))) unsigned char kiln_dynamic_shared[163840];\n";
  return "#line 1 \"" + program.name + "\"\n" + text + "\n" + calls + note_of(kernels, text);
}

int run(const std::vector<std::string>& arguments, const std::string& log) {
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments)
    pointers.push_back(const_cast<char*>(argument.data()));
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log.c_str(), O_WRONLY | O_CREAT,
                                     0600);
  pid_t child = 0;
  const int code =
      ::posix_spawn(&child, pointers.front(), &actions, nullptr, pointers.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (code != 0) return code;
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

std::string family_of(std::string_view architecture) {
  if (architecture.starts_with("gfx11")) return "-D__GFX11__";
  if (architecture.starts_with("gfx12")) return "-D__GFX12__";
  return "-D__GFX9__";
}

}  // namespace

extern "C" {

const char* hiprtcGetErrorString(int code) { return code == 0 ? "success" : "compilation error"; }

int hiprtcCreateProgram(void** program, const char* text, const char* name, int, const char**,
                        const char**) {
  *program = new Program{text, name, {}, {}};
  return 0;
}

int hiprtcDestroyProgram(void** program) {
  delete static_cast<Program*>(*program);
  *program = nullptr;
  return 0;
}

int hiprtcCompileProgram(void* handle, int, const char**) {
  Program& program = *static_cast<Program*>(handle);
  const kiln::ScratchFolder folder;
  const auto in = [&](const char* name) { return (folder.path() / name).string(); };
  std::ofstream(in("kernel.cpp")) << as_cpp(program);
  const int code =
      run({KILN_HOST_COMPILER, "-std=c++17", "-O1", "-w", "-fPIC", "-shared", "-ffp-contract=off",
           "-fno-strict-aliasing", family_of(kiln::hip_on_cpu::architecture()), "-include",
           KILN_HIP_ON_CPU_FOLDER "/words.hpp", "-o", in("kernel.so"), in("kernel.cpp")},
          in("log"));
  program.log = read(in("log"));
  if (code != 0) return kCompilationError;
  program.code = read(in("kernel.so"));
  return 0;
}

int hiprtcGetCodeSize(void* program, std::size_t* bytes) {
  *bytes = static_cast<Program*>(program)->code.size();
  return 0;
}
int hiprtcGetCode(void* program, char* code) {
  const std::string& from = static_cast<Program*>(program)->code;
  std::memcpy(code, from.data(), from.size());
  return 0;
}
int hiprtcGetProgramLogSize(void* program, std::size_t* bytes) {
  *bytes = static_cast<Program*>(program)->log.size() + 1;
  return 0;
}
int hiprtcGetProgramLog(void* program, char* log) {
  const std::string& from = static_cast<Program*>(program)->log;
  std::memcpy(log, from.c_str(), from.size() + 1);
  return 0;
}
int hiprtcAddNameExpression(void*, const char*) { return kCompilationError; }
int hiprtcGetLoweredName(void*, const char*, const char**) { return kCompilationError; }

int amd_comgr_get_isa_count(std::size_t* count) {
  *count = 1;
  return 0;
}

int amd_comgr_get_isa_name(std::size_t index, const char** name) {
  static const std::string kName = "hip-on-cpu--" + kiln::hip_on_cpu::architecture();
  if (index > 0) return 1;
  *name = kName.c_str();
  return 0;
}

}  // extern "C"

// Writes the source around a spec's C function, compiles and loads it, and calls it.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/checks/outside_function.hpp"

#include <dlfcn.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "core/config.hpp"
#include "core/program.hpp"
#include "core/scratch_folder.hpp"
#include "core/setting.hpp"
#include "tuner/checks/expected.hpp"
#include "tuner/checks/python_function.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;

using Call = void (*)(void** operands);

std::string_view c_type(DType type) {
  constexpr std::array<std::string_view, 14> kTypes = {
      "int8_t",   "uint8_t", "int16_t", "uint16_t", "int32_t",  "uint32_t", "int64_t",
      "uint64_t", "uint8_t", "uint8_t", "uint16_t", "uint16_t", "float",    "double"};
  return kTypes[static_cast<std::size_t>(type)];
}

std::string_view c_type(const Value& value) {
  return std::holds_alternative<double>(value) ? "double" : "int64_t";
}

/// The library stays loaded: a process needs it until its end.
Call compiled(const KernelSpec& spec, const std::string& text) {
  const OutsideFunction& function = *spec.verify.outside->function;
  const bool is_c = function.file.ends_with(".c");
  const std::string compiler = is_c ? "cc" : "c++";
  const ScratchFolder scratch;
  const fs::path source = scratch.path() / (is_c ? "call.c" : "call.cpp");
  const fs::path library = scratch.path() / "reference.so";
  std::ofstream(source) << text;
  const std::string folder = fs::absolute(fs::path(spec.path).parent_path()).string();
  // Without -w, which would silence the errors, too. Warnings are read by nobody.
  std::vector<std::string> words = {compiler, "-O2", "-fPIC", "-shared"};
  if (is_c) words.emplace_back("-Werror=incompatible-pointer-types");
  if (is_c) words.emplace_back("-Werror=implicit-function-declaration");
  words.insert(words.end(), {"-I" + folder, "-o", library.string(), source.string(), "-lm"});
  // There the compiler finds the file that #line names, and quotes it. A worker of another machine
  // has the text alone.
  const Ended ended =
      run_program({.words = words,
                   .folder = fs::is_directory(folder) ? fs::path(folder) : scratch.path(),
                   .input = {}});
  if (ended.exit_code == 127)
    throw InputError("the reference needs the compiler '" + compiler + "'");
  if (!ended.is_ok()) {
    throw InputError(function.where, "the reference does not compile:\n" + ended.out + ended.err);
  }
  void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    throw InputError(function.where, std::string("the reference cannot be loaded: ") + ::dlerror());
  return reinterpret_cast<Call>(::dlsym(handle, "kiln_call"));
}

Call find_call(const KernelSpec& spec, const std::string& text) {
  static std::map<std::string, Call> known;
  const auto found = known.find(text);
  return found != known.end() ? found->second
                              : known.emplace(text, compiled(spec, text)).first->second;
}

/// A scalar in its own type.
HostArray scalar_cell(const Value& value, DType type) {
  HostArray cell(type, {});
  if (size_of(type) == sizeof(std::int64_t) && !is_floating(type) &&
      std::holds_alternative<std::int64_t>(value)) {
    *cell.elements<std::int64_t>() = std::get<std::int64_t>(value);
  } else {
    cell.set(0, as_double(value));
  }
  return cell;
}

HostArray value_cell(const Value& value) {
  return scalar_cell(value, std::holds_alternative<double>(value) ? DType::f64 : DType::i64);
}

std::uint64_t bits_of(const HostArray& cell) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, cell.data.data(), cell.data.size());
  return bits;
}

/// The values of the operands that are expressions, in order.
std::vector<Value> operand_values(const KernelSpec& spec, const Problem& problem) {
  const Scope scope = Setting(spec, problem, DeviceInfo()).scope();
  std::vector<Value> values;
  for (const OutsideFunction::Operand& operand : spec.verify.outside->function->operands) {
    if (!operand.value) continue;
    values.push_back(operand.value->evaluate(scope));
    if (std::holds_alternative<std::string>(values.back())) {
      throw InputError(operand.value->where(),
                       "'" + operand.value->text() + "' is a text, which the function cannot take");
    }
  }
  return values;
}

double call_python(const KernelSpec& spec, const Problem& problem, const LaunchPlan& plan,
                   const std::vector<ProblemData::Output>& outputs,
                   std::map<std::string, HostArray>& arrays) {
  const OutsideFunction& function = *spec.verify.outside->function;
  const std::vector<Value> values = operand_values(spec, problem);
  std::vector<PythonOperand> operands;
  std::size_t next_value = 0;
  for (const OutsideFunction::Operand& operand : function.operands) {
    if (operand.value) {
      operands.push_back({"", value_cell(values.at(next_value++)), false});
    } else if (const auto array = arrays.find(operand.argument); array != arrays.end()) {
      operands.push_back({operand.argument, array->second});
    } else if (const ScalarPlan* scalar = plan.find_scalar(operand.argument)) {
      operands.push_back({operand.argument, scalar_cell(scalar->value, scalar->dtype), false});
    } else if (!function.by_name) {
      throw InputError(function.where, fmt::format("'{}' cannot be passed to a Python function: it "
                                                   "is an output, or not there for {}",
                                                   operand.argument, problem.text()));
    }
  }
  if (function.by_name) {
    for (const auto& [name, value] : problem.fields()) {
      if (!std::holds_alternative<std::string>(value) && spec.find_argument(name) == nullptr)
        operands.push_back({name, value_cell(value), false});
    }
  }
  PythonResults results = call_python_function(
      function, spec.files.at(function.file),
      fs::absolute(fs::path(spec.path).parent_path()).string(), operands, outputs);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    arrays[outputs[i].name] = std::move(results.outputs[i]);
  return results.seconds;
}

}  // namespace

std::string outside_source(const KernelSpec& spec, const LaunchPlan& plan,
                           const std::vector<Value>& values) {
  const OutsideFunction& function = *spec.verify.outside->function;
  std::string text = "#include <stdint.h>\n#line 1 \"" + function.file + "\"\n" +
                     spec.files.at(function.file) + "\n#line 1 \"the call of " + function.name +
                     "\"\n";
  if (!function.file.ends_with(".c")) text += "extern \"C\" ";
  std::vector<std::string> operands;
  std::size_t next_value = 0;
  for (std::size_t i = 0; i < function.operands.size(); ++i) {
    const OutsideFunction::Operand& operand = function.operands[i];
    if (operand.value) {
      operands.push_back(fmt::format("*({}*)a[{}]", c_type(values.at(next_value++)), i));
    } else if (const BufferPlan* buffer = plan.find_buffer(operand.argument)) {
      operands.push_back(fmt::format("({}{}*)a[{}]", buffer->access == Access::read ? "const " : "",
                                     c_type(buffer->dtype), i));
    } else if (const ScalarPlan* scalar = plan.find_scalar(operand.argument)) {
      operands.push_back(fmt::format("*({}*)a[{}]", c_type(scalar->dtype), i));
    } else {
      operands.emplace_back("0");  // it does not exist for this problem
    }
  }
  std::string list;
  for (const std::string& operand : operands) list += (list.empty() ? "" : ", ") + operand;
  return text +
         fmt::format("void kiln_call(void** a) {{ (void)a; {}({}); }}\n", function.name, list);
}

double call_outside_function(const KernelSpec& spec, const Problem& problem, const LaunchPlan& plan,
                             const std::vector<ProblemData::Output>& outputs,
                             std::map<std::string, HostArray>& arrays) {
  const OutsideFunction& function = *spec.verify.outside->function;
  if (is_python(function.file)) {
    return call_python(spec, problem, plan, outputs, arrays);
  }
  for (const ProblemData::Output& output : outputs) {
    arrays.try_emplace(output.name, output.dtype, output.shape);
  }
  const std::vector<Value> values = operand_values(spec, problem);
  std::vector<std::uint64_t> cells(function.operands.size());
  std::vector<void*> pointers(function.operands.size() + 1);
  std::size_t next_value = 0;
  for (std::size_t i = 0; i < function.operands.size(); ++i) {
    const OutsideFunction::Operand& operand = function.operands[i];
    pointers[i] = &cells[i];
    if (operand.value) {
      cells[i] = bits_of(value_cell(values.at(next_value++)));
    } else if (const auto array = arrays.find(operand.argument); array != arrays.end()) {
      pointers[i] = array->second.data.data();
    } else if (const ScalarPlan* scalar = plan.find_scalar(operand.argument)) {
      cells[i] = bits_of(scalar_cell(scalar->value, scalar->dtype));
    }
  }
  const Call call = find_call(spec, outside_source(spec, plan, values));
  const auto start = std::chrono::steady_clock::now();
  call(pointers.data());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  for (const ProblemData::Output& output : outputs) {
    HostArray& array = arrays.at(output.name);
    array = widened(array);
  }
  return took.count();
}

}  // namespace kiln

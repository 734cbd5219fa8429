// A message is its size in 8 bytes, JSON, and the arrays that the JSON lists, one after another.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/checks/python_function.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <span>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/json.hpp"
#include "core/program.hpp"
#include "tuner/workers/child_process.hpp"

namespace kiln {
namespace {

/// What the function prints goes nowhere.
constexpr const char* kDriver = R"py(
import inspect, json, os, socket, sys, time, traceback
link = socket.socket(fileno=3)
for output in (1, 2):
    os.dup2(os.open(os.devnull, os.O_WRONLY), output)
files = {}

def receive(size):
    data = bytearray(size)
    view = memoryview(data)
    while view:
        count = link.recv_into(view)
        if count == 0:
            sys.exit(0)
        view = view[count:]
    return data

def loaded(job):
    if job["text"] not in files:
        if job["folder"] not in sys.path:
            sys.path.insert(0, job["folder"])
        names = {"__name__": "reference", "__file__": job["folder"] + "/" + job["file"]}
        exec(compile(job["text"], names["__file__"], "exec"), names)
        files[job["text"]] = names
    if job["name"] not in files[job["text"]]:
        raise NameError(f"there is no function '{job['name']}'")
    return files[job["text"]][job["name"]]

def called(job, arrays):
    import numpy
    values = []
    for given, data in zip(job["operands"], arrays):
        array = numpy.frombuffer(data, given["dtype"]).reshape(given["shape"])
        values.append(array if given["is_array"] else array.item())
    function = loaded(job)
    known = {}
    if job["by_name"]:
        known = dict(zip((given["name"] for given in job["operands"]), values))
        values = []
        taken = inspect.signature(function).parameters.values()
        if not any(each.kind is each.VAR_KEYWORD for each in taken):
            known = {each.name: known[each.name] for each in taken if each.name in known}
    start = time.perf_counter()
    found = function(*values, **known)
    seconds = time.perf_counter() - start
    outputs = job["outputs"]
    if not isinstance(found, dict):
        found = {outputs[0]["name"]: found} if len(outputs) == 1 else {}
    results = []
    for output in outputs:
        if found.get(output["name"]) is None:
            raise TypeError(f"it returned no '{output['name']}'; expected a dict of arrays by output, or the only output")
        array = numpy.asarray(found[output["name"]])
        if list(array.shape) not in (output["shape"], [array.size]) or array.size != output["count"]:
            raise ValueError(f"'{output['name']}' has the shape {list(array.shape)}; expected {output['shape']}")
        if output["dtype"] == "<i8" and array.dtype.kind not in "biu":
            raise TypeError(f"'{output['name']}' holds {array.dtype}; expected whole numbers")
        results.append(array.astype("<u8" if array.dtype == "u8" else output["dtype"]).tobytes())
    return seconds, results

while True:
    job = json.loads(receive(int.from_bytes(receive(8), "little")))
    arrays = [receive(given["bytes"]) for given in job["operands"]]
    try:
        seconds, results = called(job, arrays)
        answer = {"seconds": seconds}
    except BaseException as error:
        lines = traceback.format_exception_only(type(error), error)
        places = [each for each in traceback.extract_tb(error.__traceback__) if not each.filename.startswith("<string>")]
        where = f"line {places[-1].lineno} of {places[-1].filename}: " if places else ""
        program = f" ({sys.executable})" if isinstance(error, ImportError) else ""
        answer, results = {"error": where + "".join(lines).strip() + program}, []
    head = json.dumps(answer).encode()
    link.sendall(len(head).to_bytes(8, "little") + head + b"".join(results))
)py";

class PythonProcess {
 public:
  PythonProcess() { ::fcntl(child_.socket(), F_SETFL, 0); }  // it waits
  /// Throws InputError as call_python_function().
  void send(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      bytes =
          bytes.subspan(checked(::send(child_.socket(), bytes.data(), bytes.size(), MSG_NOSIGNAL)));
    }
  }
  void receive(std::span<std::byte> bytes) {
    while (!bytes.empty())
      bytes = bytes.subspan(checked(::recv(child_.socket(), bytes.data(), bytes.size(), 0)));
  }

 private:
  std::size_t checked(ssize_t count) {
    if (count > 0) return static_cast<std::size_t>(count);
    if (count < 0 && errno == EINTR) return 0;
    const std::string ending = child_.wait();
    std::array<char, 4096> printed{};  // before it began to listen
    const ssize_t size = ::read(child_.output(), printed.data(), printed.size());
    const std::string text(printed.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    throw InputError("python3 ended with " + ending +
                     (text.empty() ? "" : ": " + last_lines(text, 3)));
  }

  // env looks python3 up in $PATH.
  ChildProcess child_{ChildCommand{"/usr/bin/env", {"python3", "-c", kDriver}, {}}};
};

/// NumPy has no name for the others.
HostArray named_in_numpy(const HostArray& array) {
  if (array.dtype != DType::bf16 && array.dtype != DType::e4m3 && array.dtype != DType::e5m2)
    return array;
  HostArray wide(DType::f32, array.shape);
  for (std::size_t i = 0; i < array.count(); ++i) wide.set(i, array.get(i));
  return wide;
}

std::string numpy_name(DType dtype) {
  const char kind = is_floating(dtype) ? 'f' : name_of(dtype).front();
  return fmt::format("<{}{}", kind, size_of(dtype));
}

}  // namespace

PythonResults call_python_function(const OutsideFunction& function, const std::string& text,
                                   const std::string& folder,
                                   const std::vector<PythonOperand>& operands,
                                   const std::vector<ProblemData::Output>& outputs) {
  static std::unique_ptr<PythonProcess> process;
  std::vector<HostArray> arrays;
  PythonResults results;
  Json job = {{"file", function.file},       {"folder", folder}, {"name", function.name},
              {"by_name", function.by_name}, {"text", text},     {"operands", Json::array()},
              {"outputs", Json::array()}};
  for (const PythonOperand& operand : operands) {
    arrays.push_back(named_in_numpy(operand.array));
    const HostArray& array = arrays.back();
    job["operands"].push_back({{"name", operand.name},
                               {"dtype", numpy_name(array.dtype)},
                               {"shape", array.shape},
                               {"is_array", operand.is_array},
                               {"bytes", array.data.size()}});
  }
  for (const ProblemData::Output& output : outputs) {
    results.outputs.emplace_back(reference_dtype(output.dtype), output.shape);
    job["outputs"].push_back({{"name", output.name},
                              {"dtype", numpy_name(results.outputs.back().dtype)},
                              {"shape", output.shape},
                              {"count", results.outputs.back().count()}});
  }
  const std::string head = job.dump();
  const std::uint64_t head_size = head.size();
  try {
    if (!process) process = std::make_unique<PythonProcess>();
    process->send(std::as_bytes(std::span(&head_size, 1)));
    process->send(std::as_bytes(std::span(head)));
    for (const HostArray& array : arrays) process->send(array.data);
    std::uint64_t answer_size = 0;
    process->receive(std::as_writable_bytes(std::span(&answer_size, 1)));
    std::string answer(answer_size, '\0');
    process->receive(std::as_writable_bytes(std::span(answer)));
    const Json json = Json::parse(answer);
    if (json.contains("error")) throw InputError(json["error"].get<std::string>());
    results.seconds = json["seconds"].get<double>();
    for (HostArray& result : results.outputs) process->receive(result.data);
  } catch (const InputError& error) {
    process.reset();
    throw InputError(function.where, fmt::format("the function '{}' of {}: {}", function.name,
                                                 function.file, error.what()));
  }
  return results;
}

}  // namespace kiln

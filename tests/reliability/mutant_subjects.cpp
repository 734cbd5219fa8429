// Lists the problems of the mutants, and reads from the environment how many mutants run.
// SPDX-License-Identifier: Apache-2.0
#include "mutant_subjects.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "backends/backend.hpp"
#include "core/errors.hpp"
#include "endurance_fixture.hpp"

namespace kiln {
namespace {

constexpr int kAll = 1'000'000;  // more than are known of any list
constexpr int kUsual = 48;       // 384 of eight lists

std::string variable(const char* name, const std::string& fallback) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : fallback;
}

/// The whole number from `least` on that `name` holds; `fallback` where it is not set.
std::size_t number(const char* name, int fallback, std::size_t least) {
  const std::string text = variable(name, std::to_string(fallback));
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least)
    throw UsageError(std::string(name) + " is '" + text + "': it must be a whole number from " +
                     std::to_string(least) + " on");
  return value;
}

/// What only a GPU runs, or runs fast enough.
void add_gpu_problems(std::vector<Subject>& subjects) {
  for (Subject& subject : subjects) {
    if (subject.kernel == "matmul") {
      subject.problems.insert(
          subject.problems.end(),
          {"m=128 n=128 k=64 dtype=f16", "m=128 n=128 k=64 dtype=bf16",
           "m=128 n=96 k=64 dtype=f16 epilogue='max(x + bias, 0) + c'",
           "m=128 n=128 k=256 dtype=i8 trans_b=true", "m=96 n=72 k=272 dtype=e4m3",
           "m=96 n=72 k=264 dtype=e5m2 precision=high", "m=128 n=96 k=64 dtype=bf16 batch=3",
           "m=96 n=70 k=65 dtype=f16 batch=3 stride_b=0",
           "m=64 n=64 k=64 batch=3 beta_zero=false"});
    }
    if (subject.kernel == "convolution") {
      subject.problems.insert(
          subject.problems.end(),
          {"h=16 w=16 fh=3 c=32 k=64 dtype=f16 layout=nhwc", "h=16 w=16 fh=3 c=16 k=32",
           "h=32 w=32 fh=7 c=3 k=32 stride=2 dtype=bf16 layout=nhwc",
           "h=12 w=20 fh=3 n=2 c=24 k=40 dilation=2 dtype=f16", "h=12 w=20 fh=1 n=2 c=40 k=40",
           "h=11 w=13 fh=1 n=2 c=40 k=42 layout=nhwc", "h=16 w=16 fh=3 c=16 k=32 precision=high",
           "h=16 w=16 fh=3 c=32 k=64 dtype=f16 layout=nhwc epilogue='max(x + bias, 0) + "
           "residual'"});
    }
  }
  // Sizes of layers say how many channels there are, which layers of groups do not all admit.
  subjects.push_back({"convolution",
                      {"h=16 w=24 fh=3 n=2 c=16 k=16 groups=16 dtype=f16",
                       "h=17 w=14 fh=3 n=2 c=24 k=24 groups=24 stride=2 layout=nhwc"},
                      {"h=9 w=8", "h=41 w=40", "h=48 w=80 n=1", "h=3 w=104", "h=65 w=16",
                       "h=30 w=24 n=3", "h=7 w=7"}});
}

}  // namespace

std::vector<Subject> subjects(const std::string& backend) {
  std::vector<Subject> made = {
      {"reduce",
       {"n=8192", "n=8192 dtype=i32", "n=8192 op=max", "n=8192 op=dot"},
       {"n=1", "n=2", "n=255", "n=257", "n=1000", "n=4099", "n=8191", "n=65537", "n=100003"}},
      {"reduce",
       {"n=64 results=96", "n=48 results=64 axis=first op=min"},
       {"n=1 results=5", "n=3 results=1000", "n=1000 results=3", "n=257 results=129",
        "n=40 results=2049", "n=4099 results=2", "n=31 results=32"}},
      {"arg_reduce",
       {"n=8192", "n=8192 dtype=i32 op=max", "n=1024 results=8", "n=1021 results=8 dtype=f16"},
       {"n=1", "n=2", "n=255", "n=257", "n=1000", "n=4099", "n=8191", "n=20011"}},
      {"histogram",
       {"n=8192", "n=8192 dtype=f32", "n=8192 dtype=i32 bins=64"},
       {"n=1", "n=3", "n=255", "n=321", "n=4099", "n=50000", "n=65537", "n=100001"}},
      {"scan",
       {"n=8192", "n=8192 dtype=i64 op=max exclusive=true", "n=1021 rows=8 dtype=i32",
        "n=8192 dtype=f64"},
       {"n=1", "n=2", "n=255", "n=257", "n=1000", "n=4099", "n=8191", "n=20011"}},
      {"normalize",
       {"rows=8 cols=1024", "rows=8 cols=1021 dtype=bf16 op=layer_norm",
        "rows=8 cols=1024 op=rms_norm residual=true out=f16", "rows=4 cols=5000 op=log_softmax"},
       {"rows=1 cols=1", "rows=5 cols=7", "rows=3 cols=255", "rows=3 cols=257", "rows=2 cols=4099",
        "rows=9 cols=1000"}},
      {"transpose",
       {"rows=128 cols=64", "rows=64 cols=64 batch=2 dtype=u8", "rows=64 cols=64 dtype=f64",
        "rows=72 cols=64"},
       {"rows=1 cols=3", "rows=67 cols=129", "rows=96 cols=160", "rows=33 cols=31",
        "rows=1 cols=1000", "rows=1000 cols=1", "rows=128 cols=129", "rows=257 cols=64 batch=3",
        "rows=300 cols=500 batch=1"}},
      {"matmul",
       {"m=64 n=64 k=64", "m=64 n=64 k=64 trans_a=true", "m=64 n=64 k=64 beta_zero=false",
        "m=32 n=32 k=256", "m=32 n=48 k=32 epilogue='max(x + bias, 0) + c'",
        "m=32 n=32 k=32 batch=3 dtype=i8"},
       {"m=1 n=5 k=3", "m=67 n=35 k=51", "m=96 n=80 k=48", "m=33 n=129 k=17", "m=1 n=300 k=200",
        "m=200 n=1 k=77", "m=129 n=65 k=1", "m=260 n=130 k=5", "m=5 n=7 k=500"}},
      {"convolution",
       {"h=32 w=32 fh=3", "h=32 w=32 fh=3 c=4 k=4", "h=32 w=32 fh=5 fw=3 stride=2",
        "h=16 w=16 fh=3 c=4 k=4 epilogue='max(x + bias, 0) + residual'"},
       {"h=9 w=7", "h=41 w=37", "h=48 w=80", "h=31 w=65", "h=3 w=100", "h=129 w=17",
        "h=16 w=20 n=2 c=3 k=5", "h=33 w=18 n=1 c=6 k=2 groups=2", "h=7 w=9 c=3 k=40"}},
      {"preprocess",
       {"out_h=24 out_w=64 src_h=80 src_w=200 n=2",
        "out_h=24 out_w=40 src_h=80 src_w=96 n=2 fit=letterbox layout=hwc",
        "out_h=16 out_w=32 src_h=40 src_w=160 n=2 filter=area",
        "out_h=16 out_w=32 src_h=40 src_w=80 n=2 format=nv12 dtype=f16"},
       {"out_h=1 out_w=1 src_h=3 src_w=5", "out_h=37 out_w=53 src_h=101 src_w=211",
        "out_h=65 out_w=130 src_h=40 src_w=33", "out_h=9 out_w=300 src_h=64 src_w=900 n=3",
        "out_h=130 out_w=7 src_h=300 src_w=40 n=5", "out_h=33 out_w=65 src_h=33 src_w=65"}},
  };
  if (backend != "opencl") add_gpu_problems(made);
  return made;
}

MutantOptions mutant_options() {
  MutantOptions options;
  options.backend = variable("KILN_MUTANTS_BACKEND", options.backend);
  const auto known = backend_names();
  if (std::find(known.begin(), known.end(), options.backend) == known.end())
    throw UsageError("KILN_MUTANTS_BACKEND is '" + options.backend +
                     "': it must be cuda, hip or opencl");
  const bool on_cpu = options.backend == "opencl";
  options.count = number("KILN_MUTANTS", test::is_soak() ? kAll : on_cpu ? kUsual : 0, 0);
  options.shares = number("KILN_MUTANTS_SHARES", static_cast<int>(options.shares), 1);
  options.seed =
      static_cast<unsigned>(number("KILN_MUTANTS_SEED", static_cast<int>(options.seed), 0));
  return options;
}

}  // namespace kiln

// Lists awkward sizes for built-in kernels, and combines them with their types and choices. A
// kernel that is not listed gets some sizes by itself.
// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/problems.hpp"

#include <map>
#include <optional>

#include "core/errors.hpp"
#include "core/value.hpp"
#include "templates/library.hpp"
#include "tests/templates/usual_lines.hpp"

namespace kiln::test {
namespace {

// Each line stands for all its completions: fields that it leaves out and whose values the spec
// lists (element types, operations, booleans) take each of them in turn.
using Lines = std::vector<std::string>;

const std::string kIntegral = "source=index map='sin(2*x)**2*cos(x)**2'";

const std::string kAdded = "epilogue='max(alpha * x + bias, 0) + beta * c'";
const std::string kGelu = "epilogue='(x + bias) * (1 + erf((x + bias) / sqrt(2))) / 2'";
const std::string kResidual = "epilogue='max(x + bias, 0) + residual'";

bool gives(const std::string& line, const std::string& name) {
  return (" " + line).find(" " + name + "=") != std::string::npos;
}

/// The word behind "dtype=".
std::string type_of(const std::string& line) {
  const std::string rest = line.substr(line.find("dtype=") + 6);
  return rest.substr(0, rest.find(' '));
}

/// Lines of `matmul`: in the full precision of their types, with C of the type of A and B, and of
/// the types from 16 bits up in turn, where they do not say otherwise.
Lines products(const Lines& lines) {
  Lines all;
  for (std::string line : lines) {
    if (!gives(line, "precision")) line += " precision=highest";
    const Lines types = gives(line, "dtype") ? Lines{""} : Lines{"f32", "f64", "f16", "bf16"};
    for (const std::string& type : types) {
      std::string typed = type.empty() ? line : line + " dtype=" + type;
      if (!gives(line, "out")) typed += " out=" + (type.empty() ? type_of(line) : type);
      all.push_back(std::move(typed));
    }
  }
  return all;
}

/// Lines of `preprocess`: of the many choices that fields have, the first one, where they do not
/// say otherwise; of the element type, all.
Lines images(const Lines& lines) {
  Lines all;
  for (std::string line : lines) {
    for (const char* field :
         {"format=bgr", "filter=bilinear", "fit=stretch", "to=rgb", "layout=chw", "matrix=bt601"}) {
      const std::string text = field;
      if (!gives(line, text.substr(0, text.find('=')))) line += " " + text;
    }
    all.push_back(std::move(line));
  }
  return all;
}

/// Lines of `convolution`: in the full precision of their types where they do not say otherwise.
Lines layers(const Lines& lines) {
  Lines all;
  for (const std::string& line : lines)
    all.push_back(gives(line, "precision") ? line : line + " precision=highest");
  return all;
}

/// Lines of `normalize`: what they leave out as a call without options has it.
Lines normalized(const Lines& lines) {
  Lines all;
  for (std::string line : lines) {
    for (const char* field : {"weight=false", "bias=false", "residual=false", "deterministic=no"}) {
      const std::string text = field;
      if (!gives(line, text.substr(0, text.find('=')))) line += " " + text;
    }
    all.push_back(std::move(line));
  }
  return all;
}

const std::map<std::string, Lines> kToCompile = {
    {"arg_reduce", {"n=1000003", "n=1000 results=700"}},
    {"reduce",
     {"n=1000003 source=array map=x", "n=1000003 source=array op=sum map='abs(x - 0.5) + i / n'",
      "n=1000003 source=array op=dot dtype=f32 map='x * x'", "n=1000003 op=sum " + kIntegral,
      "n=1000003 source=index map=x dtype=f64", "n=1000 results=700 op=sum source=array map=x",
      "n=1000 results=700 dtype=f32 op=dot source=array map='x * x + i / n'"}},
    {"histogram",
     {"n=1000003 bins=256", "n=1000003 bins=2", "n=1000003 bins=1000", "n=1000003 bins=65536"}},
    {"normalize",
     normalized({"rows=10 cols=4096 dtype=bf16 out=bf16",
                 "rows=9 cols=128256 dtype=f16 out=f32 op=softmax",
                 "rows=10 cols=8184 dtype=f32 out=bf16 op=layer_norm weight=true bias=true",
                 "rows=10 cols=8192 dtype=bf16 out=e4m3 op=rms_norm weight=true residual=true"})},
    {"scan",
     {"n=1000003 op=sum", "n=1000003 op=max exclusive=true",
      "n=1000 rows=700 op=min exclusive=false"}},
    {"transpose", {"rows=1000 cols=700", "rows=1000 cols=33", "rows=33 cols=1000"}},
    {"matmul",
     products({"m=500 n=300 k=700 beta_zero=true", "m=5 n=304 k=700 dtype=bf16 beta_zero=true",
               "m=1024 n=1024 k=1024 dtype=f16 beta_zero=true",
               "m=500 n=300 k=700 beta_zero=false trans_a=false trans_b=false",
               "m=500 n=300 k=700 trans_a=false trans_b=false beta_zero=false " + kAdded,
               "m=5 n=304 k=700 dtype=bf16 trans_a=false trans_b=true beta_zero=true " + kGelu,
               "m=500 n=300 k=700 dtype=f32 precision=high beta_zero=true",
               "m=500 n=300 k=700 dtype=e4m3 out=bf16 beta_zero=true",
               "m=500 n=300 k=700 dtype=e5m2 out=f32 precision=high trans_a=false beta_zero=false",
               "m=500 n=300 k=700 dtype=i8 out=i32 trans_b=true beta_zero=false",
               "m=500 n=304 k=704 dtype=i8 out=f16 trans_a=false trans_b=true " + kAdded,
               "m=500 n=300 k=700 dtype=bf16 out=f32 trans_a=false beta_zero=true",
               "m=500 n=300 k=700 batch=3 trans_a=false beta_zero=true",
               "m=500 n=300 k=700 batch=3 dtype=f32 precision=high trans_b=false beta_zero=false",
               "m=500 n=300 k=700 batch=3 dtype=e4m3 out=bf16 trans_a=false beta_zero=true"})},
    {"convolution",
     layers(
         {"h=100 w=70 fh=1 dtype=f32 layout=nchw", "h=100 w=70 fh=3 dtype=f32 layout=nchw",
          "h=100 w=70 fh=5 fw=8 dtype=f32 layout=nchw", "h=100 w=70 fh=15 dtype=f32 layout=nchw",
          "h=100 w=70 fh=31 dtype=f32 layout=nchw", "h=56 w=56 fh=3 c=32 k=64",
          "h=56 w=56 fh=7 stride=2 c=3 k=64", "h=56 w=56 fh=3 dilation=2 c=20 k=64 layout=nchw",
          "h=56 w=56 fh=5 groups=32 c=32 k=32", "h=20 w=20 fh=4 fw=2 stride=3 n=2 c=4 k=6 groups=2",
          "h=56 w=56 fh=1 c=32 k=64 dtype=f32",
          "h=56 w=56 fh=1 c=32 k=64 dtype=f32 layout=nchw precision=medium",
          "h=56 w=56 fh=3 c=32 k=64 dtype=f32 layout=nchw precision=high",
          "h=56 w=56 fh=3 c=32 k=64 dtype=f32 layout=nhwc precision=medium",
          "h=56 w=56 fh=3 c=32 k=64 " + kResidual, "h=56 w=56 fh=7 stride=2 c=3 k=64 " + kResidual,
          "h=56 w=56 fh=1 c=32 k=64 dtype=f32 " + kResidual,
          "h=56 w=56 fh=5 groups=32 c=32 k=32 " + kResidual})},
    {"preprocess",
     images({"out_h=64 out_w=64 src_h=300 src_w=400 n=2 fit=letterbox",
             "out_h=64 out_w=64 src_h=300 src_w=400 n=2 filter=area layout=hwc format=rgb",
             "out_h=64 out_w=96 src_h=90 src_w=80 to=bgr layout=hwc dtype=f16",
             "out_h=64 out_w=64 src_h=300 src_w=400 format=nv12 matrix=bt709 layout=hwc dtype=f16",
             "out_h=64 out_w=64 src_h=300 src_w=400 format=nv12 filter=area fit=letterbox "
             "dtype=f32"})},
};

const std::map<std::string, Lines> kToRun = {
    {"arg_reduce",
     {"n=1 dtype=f32 op=min", "n=31 dtype=f64 op=max", "n=70001 op=max", "n=70001 dtype=f32 op=min",
      "n=4097 results=3 dtype=f16 op=max", "n=1003 results=77 dtype=i32",
      "n=3 results=2001 dtype=f32 op=max"}},
    {"reduce",
     {"n=1 op=sum source=array map=x", "n=31 op=sum source=array map=x",
      "n=100003 op=sum source=array map=x", "n=1 dtype=f32 source=array map=x",
      "n=100003 dtype=f32 source=array map=x", "n=65537 dtype=i32 op=min source=array map=x",
      "n=65537 dtype=f16 op=dot source=array map=x",
      "n=65537 dtype=f32 op=sum source=array map='abs(x - 0.5) + i / n'",
      "n=5000 dtype=f16 op=max source=array map='x * x'", "n=1 dtype=f32 op=sum " + kIntegral,
      "n=100003 op=sum " + kIntegral, "n=1000 results=70 dtype=f32 source=array map=x",
      "n=4097 results=3 op=sum source=array map=x",
      "n=5 results=4001 dtype=f64 op=sum source=array map=x",
      "n=16 results=2001 dtype=f16 op=max source=array map=x",
      "n=300 results=77 dtype=i32 op=dot source=array map=x",
      "n=300 results=77 dtype=f32 op=sum source=array map='abs(x - 0.5) + i / n'"}},
    {"histogram",
     {"n=1 bins=256 distribution=uniform", "n=4099 bins=256", "n=1000003 bins=256",
      "n=100003 bins=2", "n=100003 bins=3", "n=100003 bins=1000",
      "n=100003 bins=65536 distribution=uniform", "n=1000003 bins=65535 distribution=skewed",
      "n=100003 bins=65536 distribution=constant"}},
    {"normalize",
     normalized({"rows=1 cols=1 dtype=f32 out=f32",
                 "rows=300 cols=7 dtype=bf16 out=bf16 op=softmax",
                 "rows=37 cols=1003 dtype=f32 out=f16 op=log_softmax",
                 "rows=37 cols=1000 dtype=f16 out=e4m3 op=layer_norm weight=true bias=true",
                 "rows=5 cols=5001 dtype=bf16 out=bf16 op=rms_norm weight=true residual=true",
                 "rows=3 cols=9001 dtype=f32 out=bf16 op=layer_norm residual=true",
                 "rows=2 cols=40000 dtype=bf16 out=f32 op=softmax",
                 "rows=5 cols=300 dtype=f32 out=f32 op=rms_norm deterministic=config"})},
    {"scan",
     {"n=1 op=sum deterministic=no", "n=31 dtype=i64 deterministic=no",
      "n=100003 dtype=f32 deterministic=no", "n=70001 dtype=f64 op=sum deterministic=run",
      "n=100003 dtype=i64 op=sum exclusive=false deterministic=no",
      "n=1003 rows=77 op=sum exclusive=true deterministic=no",
      "n=50001 rows=3 dtype=i32 op=max deterministic=config",
      "n=5 rows=2001 dtype=f64 op=min exclusive=false deterministic=no",
      "n=300 rows=7 dtype=f32 op=sum deterministic=config exclusive=false"}},
    {"transpose",
     {"rows=1 cols=1", "rows=1 cols=257", "rows=263 cols=1", "rows=127 cols=131",
      "rows=128 cols=256", "rows=100 cols=36 batch=3", "rows=1024 cols=1024 dtype=f32",
      "rows=1003 cols=33", "rows=16 cols=1001 batch=2"}},
    {"matmul",
     products(
         {"m=70 n=33 k=65 lda=75 ldb=77 ldc=40 dtype=f32",
          "m=37 n=53 k=29 trans_a=false trans_b=true beta_zero=false",
          "m=37 n=53 k=301 dtype=f32 beta_zero=false lda=302 ldb=303 ldc=60",
          "m=65 n=31 k=512 trans_a=true trans_b=false beta_zero=true",
          "m=64 n=128 k=32 beta_zero=true dtype=f32",
          "m=1 n=1 k=1 dtype=f32 trans_a=false trans_b=false",
          "m=130 n=1 k=100 dtype=f32 trans_a=true trans_b=false beta_zero=true",
          "m=1 n=130 k=100 dtype=f32 trans_a=false trans_b=true beta_zero=true",
          "m=5 n=264 k=136 dtype=bf16 beta_zero=true",
          "m=200 n=16 k=72 dtype=f16 beta_zero=false",
          "m=37 n=53 k=29 trans_a=false trans_b=true beta_zero=false ldc=60 " + kAdded,
          "m=5 n=70 k=40 dtype=f16 trans_a=false trans_b=false beta_zero=true " + kGelu,
          "m=70 n=66 k=132 dtype=f32 precision=high trans_a=true trans_b=false beta_zero=false",
          "m=70 n=66 k=132 dtype=i8 out=i32 beta_zero=false",
          "m=37 n=53 k=301 dtype=i8 out=f16 trans_a=false trans_b=true beta_zero=false ldc=60 " +
              kAdded,
          "m=70 n=66 k=132 dtype=e4m3 out=bf16 beta_zero=true",
          "m=37 n=53 k=301 dtype=e5m2 out=f32 precision=high trans_a=true trans_b=false "
          "beta_zero=false",
          "m=37 n=53 k=301 dtype=f16 out=f32 trans_a=true trans_b=true beta_zero=true",
          "m=37 n=53 k=29 batch=3 beta_zero=false trans_a=true trans_b=false",
          "m=20 n=16 k=24 batch=5 stride_a=0 stride_c=16 ldc=96 dtype=f32 trans_a=false "
          "trans_b=true beta_zero=false",
          "m=5 n=264 k=136 batch=2 stride_b=0 dtype=bf16 trans_a=false trans_b=true "
          "beta_zero=true"})},
    {"convolution",
     layers({"h=1 w=1 fh=1 dtype=f32 layout=nchw",
             "h=1 w=1 fh=3",
             "h=67 w=45 fh=3 dtype=f32 layout=nchw",
             "h=64 w=64 fh=3 n=2 dtype=f32 layout=nchw",
             "h=33 w=70 fh=5 fw=8 dtype=f32 layout=nchw",
             "h=70 w=66 fh=15 dtype=f32 layout=nchw",
             "h=40 w=37 fh=31 dtype=f32 layout=nchw",
             "h=14 w=14 fh=3 c=32 k=64 dtype=f32 layout=nchw",
             "h=13 w=17 fh=3 n=2 c=5 k=7",
             "h=9 w=9 fh=1 c=16 k=48 dtype=f32 layout=nchw",
             "h=29 w=23 fh=7 stride=2 c=3 k=20 dtype=f32 layout=nchw",
             "h=19 w=23 fh=5 n=2 c=12 k=12 groups=12",
             "h=19 w=23 fh=3 n=2 c=3 k=3 groups=3 stride=2 dilation=2 layout=nhwc",
             "h=20 w=21 fh=4 fw=2 stride=3 n=2 c=4 k=6 groups=2",
             "h=10 w=11 fh=3 n=2 c=22 k=26 groups=2 dtype=f32 layout=nchw",
             "h=20 w=21 fh=3 pad_h=0 pad_w=4 c=2 k=3 dtype=f32 layout=nchw",
             "h=20 w=21 fh=3 fw=2 pad_h=0 pad_bottom=3 pad_w=2 pad_right=1 dilation=3 c=2 k=3",
             "h=11 w=12 fh=3 stride=2 pad_h=2 pad_w=0 c=2 k=4 dtype=f32 layout=nchw",
             "h=13 w=17 fh=3 n=2 c=5 k=7 " + kResidual,
             "h=19 w=23 fh=5 n=2 c=12 k=12 groups=12 " + kResidual,
             "h=15 w=20 fh=3 n=2 c=6 k=6 groups=6 stride=2 dtype=f16 layout=nchw",
             "h=9 w=9 fh=1 c=16 k=48 dtype=f32 layout=nchw precision=medium"})},
    {"preprocess",
     images(
         {"out_h=1 out_w=1 src_h=1 src_w=1 dtype=f32",
          "out_h=37 out_w=53 src_h=101 src_w=211 n=5 pitch=640",
          "out_h=37 out_w=53 src_h=101 src_w=211 n=4 filter=area layout=hwc format=rgb dtype=bf16",
          "out_h=32 out_w=64 src_h=31 src_w=67 n=4 fit=letterbox layout=hwc to=bgr dtype=f32",
          "out_h=65 out_w=40 src_h=33 src_w=200 n=4 fit=letterbox filter=area dtype=f16",
          "out_h=48 out_w=41 src_h=3 src_w=5 n=7 source_bytes=47 to=bgr dtype=f16",
          "out_h=30 out_w=29 src_h=61 src_w=77 n=4 format=nv12 matrix=bt709 layout=hwc dtype=f16",
          "out_h=30 out_w=44 src_h=61 src_w=77 n=4 format=nv12 filter=area fit=letterbox "
          "to=bgr dtype=f32"})},
};

// For random configs: one size, or few, and all choices.
const std::map<std::string, Lines> kToExplore = {
    {"arg_reduce", {"n=50003", "n=1003 results=70", "n=17 results=700"}},
    {"reduce",
     {"n=100003 source=array map=x", "n=20011 source=array op=sum map='abs(x - 0.5) + i / n'",
      "n=20011 op=sum " + kIntegral, "n=1000 results=70 source=array map=x",
      "n=17 results=700 source=array map=x"}},
    {"histogram",
     {"n=100003 bins=256", "n=65537 bins=3", "n=65537 bins=1000",
      "n=65537 bins=65536 distribution=skewed"}},
    {"normalize",
     normalized({"rows=37 cols=1003 dtype=f32 out=bf16 op=softmax",
                 "rows=37 cols=1003 dtype=bf16 out=bf16 op=layer_norm weight=true bias=true",
                 "rows=5 cols=5000 dtype=f16 out=e4m3 op=rms_norm weight=true residual=true",
                 "rows=3 cols=9001 dtype=f32 out=f32 op=log_softmax"})},
    {"scan",
     {"n=50003 deterministic=no op=sum", "n=50003 deterministic=no op=min dtype=i64",
      "n=1003 rows=70 deterministic=no op=max dtype=f64"}},
    {"transpose", {"rows=131 cols=257", "rows=256 cols=128 batch=2", "rows=33 cols=700"}},
    {"matmul",
     products({"m=70 n=133 k=65 lda=140 ldb=139 ldc=138", "m=64 n=128 k=96", "m=45 n=70 k=300",
               "m=5 n=264 k=136", "m=200 n=16 k=75", "m=45 n=70 k=130 beta_zero=false " + kAdded,
               "m=70 n=133 k=150 dtype=i8 out=i32", "m=70 n=136 k=160 dtype=i8 out=bf16 " + kAdded,
               "m=70 n=133 k=150 dtype=e4m3 out=bf16",
               "m=70 n=136 k=160 dtype=e5m2 out=f32 precision=high",
               "m=70 n=133 k=65 dtype=bf16 out=f32", "m=45 n=70 k=130 batch=3",
               "m=70 n=64 k=96 batch=4 stride_a=0 lda=104 stride_c=64 ldc=256 trans_a=false"})},
    {"convolution",
     layers({"h=67 w=45 fh=3 dtype=f32 layout=nchw", "h=70 w=66 fh=15 fw=14 dtype=f32 layout=nchw",
             "h=13 w=17 fh=3 n=2 c=5 k=7 dtype=f32 layout=nchw",
             "h=29 w=23 fh=7 stride=2 c=3 k=20 dtype=f32 layout=nchw",
             "h=19 w=23 fh=5 n=2 c=12 k=12 groups=12 dtype=f32",
             "h=20 w=21 fh=4 fw=2 stride=3 n=2 c=4 k=6 groups=2 dtype=f32 layout=nchw",
             "h=10 w=11 fh=3 n=2 c=37 k=19", "h=10 w=11 fh=3 n=2 c=20 k=19 " + kResidual,
             "h=9 w=12 fh=5 stride=2 c=40 k=22 groups=2 dtype=f32 layout=nchw",
             "h=15 w=24 fh=3 n=2 c=12 k=12 groups=12 dtype=bf16 layout=nchw"})},
    {"preprocess",
     images({"out_h=37 out_w=64 src_h=101 src_w=211 n=4 pitch=640",
             "out_h=30 out_w=51 src_h=90 src_w=77 n=4 fit=letterbox layout=hwc to=bgr dtype=f32",
             "out_h=19 out_w=72 src_h=101 src_w=400 n=4 filter=area format=rgb dtype=f32",
             "out_h=24 out_w=40 src_h=61 src_w=77 n=4 format=nv12 matrix=bt709 layout=hwc "
             "dtype=f16"})},
};

/// The values that a field takes in turn; empty: only the one that the line gives, or its default.
std::vector<Value> choices_of(const ProblemField& field) {
  if (field.type == FieldType::boolean && field.values.empty()) return {false, true};
  return field.values;
}

std::optional<Problem> parse_if_allowed(const KernelSpec& spec, const std::string& text) {
  try {
    return Problem::parse(spec, text);
  } catch (const InputError&) {
    return std::nullopt;  // a rule of the spec refuses it: bytes in 1000 bins, a dot product of the
                          // index
  }
}

std::vector<Problem> complete(const KernelSpec& spec, const Lines& lines, bool specialised_only) {
  std::vector<Problem> problems;
  for (const std::string& line : lines) {
    Lines texts = {line};
    for (const ProblemField& field : spec.problem) {
      const std::vector<Value> choices = choices_of(field);
      if (choices.empty() || gives(line, field.name)) continue;
      if (specialised_only && !field.specialize) continue;
      Lines longer;
      for (const std::string& text : texts) {
        for (const Value& value : choices)
          longer.push_back(text + " " + field.name + "=" + to_text(value));
      }
      texts = std::move(longer);
    }
    const std::size_t before = problems.size();
    for (const std::string& text : texts) {
      if (std::optional<Problem> problem = parse_if_allowed(spec, text))
        problems.push_back(*problem);
    }
    if (problems.size() == before)
      throw InputError(spec.name + ": no completion of '" + line + "' is a problem");
  }
  return problems;
}

/// The lines listed for the kernel; of one that is not listed those of `sizes`.
Lines lines_of(const KernelSpec& spec, const std::map<std::string, Lines>& listed,
               const std::vector<std::int64_t>& sizes) {
  const auto found = listed.find(spec.name);
  return found == listed.end() ? usual_lines(spec, sizes) : found->second;
}

}  // namespace

const std::vector<std::string>& kernel_names() {
  static const std::vector<std::string> kNames = KernelLibrary().names();
  return kNames;
}

std::vector<Problem> problems_to_compile(const KernelSpec& spec) {
  return complete(spec, lines_of(spec, kToCompile, {1003}), /*specialised_only=*/true);
}

std::vector<Problem> problems_to_run(const KernelSpec& spec) {
  return complete(spec, lines_of(spec, kToRun, {1, 31, 257, 1003}), /*specialised_only=*/false);
}

std::vector<Problem> problems_to_explore(const KernelSpec& spec) {
  return complete(spec, lines_of(spec, kToExplore, {257, 100}), /*specialised_only=*/false);
}

}  // namespace kiln::test

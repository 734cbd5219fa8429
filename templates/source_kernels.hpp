// What `kiln init` reads in a plain source: its kernels, their parameters, and its macros.
//
// It reads declarations and does not compile: code inside #if counts, and macros are not expanded.
// Its findings about a kernel's body (whether it writes a buffer, how many dimensions it uses) are
// guesses for a person to confirm.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.hpp"

namespace kiln {

struct SourceParameter {
  std::string name;
  std::string type;            ///< as written, without qualifiers and '*': "float", "T"
  std::optional<DType> dtype;  ///< where Kiln knows the type
  int lanes = 1;               ///< elements of a vector type: 4 of "float4"
  bool is_buffer = false;      ///< a pointer
  bool is_const = false;
  bool is_local = false;  ///< OpenCL: dynamic local memory
  bool is_read = false;   ///< buffers: the body seems to read it
  bool is_written = false;
};

struct TemplateParameter {
  std::string kind;      ///< "int", "bool", "typename", ...
  std::string name;      ///< may be empty
  std::string fallback;  ///< its default, as written; may be empty
};

struct SourceKernel {
  std::string name;
  int line = 0;  ///< of its name, counted from 1
  std::vector<TemplateParameter> template_parameters;
  std::vector<SourceParameter> parameters;
  int dimensions = 1;  ///< of the block, by the thread indices that the body uses
};

struct SourceMacro {
  std::string name;
  std::string value;  ///< as written
  int line = 0;
  bool is_guarded = false;  ///< stands right behind its #ifndef
};

struct SourceFacts {
  std::vector<SourceKernel> kernels;  ///< in the order of the text
  std::vector<SourceMacro> macros;    ///< with a value and without parameters
  /// What looks like macros and is defined nowhere in the text, in the order of first use. A header
  /// may define them.
  std::vector<std::string> undefined;
};

[[nodiscard]] SourceFacts read_source(std::string_view text);

}  // namespace kiln

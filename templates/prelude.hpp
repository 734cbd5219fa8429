// The dialect words that one kernel needs, as text to put in front of it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

/// The definitions of templates/dialects/<dialect>.h whose names `kernel` uses outside comments,
/// and those that these use, in the order of the file, each with its comment. `backend` is "cuda",
/// "hip" or "opencl"; throws DeviceError for another. WARP_SIZE becomes `warp_size`.
[[nodiscard]] std::string prelude_for(const std::string& backend, std::string_view kernel,
                                      std::int64_t warp_size);

/// Every word of a dialect, sorted; all dialects define the same ones (a test holds them to it).
[[nodiscard]] std::vector<std::string> dialect_words(const std::string& backend);

/// Extension of a source file of the backend: "cu", "hip" or "cl".
[[nodiscard]] std::string_view source_extension(const std::string& backend);

}  // namespace kiln

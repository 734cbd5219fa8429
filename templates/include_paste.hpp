// The text of a plain source with the headers of its folder pasted in.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

#include "core/spec.hpp"

namespace kiln {

/// `macros`: their object-like #defines give way. An include that leads to none of `spec.files`
/// stays for the compiler. A header with `#pragma once` or an include guard counts once, wherever
/// it is pasted. Throws as prepare_plain_source() does.
[[nodiscard]] std::string paste_includes(const KernelSpec& spec, const PlainSource& plain,
                                         const std::set<std::string>& macros);

}  // namespace kiln

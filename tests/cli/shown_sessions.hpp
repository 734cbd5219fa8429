// A database of invented sessions whose every number is fixed, so that what the program shows of
// them can be kept word for word.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace kiln::cli {

/// Writes three sessions of one GPU: 1, a transpose that found better than its default, in which
/// every config of one variant failed; 2, a matmul with a long config whose default config failed;
/// 3, a transpose that was interrupted.
void write_shown_sessions(const std::filesystem::path& database);

}  // namespace kiln::cli

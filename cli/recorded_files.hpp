// Files of recorded trials, as `kiln replay` reads them: a database of Kiln, a Kernel Tuner cache,
// a T4 file, or results of KTT; all but the first also compressed by gzip.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "search/recorded_space.hpp"

namespace kiln::cli {

/// The text of a file, unpacked if it is a gzip file. Throws InputError naming the file when it
/// cannot be read, is damaged, or unpacks to more than 2 GiB.
[[nodiscard]] std::string read_maybe_gzip(const std::string& path);

/// One recorded space a file; of a database one a session that tried at least two configs with
/// different times. Throws InputError naming the file when there is none, DatabaseError for an
/// unusable database. A row of a foreign file that cannot be read is an InputError, or, where `bad`
/// is given, a message in it.
[[nodiscard]] std::vector<RecordedSpace> read_recorded_file(
    const std::string& path, std::vector<std::string>* bad = nullptr);

}  // namespace kiln::cli

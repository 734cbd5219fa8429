// Databases on a PostgreSQL server are named by a URL wherever a file may stand.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace kiln {

/// True for "postgresql://..." and "postgres://...": the place is a server's, not a file's.
[[nodiscard]] bool names_server(const std::filesystem::path& place);

/// Returns the place as messages show it: a password in a URL is replaced by "***".
[[nodiscard]] std::string shown_place(const std::filesystem::path& place);

/// Returns why this URL is refused, as a sentence without its password; empty if it is accepted. A
/// URL with a password is refused, since process lists and shell histories would show it.
[[nodiscard]] std::string server_url_fault(const std::filesystem::path& place);

/// Whether commands that only look may open it: the file exists, or a server is named.
[[nodiscard]] bool may_exist(const std::filesystem::path& place);

}  // namespace kiln

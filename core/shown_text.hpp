// Text that may come from strangers (rows, specs, names of devices, compilers' logs), as a terminal
// gets it: characters that steer a terminal are shown, never sent.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kiln {

/// Begins the codes of Kiln's own colours. No program writes them in this form, so that a text of
/// others that holds colours is shown with them.
inline constexpr std::string_view kOwnStyle = "\x1b[00";

/// Bytes of the code of Kiln's own at the front of `text`; 0: there is none.
[[nodiscard]] std::size_t own_style_bytes(std::string_view text);

/// `text` with control characters (C0 but newline and tab, DEL, C1) and those that turn the
/// direction of writing as "\u001b", and bytes that are no UTF-8 as "\xff". A carriage return
/// before a newline goes.
[[nodiscard]] std::string shown_text(std::string_view text);

/// `text` with every password that a connection string in it holds as "***": in the user part and
/// in parameters of a URL of PostgreSQL, and in "password=..." of its key=value form, also where
/// names are percent-encoded.
[[nodiscard]] std::string hidden_passwords(std::string_view text);

}  // namespace kiln

// The parser of command lines (CLI11), declared for headers; CLI/CLI.hpp is slow to compile.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming): a name of others
class App;
}

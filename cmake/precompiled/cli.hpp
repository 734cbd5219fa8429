// What nearly every file of cli/ includes and what is dear to read (cmake/KilnBuildSpeed.cmake).
// Each file still includes what it uses.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

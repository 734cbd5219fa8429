// Each installed header stands alone, in any order, in more than one file.
// SPDX-License-Identifier: Apache-2.0
#include <kiln/arguments.hpp>
#include <kiln/expected.hpp>
#include <kiln/kernels.hpp>
#include <kiln/kiln.h>
#include <kiln/launcher.hpp>
#include <kiln/problem_text.hpp>

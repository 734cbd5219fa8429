// The CPU references of the built-in kernels; each is defined in kernels/<name>/reference.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "templates/reference.hpp"

namespace kiln {

void arg_reduce_reference(ReferenceCall& call);
void reduce_reference(ReferenceCall& call);
void histogram_reference(ReferenceCall& call);
void transpose_reference(ReferenceCall& call);
void matmul_reference(ReferenceCall& call);
void convolution_reference(ReferenceCall& call);
void preprocess_reference(ReferenceCall& call);

}  // namespace kiln

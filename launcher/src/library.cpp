// libkiln.so is made of archives only; a library wants a source of its own.
// SPDX-License-Identifier: Apache-2.0

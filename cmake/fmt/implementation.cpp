// {fmt}'s functions and the templates that its headers leave to a library, compiled once
// (cmake/KilnFmt.cmake).
// SPDX-License-Identifier: Apache-2.0
#include <locale>

#include <fmt/format-inl.h>

namespace part = fmt::detail;

template part::dragonbox::decimal_fp<float> part::dragonbox::to_decimal(float);
template part::dragonbox::decimal_fp<double> part::dragonbox::to_decimal(double);
template part::thousands_sep_result<char> part::thousands_sep_impl<char>(part::locale_ref);
template char part::decimal_point_impl<char>(part::locale_ref);
template part::locale_ref::locale_ref(const std::locale&);
template std::locale part::locale_ref::get<std::locale>() const;

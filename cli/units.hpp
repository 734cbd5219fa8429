// Pretty units. Inside Kiln times are nanoseconds and sizes bytes; only the command line prints
// others.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kiln::cli {

/// "812 ns", "27.5 us", "1.94 ms", "2.31 s": three significant digits.
[[nodiscard]] std::string pretty_time(double nanoseconds);
/// The same, and "-" for what was not measured (0).
[[nodiscard]] std::string time_or_dash(double nanoseconds);
/// "48 KiB", "139 GiB".
[[nodiscard]] std::string pretty_bytes(double bytes);
/// Throughput of a problem: "3.91 TFLOP/s" when it does more than four operations a byte, else
/// "4.26 TB/s"; "-" without cost.
[[nodiscard]] std::string pretty_rate(double bytes, double flops, double nanoseconds);
/// Is the problem's rate told in operations rather than bytes?
[[nodiscard]] bool is_arithmetic(double bytes, double flops);
/// "1:05", "2:03:10".
[[nodiscard]] std::string pretty_duration(double seconds);
/// "12.3x"; "-" when either time is 0.
[[nodiscard]] std::string pretty_speedup(double baseline_ns, double time_ns);
/// "1 trial", "2 trials".
[[nodiscard]] std::string counted(std::int64_t count, std::string_view noun);

}  // namespace kiln::cli

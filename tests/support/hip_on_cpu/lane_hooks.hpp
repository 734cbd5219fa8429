// What a kernel that was compiled for the CPU asks of the scheduler of its lanes (lanes.hpp). Plain
// data and pointers: kernels and scheduler are compiled apart.
// SPDX-License-Identifier: Apache-2.0
#pragma once

struct KilnIds {
  unsigned x, y, z;
};

struct KilnLaneHooks {
  // Of the lane that runs now.
  KilnIds thread, block, block_size, grid;
  int lane;       ///< in its wavefront
  int wavefront;  ///< lanes of one: 32 or 64

  /// Waits for all threads of the block that have not ended.
  void (*barrier)();
  /// Waits for the lanes of the wavefront that come to the same call. Returns what each lane of the
  /// wavefront handed in, `bytes` bytes a lane in the order of the lanes; bytes of 0xff for lanes
  /// that are not here. Valid until the lane waits again.
  const void* (*gather)(const void* mine, int bytes);
  /// Lanes that took part in the last gather of this wavefront, one bit each.
  unsigned long long present;
  /// Ends the process with this message.
  void (*refuse)(const char* why);
};

/// A kernel, with a pointer to each of its arguments.
using KilnCpuKernel = void (*)(void** arguments);

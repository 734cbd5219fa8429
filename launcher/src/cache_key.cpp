// SPDX-License-Identifier: Apache-2.0
#include "launcher/src/cache_key.hpp"

namespace kiln {

std::string cache_key(const Source& source, const DeviceInfo& device,
                      const std::string& compiler_options, Launcher::Toolkit toolkit) {
  std::string made_by = compiler_options;
  if (device.backend == "opencl") {
    made_by += "; " + device.compiler + "; " + device.driver;
  } else if (toolkit == Launcher::Toolkit::same) {
    made_by += "; " + device.compiler;
  }
  return binary_key(source, device.backend, device.architecture, made_by);
}

}  // namespace kiln

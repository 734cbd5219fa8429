// Prints what an installed Kiln would run, on the first device that it finds.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include <kiln/kernels.hpp>

int main() {
  const auto launcher = kiln::Launcher::open({});
  if (!launcher) {
    std::fprintf(stderr, "%s\n", launcher.error().message.c_str());
    return 1;
  }
  std::printf("device: %s\n", launcher->device().c_str());
  int prepared = 0;
  for (const auto& [kernel, problem] :
       {std::pair("reduce", "n=1000"), std::pair("histogram", "n=1000"),
        std::pair("transpose", "rows=30 cols=40"), std::pair("matmul", "m=30 n=40 k=50"),
        std::pair("convolution", "h=30 w=40 fh=3")}) {
    const auto made = launcher->prepare(kernel, problem);
    if (!made) {
      std::fprintf(stderr, "%s\n", made.error().message.c_str());
      return 1;
    }
    std::printf("%s: %s (%s)\n", kernel, made->match().config.c_str(),
                kiln::to_string(made->match().grade));
    ++prepared;
  }
  std::printf("prepared: %d\n", prepared);
  return 0;
}

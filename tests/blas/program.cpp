// A program that loads a plugin locally, or is linked with it. A second library is attached to it.
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <cstdio>

#ifdef KILN_LINKED
extern "C" void use_cublas();
int main() { use_cublas(); }
#else
int main(int argc, char** argv) {
  void* plugin = argc > 1 ? ::dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (plugin == nullptr) {
    std::printf("%s\n", argc > 1 ? ::dlerror() : "no plugin was named");
    return 1;
  }
  const auto use = reinterpret_cast<void (*)()>(::dlsym(plugin, "use_cublas"));
  if (argc > 2) {
    use();  // entries of the loader's tables that are filled in already are rewritten, too
    void* library = ::dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
    std::printf("%d attached\n", library != nullptr ? reinterpret_cast<int (*)()>(
                                                          ::dlsym(library, "kiln_blas_attach"))()
                                                    : -1);
  }
  use();
  return 0;
}
#endif

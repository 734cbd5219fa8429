// Loads the libraries of NPP, resolves their functions, and throws on a failed status.
// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/host/npp_api.hpp"

#include <cstdlib>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "core/dynamic_library.hpp"

namespace kiln::peers {
namespace {

/// NppLibraryVersion
struct NppVersion {
  int major, minor, build;
};

DynamicLibrary npp_library(const std::string& name) {
  const char* folder = std::getenv("KILN_NPP_FOLDER");
  const std::string before = folder == nullptr ? "" : std::string(folder) + "/";
  const std::vector<std::string> files = {before + name + ".so.13", before + name + ".so.12"};
  return {"NPP", files};
}

NppApi load_npp() {
  const DynamicLibrary core = npp_library("libnppc");  // first: the others need it
  const DynamicLibrary resize = npp_library("libnppig");
  const DynamicLibrary exchange = npp_library("libnppidei");
  const DynamicLibrary arithmetic = npp_library("libnppial");
  NppApi api;
#define KILN_BIND_RESIZE(member, symbol, signature) resize.bind(api.member, #symbol);
#define KILN_BIND_EXCHANGE(member, symbol, signature) exchange.bind(api.member, #symbol);
#define KILN_BIND_ARITHMETIC(member, symbol, signature) arithmetic.bind(api.member, #symbol);
  KILN_NPP_RESIZE_CALLS(KILN_BIND_RESIZE)
  KILN_NPP_EXCHANGE_CALLS(KILN_BIND_EXCHANGE)
  KILN_NPP_ARITHMETIC_CALLS(KILN_BIND_ARITHMETIC)
#undef KILN_BIND_RESIZE
#undef KILN_BIND_EXCHANGE
#undef KILN_BIND_ARITHMETIC
  const NppVersion* (*version)() = nullptr;
  core.bind(version, "nppGetLibVersion");
  api.version = fmt::format("{}.{}.{}", version()->major, version()->minor, version()->build);
  return api;
}

}  // namespace

const NppApi& npp() {
  static const NppApi api = load_npp();
  return api;
}

void check_npp(int status, const char* call) {
  if (status >= 0) return;
  throw std::runtime_error(fmt::format("{}: NPP's status {}", call, status));
}

}  // namespace kiln::peers

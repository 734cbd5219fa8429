// A writing process for tests: db_writer FILE hold | db_writer FILE append.
//
// `hold` opens FILE for writing, says so, and waits for the end of its input. `append` stores one
// trial after another, each sequence number printed only after its commit, until it is killed.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <string>

#include "core/errors.hpp"
#include "tests/db/scratch.hpp"

int main(int argc, char** argv) {
  if (argc != 3) {
    return 2;
  }
  try {
    kiln::Store store(argv[1], kiln::Store::Mode::write);
    if (std::string(argv[2]) == "hold") {
      std::puts("holding");
      std::fflush(stdout);
      return std::getchar() == EOF ? 0 : 1;
    }
    const kiln::SessionId session = store.begin_session(kiln::test::some_session());
    for (std::int64_t sequence = 1;; ++sequence) {
      store.append(session, sequence, kiln::test::some_trial(sequence));
      std::printf("%lld\n", static_cast<long long>(sequence));
      std::fflush(stdout);
    }
  } catch (const kiln::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.code());
  }
}

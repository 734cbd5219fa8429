// URLs of servers: which texts they are, and that no password is shown or taken.
// SPDX-License-Identifier: Apache-2.0
#include "db/server/server_place.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "db/store.hpp"
#include "tests/support/error_of.hpp"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ServerPlace, IsAUrlOfEitherScheme) {
  EXPECT_TRUE(names_server("postgresql://host/kiln"));
  EXPECT_TRUE(names_server("postgres:///kiln?host=/run/postgresql"));
  EXPECT_FALSE(names_server("kiln.db"));
  EXPECT_FALSE(names_server("/data/postgresql/kiln.db"));
  EXPECT_FALSE(names_server("postgresql.db"));
}

TEST(ServerPlace, ShowsNoPassword) {
  for (const auto& [url, shown] : std::vector<std::pair<std::string, std::string>>{
           {"postgresql://me@host/kiln", "postgresql://me@host/kiln"},
           {"postgresql://host:5433/kiln", "postgresql://host:5433/kiln"},
           {"postgresql://[::1]:5433/kiln", "postgresql://[::1]:5433/kiln"},
           {"postgresql://me:geheim@host/kiln", "postgresql://me:***@host/kiln"},
           {"postgresql://me:ge:h@eim@host/kiln", "postgresql://me:***@host/kiln"},
           {"postgresql://me:ge/he?im@host/kiln", "postgresql://me:***@host/kiln"},
           {"postgres://host/kiln?password=geheim&user=me",
            "postgres://host/kiln?password=***&user=me"},
           {"postgres://host/kiln?user=me&PASSWORD=geheim",
            "postgres://host/kiln?user=me&PASSWORD=***"},
           {"postgres://host/kiln?sslpassword=geheim", "postgres://host/kiln?sslpassword=***"},
           {"postgres://host/kiln?passfile=/home/me/pass",
            "postgres://host/kiln?passfile=/home/me/pass"},
           {"me:geheim@host.db", "me:geheim@host.db"}}) {
    EXPECT_EQ(shown_place(url), shown);
    EXPECT_EQ(server_url_fault(url).empty(), url == shown) << url;
    EXPECT_THAT(server_url_fault(url), Not(HasSubstr("geheim")));
  }
}

TEST(ServerPlace, AStoreRefusesAPasswordBeforeItConnects) {
  EXPECT_EQ(test::error_of<DatabaseError>([&] {
              const Store store("postgresql://me:geheim@nowhere.invalid/kiln", Store::Mode::read);
            }),
            "postgresql://me:***@nowhere.invalid/kiln: holds a password, which other users of "
            "this machine can see; expected a URL without one, and the password in ~/.pgpass, "
            "a service file or PGPASSWORD");
}

}  // namespace
}  // namespace kiln

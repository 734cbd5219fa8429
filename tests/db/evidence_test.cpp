// What a session leaves: evidence, close configs, options, and where a server is.
// SPDX-License-Identifier: Apache-2.0
#include "db/evidence.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "db/close_configs.hpp"
#include "db/server/postgres_text.hpp"
#include "db/server/server_place.hpp"
#include "db/session_options.hpp"
#include "db/store.hpp"
#include "tests/db/scale.hpp"
#include "tests/support/error_of.hpp"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Evidence: what is written is read back, and what strangers wrote does no harm.

Evidence full() {
  Evidence evidence;
  evidence.objective = "energy";
  evidence.finalists = {{"tile:a=1", 3, {2, 4}, 3, 0.5, {0.25, 0.75}},
                        {"tile:a=2", 0, {}, {}, {}, {}}};
  evidence.rule = {0.01, 0.99};
  evidence.source = "0123456789abcdef";
  evidence.close = {{{"tile:a=1", 1, 32, 1024}, {"tile:a=2", 1.12346, -1, -1}}};
  evidence.first = std::vector<CloseConfig>();
  evidence.warm_start = {{{"tile:a=1", "the best of n=1 on this device"}}};
  evidence.earlier = {7, 12};
  evidence.rival = {"cublas 13.1.0", {5, 6}, {3, 4}, {7}, {2}, 2e-7, 1e-7, "faster"};
  evidence.time_use.emplace();
  double seconds = 0;
  visit_fields(*evidence.time_use, [&](const char*, auto& field) {
    seconds += 1;
    field = static_cast<std::remove_reference_t<decltype(field)>>(seconds);
  });
  return evidence;
}

TEST(Evidence, IsReadAsItWasWritten) {
  const std::string text = to_text(full());
  const Evidence read = read_evidence(text);
  EXPECT_EQ(to_text(read), text);
  EXPECT_EQ(read.finalists[0].value, 0.5);
  EXPECT_EQ(read.close->at(1).slowdown, 1.1235);
  EXPECT_EQ(read.close->at(1).registers, -1);
  EXPECT_TRUE(read.first && read.first->empty());
  EXPECT_EQ(read.time_use, full().time_use);
  EXPECT_EQ(read.rival->library, "cublas 13.1.0");
  EXPECT_EQ(read.rival->other_best_ns, std::vector<double>{2});
  EXPECT_EQ(read.rival->verdict, name_of(RivalVerdict::faster));
}

TEST(Evidence, LeavesOutWhatThereIsNot) {
  EXPECT_EQ(to_text(Evidence()), R"({"finalists":[]})");
  const Evidence read = read_evidence(R"({"finalists":[]})");
  EXPECT_FALSE(read.rule || read.close || read.warm_start || read.earlier || read.rival ||
               read.time_use);
}

TEST(Evidence, LeavesOutWhatCannotBeRead) {
  for (const char* text : {"", "[", "[]", "7", R"({"finalists":7,"close":{},"time_use":[]})"}) {
    EXPECT_EQ(to_text(read_evidence(text)), R"({"finalists":[]})") << text;
  }
  const Evidence read = read_evidence(
      R"({"finalists":[1,{"config":2},{"config":"a","samples_ns":["x"],"sequence":"y"}],)"
      R"("close":[{"config":"b","slowdown":"z"}],"time_use":{"search_s":"long","ask_s":2}})");
  ASSERT_EQ(read.finalists.size(), 1U);
  EXPECT_EQ(read.finalists[0].config, "a");
  EXPECT_EQ(read.finalists[0].sequence, 0);
  EXPECT_TRUE(read.close->empty()) << "without a slowdown it would be as fast as the best";
  EXPECT_EQ(read.time_use->search, 0);
  EXPECT_EQ(read.time_use->ask, 2);
}

TEST(Evidence, ReadsNoMoreThanARowShouldHold) {
  Evidence evidence;
  evidence.finalists.resize(kMaxListed + 1);
  EXPECT_EQ(read_evidence(to_text(evidence)).finalists.size(), kMaxListed);
}

// Close configs: what a row's evidence says of configs, whoever wrote it.

class EvidenceOfABest : public ::testing::Test {
 protected:
  /// "CONFIG SLOWDOWN" of each that a row with this evidence knows behind its best.
  [[nodiscard]] std::vector<std::string> known(const std::string& evidence) const {
    BestRecord best = test::scale_best(spec_, "n=4096", 64);
    best.time_ns = 100;
    best.evidence = evidence;
    std::vector<std::string> texts;
    for (const CloseConfig& each : known_configs(best)) {
      texts.push_back(each.config + " " + std::to_string(each.slowdown).substr(0, 4));
    }
    EXPECT_EQ(texts.front(), "vector:block_size=64 1.00");
    texts.erase(texts.begin());
    return texts;
  }

  KernelSpec spec_ = test::scale_spec();
};

TEST_F(EvidenceOfABest, AreReadFromTheFinalsOnEachOnce) {
  EXPECT_THAT(known(R"({"first": [{"config": "d", "slowdown": 3}, {"config": "b", "slowdown": 9}],
                        "rule": {"text": "]}", "count": 20},
                        "close": [{"slowdown": 1.125, "config": "c"}, {"config": "b", "slowdown": 2}],
                        "finalists": [{"config": "b", "median_ns": 150, "samples_ns": [1.5e2, 150]}]})"),
              ElementsAre("b 1.50", "c 1.12", "d 3.00"));
  EXPECT_THAT(known(R"({"close":[{"config":"a\"b\\","slowdown":2}]})"), ElementsAre("a\"b\\ 2.00"));
}

TEST_F(EvidenceOfABest, WhatAConfigNeedsIsReadWhereverItStands) {
  BestRecord best = test::scale_best(spec_, "n=4096", 64);
  best.time_ns = 100;
  best.evidence = R"({"finalists": [{"config": "b", "median_ns": 150}],
                      "close": [{"config": "b", "slowdown": 2, "registers": 40, "shared_bytes": 0},
                                {"config": "c", "slowdown": 2, "registers": -7, "shared_bytes": 1e9},
                                {"config": "d", "slowdown": 2, "registers": "8"}]})";
  const std::vector<CloseConfig> known = known_configs(best);
  ASSERT_EQ(known.size(), 4U);
  EXPECT_EQ(known[1].registers, 40);
  EXPECT_EQ(known[1].shared_bytes, 0);
  EXPECT_DOUBLE_EQ(known[1].slowdown, 1.5) << "that of the finals";
  for (const std::size_t other : {std::size_t{0}, std::size_t{2}, std::size_t{3}}) {
    EXPECT_EQ(known[other].registers, -1) << other;
    EXPECT_EQ(known[other].shared_bytes, -1) << other;
  }
}

TEST_F(EvidenceOfABest, WhatIsNoEntryIsLeftOut) {
  EXPECT_THAT(known(R"({"close":[1,"a",null,[],{},{"config":1,"slowdown":2},{"config":"a"},
                        {"config":"a","slowdown":"2"},{"config":"a","slowdown":null},
                        {"config":"b","slowdown":2},
                        {"config":"c","slowdown":3,"like":{"config":"d","slowdown":1},
                         "seen":[{"config":"e","slowdown":1}]},[4,"f"],[{"slowdown":5}]],
               "other":{"close":[{"config":"g","slowdown":1}]},
               "rule":[{"config":"h","slowdown":1}]})"),
              ElementsAre("b 2.00", "c 3.00"));
}

TEST_F(EvidenceOfABest, EvidenceThatCannotBeReadLeavesTheBestAlone) {
  for (const std::string evidence :
       {"", "null", "[]", "7", "{", R"({"close")", R"({"close":[{"config":"a","slowdown":2}])",
        R"({"close":[{"config":"a","slowdown":2}]}})", R"({"close":[{"config":"a\)",
        R"({"close":[{"config":"a","slowdown":nan}]})"}) {
    EXPECT_THAT(known(evidence), ElementsAre()) << evidence;
  }
}

// A line of wisdom may have 1 MiB: that must not cost every lookup near it seconds.
TEST_F(EvidenceOfABest, OfALongListOnlyTheFirstAreRead) {
  std::string list;
  for (int i = 0; i < 30000; ++i) {
    list += (i == 0 ? R"({"config":"c)" : R"(,{"config":"c)") + std::to_string(i) +
            R"(","slowdown":1})";
  }
  const std::string evidence =
      R"({"finalists":[],"close":[)" + list + R"(],"first":[)" + list + "]}";
  EXPECT_EQ(known(evidence).size(), kMaxListed);
}

// Options of a session, read from and written to their text.

constexpr const char* kText = "cache=cold cache_x=1 objective=energy imported launches=a:1,b:2";

TEST(SessionOptions, AreFoundByTheirWholeName) {
  EXPECT_EQ(find_option(kText, "cache"), "cold");
  EXPECT_EQ(find_option(kText, "cache_x"), "1");
  EXPECT_EQ(find_option(kText, "launches"), "a:1,b:2");
  EXPECT_EQ(find_option(kText, "imported"), "") << "an option without a value";
  EXPECT_EQ(find_option(kText, "cach"), std::nullopt);
  EXPECT_EQ(find_option(kText, "energy"), std::nullopt);
  EXPECT_EQ(find_option("", "cache"), std::nullopt);
  EXPECT_EQ(find_option("  cache=warm ", "cache"), "warm");
}

TEST(SessionOptions, AreAppendedInOrder) {
  std::string text;
  add_option(text, session_option::kCache, "cold");
  add_option(text, session_option::kImported);
  add_option(text, session_option::kObjective, "energy");
  EXPECT_EQ(text, "cache=cold imported objective=energy");
}

TEST(SessionOptions, AreLeftOutWhereverTheyStand) {
  EXPECT_EQ(without_option(kText, "cache"), "cache_x=1 objective=energy imported launches=a:1,b:2");
  EXPECT_EQ(without_option(kText, "imported"),
            "cache=cold cache_x=1 objective=energy launches=a:1,b:2");
  EXPECT_EQ(without_option(kText, "launches"), "cache=cold cache_x=1 objective=energy imported");
  EXPECT_EQ(without_option(kText, "timing"), kText);
  EXPECT_EQ(without_option("imported", "imported"), "");
}

// URLs of servers: which texts they are, and that no password is shown or taken.

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

// Statements and values as PostgreSQL reads them.

TEST(DollarText, NumbersWhatHasNoNumber) {
  EXPECT_EQ(with_dollar_placeholders("SELECT 1").text, "SELECT 1");
  EXPECT_EQ(with_dollar_placeholders("a = ? AND b = ?").text, "a = $1 AND b = $2");
  EXPECT_EQ(with_dollar_placeholders("a = ? AND b = ?").parameters, 2);
}

TEST(DollarText, KeepsNumbersAndQuotedMarks) {
  const DollarText dollar = with_dollar_placeholders("?1 = '' OR a = ?1 OR b = ?12 OR c = '?'");
  EXPECT_EQ(dollar.text, "$1 = '' OR a = $1 OR b = $12 OR c = '?'");
  EXPECT_EQ(dollar.parameters, 12);
}

TEST(StorableText, ReplacesWhatAServerRefuses) {
  EXPECT_EQ(storable_text("plain, \u00fc"), "plain, \u00fc");
  EXPECT_EQ(storable_text(std::string("a\xff") + '\0' + "b"), "a\uFFFD\uFFFDb");
}

TEST(BytesFromHex, ReadsTheServersFormat) {
  EXPECT_EQ(bytes_from_hex("\\x"), "");
  EXPECT_EQ(bytes_from_hex("\\x0041ff"), std::string("\0A\xff", 3));
}

TEST(OneLine, JoinsLines) { EXPECT_EQ(one_line("FATAL:  no\n\tway.\n"), "FATAL: no way"); }

}  // namespace
}  // namespace kiln

// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/mutation.hpp"

#include <algorithm>
#include <array>
#include <random>

#include "tests/fuzz/targets.hpp"

namespace kiln::fuzz {
namespace {

class Mutator {
 public:
  Mutator(std::span<const std::string> seeds, std::uint64_t number)
      : seeds_(seeds), random_(number) {}

  std::string make() {
    text_ = seeds_[below(seeds_.size())];
    const std::size_t changes = 1 + below(8);
    for (std::size_t i = 0; i < changes; ++i) change();
    text_.resize(std::min(text_.size(), kMaxInputBytes));
    return std::move(text_);
  }

 private:
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }
  std::size_t place() { return below(text_.size() + 1); }
  std::size_t length_from(std::size_t at) {
    return below(std::min<std::size_t>(text_.size() - at, 200) + 1);
  }

  void change() {
    const std::size_t at = place();
    switch (below(9)) {
      case 0:
        if (at < text_.size()) text_[at] = static_cast<char>(text_[at] ^ (1 << below(8)));
        break;
      case 1:
        if (at < text_.size()) text_[at] = static_cast<char>(below(256));
        break;
      case 2:
        text_.erase(at, length_from(at));
        break;
      case 3:
        text_.insert(place(), text_.substr(at, length_from(at)));
        break;
      case 4:
        repeat(at);
        break;
      case 5:
        splice(at);
        break;
      case 6:
        if (below(8) == 0) text_.resize(at);  // cut
        break;
      case 7:
        put_number(at);
        break;
      default:
        put_word(at);
    }
  }

  // Deep nesting and long lists.
  void repeat(std::size_t at) {
    const std::string part = text_.substr(at, 1 + below(12));
    if (part.empty() || text_.size() > kMaxInputBytes / 2) return;
    const std::size_t room = (kMaxInputBytes - text_.size()) / part.size();
    const std::size_t count = below(std::min<std::size_t>(room, below(4) == 0 ? 20'000 : 50) + 1);
    std::string many;
    for (std::size_t i = 0; i < count; ++i) many += part;
    text_.insert(at, many);
  }

  void splice(std::size_t at) {
    const std::string& other = seeds_[below(seeds_.size())];
    const std::size_t from = below(other.size() + 1);
    text_.insert(at, other.substr(from, below(200)));
  }

  // Lengths, page numbers and counts of binary files.
  void put_number(std::size_t at) {
    constexpr std::array<std::uint32_t, 10> kNumbers = {
        0, 1, 2, 0x7f, 0x80, 0xff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff};
    const std::uint32_t number = kNumbers[below(kNumbers.size())];
    const std::size_t bytes = std::size_t{1} << below(3);
    for (std::size_t i = 0; i < bytes && at + i < text_.size(); ++i) {
      text_[at + i] = static_cast<char>(number >> (8 * (bytes - 1 - i)));  // big-endian
    }
  }

  void put_word(std::size_t at) {
    static const std::vector<std::string> kWords = parts(
        "-1@0@1e308@9223372036854775807@-9223372036854775808@99999999999999999999@nan@inf@"
        "''@\"\"@{{@}}@{%@%}@[@]@(@)@{@}@\n@=@,@..@../@\\@\xff@\xed\xa0\x80@0x@2^63@**@ if ");
    text_.insert(at, kWords[below(kWords.size())]);
  }

  std::span<const std::string> seeds_;
  std::mt19937_64 random_;
  std::string text_;
};

}  // namespace

std::string make_input(std::span<const std::string> seeds, std::uint64_t number) {
  return number < seeds.size() ? seeds[number] : Mutator(seeds, number).make();
}

}  // namespace kiln::fuzz

// SPDX-License-Identifier: Apache-2.0
#include "db/merge_sources.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace kiln {
namespace {

// Does `other` make `one` superfluous? Of equal ones the first in a fixed order stays.
bool outdoes(const MergedCopy& other, const MergedCopy& one) {
  if (!extends(*other.session, *one.session)) {
    return false;
  }
  if (!extends(*one.session, *other.session)) {
    return true;
  }
  return other.session->recorded < one.session->recorded;
}

}  // namespace

std::vector<MergedCopy> choose_copies(const std::vector<std::unique_ptr<MergedSource>>& sources,
                                      MergeReport& report) {
  std::map<std::string, std::vector<MergedCopy>> by_identity;
  for (const std::unique_ptr<MergedSource>& source : sources) {
    for (const SessionDigest& session : source->sessions) {
      by_identity[session.identity].push_back({source.get(), &session});
    }
  }
  std::map<std::string, MergedCopy> kept;
  for (const auto& [identity, copies] : by_identity) {
    std::map<std::string, MergedCopy> here;  // copies that are equal in all have one order
    for (const MergedCopy& one : copies) {
      if (std::none_of(copies.begin(), copies.end(),
                       [&](const MergedCopy& other) { return outdoes(other, one); })) {
        here.emplace(one.session->order(), one);
      }
    }
    report.repeated += copies.size() - here.size();
    report.apart += here.size() - 1;
    kept.merge(here);
  }
  std::vector<MergedCopy> chosen;
  for (const auto& [order, copy] : kept) {
    chosen.push_back(copy);
  }
  return chosen;
}

std::unique_ptr<MergedSource> open_source(const std::filesystem::path& place) {
  prepare_place(place, Store::Mode::read);
  return naming(place, [&] {
    return std::make_unique<MergedSource>(open_connection(place, Store::Mode::read));
  });
}

}  // namespace kiln

// Reads [groups.NAME], adds their parts to the variants that use them, and refuses unused groups.
// SPDX-License-Identifier: Apache-2.0
#include "spec/variant_groups.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/suggest.hpp"

namespace kiln {
namespace {

constexpr std::string_view kOwn = "own";

template <typename Item>
const Item* find_part(const std::vector<Item>& items, std::string_view name) {
  const auto found =
      std::find_if(items.begin(), items.end(), [&](const Item& item) { return item.name == name; });
  return found == items.end() ? nullptr : &*found;
}

/// One entry of `use`: a group, one of the variant's own parts by its name, or all others of them.
struct Place {
  const VariantParts* group = nullptr;
  std::string_view own;
};

/// Puts the parts of a variant in the order of its `use`.
class Arrangement {
 public:
  Arrangement(std::vector<Place> places, VariantParts own)
      : places_(std::move(places)), own_(std::move(own)) {}

  [[nodiscard]] VariantParts arranged() const {
    VariantParts all;
    named(&VariantParts::tunables, all);
    named(&VariantParts::derived, all);
    nameless(&VariantParts::constraints, all);
    nameless(&VariantParts::workspaces, all);
    nameless(&VariantParts::tensor_maps, all);
    nameless(&VariantParts::steps, all);
    return all;
  }

 private:
  /// An own part replaces that of a group, in its place.
  template <typename Item>
  void named(std::vector<Item> VariantParts::*list, VariantParts& all) const {
    for (const Place& place : places_) {
      if (place.group != nullptr) {
        for (const Item& item : place.group->*list) {
          const Item* own = find_part(own_.*list, item.name);
          (all.*list).push_back(own != nullptr ? *own : item);
        }
      } else if (place.own == kOwn) {
        for (const Item& item : own_.*list) {
          if (!has_place(list, item.name)) (all.*list).push_back(item);
        }
      } else if (const Item* own = find_part(own_.*list, place.own)) {
        (all.*list).push_back(*own);
      }
    }
  }

  template <typename Item>
  [[nodiscard]] bool has_place(std::vector<Item> VariantParts::*list, std::string_view name) const {
    return std::any_of(places_.begin(), places_.end(), [&](const Place& place) {
      return place.group != nullptr ? find_part(place.group->*list, name) != nullptr
                                    : place.own == name;
    });
  }

  template <typename Item>
  void nameless(std::vector<Item> VariantParts::*list, VariantParts& all) const {
    for (const Place& place : places_) {
      if (place.group == nullptr && place.own != kOwn) continue;
      const std::vector<Item>& items = (place.group != nullptr ? *place.group : own_).*list;
      (all.*list).insert((all.*list).end(), items.begin(), items.end());
    }
  }

  std::vector<Place> places_;  // `own` is among them
  VariantParts own_;
};

[[noreturn]] void fail(const TomlNode& item, const std::string& message) {
  throw InputError(item.text_where, "[[variants]]: 'use': " + message);
}

}  // namespace

VariantGroups::VariantGroups(const TableReader& spec, VariantKind kind) {
  for (const TomlNode* node : spec.entries("groups")) {
    const std::string title = table_title("groups", node->key);
    check_identifier(node->key, node->where, "a group");
    if (node->key == kOwn) {
      throw InputError(node->where, title + ": in 'use', 'own' means the variant's own parts");
    }
    const TableReader table =
        kind == VariantKind::command
            ? TableReader(*node, title, {"tunables", "derived", "constraints"})
            : TableReader(
                  *node, title,
                  {"tunables", "derived", "constraints", "workspace", "tensor_maps", "steps"});
    groups_.push_back({node->key, node->where,
                       parse_variant_parts(table, "groups." + node->key,
                                           [](std::string_view) { return nullptr; })});
  }
}

VariantParts VariantGroups::parts_of(const TableReader& variant) {
  static const std::vector<TomlNode> kNone;
  const std::vector<std::string> names = variant.texts("use");
  const std::vector<TomlNode>& items = names.empty() ? kNone : variant.find("use")->children;
  std::vector<std::string> used;
  std::vector<Place> places;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::count(names.begin(), names.begin() + static_cast<long>(i), names[i]) > 0) {
      fail(items[i], fmt::format("'{}' appears twice", names[i]));
    }
    Group* group = find(names[i]);
    if (group != nullptr) {
      group->is_used = true;
      used.push_back(names[i]);
    }
    places.push_back({group != nullptr ? &group->parts : nullptr, names[i]});
  }
  const auto shared = [&](std::string_view name) -> const Tunable* {
    for (const Place& place : places) {
      if (place.group == nullptr) continue;
      if (const Tunable* tunable = find_part(place.group->tunables, name)) return tunable;
    }
    return nullptr;
  };
  VariantParts own = parse_variant_parts(variant, "variants", shared);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i].group != nullptr || names[i] == kOwn) continue;
    if (!find_part(own.tunables, names[i]) && !find_part(own.derived, names[i])) {
      fail(items[i], fmt::format("'{}' is no group, and no tunable or derived value of the variant "
                                 "itself{}",
                                 names[i], did_you_mean(names[i], this->names())));
    }
  }
  if (std::find(names.begin(), names.end(), kOwn) == names.end()) places.push_back({nullptr, kOwn});
  VariantParts parts = Arrangement(std::move(places), std::move(own)).arranged();
  parts.groups = std::move(used);
  return parts;
}

void VariantGroups::check_all_used() const {
  for (const Group& group : groups_) {
    if (group.is_used) continue;
    throw InputError(group.where,
                     fmt::format("{}: no variant uses the group; name it in 'use' of one, or take "
                                 "it out",
                                 table_title("groups", group.name)));
  }
}

VariantGroups::Group* VariantGroups::find(std::string_view name) {
  const auto found = std::find_if(groups_.begin(), groups_.end(),
                                  [&](const Group& group) { return group.name == name; });
  return found == groups_.end() ? nullptr : &*found;
}

std::vector<std::string> VariantGroups::names() const {
  std::vector<std::string> names;
  for (const Group& group : groups_) names.push_back(group.name);
  return names;
}

}  // namespace kiln

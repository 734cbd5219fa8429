// SPDX-License-Identifier: Apache-2.0
#include "spec/table_reader.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/suggest.hpp"

namespace kiln {
namespace {

[[noreturn]] void wrong_type(const TomlNode& node, const std::string& title, std::string_view key,
                             std::string_view expected) {
  throw InputError(node.text_where, fmt::format("{}: '{}' must be {}, not {}", title, key, expected,
                                                describe(node)));
}

}  // namespace

TableReader::TableReader(const TomlNode& node, std::string title,
                         std::initializer_list<const char*> allowed)
    : node_(node), title_(std::move(title)) {
  if (node_.kind != TomlNode::Kind::table) {
    throw InputError(node_.where,
                     fmt::format("{} must be a table, not {}", title_, describe(node_)));
  }
  for (const TomlNode& child : node_.children) {
    if (std::find(allowed.begin(), allowed.end(), child.key) != allowed.end()) continue;
    const std::vector<std::string> keys(allowed.begin(), allowed.end());
    throw InputError(child.where,
                     fmt::format("unknown key '{}' in {}{} (allowed: {})", child.key, title_,
                                 did_you_mean(child.key, keys), comma_list(keys)));
  }
}

void TableReader::fail(std::string_view key, const std::string& message) const {
  const TomlNode* node = find(key);
  throw InputError(node ? node->where : node_.where, fmt::format("{}: {}", title_, message));
}

const TomlNode& TableReader::require(std::string_view key, std::string_view expected) const {
  const TomlNode* node = find(key);
  if (node == nullptr) {
    throw InputError(node_.where,
                     fmt::format("{}: key '{}' is missing; expected {}", title_, key, expected));
  }
  return *node;
}

std::string TableReader::text(std::string_view key) const {
  const TomlNode& node = require(key, "a string");
  if (!node.is_text()) wrong_type(node, title_, key, "a string");
  return std::get<std::string>(node.scalar);
}

std::string TableReader::text_or(std::string_view key, std::string fallback) const {
  return find(key) ? text(key) : std::move(fallback);
}

bool TableReader::flag_or(std::string_view key, bool fallback) const {
  const TomlNode* node = find(key);
  if (node == nullptr) return fallback;
  const bool* flag = std::get_if<bool>(&node->scalar);
  if (node->kind != TomlNode::Kind::scalar || flag == nullptr) {
    wrong_type(*node, title_, key, "true or false");
  }
  return *flag;
}

std::optional<Value> TableReader::value(std::string_view key) const {
  const TomlNode* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (node->kind != TomlNode::Kind::scalar) wrong_type(*node, title_, key, "a single value");
  return node->scalar;
}

std::vector<Value> TableReader::values(std::string_view key) const {
  std::vector<Value> out;
  const TomlNode* node = find(key);
  if (node == nullptr) return out;
  if (node->kind != TomlNode::Kind::array) wrong_type(*node, title_, key, "a list of values");
  for (const TomlNode& item : node->children) {
    if (item.kind != TomlNode::Kind::scalar) wrong_type(item, title_, key, "a list of values");
    out.push_back(item.scalar);
  }
  return out;
}

std::vector<std::string> TableReader::texts(std::string_view key) const {
  std::vector<std::string> out;
  const TomlNode* node = find(key);
  if (node == nullptr) return out;
  if (node->kind != TomlNode::Kind::array) wrong_type(*node, title_, key, "a list of strings");
  for (const TomlNode& item : node->children) {
    if (!item.is_text()) wrong_type(item, title_, key, "a list of strings");
    out.push_back(std::get<std::string>(item.scalar));
  }
  return out;
}

Expression TableReader::expression(std::string_view key) const {
  return to_expression(require(key, "an expression"), fmt::format("{}: '{}'", title_, key));
}

std::optional<Expression> TableReader::optional_expression(std::string_view key) const {
  if (!find(key)) return std::nullopt;
  return expression(key);
}

std::vector<Expression> TableReader::expressions(std::string_view key) const {
  std::vector<Expression> out;
  const TomlNode* node = find(key);
  if (node == nullptr) return out;
  if (node->kind != TomlNode::Kind::array) wrong_type(*node, title_, key, "a list of expressions");
  for (const TomlNode& item : node->children) {
    out.push_back(to_expression(item, fmt::format("{}: '{}'", title_, key)));
  }
  return out;
}

std::vector<const TomlNode*> TableReader::tables(std::string_view key) const {
  std::vector<const TomlNode*> out;
  const TomlNode* node = find(key);
  if (node == nullptr) return out;
  if (node->kind == TomlNode::Kind::table) {
    throw InputError(
        node->where,
        fmt::format("{}: '{}' must be a list of tables: write [[{}]] with two brackets", title_,
                    key, key));
  }
  if (node->kind != TomlNode::Kind::array) wrong_type(*node, title_, key, "a list of tables");
  for (const TomlNode& item : node->children) {
    if (item.kind != TomlNode::Kind::table) wrong_type(item, title_, key, "a list of tables");
    out.push_back(&item);
  }
  return out;
}

std::vector<const TomlNode*> TableReader::entries(std::string_view key) const {
  std::vector<const TomlNode*> out;
  const TomlNode* node = find(key);
  if (node == nullptr) return out;
  if (node->kind != TomlNode::Kind::table) wrong_type(*node, title_, key, "a table");
  for (const TomlNode& child : node->children) out.push_back(&child);
  return out;
}

Expression to_expression(const TomlNode& node, const std::string& title) {
  if (node.kind != TomlNode::Kind::scalar) {
    throw InputError(node.text_where,
                     fmt::format("{} must be an expression (a string, a number, true or false), "
                                 "not {}",
                                 title, describe(node)));
  }
  if (const auto* text = std::get_if<std::string>(&node.scalar))
    return Expression::defer(*text, node.text_where);
  return Expression::defer(to_text(node.scalar), node.text_where);
}

}  // namespace kiln

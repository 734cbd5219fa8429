// [metrics.NAME]: numbers that the spec computes from a trial.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "spec/spec_parser.hpp"

namespace kiln {
namespace {

Goal parse_goal(const TableReader& table) {
  const std::string word = table.text_or("goal", "minimise");
  if (word == "minimise") return Goal::minimise;
  if (word == "maximise") return Goal::maximise;
  table.fail("goal", fmt::format("'goal' must be minimise or maximise, not '{}'", word));
}

}  // namespace

Metric parse_metric(const TomlNode& node) {
  const TableReader table(node, table_title("metrics", node.key), {"doc", "unit", "goal", "value"});
  check_name(node.key, node.where, "a metric");
  return {node.key,          table.text_or("doc", ""),  table.text_or("unit", ""),
          parse_goal(table), table.expression("value"), node.where};
}

}  // namespace kiln

#include "sim/change_text.h"

#include <algorithm>
#include <set>

#include "sim/tree/tree.h"

namespace mmadiff {
namespace {

std::string ApplyChange(std::string_view change, Model& model) {
  Algorithm& algorithm = model.algorithm;
  const size_t equals = std::min(change.find('='), change.size());
  const std::string name(change.substr(0, equals));
  const Parameter* parameter = FindParameter(algorithm.family, name);
  if (parameter == nullptr) return "no parameter '" + name + "': " + Describe(algorithm);
  if (!Reads(algorithm, *parameter)) {
    return "no node '" + name.substr(0, name.find('.')) + "': " + Describe(algorithm);
  }
  int value = 0;
  if (equals == change.size() || !ParseValue(*parameter, change.substr(equals + 1), &value)) {
    return "'" + std::string(change) + "': write " + parameter->name +
           "=VALUE; allowed: " + AllowedValues(*parameter);
  }
  parameter->set(algorithm, value);
  return "";
}

}  // namespace

std::string AllowedValues(const Parameter& p) {
  std::string names;
  for (const char* value : p.values) names += (names.empty() ? "" : ", ") + std::string(value);
  if (!names.empty()) return names;
  // The exponent floor's lowest number has a name.
  const std::string range = "a number " + std::to_string(p.min) + ".." + std::to_string(p.max);
  if (p.field != nullptr) {
    return *p.field->absent == '\0' ? range : std::string(p.field->absent) + ", or " + range;
  }
  const std::string least = ValueText(p, p.min), most = std::to_string(p.max);
  if (least == std::to_string(p.min)) return "a number " + least + ".." + most;
  return least + ", or a number " + std::to_string(p.min + 1) + ".." + most;
}

std::string ApplyChanges(std::string_view changes, Model& model) {
  Model changed = model;
  std::set<std::string_view> names;
  for (size_t at = 0; at <= changes.size();) {
    const size_t end = std::min(changes.find(',', at), changes.size());
    const std::string_view change = changes.substr(at, end - at);
    const std::string_view name = change.substr(0, change.find('='));
    if (!names.insert(name).second) return "'" + std::string(name) + "' is changed twice";
    const std::string why = ApplyChange(change, changed);
    if (!why.empty()) return why;
    at = end + 1;
  }
  const std::string invalid = WhyInvalid(changed);
  if (invalid.empty()) model = changed;
  return invalid;
}

}  // namespace mmadiff

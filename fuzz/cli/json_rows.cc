#include "fuzz/cli/json_rows.h"

#include <cstdio>
#include <string>

#include "fuzz/output/json_text.h"

namespace mmadiff {
namespace {

// The members of an object.
std::string Inside(const nlohmann::ordered_json& object) {
  const std::string text = JsonText(object, -1);
  return text.substr(1, text.size() - 2);
}

}  // namespace

JsonRows::JsonRows(const nlohmann::ordered_json& head, const char* name) {
  std::printf("{%s,\"%s\":[", Inside(head).c_str(), name);
}

void JsonRows::Add(const nlohmann::ordered_json& row) {
  std::printf("%s\n%s", any_ ? "," : "", JsonText(row, -1).c_str());
  any_ = true;
}

void JsonRows::Finish(const nlohmann::ordered_json& tail) {
  std::printf("\n],%s}\n", Inside(tail).c_str());
}

}  // namespace mmadiff

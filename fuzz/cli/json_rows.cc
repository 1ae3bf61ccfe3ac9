#include "fuzz/cli/json_rows.h"

#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"

namespace mmadiff {
namespace {

std::string MemberText(const std::string& name, const Json& value) {
  return absl::StrCat("\"", name, "\":", JsonText(value, -1));
}

}  // namespace

void JsonRows::Begin(const Json& result) {
  std::string text = "{";
  for (const auto& [name, value] : result.items()) {
    if (name == list_) break;
    text += MemberText(name, value) + ",";
  }
  std::printf("%s\"%s\":[", text.c_str(), list_);
}

void JsonRows::AddRow(const Json& row) {
  std::printf("%s\n%s", any_ ? "," : "", JsonText(row, -1).c_str());
  any_ = true;
}

void JsonRows::End(const Json& result) {
  std::string text = "\n]";
  bool behind = false;
  for (const auto& [name, value] : result.items()) {
    if (behind) text += "," + MemberText(name, value);
    behind |= name == list_;
  }
  std::printf("%s}\n", text.c_str());
}

}  // namespace mmadiff

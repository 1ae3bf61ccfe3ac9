#include "fuzz/cli/json_rows.h"

#include <cstdio>

#include "absl/strings/str_cat.h"

namespace mmadiff {

JsonRows::JsonRows(const Json& result, const char* list) : list_(absl::StrCat("\"", list, "\":[")) {
  const std::string text = JsonText(result, -1);
  std::fputs(text.substr(0, text.find(list_) + list_.size()).c_str(), stdout);
}

void JsonRows::Add(const Json& row) {
  std::printf("%s\n%s", any_ ? "," : "", JsonText(row, -1).c_str());
  any_ = true;
}

void JsonRows::Finish(const Json& result) {
  const std::string text = JsonText(result, -1);
  std::printf("\n%s\n", text.substr(text.find(list_) + list_.size()).c_str());
}

}  // namespace mmadiff

// A JSON object on stdout with one long list, printed row by row: the members of `result` before
// `list`, the rows, then the members after it.
#pragma once

#include <string>

#include "fuzz/output/fields.h"

namespace mmadiff {

class JsonRows {
 public:
  // `result`: the members known before the first row; its list is empty.
  JsonRows(const Json& result, const char* list);
  void Add(const Json& row);
  // `result`: the final members.
  void Finish(const Json& result);

 private:
  const std::string list_;  // as it begins
  bool any_ = false;
};

}  // namespace mmadiff

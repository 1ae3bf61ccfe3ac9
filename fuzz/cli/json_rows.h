// A JSON object on stdout with one long list, printed row by row: the members of `result` before `list`, the rows, the
// members behind it.
#pragma once

#include "fuzz/output/fields.h"

namespace mmadiff {

class JsonRows {
 public:
  // `result`: what is known before the first row.
  template <class Result>
  JsonRows(const Result& result, const char* list) : list_(list) {
    Begin(JsonOf(result));
  }
  template <class Row>
  void Add(const Row& row) {
    AddRow(JsonOf(row));
  }
  // `result`: what is known now.
  template <class Result>
  void Finish(const Result& result) {
    End(JsonOf(result));
  }

 private:
  void Begin(const Json& result);
  void AddRow(const Json& row);
  void End(const Json& result);

  const char* list_;
  bool any_ = false;
};

}  // namespace mmadiff

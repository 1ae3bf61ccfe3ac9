// A JSON object on stdout with one long array, printed row by row: {HEAD, "NAME": [ROWS], TAIL}.
#pragma once

#include <nlohmann/json.hpp>

namespace mmadiff {

class JsonRows {
 public:
  // `head` and `tail` are objects that are not empty.
  JsonRows(const nlohmann::ordered_json& head, const char* name);
  void Add(const nlohmann::ordered_json& row);
  void Finish(const nlohmann::ordered_json& tail);

 private:
  bool any_ = false;
};

}  // namespace mmadiff

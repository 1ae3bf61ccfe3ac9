// Runs of neighboring things in texts: "0..3", "1, 3, 5, ...".
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace mmadiff {

// The first and the last of each run of 0, 1, ..., count - 1. `joins`: whether one belongs to the run of
// the one before it.
inline std::vector<std::pair<size_t, size_t>> RunsOf(size_t count,
                                                     absl::FunctionRef<bool(size_t)> joins) {
  std::vector<std::pair<size_t, size_t>> runs;
  for (size_t i = 0; i < count; ++i) {
    if (i == 0 || !joins(i)) runs.push_back({i, i});
    runs.back().second = i;
  }
  return runs;
}

// "3", "3..5"
inline std::string RunText(const absl::AlphaNum& first, const absl::AlphaNum& last) {
  return first.Piece() == last.Piece() ? absl::StrCat(first) : absl::StrCat(first, "..", last);
}

// "a, b, ...": at most `most` of the texts.
inline std::string JoinSome(std::vector<std::string> texts, size_t most) {
  if (texts.size() > most) {
    texts.resize(most);
    texts.push_back("...");
  }
  return absl::StrJoin(texts, ", ");
}

}  // namespace mmadiff

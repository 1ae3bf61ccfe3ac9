#include "corpus/stored_lowerings.h"

#include <cstdlib>
#include <iostream>
#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "corpus/embedded_texts.h"

namespace mmadiff {

absl::StatusOr<std::vector<StoredLowering>> ParseLowerings(absl::string_view text) {
  std::vector<StoredLowering> stored;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    if (line.front() == '#') continue;
    const std::vector<std::string> columns = absl::StrSplit(line, '\t');
    if (columns.size() != 5 || absl::c_linear_search(columns, "")) {
      return absl::DataLossError(
          absl::StrCat("'", absl::CHexEscape(line.substr(0, 80)), "' is not a line of lowerings"));
    }
    stored.push_back(
        {columns[0], columns[1], absl::StrSplit(columns[2], ' '), columns[3], columns[4]});
  }
  return stored;
}

std::span<const StoredLowering> StoredLowerings() {
  static const auto& all = *[] {
    auto* lowerings = new std::vector<StoredLowering>;
    ForEachText(mmadiff_lowerings, [&](absl::string_view name, absl::string_view text) {
      auto parsed = ParseLowerings(text);
      if (!parsed.ok()) {  // corpus/stored_lowerings_test.cc would have failed
        std::cerr << name << ": " << parsed.status().message() << "\n";
        std::abort();
      }
      absl::c_move(*parsed, std::back_inserter(*lowerings));
    });
    return lowerings;
  }();
  return all;
}

std::vector<const StoredLowering*> LoweringsOf(absl::string_view operation) {
  static const auto& by_name = *[] {
    auto* map = new std::multimap<absl::string_view, const StoredLowering*>;
    for (const StoredLowering& l : StoredLowerings()) map->emplace(l.operation, &l);
    return map;
  }();
  std::vector<const StoredLowering*> found;
  for (auto [at, end] = by_name.equal_range(operation); at != end; ++at)
    found.push_back(at->second);
  return found;
}

}  // namespace mmadiff

#include "fuzz/page/crosses.h"

#include <algorithm>

namespace mmadiff {
namespace {

size_t IndexOf(std::vector<std::string>& names, const std::string& name) {
  const auto at = std::ranges::find(names, name);
  if (at != names.end()) return at - names.begin();
  names.push_back(name);
  return names.size() - 1;
}

Cross::Cell& CellOf(const Bin& bin, std::vector<Cross>& crosses) {
  auto cross = std::ranges::find(crosses, bin.group, &Cross::group);
  if (cross == crosses.end()) cross = crosses.insert(cross, {bin.group, {}, {}, {}});
  const size_t row = IndexOf(cross->rows, bin.row), column = IndexOf(cross->columns, bin.column);
  cross->cells.resize(cross->rows.size());
  for (auto& cells : cross->cells) cells.resize(cross->columns.size());
  return cross->cells[row][column];
}

}  // namespace

std::vector<std::string> AddToCrosses(const std::string& instruction, const std::vector<Bin>& bins,
                                      std::span<const uint64_t> counts,
                                      std::vector<Cross>& crosses) {
  std::vector<std::string> missing;
  for (size_t i = 0; i < std::min(bins.size(), counts.size()); ++i) {
    const Bin& bin = bins[i];
    Cross::Cell& cell = CellOf(bin, crosses);
    cell.known = true;
    cell.count += counts[i];
    if (!bin.unreachable.empty()) {
      if (cell.instructions == 0) cell.unreachable = bin.unreachable;
      continue;
    }
    cell.unreachable.clear();
    ++cell.instructions;
    if (counts[i] >= bin.least) continue;
    if (cell.missing++ == 0) cell.example = instruction;
    missing.push_back(bin.name());
  }
  return missing;
}

CrossTotals TotalsOf(const Cross& cross) {
  CrossTotals totals;
  for (const auto& row : cross.cells) {
    for (const Cross::Cell& cell : row) {
      totals.reachable += cell.instructions > 0;
      totals.missing += cell.missing > 0;
    }
  }
  return totals;
}

}  // namespace mmadiff

#include "fuzz/page/crosses.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "fuzz/output/numeric_order.h"

namespace mmadiff {
namespace {

// "5", "16..31", "k8"; not "+0".
bool IsNumbered(const std::string& name) {
  return !name.empty() && absl::ascii_isdigit(name[name.size() > 1 && name[0] == 'k' ? 1 : 0]);
}

// The index of the name. A new name, for which `add` makes room, is placed after the next smaller
// number or at the end.
template <class Add>
size_t IndexOf(std::vector<std::string>& names, const std::string& name, Add add) {
  const auto known = std::ranges::find(names, name);
  if (known != names.end()) return known - names.begin();
  auto at = names.end();
  if (IsNumbered(name)) {
    const auto lesser =
        std::find_if(names.rbegin(), names.rend(), [&name](const std::string& other) {
          return IsNumbered(other) && NumericLess(other, name);
        });
    at = lesser != names.rend() ? lesser.base() : std::ranges::find_if(names, IsNumbered);
  }
  const auto index = at - names.begin();
  names.insert(at, name);
  add(index);
  return index;
}

Cross::Cell& CellOf(const Bin& bin, std::vector<Cross>& crosses) {
  auto cross = std::ranges::find(crosses, bin.group, &Cross::group);
  if (cross == crosses.end()) cross = crosses.insert(cross, {bin.group, {}, {}, {}});
  const size_t row = IndexOf(cross->rows, bin.row, [&](auto index) {
    cross->cells.emplace(cross->cells.begin() + index, cross->columns.size());
  });
  const size_t column = IndexOf(cross->columns, bin.column, [&](auto index) {
    for (auto& cells : cross->cells) cells.emplace(cells.begin() + index);
  });
  return cross->cells[row][column];
}

}  // namespace

void AddToCrosses(const std::string& instruction, const std::vector<Bin>& bins,
                  std::span<const uint64_t> counts, std::vector<Cross>& crosses) {
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
  }
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

#include "sim/reference/sparsity.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace mmadiff::reference {
namespace {

// A stored element of a.
struct Chosen {
  int order;  // 0: of the first stored quarter
  int k;
  friend auto operator<=>(const Chosen&, const Chosen&) = default;
};

// The elements of which a part lies in the quarter: a group is 16 parts, and a quarter 4 of them.
std::set<int> ElementsOf(uint64_t quarter, int group) {
  std::set<int> elements;
  for (int part = 0; part < 4; ++part) {
    elements.insert((static_cast<int>(quarter) * 4 + part) * group / 16);
  }
  return elements;
}

// The first word in dictionary order of all pairs of ascending quarters that cover the elements.
uint64_t LeastMetadata(const std::vector<uint64_t>& a, int first, int group) {
  for (uint64_t low = 0; low < 4; ++low) {
    for (uint64_t high = low + 1; high < 4; ++high) {
      if (group == 2 && high / 2 != low / 2) continue;
      std::set<int> covered = ElementsOf(low, group);
      covered.merge(ElementsOf(high, group));
      bool all = true;
      for (int p = 0; p < group; ++p) all = all && (a[first + p] == 0 || covered.contains(p));
      if (all) return low + 4 * high;
    }
  }
  return 4;
}

}  // namespace

void Select(Model& model, DotProductCase& dot) {
  const int group = model.sparse_group, groups = group == 0 ? 0 : model.k / group;
  if (groups == 0) return;
  std::vector<Chosen> chosen;
  for (int g = 0; g < groups; ++g) {
    uint64_t metadata = dot.metadata.empty() ? 0 : dot.metadata[g];
    if (metadata == 0) metadata = LeastMetadata(dot.a, g * group, group);
    std::set<int> before;
    for (int order = 0; order < 2; ++order) {
      for (const int p : ElementsOf(order == 0 ? metadata % 4 : metadata / 4, group)) {
        if (before.insert(p).second) chosen.push_back({order, g * group + p});
      }
    }
  }
  const std::vector<uint64_t> a = dot.a, b = dot.b;
  const std::vector<uint64_t> scales_a(a.begin() + model.k, a.end());
  const std::vector<uint64_t> scales_b(b.begin() + model.k, b.end());
  dot.a.clear();
  dot.b.clear();
  const Selection selection = std::exchange(model.algorithm.selection, Selection::kStored);
  if (selection == Selection::kInPlace || selection == Selection::kZerosInPlace) {
    std::set<int> stored;
    for (const Chosen& c : chosen) stored.insert(c.k);
    for (int k = 0; k < model.k; ++k) {
      const bool here = stored.contains(k);
      dot.a.push_back(here ? a[k] : 0);
      dot.b.push_back(here || selection == Selection::kInPlace ? b[k] : 0);
    }
    model.algorithm.terms *= 2;
    model.algorithm.group_terms *= 2;
  } else {
    if (selection == Selection::kFirstsThenSeconds) std::ranges::sort(chosen);
    for (const Chosen& c : chosen) {
      dot.a.push_back(a[c.k]);
      dot.b.push_back(b[c.k]);
    }
    model.k /= 2;
    model.scale_block /= 2;
  }
  dot.a.insert(dot.a.end(), scales_a.begin(), scales_a.end());
  dot.b.insert(dot.b.end(), scales_b.begin(), scales_b.end());
  dot.metadata.clear();
  model.sparse_group = 0;
}

}  // namespace mmadiff::reference

// The neighbours that are left out because "no input can tell": on no row does the generator find
// an input that tells. (`mmadiff mutants` shows that it finds one for each of the others.)
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fuzz/cases/case_name.h"
#include "fuzz/testing_rows.h"
#include "sim/parameter.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

Algorithm Changed(const Row& row, const std::string& change) {
  Algorithm changed = row.model.algorithm;
  const size_t equals = change.find('=');
  const Parameter* p = FindParameter(changed.family, change.substr(0, equals));
  int value = 0;
  EXPECT_TRUE(p != nullptr && ParseValue(*p, change.substr(equals + 1), &value)) << change;
  if (p != nullptr) p->set(changed, value);
  return changed;
}

TEST(EquivalentNeighbours, AreToldByNoCase) {
  int tried = 0;
  for (const Row* row : SmallestRows()) {
    Batch batch;
    const int cases = std::clamp(30000 / row->shape().d_words(), 48, 512);
    Generate({row, &Strategies().front(), 1}, 0, cases, batch);
    std::vector<uint64_t> model(batch.dot_products()), changed(batch.dot_products());
    Simulate(row->model, batch, model);
    for (const EquivalentNeighbour& e : EquivalentNeighbours(row->model)) {
      Simulate(WithAlgorithm(*row, Changed(*row, e.name)), batch, changed);
      EXPECT_TRUE(model == changed) << row->name << " " << e.name << ": " << e.reason;
      ++tried;
    }
  }
  EXPECT_GT(tried, 1000);
}

}  // namespace
}  // namespace mmadiff

#include "triage/chooser.h"

#include "sim/simulate.h"
#include "triage/verdict.h"

namespace mmadiff {

CaseChooser::CaseChooser(const Row& row, const Model& model, const std::vector<Chain>& others,
                         int cases, bool nan_bits)
    : row_(row), model_(model), nan_bits_(nan_bits) {
  for (const Chain& chain : others) {
    std::vector<Untold>& untold = untold_.emplace_back();
    for (const Model& other : chain) untold.push_back({other, cases});
  }
}

void CaseChooser::Consider(const DotProductCase& dot, bool keep) {
  const uint64_t word = Simulate(model_, dot);
  for (std::vector<Untold>& chain : untold_) {
    for (size_t i = chain.size(); i-- > 0;) {
      const uint64_t other = Simulate(chain[i].model, dot);
      if (nan_bits_ ? word == other : SameResult(row_, word, other)) break;
      --chain[i].cases;
      keep = true;
    }
    std::erase_if(chain, [](const Untold& u) { return u.cases <= 0; });
  }
  std::erase_if(untold_, [](const std::vector<Untold>& chain) { return chain.empty(); });
  if (keep) chosen_.push_back(dot);
}

}  // namespace mmadiff

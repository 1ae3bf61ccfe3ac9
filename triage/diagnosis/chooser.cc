#include "triage/diagnosis/chooser.h"

#include <set>

#include "sim/simulate.h"
#include "triage/minimize/passes.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

constexpr int kRelatives = 4000;  // of a chain

}  // namespace

CaseChooser::CaseChooser(const Operation& op, const Model& model, const std::vector<Chain>& others,
                         int cases, bool nan_bits)
    : op_(op), model_(model), nan_bits_(nan_bits) {
  for (const Chain& chain : others) {
    OpenChain& open = open_.emplace_back();
    for (const Model& other : chain) open.models.push_back({other, cases});
  }
}

bool CaseChooser::Same(uint64_t x, uint64_t y) const {
  return nan_bits_ ? x == y : SameResult(op_, x, y);
}

bool CaseChooser::Distinguishes(OpenChain& chain, const DotProductCase& dot, uint64_t word) const {
  size_t first = chain.models.size();
  for (; first > 0; --first) {
    Undistinguished& other = chain.models[first - 1];
    if (Same(word, Simulate(other.model, dot))) break;
    --other.cases;
  }
  if (first == chain.models.size()) return false;
  if (!chain.nearest || first <= chain.first) {
    chain.nearest = dot;
    chain.first = first;
  }
  std::erase_if(chain.models, [](const Undistinguished& u) { return u.cases <= 0; });
  return true;
}

void CaseChooser::Consider(const DotProductCase& dot, bool keep) {
  const uint64_t word = Simulate(model_, dot);
  for (OpenChain& chain : open_) keep |= Distinguishes(chain, dot, word);
  std::erase_if(open_, [](const OpenChain& chain) { return chain.models.empty(); });
  if (keep) chosen_.push_back(dot);
}

void CaseChooser::ConsiderThose(const Batch& batch) {
  std::vector<uint64_t> words(batch.dot_products()), others(words.size());
  Simulate(model_, batch, words);
  std::set<size_t> telling;
  for (const OpenChain& chain : open_) {
    const Undistinguished& last = chain.models.back();
    Simulate(last.model, batch, others);
    for (size_t i = 0, found = 0; i < words.size() && found < size_t(last.cases); ++i) {
      if (Same(words[i], others[i])) continue;
      telling.insert(i);
      ++found;
    }
  }
  for (const size_t i : telling) Consider(Extract(batch, static_cast<int64_t>(i)));
}

void CaseChooser::ConsiderRelatives() {
  for (OpenChain& chain : open_) {
    int tried = 0;
    for (bool nearer = chain.nearest.has_value(); nearer && !chain.models.empty();) {
      nearer = false;
      const DotProductCase from = *chain.nearest;
      for (const Pass& pass : Passes()) {
        pass.propose(model_, from, [&](const DotProductCase& dot) {
          nearer = Distinguishes(chain, dot, Simulate(model_, dot));
          if (nearer) chosen_.push_back(dot);
          return nearer || ++tried >= kRelatives;
        });
        if (nearer || tried >= kRelatives) break;
      }
    }
  }
  std::erase_if(open_, [](const OpenChain& chain) { return chain.models.empty(); });
}

}  // namespace mmadiff

#include "triage/diagnosis/chooser.h"

#include <set>

#include "sim/simulate.h"
#include "triage/minimize/passes.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

constexpr int kRelatives = 4000;         // per chain
constexpr size_t kRelativesAtOnce = 64;  // simulated together

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

void CaseChooser::ConsiderEach(const Batch& batch) {
  if (batch.count == 0) return;
  std::vector<uint64_t> words(batch.dot_products()), others(words.size());
  Simulate(model_, batch, words);
  std::set<size_t> telling;
  for (OpenChain& chain : open_) {
    size_t simulated = 0;  // models of the chain; `others` has the words of the last one
    for (size_t i = 0; i < words.size() && !chain.models.empty(); ++i) {
      if (simulated != chain.models.size()) Simulate(chain.models.back().model, batch, others);
      simulated = chain.models.size();
      if (Same(words[i], others[i])) continue;
      Distinguishes(chain, Extract(batch, static_cast<int64_t>(i)), words[i]);
      telling.insert(i);
    }
  }
  std::erase_if(open_, [](const OpenChain& chain) { return chain.models.empty(); });
  for (const size_t i : telling) chosen_.push_back(Extract(batch, static_cast<int64_t>(i)));
}

void CaseChooser::ConsiderTelling(const Batch& batch) {
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

bool CaseChooser::ConsiderNearer(OpenChain& chain, const std::vector<DotProductCase>& dots,
                                 int& tried) {
  if (dots.empty()) return false;
  const Batch batch = MakeDotProductBatch(op_.shape(), dots);
  std::vector<uint64_t> words(dots.size()), others(dots.size());
  Simulate(model_, batch, words);
  Simulate(chain.models.back().model, batch, others);
  for (size_t i = 0; i < dots.size() && tried < kRelatives; ++i) {
    if (Same(words[i], others[i])) {
      ++tried;
      continue;
    }
    Distinguishes(chain, dots[i], words[i]);
    chosen_.push_back(dots[i]);
    return true;
  }
  return false;
}

void CaseChooser::ConsiderRelatives() {
  for (OpenChain& chain : open_) {
    int tried = 0;
    for (bool nearer = chain.nearest.has_value(); nearer && !chain.models.empty();) {
      nearer = false;
      const DotProductCase from = *chain.nearest;
      for (const Pass& pass : Passes()) {
        std::vector<DotProductCase> dots;
        const auto consider = [&] {
          nearer = ConsiderNearer(chain, dots, tried);
          dots.clear();
          return nearer || tried >= kRelatives;
        };
        bool stopped = false;
        pass.propose(model_, from, [&](const DotProductCase& dot) {
          dots.push_back(dot);
          return stopped = dots.size() == kRelativesAtOnce && consider();
        });
        if (stopped || consider()) break;
      }
    }
  }
  std::erase_if(open_, [](const OpenChain& chain) { return chain.models.empty(); });
}

}  // namespace mmadiff

#include "sim/reference/toy.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <string_view>

#include "sim/reference/random_dot.h"

namespace mmadiff::reference {
namespace {

// A toy product is between 2^-2 and 2^4; with subnormals of 1-3-1, it starts at 2^-10.
std::vector<int> NumbersOf(std::string_view parameter) {
  if (parameter == "fraction_bits") return {1, 2, 3, 4, 5, 6};
  if (parameter == "sum_fraction_bits") return {1, 2, 3, 5};
  if (parameter == "exponent_floor") return {kNoFloor, -5, -2, 0, 2, 4};
  return {1, 2};  // terms, group_terms, output_fraction_bits
}

std::vector<Choice> AllChoices(Family family) {
  std::vector<Choice> choices;
  for (const Parameter& p : Parameters()) {
    if (FindParameter(family, p.name) == nullptr || IsReading(p)) continue;
    std::vector<int> values = NumbersOf(p.name);
    if (!p.values.empty()) {
      values.resize(p.values.size());
      for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i);
    }
    choices.push_back({&p, values});
  }
  return choices;
}

using Indices = std::vector<int>;  // one value index per choice

Algorithm Chosen(const std::vector<Choice>& choices, Algorithm algorithm, const Indices& indices) {
  for (size_t i = 0; i < choices.size(); ++i) {
    choices[i].parameter->set(algorithm, choices[i].values[indices[i]]);
  }
  return algorithm;
}

// One or two choices and their values, as (choice, value, choice, value).
using Tuple = std::array<int, 4>;

void Set(const std::vector<Choice>& choices, const Tuple& t, Algorithm& algorithm) {
  choices[t[0]].parameter->set(algorithm, choices[t[0]].values[t[1]]);
  choices[t[2]].parameter->set(algorithm, choices[t[2]].values[t[3]]);
}

// Whether the toy model can have the values, if necessary with one other parameter changed.
bool IsPossible(Family family, const std::vector<Choice>& choices, const Tuple& t) {
  const Algorithm toy = ToyModel(family).algorithm;
  for (const Choice& other : choices) {
    for (int value : other.values) {
      Algorithm algorithm = toy;
      other.parameter->set(algorithm, value);
      Set(choices, t, algorithm);
      if (WhyInvalid(ToyModelOf(algorithm)).empty()) return true;
    }
  }
  return false;
}

// The value combinations that a model covers.
std::vector<Tuple> TuplesOf(const Indices& indices, int strength) {
  std::vector<Tuple> tuples;
  for (int i = 0; i < static_cast<int>(indices.size()); ++i) {
    if (strength == 1) tuples.push_back({i, indices[i], i, indices[i]});
    for (int j = 0; strength == 2 && j < i; ++j) tuples.push_back({j, indices[j], i, indices[i]});
  }
  return tuples;
}

std::set<Tuple> PossibleTuples(Family family, const std::vector<Choice>& choices, int strength) {
  std::set<Tuple> all;
  const auto values = [&](int i) { return static_cast<int>(choices[i].values.size()); };
  for (int i = 0; i < static_cast<int>(choices.size()); ++i) {
    for (int j = strength == 1 ? i : 0; strength == 1 ? j == i : j < i; ++j) {
      for (int v = 0; v < values(i); ++v) {
        for (int w = 0; w < values(j); ++w) {
          if (strength == 1 && v != w) continue;
          const Tuple t = {j, w, i, v};
          if (IsPossible(family, choices, t)) all.insert(t);
        }
      }
    }
  }
  return all;
}

// Value indices of a valid model with the values of `t`; the other values are random.
Indices RandomIndices(Family family, const std::vector<Choice>& choices, const Tuple& t,
                      Random& random) {
  const Algorithm toy = ToyModel(family).algorithm;
  for (int i = 0; i < 100'000; ++i) {
    Indices indices;
    for (const Choice& c : choices) indices.push_back(static_cast<int>(random() % c.values.size()));
    indices[t[0]] = t[1], indices[t[2]] = t[3];
    if (WhyInvalid(ToyModelOf(Chosen(choices, toy, indices))).empty()) return indices;
  }
  std::abort();
}

}  // namespace

std::vector<Choice> Choices(Family family) {
  const std::vector<Choice> all = AllChoices(family);
  std::vector<Choice> choices = all;
  for (int i = 0; i < static_cast<int>(all.size()); ++i) {
    choices[i].values.clear();
    for (int v = 0; v < static_cast<int>(all[i].values.size()); ++v) {
      if (IsPossible(family, all, {i, v, i, v})) choices[i].values.push_back(all[i].values[v]);
    }
  }
  return choices;
}

// Cached, because callers request the product's algorithms one at a time.
static const std::vector<Choice>& CachedChoices(Family family) {
  static const std::vector<std::vector<Choice>> choices = [] {
    std::vector<std::vector<Choice>> of_families;
    for (Family f : AllFamilies()) of_families.push_back(Choices(f));
    return of_families;
  }();
  return choices[static_cast<int>(family)];
}

// Greedy: each round takes the random model that covers most missing combinations. Each random
// model starts from a missing combination, so every round covers at least one.
std::vector<Model> CoveringModels(Family family, int strength) {
  const std::vector<Choice> choices = Choices(family);
  std::set<Tuple> missing = PossibleTuples(family, choices, strength);
  Random random(1);
  std::vector<Model> models;
  while (!missing.empty()) {
    Indices best;
    int64_t best_count = 0;
    for (int i = 0; i < 100; ++i) {
      const Indices indices = RandomIndices(family, choices, *missing.begin(), random);
      const std::vector<Tuple> tuples = TuplesOf(indices, strength);
      const int64_t count =
          std::ranges::count_if(tuples, [&](const Tuple& t) { return missing.contains(t); });
      if (count > best_count) best = indices, best_count = count;
    }
    for (const Tuple& t : TuplesOf(best, strength)) missing.erase(t);
    models.push_back(ToyModelOf(Chosen(choices, ToyModel(family).algorithm, best)));
  }
  return models;
}

int64_t ProductSize(Family family) {
  int64_t size = 1;
  for (const Choice& c : CachedChoices(family)) size *= static_cast<int64_t>(c.values.size());
  return size;
}

Algorithm ProductAlgorithm(Family family, int64_t index) {
  const std::vector<Choice>& of_family = CachedChoices(family);
  Indices indices;
  for (const Choice& c : of_family) {
    const int64_t count = static_cast<int64_t>(c.values.size());
    indices.push_back(static_cast<int>(index % count));
    index /= count;
  }
  return Chosen(of_family, ToyModel(family).algorithm, indices);
}

// Distributes the bits of a counter to all words.
std::string ExhaustiveDisagreement(const Model& m, int64_t* tried) {
  DotProductCase dot = {std::vector<uint64_t>(m.k + m.scales()),
                        std::vector<uint64_t>(m.k + m.scales()), 0};
  std::vector<std::pair<uint64_t*, int>> words = {{&dot.c, m.c.bits}};
  for (int i = 0; i < m.k + m.scales(); ++i) {
    words.emplace_back(&dot.a[i], i < m.k ? m.a.bits : m.scale.bits);
    words.emplace_back(&dot.b[i], i < m.k ? m.b.bits : m.scale.bits);
  }
  int all_bits = 0;
  for (const auto& [word, bits] : words) all_bits += bits;
  for (uint64_t input = 0; input < uint64_t{1} << all_bits; ++input) {
    uint64_t rest = input;
    for (const auto& [word, bits] : words) {
      *word = rest & Ones(bits);
      rest >>= bits;
    }
    const std::string difference = Disagreement(m, dot);
    if (!difference.empty()) return difference;
  }
  *tried += int64_t{1} << all_bits;
  return "";
}

}  // namespace mmadiff::reference

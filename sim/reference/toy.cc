#include "sim/reference/toy.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "sim/reference/random_dot.h"

namespace mmadiff::reference {
namespace {

constexpr Nonfinite kIeee = Nonfinite::kIeee;
constexpr Format kToy = {"1-2-1", 4, 2, 1, 0, 0, kIeee, true};
constexpr Format kToyLow = {"1-2-1 low", 4, 2, 1, -1, 0, kIeee, true};
constexpr Format kToyPower = {"1-2-0", 3, 2, 0, 0, 0, kIeee, true};  // no NaN, no subnormals
constexpr Format kToyPadded = {"1-2-1 padded", 6, 2, 1, 0, 2, kIeee, true};
constexpr Format kToyNanOnly = {"1-2-1 no infinity", 4, 2, 1, 0, 0, Nonfinite::kNanAllOnes, true};
constexpr Format kToyShifted = {"1-3-1", 5, 3, 1, -4, 0, kIeee, true};
// Outputs. Normal from 4 to 14 in the first: sums of toy products, multiples of 1/4 up to 18,
// become subnormal, round up out of the subnormals, and overflow.
constexpr Format kToyHigh = {"1-2-2 high", 5, 2, 2, 2, 0, kIeee, true};
constexpr Format kToyWide = {"1-3-2", 6, 3, 2, -2, 0, kIeee, true};
constexpr Format kToyOut[] = {kToyHigh, kToyWide, {"1-2-2", 5, 2, 2, 1, 0, kIeee, true}};
constexpr Format kS5 = {"s5", 5, 0, 0, 0, 0, Nonfinite::kNone, true};
constexpr Format kS3 = {"s3", 3, 0, 0, 0, 0, Nonfinite::kNone, true};
constexpr Format kU3 = {"u3", 3, 0, 0, 0, 0, Nonfinite::kNone, false};
constexpr Format kS2 = {"s2", 2, 0, 0, 0, 0, Nonfinite::kNone, true};

// A toy product lies between 2^-2 and 2^3; with subnormals of 1-3-1, from 2^-10.
std::vector<int> NumbersOf(std::string_view parameter) {
  if (parameter == "fraction_bits") return {1, 2, 3, 4, 5, 6};
  if (parameter == "exponent_floor") return {kNoFloor, -5, -2, 0, 2, 4};
  return {1, 2};  // terms, output_fraction_bits
}

using Indices = std::vector<int>;  // of a value of each choice

Algorithm Chosen(const std::vector<Choice>& choices, Algorithm algorithm, const Indices& indices) {
  for (size_t i = 0; i < choices.size(); ++i) {
    choices[i].parameter->set(algorithm, choices[i].values[indices[i]]);
  }
  return algorithm;
}

// The value combinations that a model covers, as (choice, value, choice, value).
using Tuple = std::array<int, 4>;
std::vector<Tuple> TuplesOf(const Indices& indices, int strength) {
  std::vector<Tuple> tuples;
  for (int i = 0; i < static_cast<int>(indices.size()); ++i) {
    if (strength == 1) tuples.push_back({i, indices[i], i, indices[i]});
    for (int j = 0; strength == 2 && j < i; ++j) tuples.push_back({j, indices[j], i, indices[i]});
  }
  return tuples;
}

std::set<Tuple> AllTuples(const std::vector<Choice>& choices, int strength) {
  std::set<Tuple> all;
  for (size_t i = 0; i < choices.size(); ++i) {
    for (size_t j = strength == 1 ? i : 0; strength == 1 ? j == i : j < i; ++j) {
      for (size_t v = 0; v < choices[i].values.size(); ++v) {
        for (size_t w = 0; w < choices[j].values.size(); ++w) {
          if (strength == 1 && v != w) continue;
          all.insert(
              {static_cast<int>(j), static_cast<int>(w), static_cast<int>(i), static_cast<int>(v)});
        }
      }
    }
  }
  return all;
}

Indices RandomIndices(const std::vector<Choice>& choices, std::mt19937_64& random) {
  Indices indices;
  for (const Choice& c : choices) indices.push_back(static_cast<int>(random() % c.values.size()));
  return indices;
}

}  // namespace

Model ToyModel(Family family) {
  Model m = {kToy, kToy, kToy, kToyHigh, 2, {.family = family, .terms = 2, .fraction_bits = 4}};
  if (family == Family::kFmaChain) m.a = kToyLow, m.b = kToyPower, m.c = kToyHigh;
  if (family == Family::kIntegerDot) m.a = kS3, m.b = kS2, m.c = m.d = kS5;
  m.algorithm.output_fraction_bits = m.d.fraction_bits;
  return m;
}

std::vector<Choice> Choices(Family family) {
  std::vector<Choice> choices;
  for (const Parameter& p : Parameters()) {
    if (FindParameter(family, p.name) == nullptr) continue;
    std::vector<int> values = NumbersOf(p.name);
    if (!p.values.empty()) {
      values.resize(p.values.size());
      for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i);
    }
    std::erase_if(values, [&](int value) {
      Model model = ToyModel(family);
      p.set(model.algorithm, value);
      return !Invalid(model).empty();
    });
    choices.push_back({&p, values});
  }
  return choices;
}

// Greedy: of some random models, the one that covers most of what is missing.
std::vector<Model> CoveringModels(Family family, int strength) {
  const std::vector<Choice> choices = Choices(family);
  std::set<Tuple> missing = AllTuples(choices, strength);
  std::mt19937_64 random(1);
  std::vector<Model> models;
  while (!missing.empty()) {
    Indices best;
    int64_t best_count = 0;
    for (int i = 0; i < 100; ++i) {
      const Indices indices = RandomIndices(choices, random);
      const std::vector<Tuple> tuples = TuplesOf(indices, strength);
      const int64_t count =
          std::ranges::count_if(tuples, [&](const Tuple& t) { return missing.contains(t); });
      if (count > best_count) best = indices, best_count = count;
    }
    if (best_count == 0) continue;
    for (const Tuple& t : TuplesOf(best, strength)) missing.erase(t);
    models.push_back(ToyModel(family));
    models.back().algorithm = Chosen(choices, models.back().algorithm, best);
  }
  return models;
}

int64_t ProductSize(Family family) {
  int64_t size = 1;
  for (const Choice& c : Choices(family)) size *= static_cast<int64_t>(c.values.size());
  return size;
}

Algorithm ProductAlgorithm(Family family, int64_t index) {
  static const std::vector<Choice> choices[] = {
      Choices(Family::kFmaChain), Choices(Family::kFusedSum), Choices(Family::kIntegerDot)};
  const std::vector<Choice>& of_family = choices[static_cast<int>(family)];
  Indices indices;
  for (const Choice& c : of_family) {
    const int64_t count = static_cast<int64_t>(c.values.size());
    indices.push_back(static_cast<int>(index % count));
    index /= count;
  }
  return Chosen(of_family, ToyModel(family).algorithm, indices);
}

Model WithOtherFormats(const Model& model, std::mt19937_64& random) {
  const Format floats[] = {kToy, kToyPower, kToyPadded, kToyNanOnly, kToyShifted};
  const Format integers[] = {kS3, kU3, kS2};
  Model m = model;
  m.k = 1 + static_cast<int>(random() % 3);
  if (m.algorithm.family == Family::kIntegerDot) {
    m.a = integers[random() % std::size(integers)];
    m.b = integers[random() % std::size(integers)];
    return m;
  }
  m.a = floats[random() % std::size(floats)];
  m.b = floats[random() % std::size(floats)];
  m.d = m.c = kToyOut[random() % std::size(kToyOut)];
  if (m.algorithm.family == Family::kFusedSum && random() % 2) m.c = kToy;
  return m;
}

std::string ExhaustiveDisagreement(const Model& m, int64_t* tried) {
  const uint64_t a_words = uint64_t{1} << m.a.bits, b_words = uint64_t{1} << m.b.bits;
  const uint64_t pairs = a_words * b_words, c_words = uint64_t{1} << m.c.bits;
  DotProductCase dot = {std::vector<uint64_t>(2), std::vector<uint64_t>(2), 0};
  for (uint64_t first = 0; first < pairs; ++first) {
    dot.a[0] = first % a_words, dot.b[0] = first / a_words;
    for (uint64_t second = 0; second < pairs; ++second) {
      dot.a[1] = second % a_words, dot.b[1] = second / a_words;
      for (dot.c = 0; dot.c < c_words; ++dot.c) {
        const std::string difference = Disagreement(m, dot);
        if (!difference.empty()) return difference;
      }
    }
  }
  *tried += static_cast<int64_t>(pairs * pairs * c_words);
  return "";
}

}  // namespace mmadiff::reference

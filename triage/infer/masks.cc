#include "triage/infer/masks.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "device/status_macros.h"
#include "sim/absent_addend.h"
#include "sim/word.h"
#include "triage/infer/experiments.h"
#include "triage/infer/stored_products.h"

namespace mmadiff {
namespace {

constexpr int kMinRatio = 40;            // exponents between one and mask that no known sum keeps
constexpr size_t kMaxPairedLeaves = 64;  // children of a node, to ask about every pair

using Leaves = std::vector<int>;

// Puts +-2^exponent in a term. False if the formats cannot.
bool PutLeaf(const Model& m, int leaf, bool negative, int exponent, DotProductCase& dot) {
  return PutTerm(m, leaf, {Value::Class::kFinite, negative, exponent, 0}, dot);
}

// Asks which of the ones are left after +X in `i` and -X in `j` have met.
struct Query {
  int i, j;
  Leaves ones;
};

// The multiple of 2^one that the word represents; -1 if it is not such a multiple below 2^16.
int OnesIn(const Format& d, int one, uint64_t word) {
  const Value v = DecodeValue(d, word);
  if (v.kind == Value::Class::kZero) return 0;
  const int up = v.exponent - one;
  if (v.kind != Value::Class::kFinite || v.negative || up < 0 || up >= 16) return -1;
  const uint64_t all = 1ull << 63 | v.fraction >> 1;
  const bool whole = (all & LowBits(63 - up)) == 0 && (v.fraction & 1) == 0;
  return whole ? static_cast<int>(all >> (63 - up)) : -1;
}

class Masks {
 public:
  explicit Masks(Asker& asker)
      : asker_(asker), m_(StoredProducts(asker.op()).model), leaves_(m_.k + !HasNoAddend(m_)) {}

  absl::StatusOr<Structure> Find();

 private:
  // Chooses the exponents; returns the reason if that fails.
  absl::StatusOr<std::string> Choose();
  absl::StatusOr<bool> Works(int one, int mask);

  absl::StatusOr<std::vector<uint64_t>> Ask(const std::vector<Query>& queries, int one, int mask);
  // For each query the number of ones that came out; -1 if the word is not such a number.
  absl::StatusOr<std::vector<int>> Count(const std::vector<Query>& queries);
  // For every j of `others`: the leaves of `universe` that join i or j before these have met.
  absl::StatusOr<std::vector<Leaves>> Inside(int i, const Leaves& others, const Leaves& universe);
  // Leaves that join one another before they join i.
  absl::StatusOr<std::vector<Leaves>> Groups(int i, const Leaves& leaves);
  struct Level {
    Leaves leaves;
    std::vector<Leaves> parts;  // more than one for a node that loses nothing
  };
  static std::vector<Level> Levels(std::vector<Leaves> inside);
  static std::vector<Leaves> Operands(const Level& level, const Leaves& done);
  absl::StatusOr<SummationTree> Build(const Leaves& leaves);

  Asker& asker_;
  const Model m_;
  const int leaves_;
  int one_ = 0, mask_ = 0;
  bool counts_ = false;  // sums of several ones are exact
  bool sampled_ = false;
};

absl::StatusOr<std::vector<uint64_t>> Masks::Ask(const std::vector<Query>& queries, int one,
                                                 int mask) {
  std::vector<DotProductCase> dots;
  for (const Query& q : queries) {
    DotProductCase dot = NeutralDotProduct(m_);
    bool fits = true;
    if (q.i >= 0) fits &= PutLeaf(m_, q.i, false, mask, dot);
    if (q.j >= 0) fits &= PutLeaf(m_, q.j, true, mask, dot);
    for (const int leaf : q.ones) fits &= PutLeaf(m_, leaf, false, one, dot);
    if (!fits) return absl::InternalError("no such term");
    dots.push_back(std::move(dot));
  }
  return asker_.Ask("masks", AsSparse(asker_.op(), std::move(dots)));
}

// Whether a mask alone passes through unchanged, and the one passes through from every term.
absl::StatusOr<bool> Masks::Works(int one, int mask) {
  DotProductCase scratch = NeutralDotProduct(m_);
  for (const int leaf : {0, leaves_ - 1}) {
    if (!PutLeaf(m_, leaf, true, mask, scratch) || !PutLeaf(m_, leaf, false, one, scratch))
      return false;
  }
  uint64_t small = 0, plus = 0, minus = 0;
  if (!EncodePowerOfTwo(m_.d, false, one, &small) || !EncodePowerOfTwo(m_.d, false, mask, &plus) ||
      !EncodePowerOfTwo(m_.d, true, mask, &minus)) {
    return false;
  }
  std::vector<Query> queries;
  std::vector<uint64_t> wanted;
  for (int leaf = 0; leaf < leaves_; ++leaf) {
    queries.push_back({-1, -1, {leaf}});
    wanted.push_back(small);
  }
  for (const int leaf : {0, m_.k - 1, leaves_ - 1}) {
    queries.push_back({leaf, -1, {}});
    wanted.push_back(plus);
    queries.push_back({-1, leaf, {}});
    wanted.push_back(minus);
  }
  ASSIGN_OR_RETURN(const auto words, Ask(queries, one, mask));
  return words == wanted;
}

absl::StatusOr<std::string> Masks::Choose() {
  if (IsInteger(m_.a) || IsInteger(m_.d)) return "integer sums mask nothing";
  if (IsAbsent(m_.b)) return "a conversion adds nothing";
  const Format& c = HasNoAddend(m_) ? m_.d : m_.c;
  const int highest = std::min(
      {HighestExponent(m_.a) + HighestExponent(m_.b), HighestExponent(c), HighestExponent(m_.d)});
  const int normal =
      std::max({m_.a.min_exponent + m_.b.min_exponent, c.min_exponent, m_.d.min_exponent});
  const int least = std::max(
      {LowestExponent(m_.a) + LowestExponent(m_.b), LowestExponent(c), LowestExponent(m_.d)});
  bool chosen = false;
  // A sum inside may have a narrower range than the operands and the result.
  for (const int top : {highest, std::min(highest, HighestExponent(kF16))}) {
    mask_ = top - 1;
    const int low = mask_ - normal >= kMinRatio ? normal : least;
    for (int one = low; !chosen && one < mask_ - 8; one += 8) {
      ASSIGN_OR_RETURN(const bool works, Works(one, mask_));
      chosen = works;
      one_ = one;
    }
    if (chosen) break;
  }
  if (!chosen) {
    return absl::StrCat("no power of two far enough below 2^", highest - 1,
                        " passes through every term unchanged");
  }
  std::vector<Query> sums;
  for (int count = 1; count <= leaves_; ++count) {
    Leaves ones(count);
    std::iota(ones.begin(), ones.end(), 0);
    sums.push_back({-1, -1, ones});
  }
  ASSIGN_OR_RETURN(const auto words, Ask(sums, one_, mask_));
  counts_ = true;
  for (int count = 1; count <= leaves_; ++count) {
    const Value v = DecodeValue(m_.d, words[count - 1]);
    const int bits = std::bit_width(static_cast<unsigned>(count));
    uint64_t word = 0;
    const uint64_t fraction = bits == 1 ? 0 : static_cast<uint64_t>(count) << (65 - bits);
    counts_ &=
        EncodeValue(m_.d, {Value::Class::kFinite, false, one_ + bits - 1, fraction}, &word) &&
        word == words[count - 1] && v.kind == Value::Class::kFinite;
  }
  return "";
}

absl::StatusOr<std::vector<int>> Masks::Count(const std::vector<Query>& queries) {
  ASSIGN_OR_RETURN(const auto words, Ask(queries, one_, mask_));
  std::vector<int> counts;
  for (size_t i = 0; i < words.size(); ++i) {
    const int count = OnesIn(m_.d, one_, words[i]);
    counts.push_back(count > static_cast<int>(queries[i].ones.size()) ? -1 : count);
  }
  return counts;
}

absl::StatusOr<std::vector<Leaves>> Masks::Inside(int i, const Leaves& others,
                                                  const Leaves& universe) {
  std::vector<Leaves> inside(others.size());
  struct Open {
    size_t other;
    Query query;
  };
  std::vector<Open> open;
  for (size_t n = 0; n < others.size(); ++n) {
    Leaves ones;
    for (const int leaf : universe) {
      if (leaf != i && leaf != others[n]) ones.push_back(leaf);
    }
    inside[n] = {i, others[n]};
    if (ones.empty()) continue;
    if (counts_) {
      open.push_back({n, {i, others[n], ones}});
    } else {
      for (const int leaf : ones) open.push_back({n, {i, others[n], {leaf}}});
    }
  }
  while (!open.empty()) {
    std::vector<Query> queries;
    for (const Open& o : open) queries.push_back(o.query);
    ASSIGN_OR_RETURN(const auto counts, Count(queries));
    std::vector<Open> next;
    for (size_t q = 0; q < open.size(); ++q) {
      const Leaves& ones = open[q].query.ones;
      const int count = counts[q];
      if (count == static_cast<int>(ones.size())) continue;
      if (count == 0 || ones.size() == 1) {
        inside[open[q].other].insert(inside[open[q].other].end(), ones.begin(), ones.end());
        continue;
      }
      const auto middle = ones.begin() + ones.size() / 2;
      for (const Leaves& half : {Leaves(ones.begin(), middle), Leaves(middle, ones.end())}) {
        next.push_back({open[q].other, {open[q].query.i, open[q].query.j, half}});
      }
    }
    open = std::move(next);
  }
  for (Leaves& leaves : inside) std::ranges::sort(leaves);
  return inside;
}

absl::StatusOr<std::vector<Leaves>> Masks::Groups(int i, const Leaves& leaves) {
  std::vector<Query> queries;
  std::vector<std::pair<size_t, size_t>> pairs;
  const bool all = leaves.size() <= kMaxPairedLeaves;
  sampled_ |= !all;
  for (size_t x = 0; x < leaves.size(); ++x) {
    for (size_t step = 1; x + step < leaves.size(); step = all ? step + 1 : step * 2) {
      queries.push_back({leaves[x], leaves[x + step], {i}});
      pairs.push_back({x, x + step});
    }
  }
  ASSIGN_OR_RETURN(const auto counts, Count(queries));
  std::vector<size_t> group(leaves.size());
  std::iota(group.begin(), group.end(), 0);
  for (size_t q = 0; q < pairs.size(); ++q) {
    if (counts[q] != 1) continue;  // i joins before they have met
    const size_t from = group[pairs[q].second], to = group[pairs[q].first];
    for (size_t& g : group) {
      if (g == from) g = to;
    }
  }
  std::map<size_t, Leaves> by_group;
  for (size_t x = 0; x < leaves.size(); ++x) by_group[group[x]].push_back(leaves[x]);
  std::vector<Leaves> groups;
  for (auto& [number, members] : by_group) groups.push_back(std::move(members));
  std::ranges::sort(groups);
  return groups;
}

// The nodes above a leaf, from the leaves inside each of them: normally nested sets. Sets that are
// not nested belong to a node that loses nothing of its operands: together they are its leaves, and
// each is an operand, whole or in part.
std::vector<Masks::Level> Masks::Levels(std::vector<Leaves> inside) {
  std::ranges::sort(inside, {}, [](const Leaves& x) { return std::pair(x.size(), x); });
  inside.erase(std::unique(inside.begin(), inside.end()), inside.end());
  std::vector<Level> levels;
  for (const Leaves& set : inside) {
    if (!levels.empty() && set == levels.back().leaves) continue;
    if (levels.empty() || std::ranges::includes(set, levels.back().leaves)) {
      levels.push_back({set, {set}});
      continue;
    }
    Level& level = levels.back();
    level.parts.push_back(set);
    Leaves all;
    std::ranges::set_union(level.leaves, set, std::back_inserter(all));
    level.leaves = std::move(all);
  }
  return levels;
}

// The operands of a node that loses nothing, except `done`.
std::vector<Leaves> Masks::Operands(const Level& level, const Leaves& done) {
  std::vector<Leaves> operands;
  for (const Leaves& part : level.parts) {
    Leaves own;
    std::ranges::set_difference(part, done, std::back_inserter(own));
    const auto meets = [&](const Leaves& other) {
      return std::ranges::find_first_of(other, own) != other.end();
    };
    for (auto known = std::ranges::find_if(operands, meets); known != operands.end();
         known = std::ranges::find_if(operands, meets)) {
      Leaves both;
      std::ranges::set_union(*known, own, std::back_inserter(both));
      own = std::move(both);
      operands.erase(known);
    }
    operands.push_back(std::move(own));
  }
  return operands;
}

absl::StatusOr<SummationTree> Masks::Build(const Leaves& leaves) {
  if (leaves.size() == 1) return SummationTree{leaves[0]};
  const int i = leaves.back();  // the addend if it is among them, because chains are deepest there
  const Leaves others(leaves.begin(), leaves.end() - 1);
  ASSIGN_OR_RETURN(std::vector<Leaves> inside, Inside(i, others, leaves));
  SummationTree below = {i};
  Leaves done = {i};
  for (const Level& level : Levels(std::move(inside))) {
    Leaves fresh;
    std::ranges::set_difference(level.leaves, done, std::back_inserter(fresh));
    ASSIGN_OR_RETURN(const std::vector<Leaves> groups,
                     level.parts.size() > 1 ? Operands(level, done) : Groups(i, fresh));
    SummationTree parent;
    parent.children.push_back(std::move(below));
    for (const Leaves& group : groups) {
      ASSIGN_OR_RETURN(SummationTree child, Build(group));
      parent.children.push_back(std::move(child));
    }
    std::ranges::sort(parent.children, {},
                      [](const SummationTree& t) { return LeavesOf(t).front(); });
    below = std::move(parent);
    done = level.leaves;
  }
  return below;
}

absl::StatusOr<Structure> Masks::Find() {
  ASSIGN_OR_RETURN(const std::string why, Choose());
  Structure found = {{}, why, one_, mask_, false};
  if (!why.empty()) return found;
  Leaves all(leaves_);
  std::iota(all.begin(), all.end(), 0);
  ASSIGN_OR_RETURN(SummationTree tree, Build(all));
  found.sampled = sampled_;
  found.tree = std::move(tree);
  return found;
}

}  // namespace

bool SameOnes(const Model& m, const Structure& structure, uint64_t x, uint64_t y) {
  const auto ones = [&](uint64_t word) {
    const int count = OnesIn(m.d, structure.one, word);
    return count < 0 || count > m.k + 1 ? 0 : count;
  };
  return ones(x) == ones(y);
}

absl::StatusOr<Structure> FindStructure(Asker& asker) { return Masks(asker).Find(); }

}  // namespace mmadiff

#include "triage/minimize/minimize.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "device/status_macros.h"
#include "sim/sparsity.h"
#include "sim/word.h"
#include "triage/minimize/reducer.h"
#include "triage/minimize/simplicity.h"
#include "triage/minimize/terms.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

// Whether the element of the execution still differs as it must.
absl::StatusOr<bool> Holds(Runner& runner, const Target& target, const Batch& inputs,
                           int64_t element) {
  ASSIGN_OR_RETURN(const std::vector<uint64_t> d, runner.Try(inputs));
  return target.Holds(Extract(inputs, element), d[element]);
}

// Words of an execution that may become neutral together: a range in one of the three arrays.
struct Group {
  std::vector<uint64_t> Batch::*array;
  int64_t first, count;
};

// Rows of A, columns of B and addends that the element does not use.
std::vector<Group> OtherWords(const Shape& s, int64_t element) {
  const Position p = PositionOf(s, element);
  const int64_t words = s.row_words();
  std::vector<Group> groups;
  for (int row = 0; row < s.blocks * s.m; ++row) {
    if (row != p.block * s.m + p.i) groups.push_back({&Batch::a, row * words, words});
  }
  for (int column = 0; column < s.blocks * s.n; ++column) {
    if (column != p.block * s.n + p.j) groups.push_back({&Batch::b, column * words, words});
  }
  for (int64_t i = 0; i < s.d_words(); ++i) {
    if (i != element) groups.push_back({&Batch::c, i, 1});
  }
  return groups;
}

// +0, or a scale of 1.0.
uint64_t NeutralWordAt(const Model& m, std::vector<uint64_t> Batch::*array, int64_t index) {
  const bool addend = array == &Batch::c;
  return addend ? 0 : NeutralWord(m, static_cast<int>(index % (m.k + m.scales())));
}

const Format& FormatAt(const Model& m, std::vector<uint64_t> Batch::*array, int64_t index) {
  if (array == &Batch::c) return m.c;
  if (index % (m.k + m.scales()) >= m.k) return m.scale;
  return array == &Batch::a ? m.a : m.b;
}

bool IsNeutral(const Model& m, const Batch& inputs, const Group& g) {
  for (int64_t i = g.first; i < g.first + g.count; ++i) {
    if ((inputs.*g.array)[i] != NeutralWordAt(m, g.array, i)) return false;
  }
  return true;
}

void MakeNeutral(const Model& m, const Group& g, Batch& inputs) {
  for (int64_t i = g.first; i < g.first + g.count; ++i) {
    (inputs.*g.array)[i] = NeutralWordAt(m, g.array, i);
  }
}

// Makes groups neutral while the difference holds: runs of all groups, of half as many, down to
// single ones.
absl::StatusOr<bool> ClearGroups(Runner& runner, const Target& target, int64_t element,
                                 std::vector<Group> groups, Batch& inputs) {
  bool changed = false;
  const Model& m = runner.op().model;
  std::erase_if(groups, [&](const Group& g) { return IsNeutral(m, inputs, g); });
  for (size_t run = groups.size(); run >= 1; run /= 2) {
    for (size_t start = 0; start < groups.size();) {
      if (!runner.HasBudget()) return changed;
      Batch candidate = inputs;
      const size_t end = std::min(start + run, groups.size());
      for (size_t i = start; i < end; ++i) MakeNeutral(m, groups[i], candidate);
      ASSIGN_OR_RETURN(const bool holds, Holds(runner, target, candidate, element));
      if (holds) {
        inputs = std::move(candidate);
        groups.erase(groups.begin() + start, groups.begin() + end);
        changed = true;
      } else {
        start = end;
      }
    }
  }
  return changed;
}

// Reduces the words around the dot product: whole rows and columns become neutral, then words, then
// the remaining words become 1.0.
absl::StatusOr<bool> ReduceBackground(Runner& runner, const Target& target, int64_t element,
                                      Batch& inputs) {
  const std::vector<Group> groups = OtherWords(inputs.shape, element);
  ASSIGN_OR_RETURN(bool changed, ClearGroups(runner, target, element, groups, inputs));
  std::vector<Group> words;
  for (const Group& g : groups) {
    for (int64_t i = 0; i < g.count; ++i) words.push_back({g.array, g.first + i, 1});
  }
  ASSIGN_OR_RETURN(const bool cleared, ClearGroups(runner, target, element, words, inputs));
  changed |= cleared;
  const Model& m = runner.op().model;
  for (const Group& g : words) {
    const Format& format = FormatAt(m, g.array, g.first);
    for (const bool negative : {false, true}) {
      uint64_t one = 0;
      const uint64_t word = (inputs.*g.array)[g.first];
      if (word == 0 || !EncodePowerOfTwo(format, negative, 0, &one)) continue;
      if (word == one) break;
      if (!runner.HasBudget()) return changed;
      Batch candidate = inputs;
      (candidate.*g.array)[g.first] = one;
      ASSIGN_OR_RETURN(const bool holds, Holds(runner, target, candidate, element));
      if (!holds) continue;
      inputs = std::move(candidate);
      changed = true;
      break;
    }
  }
  return changed;
}

// The smallest surroundings in which the dot product differs: none, a tile of zeros, its own tile.
// In a tile of zeros, 1.0 as the addend may do in its place.
absl::StatusOr<Mismatch> Place(Runner& runner, const Target& target, const Mismatch& mismatch) {
  const Shape& shape = mismatch.inputs.shape;
  const DotProductCase dot = Extract(mismatch.inputs, mismatch.element);
  if (shape == DotProductShape(shape)) return mismatch;
  Mismatch alone{mismatch.op, MakeDotProductBatch(shape, {dot}), 0};
  ASSIGN_OR_RETURN(bool holds, Holds(runner, target, alone.inputs, 0));
  if (holds) return alone;
  const Model& m = mismatch.op->model;
  std::vector<DotProductCase> dots = {dot};
  DotProductCase one = NeutralDotProduct(m);
  if (EncodePowerOfTwo(m.c, false, 0, &one.c)) dots.push_back(std::move(one));
  std::ranges::sort(dots, {}, [&](const DotProductCase& d) { return ComplexityOf(m, d); });
  Mismatch in_zeros{mismatch.op, NeutralBatch(m, shape, 1), mismatch.element};
  for (const DotProductCase& simple : dots) {
    if (!target.Possible(simple)) continue;
    Insert(simple, 0, PositionOf(shape, mismatch.element), in_zeros.inputs);
    ASSIGN_OR_RETURN(holds, Holds(runner, target, in_zeros.inputs, mismatch.element));
    if (holds) return in_zeros;
  }
  return mismatch;
}

}  // namespace

bool SameWords(const Batch& x, const Batch& y) {
  return x.shape == y.shape && x.a == y.a && x.b == y.b && x.c == y.c &&
         StoredMetadata(x) == StoredMetadata(y);
}

absl::Status Check(const Mismatch& mismatch) {
  if (mismatch.op == nullptr) return absl::InvalidArgumentError("mismatch without an operation");
  const Shape& s = mismatch.inputs.shape;
  const Shape& own = mismatch.op->shape();
  if (mismatch.inputs.count != 1 || (!(s == own) && !(s == DotProductShape(own)))) {
    return absl::InvalidArgumentError(absl::StrCat("a mismatch of ", mismatch.op->name,
                                                   " must be one execution or one dot product"));
  }
  if (mismatch.element < 0 || mismatch.element >= s.d_words()) {
    return absl::InvalidArgumentError(absl::StrCat("element ", mismatch.element,
                                                   " is out of range: ", mismatch.op->name, " has ",
                                                   s.d_words(), " elements"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Tries> Repeat(Runner& runner, const Mismatch& mismatch, int tries) {
  Tries result;
  const Operation& op = runner.op();
  std::vector<uint64_t> first = mismatch.device;
  int different = 0;
  for (int i = 0; i < tries; ++i) {
    ASSIGN_OR_RETURN(std::vector<uint64_t> d, runner.Run(mismatch.inputs));
    Comparison compared = Compare(op, mismatch.inputs, d);
    result.model = std::move(compared.model);
    const bool differs = std::ranges::binary_search(compared.differing, mismatch.element);
    different += differs;
    if (first.empty()) first = d;
    result.steady &= Differences(op, first, d).empty();
    if (differs || different == 0) result.device = std::move(d);
  }
  if (different > 0) result.repeatability = Repeatability::kFlaky;
  if (different == tries && result.steady) result.repeatability = Repeatability::kReproduced;
  return result;
}

// Reduces the dot product and its surroundings in turn, until neither changes.
absl::StatusOr<Mismatch> Shrink(Runner& runner, const Target& target, const Mismatch& start,
                                Effort effort) {
  ASSIGN_OR_RETURN(Mismatch mismatch, Place(runner, target, start));
  mismatch.inputs.stream.clear();  // a recording must not look up a smaller case by this name
  mismatch.device.clear();
  mismatch.model.clear();
  for (bool again = true; again;) {
    ASSIGN_OR_RETURN(const bool around,
                     ReduceBackground(runner, target, mismatch.element, mismatch.inputs));
    Reducer reducer(runner, target, mismatch.inputs, mismatch.element);
    ASSIGN_OR_RETURN(const bool changed, reducer.Reduce(effort));
    mismatch.inputs = reducer.inputs();
    again = around || changed;
  }
  return mismatch;
}

}  // namespace mmadiff

#include "triage/probe/operand_sweep.h"

#include <algorithm>
#include <vector>

#include "sim/word.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

constexpr uint64_t kPrime = 2654435761;  // spreads the tiles over the domain

std::vector<uint64_t> Addends(const Instruction& in) {
  std::vector<uint64_t> words = {0};
  const Format &a = *in.a, &b = *in.b, &c = *in.c;
  if (a.bits > 8 || b.bits > 8) return words;
  if (IsInteger(c)) {
    words.push_back(LowBits(c.bits - 1));  // the largest and the least
    words.push_back(1ull << SignBit(c));
    return words;
  }
  // Odd significands, so that whatever is cut shows.
  const int low = a.min_exponent - a.fraction_bits + b.min_exponent - b.fraction_bits - 2;
  const int high = std::min(MaxExponent(a) + MaxExponent(b) + 2, MaxExponent(c));
  for (int e = std::max(low, c.min_exponent); e <= high; ++e) {
    const uint64_t field = static_cast<uint64_t>(e - c.min_exponent + 1) << c.fraction_bits;
    words.push_back((field | 1) << c.ignored_bits);
    words.push_back(words.back() | 1ull << SignBit(c));
  }
  return words;
}

// The tiles that hold every triple: lines of A by lines of B by addends.
class Domain {
 public:
  explicit Domain(const Instruction& in)
      : in_(in),
        addends_(Addends(in)),
        a_(uint64_t{1} << (in.a->bits - in.a->ignored_bits)),
        b_(uint64_t{1} << (in.b->bits - in.b->ignored_bits)),
        a_lines_(std::min<uint64_t>(in.shape.m, a_)),
        b_lines_(std::min<uint64_t>(in.shape.n, b_)),
        a_chunks_((a_ + a_lines_ - 1) / a_lines_),
        b_chunks_((b_ + b_lines_ - 1) / b_lines_) {}

  uint64_t triples() const { return a_ * b_ * addends_.size(); }
  uint64_t tiles() const { return a_chunks_ * b_chunks_ * addends_.size(); }
  uint64_t triples_of_tile() const { return a_lines_ * b_lines_; }

  // Writes tile number `tile` to one block of a batch.
  void Fill(uint64_t tile, int64_t block, Batch& batch) const {
    tile = tile % tiles() * (kPrime % tiles()) % tiles();
    const Shape& s = in_.shape;
    const uint64_t a = tile % a_chunks_ * a_lines_, b = tile / a_chunks_ % b_chunks_ * b_lines_;
    const uint64_t c = addends_[tile / a_chunks_ / b_chunks_];
    for (int i = 0; i < s.m; ++i) {
      batch.a[(block * s.m + i) * s.row_words()] = (a + i) % a_ << in_.a->ignored_bits;
    }
    for (int j = 0; j < s.n; ++j) {
      batch.b[(block * s.n + j) * s.row_words()] = (b + j) % b_ << in_.b->ignored_bits;
    }
    std::fill_n(&batch.c[block * s.m * s.n], s.m * s.n, c);
  }

 private:
  const Instruction& in_;
  const std::vector<uint64_t> addends_;
  const uint64_t a_, b_, a_lines_, b_lines_, a_chunks_, b_chunks_;
};

}  // namespace

bool HasOperandSweep(const Operation& op) {
  const Format &a = *op.instruction->a, &b = *op.instruction->b;
  return IsModelled(op) && std::max(a.bits, b.bits) <= 16 && std::min(a.bits, b.bits) > 1;
}

absl::StatusOr<OperandSweep> SweepOperands(Device& device, const Operation& op, const Model& model,
                                           const TimeLimit& limit) {
  const Domain domain(*op.instruction);
  const Shape& s = op.shape();
  const int64_t most = std::max<int64_t>(1, (1 << 18) / s.d_words());  // executions at a time
  int64_t at_once = device.IsSlow() ? 1 : most;
  OperandSweep result = {.of = domain.triples()};
  Comparison comparison;
  uint64_t tile = 0;
  while (tile < domain.tiles()) {
    const uint64_t left = domain.tiles() - tile;
    const int64_t count =
        std::min<int64_t>(at_once, static_cast<int64_t>((left + s.blocks - 1) / s.blocks));
    Batch batch = NeutralBatch(model, s, count);
    for (int64_t block = 0; block < count * s.blocks; ++block)
      domain.Fill(tile + block, block, batch);
    tile = std::min(tile + count * s.blocks, domain.tiles());
    const TimeLimit quick = TimeLimit::After(absl::Milliseconds(500));
    const absl::StatusOr<std::vector<uint64_t>> d = device.Run(op, batch);
    if (!d.ok()) return d.status();
    if (!quick.Reached()) at_once = std::min(2 * at_once, most);
    Compare(op, model, batch, *d, comparison);
    const std::vector<int64_t>& differing = comparison.differing;
    result.differing += differing.size();
    if (!differing.empty() && result.first.empty()) {
      result.first.push_back({Extract(batch, differing.front()), (*d)[differing.front()]});
    }
    result.done = std::min(tile * domain.triples_of_tile(), result.of);
    if (limit.Reached() || device.StopRequested()) break;
  }
  return result;
}

}  // namespace mmadiff

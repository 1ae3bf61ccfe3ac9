#include "triage/probe/operand_sweep.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "device/status_macros.h"
#include "sim/word.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

constexpr uint64_t kPrime = 2654435761;  // spreads the tiles over the domain
constexpr int64_t kPortion = 1 << 18;    // dot products per batch

std::vector<uint64_t> Addends(const Instruction& in) {
  std::vector<uint64_t> words = {0};
  const Format &a = *in.a, &b = *in.b, &c = *in.c;
  if (a.bits > 8 || b.bits > 8 || IsAbsent(c)) return words;
  if (IsInteger(c)) {
    words.push_back(LowBits(c.bits - 1));  // the largest and the smallest
    words.push_back(1ull << SignBit(c));
    return words;
  }
  // Odd significands, so that anything cut shows.
  const int low = a.min_exponent - a.fraction_bits + b.min_exponent - b.fraction_bits - 2;
  const int high = std::min(MaxExponent(a) + MaxExponent(b) + 2, MaxExponent(c));
  for (int e = std::max(low, c.min_exponent); e <= high; ++e) {
    const uint64_t field = static_cast<uint64_t>(e - c.min_exponent + 1) << c.fraction_bits;
    words.push_back((field | 1) << c.ignored_bits);
    words.push_back(words.back() | 1ull << SignBit(c));
  }
  return words;
}

// The tiles that contain every triple: rows of A by columns of B by addends.
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

class Sweep : public OperandSweeper {
 public:
  Sweep(const Operation& op, const Model& model, const TimeLimit& limit, bool slow)
      : op_(op),
        model_(model),
        limit_(limit),
        domain_(*op.instruction),
        most_(std::max<int64_t>(1, kPortion / op.shape().d_words())),
        at_once_(slow ? 1 : most_) {}

  absl::Status Work(Device& device) override {
    Batch batch;
    Comparison comparison;
    while (const std::optional<Part> part = Next(device)) {
      if (batch.count != part->count) batch = NeutralBatch(model_, op_.shape(), part->count);
      for (int64_t block = 0; block < part->count * op_.shape().blocks; ++block) {
        domain_.Fill(part->first + block, block, batch);
      }
      const TimeLimit quick = TimeLimit::After(absl::Milliseconds(500));
      absl::StatusOr<std::vector<uint64_t>> d = device.Run(op_, batch);
      const bool was_quick = !quick.Reached();
      if (d.ok()) Compare(op_, model_, batch, *d, comparison);
      if (d.ok() && !comparison.differing.empty()) {
        const auto again = device.Run(op_, batch);
        if (!again.ok()) d = again.status();
        if (again.ok() && *again != *d)
          d = absl::AbortedError("two answers to one pair of operands");
      }
      Take(part->first, batch, d, comparison, was_quick);
    }
    absl::MutexLock lock(&mutex_);
    return status_;
  }

  absl::StatusOr<OperandSweep> Result() override {
    absl::MutexLock lock(&mutex_);
    RETURN_IF_ERROR(status_);
    const uint64_t of = domain_.triples();
    return OperandSweep{std::min(tile_ * domain_.triples_of_tile(), of), of, differing_, first_};
  }

 private:
  struct Part {
    uint64_t first;  // tile
    int64_t count;   // executions
  };

  std::optional<Part> Next(Device& device) {
    absl::MutexLock lock(&mutex_);
    if (!status_.ok() || tile_ >= domain_.tiles()) return std::nullopt;
    if (tile_ > 0 && (limit_.Reached() || device.StopRequested())) return std::nullopt;
    const uint64_t first = tile_, blocks = op_.shape().blocks, left = domain_.tiles() - first;
    const int64_t count =
        std::min<int64_t>(at_once_, static_cast<int64_t>((left + blocks - 1) / blocks));
    tile_ = std::min(first + count * blocks, domain_.tiles());
    return Part{first, count};
  }

  void Take(uint64_t first, const Batch& batch, const absl::StatusOr<std::vector<uint64_t>>& d,
            const Comparison& comparison, bool was_quick) {
    absl::MutexLock lock(&mutex_);
    status_.Update(d.status());
    if (!d.ok()) return;
    if (was_quick) at_once_ = std::min(2 * at_once_, most_);
    const std::vector<int64_t>& differing = comparison.differing;
    differing_ += differing.size();
    if (differing.empty() || (first_tile_ && first >= *first_tile_)) return;
    first_tile_ = first;
    first_ = {{Extract(batch, differing.front()), (*d)[differing.front()]}};
  }

  const Operation& op_;
  const Model model_;
  const TimeLimit limit_;
  const Domain domain_;
  const int64_t most_;  // executions per batch

  absl::Mutex mutex_;
  int64_t at_once_ ABSL_GUARDED_BY(mutex_);
  uint64_t tile_ ABSL_GUARDED_BY(mutex_) = 0;  // the next tile
  uint64_t differing_ ABSL_GUARDED_BY(mutex_) = 0;
  std::optional<uint64_t> first_tile_ ABSL_GUARDED_BY(mutex_);  // the first tile that differs
  std::vector<Observed> first_ ABSL_GUARDED_BY(mutex_);
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

bool HasOperandSweep(const Operation& op) {
  const Format &a = *op.instruction->a, &b = *op.instruction->b;
  return IsModelled(op) && std::max(a.bits, b.bits) <= 16 && a.bits > 1 && b.bits != 1;
}

std::unique_ptr<OperandSweeper> SweeperOf(const Operation& op, const Model& model,
                                          const TimeLimit& limit, bool slow) {
  return std::make_unique<Sweep>(op, model, limit, slow);
}

absl::StatusOr<OperandSweep> SweepOperands(Device& device, const Operation& op, const Model& model,
                                           const TimeLimit& limit) {
  Sweep sweep(op, model, limit, device.IsSlow());
  RETURN_IF_ERROR(sweep.Work(device));
  return sweep.Result();
}

}  // namespace mmadiff

#include "fuzz/record/raw_cases.h"

#include <algorithm>
#include <ranges>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "corpus/cases/case_name.h"
#include "corpus/recordings/packed_words.h"

namespace mmadiff {
namespace {

constexpr uint64_t kRecordOutputs = 40 << 10;  // bytes; a record of raw answers has more

uint64_t AnswerBytes(const Operation& op) {
  return op.shape().d_words() * WordBytes(*op.instruction->d);
}

// An upper bound on the bytes for `cases` executions of each strategy.
uint64_t RawBytes(const Operation& op, const std::string& identity, uint64_t cases) {
  const uint64_t outputs = cases * AnswerBytes(op);
  const uint64_t records = outputs / kRecordOutputs + 2;
  return Strategies().size() * (outputs + records * RecordOverhead(op, identity));
}

// The largest number in [low, high] that fits. `low` fits, and so do all numbers below one that
// fits.
uint64_t Largest(uint64_t low, uint64_t high, absl::FunctionRef<bool(uint64_t)> fits) {
  const auto above = std::views::iota(low, high);
  return *std::ranges::partition_point(above, [&](uint64_t x) { return fits(x + 1); });
}

// The largest number of cases that takes at most `bytes`, within the limits.
uint64_t CasesFor(const Operation& op, const std::string& identity, uint64_t cases,
                  uint64_t bytes) {
  return Largest(std::min(kFewCases, cases), cases,
                 [&](uint64_t some) { return RawBytes(op, identity, some) <= bytes; });
}

}  // namespace

int64_t RawBatchCases(const Operation& op) {
  return std::max<int64_t>(1, 4 * kRecordOutputs / AnswerBytes(op));
}

uint64_t RecordOverhead(const Operation& op, const std::string& identity) {
  return 2 * op.name.size() + identity.size() + 160;
}

absl::StatusOr<std::vector<uint64_t>> PlanRawCases(const std::vector<const Operation*>& ops,
                                                   const std::string& identity, uint64_t cases,
                                                   uint64_t bytes) {
  // The largest share per operation with which all fit.
  const auto total = [&](uint64_t share) {
    uint64_t sum = 0;
    for (const Operation* op : ops) {
      sum += RawBytes(*op, identity, CasesFor(*op, identity, cases, share));
    }
    return sum;
  };
  if (total(0) > bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("a few raw answers for each of ", ops.size(), " instructions take ", total(0),
                     " bytes, but only ", bytes, " are left: raise --max_bytes"));
  }
  const uint64_t share = Largest(0, bytes, [&](uint64_t s) { return total(s) <= bytes; });
  std::vector<uint64_t> planned;
  for (const Operation* op : ops) planned.push_back(CasesFor(*op, identity, cases, share));
  return planned;
}

}  // namespace mmadiff

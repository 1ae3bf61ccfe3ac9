#include "device/device.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "device/line_protocol.h"
#include "device/status_macros.h"
#include "sim/sparsity.h"

namespace mmadiff {
namespace {

absl::Status CheckBatch(const Operation& op, const Batch& batch) {
  const Shape& s = batch.shape;
  if (s != op.shape() && s != DotProductShape(op.shape())) {
    return absl::InvalidArgumentError(
        absl::StrCat("a batch for ", op.name, " must have its shape or that of a dot product"));
  }
  const auto has = [&batch](const std::vector<uint64_t>& words, int each) {
    return static_cast<int64_t>(words.size()) == batch.count * each;
  };
  if (batch.count >= 0 && has(batch.a, s.a_words()) && has(batch.b, s.b_words()) &&
      has(batch.c, s.d_words()) && has(batch.metadata, s.metadata_words())) {
    const std::string why = WhyNotSparse(*op.instruction, batch.a, batch.metadata);
    return why.empty() ? absl::OkStatus() : absl::InvalidArgumentError(why);
  }
  return absl::InvalidArgumentError(absl::StrCat("a batch for ", op.name, " of ", batch.count,
                                                 " executions has the wrong number of words"));
}

// The number of leading words that fit the format.
size_t Fitting(const Format& f, const std::vector<uint64_t>& d) {
  const uint64_t beyond = ~LowBits(f.bits);
  uint64_t any[4] = {};  // avoids a branch for each word
  for (size_t i = 0; i < d.size(); ++i) any[i % 4] |= d[i];
  if (((any[0] | any[1] | any[2] | any[3]) & beyond) == 0) return d.size();
  return std::ranges::find_if(d, [&](uint64_t word) { return (word & beyond) != 0; }) - d.begin();
}

}  // namespace

absl::Status Device::Execute(const Operation& op, const Batch&, std::vector<uint64_t>&) {
  return absl::UnimplementedError(
      absl::StrCat(name(), " answers ", op.name, " only through Ask()"));
}

absl::Status Device::ExecuteFallible(const Operation& op, const Batch& batch, Answers& answers) {
  return Execute(op, batch, answers.d);
}

absl::Status Device::Ask(const Operation& op, const Batch& batch, Answers& answers) {
  answers.d.clear();
  answers.failures.clear();
  answers.age = 0;
  RETURN_IF_ERROR(Supports(op));
  RETURN_IF_ERROR(CheckBatch(op, batch));
  before_ = answered_;
  absl::Status s = ExecuteFallible(op, batch, answers);
  ShowAnswered(answers.size());
  const int64_t expected = batch.dot_products(), answered = answers.size();
  const bool ends_with_failure = answers.failures.contains(answered - 1);
  const Format& f = *op.instruction->d;
  if (answered > expected || (s.ok() && answered < expected && !ends_with_failure)) {
    s = absl::DataLossError(absl::StrCat(name(), " returned ", answered, " results for ", expected,
                                         " dot products of ", op.name));
    answers = {};
  } else if (const auto good = static_cast<int64_t>(Fitting(f, answers.d)); good < answered) {
    s = absl::DataLossError(absl::StrCat(name(), ": result ", good, " of ", op.name, " is 0x",
                                         absl::Hex(answers.d[good]), ", which does not fit the ",
                                         f.bits, " bits of ", f.name));
    answers.Truncate(good);
  }
  return s;
}

absl::Status Device::Run(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) {
  Answers answers;
  answers.d = std::move(d);  // reuses its memory
  absl::Status s = Ask(op, batch, answers);
  if (!answers.failures.empty()) {
    const auto& [index, failure] = *answers.failures.begin();
    s = ToStatus(failure,
                 absl::StrCat("fails on ", FormatLine(*op.instruction, Extract(batch, index)), ": ",
                              Describe(failure)));
    answers.Truncate(index);
    if (failure.age > 0) Restart();  // for callers of Ask() it should fail again
  }
  d = std::move(answers.d);
  return s;
}

absl::StatusOr<std::vector<uint64_t>> Device::Run(const Operation& op, const Batch& batch) {
  std::vector<uint64_t> d;
  RETURN_IF_ERROR(Run(op, batch, d));
  return d;
}

}  // namespace mmadiff

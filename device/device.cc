#include "device/device.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
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
      has(batch.c, s.d_words())) {
    const std::string why = WhyNotSparse(*op.instruction, batch.a);
    return why.empty() ? absl::OkStatus() : absl::InvalidArgumentError(why);
  }
  return absl::InvalidArgumentError(absl::StrCat("a batch for ", op.name, " of ", batch.count,
                                                 " executions with other numbers of words"));
}

// How many words from the first on are within the format.
size_t Fitting(const Format& f, const std::vector<uint64_t>& d) {
  const uint64_t beyond = ~LowBits(f.bits);
  uint64_t any[4] = {};  // without a branch for each word
  for (size_t i = 0; i < d.size(); ++i) any[i % 4] |= d[i];
  if (((any[0] | any[1] | any[2] | any[3]) & beyond) == 0) return d.size();
  return std::ranges::find_if(d, [&](uint64_t word) { return (word & beyond) != 0; }) - d.begin();
}

}  // namespace

absl::Status Device::Run(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) {
  d.clear();
  if (absl::Status s = Supports(op); !s.ok()) return s;
  if (absl::Status s = CheckBatch(op, batch); !s.ok()) return s;
  absl::Status s = Execute(op, batch, d);
  const size_t expected = batch.dot_products(), answered = d.size();
  const Format& f = *op.instruction->d;
  if (answered > expected || (s.ok() && answered < expected)) {
    s = absl::DataLossError(absl::StrCat(name(), " gave ", answered, " results for ", expected,
                                         " dot products of ", op.name));
    d.clear();
  } else if (const size_t good = Fitting(f, d); good < answered) {
    s = absl::DataLossError(absl::StrCat(name(), ": result ", good, " of ", op.name, " is 0x",
                                         absl::Hex(d[good]), ", more than the ", f.bits,
                                         " bits of ", f.name));
    d.resize(good);
  }
  return s;
}

absl::StatusOr<std::vector<uint64_t>> Device::Run(const Operation& op, const Batch& batch) {
  std::vector<uint64_t> d;
  if (absl::Status s = Run(op, batch, d); !s.ok()) return s;
  return d;
}

}  // namespace mmadiff

#include "device/one_hot.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "device/line_protocol.h"
#include "device/status_macros.h"
#include "sim/absent_addend.h"
#include "sim/sparsity.h"
#include "sim/word.h"

namespace mmadiff {
namespace {

// A or B: `lines` rows or columns in all blocks, each of k elements and then the scales.
struct Side {
  const char *name, *scale_name;
  std::vector<uint64_t> Batch::*words;
  int lines, lines_of_block;
  const Format* format;
};

// Consecutive words of each line that are under test.
struct Probed {
  const char* name;
  int first, count;
  uint64_t low, high;  // values of the code
  int group = 1;
  uint64_t metadata = 0;  // if not 0: only elements that it stores can be high

  bool MayBeHigh(int x) const { return metadata == 0 || IsStored(group, metadata, x % group); }
};

// A sparse A holds half of each group at a time; its codes give the metadata. In groups of more than
// two elements, every bit of these words takes both values, and no two bits are equal in all of them.
constexpr uint64_t kProbedMetadata[] = {0x4, 0x9, 0xe};

// Bits needed to number `count` things, at least one because code 0 must have a complement.
int CodeBits(int64_t count) {
  return std::max(1, static_cast<int>(std::bit_width(static_cast<uint64_t>(count - 1))));
}

// The codes of thing `index`: each bit of its number, each bit's complement, and (for xor) all
// zeros.
bool Coded(int64_t index, int code, int bits) {
  if (code == 2 * bits) return false;
  return (index >> code % bits & 1) != (code >= bits);
}

class LayoutProbe {
 public:
  LayoutProbe(const Operation& op, const Shape& shape, LayoutCode code = LayoutCode::kWords)
      : op_(op),
        shape_(shape),
        code_(code),
        xor_(op.model.algorithm.bit_operation == BitOperation::kXor) {
    all_.shape = shape;
  }

  // Runs one batch for each pair of operands.
  absl::Status Run(Device& device) {
    device_ = &device;
    return Probe();
  }

  absl::Status RunAtOnce(Device& device) {
    RETURN_IF_ERROR(Probe());  // without a device: only collects
    device_ = &device;
    return Ask();
  }

  int64_t DotProducts() {
    Probe().IgnoreError();  // without a device it cannot fail
    return all_.dot_products();
  }

 private:
  absl::Status Probe() {
    const Instruction& i = *op_.instruction;
    const Side a = {"A", "the scales of A", &Batch::a, shape_.blocks * shape_.m, shape_.m, i.a};
    const Side b = {"B", "the scales of B", &Batch::b, shape_.blocks * shape_.n, shape_.n, i.b};
    if (i.is_conversion()) return ProbeOperand(a);
    if (!HasNoAddend(op_.model)) RETURN_IF_ERROR(ProbeAddend());
    RETURN_IF_ERROR(ProbeElements(a, b));
    RETURN_IF_ERROR(ProbeElements(b, a));
    if (shape_.scales == 0) return absl::OkStatus();
    RETURN_IF_ERROR(ProbeScales(a, b));
    return ProbeScales(b, a);
  }

  // With xor, the sums identify the elements only together with the sums without the code and
  // without the partner.
  int CodeCount(int bits) const { return 2 * bits + xor_; }

  uint64_t HighOf(const Format& f) const { return code_ == LayoutCode::kWords ? CodeWord(f) : 1; }

  // Integers in place of words: elements and addends 0, scales 1.
  Batch Values(int executions) const {
    Batch v;
    v.Resize(shape_, executions);
    for (const auto words : {&Batch::a, &Batch::b}) {
      for (size_t i = 0; i < (v.*words).size(); ++i) {
        (v.*words)[i] = static_cast<int>(i % shape_.row_words()) >= shape_.k;
      }
    }
    return v;
  }

  // The code in C and zeros elsewhere: C and D are placed correctly, or wrong in the same way,
  // which A and B will reveal.
  absl::Status ProbeAddend() {
    const int count = shape_.d_words(), bits = CodeBits(count);
    const Instruction& i = *op_.instruction;
    const uint64_t one = std::min(HighOf(*i.c), HighOf(*i.d));
    Batch v = Values(CodeCount(bits));
    for (int code = 0; code < v.count; ++code) {
      for (int e = 0; e < count; ++e) v.c[code * count + e] = Coded(e, code, bits) ? one : 0;
    }
    return Check(v, "C or D");
  }

  // The code in A, as numbers that both formats have: D is A.
  absl::Status ProbeOperand(const Side& side) {
    const Instruction& i = *op_.instruction;
    const bool zeros = i.a->has_zero && i.d->has_zero;
    const uint64_t low = zeros ? 0 : 1;
    const uint64_t high = zeros ? std::min(HighOf(*i.a), HighOf(*i.d)) : 2;
    const int bits = CodeBits(side.lines);
    Batch v = Values(CodeCount(bits));
    for (int code = 0; code < v.count; ++code) {
      for (int line = 0; line < side.lines; ++line) {
        v.a[code * side.lines + line] = Coded(line, code, bits) ? high : low;
      }
    }
    return Check(v, side.name);
  }

  // The partner has a one in one k of each line: D is the elements of that k.
  absl::Status ProbeElements(const Side& side, const Side& partner) {
    Probed probed = {side.name, 0, shape_.k, 0, HighOf(*side.format)};
    if (!op_.instruction->sparse() || side.words != &Batch::a) {
      return ProbeCode(side, partner, probed, 1);
    }
    probed.group = shape_.k / shape_.groups;
    for (const uint64_t metadata : kProbedMetadata) {
      if (!IsLegalMetadata(probed.group, metadata)) continue;
      probed.metadata = metadata;
      RETURN_IF_ERROR(ProbeCode(side, partner, probed, 1));
    }
    return absl::OkStatus();
  }

  // Elements are ones; the partner's are ones only under one scale. D is the scale times their
  // number.
  absl::Status ProbeScales(const Side& side, const Side& partner) {
    return ProbeCode(side, partner, {side.scale_name, shape_.k, shape_.scales, 1, 2},
                     shape_.k / shape_.scales);
  }

  // Line j of the partner has ones at the `width` k from width * ((group * lines + j) mod count).
  absl::Status ProbeCode(const Side& side, const Side& partner, const Probed& probed, int width) {
    const int stride = shape_.row_words(), lines = partner.lines_of_block;
    const int bits = CodeBits(static_cast<int64_t>(side.lines) * probed.count);
    const int groups = (probed.count + lines - 1) / lines;
    for (int group = 0; group < groups + xor_; ++group) {  // for xor, the last group has no ones
      Batch v = Values(CodeCount(bits));
      for (int code = 0; code < v.count; ++code) {
        uint64_t* own = &(v.*side.words)[static_cast<int64_t>(code) * side.lines * stride];
        uint64_t* other = &(v.*partner.words)[static_cast<int64_t>(code) * partner.lines * stride];
        for (int line = 0; line < side.lines; ++line, own += stride) {
          if (probed.first > 0) std::fill(own, own + shape_.k, 1);
          for (int x = 0; x < probed.count; ++x) {
            const bool coded = probed.MayBeHigh(x) &&
                               Coded(static_cast<int64_t>(line) * probed.count + x, code, bits);
            own[probed.first + x] = coded ? probed.high : probed.low;
          }
        }
        for (int line = 0; group < groups && line < partner.lines; ++line) {
          const int k = width * ((group * lines + line % lines) % probed.count);
          std::fill_n(other + line * stride + k, width, 1);
        }
      }
      RETURN_IF_ERROR(Check(v, absl::StrCat(probed.name, " and ones in ", partner.name)));
    }
    return absl::OkStatus();
  }

  // D = A B + C for element (i, j) of a block; D = A for a conversion.
  uint64_t Expected(const uint64_t* a, const uint64_t* b, uint64_t c) const {
    if (op_.instruction->is_conversion()) return a[0];
    for (int k = 0; k < shape_.k; ++k) {
      uint64_t product = xor_ ? a[k] ^ b[k] : a[k] * b[k];
      if (shape_.scales > 0) {
        const int scale = shape_.k + k / (shape_.k / shape_.scales);
        product *= a[scale] * b[scale];
      }
      c += product;
    }
    return c;
  }

  // Runs the executions or, while there is no device, collects them.
  absl::Status Check(const Batch& values, const std::string& operand) {
    operands_.push_back({all_.dot_products(), operand});
    for (const auto words : {&Batch::a, &Batch::b, &Batch::c, &Batch::metadata}) {
      (all_.*words).insert((all_.*words).end(), (values.*words).begin(), (values.*words).end());
    }
    all_.count += values.count;
    return device_ == nullptr ? absl::OkStatus() : Ask();
  }

  // Runs the collected executions.
  absl::Status Ask() {
    const Instruction& in = *op_.instruction;
    const int stride = shape_.row_words();
    Batch none;
    none.shape = shape_;
    const Batch values = std::exchange(all_, std::move(none));
    const auto operands = std::exchange(operands_, {});
    Batch words = values;
    for (size_t i = 0; i < words.a.size(); ++i) {
      words.a[i] = IntegerWord(in.a_format(i % stride), values.a[i]);
    }
    for (size_t i = 0; i < words.b.size(); ++i) {
      words.b[i] = IntegerWord(in.b_format(i % stride), values.b[i]);
    }
    for (uint64_t& c : words.c) c = IntegerWord(*in.c, c);
    ASSIGN_OR_RETURN(const std::vector<uint64_t> d, device_->Run(op_, words));
    for (size_t i = 0; i < d.size(); ++i) {
      const Position p = PositionOf(shape_, static_cast<int64_t>(i) % shape_.d_words());
      const int64_t block = static_cast<int64_t>(i) / shape_.d_words() * shape_.blocks + p.block;
      const uint64_t expected =
          IntegerWord(*in.d, Expected(&values.a[(block * shape_.m + p.i) * stride],
                                      &values.b[(block * shape_.n + p.j) * stride], values.c[i]));
      if (d[i] == expected) continue;
      const auto later = std::ranges::find_if(
          operands, [&](const auto& o) { return o.first > static_cast<int64_t>(i); });
      return Misplaced(std::prev(later)->second, p, d[i], expected);
    }
    return absl::OkStatus();
  }

  absl::Status Misplaced(const std::string& operand, const Position& p, uint64_t d,
                         uint64_t expected) const {
    const Format& f = *op_.instruction->d;
    return absl::FailedPreconditionError(absl::StrCat(
        op_.name, ": the layout differs from the tables. With test values in ", operand,
        ", D at block ", p.block, ", row ", p.i, ", column ", p.j, " is ", HexWord(f, d),
        " instead of ", HexWord(f, expected),
        "; this instruction is disabled on this device: compare `mmadiff layout` with the manual"));
  }

  Device* device_ = nullptr;
  const Operation& op_;
  const Shape shape_;
  const LayoutCode code_;
  const bool xor_;
  Batch all_;                                              // collected values, not yet run
  std::vector<std::pair<int64_t, std::string>> operands_;  // first dot product, operand under test
};

}  // namespace

absl::Status ProbeLayout(Device& device, const Operation& op, LayoutCode code) {
  return LayoutProbe(op, op.shape(), code).Run(device);
}

absl::Status ProbeDotProduct(Device& device, const Operation& op, LayoutCode code) {
  return LayoutProbe(op, DotProductShape(op.shape()), code).RunAtOnce(device);
}

absl::Status Repeated(absl::FunctionRef<absl::Status()> probe) {
  const absl::Status first = probe();
  if (!absl::IsFailedPrecondition(first)) return first;
  const absl::Status again = probe();
  if (again == first || !(again.ok() || absl::IsFailedPrecondition(again))) return again;
  return absl::AbortedError(
      "its answers do not repeat: two probes of its layout gave different results");
}

int64_t LayoutDotProducts(const Operation& op, const Shape& shape) {
  return LayoutProbe(op, shape).DotProducts();
}

uint64_t CodeWord(const Format& f) {
  // The golden ratio: no two bytes are equal.
  constexpr uint64_t kDigits = 0x9e3779b97f4a7c15;
  const int digits = f.bits == 64 ? 53 : std::min(f.fraction_bits + 1, 11);
  const int held = IsInteger(f) ? f.bits - (f.is_signed ? 1 : 0) : digits;
  const uint64_t code = kDigits >> (64 - held);
  const int largest = IsInteger(f) ? 63 : MaxExponent(f);
  const int exponent = static_cast<int>(std::bit_width(code)) - 1;
  return exponent <= largest ? code : code >> (exponent - largest);
}

}  // namespace mmadiff

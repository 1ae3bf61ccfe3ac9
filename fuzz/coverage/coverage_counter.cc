#include "fuzz/coverage/coverage_counter.h"

#include <algorithm>
#include <numeric>

#include "fuzz/unit/unit_runner.h"
#include "sim/dot_product.h"
#include "sim/trace.h"
#include "sim/tree/tree_sum.h"

namespace mmadiff {
namespace {

// Watches the stages of one dot product and marks the cells that they reach.
class Marker {
 public:
  Marker(const Model& model, const BinTable& table, const DotProductCase& dot,
         std::vector<uint8_t>& seen, std::vector<uint16_t>& reached)
      : m_(model), alg_(model.algorithm), table_(table), dot_(dot), seen_(seen), reached_(reached) {
    fused_ = alg_.family == Family::kFusedSum;
    aligns_ = fused_ || alg_.family == Family::kScaledSum;
    if (alg_.addend_joins == AddendJoins::kFirstStep) NextAddend(m_.c, dot.c);
  }

  void MarkOperands() {
    const bool integer = IsInteger(m_.d);
    for (int k = 0; k < m_.k; ++k) {
      const int a = KindOf(m_.a, dot_.a[k]), b = KindOf(m_.b, dot_.b[k]);
      Mark(BinGroup::kA, a, table_.PlaceOf(k));
      Mark(BinGroup::kB, b, table_.PlaceOf(k));
      const auto pair = [&](int kind) { return integer || kind == 0 ? kind : kind - 1; };
      Mark(BinGroup::kPairs, pair(a), pair(b));
    }
    Mark(BinGroup::kAddend, KindOf(m_.c, dot_.c));
    for (int s = 0; s < m_.scales(); ++s) {
      Mark(BinGroup::kScaleA, KindOf(m_.scale, dot_.a[m_.k + s]));
      Mark(BinGroup::kScaleB, KindOf(m_.scale, dot_.b[m_.k + s]));
    }
    if (!integer) MarkNanReason();
  }

  void operator()(const Event& e) {
    switch (e.stage) {
      case Stage::kProduct:
        if (fused_ && e.k >= 0) products_.push_back({e.k, e.magnitude, e.lsb_exponent});
        break;
      case Stage::kSpecial:
        special_ = true;
        break;
      case Stage::kAlignExponent:
        aligned_ = true;
        align_ = e.lsb_exponent;
        if (aligns_) Aligned();
        break;
      case Stage::kAlignedTerm:
        if (aligns_) widest_ = std::max(widest_, BitWidth(e.magnitude));
        break;
      case Stage::kSum:
        Sum(e);
        break;
      case Stage::kRounded:
        overflow_above_ = e.inexact && !sum_negative_;
        overflow_below_ = e.inexact && sum_negative_;
        if (!IsInteger(m_.d)) NextAddend(m_.d, static_cast<uint64_t>(e.magnitude));
        products_.clear();
        widest_ = 0;
        aligned_ = false;
        break;
    }
    if (e.stage != Stage::kSpecial) special_ &= e.stage != Stage::kRounded;
  }

  void MarkResult(uint64_t d) {
    const int kind = KindOf(m_.d, d);
    if (IsInteger(m_.d)) {
      Mark(BinGroup::kResult, kind);
      if (overflow_above_) Mark(BinGroup::kResult, kAboveRange);
      if (overflow_below_) Mark(BinGroup::kResult, kBelowRange);
    } else {
      Mark(BinGroup::kResult, kind == kInf && !special_ ? int{kOverflowed} : kind);
    }
  }

 private:
  struct Product {
    int k;
    unsigned __int128 magnitude;
    int lsb;
  };

  void Mark(BinGroup cross, int row, int column = 0) {
    const int bin = table_.At(cross, row, column);
    if (bin < 0 || seen_[bin] != 0) return;
    seen_[bin] = 1;
    reached_.push_back(static_cast<uint16_t>(bin));
  }

  void MarkNanReason() {
    bool reason[kNanReasons] = {}, infinite[2] = {};
    for (int k = 0; k < m_.k; ++k) {
      const Unpacked a = Decode(m_.a, dot_.a[k]), b = Decode(m_.b, dot_.b[k]);
      reason[kNanInA] |= a.kind == Kind::kNan;
      reason[kNanInB] |= b.kind == Kind::kNan;
      const bool inf_a = a.kind == Kind::kInfinite, inf_b = b.kind == Kind::kInfinite;
      const bool zero_a = a.kind == Kind::kFinite && a.significand == 0;
      const bool zero_b = b.kind == Kind::kFinite && b.significand == 0;
      reason[kInfTimesZero] |= (inf_a && zero_b) || (inf_b && zero_a);
      if (inf_a || inf_b) infinite[a.negative != b.negative] = true;
    }
    const Unpacked c = Decode(m_.c, dot_.c);
    reason[kNanInAddend] = c.kind == Kind::kNan;
    if (c.kind == Kind::kInfinite) infinite[c.negative] = true;
    for (int s = m_.k; s < m_.k + m_.scales(); ++s) {
      reason[kNanInScale] |= IsNan(m_.scale, dot_.a[s]) || IsNan(m_.scale, dot_.b[s]);
    }
    reason[kInfMinusInf] = infinite[0] && infinite[1];
    if (std::accumulate(reason, reason + kNanReasons, 0) != 1) return;
    Mark(BinGroup::kNanFrom,
         static_cast<int>(std::find(reason, reason + kNanReasons, true) - reason));
  }

  void NextAddend(const Format& format, uint64_t word) {
    addend_ = Decode(format, word);
    addend_format_ = format;
    has_addend_ = addend_.kind == Kind::kFinite && addend_.significand != 0;
  }

  // `magnitude` * 2^lsb has the exponent `offered` and is cut below align_ - fraction_bits.
  void MarkGap(BinGroup cross, unsigned __int128 magnitude, int lsb, int offered) {
    int lowest = lsb;
    while ((magnitude & 1) == 0) magnitude >>= 1, ++lowest;
    Mark(cross, BucketOf(align_ - offered), BucketOf(align_ - alg_.fraction_bits - lowest));
  }

  void Aligned() {
    bool any = false;
    for (const Product& p : products_) {
      if (p.magnitude == 0) continue;
      const int offered =
          ProductExponentOf(m_, Decode(m_.a, dot_.a[p.k]), Decode(m_.b, dot_.b[p.k]),
                            static_cast<uint64_t>(p.magnitude));
      if (offered == align_) Mark(BinGroup::kAlignedBy, table_.PlaceOf(p.k));
      any |= offered == align_;
      MarkGap(BinGroup::kProductGap, p.magnitude, p.lsb, offered);
    }
    if (has_addend_) {
      const int offered = AddendExponentOf(m_, addend_format_, addend_);
      if (offered == align_) Mark(BinGroup::kAlignedBy, table_.places());
      any |= offered == align_;
      MarkGap(BinGroup::kAddendGap, addend_.significand,
              addend_.exponent - addend_format_.fraction_bits, offered);
    }
    if (!any && align_ == alg_.exponent_floor && align_ != kNoFloor)
      Mark(BinGroup::kAlignedBy, table_.places() + 1);
  }

  void Sum(const Event& e) {
    sum_negative_ = e.negative;
    if (alg_.family == Family::kTwoStageSum && !aligned_) return;  // not rounded yet
    if (aligns_ && aligned_ && widest_ > 0) {
      const int width = BitWidth(e.magnitude);
      if (width >= widest_) Mark(BinGroup::kCarry, width - widest_);
      if (width <= widest_) {
        Mark(BinGroup::kCancellation, width == 0 ? kBuckets : BucketOf(widest_ - width));
      }
    }
    if (!IsInteger(m_.d)) MarkRounding(e);
  }

  void MarkRounding(const Event& e) {
    if (e.magnitude == 0) return;
    const bool last_add = fused_ && !aligned_;
    const bool all = last_add || alg_.family == Family::kConversion;
    const int kept = all ? m_.d.fraction_bits : alg_.output_fraction_bits;
    const int exponent = std::max(BitWidth(e.magnitude) - 1 + e.lsb_exponent, m_.d.min_exponent);
    const int shift = exponent - kept - e.lsb_exponent;
    int dropped = kNothing;
    if (shift > 128) {
      dropped = kBelowHalf;
    } else if (shift > 0) {
      const unsigned __int128 half = static_cast<unsigned __int128>(1) << (shift - 1);
      const unsigned __int128 lost = e.magnitude & (2 * half - 1);
      const bool odd = shift < 128 && (e.magnitude >> shift & 1);
      dropped = lost == 0      ? kNothing
                : lost == half ? (odd ? kHalfOverOdd : kHalfOverEven)
                               : (lost < half ? kBelowHalf : kAboveHalf);
    }
    Mark(BinGroup::kRounding, dropped, e.negative);
  }

  const Model& m_;
  const Algorithm& alg_;
  const BinTable& table_;
  const DotProductCase& dot_;
  std::vector<uint8_t>& seen_;
  std::vector<uint16_t>& reached_;
  std::vector<Product> products_;  // products of the step
  Unpacked addend_ = {};
  Format addend_format_ = {};
  bool fused_, aligns_, has_addend_ = false, aligned_ = false, special_ = false,
                        sum_negative_ = false;
  bool overflow_above_ = false, overflow_below_ = false;
  int align_ = 0, widest_ = 0;
};

}  // namespace

CoverageCounter::CoverageCounter(const Model& model)
    : model_(model), table_(model), counts_(bins().size()), seen_(bins().size()) {}

int CoverageCounter::Count(const DotProductCase& dot) {
  reached_.clear();
  Marker marker(model_, table_, dot, seen_, reached_);
  marker.MarkOperands();
  marker.MarkResult(DotProduct(model_, dot.a.data(), dot.b.data(), dot.c, marker));
  int thin = 0;
  for (const uint16_t i : reached_) {
    thin += counts_[i]++ < bins()[i].least;
    seen_[i] = 0;
  }
  ++dot_products_;
  return thin;
}

std::vector<size_t> FalseBins(const std::vector<Bin>& bins, const std::vector<uint64_t>& counts) {
  std::vector<size_t> wrong;
  for (size_t i = 0; i < std::min(bins.size(), counts.size()); ++i) {
    if (!bins[i].unreachable.empty() && counts[i] > 0) wrong.push_back(i);
  }
  return wrong;
}

std::vector<size_t> ThinBins(const std::vector<Bin>& bins, const std::vector<uint64_t>& counts) {
  std::vector<size_t> thin;
  for (size_t i = 0; i < bins.size(); ++i) {
    const uint64_t n = i < counts.size() ? counts[i] : 0;
    if (bins[i].unreachable.empty() && n < bins[i].least) thin.push_back(i);
  }
  return thin;
}

void SampleCoverage(const CaseStream& stream, uint64_t first, uint64_t count, UnitResult& result) {
  const uint64_t words = stream.op->shape().d_words();
  // Several dot products per case, since generating a case costs as much as tracing a few.
  // Consecutive cases, because classes take turns.
  const uint64_t each = count * words <= kCoveredDotProducts ? words : std::min<uint64_t>(words, 6);
  const uint64_t cases = std::min(count, kCoveredDotProducts / each);
  CoverageCounter counter(stream.op->model);
  Batch batch;
  const uint64_t most = UnitRunner::BatchCases(*stream.op);
  for (uint64_t done = 0; done < cases; done += batch.count) {
    Generate(stream, first + done, static_cast<int64_t>(std::min(most, cases - done)), batch);
    for (int64_t i = 0; i < batch.count; ++i) {
      for (uint64_t e = 0; e < each; ++e) {
        const uint64_t element = (first + done + i + e * words / each) % words;
        counter.Count(Extract(batch, static_cast<int64_t>(i * words + element)));
      }
    }
  }
  if (result.coverage.empty()) result.coverage.resize(counter.counts().size());
  for (size_t i = 0; i < result.coverage.size(); ++i) result.coverage[i] += counter.counts()[i];
}

}  // namespace mmadiff

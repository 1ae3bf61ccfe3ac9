#include "triage/race/race.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "corpus/cases/case_name.h"
#include "device/status_macros.h"
#include "sim/word.h"
#include "triage/explain.h"
#include "triage/minimize/minimize.h"
#include "triage/minimize/simplicity.h"
#include "triage/minimize/sparse.h"
#include "triage/minimize/terms.h"
#include "triage/model_device.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

constexpr int64_t kOfExecution = 8;  // dot products
constexpr int kStarts = 3;           // distinguishing dot products to shrink
constexpr int kMaxTerms = 2;         // in a stratum

using WordList = std::vector<uint64_t>;

// All words of the format, +0 first.
WordList AllWords(const Format& f) {
  WordList words(size_t{1} << f.bits);
  for (size_t i = 0; i < words.size(); ++i) words[i] = i;
  return words;
}

// About `most` words. Floats: exponent fields at equal distances, each with both signs and four
// fractions. Integers: values at equal distances.
WordList SomeWords(const Format& f, uint64_t most) {
  WordList words = {0};
  if (IsAbsent(f)) return words;
  if (IsInteger(f)) {
    const uint64_t step = std::max<uint64_t>(1, (LowBits(f.bits) / most) | 1);
    for (uint64_t i = step, n = 1; n < most; i += step, ++n) words.push_back(i & LowBits(f.bits));
    return words;
  }
  const uint64_t all = LowBits(f.fraction_bits);
  const int last = MaxExponentField(f);
  const int step = std::max(1, static_cast<int>((last + 1) * 8 / most));
  for (int field = 0; field <= last;
       field = field < last ? std::min(field + step, last) : last + 1) {
    for (const uint64_t fraction : {uint64_t{0}, uint64_t{1}, all ^ all >> 1, all}) {
      for (const uint64_t sign : {0, 1}) {
        if (sign == 1 && !f.is_signed) continue;
        const uint64_t magnitude =
            static_cast<uint64_t>(field) << f.fraction_bits | (fraction & all);
        const uint64_t top = sign << (f.exponent_bits + f.fraction_bits);
        words.push_back((top | magnitude) << f.ignored_bits);
      }
    }
  }
  return words;
}

// The number of ways to place at most two products.
uint64_t Places(int k, int products) {
  return products == 0 ? 1 : products == 1 ? k : static_cast<uint64_t>(k) * (k - 1) / 2;
}

class Search {
 public:
  Search(const Racer& x, const Racer& y, const RaceOptions& options)
      : course_(*x.op, x.model, CommonNanVerdict(x, y)),
        op_(course_.op),
        y_(y.model),
        options_(options) {
    result_.scales = op_.model.scale_block > 0;
  }

  absl::StatusOr<RaceResult> Run() {
    std::vector<DotProductCase> starts;
    result_.generated = ForEachGenerated(op_, options_.generated, [&](const DotProductCase& dot) {
      if (Tells(dot)) starts.push_back(dot);
      return starts.size() == (options_.thorough ? kStarts : 1);
    });
    for (const DotProductCase& start : starts) {
      RETURN_IF_ERROR(Shrunk(start, Effort::kNarrow));
    }
    if (result_.found && options_.thorough) {
      const DotProductCase best = result_.found->dot;
      RETURN_IF_ERROR(Shrunk(best, Effort::kAll));
    }
    for (int terms = 0; terms <= kMaxTerms && !(result_.found && result_.found->terms < terms);
         ++terms) {
      for (int products = 0; products <= terms; ++products) {
        if (terms - products <= 1) Try({products, terms > products});
      }
    }
    return std::move(result_);
  }

 private:
  bool Tells(const DotProductCase& dot) const {
    return !SameResult(op_, SimulateSparse(op_.model, dot), SimulateSparse(y_, dot));
  }

  void Offer(const DotProductCase& dot) {
    if (!Tells(dot)) return;
    const int terms = static_cast<int>(ActiveTerms(op_.model, dot).size());
    const Complexity complexity = ComplexityOf(op_.model, dot);
    if (result_.found && (terms > result_.found->terms ||
                          (terms == result_.found->terms &&
                           !Simpler(complexity, dot, complexity_, result_.found->dot)))) {
      return;
    }
    complexity_ = complexity;
    result_.found = {dot, Simulate(op_.model, dot), Simulate(y_, dot), terms};
  }

  absl::Status Shrunk(const DotProductCase& start, Effort effort) {
    ModelDevice device(y_);
    Runner runner(device, op_, std::numeric_limits<int64_t>::max());
    const Target target(op_, y_, {op_.model});
    const Mismatch mismatch{&op_, MakeDotProductBatch(op_.shape(), {start}), 0};
    ASSIGN_OR_RETURN(const Mismatch minimal, Shrink(runner, target, mismatch, effort));
    Offer(Extract(minimal.inputs, 0));
    return absl::OkStatus();
  }

  // Tries the whole stratum if it is not too large; otherwise some of it, if it has one word or one
  // product.
  void Try(Stratum stratum) {
    const Model& m = op_.model;
    const double log_size = std::log2(static_cast<double>(Places(m.k, stratum.products))) +
                            stratum.products * (m.a.bits + m.b.bits) + stratum.addend * m.c.bits;
    stratum.all = log_size <= std::log2(static_cast<double>(options_.stratum));
    if (stratum.all) {
      const auto words = [](bool used, const Format& f) {
        return used ? AllWords(f) : WordList{0};
      };
      const bool products = stratum.products > 0;
      Enumerate(words(products, m.a), words(products, m.b), words(stratum.addend, m.c), stratum);
    } else if (stratum.terms() == 1) {
      const double of_word = options_.stratum / 4.0 / Places(m.k, stratum.products);
      const uint64_t most = stratum.addend ? static_cast<uint64_t>(of_word)
                                           : static_cast<uint64_t>(std::sqrt(of_word));
      const auto some = [&](const Format& f) { return SomeWords(f, std::max<uint64_t>(most, 16)); };
      if (stratum.addend) Enumerate({0}, {0}, some(m.c), stratum);
      if (!stratum.addend) Enumerate(some(m.a), some(m.b), {0}, stratum);
    }
    if (!result_.found || stratum.terms() < result_.found->terms) {
      result_.strata.push_back(stratum);
    }
  }

  // Each list of words begins with +0.
  void Enumerate(const WordList& a, const WordList& b, const WordList& c, Stratum& stratum) {
    DotProductCase dot = NeutralDotProduct(op_.model);
    for (size_t i = stratum.addend ? 1 : 0; i < c.size(); ++i) {
      dot.c = c[i];
      Products(a, b, stratum.products, 0, dot, stratum.tried);
    }
  }

  void Products(const WordList& a, const WordList& b, int left, int from, DotProductCase& dot,
                uint64_t& tried) {
    if (left == 0) {
      ++tried;
      return Offer(dot);
    }
    for (int k = from; k + left <= op_.model.k; ++k) {
      for (const uint64_t x : a) {
        for (const uint64_t y : b) {
          if (x == 0 && y == 0) continue;
          dot.a[k] = x;
          dot.b[k] = y;
          Products(a, b, left - 1, k + 1, dot, tried);
        }
      }
      dot.a[k] = dot.b[k] = 0;
    }
  }

  const WithNanVerdict course_;  // the row of x
  const Operation& op_;
  const Model& y_;
  const RaceOptions& options_;
  RaceResult result_;
  Complexity complexity_ = {};
};

}  // namespace

bool RaceResult::FewestTerms() const {
  return found && std::ranges::all_of(strata, &Stratum::all) && found->terms <= kMaxTerms + 1;
}

uint64_t ForEachGenerated(const Operation& op, uint64_t most,
                          absl::FunctionRef<bool(const DotProductCase&)> take) {
  Batch tile;
  uint64_t taken = 0;
  for (uint64_t index = 0; taken < most && GenerateClass(op, "*", index, tile); ++index) {
    const int64_t all = tile.dot_products(), count = std::min(all, kOfExecution);
    for (int64_t i = 0; i < count && taken < most; ++i) {
      ++taken;
      if (take(Extract(tile, (i * (all / count) + i) % all))) return taken;
    }
  }
  return taken;
}

absl::StatusOr<RaceResult> FindSmallest(const Racer& x, const Racer& y,
                                        const RaceOptions& options) {
  return Search(x, y, options).Run();
}

}  // namespace mmadiff

#include "sim/plan/race.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "sim/plan/execute.h"
#include "sim/plan/find.h"
#include "sim/plan/order.h"
#include "sim/word.h"

namespace mmadiff {
namespace {

constexpr int64_t kCases = 256;   // that are tried together
constexpr int64_t kRounds = 100;  // of these for the least k, fewer for each of the next
constexpr int64_t kMaxLaterK = 1 << 17;
constexpr int64_t kMaxTimes = 8;  // the largest k: this many times the least, or kMaxRaceK

// Whether the plans may differ for k products.
bool Differ(const Plan& x, const Plan& y, int64_t k) {
  return !SameArithmetic(x, y) || OrderAt(x, k) != OrderAt(y, k) || !(x.epilogue == y.epilogue);
}

// Words of a matrix, 64 bits each.
struct WideMatrix {
  WideMatrix(int64_t r, int64_t c) : columns(c), words(r * c) {}
  Words in() const {
    return {reinterpret_cast<const unsigned char*>(words.data()), columns, 1, 64};
  }
  int64_t columns;
  std::vector<uint64_t> words;
};

// Random words that distinguish orders: many zeros, large numbers of both signs, small ones.
class Cases {
 public:
  Cases(const Format& a, const Format& b, int64_t k, uint64_t seed)
      : a_format_(a), b_format_(b), k_(k), random_(seed), a(kCases, k), b(1, k) {}

  void Draw() {
    // All cases share B: a column of ones, of ordinary numbers, or of the largest and least powers of
    // two, so that large products cancel beside small ones.
    const int64_t kind = Below(3);
    for (uint64_t& word : b.words) {
      word = kind == 0 ? One(b_format_) : kind == 1 ? Number(b_format_) : Extreme(b_format_);
    }
    for (int64_t i = 0; i < kCases; ++i) {
      uint64_t* row = &a.words[i * k_];
      std::fill_n(row, k_, 0);
      const bool few = Below(2) == 0;
      const int64_t count = few ? 2 + Below(4) : k_;
      for (int64_t n = 0; n < count; ++n) {
        row[few ? Below(k_) : n] = kind == 2 ? Extreme(a_format_) : Number(a_format_);
      }
    }
  }

 private:
  int64_t Below(int64_t n) { return static_cast<int64_t>(random_() % n); }
  static uint64_t One(const Format& f) { return IntegerWord(f, 1); }
  uint64_t Extreme(const Format& f) {
    if (IsInteger(f)) return random_() & LowBits(f.bits);
    uint64_t word = 0;
    const int exponent = Below(2) == 0 ? HighestExponent(f) : LowestExponent(f);
    EncodePowerOfTwo(f, f.is_signed && Below(2) == 0, exponent, &word);
    return word;
  }
  uint64_t Number(const Format& f) {
    if (IsInteger(f)) return random_() & LowBits(f.bits);
    uint64_t word = 0;
    const int low = LowestExponent(f), high = HighestExponent(f);
    // Near one, where products neither overflow nor vanish, or in half of the range, or in all of it.
    const int64_t kind = Below(3);
    const int spread = kind == 0 ? 3 : (high - low) / (kind == 1 ? 4 : 2);
    const int exponent = static_cast<int>(Below(2 * spread + 1)) - spread;
    const bool negative = f.is_signed && Below(2) == 0;
    EncodePowerOfTwo(f, negative, std::clamp(exponent, low, high), &word);
    if (exponent >= f.min_exponent && Below(2) == 0) {
      word |= (random_() & LowBits(f.fraction_bits)) << f.ignored_bits;
    }
    return word;
  }

  const Format a_format_, b_format_;
  const int64_t k_;
  std::mt19937_64 random_;

 public:
  WideMatrix a, b;
};

class Racer {
 public:
  Racer(const Plan& x, const Plan& y, const Poll& poll)
      : x_(x), y_(y), model_(x.operation->model), poll_(poll) {}

  // A product of k that distinguishes the plans.
  std::optional<TellingProduct> Search(int64_t k, int64_t rounds, int64_t* tried) const {
    Cases cases(model_.a, model_.b, k, k);
    for (int64_t round = 0; round < rounds; ++round) {
      cases.Draw();
      *tried += kCases;
      const std::vector<uint64_t> x = Results(x_, cases.a, cases.b, k);
      const std::vector<uint64_t> y = Results(y_, cases.a, cases.b, k);
      for (int64_t i = 0; i < kCases; ++i) {
        if (Same(x[i], y[i])) continue;
        const auto row = cases.a.words.begin() + i * k;
        return Shortened(Shrunk({k, {row, row + k}, cases.b.words, x[i], y[i]}));
      }
    }
    return std::nullopt;
  }

 private:
  bool Same(uint64_t x, uint64_t y) const { return SameResult(*x_.epilogue.format, x, y); }

  std::vector<uint64_t> Results(const Plan& plan, const WideMatrix& a, const WideMatrix& b,
                                int64_t k) const {
    poll_();
    Matrices m;
    m.m = std::ssize(a.words) / k, m.n = 1, m.k = k;
    m.a = a.in(), m.b = b.in().Transposed();
    m.a_format = &plan.operation->model.a;
    m.b_format = &plan.operation->model.b;
    std::vector<int64_t> rows(m.m);
    std::iota(rows.begin(), rows.end(), 0);
    const int64_t column = 0;
    return ExecuteAt(plan, m, rows, {&column, 1});
  }

  bool Tells(TellingProduct& p) const {
    WideMatrix a(1, p.k), b(1, p.k);
    a.words = p.a;
    b.words = p.b;
    p.x = Results(x_, a, b, p.k)[0];
    p.y = Results(y_, a, b, p.k)[0];
    return !Same(p.x, p.y);
  }

  // Without zeros at the end, as far as the plans still differ.
  TellingProduct Shortened(TellingProduct p) const {
    const auto last =
        std::find_if(p.a.rbegin(), p.a.rend(), [](uint64_t word) { return word != 0; });
    for (int64_t k = std::max<int64_t>(1, p.a.rend() - last); k < p.k; ++k) {
      TellingProduct less = {k, p.a, p.b, 0, 0};
      less.a.resize(k), less.b.resize(k);
      if (Tells(less)) return less;
    }
    return p;
  }

  // With more zeros in A, a block at a time, then ones in B.
  TellingProduct Shrunk(TellingProduct p) const {
    for (int64_t block = std::max<int64_t>(1, p.k / 2); block >= 1; block /= 2) {
      for (int64_t first = 0; first < p.k; first += block) {
        TellingProduct less = p;
        const int64_t end = std::min(first + block, p.k);
        std::fill(less.a.begin() + first, less.a.begin() + end, 0);
        if (less.a != p.a && Tells(less)) p = less;
      }
    }
    TellingProduct without = p;
    for (int64_t i = 0; i < p.k; ++i) {
      if (p.a[i] == 0) without.b[i] = IntegerWord(model_.b, 0);
    }
    if (Tells(without)) p = without;
    for (int64_t i = 0; i < p.k; ++i) {
      TellingProduct less = p;
      less.b[i] = IntegerWord(model_.b, p.a[i] == 0 ? 0 : 1);
      if (less.b != p.b && Tells(less)) p = less;
    }
    return p;
  }

  const Plan &x_, &y_;
  const Model& model_;
  const Poll& poll_;
};

// Every k up to kMaxRaceK; beyond, those about the numbers of the plans, and about their doubles.
std::vector<int64_t> KsOf(const Plan& x, const Plan& y) {
  std::set<int64_t> numbers, later;
  for (const Plan* plan : {&x, &y}) {
    numbers.insert({plan->cut, plan->residue});
    for (const PlanStage& stage : plan->stages) {
      const PlanRange& r = stage.range;
      numbers.insert({stage.tail, r.size, r.size * r.count, r.last, r.unrolled});
      numbers.insert(r.at.begin(), r.at.end());
    }
  }
  for (const int64_t n : numbers) {
    for (const int64_t k : {n, n + 1, n + 2, 2 * n, 2 * n + 1, 3 * n, 3 * n + 1}) {
      if (k > kMaxRaceK && k <= kMaxLaterK) later.insert(k);
    }
  }
  std::vector<int64_t> ks(kMaxRaceK);
  std::iota(ks.begin(), ks.end(), 1);
  ks.insert(ks.end(), later.begin(), later.end());
  return ks;
}

std::string WhyNotComparable(const Plan& x, const Plan& y) {
  const Model &m = x.operation->model, &n = y.operation->model;
  const struct {
    const Format *f, *g;
    const char* what;
  } formats[] = {{&m.a, &n.a, "A"}, {&m.b, &n.b, "B"}, {x.epilogue.format, y.epilogue.format, "D"}};
  for (const auto& [f, g, what] : formats) {
    if (std::string_view(f->name) == g->name) continue;
    return std::string(what) + " has the format " + f->name + " in one plan, " + g->name +
           " in the other";
  }
  for (const Plan* plan : {&x, &y}) {
    if (ReadsC(*plan) || ReadsAlpha(*plan) || plan->epilogue.bias ||
        plan->operation->model.scale_block != 0 || ReadsScales(*plan)) {
      return "plans are compared without C, alpha, beta, bias and scales: leave them out";
    }
  }
  return "";
}

}  // namespace

PlanRace RacePlans(const Plan& x, const Plan& y, const Threads& threads) {
  const Poll poll(threads);
  PlanRace race;
  race.not_comparable = WhyNotComparable(x, y);
  if (!race.not_comparable.empty()) return race;
  if (SameArithmetic(x, y) && x.cut == y.cut && x.residue == y.residue && x.stages == y.stages) {
    race.equal = "no product distinguishes them: both have the same arithmetic, ranges and joins";
    return race;
  }
  const std::vector<int64_t> ks = KsOf(x, y);
  const auto least = std::ranges::find_if(ks, [&](int64_t k) {
    poll();
    return Differ(x, y, k);
  });
  if (least == ks.end()) {
    race.equal = "no product of up to " + std::to_string(kMaxRaceK) +
                 " k distinguishes them: both have the same arithmetic and order";
    return race;
  }
  race.least_k = *least;
  const Racer racer(x, y, poll);
  int64_t rounds = kRounds;
  const int64_t largest = std::max(kMaxTimes * race.least_k, kMaxRaceK);
  for (int64_t k = race.least_k; k <= largest && !race.found; k += 1 + (k - race.least_k) / 8) {
    if (!Differ(x, y, k)) continue;
    race.found = racer.Search(k, rounds, &race.tried);
    rounds = std::max<int64_t>(rounds / 2, 4);
  }
  return race;
}

}  // namespace mmadiff

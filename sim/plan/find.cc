#include "sim/plan/find.h"

#include <algorithm>
#include <numeric>

#include "sim/plan/excerpt.h"
#include "sim/plan/pack.h"
#include "sim/plan/random_matrix.h"

namespace mmadiff {
namespace {

constexpr int64_t kWitnesses = 48;
// Plans of which the nearest is sought, and the rows and columns in which they are compared.
constexpr int64_t kFirstElements = 1 << 14;  // of each row, for all plans together
constexpr size_t kPerhapsNear = 256, kNear = 16, kNearest = 3;
constexpr int64_t kNearGrid = 16, kLastGrid = 64;
constexpr int64_t kGroup = 4;  // witnesses that are looked at together: a grid of rows and columns

class Finder {
 public:
  Finder(const Matrices& matrices, const Words& d, const Format& format,
         std::span<const Plan> candidates, const Execution& execution)
      : matrices_(matrices),
        d_(d),
        format_(format),
        execution_(execution),
        all_(candidates),
        left_(candidates.begin(), candidates.end()) {
    found_.tried = std::ssize(candidates);
    found_.nearest = candidates.front();
  }

  FoundPlans Find() {
    elements_ = Witnesses();
    // The first witnesses, one by one, reject most.
    for (size_t i = 0, next = 1; i < elements_.size(); i = next) {
      next = std::min<size_t>(i == 0 ? 1 : i + std::min<size_t>(i, kGroup), elements_.size());
      Reject(std::span(elements_).first(next).subspan(i));
    }
    // The rest are tested on all elements; each that fails points at an element that decides.
    while (!left_.empty() && found_.plans.size() < kMaxFoundPlans) {
      const Plan plan = left_.front();
      const MatrixDifference difference = CompareWithPlan(plan, matrices_, d_, execution_);
      if (difference.count == 0) {
        found_.plans.push_back(plan);
        left_.erase(left_.begin());
        continue;
      }
      const std::vector<MatrixElement> decides = {difference.first};
      Reject(decides);
    }
    found_.unsettled = std::move(left_);
    if (found_.plans.empty()) FindNearest();
    return std::move(found_);
  }

 private:
  // Where the first candidate's result is not that of D, then where its sum is nearest to another
  // result; elements all over D if sums are not rounded.
  std::vector<MatrixElement> Witnesses() {
    const int64_t n = matrices_.n, all = matrices_.m * n;
    const Plan& plan = left_.front();
    const Format sum = plan.operation->model.d;
    const int64_t count = std::min(all, kWitnesses);
    std::vector<int64_t> order(all);
    std::iota(order.begin(), order.end(), 0);
    // A fixed order without regularity.
    std::ranges::sort(order, {}, [](int64_t i) { return i * 0x9e3779b97f4a7c15 >> 20; });
    if (std::string_view(sum.name) != format_.name) {
      const std::vector<int64_t> rank = RanksOf(plan, matrices_, d_, true, execution_);
      std::ranges::stable_sort(order, {}, [&](int64_t i) { return rank[i]; });
    }
    std::vector<MatrixElement> elements;
    for (const int64_t i : std::span(order).first(count)) elements.push_back({i / n, i % n});
    return elements;
  }

  // Drops the candidates that do not give D in the rows and columns of these elements.
  void Reject(std::span<const MatrixElement> elements) {
    std::vector<int64_t> rows, columns;
    for (const MatrixElement& e : elements) rows.push_back(e.row), columns.push_back(e.column);
    for (std::vector<int64_t>* indices : {&rows, &columns}) {
      std::ranges::sort(*indices);
      indices->erase(std::unique(indices->begin(), indices->end()), indices->end());
    }
    std::vector<Witness> witnesses;
    for (const MatrixElement& e : elements) witnesses.push_back({e, 0});
    const Excerpt excerpt(matrices_, rows, columns);
    const std::vector<std::vector<MatrixElement>> wrong = WrongOfAll(excerpt, rows, columns);
    std::vector<Plan> left;
    for (size_t p = 0; p < left_.size(); ++p) {
      if (wrong[p].empty()) {
        left.push_back(std::move(left_[p]));
      } else {
        CountRejected(wrong[p], witnesses);
      }
    }
    left_ = std::move(left);
    for (const Witness& w : witnesses) {
      if (w.rejected > 0) found_.witnesses.push_back(w);
    }
  }

  // Those that give most of few elements of all plans, then of more elements of the best, and of all.
  void FindNearest() {
    left_.assign(all_.begin(), all_.end());
    const int64_t columns = kFirstElements / std::ssize(left_);
    KeepNearest(
        PlacesOf(elements_, &MatrixElement::row, kNearGrid),
        PlacesOf(elements_, &MatrixElement::column, std::clamp<int64_t>(columns, 1, kNearGrid)),
        kPerhapsNear);
    KeepNearest(Spread(kNearGrid, matrices_.m), Spread(kNearGrid, matrices_.n), kNear);
    KeepNearest(Spread(kLastGrid, matrices_.m), Spread(kLastGrid, matrices_.n), kNearest);
    found_.differing = INT64_MAX;
    for (const Plan& plan : left_) {
      const MatrixDifference difference = CompareWithPlan(plan, matrices_, d_, execution_);
      if (difference.count >= found_.differing) continue;
      found_.nearest = plan;
      found_.differing = difference.count;
      found_.first = difference.first;
    }
  }

  // At most `count` of the numbers below `size`.
  static std::vector<int64_t> Spread(int64_t count, int64_t size) {
    std::vector<int64_t> places;
    for (int64_t i = 0; i < std::min(count, size); ++i) {
      places.push_back(i * size / std::min(count, size));
    }
    return places;
  }

  // The rows or columns of the first elements.
  static std::vector<int64_t> PlacesOf(std::span<const MatrixElement> elements,
                                       int64_t MatrixElement::*place, int64_t count) {
    std::vector<int64_t> places;
    for (const MatrixElement& e : elements.first(std::min<size_t>(count, elements.size()))) {
      places.push_back(e.*place);
    }
    return places;
  }

  // Leaves the plans that give most elements in these rows and columns, the simplest first.
  void KeepNearest(const std::vector<int64_t>& rows, const std::vector<int64_t>& columns,
                   size_t count) {
    if (left_.size() <= count) return;
    const auto wrong = WrongOfAll(Excerpt(matrices_, rows, columns), rows, columns);
    std::vector<size_t> order(left_.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](size_t p) { return wrong[p].size(); });
    std::vector<Plan> nearest;
    for (const size_t p : std::span(order).first(count)) nearest.push_back(left_[p]);
    left_ = std::move(nearest);
  }

  // For each plan that is left, the elements in these rows and columns that it does not give.
  std::vector<std::vector<MatrixElement>> WrongOfAll(const Excerpt& excerpt,
                                                     std::span<const int64_t> rows,
                                                     std::span<const int64_t> columns) const {
    std::vector<std::vector<MatrixElement>> wrong(left_.size());
    ForEachPart(std::ssize(left_), execution_.threads, [&](int64_t p, const Poll&) {
      const std::vector<uint64_t> words = ExecuteAll(left_[p], excerpt.matrices());
      for (size_t e = 0; e < words.size(); ++e) {
        const MatrixElement at = {rows[e / columns.size()], columns[e % columns.size()]};
        if (SameResult(format_, words[e], Load(d_, at.row, at.column))) continue;
        wrong[p].push_back(at);
      }
    });
    return wrong;
  }

  static void CountRejected(const std::vector<MatrixElement>& wrong,
                            std::vector<Witness>& witnesses) {
    const auto is_wrong = [&](const Witness& w) {
      return std::ranges::count(wrong, w.element) > 0;
    };
    const auto witness = std::ranges::find_if(witnesses, is_wrong);
    if (witness != witnesses.end()) {
      ++witness->rejected;
    } else {
      witnesses.push_back({wrong.front(), 1});
    }
  }

  const Matrices& matrices_;
  const Words d_;
  const Format& format_;
  const Execution execution_;
  const std::span<const Plan> all_;
  std::vector<Plan> left_;
  std::vector<MatrixElement> elements_;  // that are compared first
  FoundPlans found_;
};

}  // namespace

FoundPlans FindPlans(const Matrices& matrices, const Words& d, const Format& format,
                     std::span<const Plan> candidates, const Execution& execution) {
  return Finder(matrices, d, format, candidates, execution).Find();
}

std::vector<Plan> FoundPlans::Left() const {
  std::vector<Plan> left = plans;
  left.insert(left.end(), unsettled.begin(), unsettled.end());
  return left;
}

std::vector<DecidingElements> WouldDecide(const Matrices& matrices, const Format& format,
                                          std::span<const Plan> candidates,
                                          const Execution& execution) {
  std::vector<Plan> left(candidates.begin(), candidates.end());
  std::vector<DecidingElements> decided;
  for (int64_t side = 1; side * side <= kMaxDecidingElements && left.size() > 1; side *= 4) {
    // Other operands are those of the first rows and columns, again and again.
    std::vector<int64_t> rows, columns;
    for (int64_t i = 0; i < side; ++i) {
      rows.push_back(i % matrices.m), columns.push_back(i % matrices.n);
    }
    const Excerpt excerpt(matrices, rows, columns);
    Matrices m = excerpt.matrices();
    const int a_bits = m.a.bits, b_bits = m.b.bits;
    const auto a = RandomMatrix(*m.a_format, a_bits, 1, side * m.k);
    const auto b = RandomMatrix(*m.b_format, b_bits, 2, m.k * side);
    m.a = {a.data(), m.k, 1, a_bits};
    m.b = {b.data(), side, 1, b_bits};
    std::vector<unsigned char> words(side * side * 8);
    Execute(candidates.front(), m, {words.data(), side, 1, 64}, execution);
    left = FindPlans(m, {words.data(), side, 1, 64}, format, left, execution).Left();
    decided.push_back({side * side, std::ssize(left)});
  }
  return decided;
}

MatrixDifference CompareWords(const Format& format, int64_t m, int64_t n, const Words& x,
                              const Words& y) {
  MatrixDifference difference;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      if (SameResult(format, Load(x, i, j), Load(y, i, j))) continue;
      if (difference.count++ == 0) difference.first = {i, j};
    }
  }
  return difference;
}

MatrixDifference CompareWithPlan(const Plan& plan, const Matrices& matrices, const Words& d,
                                 const Execution& execution) {
  std::vector<unsigned char> words(matrices.m * matrices.n * 8);
  Execute(plan, matrices, {words.data(), matrices.n, 1, 64}, execution);
  return CompareWords(*plan.epilogue.format, matrices.m, matrices.n,
                      {words.data(), matrices.n, 1, 64}, d);
}

}  // namespace mmadiff

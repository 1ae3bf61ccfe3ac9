#include "sim/plan/ranges.h"

#include <algorithm>

namespace mmadiff {
namespace {

// Where range `i` of "into S of G" begins among n products, 0 <= i <= S.
int64_t FirstOf(const PlanRange& range, int64_t n, int64_t i) {
  const int64_t s = range.count, whole = n / range.size, blocks = whole + (n % range.size != 0);
  if (i == s) return n;
  switch (range.share) {
    case PlanRange::Share::kCeil:
      return std::min(i * ((blocks + s - 1) / s) * range.size, n);
    case PlanRange::Share::kFloor:
      return i * (whole / s) * range.size;
    case PlanRange::Share::kEven:
      break;
  }
  return (i * (whole / s) + std::min(i, whole % s)) * range.size;
}

std::vector<Pieces> Every(const PlanRange& range, int64_t n) {
  std::vector<Pieces> parts;
  for (int64_t k = 0; k < n;) {
    const int64_t left = n - k;
    const int64_t whole = range.fit && n > range.size && n < 2 * range.size ? n / 2 : range.size;
    int64_t size = left <= range.last ? left : std::min(whole, left);
    if (range.halved && left > range.size && left < 2 * range.size) {
      const int64_t unit = range.unit;
      size = unit == 0 ? (left + 1) / 2 : std::min((left / 2 + unit - 1) / unit * unit, left);
    }
    parts.push_back({{k, k + size}});
    k += size;
  }
  return parts;
}

std::vector<Pieces> At(const PlanRange& range, int64_t n) {
  std::vector<Pieces> parts;
  int64_t first = 0;
  for (const int64_t k : range.at) {
    if (k >= n) break;
    parts.push_back({{first, k}});
    first = k;
  }
  if (first < n) parts.push_back({{first, n}});
  return parts;
}

// The parts of 0 to n - 1.
std::vector<Pieces> PartsOf(const PlanRange& range, int64_t n) {
  if (range.kind == PlanRange::Kind::kEvery) return Every(range, n);
  if (range.kind == PlanRange::Kind::kAt) return At(range, n);
  const bool strided = range.kind == PlanRange::Kind::kStrided;
  const int64_t dealt = strided && range.unrolled != 0 ? n / range.unrolled * range.unrolled : n;
  const int64_t blocks = (dealt + range.size - 1) / range.size;
  const auto block = [&](int64_t i) { return std::min(i * range.size, dealt); };
  std::vector<Pieces> parts;
  for (int64_t i = 0; i < range.count; ++i) {
    Pieces part;
    if (strided) {
      for (int64_t j = i; j < blocks; j += range.count) part.push_back({block(j), block(j + 1)});
      if (i == 0 && dealt < n) part.push_back({dealt, n});
    } else {
      const int64_t first = FirstOf(range, n, i), end = FirstOf(range, n, i + 1);
      if (first < end) part.push_back({first, end});
    }
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

// Finds k by their positions in pieces.
class KsByPosition {
 public:
  explicit KsByPosition(const Pieces& pieces) : pieces_(pieces) {
    int64_t count = 0;
    for (const Piece& piece : pieces) {
      first_.push_back(count);
      count += piece.end - piece.first;
    }
  }

  Pieces At(const Pieces& positions) const {
    Pieces found;
    for (const Piece& wanted : positions) {
      for (int64_t at = wanted.first; at < wanted.end;) {
        const auto next = std::ranges::upper_bound(first_, at);
        const size_t i = next - first_.begin() - 1;
        const int64_t k = pieces_[i].first + at - first_[i];
        const int64_t size = std::min(wanted.end - at, pieces_[i].end - k);
        found.push_back({k, k + size});
        at += size;
      }
    }
    return found;
  }

 private:
  const Pieces& pieces_;
  std::vector<int64_t> first_;  // position of each piece
};

}  // namespace

int64_t CountOf(const Pieces& pieces) {
  int64_t count = 0;
  for (const Piece& piece : pieces) count += piece.end - piece.first;
  return count;
}

Pieces Slice(const Pieces& pieces, int64_t first, int64_t end) {
  return KsByPosition(pieces).At({{first, end}});
}

std::vector<Pieces> PartsOf(const PlanRange& range, const Pieces& pieces) {
  const KsByPosition ks(pieces);
  std::vector<Pieces> parts = PartsOf(range, CountOf(pieces));
  for (Pieces& part : parts) part = ks.At(part);
  return parts;
}

}  // namespace mmadiff

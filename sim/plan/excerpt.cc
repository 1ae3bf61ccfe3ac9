#include "sim/plan/excerpt.h"

#include <algorithm>
#include <numeric>

namespace mmadiff {
namespace {

Words CopyOf(const Words& from, std::span<const int64_t> rows, std::span<const int64_t> columns,
             std::vector<unsigned char>& to) {
  const int64_t n = std::ssize(columns), bytes = from.bits / 8;
  to.resize(rows.size() * n * bytes);
  for (size_t i = 0; i < rows.size(); ++i) {
    for (int64_t j = 0; j < n; ++j) {
      std::copy_n(from.At(rows[i], columns[j]), bytes, &to[(i * n + j) * bytes]);
    }
  }
  return {to.data(), n, 1, from.bits};
}

}  // namespace

Excerpt::Excerpt(const Matrices& from, std::span<const int64_t> rows,
                 std::span<const int64_t> columns)
    : matrices_(from) {
  constexpr int64_t kFirst[] = {0};
  std::vector<int64_t> ks(from.k);
  std::iota(ks.begin(), ks.end(), 0);
  matrices_.m = std::ssize(rows), matrices_.n = std::ssize(columns);
  matrices_.a = CopyOf(from.a, rows, ks, a_);
  matrices_.b = CopyOf(from.b.Transposed(), columns, ks, b_).Transposed();
  if (from.c.data != nullptr) matrices_.c = CopyOf(from.c, rows, columns, c_);
  if (from.bias.data != nullptr) matrices_.bias = CopyOf(from.bias, kFirst, columns, bias_);
}

}  // namespace mmadiff

#include "sim/plan/excerpt.h"

#include <algorithm>
#include <numeric>

namespace mmadiff {

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

namespace {

// The scales of these rows, one row each.
ScaleMatrix ScalesOf(const ScaleMatrix& from, std::span<const int64_t> rows, int64_t k,
                     std::vector<unsigned char>& to) {
  if (from.words.data == nullptr) return from;
  // Results are scaled even if k is 0.
  std::vector<int64_t> places, blocks(std::max<int64_t>(1, (k + from.k_each - 1) / from.k_each));
  for (const int64_t row : rows) places.push_back(row / from.rows_each);
  std::iota(blocks.begin(), blocks.end(), 0);
  return {CopyOf(from.words, places, blocks, to), 1, from.k_each};
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
  matrices_.scale_a = ScalesOf(from.scale_a, rows, from.k, scales_[0]);
  matrices_.scale_b = ScalesOf(from.scale_b, columns, from.k, scales_[1]);
  matrices_.block_scale_a = ScalesOf(from.block_scale_a, rows, from.k, scales_[2]);
  matrices_.block_scale_b = ScalesOf(from.block_scale_b, columns, from.k, scales_[3]);
}

}  // namespace mmadiff

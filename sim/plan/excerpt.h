// Some rows and columns of a product, copied: plans are executed on few elements by the thousand.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/plan/matrices.h"

namespace mmadiff {

// Elements of these rows and columns, into `to`.
Words CopyOf(const Words& from, std::span<const int64_t> rows, std::span<const int64_t> columns,
             std::vector<unsigned char>& to);

// Rows of A and columns of B, one behind the other, with their C, bias and scales.
class Excerpt {
 public:
  Excerpt(const Matrices& from, std::span<const int64_t> rows, std::span<const int64_t> columns);
  Excerpt(const Excerpt&) = delete;
  Excerpt& operator=(const Excerpt&) = delete;

  const Matrices& matrices() const { return matrices_; }

 private:
  std::vector<unsigned char> a_, b_, c_, bias_, scales_[4];
  Matrices matrices_;
};

}  // namespace mmadiff

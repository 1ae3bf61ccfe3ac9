// Anything that multiplies whole matrices: the order of its sums is part of its answer.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "device/identity.h"
#include "sim/format.h"
#include "sim/words.h"

namespace mmadiff {

// The factors of a device, as numbers of its format when it multiplies.
std::string FactorText(double factor);  // the shortest that reads as the same number

struct ProductFactors {
  double alpha = 1, beta = 0;
  friend bool operator==(const ProductFactors&, const ProductFactors&) = default;
};

// D = alpha A B + beta C. A is m x k, B is k x n, C and D are m x n; sizes may be 0.
struct MatrixProduct {
  int64_t m, n, k;
  Words a, b;
  MutableWords d;  // overlaps no operand
  Words c = {};    // is read only if beta is not 0
};

struct MatrixFormats {
  const Format *a, *b, *d;
};
std::string Name(const MatrixFormats& formats);  // "f16,f16,f32"

// Bits of a word of the format in memory: 8, 16, 32 or 64.
int StoredBits(const Format& format);

// Use each object from one thread only.
class MatrixDevice {
 public:
  virtual ~MatrixDevice() = default;

  // The specification that opens this device again: "blas:openblas,threads=1".
  virtual std::string name() const = 0;
  // All that may change the bits of a product: devices with equal identities answer equally.
  virtual Identity identity() const = 0;
  // C has the format of D.
  virtual MatrixFormats formats() const = 0;
  virtual ProductFactors factors() const { return {}; }

  // Writes all of D. kInvalidArgument: a negative size, one that the device cannot have, no C though
  // beta is not 0, or words without StoredBits() of their format. kResourceExhausted: too little
  // memory.
  absl::Status Multiply(const MatrixProduct& product);
  // After the last product. kDataLoss: the device has written more than its answers.
  virtual absl::Status Finish() { return absl::OkStatus(); }

 private:
  // For sizes that are not negative and words of the formats.
  virtual absl::Status Execute(const MatrixProduct& product) = 0;
};

}  // namespace mmadiff

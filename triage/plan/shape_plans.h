// Asks a device that multiplies matrices which plans it follows, shape by shape.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "device/matrix_device.h"
#include "sim/plan/candidates.h"
#include "sim/plan/execute.h"
#include "sim/plan/regions.h"

namespace mmadiff {

struct MatrixShape {
  int64_t m = 0, n = 0, k = 0;
  friend bool operator==(const MatrixShape&, const MatrixShape&) = default;
};
std::string ShapeText(const MatrixShape& shape);  // "64 x 32 x 1000"

// `count` shapes of m, n and k from 1 to `largest`, each power of two as likely as the next: a pure
// function of the seed.
std::vector<MatrixShape> RandomShapes(int count, int64_t largest, uint64_t seed);

struct ProductKind {
  MatrixFormats formats;
  ProductFactors factors = {};
};
ProductKind KindOf(const MatrixDevice& device);

UsedOperands UsedOperandsOf(const ProductFactors& factors);

// The plans of a device for products of one shape.
struct ShapePlans {
  MatrixShape shape;
  // The plans of all elements; nullopt: some elements have none among the candidates.
  std::optional<Regions> regions;
  int64_t unexplained = 0;  // elements without a plan
  int64_t differing = 0;  // elements of one more product, with other numbers, that `regions` misses
  int64_t products = 0;   // that the device computed
  // The last one: A = RandomMatrix(2 * seed), B = RandomMatrix(2 * seed + 1), C = RandomMatrix(~seed),
  // and the XXH3 of D.
  uint64_t seed = 0;
  std::string digest = {};
};

// Products with random numbers until the regions have explained `products` of them, then one more
// that is predicted. Errors are those of the device; kInvalidArgument also if the operations have too
// many plans; kDataLoss also if its answers do not repeat.
absl::StatusOr<ShapePlans> AskPlans(MatrixDevice& device, const MatrixShape& shape,
                                    std::span<const Operation* const> operations, uint64_t seed,
                                    int products, const Execution& execution);

// The digest of the device's D for the operands of ShapePlans::seed. Errors are those of the device.
absl::StatusOr<std::string> AskDigest(MatrixDevice& device, const MatrixShape& shape,
                                      uint64_t seed);

// The digest of D if the elements of each region (a text by RegionText()) follow its plan, for the
// operands of ShapePlans::seed. kDataLoss: bad texts, C without beta, or an element without a plan or
// with two.
absl::StatusOr<std::string> PredictedDigest(
    const MatrixShape& shape, const ProductKind& kind, uint64_t seed,
    std::span<const std::pair<std::string, std::string>> plans);

}  // namespace mmadiff

// Asks a device for random products of one shape, and learns their regions.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/plan/region_finder.h"
#include "triage/plan/shape_plans.h"

namespace mmadiff {

// XXH3 of 64 bits, in hexadecimal.
std::string DigestOf(const std::vector<unsigned char>& words);

// Random operands and the device's product, in rows without gaps.
class AskedProduct {
 public:
  AskedProduct(const MatrixShape& shape, const ProductKind& kind, uint64_t seed);

  absl::Status Ask(MatrixDevice& device);
  Matrices matrices() const;
  Words d() const;
  std::string digest() const;

 private:
  const MatrixShape shape_;
  const ProductKind kind_;
  const std::vector<unsigned char> a_, b_, c_;  // C is empty if beta is 0
  std::vector<unsigned char> d_;
};

// Asks for products of one shape until an element has no plan, or `products` were explained: more
// than these if D is small.
class ShapeAsker {
 public:
  ShapeAsker(MatrixDevice& device, const MatrixShape& shape, std::span<const Plan> candidates,
             uint64_t seed, const Execution& execution);

  RegionFinder& finder() { return finder_; }
  absl::Status Ask(int products);
  // After Ask(): the regions, and one more product that they predict. kDataLoss: the plans do
  // not reproduce D, and the device answers the last product differently the second time.
  absl::StatusOr<ShapePlans> Predict();

 private:
  absl::Status AskOne();
  absl::Status CheckRepeats();

  MatrixDevice& device_;
  const MatrixShape shape_;
  const uint64_t seed_;
  const Execution execution_;
  RegionFinder finder_;
  std::vector<std::unique_ptr<AskedProduct>> asked_;  // the finder reads them
};

}  // namespace mmadiff

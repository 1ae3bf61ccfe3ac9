#include "device/matrix_device.h"

#include "absl/strings/str_cat.h"

namespace mmadiff {

absl::Status MatrixDevice::Multiply(const MatrixProduct& product) {
  const auto& [m, n, k, a, b, d] = product;
  if (m < 0 || n < 0 || k < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("sizes of a product must not be negative: m = ", m, ", n = ", n, ", k = ", k));
  }
  for (const int bits : {a.bits, b.bits, d.bits}) {
    if (bits == format().bits) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(name(), " multiplies ", format().name, ", not words of ", bits, " bits"));
  }
  return Execute(product);
}

}  // namespace mmadiff

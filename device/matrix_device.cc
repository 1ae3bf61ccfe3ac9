#include "device/matrix_device.h"

#include "absl/strings/str_cat.h"

namespace mmadiff {

absl::Status MatrixDevice::Multiply(const MatrixProduct& product) {
  const auto& [m, n, k, a, b, d, c] = product;
  const bool reads_c = factors().beta != 0;
  if (m < 0 || n < 0 || k < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("sizes of a product must not be negative: m = ", m, ", n = ", n, ", k = ", k));
  }
  if (reads_c && c.data == nullptr && m > 0 && n > 0) {
    return absl::InvalidArgumentError(absl::StrCat(name(), " adds beta C, but there is no C"));
  }
  for (const int bits : {a.bits, b.bits, d.bits, reads_c ? c.bits : d.bits}) {
    if (bits == format().bits) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(name(), " multiplies ", format().name, ", not words of ", bits, " bits"));
  }
  return Execute(product);
}

}  // namespace mmadiff

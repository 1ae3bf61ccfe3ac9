#include "device/matrix_device.h"

#include <charconv>
#include <utility>

#include "absl/strings/str_cat.h"

namespace mmadiff {

std::string FactorText(double factor) {
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof(text), factor).ptr);
}

std::string Name(const MatrixFormats& f) {
  return absl::StrCat(f.a->name, ",", f.b->name, ",", f.d->name);
}

int StoredBits(const Format& format) {
  return format.bits <= 8 ? 8 : format.bits <= 16 ? 16 : format.bits <= 32 ? 32 : 64;
}

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
  const MatrixFormats f = formats();
  for (const auto& [bits, format] :
       {std::pair(a.bits, f.a), {b.bits, f.b}, {d.bits, f.d}, {reads_c ? c.bits : d.bits, f.d}}) {
    if (bits == StoredBits(*format)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(name(), " multiplies ", format->name, ", not words of ", bits, " bits"));
  }
  return Execute(product);
}

}  // namespace mmadiff

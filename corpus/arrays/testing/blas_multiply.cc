// Multiplies random matrices with a BLAS library, to look at its order of summation:
//   blas_multiply LIBRARY[,OPTION...] M N K [SEED [FOLDER]]
// LIBRARY as in device/blas/options.h. Prints the identity of the library and a hash of D; writes
// FOLDER/a.npy, b.npy and d.npy.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "corpus/arrays/npy.h"
#include "corpus/cases/random.h"
#include "corpus/durable_file.h"
#include "device/blas/library.h"
#include "device/status_macros.h"
#include "xxhash.h"

namespace mmadiff {
namespace {

// Rows without gaps.
struct Numbers {
  Numbers(int64_t r, int64_t c, const Format& f)
      : rows(r), columns(c), format(f), bytes(r * c * (f.bits / 8)) {}

  Words in() const { return {bytes.data(), columns, 1, format.bits}; }
  MutableWords out() { return {bytes.data(), columns, 1, format.bits}; }

  int64_t rows, columns;
  const Format& format;
  std::vector<unsigned char> bytes;
};

// Positive and negative numbers from 1/4 to 4 with random significands, so that almost every order
// of summation gives a different result.
Numbers RandomNumbers(int64_t rows, int64_t columns, const Format& f, uint64_t seed,
                      uint32_t stream) {
  Numbers numbers(rows, columns, f);
  Random random(seed, stream, 0);
  const int one = -f.min_exponent + 1;  // exponent field of 1.0
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      const uint64_t field = one + random.Between(-2, 1), sign = random.Coin();
      Store(numbers.out(), i, j,
            sign << SignBit(f) | field << f.fraction_bits | random.Bits(f.fraction_bits));
    }
  }
  return numbers;
}

absl::Status WriteAll(const std::string& folder, const Numbers& a, const Numbers& b,
                      const Numbers& d) {
  RETURN_IF_ERROR(MakeFolder(folder));
  for (const auto& [name, x] : {std::pair("a", &a), {"b", &b}, {"d", &d}}) {
    const std::string path = absl::StrCat(folder, "/", name, ".npy");
    RETURN_IF_ERROR(WriteNpy(path, x->in(), x->rows, x->columns, x->format));
    std::printf("wrote     %s\n", path.c_str());
  }
  return absl::OkStatus();
}

absl::Status Run(const std::vector<std::string>& arguments) {
  int64_t m, n, k;
  uint64_t seed = 1;
  if (arguments.size() < 4 || arguments.size() > 6 || !absl::SimpleAtoi(arguments[1], &m) ||
      !absl::SimpleAtoi(arguments[2], &n) || !absl::SimpleAtoi(arguments[3], &k) ||
      (arguments.size() > 4 && !absl::SimpleAtoi(arguments[4], &seed)) || std::min({m, n, k}) < 0) {
    return absl::InvalidArgumentError(
        "usage: blas_multiply LIBRARY[,OPTION...] M N K [SEED [FOLDER]]");
  }
  ASSIGN_OR_RETURN(const auto device, OpenBlas(arguments[0]));
  const MatrixFormats formats = device->formats();
  const Numbers a = RandomNumbers(m, k, *formats.a, seed, 0);
  const Numbers b = RandomNumbers(k, n, *formats.b, seed, 1);
  Numbers d(m, n, *formats.d);
  const auto begun = std::chrono::steady_clock::now();
  RETURN_IF_ERROR(device->Multiply({m, n, k, a.in(), b.in(), d.out()}));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begun;
  std::printf("device    %s\nidentity  %s\nseconds   %.3f\nd         xxh3 %016llx\n",
              device->name().c_str(), Name(device->identity()).c_str(), seconds.count(),
              static_cast<unsigned long long>(XXH3_64bits(d.bytes.data(), d.bytes.size())));
  return arguments.size() < 6 ? absl::OkStatus() : WriteAll(arguments[5], a, b, d);
}

}  // namespace
}  // namespace mmadiff

int main(int argc, char** argv) {
  const absl::Status s = mmadiff::Run({argv + 1, argv + argc});
  if (s.ok()) return 0;
  std::fprintf(stderr, "%s\n", std::string(s.message()).c_str());
  return absl::IsNotFound(s) ? 4 : absl::IsDataLoss(s) ? 6 : 2;
}

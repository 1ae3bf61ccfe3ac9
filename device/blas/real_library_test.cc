// The BLAS libraries of this machine. MMADIFF_TEST_BLAS adds specifications, separated by blanks.
#include <gmock/gmock.h>

#include <cstdlib>
#include <random>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "device/blas/library.h"

namespace mmadiff {
namespace {

std::vector<std::string> Specifications() {
  std::vector<std::string> all = {"openblas,threads=1", "blis,threads=1"};
  if (const char* more = std::getenv("MMADIFF_TEST_BLAS")) {
    for (const absl::string_view s : absl::StrSplit(more, ' ', absl::SkipEmpty()))
      all.emplace_back(s);
  }
  return all;
}

class RealBlas : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<MatrixDevice> Open(const std::string& options) {
    auto device = OpenBlas(GetParam() + options);
    if (absl::IsNotFound(device.status())) skipped_ = std::string(device.status().message());
    if (!device.ok() && skipped_.empty()) ADD_FAILURE() << device.status();
    return device.ok() ? *std::move(device) : nullptr;
  }
  std::string skipped_;
};

template <class Real>
std::vector<Real> Product(MatrixDevice& device, int64_t m, int64_t n, int64_t k,
                          const std::vector<Real>& a, const std::vector<Real>& b) {
  std::vector<Real> d(m * n);
  const auto in = [](const std::vector<Real>& x, int64_t columns) {
    return Words{reinterpret_cast<const unsigned char*>(x.data()), columns, 1, 8 * sizeof(Real)};
  };
  const absl::Status s =
      device.Multiply({m,
                       n,
                       k,
                       in(a, k),
                       in(b, n),
                       {reinterpret_cast<unsigned char*>(d.data()), n, 1, 8 * sizeof(Real)}});
  EXPECT_TRUE(s.ok()) << s;
  return d;
}

// Products of small whole numbers are exact in every order of summation.
template <class Real>
void ExpectExactProducts(MatrixDevice& device) {
  std::minstd_rand random(1);
  for (const auto& [m, n, k] :
       {std::array<int64_t, 3>{1, 1, 1}, {5, 7, 3}, {65, 33, 129}, {1, 100, 200}, {3, 2, 0}}) {
    std::vector<Real> a(m * k), b(k * n), expected(m * n);
    for (Real& x : a) x = static_cast<Real>(random() % 17) - 8;
    for (Real& x : b) x = static_cast<Real>(random() % 17) - 8;
    for (int64_t i = 0; i < m * n; ++i) {
      for (int64_t l = 0; l < k; ++l) expected[i] += a[i / n * k + l] * b[l * n + i % n];
    }
    EXPECT_EQ(Product(device, m, n, k, a, b), expected) << m << " x " << n << " x " << k;
  }
}

TEST_P(RealBlas, MultipliesInEveryStorage) {
  for (const char* order : {",order=row", ",order=column"}) {
    for (const char* transpose :
         {",transpose=none", ",transpose=a", ",transpose=b", ",transpose=ab"}) {
      const auto f32 = Open(absl::StrCat(order, transpose));
      if (!skipped_.empty()) GTEST_SKIP() << skipped_;
      const auto f64 = Open(absl::StrCat(order, transpose, ",routine=dgemm"));
      ASSERT_TRUE(f32 != nullptr && f64 != nullptr);
      ExpectExactProducts<float>(*f32);
      ExpectExactProducts<double>(*f64);
    }
  }
}

TEST_P(RealBlas, RepeatsItsBitsAndNamesItself) {
  const auto device = Open("");
  if (!skipped_.empty()) GTEST_SKIP() << skipped_;
  ASSERT_NE(device, nullptr);
  const std::string name = Name(device->identity());
  EXPECT_THAT(name, testing::HasSubstr(", integers of "));
  EXPECT_THAT(name, testing::HasSubstr(" xxh3 "));
  std::mt19937 random(2);
  std::uniform_real_distribution<float> number(-1, 1);
  std::vector<float> a(100 * 1000), b(1000 * 50);
  for (float& x : a) x = number(random);
  for (float& x : b) x = number(random);
  EXPECT_EQ(Product(*device, 100, 50, 1000, a, b), Product(*device, 100, 50, 1000, a, b)) << name;
}

INSTANTIATE_TEST_SUITE_P(All, RealBlas, testing::ValuesIn(Specifications()),
                         [](const auto& info) { return absl::StrCat("library", info.index); });

}  // namespace
}  // namespace mmadiff

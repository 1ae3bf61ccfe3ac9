// The device `blas:` on libraries that the build makes of testing/tiny_blas.cc.
#include "device/blas/library.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "absl/strings/str_cat.h"

namespace mmadiff {
namespace {

using absl::StatusCode;
using testing::HasSubstr;

std::string Fact(const MatrixDevice& device, KnownKey key) {
  for (const Identity::Fact& fact : device.identity().facts) {
    if (fact.key == key.key) return fact.value;
  }
  return "";
}

// A matrix of whole numbers, whose products are exact in any order.
template <class Real>
struct Matrix {
  int64_t rows, columns, row_stride, column_stride;
  std::vector<Real> data;

  Matrix(int64_t r, int64_t c, bool by_columns)
      : rows(r),
        columns(c),
        row_stride(by_columns ? 1 : c + 2),
        column_stride(by_columns ? r + 2 : 1),
        data((r + 2) * (c + 2), -1) {}
  Real& At(int64_t i, int64_t j) { return data[i * row_stride + j * column_stride]; }
  MutableWords words() {
    return {reinterpret_cast<unsigned char*>(data.data()), row_stride, column_stride,
            8 * sizeof(Real)};
  }
  Words in() {
    return {reinterpret_cast<unsigned char*>(data.data()), row_stride, column_stride,
            8 * sizeof(Real)};
  }
};

template <class Real>
void ExpectProducts(MatrixDevice& device) {
  for (const auto& [m, n, k] : {std::array<int64_t, 3>{3, 4, 5}, {1, 1, 1}, {7, 1, 2}, {2, 3, 0}}) {
    Matrix<Real> a(m, k, true), b(k, n, false), d(m, n, true);
    for (int64_t i = 0; i < m * k; ++i) a.At(i % m, i / m) = static_cast<Real>(i * 7 % 11);
    for (int64_t i = 0; i < k * n; ++i) b.At(i % k, i / k) = static_cast<Real>(i * 5 % 13);
    const absl::Status s = device.Multiply({m, n, k, a.in(), b.in(), d.words()});
    ASSERT_TRUE(s.ok()) << s;
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        Real sum = 0;
        for (int64_t l = 0; l < k; ++l) sum += a.At(i, l) * b.At(l, j);
        EXPECT_EQ(d.At(i, j), sum) << device.name() << " at " << i << ", " << j;
      }
    }
    EXPECT_EQ(d.data[m], Real{-1}) << "beside the result";
  }
}

class BlasTest : public testing::Test {
 protected:
  ~BlasTest() override {
    for (const std::string& copy : copies_) std::filesystem::remove(copy);
  }
  // A copy, which the loader takes for a different library.
  std::string Library(const std::string& name) {
    static int copies = 0;
    copies_.push_back(
        absl::StrCat(testing::TempDir(), "/lib", name, ".", getpid(), ".", ++copies, ".so"));
    std::filesystem::copy_file(absl::StrCat(MMADIFF_TINY_BLAS, "/", name, ".so"), copies_.back());
    return copies_.back();
  }
  static std::string WhyNot(const std::string& specification, StatusCode code) {
    const absl::Status s = OpenBlas(specification).status();
    EXPECT_EQ(s.code(), code) << s;
    EXPECT_EQ(s.message().find('\n'), s.message().npos) << s;
    return std::string(s.message());
  }

 private:
  std::vector<std::string> copies_;
};

TEST_F(BlasTest, EveryInterfaceStorageAndWidth) {
  const std::tuple<const char*, const char*, const char*> all[] = {
      {"tiny_scipy64", "scipy_cblas_?gemm64_", "64"},
      {"tiny_mkl64", "cblas_?gemm_64", "64"},
      {"tiny_cblas32", "cblas_?gemm", "32"},
      {"tiny_cblas64", "cblas_?gemm", "64"},
      {"tiny_fortran32", "?gemm_", "32"},
      {"tiny_fortran64", "?gemm_64_", "64"},
      {"tiny_plain64", "?gemm_", "64"}};
  for (const auto& [name, symbol, integers] : all) {
    const std::string library = Library(name);
    for (const char* routine : {"sgemm", "dgemm"}) {
      for (const char* order : {"row", "column"}) {
        for (const char* transpose : {"none", "a", "b", "ab"}) {
          const std::string specification = absl::StrCat(
              library, ",routine=", routine, ",order=", order, ",transpose=", transpose);
          const auto device = OpenBlas(specification);
          ASSERT_TRUE(device.ok()) << device.status();
          EXPECT_EQ((*device)->name(), "blas:" + specification);
          const bool is_double = *routine == 'd';
          EXPECT_EQ(Name((*device)->formats()), is_double ? "f64,f64,f64" : "f32,f32,f32");
          is_double ? ExpectProducts<double>(**device) : ExpectProducts<float>(**device);
          std::string expected = symbol;
          expected[expected.find('?')] = *routine;
          EXPECT_EQ(Fact(**device, "routine"), expected);
          EXPECT_EQ(Fact(**device, "integers"), integers) << name;
        }
      }
    }
  }
}

TEST_F(BlasTest, TheLibraryGetsTheStorageOfTheOptions) {
  const std::string library = Library("tiny_cblas32");
  const std::tuple<const char*, const char*, std::array<int, 3>> all[] = {
      {"", "by rows", {101, 111, 111}},
      {",transpose=a", "by rows, A transposed", {101, 112, 111}},
      {",order=column,transpose=ab", "by columns, A transposed, B transposed", {102, 112, 112}}};
  for (const auto& [options, storage, call] : all) {
    const auto device = OpenBlas(library + options);
    ASSERT_TRUE(device.ok()) << device.status();
    EXPECT_EQ(Fact(**device, "storage"), storage);
    ExpectProducts<float>(**device);
    const auto* const last = static_cast<std::array<int, 3>*>(
        dlsym(dlopen(library.c_str(), RTLD_NOW), "tiny_last_call"));
    ASSERT_NE(last, nullptr);
    EXPECT_EQ(*last, call) << options;
  }
}

// alpha A B + beta C with whole numbers and halves, exact in any order.
template <class Real>
void ExpectScaled(MatrixDevice& device, Real alpha, Real beta) {
  constexpr int64_t m = 3, n = 4, k = 5;
  Matrix<Real> a(m, k, true), b(k, n, false), c(m, n, false), d(m, n, true);
  for (int64_t i = 0; i < m * k; ++i) a.At(i % m, i / m) = static_cast<Real>(i * 7 % 11);
  for (int64_t i = 0; i < k * n; ++i) b.At(i % k, i / k) = static_cast<Real>(i * 5 % 13);
  for (int64_t i = 0; i < m * n; ++i) c.At(i % m, i / m) = static_cast<Real>(i * 3 % 17);
  const absl::Status s = device.Multiply({m, n, k, a.in(), b.in(), d.words(), c.in()});
  ASSERT_TRUE(s.ok()) << s;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      Real sum = 0;
      for (int64_t l = 0; l < k; ++l) sum += a.At(i, l) * b.At(l, j);
      EXPECT_EQ(d.At(i, j), alpha * sum + beta * c.At(i, j)) << device.name() << i << ' ' << j;
    }
  }
}

TEST_F(BlasTest, AlphaAndBeta) {
  for (const char* name : {"tiny_cblas32", "tiny_cblas64", "tiny_fortran32", "tiny_fortran64"}) {
    const std::string library = Library(name);
    for (const char* order : {",order=row", ",order=column"}) {
      const std::string text = absl::StrCat(library, order, ",alpha=-1.5,beta=0.25");
      const auto f32 = OpenBlas(text), f64 = OpenBlas(text + ",routine=dgemm");
      ASSERT_TRUE(f32.ok() && f64.ok()) << f32.status() << f64.status();
      EXPECT_EQ((*f32)->factors(), (ProductFactors{-1.5, 0.25}));
      EXPECT_THAT(Name((*f32)->identity()), HasSubstr(", alpha -1.5, beta 0.25"));
      ExpectScaled<float>(**f32, -1.5, 0.25);
      ExpectScaled<double>(**f64, -1.5, 0.25);
    }
    const auto alpha = OpenBlas(library + ",alpha=2");
    ASSERT_TRUE(alpha.ok()) << alpha.status();
    ExpectScaled<float>(**alpha, 2, 0);
    EXPECT_EQ(Fact(**alpha, "beta"), "");
  }
}

TEST_F(BlasTest, IdentityOfOpenBlas) {
  setenv("GOTO_TEST", "b", 1);
  const auto device = OpenBlas(Library("tiny_scipy64") + ",threads=3,coretype=Haswell");
  unsetenv("GOTO_TEST");
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_EQ(Fact(**device, "library_version"), "OpenBLAS 0.0.1 TINY");
  EXPECT_EQ(Fact(**device, "core_type"), "Haswell");
  EXPECT_EQ(Fact(**device, "threads"), "3");
  EXPECT_THAT(Fact(**device, "library"), HasSubstr("libtiny_scipy64."));
  EXPECT_THAT(Fact(**device, "files"), HasSubstr(" xxh3 "));
  EXPECT_THAT(Fact(**device, "environment"),
              HasSubstr("BLIS_NUM_THREADS=3 GOTO_TEST=b MKL_NUM_THREADS=3 OMP_NUM_THREADS=3 "
                        "OPENBLAS_CORETYPE=Haswell OPENBLAS_NUM_THREADS=3"));
  EXPECT_THAT(Name((*device)->identity()),
              HasSubstr(", OpenBLAS 0.0.1 TINY, core type Haswell, threads 3, integers of 64 bits, "
                        "scipy_cblas_sgemm64_, matrices by rows, BLIS_NUM_THREADS=3 "));
}

// Otherwise the next library would get the options of this one.
TEST_F(BlasTest, TheEnvironmentIsRestored) {
  setenv("OMP_NUM_THREADS", "7", 1);
  EXPECT_TRUE(OpenBlas(Library("tiny_scipy64") + ",threads=3,coretype=Haswell").ok());
  EXPECT_TRUE(OpenBlas(Library("tiny_blis32") + ",threads=3,coretype=haswell").ok());
  EXPECT_STREQ(std::getenv("OMP_NUM_THREADS"), "7");
  unsetenv("OMP_NUM_THREADS");
  for (const char* variable : {"OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "MKL_NUM_THREADS",
                               "OPENBLAS_CORETYPE", "BLIS_ARCH_TYPE"}) {
    EXPECT_EQ(std::getenv(variable), nullptr) << variable;
  }
}

TEST_F(BlasTest, OtherMakers) {
  const auto blis = OpenBlas(Library("tiny_blis32") + ",threads=2,coretype=haswell");
  ASSERT_TRUE(blis.ok()) << blis.status();
  EXPECT_EQ(Fact(**blis, "library_version"), "BLIS 0.0.2");
  EXPECT_EQ(Fact(**blis, "core_type"), "haswell");
  EXPECT_EQ(Fact(**blis, "threads"), "2");
  EXPECT_THAT(Fact(**blis, "environment"), HasSubstr("BLIS_ARCH_TYPE=1"));
  EXPECT_THAT(Fact(**blis, "environment"), testing::Not(HasSubstr("OPENBLAS_CORETYPE")));
  const auto plain = OpenBlas(Library("tiny_blis32"));
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_EQ(Fact(**plain, "core_type"), "generic");
  EXPECT_EQ(Fact(**plain, "threads"), "");
  const auto mkl = OpenBlas(Library("tiny_mkl64") + ",threads=5");
  ASSERT_TRUE(mkl.ok()) << mkl.status();
  EXPECT_EQ(Fact(**mkl, "library_version"), "Tiny MKL 3");
  EXPECT_EQ(Fact(**mkl, "threads"), "5");
  const auto other = OpenBlas(Library("tiny_fortran32") + ",threads=5");
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_EQ(Fact(**other, "library_version"), "");
  EXPECT_EQ(Fact(**other, "threads"), "");
}

TEST_F(BlasTest, OptionsThatTheLibraryDoesNotFollow) {
  EXPECT_THAT(WhyNot(Library("tiny_scipy64") + ",coretype=Missing", StatusCode::kInvalidArgument),
              HasSubstr("coretype is Missing, but the library uses Tiny"));
  EXPECT_THAT(WhyNot(Library("tiny_scipy64") + ",threads=9", StatusCode::kInvalidArgument),
              HasSubstr("threads is 9, but the library uses 8"));
  EXPECT_THAT(WhyNot(Library("tiny_blis32") + ",coretype=zen", StatusCode::kInvalidArgument),
              HasSubstr("coretype is 'zen'; BLIS has skx, haswell, generic"));
  EXPECT_THAT(WhyNot(Library("tiny_mkl64") + ",coretype=AVX2", StatusCode::kInvalidArgument),
              HasSubstr("coretype is for OpenBLAS and BLIS; for MKL set MKL_ENABLE_INSTRUCTIONS"));
  const std::string loaded = Library("tiny_scipy64");
  EXPECT_TRUE(OpenBlas(loaded).ok());
  EXPECT_THAT(WhyNot(loaded + ",coretype=Haswell", StatusCode::kInvalidArgument),
              HasSubstr("or this process has loaded it before"));
}

// A device uses its own number of threads, not that of the last opened.
TEST_F(BlasTest, ThreadsAreSetAgain) {
  const std::string library = Library("tiny_scipy64");
  const auto one = OpenBlas(library + ",threads=1"), two = OpenBlas(library + ",threads=2");
  ASSERT_TRUE(one.ok() && two.ok());
  ExpectProducts<float>(**one);
  const auto now = OpenBlas(library);
  ASSERT_TRUE(now.ok());
  EXPECT_EQ(Fact(**now, "threads"), "1");
}

TEST_F(BlasTest, LibrariesThatEndTheProcess) {
  EXPECT_THAT(WhyNot(Library("tiny_exits"), StatusCode::kFailedPrecondition),
              HasSubstr(".so: a process that uses it exits with code 2: libtiny: cannot load "
                        "libtiny_kernels.so"));
  EXPECT_THAT(
      WhyNot(Library("tiny_blis32") + ",coretype=skx", StatusCode::kFailedPrecondition),
      HasSubstr("ends by signal 6 (Aborted): libtiny: invalid architecture; libtiny: Aborting."));
}

// The end of the child process is not that of this process.
TEST_F(BlasTest, TheChildLeavesNoTraces) {
  static const std::string trace = absl::StrCat(testing::TempDir(), "/trace.", getpid());
  static const pid_t self = getpid();
  std::atexit([] {
    if (getpid() != self) std::ofstream(trace) << "x";
  });
  std::printf("printed before");
  EXPECT_THAT(WhyNot(Library("tiny_exits"), StatusCode::kFailedPrecondition),
              testing::Not(HasSubstr("printed before")));
  EXPECT_FALSE(std::filesystem::exists(trace));
}

TEST_F(BlasTest, MissingLibrariesAndSymbols) {
  EXPECT_THAT(WhyNot("nowhere", StatusCode::kNotFound),
              HasSubstr("no library 'nowhere' can be opened: libnowhere.so.0: cannot open"));
  EXPECT_THAT(WhyNot("/nowhere/libblas.so", StatusCode::kNotFound),
              HasSubstr("/nowhere/libblas.so: cannot open shared object file"));
  const std::string text = absl::StrCat(testing::TempDir(), "/text.", getpid(), ".so");
  std::ofstream(text) << "no library";
  EXPECT_THAT(WhyNot(text, StatusCode::kNotFound), HasSubstr("can be opened"));
  std::filesystem::remove(text);
  EXPECT_THAT(WhyNot("libm.so.6", StatusCode::kNotFound),
              HasSubstr("none of cblas_sgemm, cblas_sgemm64_, cblas_sgemm_64, scipy_cblas_sgemm, "
                        "scipy_cblas_sgemm64_, scipy_cblas_sgemm_64, sgemm_, sgemm_64_, sgemm_64, "
                        "scipy_sgemm_, scipy_sgemm_64_, scipy_sgemm_64"));
  EXPECT_THAT(WhyNot("libm.so.6,routine=dgemm", StatusCode::kNotFound),
              HasSubstr("none of cblas_dgemm, "));
}

TEST_F(BlasTest, WrongOptionsSayWhatToWrite) {
  const std::pair<const char*, const char*> all[] = {
      {"", "write blas:LIBRARY, for example blas:openblas"},
      {",threads=1", "write blas:LIBRARY"},
      {"x,", "no option ''; options: routine, threads, coretype, order, transpose, alpha, beta"},
      {"x,alpha=", "alpha is ''; use a number"},
      {"x,beta=1e999", "beta is '1e999'; use a number"},
      {"x,beta=nan", "beta is 'nan'; use a number"},
      {"x,fast=1", "no option 'fast=1'; options: routine"},
      {"x,routine=cgemm", "routine is 'cgemm'; use sgemm or dgemm"},
      {"x,threads=0", "threads is '0'; use 1 to 1024"},
      {"x,threads=1025", "use 1 to 1024"},
      {"x,threads", "threads is ''; use 1 to 1024"},
      {"x,coretype=", "coretype is ''; use a name"},
      {"x,coretype=A B", "coretype is 'A B'; use a name"},
      {"x,order=z", "order is 'z'; use row or column"},
      {"x,transpose=ba", "transpose is 'ba'; use none, a, b or ab"}};
  for (const auto& [specification, expected] : all) {
    EXPECT_THAT(WhyNot(specification, StatusCode::kInvalidArgument), HasSubstr(expected));
  }
}

TEST_F(BlasTest, ProductsThatAreRefused) {
  const auto narrow = OpenBlas(Library("tiny_cblas32")), wide = OpenBlas(Library("tiny_cblas64"));
  ASSERT_TRUE(narrow.ok() && wide.ok());
  float zero = 0;
  unsigned char* const data = reinterpret_cast<unsigned char*>(&zero);
  const Words words = {data, 0, 0, 32}, narrow_words = {data, 0, 0, 16};
  const MutableWords d = {data, 0, 0, 32};
  const auto why = [&](MatrixDevice& device, int64_t m, int64_t n, int64_t k, const Words& a,
                       StatusCode code = StatusCode::kInvalidArgument) {
    const absl::Status s = device.Multiply({m, n, k, a, words, d});
    EXPECT_EQ(s.code(), code) << s;
    return std::string(s.message());
  };
  EXPECT_THAT(why(**narrow, -1, 1, 1, words),
              HasSubstr("must not be negative: m = -1, n = 1, k = 1"));
  EXPECT_THAT(why(**narrow, 1, 1, -1, words), HasSubstr("must not be negative"));
  EXPECT_THAT(why(**narrow, 1, 1, 1, narrow_words),
              HasSubstr("multiplies f32, not words of 16 bits"));
  EXPECT_THAT(why(**narrow, 1, 1, int64_t{1} << 31, words),
              HasSubstr("k = 2147483648 do not fit the integers of cblas_sgemm"));
  EXPECT_THAT(
      why(**wide, int64_t{1} << 40, 1, int64_t{1} << 40, words, StatusCode::kResourceExhausted),
      HasSubstr("no memory for a matrix of 1099511627776 x 1099511627776"));
  const auto adds = OpenBlas(Library("tiny_cblas32") + ",beta=1");
  ASSERT_TRUE(adds.ok()) << adds.status();
  EXPECT_THAT(why(**adds, 1, 1, 1, words), HasSubstr("adds beta C, but there is no C"));
  EXPECT_FALSE((*adds)->Multiply({1, 1, 1, words, words, d, narrow_words}).ok());
  EXPECT_TRUE((*adds)->Multiply({1, 1, 1, words, words, d, words}).ok());
  EXPECT_TRUE((*narrow)->Multiply({0, 1, 1, words, words, d}).ok());
  EXPECT_TRUE((*narrow)->Multiply({1, 0, 1, words, words, d}).ok());
}

}  // namespace
}  // namespace mmadiff

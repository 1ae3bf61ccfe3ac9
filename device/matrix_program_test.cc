// The device `exec:` of whole products, on testing/matrix_helper.cc. It has no fuzz target: an
// answer is any bytes, of a number that is known before, so there is nothing to parse.
#include "device/matrix_program.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace mmadiff {
namespace {

using absl::StatusCode;
using testing::HasSubstr;

constexpr MatrixFormats kFloats = {&kF32, &kF32, &kF32};

std::unique_ptr<MatrixDevice> Open(const std::string& specification,
                                   const MatrixFormats& formats = kFloats) {
  auto device = OpenMatrixProgram(specification, formats, absl::Minutes(10));
  EXPECT_TRUE(device.ok()) << device.status();
  return device.ok() ? *std::move(device) : nullptr;
}

std::string Helper(const std::string& arguments) {
  return absl::StrCat(MMADIFF_MATRIX_HELPER, " ", arguments);
}

// Any words, with gaps between rows and between columns.
struct Matrix {
  Matrix(int64_t r, int64_t c, const Format& f, uint64_t seed)
      : rows(r), columns(c), bits(StoredBits(f)), bytes((2 * c + 3) * r * bits / 8) {
    for (int64_t i = 0; i < r; ++i) {
      for (int64_t j = 0; j < c; ++j) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        Store(words(), i, j, seed >> (64 - f.bits));
      }
    }
  }
  MutableWords words() { return {bytes.data(), 2 * columns + 3, 2, bits}; }
  Words in() const { return {bytes.data(), 2 * columns + 3, 2, bits}; }

  int64_t rows, columns;
  int bits;
  std::vector<unsigned char> bytes;
};

// The product of the helper's mode `words`.
void ExpectProduct(MatrixDevice& device, int64_t m, int64_t n, int64_t k) {
  const MatrixFormats f = device.formats();
  const Matrix a(m, k, *f.a, 1), b(k, n, *f.b, 2);
  Matrix d(m, n, *f.d, 3);
  const absl::Status s = device.Multiply({m, n, k, a.in(), b.in(), d.words()});
  ASSERT_TRUE(s.ok()) << s;
  const uint64_t mask = d.bits == 64 ? ~uint64_t{0} : (uint64_t{1} << d.bits) - 1;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      uint64_t sum = 0;
      for (int64_t l = 0; l < k; ++l) sum += Load(a.in(), i, l) * Load(b.in(), l, j);
      ASSERT_EQ(Load(d.in(), i, j), sum & mask) << i << ", " << j << " of " << Name(f);
    }
  }
}

std::string ErrorOf(MatrixDevice& device, StatusCode code, int64_t m = 3, int64_t n = 4,
                    int64_t k = 5) {
  const Matrix a(3, 5, kF32, 1), b(5, 4, kF32, 2);
  Matrix d(3, 4, kF32, 3);
  const absl::Status s = device.Multiply({m, n, k, a.in(), b.in(), d.words()});
  EXPECT_EQ(s.code(), code) << s;
  EXPECT_EQ(s.message().find('\n'), s.message().npos) << s;
  return std::string(s.message());
}

TEST(MatrixProgram, AllFormatsAndShapes) {
  const Format* const all[] = {&kF64,  &kF32, &kTf32, &kF16, &kBf16, &kE4m3, &kE5m2, &kE2m3,
                               &kE2m1, &kS32, &kS16,  &kS8,  &kU8,   &kS4,   &kB1};
  const int count = std::size(all);
  for (int i = 0; i < count; ++i) {
    const auto device = Open(Helper("words"), {all[i], all[(i + 3) % count], all[(i + 7) % count]});
    for (const auto& [m, n, k] :
         {std::array{3, 4, 5}, {1, 1, 1}, {1, 9, 8}, {9, 1, 8}, {9, 8, 1}, {0, 3, 2}, {3, 0, 2}}) {
      ExpectProduct(*device, m, n, k);
    }
    EXPECT_TRUE(device->Finish().ok());
  }
}

TEST(MatrixProgram, LargerThanPipes) {
  const auto device = Open(Helper("words"));
  ExpectProduct(*device, 300, 400, 5);
  ExpectProduct(*device, 5, 4, 30000);
}

TEST(MatrixProgram, OneProcessAnswersAll) {
  const auto device = Open(
      "n=0; while read -r line; do head -c 8 >/dev/null; n=$((n + 1)); printf \"\\\\$n\\0\\0\\0\"; "
      "done");
  for (int n = 1; n < 4; ++n) {
    const Matrix one(1, 1, kF32, 1);
    Matrix d(1, 1, kF32, 1);
    const absl::Status s = device->Multiply({1, 1, 1, one.in(), one.in(), d.words()});
    ASSERT_TRUE(s.ok()) << s;
    EXPECT_EQ(Load(d.in(), 0, 0), n);
  }
}

TEST(MatrixProgram, PythonServesIt) {
  if (std::system("python3 -c pass 2>/dev/null") != 0) GTEST_SKIP() << "no python3";
  const std::string path = absl::StrCat(testing::TempDir(), "/serve.", getpid(), ".py");
  std::ofstream(path) << R"(
import struct, sys
i, o = sys.stdin.buffer, sys.stdout.buffer
while line := i.readline():
    m, n, k = map(int, line.split()[:3])
    a, b = (struct.unpack(f'<{c}I', i.read(4 * c)) for c in (m * k, k * n))
    d = [sum(a[r * k + l] * b[l * n + c] for l in range(k)) for r in range(m) for c in range(n)]
    o.write(struct.pack(f'<{m * n}I', *(x & 0xffffffff for x in d)))
    o.flush()
)";
  const auto device = Open(absl::StrCat("python3 ", path));
  ExpectProduct(*device, 3, 4, 5);
  ExpectProduct(*device, 30, 1, 40);
  EXPECT_TRUE(device->Finish().ok());
  std::ofstream(path, std::ios::app) << "# changed\n";
  EXPECT_THAT(ErrorOf(*device, StatusCode::kDataLoss), HasSubstr("changed during the run"));
  std::filesystem::remove(path);
}

// The first product is right, the second fails; a new process answers the next one.
TEST(MatrixProgram, FailuresSayWhatToDo) {
  const std::tuple<const char*, StatusCode, const char*, const char*> all[] = {
      {"crash", StatusCode::kInternal, "0 of 48 bytes of D arrived: it must answer requests until",
       "failed with exit code 3; its stderr ends with: no memory"},
      {"early", StatusCode::kInternal, "24 of 48 bytes", "it exited without an answer"},
      {"hang,timeout=0.5", StatusCode::kInternal,
       "24 of 48 bytes of D arrived: does it flush its stdout? Else give it more time",
       "no answer for 500ms; killed"},
      {"longer", StatusCode::kDataLoss, "only words of D may go to its stdout",
       "it wrote more than its answer"}};
  for (const auto& [fault, code, first, then] : all) {
    const auto device = Open(Helper(absl::StrCat("words ", fault)));
    ExpectProduct(*device, 3, 4, 5);
    const std::string why = ErrorOf(*device, code);
    EXPECT_THAT(why, HasSubstr(absl::StrCat("request `3 4 5 f32 f32 f32`, ")));
    EXPECT_THAT(why, HasSubstr(first));
    EXPECT_THAT(why, HasSubstr(then));
    ExpectProduct(*device, 3, 4, 5);
  }
}

TEST(MatrixProgram, AProgramThatDoesNotRead) {
  const auto device = Open(Helper("words deaf,timeout=0.5"));
  ExpectProduct(*device, 3, 4, 5);
  const Matrix a(300, 300, kF32, 1);
  Matrix d(300, 300, kF32, 1);
  const absl::Status s = device->Multiply({300, 300, 300, a.in(), a.in(), d.words()});
  EXPECT_EQ(s.code(), StatusCode::kInternal) << s;
  EXPECT_THAT(std::string(s.message()), HasSubstr("neither read its input nor answered for 500ms"));
}

// One byte may arrive with the answer, before the next request, or at the end.
TEST(MatrixProgram, OneByteTooMany) {
  const auto device = Open(Helper("words more"));
  ExpectProduct(*device, 3, 4, 5);
  const Matrix a(3, 5, kF32, 1), b(5, 4, kF32, 2);
  Matrix d(3, 4, kF32, 3);
  absl::Status s = device->Multiply({3, 4, 5, a.in(), b.in(), d.words()});
  if (s.ok()) s = device->Finish();
  EXPECT_EQ(s.code(), StatusCode::kDataLoss) << s;
  EXPECT_THAT(std::string(s.message()), HasSubstr("it wrote more than its answer"));
}

// Shorter than the answer: it is taken for a part of D, until the program ends or writes too much.
TEST(MatrixProgram, AGreeting) {
  const auto device = Open(absl::StrCat("echo hi; exec ", Helper("words")));
  const Matrix a(3, 5, kF32, 1), b(5, 4, kF32, 2);
  Matrix d(3, 4, kF32, 3);
  absl::Status s = device->Multiply({3, 4, 5, a.in(), b.in(), d.words()});
  if (s.ok()) s = device->Finish();
  EXPECT_EQ(s.code(), StatusCode::kDataLoss) << s;
}

TEST(MatrixProgram, NoProgram) {
  EXPECT_THAT(ErrorOf(*Open("/nowhere/matmul"), StatusCode::kNotFound),
              HasSubstr("the shell found no such command (exit code 127); check the path"));
}

TEST(MatrixProgram, SizesThatAreRefused) {
  const auto device = Open(Helper("words"));
  const std::array<int64_t, 3> all[] = {{1 << 20, 1, 1 << 10},
                                        {int64_t{1} << 40, 1, int64_t{1} << 40},
                                        {1, int64_t{1} << 62, 8},
                                        {1 << 16, 1 << 16, 1},
                                        {3, 4, 0}};
  for (const auto& [m, n, k] : all) {
    EXPECT_THAT(ErrorOf(*device, StatusCode::kInvalidArgument, m, n, k),
                HasSubstr("at most 2147483648 bytes of A and B, and of D"));
  }
  EXPECT_THAT(ErrorOf(*device, StatusCode::kInvalidArgument, -1),
              HasSubstr("must not be negative"));
  const auto narrow = Open(Helper("words"), {&kF32, &kF16, &kF32});
  EXPECT_THAT(ErrorOf(*narrow, StatusCode::kInvalidArgument),
              HasSubstr("multiplies f16, not words of 32 bits"));
}

TEST(MatrixProgram, OptionsThatMakeNoSense) {
  const std::pair<const char*, const char*> all[] = {
      {"x,batch=3", "exec: has only the option timeout, not ',batch=3'"},
      {"x,restart=each", "only the option timeout"},
      {"x,protocol=binary,timeout=5m", "only the option timeout"},
      {"x,timeout=5m,skip=a", "only the option timeout"},
      {"x,timeout=0", "timeout must be a duration above 0"},
      {"x,timout=5m", "did you mean timeout"},
      {"", "write exec:COMMAND"},
      {" ,timeout=5m", "write exec:COMMAND"}};
  for (const auto& [specification, expected] : all) {
    const absl::Status s = OpenMatrixProgram(specification, kFloats, absl::Minutes(1)).status();
    EXPECT_EQ(s.code(), StatusCode::kInvalidArgument) << specification;
    EXPECT_THAT(std::string(s.message()), HasSubstr(expected)) << specification;
  }
  EXPECT_EQ(Open("x -a b,c,timeout=5m")->name(), "exec:x -a b,c,timeout=5m");
}

TEST(MatrixProgram, IdentityHasFilesFormatsAndEnvironment) {
  setenv("ONEDNN_MAX_CPU_ISA", "AVX2", 1);
  const auto device = Open(Helper("words"), {&kF16, &kBf16, &kF32});
  unsetenv("ONEDNN_MAX_CPU_ISA");
  const std::string name = Name(device->identity());
  EXPECT_THAT(name, HasSubstr(absl::StrCat("external program `", Helper("words"), "`")));
  EXPECT_THAT(name, HasSubstr("matrix_helper xxh3 "));
  EXPECT_THAT(name, HasSubstr("ONEDNN_MAX_CPU_ISA=AVX2"));
  EXPECT_THAT(name, HasSubstr(", formats f16,bf16,f32, on "));
  EXPECT_FALSE(device->identity() == Open(Helper("words"))->identity());
}

}  // namespace
}  // namespace mmadiff

// A program that multiplies matrices, for tests (device/matrix_program.h), with ways to misbehave:
//   matrix_helper words [FAULT]        each word of D is the sum of products of words, its low bits
//   matrix_helper plan PLAN [M PLAN]   by plans: the second one for M rows and more
// Faults, at the second request: crash, early, hang, deaf, longer, more.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/matrix_device.h"
#include "sim/plan/execute.h"
#include "sim/plan/plan.h"

namespace mmadiff {
namespace {

constexpr const Format* kFormats[] = {&kF64,  &kF32, &kTf32, &kF16, &kBf16, &kE4m3, &kE5m2, &kE2m3,
                                      &kE2m1, &kS32, &kS16,  &kS8,  &kU8,   &kS4,   &kB1};

const Format* Find(const char* name) {
  const auto* const found =
      std::ranges::find(kFormats, std::string_view(name), [](const Format* f) { return f->name; });
  return found == std::end(kFormats) ? nullptr : *found;
}

struct Request {
  int64_t m = 0, n = 0, k = 0;
  const Format *a = nullptr, *b = nullptr, *d = nullptr;
};

std::optional<Request> ReadHead() {
  char line[100], a[20], b[20], d[20];
  long long m, n, k;
  if (std::fgets(line, sizeof line, stdin) == nullptr) return std::nullopt;
  if (std::sscanf(line, "%lld %lld %lld %19s %19s %19s", &m, &n, &k, a, b, d) != 6) std::exit(4);
  const Request request = {m, n, k, Find(a), Find(b), Find(d)};
  if (request.a == nullptr || request.b == nullptr || request.d == nullptr) std::exit(5);
  return request;
}

struct Matrix {
  Matrix(int64_t rows, int64_t columns, const Format& format)
      : width(columns), bits(StoredBits(format)), bytes(rows * columns * bits / 8) {}
  static Matrix Read(int64_t rows, int64_t columns, const Format& format) {
    Matrix matrix(rows, columns, format);
    if (std::fread(matrix.bytes.data(), matrix.bytes.size(), 1, stdin) != 1) std::exit(6);
    return matrix;
  }
  Words in() const { return {bytes.data(), width, 1, bits}; }
  MutableWords out() { return {bytes.data(), width, 1, bits}; }

  int64_t width;
  int bits;
  std::vector<unsigned char> bytes;
};

void SumWords(const Request& r, const Words& a, const Words& b, const MutableWords& d) {
  for (int64_t i = 0; i < r.m; ++i) {
    for (int64_t j = 0; j < r.n; ++j) {
      uint64_t sum = 0;
      for (int64_t k = 0; k < r.k; ++k) sum += Load(a, i, k) * Load(b, k, j);
      Store(d, i, j, sum);
    }
  }
}

void ExecutePlan(const Request& r, const Words& a, const Words& b, const char* text,
                 const MutableWords& d) {
  std::string error;
  const std::optional<Plan> plan = ParsePlan(text, &error);
  if (!plan) {
    std::fprintf(stderr, "%s\n", error.c_str());
    std::exit(2);
  }
  Matrices matrices;
  matrices.m = r.m, matrices.n = r.n, matrices.k = r.k;
  matrices.a = a, matrices.b = b;
  matrices.a_format = r.a, matrices.b_format = r.b;
  Execute(*plan, matrices, d);
}

void Write(const std::vector<unsigned char>& bytes, size_t count) {
  std::fwrite(bytes.data(), count, 1, stdout);
  std::fflush(stdout);
}

// Writes the answer as the fault has it.
void WriteWrongly(std::vector<unsigned char> d, std::string_view fault) {
  if (fault == "crash") {
    std::fputs("no memory\n", stderr);
    std::exit(3);
  }
  if (fault == "longer") d.push_back('\n');  // a pipe takes both at once
  Write(d, fault == "longer" || fault == "more" ? d.size() : d.size() / 2);
  if (fault == "early") std::exit(0);
  if (fault == "hang") sleep(1000);
  if (fault == "more") Write({'\n'}, 1);
}

int Serve(const std::vector<std::string>& arguments) {
  const std::string fault = arguments[0] == "words" && arguments.size() > 1 ? arguments[1] : "";
  for (int number = 1; const std::optional<Request> r = ReadHead(); ++number) {
    if (fault == "deaf" && number == 2) sleep(1000);
    const Matrix a = Matrix::Read(r->m, r->k, *r->a), b = Matrix::Read(r->k, r->n, *r->b);
    Matrix d(r->m, r->n, *r->d);
    if (arguments[0] == "words") {
      SumWords(*r, a.in(), b.in(), d.out());
    } else {
      const bool second = arguments.size() > 3 && r->m >= std::atoi(arguments[2].c_str());
      ExecutePlan(*r, a.in(), b.in(), arguments[second ? 3 : 1].c_str(), d.out());
    }
    if (!fault.empty() && number == 2) {
      WriteWrongly(d.bytes, fault);
    } else {
      Write(d.bytes, d.bytes.size());
    }
  }
  return 0;
}

}  // namespace
}  // namespace mmadiff

int main(int argc, char** argv) {
  if (argc < 2 || (std::string_view(argv[1]) == "plan" && argc < 3)) return 2;
  return mmadiff::Serve({argv + 1, argv + argc});
}

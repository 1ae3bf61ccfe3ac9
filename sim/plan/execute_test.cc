#include "sim/plan/execute.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <set>

#include "sim/plan/convert.h"
#include "sim/plan/pack.h"
#include "sim/plan/why_no_plan.h"
#include "sim/reference/number.h"
#include "sim/reference/plan.h"
#include "sim/reference/random_word.h"
#include "sim/testing/plans.h"

namespace mmadiff {
namespace {

using reference::Between;
using reference::OneIn;
using reference::Random;

// What an operand's words are.
enum class Fill {
  kNearOne,   // 2^-2 to 2^2: every sum is rounded
  kWide,      // any exponent, many ties
  kAny,       // any bits
  kSpecials,  // near one, but sometimes NaN, infinity, subnormals, zeros, the largest
  kZeros,     // zeros of both signs, rarely something else
  kNans,
};

uint64_t WordFor(const Format& f, Fill fill, Random& random) {
  if (IsInteger(f)) return reference::RandomInteger(f, random);
  switch (fill) {
    case Fill::kNearOne:
      return reference::WordOfExponent(f, Between(random, -2, 2), random(), random);
    case Fill::kWide:
      return reference::WordOfExponent(f, Between(random, f.min_exponent - 4, MaxExponent(f)),
                                       reference::RandomFraction(f, random), random);
    case Fill::kAny:
      return reference::RandomWord(f, random);
    case Fill::kSpecials:
      return OneIn(random, 256) ? reference::SpecialWord(f, random)
                                : WordFor(f, Fill::kNearOne, random);
    case Fill::kZeros:
      return OneIn(random, 32) ? WordFor(f, Fill::kAny, random)
                               : reference::ZeroOfSign(f, OneIn(random, 2));
    case Fill::kNans:
      break;
  }
  for (int tries = 0; tries < 1000; ++tries) {
    const uint64_t word = reference::SpecialWord(f, random);
    if (IsNan(f, word)) return word;
  }
  return 0;  // the format has none
}

// A matrix in memory of its own, in any layout.
struct Matrix {
  Matrix() = default;
  Matrix(int64_t rows, int64_t columns, int bits, Random& random) {
    const int64_t gap = Between(random, 0, 1) * Between(random, 0, 3);
    const bool by_rows = OneIn(random, 2);
    int64_t row = by_rows ? columns + gap : 1, column = by_rows ? 1 : rows + gap;
    if (OneIn(random, 8)) row *= 2, column *= 2;
    if (OneIn(random, 8)) row = -row;
    if (OneIn(random, 8)) column = -column;
    offset = Between(random, 0, 1);
    Lay(rows, columns, row, column, bits);
  }

  // Every element is a word of its own unless a stride is 0.
  void Lay(int64_t rows, int64_t columns, int64_t row, int64_t column, int bits) {
    const int64_t down = std::max<int64_t>(rows - 1, 0) * row;
    const int64_t right = std::max<int64_t>(columns - 1, 0) * column;
    const int64_t before = -std::min<int64_t>(down, 0) - std::min<int64_t>(right, 0);
    const int64_t count = before + std::max<int64_t>(down, 0) + std::max<int64_t>(right, 0) + 1;
    bytes.assign(count * (bits / 8) + offset, 0xa5);
    words = {bytes.data() + before * (bits / 8) + offset, row, column, bits};
  }

  Words view() const { return {words.data, words.row_stride, words.column_stride, words.bits}; }

  int offset = 0;  // in bytes: words need not be aligned
  std::vector<unsigned char> bytes;
  MutableWords words;
};

int WidthFor(const Format& f, Random& random) {
  int bits = f.bits <= 8 ? 8 : f.bits <= 16 ? 16 : f.bits <= 32 ? 32 : 64;
  while (bits < 64 && OneIn(random, 4)) bits *= 2;
  return bits;
}

Matrix RandomMatrix(int64_t rows, int64_t columns, const Format& f, Fill fill, Random& random) {
  Matrix matrix(rows, columns, WidthFor(f, random), random);
  if (OneIn(random, 10)) matrix.Lay(rows, columns, 0, 1, matrix.words.bits);
  if (OneIn(random, 10)) matrix.Lay(rows, columns, 1, 0, matrix.words.bits);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      Store(matrix.words, i, j, WordFor(f, fill, random));
    }
  }
  return matrix;
}

// A plan and operands for it.
struct Problem {
  std::string text;
  Plan plan;
  Matrices q;
  Matrix a, b, c, bias, scales[4];
};

std::string NameOf(const Problem& p) {
  return p.text + ", m n k " + std::to_string(p.q.m) + ' ' + std::to_string(p.q.n) + ' ' +
         std::to_string(p.q.k) + ", A " + p.q.a_format->name + ", B " + p.q.b_format->name;
}

bool Parse(const std::string& text, Plan* plan) {
  std::string error;
  const std::optional<Plan> parsed = ParsePlan(text, &error);
  EXPECT_TRUE(parsed) << text << ": " << error;
  if (parsed) *plan = *parsed;
  return parsed.has_value();
}

ScaleMatrix RandomScales(int64_t rows, int64_t k, const Format& f, int64_t k_each, Fill fill,
                         Random& random, Matrix& matrix) {
  ScaleMatrix scales = {{}, int64_t{1} << Between(random, 0, 2), k_each};
  matrix = RandomMatrix(rows / scales.rows_each + 1, k / k_each + 1, f, fill, random);
  scales.words = matrix.view();
  return scales;
}

struct Sizes3 {
  int64_t m, n, k;
};

std::unique_ptr<Problem> ProblemOf(const std::string& text, const Sizes3& sizes, Fill fill,
                                   Random& random, const Format* a = nullptr,
                                   const Format* b = nullptr) {
  auto p = std::make_unique<Problem>();
  p->text = text;
  if (!Parse(text, &p->plan)) return nullptr;
  const Model& m = p->plan.operation->model;
  const auto& [rows, columns, k] = sizes;
  p->q.m = rows, p->q.n = columns, p->q.k = k;
  p->q.a_format = a == nullptr ? &m.a : a;
  p->q.b_format = b == nullptr ? &m.b : b;
  p->a = RandomMatrix(rows, k, *p->q.a_format, fill, random);
  p->b = RandomMatrix(k, columns, *p->q.b_format, fill, random);
  p->c = RandomMatrix(rows, columns, m.d, fill, random);
  p->bias = RandomMatrix(1, columns, m.d, fill, random);
  const int64_t each = int64_t{1} << Between(random, 0, 7);
  p->q.scale_a = RandomScales(rows, k, m.d, each, fill, random, p->scales[0]);
  p->q.scale_b = RandomScales(columns, k, m.d, each, fill, random, p->scales[1]);
  if (m.scale_block != 0) {
    const int64_t block = OneIn(random, 4) ? Between(random, 1, 8) : m.scale_block;
    p->q.block_scale_a = RandomScales(rows, k, m.scale, block, fill, random, p->scales[2]);
    p->q.block_scale_b = RandomScales(columns, k, m.scale, block, fill, random, p->scales[3]);
  }
  p->q.a = p->a.view();
  p->q.b = p->b.view();
  p->q.c = p->c.view();
  p->q.bias = p->bias.view();
  p->q.alpha = WordFor(m.d, fill, random);
  p->q.beta = WordFor(m.d, fill, random);
  return p;
}

Execution RandomExecution(Random& random) {
  constexpr int64_t kTiles[] = {0, 0, 1, 3, 16, 17};
  return {Between(random, 1, 3), kTiles[random() % 6], kTiles[random() % 6], !OneIn(random, 3)};
}

// All words of Execute(), in a random layout, of which nothing else is written.
std::vector<uint64_t> Executed(const Problem& p, const Execution& execution, Random& random) {
  EXPECT_EQ(WhyNotMatrices(p.plan, p.q), "") << NameOf(p);
  Matrix d(p.q.m, p.q.n, WidthFor(*p.plan.epilogue.format, random), random);
  Execute(p.plan, p.q, d.words, execution);
  std::vector<uint64_t> words;
  for (int64_t i = 0; i < p.q.m; ++i) {
    for (int64_t j = 0; j < p.q.n; ++j) {
      words.push_back(Load(d.view(), i, j));
      Store(d.words, i, j, 0xa5a5a5a5a5a5a5a5);
    }
  }
  EXPECT_EQ(d.bytes, std::vector<unsigned char>(d.bytes.size(), 0xa5)) << NameOf(p);
  return words;
}

// Compares at most `elements` elements with the slow executor's.
void Compare(const Problem& p, int64_t elements, Random& random) {
  const std::vector<uint64_t> fast = Executed(p, RandomExecution(random), random);
  const int64_t count = std::ssize(fast);
  for (int64_t n = 0; n < std::min(elements, count); ++n) {
    const int64_t at = count <= elements ? n : static_cast<int64_t>(random() % count);
    ASSERT_EQ(fast[at], ReferencePlan(p.text, p.q, at / p.q.n, at % p.q.n))
        << std::hex << fast[at] << ' ' << NameOf(p) << ", element " << at;
  }
}

Fill RandomFill(Random& random) {
  constexpr Fill kFills[] = {Fill::kNearOne, Fill::kNearOne,  Fill::kNearOne, Fill::kWide,
                             Fill::kAny,     Fill::kSpecials, Fill::kZeros,   Fill::kNans};
  return kFills[random() % std::size(kFills)];
}

// Plans of public kernels, K at and around their ranges.
TEST(Execute, KernelsAsTheSlowExecutor) {
  Random random(1);
  for (const auto& [kernel, text] : kKernelPlans) {
    for (const int64_t k : {0, 1, 5, 64, 129, 200, 256, 301}) {
      for (int n = 0; n < 2; ++n) {
        const Sizes3 sizes = {Between(random, 1, 20), Between(random, 1, 20), k};
        const auto p = ProblemOf(text, sizes, n == 0 ? Fill::kNearOne : RandomFill(random), random);
        if (p) Compare(*p, 3, random);
        if (HasFatalFailure()) return;
      }
    }
  }
}

bool SameNumber(const reference::Number& x, const reference::Number& y) {
  const bool finite = x.kind <= reference::Class::kNormal;
  if (x.negative != y.negative || finite != (y.kind <= reference::Class::kNormal)) return false;
  if (!finite) return x.kind == y.kind;
  return Sign(x.value() + reference::Dyadic{-y.significand, y.ulp}) == 0;
}

// Every word of a format of up to 16 bits as one of every format that has all its numbers.
TEST(Execute, WidensExactly) {
  int pairs = 0;
  for (const Format* from : kFormats) {
    for (const Format* to : kFormats) {
      if (from->bits > 16 || !Holds(*to, *from)) continue;
      ++pairs;
      const Widening widening(*from, *to);
      for (uint64_t word = 0; word < uint64_t{1} << from->bits; ++word) {
        EXPECT_TRUE(SameNumber(reference::Read(*from, word), reference::Read(*to, widening(word))))
            << from->name << ' ' << to->name << ' ' << word;
      }
    }
  }
  EXPECT_GT(pairs, 20);
}

// A number for the ranges of `k` products.
std::string SizeFor(int64_t k, const Model& m, Random& random) {
  const int64_t sizes[] = {1, 2, 3, m.k, 2 * m.k, 16, k, k + 1};
  const int64_t size = OneIn(random, 2) ? sizes[random() % 8] : Between(random, 1, int(k) + 1);
  return ' ' + std::to_string(std::max<int64_t>(size, 1));
}

std::string RandomRange(int64_t k, const Model& m, Random& random) {
  const std::string count = ' ' + std::to_string(Between(random, 1, 6));
  const std::string size = SizeFor(k, m, random), other = SizeFor(k, m, random);
  switch (random() % 11) {
    case 9:
      return "every" + size + " fit";
    case 10:
      return "every" + size + " last " + std::to_string(std::stoll(size) + Between(random, 1, 9));
    case 7:
      return "every" + size + " halved";
    case 8:
      return "strided" + count + " of" + size + " unrolled" + other;
    case 0:
      return "every" + size;
    case 1:
      return "every" + size + " halved" + other;
    case 2:
      return "into" + count + " of" + size;
    case 3:
      return "into" + count + " of" + size + " floor";
    case 4:
      return "into" + count + " of" + size + " even";
    case 5:
      return "strided" + count + " of" + size;
    default:
      break;
  }
  std::string at = "at";
  for (int n = Between(random, 1, 3), last = 0; n > 0; --n) {
    at += ' ' + std::to_string(last += Between(random, 1, int(k) / 2 + 1));
  }
  return at;
}

// A join; the last one may begin with C.
std::string RandomJoin(const Model& m, bool last, Random& random) {
  if (IsInteger(m.d)) return OneIn(random, 2) ? "add" : "add from zero";
  constexpr const char* kJoins[] = {
      "add", "add from zero",       "tree",      "pairs",    "fma (a*b)", "fma a*b", "fma a*b",
      "add", "fma (a*b) from zero", "add alpha", "fma alpha"};
  constexpr const char* kFormatNames[] = {"f16", "bf16", "f32", "f64", "e4m3"};
  constexpr const char* kOfC[] = {"add from c",          "add from beta*c",
                                  "fma a*b from beta*c", "add alpha from beta*c",
                                  "fma alpha from c",    "fma alpha from beta*c",
                                  "add from fma beta*c", "add alpha from fma beta*c"};
  std::string join = last && OneIn(random, 3) ? kOfC[random() % std::size(kOfC)]
                                              : kJoins[random() % std::size(kJoins)];
  if (OneIn(random, 4)) join += std::string(" as ") + kFormatNames[random() % 5];
  if (OneIn(random, 4)) join += std::string(" held ") + kFormatNames[random() % 5];
  return join;
}

std::string RandomEpilogue(const Model& m, bool plain, Random& random) {
  if (IsInteger(m.d)) return m.d.name;
  constexpr const char* kResults[] = {"alpha*sum",
                                      "sum + beta*c",
                                      "fma(beta, c, sum)",
                                      "alpha*sum + beta*c",
                                      "fma(alpha, sum, beta*c)",
                                      "fma(beta, c, alpha*sum)",
                                      "(a*b)*sum",
                                      "b*(a*sum)",
                                      "a*(b*sum)",
                                      "fma(a*b, sum, bias)",
                                      "fma(b, a*sum, bias)",
                                      "fma(a, b*sum, bias)"};
  std::string text = OneIn(random, 2) ? kResults[random() % std::size(kResults)] : "sum";
  if (OneIn(random, 4) && !text.ends_with("bias)")) text += " + bias";
  plain = plain && text == "sum";
  text = text == "sum" ? "" : text + " | ";
  constexpr const char* kFormatNames[] = {"f32", "f16", "bf16", "f64", "e4m3", "e5m2"};
  return text + (m.d.bits == 16 && !plain ? m.d.name : kFormatNames[random() % 6]);
}

bool IsMultiplyAdd(const Model& m) { return m.algorithm.family == Family::kFmaChain && m.k == 1; }

std::string RandomTail(const Model& m, int64_t k, Random& random) {
  if (!OneIn(random, 4)) return "";
  const bool unfused = IsMultiplyAdd(m) && OneIn(random, 2);
  return " | tail" + SizeFor(k, m, random) + (unfused ? " unfused" : "");
}

std::string RandomPlan(const Operation& op, int64_t k, Random& random) {
  std::string text = op.name;
  const auto steps = [&](const char* word, int one_in) {
    return OneIn(random, one_in) ? word + SizeFor(k, op.model, random) : std::string();
  };
  const bool multiply_add = IsMultiplyAdd(op.model);
  if (multiply_add && OneIn(random, 4)) text += " unfused";
  const int stages = Between(random, 0, 5) % 4;
  const bool from_c = stages == 0 && OneIn(random, 3);
  if (from_c) text += " from c";
  text += steps(" | cut", 6) + steps(" | residue", 3);
  const bool lanes = multiply_add && !from_c && OneIn(random, 4);
  for (int i = 0; i < stages; ++i) {
    const bool last = i + 1 == stages && !lanes;
    text += " | " + RandomRange(k, op.model, random) + ": " + RandomJoin(op.model, last, random);
  }
  if (lanes) {
    text +=
        OneIn(random, 2) ? " | strided 8 of 1: pairs 2 4 1" : " | strided 4 of 1: tree held bf16";
  }
  const std::string tail = from_c ? "" : RandomTail(op.model, k, random);
  const bool plain = stages == 0 && !lanes && tail.empty();
  return text + tail + " | " + RandomEpilogue(op.model, plain, random);
}

// A format whose words become the operation's.
const Format* NarrowerThan(const Format& f, Random& random) {
  std::vector<const Format*> fitting;
  for (const Format* g : kFormats) {
    if (Holds(f, *g)) fitting.push_back(g);
  }
  if (f.bits == 32 && !IsInteger(f)) fitting.push_back(&kF32);
  return fitting.empty() || OneIn(random, 2) ? nullptr : fitting[random() % fitting.size()];
}

// Operations with a model of their own that plans can execute.
std::vector<const Operation*> PlanOperations() {
  std::vector<const Operation*> ops = DistinctOperations();
  std::erase_if(ops, [](const Operation* op) {
    Plan plan = {.operation = op, .stages = {}, .epilogue = {}};
    for (const Format* f : {&kF32, &kS32, &kF16}) {
      plan.epilogue.format = f;
      if (WhyNoPlan(plan).empty()) return false;
    }
    return true;
  });
  return ops;
}

TEST(Execute, EveryOperationAsTheSlowExecutor) {
  Random random(2);
  std::set<Family> families;
  for (const Operation* op : PlanOperations()) {
    families.insert(op->model.algorithm.family);
    for (int n = 0; n < 6; ++n) {
      const int64_t k = n == 0   ? Between(random, 128, 200)
                        : n == 1 ? Between(random, 0, 5)
                                 : Between(random, 1, std::min(3 * op->model.k + 3, 200));
      const Format* a = NarrowerThan(op->model.a, random);
      const Format* b = NarrowerThan(op->model.b, random);
      const auto p =
          ProblemOf(RandomPlan(*op, k, random), {Between(random, 1, 3), Between(random, 1, 3), k},
                    RandomFill(random), random, a, b);
      if (p) Compare(*p, 2, random);
      if (HasFatalFailure()) return;
    }
  }
  // All families and trees, but conversions, which have no addend.
  EXPECT_EQ(families.size(), size_t{kFamilyCount});
}

// More rows than lanes, more products than are taken at a time.
TEST(Execute, LargerShapesAsTheSlowExecutor) {
  Random random(3);
  for (const char* name :
       {"x86/vfmadd231ss", "sm_90/fma.rn.f32", "x86/vfmadd231sd", "sm_90/fma.rn.f64",
        "sm_70/mma.m8n8k4.f32.f16.f16.f32", "sm_80/mma.m16n8k8.f32.tf32.tf32.f32",
        "sm_80/mma.m16n8k16.f32.bf16.bf16.f32", "sm_80/mma.m16n8k16.f16.f16.f16.f16",
        "sm_90/mma.m16n8k32.f32.e4m3.e4m3.f32", "sm_89/mma.m16n8k32.f32.e4m3.e4m3.f32",
        "x86/tdpbf16ps", "gfx942/v_mfma_f32_16x16x16_f16", "sm_80/mma.m16n8k16.s32.s8.s8.s32",
        "sm_100/tcgen05.mma.m128n8k32.mxf8f6f4.f32.e4m3.e2m1.ue8m0"}) {
    const Operation* op = FindOperation(name);
    ASSERT_NE(op, nullptr) << name;
    for (int n = 0; n < 8; ++n) {
      const int64_t k = Between(random, 120, 400);
      const auto p =
          ProblemOf(RandomPlan(*op, k, random), {Between(random, 1, 40), Between(random, 1, 40), k},
                    RandomFill(random), random, NarrowerThan(op->model.a, random),
                    NarrowerThan(op->model.b, random));
      if (p) Compare(*p, 4, random);
      if (HasFatalFailure()) return;
    }
  }
}

// D of one row of A and ones in B, in f32. `scales` of A are for one k each.
float SumOf(const std::string& stages, const std::vector<float>& a,
            const std::vector<float>& scales = {}) {
  Plan plan;
  if (!Parse("sm_90/fma.rn.f32" + stages + " | f32", &plan)) return 0;
  const float one = 1;
  const auto words = [](const float* from, int64_t step) {
    return Words{reinterpret_cast<const unsigned char*>(from), 0, step, 32};
  };
  Matrices q;
  q.m = q.n = 1;
  q.k = std::ssize(a);
  q.a = words(a.data(), 1);
  q.b = words(&one, 0);
  q.a_format = q.b_format = &kF32;
  q.scale_a.words = words(scales.data(), 1);
  q.scale_b.words = words(&one, 0);
  const std::vector<int64_t> first = {0};
  const uint64_t word = ExecuteAt(plan, q, first, first)[0];
  EXPECT_EQ(word, ReferencePlan("sm_90/fma.rn.f32" + stages + " | f32", q, 0, 0)) << stages;
  return std::bit_cast<float>(static_cast<uint32_t>(word));
}

// Sums that show their order: a number below half an ulp is lost.
TEST(Execute, SumsInTheOrderOfTheText) {
  const float big = 0x1p24f;
  EXPECT_EQ(SumOf("", {big, 1, 1}), big);
  EXPECT_EQ(SumOf(" | every 1: add", {big, 1, 1}), big);
  EXPECT_EQ(SumOf("", {1, 1, big}), big + 2);
  EXPECT_EQ(SumOf(" | at 1: add", {big, 1, 1}), big + 2);
  EXPECT_EQ(SumOf(" | every 2: add", {big, 1, 1, 1}), big + 2);
  EXPECT_EQ(SumOf(" | residue 2", {big, 1, 1}), big);
  EXPECT_EQ(SumOf(" | cut 2", {1, 1, 1}), 2);
  EXPECT_EQ(SumOf(" | strided 2 of 1: add", {big, 1, -big, 1}), 2);
  EXPECT_EQ(SumOf(" | every 1: tree", {big, 1, -big, 1}), 2);     // 0 + 2, 1 + 3
  EXPECT_EQ(SumOf(" | every 1: tree", {big, 1, 1, -big, 1}), 3);  // 0 + 3, 1 + 4, 2
  EXPECT_EQ(SumOf(" | every 1: pairs", {big, -big, 1, 1, 1}), 3);
  EXPECT_EQ(SumOf(" | every 1: pairs", {1, 1, big, 1, 1}), big + 4);  // a tie: big + 3
  EXPECT_EQ(SumOf(" | every 1: add as f16", {1, 0x1p-12f, 1 + 0x1p-12f}), 2 + 0x1p-12f);
  EXPECT_EQ(SumOf(" | every 1: add held f16", {1, 0x1p-12f, 1 + 0x1p-12f}), 2);
  EXPECT_EQ(SumOf(" | every 1: add held f16", {40000, 40000, -40000}), INFINITY);
  EXPECT_EQ(SumOf(" | every 1: add", {40000, 40000, -40000}), 40000);
}

// Bits depend neither on threads nor on tiles nor on vectors.
TEST(Execute, BitsDependOnTheTextAlone) {
  Random random(4);
  for (const auto& [kernel, text] : kKernelPlans) {
    for (const Fill fill : {Fill::kNearOne, Fill::kSpecials}) {
      const auto p = ProblemOf(text, {37, 41, 301}, fill, random);
      if (!p) continue;
      const std::vector<uint64_t> words = Executed(*p, {}, random);
      for (const Execution& execution :
           {Execution{.threads = 3, .tile_rows = 5}, Execution{.tile_rows = 1, .tile_columns = 7},
            Execution{.threads = 2, .tile_columns = 16, .lanes = false}}) {
        EXPECT_EQ(Executed(*p, execution, random), words) << NameOf(*p);
      }
    }
  }
}

// In any order, with repetitions.
TEST(Execute, SomeElements) {
  Random random(5);
  for (const auto& [kernel, text] : kKernelPlans) {
    const auto p = ProblemOf(text, {37, 23, 301}, Fill::kSpecials, random);
    if (!p) continue;
    const std::vector<uint64_t> all = Executed(*p, {}, random);
    const std::vector<int64_t> rows = {36, 0, 17, 17, 3}, columns = {22, 5, 0, 5};
    const std::vector<uint64_t> some = ExecuteAt(p->plan, p->q, rows, columns);
    ASSERT_EQ(some.size(), rows.size() * columns.size());
    for (size_t r = 0; r < rows.size(); ++r) {
      for (size_t c = 0; c < columns.size(); ++c) {
        EXPECT_EQ(some[r * columns.size() + c], all[rows[r] * p->q.n + columns[c]])
            << NameOf(*p) << ", " << rows[r] << ' ' << columns[c];
      }
    }
    EXPECT_TRUE(ExecuteAt(p->plan, p->q, {}, columns).empty());
    EXPECT_TRUE(ExecuteAt(p->plan, p->q, rows, {}).empty());
  }
}

TEST(Execute, NothingToDo) {
  Random random(6);
  for (const auto& [kernel, text] : kKernelPlans) {
    for (const Sizes3& sizes : {Sizes3{0, 5, 7}, {5, 0, 7}, {0, 0, 0}}) {
      const auto p = ProblemOf(text, sizes, Fill::kNearOne, random);
      EXPECT_TRUE(p && Executed(*p, {.threads = 2}, random).empty()) << text;
    }
  }
  // Without products, a sum is +0 or C.
  const auto zero =
      ProblemOf("x86/vfmadd231ss | every 4: add as f16 | bf16", {2, 3, 0}, Fill::kNearOne, random);
  EXPECT_EQ(Executed(*zero, {}, random), std::vector<uint64_t>(6, 0));
  const auto c = ProblemOf("x86/vfmadd231ss from c | f32", {2, 3, 0}, Fill::kNearOne, random);
  EXPECT_EQ(Executed(*c, {}, random)[5], Load(c->q.c, 1, 2));
}

TEST(Execute, OnlyNans) {
  Random random(7);
  for (const auto& [kernel, text] : kKernelPlans) {
    const auto p = ProblemOf(text, {19, 5, 65}, Fill::kNans, random);
    if (!p) continue;
    for (const uint64_t word : Executed(*p, {}, random)) {
      EXPECT_TRUE(IsNan(*p->plan.epilogue.format, word)) << NameOf(*p) << ' ' << word;
    }
    Compare(*p, 5, random);
  }
}

struct Planted {
  const char *text, *planted;
  int64_t k;
  const char* why_equal;  // nullptr: the results differ
};

#define H "sm_90/wgmma.m64n8k16.f32.f16.f16"
#define E "sm_90/wgmma.m64n8k32.f32.e4m3.e4m3"
#define F "sm_90/fma.rn.f32"
constexpr Planted kPlanted[] = {
    // Joins.
    {E " | every 128: add | f32", E " | every 128: fma (a*b) | f32", 300, nullptr},
    {E " | every 128: fma (a*b) | f32", E " | every 128: fma a*b | f32", 300, nullptr},
    {F " | every 32: add | f32", F " | every 32: tree | f32", 90, nullptr},
    {F " | every 32: add | f32", F " | every 32: pairs | f32", 90, "pairs of three: 0 + 1, + 2"},
    {F " | every 32: add | f32", F " | every 32: pairs | f32", 120, nullptr},
    {F " | every 32: tree | f32", F " | every 32: pairs | f32", 120, nullptr},
    {F " | every 32: tree | f32", F " | every 32: add | f32", 60, "two parts have one sum"},
    {E " | every 128: add | f32", E " | every 128: add from zero | f32", 300,
     "only the sign of zero tells"},
    {H " | into 3 of 64: add as f16 | f32", H " | into 3 of 64: add held f16 | f32", 300, nullptr},
    {H " | into 3 of 64: add as f16 | f32", H " | into 3 of 64: add as bf16 | f32", 300, nullptr},
    {H " | into 3 of 64: add held f16 | f16", H " | into 3 of 64: add | f16", 300, nullptr},
    {H " | into 3 of 64: add held f32 | f32", H " | into 3 of 64: add | f32", 300,
     "sums are f32 already"},
    // Promotion intervals.
    {E " | every 128: add | f32", E " | every 64: add | f32", 300, nullptr},
    {E " | every 128: add | f32", E " | every 127: add | f32", 300, nullptr},
    {F " | every 32: add | f32", F " | every 32: add | every 64: add | f32", 90,
     "of three parts, the third is alone"},
    {F " | every 32: add | f32", F " | every 32: add | every 64: add | f32", 120, nullptr},
    {E " | every 128: add | f32", E " | every 128: tree | f32", 500,
     "f32 adds sums of 13 bits near each other exactly"},
    {E " | every 128: add | f32", E " | f32", 300, nullptr},
    {E " | every 128: add | f32", E " | f32", 128, "K is one range"},
    {E " | every 128: add | f32", E " | every 256: add | f32", 100, "K is one range"},
    // Ranges.
    {F " | every 96 halved 16: add | f32", F " | every 96: add | f32", 300, nullptr},
    {F " | every 96 halved 16: add | f32", F " | every 96: add | f32", 288, "nothing to halve"},
    {F " | every 96 halved 16: add | f32", F " | every 96 halved 8: add | f32", 300, nullptr},
    {H " | into 3 of 64: add | f32", H " | into 3 of 32: add | f32", 200, nullptr},
    {H " | into 3 of 64: add | f32", H " | into 3 of 32: add | f32", 192, "64 each"},
    {H " | into 3 of 64: add | f32", H " | into 2 of 64: add | f32", 300, nullptr},
    {H " | into 3 of 32: add | f32", H " | into 3 of 32 floor: add | f32", 230, nullptr},
    {H " | into 3 of 32: add | f32", H " | into 3 of 32 even: add | f32", 230, nullptr},
    {H " | into 3 of 32 floor: add | f32", H " | into 3 of 32 even: add | f32", 230, nullptr},
    {H " | into 3 of 32 floor: add | f32", H " | into 3 of 32 even: add | f32", 200,
     "two of six whole blocks each"},
    {H " | into 3 of 64: add | f32", H " | strided 3 of 64: add | f32", 300, nullptr},
    {H " | into 3 of 64: add | f32", H " | strided 3 of 64: add | f32", 170, "a block each"},
    {H " | at 64 192: add | f32", H " | at 64 128: add | f32", 300, nullptr},
    {H " | at 64 192: add | f32", H " | at 64: add | f32", 192, "no range begins at K"},
    {F " | every 8: add | into 4 of 1: add | f32", F " | into 4 of 1: add | every 8: add | f32",
     300, nullptr},
    {F " | every 8: add | strided 4 of 1: add | f32",
     F " | strided 4 of 1: add | every 8: add | f32", 300, nullptr},
    // Residues and lost tails.
    {H " | residue 32 | f32", H " | f32", 300, nullptr},
    {H " | residue 32 | f32", H " | f32", 320, "both residues are whole executions"},
    {H " | residue 32 | f32", H " | residue 64 | f32", 300, nullptr},
    {H " | residue 32 | f32", H " | residue 64 | f32", 200, "200 mod 32 = 200 mod 64"},
    {H " | residue 32 | f32", H " | residue 31 | f32", 300, nullptr},
    {F " | residue 32 | f32", F " | f32", 300, "executions have one product"},
    {H " | cut 64 | f32", H " | f32", 300, nullptr},
    {H " | cut 64 | f32", H " | f32", 320, "64 divides K"},
    // Operations and epilogues.
    {H " | f32", "sm_80/mma.m16n8k16.f32.f16.f16.f32 | f32", 300, nullptr},
    {H " | f32", "sm_90/mma.m16n8k16.f32.f16.f16.f32 | f32", 300, "one arithmetic on sm_90"},
    {"x86/tdpbf16ps | f32", "x86/vdpbf16ps | f32", 300, nullptr},
    {H " from c | f32", H " | sum + beta*c | f32", 300, nullptr},
    {F " | sum + beta*c | f32", F " | fma(beta, c, sum) | f32", 30, nullptr},
    {F " | alpha*sum + beta*c | f32", F " | fma(beta, c, alpha*sum) | f32", 30, nullptr},
    {F " | alpha*sum + beta*c | f32", F " | fma(alpha, sum, beta*c) | f32", 30, nullptr},
    {F " | fma(beta, c, alpha*sum) | f32", F " | fma(alpha, sum, beta*c) | f32", 30, nullptr},
    {F " | every 8: add alpha | f32", F " | every 8: fma alpha | f32", 30, nullptr},
    {F " | every 8: add alpha | f32", F " | every 8: add | alpha*sum | f32", 30, nullptr},
    {F " | every 8: add alpha | f32", F " | every 8: fma alpha | f32", 8, "only a product"},
    {F " | every 8: add from beta*c | f32", F " | every 8: add from c | f32", 30, nullptr},
    {F " | every 8: add from beta*c | f32", F " | every 8: add from fma beta*c | f32", 30, nullptr},
    {F " | every 8: add from beta*c | f32", F " | every 8: add | sum + beta*c | f32", 30, nullptr},
    {F " | every 8: fma alpha from beta*c | f32", F " | fma(alpha, sum, beta*c) | f32", 8,
     "one part"},
    {F " | every 8: add alpha from fma beta*c | f32", F " | fma(beta, c, alpha*sum) | f32", 8,
     "one part"},
    {H " | alpha*sum | f32", H " | f32", 300, nullptr},
    {H " | sum + bias | f32", H " | f32", 300, nullptr},
    {H " | alpha*sum + bias | f32", H " | fma(alpha, sum, beta*c) | f32", 300, nullptr},
    {H " | f16", H " | bf16", 300, nullptr},
};
#undef H
#undef E
#undef F

// Operands whose elements are all random.
std::unique_ptr<Problem> DenseProblem(const std::string& text, int64_t k, Random& random) {
  const auto dense = [](const Words& w) { return w.row_stride != 0 && w.column_stride != 0; };
  while (true) {
    auto p = ProblemOf(text, {40, 40, k}, Fill::kNearOne, random);
    if (!p || (dense(p->q.a) && dense(p->q.b))) return p;
  }
}

// A plan with a fault gives other results than the slow executor without it, unless it is no fault.
TEST(Execute, PlantedFaults) {
  Random random(8);
  for (const Planted& t : kPlanted) {
    const auto p = DenseProblem(t.text, t.k, random);
    Problem planted;
    if (!p || !Parse(t.planted, &planted.plan)) continue;
    planted.q = p->q;
    const std::vector<uint64_t> right = Executed(*p, {}, random);
    const std::vector<uint64_t> wrong = Executed(planted, {}, random);
    const auto [first, other] = std::ranges::mismatch(right, wrong);
    const bool equal = first == right.end();
    EXPECT_EQ(equal, t.why_equal != nullptr) << t.planted << " instead of " << NameOf(*p);
    const int64_t at = equal ? 0 : first - right.begin();
    EXPECT_EQ(ReferencePlan(t.text, p->q, at / p->q.n, at % p->q.n), right[at]) << NameOf(*p);
  }
}

// The sign of zero tells whether a sum begins with zero.
TEST(Execute, FromZero) {
  EXPECT_TRUE(std::signbit(SumOf(" | every 1: add as f16", {-0x1p-40f})));
  EXPECT_FALSE(std::signbit(SumOf(" | every 1: add from zero as f16", {-0x1p-40f})));
  // So do products of scales: -0 here.
  EXPECT_TRUE(std::signbit(SumOf(" | every 1: fma (a*b) held f16", {-0x1p-40f, 1}, {1, -0.0f})));
  EXPECT_TRUE(std::signbit(SumOf(" | every 1: fma a*b held f16", {-0x1p-40f, 1}, {1, -0.0f})));
}

// The ranges of an element, and the sum after each, end in its result.
TEST(TraceAt, EndsInTheResult) {
  const int64_t k = 20;
  std::vector<float> a(3 * k), b(k * 2);
  for (int64_t i = 0; i < 3 * k; ++i) a[i] = 1 + static_cast<float>(i % 7) / 3;
  for (int64_t i = 0; i < 2 * k; ++i) b[i] = 1 - static_cast<float>(i % 5) / 3;
  Matrices q;
  q.m = 3, q.n = 2, q.k = k;
  q.a = {reinterpret_cast<const unsigned char*>(a.data()), k, 1, 32};
  q.b = {reinterpret_cast<const unsigned char*>(b.data()), 2, 1, 32};
  q.a_format = q.b_format = &kF32;
  const auto trace = [&](const char* text) {
    std::string error;
    return TraceAt(*ParsePlan(text, &error), q, 2, 1);
  };
  const TracedElement t = trace("x86/vfmadd231ss | every 8: add | f16");
  ASSERT_EQ(t.ranges.size(), 3u);
  EXPECT_EQ(t.ranges[1].ks, (Pieces{{8, 16}}));
  EXPECT_EQ(t.ranges[0].sum, t.ranges[0].joined);
  EXPECT_EQ(t.ranges[2].joined, t.sum);
  EXPECT_EQ(t.sum, trace("x86/vfmadd231ss | every 8: add | f32").result);
  EXPECT_EQ(t.result, ReferencePlan("x86/vfmadd231ss | every 8: add | f16", q, 2, 1));
  const TracedElement two = trace("x86/vfmadd231ss | strided 2 of 1: add | every 8: add | f32");
  ASSERT_EQ(two.ranges.size(), 9u);  // two lanes, then their range, three times
  EXPECT_EQ(two.ranges[0].stage, 0u);
  EXPECT_EQ(two.ranges[1].joined, two.ranges[2].sum);
  EXPECT_EQ(two.ranges[2].stage, 1u);
}

TEST(WhyNotMatrices, SaysWhatToGive) {
  Random random(9);
  const auto why = [&random](const std::string& text, auto change) {
    const auto p = ProblemOf(text, {2, 3, 40}, Fill::kNearOne, random);
    if (!p) return std::string();
    EXPECT_EQ(WhyNotMatrices(p->plan, p->q), "");
    change(p->q);
    return WhyNotMatrices(p->plan, p->q);
  };
  const std::string f32 = "sm_90/fma.rn.f32", f16 = "sm_80/mma.m16n8k16.f32.f16.f16.f32";
  const std::string scaled = "sm_100/tcgen05.mma.m128n8k32.mxf8f6f4.f32.e4m3.e4m3.ue8m0 | f32";
  EXPECT_EQ(why(f16 + " | f32", [](Matrices& q) { q.a_format = &kBf16; }),
            "A has the format bf16, but the operation takes f16, which lacks some of its numbers: "
            "round it first");
  EXPECT_EQ(why(f16 + " | f32", [](Matrices& q) { q.b_format = &kS8; }),
            "B has the format s8, but the operation takes f16: convert it first");
  EXPECT_EQ(why("sm_90/fma.rn.f32 | f32", [](Matrices& q) { q.a_format = &kTf32; }), "");
  // 0x80 is a NaN in e4m3fnuz.
  EXPECT_NE(
      why("gfx942/v_mfma_f32_16x16x32_fp8_fp8 | f32", [](Matrices& q) { q.b_format = &kE2m1; }),
      "");
  EXPECT_EQ(why(f32 + " | f32", [](Matrices& q) { q.a = {}; }), "missing: A, which the plan reads");
  EXPECT_EQ(why(f32 + " | f32", [](Matrices& q) { q.k = 0, q.b = {}; }), "");
  EXPECT_EQ(why(f32 + " | f32", [](Matrices& q) { q.m = -1; }), "m, n and k must not be negative");
  EXPECT_EQ(why(f32 + " | every 4: fma a*b | f32", [](Matrices& q) { q.scale_a = {}; }),
            "missing: scales of A (scale_a), which the plan reads");
  EXPECT_EQ(why(f32 + " | every 4: fma a*b | f32", [](Matrices& q) { q.scale_b.k_each = 0; }),
            "a scale is for at least one row and one k");
  EXPECT_EQ(why(scaled, [](Matrices& q) { q.block_scale_b = {}; }),
            "missing: block scales of B (block_scale_b), which the plan reads");
  EXPECT_EQ(why(f32 + " from c | f32", [](Matrices& q) { q.c = {}; }),
            "missing: C, which the plan reads");
  EXPECT_EQ(why(f32 + " | sum + beta*c | f32", [](Matrices& q) { q.c = {}; }),
            "missing: C, which the plan reads");
  EXPECT_EQ(why(f32 + " | sum + bias | f32", [](Matrices& q) { q.bias = {}; }),
            "missing: a bias, which the plan reads");
  EXPECT_EQ(why(f32 + " | f32", [](Matrices& q) { q.b.bits = 16; }),
            "B: words of f32 have 8, 16, 32 or 64 bits, at least 32, not 16");
  EXPECT_EQ(why(f32 + " | sum + bias | f32", [](Matrices& q) { q.bias.bits = 48; }),
            "a bias: words of f32 have 8, 16, 32 or 64 bits, at least 32, not 48");
}

}  // namespace
}  // namespace mmadiff

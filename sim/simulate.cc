#include "sim/simulate.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "sim/absent_addend.h"
#include "sim/dot_product.h"
#include "sim/lanes/lanes.h"
#include "sim/reading.h"
#include "sim/sparsity.h"
#include "sim/tree/tree_sum.h"

namespace mmadiff {
namespace {

void DecodeAll(const Format& format, const uint64_t* words, int64_t count, Unpacked* out) {
  const Format f = format;  // a copy: its columns stay in registers
  for (int64_t i = 0; i < count; ++i) out[i] = Decode(f, words[i]);
}

// `rows` rows, each with m.k elements of `format` and m.scales() scales.
void DecodeRows(const Model& m, const Format& format, const uint64_t* words, int64_t rows,
                Unpacked* out) {
  if (m.scale_block == 0) return DecodeAll(format, words, rows * m.k, out);
  const int row = m.k + m.scales();
  for (int64_t i = 0; i < rows; ++i, words += row, out += row) {
    DecodeAll(format, words, m.k, out);
    DecodeAll(m.scale, words + m.k, m.scales(), out + m.k);
  }
}

void SimulateIntegers(const Model& m, const Batch& batch, std::span<uint64_t> d) {
  NullTrace trace;
  const Shape& s = batch.shape;
  for (int64_t index = 0; index < batch.dot_products(); ++index) {
    const int64_t block = index / (s.m * s.n);
    const int in_block = static_cast<int>(index % (s.m * s.n));
    d[index] = IntegerDot(m, &batch.a[(block * s.m + in_block / s.n) * s.k],
                          &batch.b[(block * s.n + in_block % s.n) * s.k], batch.c[index], trace);
  }
}

// Rows of A and columns of B are decoded once for all the dot products that share them.
void SimulateFloats(const Model& model, const Batch& batch, std::span<uint64_t> d) {
  const Model m = model;  // a copy, which the results cannot overwrite
  NullTrace trace;
  const Shape& s = batch.shape;
  // A portion of the blocks at a time, small enough to stay in the cache.
  const int64_t blocks = batch.count * s.blocks;
  const int row = s.row_words();
  const int64_t portion = std::max(1, 1024 / ((s.m + s.n) * row));
  std::vector<Unpacked> a(portion * s.m * row), b(portion * s.n * row);
  int64_t index = 0;
  for (int64_t first = 0; first < blocks; first += portion) {
    const int64_t count = std::min(portion, blocks - first);
    DecodeRows(m, m.a, &batch.a[first * s.m * row], count * s.m, a.data());
    DecodeRows(m, m.b, &batch.b[first * s.n * row], count * s.n, b.data());
    for (int64_t block = 0; block < count; ++block) {
      for (int i = 0; i < s.m; ++i) {
        for (int j = 0; j < s.n; ++j, ++index) {
          d[index] = FloatDotProduct(m, &a[(block * s.m + i) * row], &b[(block * s.n + j) * row],
                                     batch.c[index], trace);
        }
      }
    }
  }
}

// Apart, because it is neither small nor fast.
[[gnu::noinline]] void SimulateTrees(const Model& m, const Batch& batch, std::span<uint64_t> d) {
  NullTrace trace;
  const Shape& s = batch.shape;
  const int row = s.row_words();
  std::vector<Unpacked> a(s.m * row), b(s.n * row);
  const auto decode = [&](const Format& format, const uint64_t* words, std::vector<Unpacked>& out) {
    for (size_t i = 0; i < out.size(); ++i) {
      out[i] = DecodeAny(static_cast<int>(i) % row < m.k ? format : m.scale, words[i]);
    }
  };
  int64_t index = 0;
  for (int64_t block = 0; block < batch.count * s.blocks; ++block) {
    decode(m.a, &batch.a[block * s.m * row], a);
    decode(m.b, &batch.b[block * s.n * row], b);
    for (int i = 0; i < s.m; ++i) {
      for (int j = 0; j < s.n; ++j, ++index) {
        d[index] = TreeSum(m, &a[i * row], &b[j * row], batch.c[index], trace);
      }
    }
  }
}

void SimulateChains(const Model& m, const Batch& batch, std::span<uint64_t> d) {
  for (int64_t i = 0; i < batch.dot_products(); ++i) d[i] = Simulate(m, Extract(batch, i));
}

void SimulateBatch(const Model& m, const Batch& batch, std::span<uint64_t> d) {
  if (m.executions > 1) return SimulateChains(m, batch, d);
  m.algorithm.family == Family::kIntegerDot ? SimulateIntegers(m, batch, d)
                                            : SimulateFloats(m, batch, d);
}

// Uses the shifts and the leading-zero count of x86-64-v3 where g++ can select them; results are
// the same. (`target_clones` with arch=haswell selects only Haswell itself.)
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
[[gnu::target("bmi,bmi2,lzcnt"), gnu::flatten]] void SimulateWithBmi(const Model& m,
                                                                     const Batch& batch,
                                                                     std::span<uint64_t> d) {
  SimulateBatch(m, batch, d);
}

void SimulateScalar(const Model& m, const Batch& batch, std::span<uint64_t> d) {
  static const bool has_bmi = __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                              __builtin_cpu_supports("lzcnt");
  has_bmi ? SimulateWithBmi(m, batch, d) : SimulateBatch(m, batch, d);
}
#else
[[gnu::flatten]] void SimulateScalar(const Model& m, const Batch& batch, std::span<uint64_t> d) {
  SimulateBatch(m, batch, d);
}
#endif

// nullptr if unavailable or not worthwhile.
const LaneTarget* LanesFor(const Model& m, const Batch& batch) {
  static const std::span<const LaneTarget> targets = LaneTargets();
  if (targets.empty() || m.executions > 1) return nullptr;
  const int lanes = targets[0].LanesFor(targets[0].WidthFor(m));
  const int64_t rows = batch.count * batch.shape.blocks * batch.shape.m;
  return lanes > 0 && rows >= lanes ? &targets[0] : nullptr;
}

}  // namespace

void RequireModel(const Model& m) {
  if (m.algorithm.family == Family::kNone) {
    std::fputs("an operation without a model cannot be simulated\n", stderr);
    std::abort();  // the caller did not check IsModelled(): programmer error
  }
  if (m.k >= 1 && m.k <= kMaxK && m.scales() <= m.k && m.executions >= 1) return;
  std::fprintf(stderr, "a model has 1 to %d products, not %d; longer sums are plans (sim/plan)\n",
               kMaxK, m.k);
  std::abort();  // the caller did not check WhyInvalid(): programmer error
}

void Simulate(const Model& m, const Batch& batch, std::span<uint64_t> d) {
  RequireModel(m);
  if (IsSparse(m)) return Simulate(SelectedModel(m), Selected(m, batch), d);
  if (HasReadings(m)) return Simulate(WithoutReadings(m), WordsRead(m, batch), d);
  if (HasNoAddend(m)) {
    Batch with = batch;
    std::ranges::fill(with.c, NeutralAddend(m));
    return Simulate(WithNeutralAddend(m), with, d);
  }
  if (const LaneTarget* target = LanesFor(m, batch)) return target->Simulate(m, batch, d);
  if (m.algorithm.family == Family::kTree && m.executions == 1) return SimulateTrees(m, batch, d);
  SimulateScalar(m, batch, d);
}

uint64_t Simulate(const Model& m, const DotProductCase& dot) {
  RequireModel(m);
  if (IsSparse(m)) return Simulate(SelectedModel(m), Selected(m, dot));
  if (HasReadings(m)) return Simulate(WithoutReadings(m), WordsRead(m, dot));
  NullTrace trace;
  return DotProduct(m, dot.a.data(), dot.b.data(), dot.c, trace);
}

}  // namespace mmadiff

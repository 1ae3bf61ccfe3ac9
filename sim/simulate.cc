#include "sim/simulate.h"

#include "sim/dot_product.h"

namespace mmadiff {
namespace {

struct Recorder {
  std::vector<Event> events;
  void operator()(const Event& e) { events.push_back(e); }
};

void DecodeAll(const Format& f, const uint64_t* words, int count, std::vector<Unpacked>& out) {
  out.resize(count);
  for (int i = 0; i < count; ++i) out[i] = Decode(f, words[i]);
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

}  // namespace

// Rows of A and columns of B are decoded once for all the dot products that share them.
void Simulate(const Model& m, const Batch& batch, std::span<uint64_t> d) {
  if (m.algorithm.family == Family::kIntegerDot) return SimulateIntegers(m, batch, d);
  NullTrace trace;
  const Shape& s = batch.shape;
  std::vector<Unpacked> a, b;
  int64_t index = 0;
  for (int64_t block = 0; block < batch.count * s.blocks; ++block) {
    DecodeAll(m.a, &batch.a[block * s.m * s.k], s.m * s.k, a);
    DecodeAll(m.b, &batch.b[block * s.n * s.k], s.n * s.k, b);
    for (int i = 0; i < s.m; ++i) {
      for (int j = 0; j < s.n; ++j, ++index) {
        d[index] = FloatDotProduct(m, &a[i * s.k], &b[j * s.k], batch.c[index], trace);
      }
    }
  }
}

uint64_t Simulate(const Model& m, const DotProductCase& dot) {
  NullTrace trace;
  return DotProduct(m, dot.a.data(), dot.b.data(), dot.c, trace);
}

std::vector<Event> TraceStages(const Model& m, const DotProductCase& dot) {
  Recorder recorder;
  DotProduct(m, dot.a.data(), dot.b.data(), dot.c, recorder);
  return recorder.events;
}

}  // namespace mmadiff

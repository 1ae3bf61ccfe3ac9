#include "sim/batch.h"

#include <algorithm>

namespace mmadiff {

void Batch::Append(const Batch& more) {
  shape = more.shape;
  count += more.count;
  a.insert(a.end(), more.a.begin(), more.a.end());
  b.insert(b.end(), more.b.begin(), more.b.end());
  c.insert(c.end(), more.c.begin(), more.c.end());
  metadata.insert(metadata.end(), more.metadata.begin(), more.metadata.end());
  stream.clear();
}

Position PositionOf(const Shape& shape, int64_t index) {
  const int in_block = static_cast<int>(index % (shape.m * shape.n));
  return {static_cast<int>(index / (shape.m * shape.n)), in_block / shape.n, in_block % shape.n};
}

int64_t IndexOf(const Shape& shape, const Position& p) {
  return (static_cast<int64_t>(p.block) * shape.m + p.i) * shape.n + p.j;
}

DotProductCase Extract(const Batch& batch, int64_t index) {
  const Shape& s = batch.shape;
  const int64_t execution = index / s.d_words();
  const Position p = PositionOf(s, index % s.d_words());
  const int words = s.row_words();
  const uint64_t* a = &batch.a[((execution * s.blocks + p.block) * s.m + p.i) * words];
  const uint64_t* b = &batch.b[((execution * s.blocks + p.block) * s.n + p.j) * words];
  const auto metadata =
      batch.metadata.begin() + ((execution * s.blocks + p.block) * s.m + p.i) * s.groups;
  return {{a, a + words}, {b, b + words}, batch.c[index], {metadata, metadata + s.groups}};
}

Batch Slice(const Batch& batch, int64_t execution) {
  const Shape& s = batch.shape;
  const auto part = [execution](const std::vector<uint64_t>& words, int64_t n) {
    return std::vector<uint64_t>(words.begin() + execution * n,
                                 words.begin() + (execution + 1) * n);
  };
  return {s,
          1,
          part(batch.a, s.a_words()),
          part(batch.b, s.b_words()),
          part(batch.c, s.d_words()),
          batch.stream,
          batch.first + execution,
          part(batch.metadata, s.metadata_words())};
}

void Insert(const DotProductCase& dot, int64_t execution, const Position& p, Batch& batch) {
  const Shape& s = batch.shape;
  const int64_t block = execution * s.blocks + p.block;
  std::ranges::copy(dot.a, &batch.a[(block * s.m + p.i) * s.row_words()]);
  std::ranges::copy(dot.b, &batch.b[(block * s.n + p.j) * s.row_words()]);
  batch.c[execution * s.d_words() + IndexOf(s, p)] = dot.c;
  if (s.groups == 0) return;
  const auto metadata = batch.metadata.begin() + (block * s.m + p.i) * s.groups;
  std::fill_n(metadata, s.groups, 0);
  std::ranges::copy(dot.metadata, metadata);
}

Batch MakeDotProductBatch(const Shape& shape, const std::vector<DotProductCase>& dots) {
  Batch batch;
  batch.Resize(DotProductShape(shape), static_cast<int64_t>(dots.size()));
  for (size_t i = 0; i < dots.size(); ++i) Insert(dots[i], static_cast<int64_t>(i), {}, batch);
  return batch;
}

}  // namespace mmadiff

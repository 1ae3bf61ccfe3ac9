#include "device/gpu/fragments.h"

#include <algorithm>
#include <span>

#include "sim/sparsity.h"

namespace mmadiff {
namespace {

// Writes a word into the words of one execution; bits that do not fit continue in the next word.
void Put(uint64_t value, int bits, int word, int bit, uint32_t* words) {
  words[word] |= static_cast<uint32_t>(value) << bit;
  if (bit + bits > 32) words[word + 1] |= static_cast<uint32_t>(value >> (32 - bit));
}

uint64_t Get(const uint32_t* words, int bits, int word, int bit) {
  uint64_t value = words[word] >> bit;
  if (bit + bits > 32) value |= static_cast<uint64_t>(words[word + 1]) << (32 - bit);
  return value & LowBits(bits);
}

// Copies the words that an operand needs twice, in all executions.
void Repeat(const OperandWords& o, int64_t executions, std::vector<uint32_t>& words) {
  for (int64_t i = 0; i < executions && !o.copies.empty(); ++i) {
    uint32_t* const first = &words[i * o.words];
    for (const OperandWords::Copy& copy : o.copies) first[copy.to] = first[copy.from];
  }
}

}  // namespace

int64_t Fragments::Executions(const Batch& batch) const {
  if (batch.shape == shape_) return batch.count;
  return (batch.count + DotProductsAtATime() - 1) / DotProductsAtATime();
}

PackedOperands Fragments::Pack(const Batch& batch, int64_t first, int64_t count) const {
  PackedOperands p;
  p.a.resize(count * kernel_.a.words);
  p.b.resize(count * kernel_.b.words);
  p.c.resize(count * kernel_.c.words);
  const Instruction& in = instruction_;
  const int row = shape_.row_words();
  // Writes `words` consecutive words of the batch to the slots from `slot` on, in execution i.
  const auto put = [row](const OperandWords& o, const Format& f, const Format& scale, int k,
                         const uint64_t* from, int words, int slot, int64_t i, uint32_t* to) {
    for (int w = 0; w < words; ++w) {
      const int bits = (w % row < k ? f : scale).bits;
      Put(from[w], bits, o.slots[slot + w].word, o.slots[slot + w].bit, to + i * o.words);
    }
  };
  // The same for a sparse A; half of `words` are stored.
  const int group = in.sparse() ? shape_.k / shape_.groups : 1;
  const std::vector<uint64_t> all_metadata = StoredMetadata(batch);
  const auto put_sparse = [&](int64_t first_row, int rows, int slot, uint32_t* to) {
    for (int g = 0; g < rows * shape_.groups; ++g) {
      const uint64_t metadata = all_metadata[first_row * shape_.groups + g];
      const uint64_t* const from = &batch.a[first_row * row + g * group];
      for (int n = 0; n < group / 2; ++n) {
        const Slot& value = kernel_.a.slots[(slot + g * group) / 2 + n];
        Put(from[StoredPosition(group, metadata, n)], in.a->bits, value.word, value.bit, to);
      }
      const Slot& word = kernel_.a.metadata[slot / group + g];
      Put(metadata, kMetadataFormat.bits, word.word, word.bit, to);
    }
  };
  const Format& scale = in.scale == nullptr ? *in.a : *in.scale;
  for (int64_t i = 0; i < count; ++i) {
    const auto put_all = [&](int64_t x, int rows, int columns, int results, int at_a, int at_b,
                             int at_c) {
      if (in.sparse()) {
        put_sparse(x * rows, rows, at_a, &p.a[i * kernel_.a.words]);
      } else {
        put(kernel_.a, *in.a, scale, shape_.k, &batch.a[x * rows * row], rows * row, at_a, i,
            p.a.data());
      }
      put(kernel_.b, *in.b, scale, shape_.k, &batch.b[x * columns * row], columns * row, at_b, i,
          p.b.data());
      put(kernel_.c, *in.c, *in.c, row, &batch.c[x * results], results, at_c, i, p.c.data());
    };
    if (batch.shape == shape_) {
      put_all(first + i, shape_.blocks * shape_.m, shape_.blocks * shape_.n, shape_.d_words(), 0, 0,
              0);
      continue;
    }
    for (int slot = 0; slot < DotProductsAtATime(); ++slot) {
      const int64_t x = (first + i) * DotProductsAtATime() + slot;
      if (x >= batch.count) break;
      const int block = slot / Diagonal(), e = slot % Diagonal();
      put_all(x, 1, 1, 1, (block * shape_.m + e) * row, (block * shape_.n + e) * row,
              static_cast<int>(IndexOf(shape_, {block, e, e})));
    }
  }
  Repeat(kernel_.a, count, p.a);
  Repeat(kernel_.b, count, p.b);
  return p;
}

void Fragments::Unpack(const Batch& batch, int64_t first, int64_t count,
                       const std::vector<uint32_t>& d, uint64_t* results) const {
  const int bits = instruction_.d->bits;
  const auto get = [&](int64_t i, int64_t element) {
    const Slot& s = kernel_.d.slots[element];
    return Get(&d[i * kernel_.d.words], bits, s.word, s.bit);
  };
  for (int64_t i = 0; i < count; ++i) {
    if (batch.shape == shape_) {
      const int64_t words = shape_.d_words();
      for (int64_t w = 0; w < words; ++w) results[(first + i) * words + w] = get(i, w);
      continue;
    }
    for (int slot = 0; slot < DotProductsAtATime(); ++slot) {
      const int64_t x = (first + i) * DotProductsAtATime() + slot;
      if (x >= batch.count) break;
      const int e = slot % Diagonal();
      results[x] = get(i, IndexOf(shape_, {slot / Diagonal(), e, e}));
    }
  }
}

}  // namespace mmadiff

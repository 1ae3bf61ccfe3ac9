#include "device/cuda/fragments.h"

#include <algorithm>

namespace mmadiff {
namespace {

constexpr int kLanes = 32;

// A word into the registers of one execution; 64-bit words take two of them.
void Put(uint64_t word, int bits, int reg, int bit, uint32_t* registers) {
  registers[reg] |= static_cast<uint32_t>(word) << bit;
  if (bits == 64) registers[reg + 1] |= static_cast<uint32_t>(word >> 32);
}

uint64_t Get(const uint32_t* registers, int bits, int reg, int bit) {
  uint64_t word = registers[reg] >> bit;
  if (bits == 64) word |= static_cast<uint64_t>(registers[reg + 1]) << 32;
  return word & LowBits(bits);
}

}  // namespace

Fragments::Fragments(const Instruction& instruction)
    : instruction_(instruction),
      shape_(instruction.shape),
      diagonal_(std::min(shape_.m, shape_.n)),
      registers_(RegistersOf(instruction)),
      a_(MapOf(Operand::kA, registers_.a)),
      b_(MapOf(Operand::kB, registers_.b)),
      c_(MapOf(Operand::kC, registers_.c)),
      d_(MapOf(Operand::kD, registers_.d)) {}

Fragments::Map Fragments::MapOf(Operand operand, int registers) const {
  Map map;
  for (const Element& e : Elements(instruction_, operand)) {
    const Place p = PlaceOf(instruction_, operand, e);
    map.push_back({p.lane * registers + p.reg, p.bit});
  }
  if (operand != Operand::kB) return map;
  // Elements come row by row, a Batch holds columns.
  Map columns;
  for (int block = 0; block < shape_.blocks; ++block) {
    for (int n = 0; n < shape_.n; ++n) {
      for (int k = 0; k < shape_.k; ++k) {
        columns.push_back(map[(block * shape_.k + k) * shape_.n + n]);
      }
    }
  }
  return columns;
}

int64_t Fragments::Executions(const Batch& batch) const {
  if (batch.shape == shape_) return batch.count;
  return (batch.count + DotProductsAtATime() - 1) / DotProductsAtATime();
}

Registers Fragments::Pack(const Batch& batch, int64_t first, int64_t count) const {
  Registers r;
  r.a.resize(count * kLanes * registers_.a);
  r.b.resize(count * kLanes * registers_.b);
  r.c.resize(count * kLanes * registers_.c);
  const Format &a = *instruction_.a, &b = *instruction_.b, &c = *instruction_.c;
  const auto put = [](const Format& f, const Map& map, int64_t words, const uint64_t* from,
                      int64_t at, uint32_t* to) {
    for (int64_t w = 0; w < words; ++w) Put(from[w], f.bits, map[at + w].reg, map[at + w].bit, to);
  };
  for (int64_t i = 0; i < count; ++i) {
    uint32_t* ra = &r.a[i * kLanes * registers_.a];
    uint32_t* rb = &r.b[i * kLanes * registers_.b];
    uint32_t* rc = &r.c[i * kLanes * registers_.c];
    if (batch.shape == shape_) {
      const int64_t x = first + i;
      put(a, a_, shape_.a_words(), &batch.a[x * shape_.a_words()], 0, ra);
      put(b, b_, shape_.b_words(), &batch.b[x * shape_.b_words()], 0, rb);
      put(c, c_, shape_.d_words(), &batch.c[x * shape_.d_words()], 0, rc);
      continue;
    }
    for (int slot = 0; slot < DotProductsAtATime(); ++slot) {
      const int64_t x = (first + i) * DotProductsAtATime() + slot;
      if (x >= batch.count) break;
      const int block = slot / diagonal_, e = slot % diagonal_;
      put(a, a_, shape_.k, &batch.a[x * shape_.k], (block * shape_.m + e) * shape_.k, ra);
      put(b, b_, shape_.k, &batch.b[x * shape_.k], (block * shape_.n + e) * shape_.k, rb);
      put(c, c_, 1, &batch.c[x], IndexOf(shape_, {block, e, e}), rc);
    }
  }
  return r;
}

void Fragments::Unpack(const Batch& batch, int64_t first, int64_t count,
                       const std::vector<uint32_t>& d, uint64_t* results) const {
  const int bits = instruction_.d->bits;
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t* rd = &d[i * kLanes * registers_.d];
    if (batch.shape == shape_) {
      uint64_t* to = results + (first + i) * shape_.d_words();
      for (size_t w = 0; w < d_.size(); ++w) to[w] = Get(rd, bits, d_[w].reg, d_[w].bit);
      continue;
    }
    for (int slot = 0; slot < DotProductsAtATime(); ++slot) {
      const int64_t x = (first + i) * DotProductsAtATime() + slot;
      if (x >= batch.count) break;
      const int e = slot % diagonal_;
      const Slot& s = d_[IndexOf(shape_, {slot / diagonal_, e, e})];
      results[x] = Get(rd, bits, s.reg, s.bit);
    }
  }
}

}  // namespace mmadiff

#include <cstring>

#include "device/cuda/fake_kernel.h"
#include "sim/layout.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

uint64_t ElementAt(const Instruction& in, Operand operand, const Format& f, const Element& e,
                   const uint32_t* lanes) {
  const Place p = PlaceOf(in, operand, e);
  const uint32_t* at = lanes + p.lane * ExtentOf(in, operand).registers + p.reg;
  uint64_t word = at[0] >> p.bit;
  if (f.bits == 64) word |= static_cast<uint64_t>(at[1]) << 32;
  return word & LowBits(f.bits);
}

// Kinds of sm_120, m16n8: row `row` of A or column `row` of B with its scales. In each register
// four bytes, e2m1 in bits 5 to 2, or eight nibbles.
std::vector<uint64_t> NarrowRow(const Row& row, bool a, int index, const uint32_t* lanes) {
  const Instruction& in = *row.instruction;
  const int bits = (a ? in.a : in.b)->bits;
  const bool bytes = in.name.find("f8f6f4") != in.name.npos;
  const int per = bytes ? 4 : 8, registers = a ? 4 : 2;
  std::vector<uint64_t> words(in.shape.row_words());
  for (int thread = 0; thread < 4; ++thread) {
    for (int half = 0; half < 2; ++half) {
      const int reg = a ? half * 2 + index / 8 : half;
      const uint32_t word = lanes[(index % 8 * 4 + thread) * registers + reg];
      for (int j = 0; j < per; ++j) {
        const int bit = j * (32 / per) + (bytes && bits == 4 ? 2 : 0);
        words[half * 4 * per + thread * per + j] = word >> bit & LowBits(bits);
      }
    }
  }
  const uint32_t* scales = lanes + 32 * registers + index % 8 * 4 + index / 8;
  for (int s = 0; s < in.shape.scales; ++s) words[in.shape.k + s] = *scales >> 8 * s & 0xff;
  return words;
}

void Execute(const Row& row, bool narrow, const uint32_t* a, const uint32_t* b, const uint32_t* c,
             uint32_t* d) {
  const Instruction& in = *row.instruction;
  const int registers = ExtentOf(in, Operand::kD).registers;
  std::memset(d, 0, 4 * 32 * registers);
  for (const Element& e : Elements(in, Operand::kD)) {
    DotProductCase dot;
    if (narrow) {
      dot.a = NarrowRow(row, true, e.row, a);
      dot.b = NarrowRow(row, false, e.column, b);
    }
    for (int k = 0; k < in.shape.k && !narrow; ++k) {
      dot.a.push_back(ElementAt(in, Operand::kA, *in.a, {e.block, e.row, k}, a));
      dot.b.push_back(ElementAt(in, Operand::kB, *in.b, {e.block, k, e.column}, b));
    }
    dot.c = ElementAt(in, Operand::kC, *in.c, e, c);
    const uint64_t word = Simulate(row.model, dot);
    const Place p = PlaceOf(in, Operand::kD, e);
    uint32_t* at = d + p.lane * registers + p.reg;
    at[0] |= static_cast<uint32_t>(word) << p.bit;
    if (in.d->bits == 64) at[1] |= static_cast<uint32_t>(word >> 32);
  }
}

}  // namespace

FakeKernel FakeMma(const Row& row) {
  const Instruction& in = *row.instruction;
  const bool narrow = in.scale != nullptr || in.name.find("f8f6f4") != in.name.npos;
  const int scales = in.scale == nullptr ? 0 : 32;
  return {&row, 32, [&row, narrow, scales](unsigned x, const uint64_t* addresses) {
            const auto words = [&](Operand operand, int more) {
              const int index = static_cast<int>(operand);
              const int count = 32 * ExtentOf(*row.instruction, operand).registers + more;
              return reinterpret_cast<uint32_t*>(addresses[index]) + x * count;
            };
            Execute(row, narrow, words(Operand::kA, scales), words(Operand::kB, scales),
                    words(Operand::kC, 0), words(Operand::kD, 0));
            return true;
          }};
}

}  // namespace mmadiff

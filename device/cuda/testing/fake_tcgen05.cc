#include "device/cuda/testing/fake_tcgen05.h"

#include <algorithm>
#include <vector>

#include "device/cuda/testing/fake_kernel.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

// `bits` bits from bit `at` on, counted from the first byte's lowest bit.
uint64_t BitsAt(const std::vector<uint8_t>& bytes, int at, int bits) {
  uint64_t value = 0;
  for (int bit = 0; bit < bits; ++bit) {
    const uint64_t one = bytes[(at + bit) / 8] >> (at + bit) % 8 & 1;
    value |= one << bit;
  }
  return value;
}

std::vector<uint8_t> Bytes(const uint32_t* words, int count) {
  std::vector<uint8_t> bytes;
  for (int i = 0; i < count; ++i) {
    for (int shift = 0; shift < 32; shift += 8) bytes.push_back(words[i] >> shift & 255);
  }
  return bytes;
}

// Half a row of 16 bytes: elements one behind the other, the rest is padding.
void AppendElements(const std::vector<uint8_t>& half, int elements, int bits,
                    std::vector<uint64_t>& row) {
  for (int i = 0; i < elements; ++i) row.push_back(BitsAt(half, i * bits, bits));
}

// The shared memory descriptor: rows of a core matrix follow each other, the leading dimension byte
// offset is from a core matrix to its neighbour in K, the stride to the next eight rows.
std::vector<uint64_t> SharedRow(const std::vector<uint8_t>& memory, int row, int k, int bits,
                                int parts) {
  constexpr int kLeading = 128;
  const int stride = parts * kLeading;
  std::vector<uint64_t> elements;
  for (int part = 0; part < parts; ++part) {
    const auto from = memory.begin() + row / 8 * stride + part * kLeading + row % 8 * 16;
    AppendElements({from, from + 16}, k / parts, bits, elements);
  }
  return elements;
}

// The warps' lanes that hold rows: all of M = 128, the first 16 of each warp of M = 64.
int LaneOfRow(int row, int m) {
  int lane = 0;
  for (int r = 0; r < row; ++r) {
    ++lane;
    if (m == 64 && lane % 32 == 16) lane += 16;
  }
  return lane;
}

// A in tensor memory: a lane has a row in containers of its 32 bytes.
std::vector<uint64_t> LaneRow(const std::vector<uint8_t>& lane, int k, int bits) {
  std::vector<uint64_t> elements;
  const bool middle = k == 32 && bits == 4;  // 4 bits in the middle of a byte
  for (int i = 0; i < k; ++i) {
    elements.push_back(BitsAt(lane, i * (256 / k) + (middle ? 2 : 0), bits));
  }
  return elements;
}

// The scales of a row: neighbouring bytes in lane row % 32 of the 32 lanes of `columns` columns.
void AppendScales(const uint32_t* words, int columns, int row, int scales,
                  std::vector<uint64_t>& elements) {
  const uint32_t word = words[row % 32 * columns + row / 32];
  for (int i = 0; i < scales; ++i) elements.push_back(word >> 8 * i & 255);
}

// The stored elements of A in the places that the metadata give them, four columns of 128 lanes: with
// 16 and 32 bits, the nibbles of a lane are four groups of a row and of the row 8 after it; with 8
// bits, two columns are sixteen groups of a row.
void Spread(const uint32_t* metadata, const std::vector<std::vector<uint64_t>>& stored, int bits,
            Batch& batch) {
  const Shape& s = batch.shape;
  const int group = s.k / s.groups, each = group / 2, of_rows = s.m == 64 ? 32 : 16;
  for (int lane = 0; lane < 128; ++lane) {
    if (lane % of_rows >= 16) continue;
    for (int n = 0; n < (bits == 8 ? 16 : 8); ++n) {
      const int first = lane / of_rows * 16;
      const int row = first + (bits == 8 ? lane % of_rows : lane % 8 + 8 * (n / 4));
      const int g = bits == 8 ? n : lane % 16 / 8 * 4 + n % 4;
      const uint32_t nibble = metadata[lane * 4 + n / 8] >> 4 * (n % 8) & 15;
      batch.metadata[row * s.groups + g] = nibble;
      for (int e = 0; e < each; ++e) {
        const uint32_t quarter = e == 0 ? nibble & 3 : nibble >> 2;
        batch.a[row * s.k + g * group + quarter * group / 4] = stored[row][g * each + e];
      }
    }
  }
}

}  // namespace

void ExecuteTcgen05(const Operation& op, SourceOfA source, const uint32_t* a, const uint32_t* b,
                    const uint32_t* c, uint32_t* d) {
  const Shape& s = op.shape();
  const int a_words = source == SourceOfA::kLanes ? 128 * 8 : s.m * 8,
            b_words = s.n * (s.groups > 0 ? 16 : 8);
  const std::vector<uint8_t> a_bytes = Bytes(a, a_words), b_bytes = Bytes(b, b_words);
  Batch batch;
  batch.Resize(s, 1);
  for (int j = 0; j < s.n; ++j) {
    std::vector<uint64_t> column =
        SharedRow(b_bytes, j, s.k, op.instruction->b->bits, s.groups > 0 ? 4 : 2);
    if (s.scales > 0) AppendScales(b + b_words, s.n > 128 ? 8 : 4, j, s.scales, column);
    std::ranges::copy(column, &batch.b[j * s.row_words()]);
  }
  const uint64_t low = LowBits(op.instruction->d->bits);  // the low half of the word of an f16
  const int stored_k = s.groups > 0 ? s.k / 2 : s.k;
  std::vector<std::vector<uint64_t>> stored;
  for (int i = 0; i < s.m; ++i) {
    const int lane = LaneOfRow(i, s.m), bits = op.instruction->a->bits;
    std::vector<uint64_t> a_op = source == SourceOfA::kLanes
                                     ? LaneRow(Bytes(a + lane * 8, 8), stored_k, bits)
                                     : SharedRow(a_bytes, i, stored_k, bits, 2);
    if (s.scales > 0) AppendScales(a + a_words, 4, i, s.scales, a_op);
    if (s.groups == 0) std::ranges::copy(a_op, &batch.a[i * s.row_words()]);
    stored.push_back(a_op);
    for (int j = 0; j < s.n; ++j) batch.c[i * s.n + j] = c[lane * s.n + j] & low;
  }
  if (s.groups > 0) Spread(a + a_words, stored, op.instruction->a->bits, batch);
  std::vector<uint64_t> words(s.d_words());
  Simulate(op.model, batch, words);
  std::fill_n(d, 128 * s.n, 0u);
  for (int i = 0; i < s.d_words(); ++i) {
    d[LaneOfRow(i / s.n, s.m) * s.n + i % s.n] = static_cast<uint32_t>(words[i]);
  }
}

FakeKernel FakeTcgen05(const Operation& op, SourceOfA source) {
  const Instruction& i = *op.instruction;
  const Operand of_a = source == SourceOfA::kLanes ? Operand::kALanes : Operand::kA;
  const int a = WordsOf(i, of_a).words, b = WordsOf(i, Operand::kB).words, d = 128 * i.shape.n;
  const auto execute = [&op, source, a, b, d](unsigned x, const uint64_t* addresses) {
    const auto words = [addresses, x](int operand, int each) {
      return reinterpret_cast<uint32_t*>(addresses[operand]) + static_cast<size_t>(x) * each;
    };
    ExecuteTcgen05(op, source, words(0, a), words(1, b), words(2, d), words(3, d));
    return true;
  };
  return {&op, 128, execute};
}

}  // namespace mmadiff

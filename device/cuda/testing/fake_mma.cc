#include "device/cuda/testing/fake_mma.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "device/cuda/testing/fake_kernel.h"
#include "sim/layout.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

// Of every element, in the order of Elements(). FAKE_CUDA_SWAPS names an operand of which two lanes
// change places.
const std::vector<Place>& Places(const Operation& op, Operand operand) {
  const char* set = std::getenv("FAKE_CUDA_SWAPS");
  const bool swaps = set != nullptr && std::string(set) == Name(operand) && IsSpoiled(op);
  static auto& known =
      *new std::map<std::tuple<const Operation*, Operand, bool>, std::vector<Place>>;
  const auto [at, unknown] = known.try_emplace({&op, operand, swaps});
  if (!unknown) return at->second;
  for (const Element& e : Elements(*op.instruction, operand)) {
    Place p = PlaceOf(*op.instruction, operand, e);
    if (swaps && p.lane / 2 == 2) p.lane ^= 1;
    at->second.push_back(p);
  }
  return at->second;
}

std::vector<uint64_t> Read(const Operation& op, Operand operand, const Format& f,
                           const uint32_t* lanes) {
  const int registers = ExtentOf(*op.instruction, operand).registers;
  std::vector<uint64_t> words;
  for (const Place& p : Places(op, operand)) {
    const uint32_t* at = lanes + p.lane * registers + p.reg;
    uint64_t word = at[0] >> p.bit;
    if (f.bits == 64) word |= static_cast<uint64_t>(at[1]) << 32;
    words.push_back(word & LowBits(f.bits));
  }
  return words;
}

// Kinds of sm_120, m16n8: row `row` of A or column `row` of B with its scales. In each register
// four bytes, e2m1 in bits 5 to 2, or eight nibbles.
std::vector<uint64_t> NarrowRow(const Operation& op, bool a, int index, const uint32_t* lanes) {
  const Instruction& in = *op.instruction;
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

// mma.sp with selector 0: the words of each lane's metadata register, nibble by nibble, and the stored
// elements that they place.
void ReadSparse(const Operation& op, const uint32_t* a, Batch& batch) {
  const Shape& s = op.shape();
  const std::vector<uint64_t> stored = Read(op, Operand::kA, op.model.a, a);
  const uint32_t* const metadata = a + 32 * ExtentOf(*op.instruction, Operand::kA).registers;
  const int bits = op.model.a.bits, group = s.k / s.groups, each = group / 2;
  for (int lane = 0; lane < 32; ++lane) {
    for (int n = 0; n < 8; ++n) {
      const int word = lane % 4;
      const int row = lane / 4 + 8 * (bits >= 16 ? n / 4 : word % 2);
      const int g = bits >= 16 ? 4 * word + n % 4 : 8 * (word / 2) + n;
      if (g >= s.groups) continue;
      const uint32_t nibble = metadata[lane] >> 4 * n & 15;
      batch.metadata[row * s.groups + g] = nibble;
      for (int e = 0; e < each; ++e) {
        const uint32_t quarter = e < (each + 1) / 2 ? nibble & 3 : nibble >> 2;
        const int place = static_cast<int>(quarter) * group / 4 + (each == 4 ? e % 2 : 0);
        batch.a[row * s.k + g * group + place] = stored[row * s.k / 2 + g * each + e];
      }
    }
  }
}

void ReadFactors(const Operation& op, bool narrow, const uint32_t* a, const uint32_t* b,
                 Batch& batch) {
  const Shape& s = op.shape();
  if (narrow) {
    for (int i = 0; i < s.m; ++i) {
      std::ranges::copy(NarrowRow(op, true, i, a), &batch.a[i * s.row_words()]);
    }
    for (int j = 0; j < s.n; ++j) {
      std::ranges::copy(NarrowRow(op, false, j, b), &batch.b[j * s.row_words()]);
    }
    return;
  }
  if (op.instruction->sparse()) {
    ReadSparse(op, a, batch);
  } else {
    batch.a = Read(op, Operand::kA, op.model.a, a);
  }
  const std::vector<uint64_t> b_rows = Read(op, Operand::kB, op.model.b, b);
  for (int i = 0; i < s.b_words(); ++i) {  // [block][k][n] to [block][n][k]
    const int block = i / (s.k * s.n), k = i / s.n % s.k, j = i % s.n;
    batch.b[(block * s.n + j) * s.k + k] = b_rows[i];
  }
}

void Execute(const Operation& op, bool narrow, const uint32_t* a, const uint32_t* b,
             const uint32_t* c, uint32_t* d) {
  Batch batch;
  batch.Resize(op.shape(), 1);
  ReadFactors(op, narrow, a, b, batch);
  batch.c = Read(op, Operand::kC, op.model.c, c);
  std::vector<uint64_t> words(op.shape().d_words());
  Simulate(FakeModel(op), batch, words);
  const int registers = ExtentOf(*op.instruction, Operand::kD).registers;
  std::memset(d, 0, 4 * 32 * registers);
  const std::vector<Place>& places = Places(op, Operand::kD);
  for (size_t i = 0; i < words.size(); ++i) {
    uint32_t* at = d + places[i].lane * registers + places[i].reg;
    at[0] |= static_cast<uint32_t>(words[i]) << places[i].bit;
    if (op.model.d.bits == 64) at[1] |= static_cast<uint32_t>(words[i] >> 32);
  }
}

}  // namespace

FakeKernel FakeMma(const Operation& op) {
  const Instruction& in = *op.instruction;
  const bool narrow = in.scale != nullptr || in.name.find("f8f6f4") != in.name.npos;
  const int scales = in.scale == nullptr ? 0 : 32, metadata = in.sparse() ? 32 : 0;
  return {&op, 32, [&op, narrow, scales, metadata](unsigned x, const uint64_t* addresses) {
            const auto words = [&](Operand operand, int more) {
              const int index = static_cast<int>(operand);
              const int count = 32 * ExtentOf(*op.instruction, operand).registers + more;
              return reinterpret_cast<uint32_t*>(addresses[index]) + x * count;
            };
            Execute(op, narrow, words(Operand::kA, scales + metadata), words(Operand::kB, scales),
                    words(Operand::kC, 0), words(Operand::kD, 0));
            return true;
          }};
}

}  // namespace mmadiff

// Matrices of integers that a Radeon AI Pro R9700 multiplied, as digests of its results: the models
// and layouts of RDNA4's integer WMMA and SWMMAC must give every one.
// corpus/observations/amd_rdna/README.md says how inputs and digests are made.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "sim/layout.h"
#include "sim/operation.h"
#include "sim/simulate.h"
#include "sim/sparsity.h"

namespace mmadiff {
namespace {

constexpr char kFolder[] = "corpus/observations/amd_rdna";

using Register = std::array<uint32_t, 32>;  // one word per lane

// The registers of one sample.
constexpr int kA = 0, kB = 2, kC = 6, kIndex = 14, kRegisters = 15;

std::vector<Register> InputsOf(uint32_t sample) {
  constexpr uint32_t kEdges[] = {0, 0x7fffffff, 0x80000000, 0xffffffff, 0x7fffff80, 0x80000080};
  constexpr uint32_t kPairs[] = {4, 8, 12, 9, 13, 14};  // two ascending positions each
  uint32_t x = 0xa3987412 + sample;
  const auto draw = [&x] {
    x ^= x << 13;
    x ^= x >> 17;
    return x ^= x << 5;
  };
  std::vector<Register> registers(kRegisters);
  for (int reg = 0; reg < kRegisters; ++reg) {
    for (uint32_t& word : registers[reg]) {
      if (reg < kC) {
        word = draw();
      } else if (reg < kIndex) {
        word = kEdges[draw() % 6];
      } else {
        for (int bit = 0; bit < 32; bit += 4) word |= kPairs[draw() % 6] << bit;
      }
    }
  }
  return registers;
}

// FNV-1a of 64 bits, over bytes: register by register, lane by lane, lowest byte first.
uint64_t DigestOf(std::span<const Register> registers) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const Register& words : registers) {
    for (const uint32_t word : words) {
      for (int bit = 0; bit < 32; bit += 8) hash = (hash ^ (word >> bit & 0xff)) * 0x100000001b3;
    }
  }
  return hash;
}

// The execution that these registers hold. SWMMAC: the index is in bits 16 * `key` and higher.
Batch Execution(const Instruction& in, std::span<const Register> registers, int key) {
  const Shape& s = in.shape;
  const auto read = [registers](int first, const Place& p, int bits) -> uint64_t {
    return registers[first + p.reg][p.lane] >> p.bit & LowBits(bits);
  };
  Batch batch;
  batch.Resize(s, 1);
  for (const Element& e : Elements(in, Operand::kA)) {
    int k = e.column;
    if (in.sparse()) {
      Place place = PlaceOf(in, Operand::kMetadata, {0, e.row, e.column / 2});
      place.bit += 16 * key;
      const uint64_t metadata = read(kIndex, place, 4);
      batch.metadata[e.row * s.groups + e.column / 2] = metadata;
      k = e.column / 2 * 4 + StoredPosition(4, metadata, e.column % 2);
    }
    batch.a[e.row * s.k + k] = read(kA, PlaceOf(in, Operand::kA, e), in.a->bits);
  }
  for (const Element& e : Elements(in, Operand::kB)) {
    batch.b[e.column * s.k + e.row] = read(kB, PlaceOf(in, Operand::kB, e), in.b->bits);
  }
  for (const Element& e : Elements(in, Operand::kC)) {
    batch.c[e.row * s.n + e.column] = read(kC, PlaceOf(in, Operand::kC, e), in.c->bits);
  }
  return batch;
}

uint64_t DigestOfModel(const Operation& op, std::span<const Register> inputs, int key) {
  const Instruction& in = *op.instruction;
  const Batch batch = Execution(in, inputs, key);
  EXPECT_EQ(WhyNotSparse(in, batch.a, batch.metadata), "");
  std::vector<uint64_t> d(batch.dot_products());
  Simulate(op.model, batch, d);
  std::vector<Register> registers(ExtentOf(in, Operand::kD).registers);
  for (const Element& e : Elements(in, Operand::kD)) {
    const Place p = PlaceOf(in, Operand::kD, e);
    registers[p.reg][p.lane] = static_cast<uint32_t>(d[e.row * in.shape.n + e.column]);
  }
  return DigestOf(registers);
}

struct Line {
  uint32_t sample = 0;
  bool signed_a = false, signed_b = false, clamp = false;
  int key = 0;
  uint64_t digest = 0;
};

// Lines "sample signed_a signed_b clamp [index_key] digest"; `sparse`: with index_key.
std::vector<Line> LinesOf(const std::string& path, bool sparse) {
  std::vector<Line> lines;
  std::ifstream text(path);
  for (std::string line; std::getline(text, line);) {
    if (line.empty() || line[0] < '0' || line[0] > '9') continue;  // a comment or names of columns
    std::istringstream words(line);
    Line l;
    words >> l.sample >> l.signed_a >> l.signed_b >> l.clamp;
    if (sparse) words >> l.key;
    words >> std::hex >> l.digest;
    EXPECT_TRUE(words && (words >> std::ws).eof()) << path << ": " << line;
    lines.push_back(l);
  }
  return lines;
}

// "gfx1200/v_wmma_i32_16x16x16_iu8" and a line, to "gfx1200/v_wmma_i32_16x16x16_iu8.s8.u8.clamp".
std::string OperationOf(const std::string& instruction, const Line& line) {
  const char bits = instruction.back();
  return instruction + (line.signed_a ? ".s" : ".u") + bits + (line.signed_b ? ".s" : ".u") + bits +
         (line.clamp ? ".clamp" : "");
}

// By instruction; files are named gfx1200.INSTRUCTION.digests.ANYTHING.
std::map<std::string, std::string> Files() {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    std::string name = entry.path().filename().string();
    const size_t end = name.find(".digests.");
    if (end == name.npos) continue;
    name.resize(end);
    name[name.find('.')] = '/';
    files[name] = entry.path().string();
  }
  return files;
}

TEST(Digests, InputsAreThoseOfTheSource) {
  EXPECT_EQ(DigestOf(InputsOf(0)), 0x7689d9af055e43b6);
  EXPECT_EQ(DigestOf(InputsOf(15)), 0x1fadfb09a98d158f);
}

TEST(Digests, ModelsAndLayoutsGiveEveryOne) {
  std::map<std::string, int> seen;  // by operation
  int digests = 0;
  for (const auto& [instruction, file] : Files()) {
    const bool sparse = instruction.find("swmmac") != instruction.npos;
    for (const Line& line : LinesOf(file, sparse)) {
      const std::string name = OperationOf(instruction, line);
      const Operation* op = FindOperation(name);
      ASSERT_NE(op, nullptr) << WhyNoOperation(name);
      EXPECT_EQ(DigestOfModel(*op, InputsOf(line.sample), line.key), line.digest)
          << name << " sample " << line.sample << " index key " << line.key;
      ++seen[name];
      ++digests;
    }
  }
  EXPECT_EQ(seen.size(), 48);  // 6 instructions, 4 pairs of formats, with and without clamp
  EXPECT_EQ(digests, 1024);
}

}  // namespace
}  // namespace mmadiff

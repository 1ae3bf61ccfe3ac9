// Runs the PTX text of a wgmma kernel, statement by statement for all lanes, with the addresses of
// the host. The order of the fences is not seen here (cuda_test, OrderOfFences).
#include "device/cuda/testing/fake_wgmma.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "device/cuda/testing/fake_kernel.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

constexpr int kLanes = 128;
constexpr uint64_t kSharedStart = 0x400;  // of shared memory: address 0 would hide a lost address

struct Statement {
  std::string guard, opcode;
  std::vector<std::string> arguments;  // "%d0", "4", "[%base+4]", "{%d0, %d1}" as they stand
};

// Comments, directives and braces give none.
std::vector<Statement> Parse(const std::string& ptx) {
  std::vector<Statement> statements;
  for (absl::string_view line : absl::StrSplit(ptx, '\n')) {
    line = absl::StripAsciiWhitespace(line);
    if (!absl::ConsumeSuffix(&line, ";") || line[0] == '.') continue;
    Statement s;
    if (line[0] == '@') {
      s.guard = std::string(line.substr(1, line.find(' ') - 1));
      line.remove_prefix(line.find(' ') + 1);
    }
    s.opcode = std::string(line.substr(0, line.find(' ')));
    line.remove_prefix(std::min(s.opcode.size() + 1, line.size()));
    while (!line.empty()) {
      const size_t end = line.find(", ", line[0] == '{' ? line.find('}') : 0);
      s.arguments.emplace_back(line.substr(0, end));
      line.remove_prefix(end == line.npos ? line.size() : end + 2);
    }
    statements.push_back(s);
  }
  return statements;
}

// What a statement without effect on memory sets its first argument to, from those that follow.
struct PtxOperator {
  const char* opcode;
  uint64_t (*result)(uint64_t x, uint64_t y, uint64_t z);
};
constexpr auto kFirst = [](uint64_t x, uint64_t, uint64_t) { return x; };
constexpr auto kMultiplyAdd = [](uint64_t x, uint64_t y, uint64_t z) { return x * y + z; };
constexpr PtxOperator kOperators[] = {
    {"ld.global.b32",
     [](uint64_t x, uint64_t, uint64_t) -> uint64_t {
       return *reinterpret_cast<const uint32_t*>(x);
     }},
    {"mov.u32", kFirst},
    {"cvt.u64.u32", kFirst},
    {"ld.param.u64", kFirst},
    {"mad.wide.u32", kMultiplyAdd},
    {"mad.lo.u32", kMultiplyAdd},
    {"or.b64", [](uint64_t x, uint64_t y, uint64_t) { return x | y; }},
    {"bfe.u32",
     [](uint64_t x, uint64_t y, uint64_t z) { return x >> y & LowBits(static_cast<int>(z)); }},
    {"setp.lt.u32", [](uint64_t x, uint64_t y, uint64_t) { return uint64_t{x < y}; }},
    {"setp.eq.u32", [](uint64_t x, uint64_t y, uint64_t) { return uint64_t{x == y}; }},
};

class Block {
 public:
  Block(const Operation& op, unsigned index, const uint64_t* parameters) : op_(op) {
    for (int i = 0; i < 5; ++i) Register(std::string("[p") + "abcdm"[i] + "]").fill(parameters[i]);
    Register("%ctaid.x").fill(index);
    for (int lane = 0; lane < kLanes; ++lane) Register("%tid.x")[lane] = lane;
    // Wherever the images lie, they must not overlap.
    Register("shared_a").fill(kSharedStart);
    Register("shared_b").fill(kSharedStart + 4096);
  }

  // False for a statement that is not known.
  bool Run(const Statement& s) {
    if (absl::StartsWith(s.opcode, "wgmma.mma_async.")) return Multiply(s), true;
    for (const char* order : {"fence.", "bar.", "wgmma.", "ret"}) {
      if (absl::StartsWith(s.opcode, order)) return true;
    }
    if (s.arguments.size() < 2) return false;
    std::vector<Lanes> in;
    for (const std::string& argument : s.arguments) in.push_back(Value(argument));
    const Lanes guard = s.guard.empty() ? Lanes() : Register(s.guard);
    const bool global = s.opcode == "st.global.b32", shared = s.opcode == "st.shared.b32";
    const auto found = std::ranges::find(kOperators, s.opcode, &PtxOperator::opcode);
    if (!global && !shared && found == std::end(kOperators)) return false;
    Lanes* const out = global || shared ? nullptr : &Register(s.arguments[0]);
    for (int lane = 0; lane < kLanes; ++lane) {
      if (!s.guard.empty() && guard[lane] == 0) continue;
      const auto x = [&](size_t i) { return i < in.size() ? in[i][lane] : 0; };
      if (global) {
        *reinterpret_cast<uint32_t*>(x(0)) = static_cast<uint32_t>(x(1));
      } else if (shared) {
        shared_.at((x(0) - kSharedStart) / 4) = static_cast<uint32_t>(x(1));
      } else {
        (*out)[lane] = found->result(x(1), x(2), x(3));
      }
    }
    return true;
  }

 private:
  using Lanes = std::array<uint64_t, kLanes>;
  using Matrix = std::vector<std::vector<uint64_t>>;

  Lanes& Register(const std::string& name) { return registers_[name]; }

  // A register, a number, or an address "[%base+4]".
  Lanes Value(const std::string& text) {
    Lanes value;
    const size_t plus = text.find('+');
    if (plus != text.npos) {
      value = Register(text.substr(1, plus - 1));
      for (uint64_t& v : value) v += std::strtoull(&text[plus + 1], nullptr, 0);
    } else if (text[0] >= '0' && text[0] <= '9') {
      value.fill(std::strtoull(text.c_str(), nullptr, 0));
    } else {
      value = Register(text);
    }
    return value;
  }

  // Registers "{%d0, %d1}" as words [lane][register].
  std::vector<uint32_t> LaneWords(absl::string_view vector) {
    const std::vector<std::string> names =
        absl::StrSplit(vector.substr(1, vector.size() - 2), ", ");
    std::vector<const Lanes*> registers;
    for (const std::string& name : names) registers.push_back(&Register(name));
    std::vector<uint32_t> words;
    for (int lane = 0; lane < kLanes; ++lane) {
      for (const Lanes* r : registers) words.push_back(static_cast<uint32_t>((*r)[lane]));
    }
    return words;
  }

  // The PTX ISA's meaning of a descriptor, K-major without swizzle: core matrices of 8 rows of 16
  // bytes, those adjacent in K `leading` bytes apart, those adjacent in M or N `stride`.
  Matrix FromShared(uint64_t descriptor, int rows, int columns) {
    const auto field = [descriptor](int bit) { return (descriptor >> bit & 0x3fff) * 16; };
    const uint64_t start = field(0) - kSharedStart, leading = field(16), stride = field(32);
    const int bits = op_.model.a.bits;
    Matrix matrix(rows, std::vector<uint64_t>(columns));
    for (int row = 0; row < rows; ++row) {
      for (int k = 0; k < columns; ++k) {
        const int byte = k * bits / 8;
        const uint64_t address =
            start + row / 8 * stride + row % 8 * 16 + byte / 16 * leading + byte % 16;
        matrix[row][k] =
            shared_.at(address / 4) >> (address % 4 * 8 + k * bits % 8) & LowBits(bits);
      }
    }
    return matrix;
  }

  // Four registers of a lane: rows g, g + 8, and the same with the second half of k.
  Matrix FromLanes(absl::string_view vector) {
    const std::vector<uint32_t> words = LaneWords(vector);
    const int k = stored_k(), bits = op_.model.a.bits, per = 32 / bits;
    Matrix matrix(64, std::vector<uint64_t>(k));
    for (int lane = 0; lane < kLanes; ++lane) {
      for (int v = 0; v < 4 * per; ++v) {
        const int reg = v / per;
        const int row = lane / 32 * 16 + lane % 32 / 4 + reg % 2 * 8;
        const int column = lane % 4 * per + v % per + reg / 2 * k / 2;
        matrix[row][column] = BitsAt(&words[lane * 4 + reg], v % per * bits, bits);
      }
    }
    return matrix;
  }

  int stored_k() const { return op_.shape().k / (op_.instruction->sparse() ? 2 : 1); }

  // The metadata of row `row`, group `g`, with selector 0 (PTX ISA, wgmma.mma_async.sp): for 16 and 32
  // bits, a lane has four groups of two rows; for 8 bits, eight groups of a row.
  uint64_t Metadata(const Lanes& lanes, int row, int g) const {
    const int quad = row / 16 * 32 + row % 8 * 4, lower = row / 8 % 2;
    return op_.model.a.bits >= 16 ? lanes[quad + g / 4] >> (lower * 16 + g % 4 * 4) & 15
                                  : lanes[quad + lower + 2 * (g / 8)] >> g % 8 * 4 & 15;
  }

  // Rows of A with all k, from the stored elements.
  void Spread(const Lanes& lanes, const Matrix& stored, Batch& batch) const {
    const Shape& s = op_.shape();
    const int group = s.k / s.groups, each = group / 2;
    for (int row = 0; row < 64; ++row) {
      for (int g = 0; g < s.groups; ++g) {
        const uint64_t nibble = Metadata(lanes, row, g);
        batch.metadata[row * s.groups + g] = nibble;
        for (int e = 0; e < each; ++e) {
          const uint64_t quarter = e == 0 ? nibble & 3 : nibble >> 2;
          batch.a[row * s.k + g * group + quarter * group / 4] = stored[row][g * each + e];
        }
      }
    }
  }

  void Multiply(const Statement& s) {
    const Matrix a = s.arguments[1][0] == '{'
                         ? FromLanes(s.arguments[1])
                         : FromShared(Register(s.arguments[1])[0], 64, stored_k());
    const Matrix b = FromShared(Register(s.arguments[2])[0], op_.shape().n, op_.shape().k);
    const bool sparse = op_.instruction->sparse();
    const bool accumulate = Register(s.arguments[sparse ? 5 : 3])[0] != 0;
    const std::vector<uint32_t> c = LaneWords(s.arguments[0]);
    const int n = op_.shape().n, bits = op_.model.d.bits, values = n / 2;  // of a lane
    Batch batch;
    batch.Resize(op_.shape(), 1);
    if (sparse) {
      Spread(Register(s.arguments[3]), a, batch);
    } else {
      for (int i = 0; i < 64; ++i) std::ranges::copy(a[i], &batch.a[i * op_.shape().k]);
    }
    for (int j = 0; j < n; ++j) std::ranges::copy(b[j], &batch.b[j * op_.shape().k]);
    const auto element = [n](int lane, int v) {  // of the matrix
      const int i = lane / 32 * 16 + lane % 32 / 4 + v / 2 % 2 * 8;
      return i * n + v / 4 * 8 + lane % 4 * 2 + v % 2;
    };
    for (int x = 0; x < kLanes * values; ++x) {
      const uint64_t addend = accumulate ? BitsAt(c.data(), x * bits, bits) : 0;
      batch.c[element(x / values, x % values)] = addend;
    }
    std::vector<uint64_t> words(batch.c.size());
    Simulate(op_.model, batch, words);
    std::vector<uint32_t> d(c.size());
    for (int x = 0; x < kLanes * values; ++x) {
      const uint32_t word = static_cast<uint32_t>(words[element(x / values, x % values)]);
      d[x * bits / 32] |= word << x * bits % 32;
    }
    const size_t registers = d.size() / kLanes;
    for (size_t w = 0; w < d.size(); ++w) {
      Register("%d" + std::to_string(w % registers))[w / registers] = d[w];
    }
  }

  const Operation& op_;
  std::map<std::string, Lanes> registers_;
  std::vector<uint32_t> shared_ = std::vector<uint32_t>((4096 + 256 * 64) / 4);
};

}  // namespace

FakeKernel FakeWgmma(const std::string& ptx) {
  const std::string mark = "wgmma.mma_async.", aligned = "sync.aligned.";
  const std::vector<Statement> statements = Parse(ptx);
  for (const Statement& s : statements) {
    if (!absl::StartsWith(s.opcode, mark)) continue;
    std::string name = "sm_90/wgmma." + s.opcode.substr(mark.size());
    if (const size_t at = name.find(aligned); at != name.npos) name.erase(at, aligned.size());
    const Operation* op = FindOperation(name);
    if (op == nullptr) return {};
    return {op, kLanes, [op, statements](unsigned x, const uint64_t* addresses) {
              Block block(*op, x, addresses);
              for (const Statement& statement : statements) {
                if (!block.Run(statement)) return false;
              }
              return true;
            }};
  }
  return {};
}

}  // namespace mmadiff

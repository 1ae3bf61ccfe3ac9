#include "device/cuda/testing/fake_wmma.h"

#include <cstdlib>
#include <map>
#include <regex>
#include <vector>

#include "absl/strings/str_cat.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

// A matrix in memory as the text has it.
struct InMemory {
  bool columns = false;  // one after the other
  int leading = 0;       // elements from one to the next
  int bytes = 0;         // of an execution
  std::string shape, type;
};

// By their letters, "a" to "d".
std::map<std::string, InMemory> MatricesOf(const std::string& ptx) {
  static const auto& transfer = *new std::regex(
      "\\[p(\\w)\\];\\s*mad.wide.u32 %base, %execution, (\\d+), %base;\\s*"
      "wmma.(?:load|store).(\\w).sync.aligned.(row|col).(\\w+).global.(\\w+) "
      "[^;]*, (\\d+);");
  std::map<std::string, InMemory> matrices;
  for (std::sregex_iterator at(ptx.begin(), ptx.end(), transfer), end; at != end; ++at) {
    const std::smatch& m = *at;
    if (m[1] == m[3]) {
      matrices[m[1]] = {m[4] == "col", std::stoi(m[7]), std::stoi(m[2]), m[5], m[6]};
    }
  }
  return matrices;
}

// One matrix of one execution. FAKE_CUDA_SWAPS names one of which two rows or columns change places.
class Elements {
 public:
  Elements(const Operation& op, const char* name, const InMemory& matrix, int bits,
           uint64_t address)
      : matrix_(matrix), bits_(bits), words_(reinterpret_cast<uint32_t*>(address)) {
    const char* set = std::getenv("FAKE_CUDA_SWAPS");
    swaps_ = set != nullptr && std::string(set) == name && IsSpoiled(op);
  }

  uint64_t At(int row, int column) const {
    const int bit = Bit(row, column);
    if (bits_ < 64) return BitsAt(words_, bit, bits_);
    return words_[bit / 32] | uint64_t{words_[bit / 32 + 1]} << 32;
  }

  void Set(int row, int column, uint64_t word) {
    const int bit = Bit(row, column);
    words_[bit / 32] &= ~static_cast<uint32_t>(LowBits(bits_) << bit % 32);
    words_[bit / 32] |= static_cast<uint32_t>(word << bit % 32);
    if (bits_ == 64) words_[bit / 32 + 1] = static_cast<uint32_t>(word >> 32);
  }

 private:
  int Bit(int row, int column) const {
    int line = matrix_.columns ? column : row;
    if (swaps_ && line / 2 == 2) line ^= 1;
    return (line * matrix_.leading + (matrix_.columns ? row : column)) * bits_;
  }

  const InMemory matrix_;
  const int bits_;
  uint32_t* const words_;
  bool swaps_ = false;
};

void Execute(const Operation& op, Elements a, Elements b, Elements c, Elements d) {
  const Shape& s = op.shape();
  Batch batch;
  batch.Resize(s, 1);
  for (int k = 0; k < s.k; ++k) {
    for (int i = 0; i < s.m; ++i) batch.a[i * s.k + k] = a.At(i, k);
    for (int j = 0; j < s.n; ++j) batch.b[j * s.k + k] = b.At(k, j);
  }
  for (int e = 0; e < s.m * s.n; ++e) batch.c[e] = c.At(e / s.n, e % s.n);
  std::vector<uint64_t> words(s.d_words());
  Simulate(FakeModel(op), batch, words);
  for (int e = 0; e < s.m * s.n; ++e) d.Set(e / s.n, e % s.n, words[e]);
}

}  // namespace

FakeKernel FakeWmma(const Operation& op, const std::string& ptx) {
  const Shape& s = op.shape();
  const Model& model = op.model;
  const Format* formats[] = {&model.a, &model.b, &model.c, &model.d};
  std::map<std::string, InMemory> matrices = MatricesOf(ptx);
  std::vector<InMemory> all;
  for (const char* letter : {"a", "b", "c", "d"}) {
    const InMemory& matrix = all.emplace_back(matrices[letter]);
    if (matrix.shape != absl::StrCat("m", s.m, "n", s.n, "k", s.k) ||
        matrix.type != formats[all.size() - 1]->name) {
      return {};
    }
  }
  // The fragments of wmma.mma must be those that were loaded.
  const auto order = [](const InMemory& matrix) { return matrix.columns ? "col." : "row."; };
  const std::string mma =
      absl::StrCat(".sync.aligned.", order(all[0]), order(all[1]), all[0].shape, ".");
  if (ptx.find(mma) == ptx.npos) return {};
  return {&op, 32,
          [&op, all, formats = std::vector<const Format*>(formats, formats + 4)](
              unsigned x, const uint64_t* addresses) {
            const auto matrix = [&](int o, const char* name) {
              const uint64_t address = addresses[o] + uint64_t{x} * all[o].bytes;
              return Elements(op, name, all[o], formats[o]->bits, address);
            };
            Execute(op, matrix(0, "A"), matrix(1, "B"), matrix(2, "C"), matrix(3, "D"));
            return true;
          }};
}

}  // namespace mmadiff

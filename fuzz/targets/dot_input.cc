#include "fuzz/targets/dot_input.h"

#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>

#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "fuzz/cases/case_name.h"
#include "fuzz/coverage/counter.h"
#include "fuzz/targets/input.h"
#include "sim/parameter.h"
#include "sim/simulate.h"
#include "triage/verdict.h"

namespace mmadiff::fuzz {
namespace {

// libFuzzer reads these as counters of code.
constexpr size_t kExtraCounters = 1 << 16;
#if defined(__clang__)
__attribute__((section("__libfuzzer_extra_counters")))
#endif
uint8_t extra_counters[kExtraCounters];

const std::vector<OperationsOfModel>& Models() {
  static const auto& models = *new std::vector<OperationsOfModel>([] {
    const char* names = std::getenv("MMADIFF_INSTR");
    std::vector<const Operation*> ops;
    for (const Operation& op : Operations()) {
      if (names == nullptr) ops.push_back(&op);
    }
    const std::vector<std::string> named =
        absl::StrSplit(names == nullptr ? "" : names, ',', absl::SkipEmpty());
    for (const std::string& name : named) {
      ops.push_back(FindOperation(name));
      if (ops.back() == nullptr)
        Check(absl::NotFoundError("MMADIFF_INSTR: no instruction " + name));
    }
    return OperationsByModel(ops);
  }());
  return models;
}

size_t IndexOf(const Operation* op) {
  for (size_t i = 0; i < Models().size(); ++i) {
    if (Models()[i].op == op) return i;
  }
  return 0;
}

// Calls `visit(format, word)` for every word of the dot product in order.
template <class Visit>
void ForEachWord(const Operation& op, DotProductCase& dot, Visit visit) {
  const Model& m = op.model;
  for (auto [row, format] : {std::pair(&dot.a, &m.a), std::pair(&dot.b, &m.b)}) {
    row->resize(m.k + m.scales());
    for (int k = 0; k < m.k + m.scales(); ++k) visit(k < m.k ? *format : m.scale, (*row)[k]);
  }
  visit(m.c, dot.c);
}

// What the inputs of one model met.
struct Met {
  CoverageCounter bins;
  std::vector<Model> mutants;                   // that no input has told from the model
  uint64_t inputs = 0, filled = 0, killed = 0;  // by which input the last was

  explicit Met(const Operation& op) : bins(op.model) {
    if (std::getenv("MMADIFF_INSTR") == nullptr) return;
    for (const Neighbour& n : Neighbours(op.model)) {
      mutants.push_back(WithAlgorithm(op, n.algorithm));
    }
  }

  void Add(const DotInput& input) {
    ++inputs;
    if (bins.Count(input.dot) > 0) filled = inputs;
    if (mutants.empty()) return;
    const Batch batch = MakeDotProductBatch(input.op->shape(), {input.dot});
    std::vector<uint64_t> right(1);
    Simulate(input.op->model, batch, right);
    const auto differs = [&](const Model& mutant) {
      Comparison compared;
      Compare(*input.op, mutant, batch, right, compared);
      return !compared.differing.empty();
    };
    if (std::erase_if(mutants, differs) > 0) killed = inputs;
  }
};

struct Progress {
  std::map<const Operation*, std::unique_ptr<Met>> models;

  ~Progress() {
    for (const auto& [op, met] : models) {
      absl::FPrintF(stderr,
                    "%s: %d thin bins, the last filled by input %d of %d; %d neighbours not found, "
                    "the last found by input %d\n",
                    op->name, ThinBins(met->bins.bins(), met->bins.counts()).size(), met->filled,
                    met->inputs, met->mutants.size(), met->killed);
    }
  }
};

}  // namespace

DotInput ReadDot(const uint8_t* data, size_t size) {
  size_t at = 0;
  const auto byte = [&]() -> uint64_t { return at < size ? data[at++] : 0; };
  const uint64_t low = byte();
  DotInput input = {Models()[(low | byte() << 8) % Models().size()].op, {}};
  ForEachWord(*input.op, input.dot, [&](const Format& f, uint64_t& word) {
    for (int b = 0; b < (f.bits + 7) / 8; ++b) word |= byte() << 8 * b;
    word &= LowBits(f.bits);
  });
  return input;
}

std::vector<uint8_t> BytesOf(const DotInput& input) {
  const size_t index = IndexOf(input.op);
  std::vector<uint8_t> bytes = {static_cast<uint8_t>(index), static_cast<uint8_t>(index >> 8)};
  DotProductCase dot = input.dot;
  ForEachWord(*input.op, dot, [&](const Format& f, uint64_t& word) {
    for (int b = 0; b < (f.bits + 7) / 8; ++b) bytes.push_back(static_cast<uint8_t>(word >> 8 * b));
  });
  return bytes;
}

void NoteBins(const DotInput& input) {
  static Progress progress;
  std::unique_ptr<Met>& met = progress.models[input.op];
  if (met == nullptr) met = std::make_unique<Met>(*input.op);
  met->Add(input);
  Check(FalseBins(met->bins.bins(), met->bins.counts()).empty());
  const size_t base = IndexOf(input.op) * 509;
  for (const uint16_t bin : met->bins.reached()) extra_counters[(base + bin) % kExtraCounters] = 1;
}

DotInput MutateDot(DotInput input, uint64_t seed) {
  std::mt19937_64 random(seed);
  if (random() % 8 == 0) {  // a case of the generator
    Batch batch;
    Generate({input.op, &Strategies().front(), random()}, random() % 1024, 1, batch);
    input.dot = Extract(batch, static_cast<int64_t>(random() % batch.dot_products()));
    return input;
  }
  const Model& m = input.op->model;
  const int x = static_cast<int>(random() % m.k), y = static_cast<int>(random() % m.k);
  switch (random() % 4) {
    case 0:  // a term again, as it is or with the other sign
      input.dot.a[y] = input.dot.a[x];
      input.dot.b[y] = input.dot.b[x] ^ (random() & 1) << SignBit(m.b);
      break;
    case 1:
      std::swap(input.dot.a[x], input.dot.a[y]);
      break;
    default: {  // one word: a bit, another exponent, an edge
      const uint64_t words = 2 * (m.k + m.scales()) + 1, which = random() % words;
      uint64_t at = 0;
      ForEachWord(*input.op, input.dot, [&](const Format& f, uint64_t& word) {
        if (at++ != which) return;
        const uint64_t edges[] = {0, 1ull << f.fraction_bits, LowBits(f.fraction_bits),
                                  IsInteger(f) ? LowBits(f.bits - 1) : MaxFiniteWord(f),
                                  1ull << SignBit(f)};
        const uint64_t step = 1ull << (f.fraction_bits + f.ignored_bits);
        switch (random() % 4) {
          case 0:
            word ^= 1ull << random() % f.bits;
            break;
          case 1:
            word += random() % 2 == 0 ? step : 0 - step;
            break;
          case 2:
            word = edges[random() % 5];
            break;
          default:
            word = random();
        }
        word &= LowBits(f.bits);
      });
    }
  }
  return input;
}

}  // namespace mmadiff::fuzz

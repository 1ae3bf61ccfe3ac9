#include "fuzz/targets/dot_input.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>

#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "corpus/cases/case_name.h"
#include "device/plain_text.h"
#include "fuzz/cli/cli.h"
#include "fuzz/coverage/coverage_counter.h"
#include "fuzz/schedule/mutants.h"
#include "fuzz/targets/input.h"
#include "fuzz/unit/devices.h"
#include "sim/dot_product.h"
#include "sim/sparsity.h"
#include "sim/trace.h"
#include "sim/tree/tree_sum.h"
#include "triage/verdict.h"

namespace mmadiff::fuzz {
namespace {

// libFuzzer reads these as counters of code.
constexpr size_t kExtraCounters = 1 << 16;
#if defined(__clang__)
__attribute__((section("__libfuzzer_extra_counters")))
#endif
uint8_t extra_counters[kExtraCounters];

std::vector<const Operation*> Named() {
  const char* names = std::getenv("MMADIFF_INSTR");
  const bool all = names == nullptr || *names == 0;
  Ledger ledger;
  const auto ops = ChooseOperations(absl::StrSplit(all ? "*" : names, ',', absl::SkipEmpty()),
                                    Models::kRequired, nullptr, ledger);
  if (!ops.ok()) GiveUp(ops.status());
  return *ops;
}

std::vector<OperationsOfModel>& Models() {
  static auto& models = *new std::vector<OperationsOfModel>(OperationsByModel(Named()));
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
  dot.metadata.resize(m.groups());
  for (uint64_t& word : dot.metadata) visit(kMetadataFormat, word);
}

// Replaces undefined metadata, and by +0 the elements of a that the metadata do not store.
void MakeStorable(const Model& m, DotProductCase& dot) {
  const int group = m.sparse_group;
  for (int g = 0; g < m.groups(); ++g) {
    uint64_t& metadata = dot.metadata[g];
    const std::span<const uint64_t> legal = LegalMetadata(group);
    if (!IsLegalMetadata(group, metadata)) metadata = legal[metadata % legal.size()];
    DropUnstored(metadata, std::span(dot.a).subspan(g * group, group));
  }
}

bool Reachable(const Bin& bin) { return bin.unreachable.empty(); }

struct OfModel {
  const Operation* op;
  CoverageCounter counter{op->model};
  std::vector<Mutant> neighbours =
      {};  // neighbors that no input has distinguished yet, if they are counted
  uint64_t inputs = 0, filled = 0, found = 0;

  size_t thin() const { return ThinBins(counter.bins(), counter.counts()).size(); }
  size_t reached() const {
    return std::ranges::count_if(counter.counts(), [](uint64_t n) { return n > 0; });
  }
};

struct Progress {
  const bool counts = std::getenv("MMADIFF_COUNT") != nullptr;
  std::map<const Operation*, OfModel> models;

  OfModel& Of(const Operation* op) {
    const auto [of, fresh] = models.try_emplace(op, OfModel{op});
    if (fresh && counts) of->second.neighbours = NeighboursOf({op, 1}).mutants;
    return of->second;
  }

  void Find(OfModel& of, const DotProductCase& dot) const {
    NullTrace trace;
    const uint64_t d = DotProduct(of.op->model, dot.a.data(), dot.b.data(), dot.c, trace);
    const auto differs = [&](const Mutant& m) { return !Gives(*of.op, m.model, dot, d); };
    if (std::erase_if(of.neighbours, differs) > 0) of.found = of.inputs;
  }

  bool Done() const {
    return models.size() == Models().size() && std::ranges::all_of(models, [](const auto& of) {
             return of.second.neighbours.empty() && of.second.thin() == 0;
           });
  }

  void Print() const {
    size_t bins = 0, reached = 0, thin = 0;
    for (const auto& [op, of] : models) {
      bins += std::ranges::count_if(of.counter.bins(), Reachable);
      reached += of.reached(), thin += of.thin();
      if (std::getenv("MMADIFF_INSTR") == nullptr) continue;
      absl::FPrintF(stderr, "bins of %s: %d thin, the last filled by input %d of %d\n", op->name,
                    of.thin(), of.filled, of.inputs);
      if (!counts) continue;
      absl::FPrintF(stderr, "neighbors of %s: %d not found, the last found by input %d of %d\n",
                    op->name, of.neighbours.size(), of.found, of.inputs);
    }
    absl::FPrintF(stderr, "bins: %d of %d reached, %d thin, in %d models\n", reached, bins, thin,
                  models.size());
  }

  ~Progress() { Print(); }
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
  MakeStorable(input.op->model, input.dot);
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

void KeepSupported(const Device& device) {
  std::vector<const Operation*> ops = Named();
  absl::Status without;
  std::erase_if(ops, [&](const Operation* op) {
    const absl::Status supported = device.Supports(*op);
    without.Update(supported);
    return !supported.ok();
  });
  if (ops.empty()) GiveUp(without);
  Models() = OperationsByModel(ops);
}

void GiveUp(const absl::Status& status) {
  Ending ending("run");
  ending.Say(DeviceError(status));
  std::fprintf(stderr, "mmadiff: %s\n", PlainText(status.message()).c_str());
  _exit(ending.exit_code());
}

uint64_t NoteBins(const DotInput& input) {
  static const char* const bins = std::getenv("MMADIFF_BINS");
  static const bool marks = bins == nullptr || absl::string_view(bins) != "0";
  static Progress progress;
  OfModel& of = progress.Of(input.op);
  ++of.inputs;
  const size_t found = of.found;
  const bool filled = of.counter.Count(input.dot) > 0;
  if (filled) of.filled = of.inputs;
  if (!of.neighbours.empty()) progress.Find(of, input.dot);
  if (progress.counts && (filled || of.found != found) && progress.Done()) {
    progress.Print();
    _exit(0);
  }
  Check(FalseBins(of.counter.bins(), of.counter.counts()).empty());
  const size_t base = IndexOf(input.op) * 509;
  for (const uint16_t bin : of.counter.reached()) {
    extra_counters[(base + bin) % kExtraCounters] = marks;
  }
  return of.inputs;
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
    case 0:  // a term repeated, unchanged or with the opposite sign
      input.dot.a[y] = input.dot.a[x];
      if (IsAbsent(m.b)) break;
      input.dot.b[y] = input.dot.b[x] ^ (random() & 1) << SignBit(m.b);
      break;
    case 1:
      std::swap(input.dot.a[x], input.dot.a[y]);
      break;
    default: {  // one word: a flipped bit, a different exponent, an edge value
      const uint64_t words = 2 * (m.k + m.scales()) + 1 + m.groups(), which = random() % words;
      uint64_t at = 0;
      ForEachWord(*input.op, input.dot, [&](const Format& f, uint64_t& word) {
        if (at++ != which || IsAbsent(f)) return;
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
  MakeStorable(m, input.dot);
  return input;
}

}  // namespace mmadiff::fuzz

#include "corpus/cases/case_name.h"

#include <algorithm>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "corpus/cases/generate.h"
#include "sim/absent_addend.h"
#include "sim/sparsity.h"

namespace mmadiff {
namespace {

// FNV-1a, 32 bits.
uint32_t Hash(absl::string_view text, uint32_t hash = 2166136261u) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

absl::Status BadName(absl::string_view text, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("case name '", text, "': ", what,
                                                 "; expected ARCH/INSTRUCTION@g", kGeneratorVersion,
                                                 ":[STRATEGY.]SEED:INDEX"));
}

void AppendName(std::string* out, const Strategy& strategy) { absl::StrAppend(out, strategy.name); }

// Digits only: SimpleAtoi alone would also take blanks and signs.
bool ParseNumber(absl::string_view text, uint64_t* number) {
  const bool digits = std::ranges::all_of(text, absl::ascii_isdigit);
  return digits && absl::SimpleAtoi(text, number);
}

// Drops two quarters of a group.
uint64_t RandomMetadata(int group, Random& random) {
  if (group < 4) return LegalMetadata(group)[random.Below(2)];
  const int first = random.Below(4), second = (first + 1 + random.Below(3)) % 4;
  const auto dropped_by = [=](uint64_t m) {
    const auto stores = [m](uint64_t quarter) { return (m & 3) == quarter || m >> 2 == quarter; };
    return !stores(first) && !stores(second);
  };
  return *std::ranges::find_if(LegalMetadata(group), dropped_by);
}

// Chooses the metadata, in one of four rows of A the same for all groups, and sets the elements of A that
// are not stored to +0.
void MakeSparse(const Tile& t, Random& random, uint64_t* metadata) {
  const int groups = t.instruction.shape.groups, group = t.k() / groups;
  bool same = false;
  for (int i = 0; i < t.rows() * groups; ++i) {
    if (i % groups == 0) same = random.Below(4) == 0;
    metadata[i] = same && i % groups != 0 ? metadata[i - 1] : RandomMetadata(group, random);
    const TileWords words = t.a + (i / groups * t.stride() + i % groups * group);
    for (int p = 0; p < group; ++p) {
      if (!IsStored(group, metadata[i], p)) words[p] = 0;
    }
  }
}

// The number of blocks that a case with this many words usually needs; 0: as many as are made at
// once, or more.
uint32_t BlocksOf(int words) { return words <= 6 ? 4 : words <= 32 ? 8 : words <= 96 ? 16 : 0; }

// The first random blocks of cases at a fixed distance, made for several cases at a time.
class FirstBlocks {
 public:
  FirstBlocks(uint64_t seed, uint32_t stream, uint32_t distance, uint32_t of_case)
      : key_{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)},
        stream_(stream),
        distance_(distance),
        of_case_(of_case) {}

  std::span<const uint32_t> Of(uint64_t index) {
    if (next_ == kPhiloxBlocks) {
      MakePhiloxBlocks({index, stream_, 0, of_case_, distance_}, key_, words_);
      next_ = 0;
    }
    const uint32_t* first = &words_[next_ * 4];
    next_ += of_case_;
    return {first, of_case_ * 4};
  }

 private:
  uint32_t key_[2];
  uint32_t stream_, distance_, of_case_;
  uint32_t next_ = kPhiloxBlocks;
  uint32_t words_[kPhiloxBlocks * 4];
};

int BoundaryClassesOf(const CaseStream& stream) {
  const Instruction& in = *stream.op->instruction;
  return stream.version == 2 ? BoundaryClassCountOfVersion2(in) : BoundaryClassCount(in);
}

}  // namespace

std::string CaseStream::name() const {
  const bool is_default = strategy == &Strategies().front();
  return absl::StrCat(op->name, "@g", version, ":",
                      is_default ? "" : absl::StrCat(strategy->name, "."), seed);
}

const InputClass& CaseStream::class_of(uint64_t index) const {
  return strategy->class_of(*op->instruction, BoundaryClassesOf(*this), index);
}

int CaseStream::class_period() const {
  return ClassPeriod(strategy->kind, BoundaryClassesOf(*this));
}

std::string FormatCaseName(const CaseName& name) {
  return absl::StrCat(name.stream.name(), ":", name.index);
}

absl::StatusOr<CaseStream> ParseStreamName(absl::string_view text, Models models) {
  const std::vector<absl::string_view> halves = absl::StrSplit(text, '@');
  if (halves.size() != 2) return BadName(text, "expected one '@'");
  CaseStream stream;
  stream.op = FindOperation({halves[0].data(), halves[0].size()}, models);
  if (stream.op == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        "case name '", text, "': ", WhyNoOperation(absl::CHexEscape(halves[0].substr(0, 100)))));
  }
  const std::vector<absl::string_view> parts = absl::StrSplit(halves[1], ':');
  if (parts.size() != 2) return BadName(text, "the version and the seed must follow '@'");
  if (parts[0] == "g2" && stream.op->instruction->scale == nullptr &&
      !stream.op->instruction->is_conversion()) {
    stream.version = 2;
  } else if (parts[0] != absl::StrCat("g", kGeneratorVersion)) {
    return BadName(text, absl::StrCat("generator version '", parts[0], "' is not supported"));
  }
  const size_t dot = parts[1].find('.');
  stream.strategy = &Strategies().front();
  if (dot != parts[1].npos) {
    stream.strategy = FindStrategy({parts[1].data(), dot});
    if (stream.strategy == nullptr) {
      return BadName(
          text, absl::StrCat("no strategy '", parts[1].substr(0, dot), "'; the strategies are ",
                             absl::StrJoin(Strategies(), ", ", AppendName),
                             " and those of `mmadiff list strategies`"));
    }
  }
  if (!HasClasses(*stream.strategy, *stream.op->instruction)) {
    return BadName(
        text, absl::StrCat("'", stream.strategy->name, "' is not a class of this instruction"));
  }
  const absl::string_view seed = parts[1].substr(dot == parts[1].npos ? 0 : dot + 1);
  if (!ParseNumber(seed, &stream.seed)) {
    return BadName(text, absl::StrCat("seed '", seed, "' is not a number below 2^64"));
  }
  return stream;
}

bool LooksLikeCaseName(absl::string_view argument) {
  return absl::StrContains(argument, "@g") && !absl::EndsWith(argument, ".txtpb");
}

absl::StatusOr<CaseName> ParseCaseName(absl::string_view text, Models models) {
  const size_t colon = text.rfind(':');
  if (colon == text.npos) return BadName(text, "the index is missing");
  absl::StatusOr<CaseStream> stream = ParseStreamName(text.substr(0, colon), models);
  if (!stream.ok()) return stream.status();
  CaseName name = {*stream, 0};
  if (!ParseNumber(text.substr(colon + 1), &name.index)) {
    return BadName(text,
                   absl::StrCat("index '", text.substr(colon + 1), "' is not a number below 2^64"));
  }
  return name;
}

uint32_t StreamId(const CaseStream& stream) {
  return Hash(stream.strategy->name, Hash(stream.op->instruction->name));
}

void Generate(const CaseStream& stream, uint64_t first, int64_t count, Batch& batch) {
  const Instruction& instruction = *stream.op->instruction;
  const Shape& s = instruction.shape;
  batch.Resize(s, count);
  if (instruction.is_conversion()) {  // words of an earlier use of the batch
    std::ranges::fill(batch.b, 0);
    std::ranges::fill(batch.c, 0);
  }
  batch.stream = stream.name();
  batch.first = first;
  const uint32_t id = StreamId(stream);
  // Fills class by class: the processor learns from each case for the next.
  const int64_t period = stream.class_period();
  const uint32_t of_case = BlocksOf(s.a_words() + s.b_words() + s.d_words());
  // Without an addend, the classes fill one of the output format, which is then removed.
  const bool without_addend = HasNoAddend(stream.op->model);
  const TileKind kind = {s,
                         instruction.d,
                         instruction.a,
                         instruction.b,
                         without_addend ? instruction.d : instruction.c,
                         instruction.scale};
  for (int64_t residue = 0; residue < std::min(period, count); ++residue) {
    const InputClass& input_class = stream.class_of(first + residue);
    FirstBlocks blocks(stream.seed, id, period, of_case);
    for (int64_t i = residue; i < count; i += period) {
      const Tile tile = {kind, &batch.a[i * s.a_words()], &batch.b[i * s.b_words()],
                         &batch.c[i * s.d_words()]};
      Random random = of_case != 0 ? Random(stream.seed, id, first + i, blocks.Of(first + i))
                                   : Random(stream.seed, id, first + i);
      input_class.fill(tile, random);
      if (instruction.sparse()) MakeSparse(tile, random, &batch.metadata[i * s.metadata_words()]);
    }
  }
  if (without_addend) std::ranges::fill(batch.c, 0);
}

bool GenerateClass(const Operation& op, absl::string_view input_class, uint64_t index,
                   Batch& batch) {
  if (input_class == "*") {
    Generate({&op, FindStrategy("mixed")}, index, 1, batch);
    return true;
  }
  const std::span<const InputClass> classes = BoundaryClasses(*op.instruction);
  for (size_t i = 0; i < classes.size(); ++i) {
    if (input_class != classes[i].name) continue;
    Generate({&op, FindStrategy("boundary")}, index * classes.size() + i, 1, batch);
    return true;
  }
  return false;
}

}  // namespace mmadiff

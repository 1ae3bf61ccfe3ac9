#include "triage/probe/decoding.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "device/line_protocol.h"
#include "device/status_macros.h"
#include "sim/reading.h"
#include "sim/simulate.h"
#include "sim/word.h"
#include "triage/number_text.h"
#include "triage/probe/twice.h"

namespace mmadiff {
namespace {

constexpr size_t kSlowWords = 256;  // of each operand, on a slow device
constexpr size_t kNamedRuns = 6;    // runs of misread words that are listed

const Format& FormatOf(const Operation& op, ReadOperand operand) {
  const Model& m = op.model;
  switch (operand) {
    case ReadOperand::kA:
      return m.a;
    case ReadOperand::kB:
      return m.b;
    case ReadOperand::kAddend:
      return m.c;
    default:
      return m.scale;
  }
}

std::vector<ReadOperand> OperandsOf(const Operation& op) {
  std::vector<ReadOperand> operands = {ReadOperand::kA};
  if (!IsAbsent(op.model.b)) operands.push_back(ReadOperand::kB);
  if (!IsAbsent(op.model.c)) operands.push_back(ReadOperand::kAddend);
  if (op.model.scale_block > 0) {
    operands.push_back(ReadOperand::kScaleOfA);
    operands.push_back(ReadOperand::kScaleOfB);
  }
  return operands;
}

// Patterns in `bits` bits around each bit: alone, with the one above it, all bits below it, and as a
// little more than half of the one above it.
std::vector<uint64_t> BitPatterns(int bits) {
  std::vector<uint64_t> patterns = {0, LowBits(bits)};
  for (int i = 0; i < bits; ++i) {
    const uint64_t bit = 1ull << i;
    for (const uint64_t p : {bit, bit | bit << 1, bit - 1, bit | 1, bit | bit << 1 | 1}) {
      patterns.push_back(p & LowBits(bits));
    }
  }
  return patterns;
}

std::vector<uint64_t> WordsOf(const Format& f) {
  std::vector<uint64_t> words;
  if (f.bits <= 8) {
    for (uint64_t word = 0; word >> f.bits == 0; ++word) words.push_back(word);
    return words;
  }
  const int low = f.fraction_bits + f.ignored_bits;
  std::vector<uint64_t> fields = {0};
  const auto top = static_cast<uint64_t>(MaxExponentField(f)), middle = top / 2;
  for (uint64_t e = 1; !IsInteger(f) && e <= top; ++e) {
    const bool near = e <= 3 || e + 3 >= top || (e + 12 >= middle && e <= middle + 12);
    if (near || f.exponent_bits <= 5 || e % 32 == 0) fields.push_back(e);
  }
  const uint64_t sign = 1ull << SignBit(f);
  for (const uint64_t field : fields) {
    for (const uint64_t pattern : BitPatterns(IsInteger(f) ? f.bits - 1 : low)) {
      words.push_back(field << low | pattern);
      words.push_back(sign | field << low | pattern);
    }
  }
  std::ranges::sort(words);
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

uint64_t& Place(ReadOperand operand, int k, DotProductCase& dot) {
  switch (operand) {
    case ReadOperand::kA:
      return dot.a[0];
    case ReadOperand::kB:
      return dot.b[0];
    case ReadOperand::kAddend:
      return dot.c;
    case ReadOperand::kScaleOfA:
      return dot.a[k];
    default:
      return dot.b[k];
  }
}

void Replace(ReadOperand operand, int k, uint64_t word, DotProductCase& dot) {
  Place(operand, k, dot) = word;
  const bool of_a = operand == ReadOperand::kScaleOfA;
  if (!of_a && operand != ReadOperand::kScaleOfB) return;
  std::vector<uint64_t>& scales = of_a ? dot.a : dot.b;
  std::fill(scales.begin() + k, scales.end(), word);
}

// The word in place of one element of the operand, among zeros, or of all scales. The partner has a
// one for every k, so that the answer does not depend on which k meet; or a power of two if the
// product would be near the least or the largest result.
DotProductCase DotOf(const Operation& op, ReadOperand operand, uint64_t word) {
  const Model& m = op.model;
  DotProductCase dot = NeutralDotProduct(m);
  if (operand == ReadOperand::kAddend) {
    dot.c = word;
    return dot;
  }
  const Format& f = FormatOf(op, operand);
  const bool of_b = operand == ReadOperand::kB;
  int power = 0;
  if (!IsInteger(f) && !IsAbsent(m.b)) {
    const Value value = DecodeValue(f, word);
    const int up = m.d.min_exponent + 2 - value.exponent,
              down = value.exponent - MaxExponent(m.d) + 2;
    if (value.kind == Value::Class::kFinite) power = std::max(0, up) - std::max(0, down);
  }
  const Format& partner = of_b ? m.a : m.b;
  uint64_t one = IntegerWord(partner, 1);
  if (power != 0) {
    power = std::clamp(power, LowestExponent(partner), HighestExponent(partner));
    EncodePowerOfTwo(partner, false, power, &one);
  }
  std::vector<uint64_t>& own = of_b ? dot.b : dot.a;
  std::vector<uint64_t>& other = of_b ? dot.a : dot.b;
  own[0] = IntegerWord(of_b ? m.b : m.a, 1);
  for (int k = 0; k < m.k && !IsAbsent(m.b); ++k) {
    const bool pruned = of_b && op.instruction->sparse && k % 4 > 1;
    if (!pruned) other[k] = one;
  }
  Replace(operand, m.k, word, dot);
  return dot;
}

bool IsZero(const Format& f, uint64_t word) {
  return IsInteger(f) ? DecodeInteger(f, word) == 0
                      : DecodeValue(f, word).kind == Value::Class::kZero;
}

// One word for all NaNs, and one for both zeros.
uint64_t Canonical(const Format& f, uint64_t word) {
  if (IsNan(f, word)) return ~uint64_t{0};
  return IsZero(f, word) ? 0 : word;
}

bool SameNumber(const Format& f, uint64_t x, uint64_t y) {
  return x == y || Canonical(f, x) == Canonical(f, y);
}

bool GivesNumber(const Operation& op, const Algorithm& algorithm, const Observed& o) {
  return SameNumber(op.model.d, Simulate(WithAlgorithm(op, algorithm), o.dot), o.d);
}

bool GivesNumbers(const Operation& op, const Algorithm& algorithm,
                  std::span<const Observed> observed) {
  return std::ranges::all_of(observed,
                             [&](const Observed& o) { return GivesNumber(op, algorithm, o); });
}

const char* ReadingOf(ReadOperand operand) {
  switch (operand) {
    case ReadOperand::kA:
      return "a_reading";
    case ReadOperand::kB:
      return "b_reading";
    case ReadOperand::kAddend:
      return "addend_reading";
    default:
      return "scale_reading";
  }
}

// Finds the word of which the model gives an answer.
class Images {
 public:
  Images(const Operation& op, ReadOperand operand, const std::vector<uint64_t>& words)
      : op_(op), operand_(operand), words_(words) {}

  // The nearest to `asked`, among the partners of the same dot product.
  std::optional<uint64_t> Of(uint64_t asked, const Observed& o) {
    DotProductCase partners = o.dot;
    Replace(operand_, op_.model.k, 0, partners);
    const auto [at, unknown] = by_answer_.try_emplace(partners);
    if (unknown) {
      for (const uint64_t word : words_) {
        DotProductCase dot = o.dot;
        Replace(operand_, op_.model.k, word, dot);
        at->second[Canonical(op_.model.d, Simulate(op_.model, dot))].push_back(word);
      }
    }
    const auto found = at->second.find(Canonical(op_.model.d, o.d));
    if (found == at->second.end()) return std::nullopt;
    return *std::ranges::min_element(found->second, {}, [asked](uint64_t word) {
      return word > asked ? word - asked : asked - word;
    });
  }

 private:
  const Operation& op_;
  const ReadOperand operand_;
  const std::vector<uint64_t>& words_;
  std::map<DotProductCase, std::map<uint64_t, std::vector<uint64_t>>> by_answer_;
};

// "every NaN" and the like, if these are exactly the misread words of the class, all with one image.
std::string ClassText(const OperandDecoding& o, const std::vector<uint64_t>& words) {
  const Format& f = *o.format;
  if (IsInteger(f) || o.misread.size() < 2) return "";
  struct {
    const char* text;
    bool (*holds)(const Format&, const Unpacked&);
  } const classes[] = {
      {"every NaN", [](const Format&, const Unpacked& x) { return x.kind == Kind::kNan; }},
      {"every infinity",
       [](const Format&, const Unpacked& x) { return x.kind == Kind::kInfinite; }},
      {"every subnormal", [](const Format& g, const Unpacked& x) {
         return x.kind == Kind::kFinite && x.significand != 0 &&
                x.significand >> g.fraction_bits == 0;
       }}};
  for (const auto& [text, holds] : classes) {
    const auto count =
        std::ranges::count_if(words, [&, h = holds](uint64_t w) { return h(f, Decode(f, w)); });
    const bool same = std::ranges::all_of(o.misread, [&, h = holds](const Misread& m) {
      return h(f, Decode(f, m.word)) && m.observed.d == o.misread[0].observed.d;
    });
    if (same && count == std::ssize(o.misread)) return text;
  }
  return "";
}

// The answers that the model does not give come first: they refute most changes.
std::vector<Observed> MisreadFirst(const Operation& op, std::span<const Observed> observed) {
  std::vector<Observed> sorted(observed.begin(), observed.end());
  std::stable_partition(sorted.begin(), sorted.end(),
                        [&](const Observed& o) { return !GivesNumber(op, op.model.algorithm, o); });
  return sorted;
}

OperandDecoding DecodingOf(const Operation& op, ReadOperand operand,
                           const std::vector<uint64_t>& words, std::span<const Observed> observed,
                           const std::vector<Neighbour>& changes) {
  OperandDecoding decoding = {operand, &FormatOf(op, operand), words.size(), {}, {}, {}};
  Images images(op, operand, words);
  for (size_t i = 0; i < words.size(); ++i) {
    if (GivesNumber(op, op.model.algorithm, observed[i])) continue;
    decoding.misread.push_back({words[i], observed[i], images.Of(words[i], observed[i])});
  }
  if (decoding.misread.empty()) return decoding;
  decoding.all_of = ClassText(decoding, words);
  const std::vector<Observed> sorted = MisreadFirst(op, observed);
  for (const Neighbour& n : changes) {
    if (n.single()->parameter->name != absl::string_view(ReadingOf(operand))) continue;
    if (GivesNumbers(op, n.algorithm, sorted)) decoding.rules.push_back(*n.single());
  }
  return decoding;
}

bool IsScale(const OperandDecoding& o) {
  return o.operand == ReadOperand::kScaleOfA || o.operand == ReadOperand::kScaleOfB;
}

// scale_reading covers the scales of both operands.
void KeepRulesOfAllScales(std::vector<OperandDecoding>& operands) {
  for (OperandDecoding& o : operands) {
    if (!IsScale(o)) continue;
    std::erase_if(o.rules, [&](const Change& c) {
      return std::ranges::any_of(operands, [&](const OperandDecoding& other) {
        return &other != &o && IsScale(other) && std::ranges::count(other.rules, c) == 0;
      });
    });
  }
}

// A form in which the result's word may be taken: bits of the word of another format.
struct ResultForm {
  const char* text;
  const Format& of;
  int d_bits;  // of the results that can have the form
  int right;   // bits by which the word is shifted
};
constexpr ResultForm kResultForms[] = {{"the low half of an f32", kF32, 16, 0},
                                       {"the high half of an f32", kF32, 16, 16},
                                       {"an f16 in the low half", kF16, 32, 0},
                                       {"an f16 in the high half", kF16, 32, -16},
                                       {"a bf16 in the low half", kBf16, 32, 0}};

// Whether each finite answer is the right number in that form, and some of them are not zeros.
bool IsForm(const Operation& op, const ResultForm& form, std::span<const Observed> observed) {
  size_t shown = 0;
  for (const Observed& o : observed) {
    const Value value = DecodeValue(op.model.d, Simulate(op.model, o.dot));
    uint64_t word = 0;
    if (value.kind == Value::Class::kNan || value.kind == Value::Class::kInfinite) continue;
    if (!EncodeValue(form.of, value, &word)) continue;
    word = form.right >= 0 ? word >> form.right : word << -form.right;
    if ((word & LowBits(form.d_bits)) != o.d) return false;
    shown += o.d != 0;
  }
  return shown >= 16;
}

std::string FormOf(const Operation& op, std::span<const Observed> observed) {
  if (IsInteger(op.model.d)) return "";
  for (const ResultForm& form : kResultForms) {
    if (form.d_bits == op.model.d.bits && IsForm(op, form, observed)) return form.text;
  }
  return "";
}

std::string WordsText(const Format& f, uint64_t first, uint64_t last) {
  return first == last ? HexWord(f, first)
                       : absl::StrCat(HexWord(f, first), "..", HexWord(f, last));
}

// In the result's format if no word of the operand has the value.
std::string ImageText(const Format& f, const Format& d, const Misread& m) {
  return m.as ? absl::StrCat(HexWord(f, *m.as), " = ", NumberText(f, *m.as))
              : absl::StrCat(HexWord(d, m.observed.d), " = ", NumberText(d, m.observed.d),
                             ", not a value of ", f.name);
}

// "78..7d as 7e = 448.0, 80 as 00 = +0": runs of words with one image.
std::string MapText(const OperandDecoding& o, const Format& d) {
  const std::vector<Misread>& misread = o.misread;
  if (!o.all_of.empty()) return absl::StrCat(o.all_of, " as ", ImageText(*o.format, d, misread[0]));
  std::vector<std::string> runs;
  for (size_t i = 0, end = 0; i < misread.size() && runs.size() <= kNamedRuns; i = end) {
    const auto image = [&](size_t k) {
      return std::pair(misread[k].as, misread[k].as ? 0 : misread[k].observed.d);
    };
    for (end = i + 1; end < misread.size() && misread[end].word == misread[end - 1].word + 1 &&
                      image(end) == image(i);) {
      ++end;
    }
    runs.push_back(runs.size() == kNamedRuns
                       ? "..."
                       : absl::StrCat(WordsText(*o.format, misread[i].word, misread[end - 1].word),
                                      " as ", ImageText(*o.format, d, misread[i])));
  }
  return absl::StrJoin(runs, ", ");
}

}  // namespace

const char* Name(ReadOperand operand) {
  constexpr const char* kNames[] = {"a", "b", "c", "the scales of a", "the scales of b"};
  return kNames[static_cast<int>(operand)];
}

bool Decoding::AsTheModel() const {
  return std::ranges::all_of(operands, [](const OperandDecoding& o) { return o.misread.empty(); });
}

std::string Decoding::Text() const {
  if (AsTheModel()) return "as the model reads it";
  if (!result.empty()) return absl::StrCat("the result is ", result);
  // Operands with the same words come together.
  std::vector<std::pair<std::string, std::vector<const OperandDecoding*>>> texts;
  for (const OperandDecoding& o : operands) {
    if (o.misread.empty()) continue;
    const std::string map =
        absl::StrCat(o.rules.empty() ? o.all_of.empty() ? "by no single rule, " : ""
                                     : TextOf(static_cast<Reading>(o.rules.front().value)) + ": ",
                     MapText(o, *d), " (", o.misread.size(), " of ", o.words, " words)");
    const auto same = std::ranges::find(texts, map, [](const auto& text) { return text.first; });
    if (same == texts.end()) {
      texts.push_back({map, {&o}});
    } else {
      same->second.push_back(&o);
    }
  }
  std::vector<std::string> lines;
  std::vector<std::string> rules;
  for (const auto& [map, of] : texts) {
    lines.push_back(absl::StrCat(absl::StrJoin(of, " and ",
                                               [](std::string* out, const OperandDecoding* o) {
                                                 out->append(mmadiff::Name(o->operand));
                                               }),
                                 ": ", map));
    for (const OperandDecoding* o : of) {
      if (!o->rules.empty()) rules.push_back(mmadiff::Name(o->rules.front()));
    }
  }
  if (!changes.empty()) rules = {mmadiff::Name(changes.front())};
  if (!rules.empty()) lines.push_back(absl::StrJoin(rules, ", "));
  return absl::StrJoin(lines, "; ");
}

std::vector<DotProductCase> DecodingCases(const Operation& op) {
  std::vector<DotProductCase> dots;
  for (const ReadOperand operand : OperandsOf(op)) {
    for (const uint64_t word : WordsOf(FormatOf(op, operand))) {
      dots.push_back(DotOf(op, operand, word));
    }
  }
  return dots;
}

absl::StatusOr<Decoding> AskDecoding(Device& device, const Operation& asked, const Operation& op) {
  Decoding decoding;
  decoding.d = op.instruction->d;
  std::vector<std::vector<uint64_t>> words;
  std::vector<DotProductCase> dots;
  const std::vector<ReadOperand> operands = OperandsOf(op);
  for (const ReadOperand operand : operands) {
    std::vector<uint64_t>& all = words.emplace_back(WordsOf(FormatOf(op, operand)));
    if (device.IsSlow() && all.size() > kSlowWords) {
      for (size_t i = 0; i < kSlowWords; ++i) all[i] = all[i * all.size() / kSlowWords];
      all.resize(kSlowWords);
    }
    for (const uint64_t word : all) dots.push_back(DotOf(op, operand, word));
  }
  ASSIGN_OR_RETURN(const auto d, RunTwice(device, asked, MakeDotProductBatch(op.shape(), dots)));
  for (size_t i = 0; i < dots.size(); ++i) decoding.observed.push_back({dots[i], d[i]});
  std::vector<Neighbour> changes;
  if (!GivesNumbers(op, op.model.algorithm, decoding.observed)) {
    changes = Neighbours(op.model);
    std::ranges::move(Misreadings(op.model, false), std::back_inserter(changes));
  }
  size_t first = 0;
  for (size_t i = 0; i < operands.size(); ++i) {
    const auto own = std::span(decoding.observed).subspan(first, words[i].size());
    decoding.operands.push_back(DecodingOf(op, operands[i], words[i], own, changes));
    first += words[i].size();
  }
  KeepRulesOfAllScales(decoding.operands);
  const std::vector<Observed> sorted = MisreadFirst(op, decoding.observed);
  for (const Neighbour& n : changes) {
    if (GivesNumbers(op, n.algorithm, sorted)) decoding.changes.push_back(*n.single());
  }
  if (decoding.changes.empty()) decoding.result = FormOf(op, decoding.observed);
  return decoding;
}

ProbeAnswer DecodingAnswer(const Operation& op, const Question& question, Decoding decoding) {
  ProbeAnswer answer = {.question = &question,
                        .answer = decoding.Text(),
                        .cases = decoding.observed.size(),
                        .observed = std::move(decoding.observed)};
  if (decoding.AsTheModel()) return answer;
  answer.agreement = Agreement::kContradicts;
  answer.decision = Decision::kContradicts;
  for (const OperandDecoding& o : decoding.operands) {
    for (const Change& rule : o.rules) answer.facts.push_back(mmadiff::Name(rule));
    if (o.misread.empty() || answer.refuting) continue;
    answer.refuting = o.misread.front().observed;
  }
  for (const Change& change : decoding.changes) answer.facts.push_back(mmadiff::Name(change));
  answer.detail = FormatLine(*op.instruction, answer.refuting->dot, answer.refuting->d);
  return answer;
}

}  // namespace mmadiff

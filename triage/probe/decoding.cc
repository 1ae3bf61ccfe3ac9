#include "triage/probe/decoding.h"

#include <algorithm>
#include <bit>
#include <map>
#include <random>
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

constexpr size_t kSlowWords = 512;  // of each operand, on a slow device
constexpr size_t kNamedRuns = 6;    // runs of misread words, or of k, that are listed

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

// The words to ask of an operand: those for k = 0, then `each` for every other k in `ks`.
struct Words {
  ReadOperand operand;
  std::vector<uint64_t> words, each = {};
  std::vector<int> ks = {};
  size_t of = 0;  // the words of a device that is not slow

  size_t count() const { return words.size() + each.size() * ks.size(); }
  std::pair<int, uint64_t> At(size_t i) const {
    if (i < words.size()) return {0, words[i]};
    i -= words.size();
    return {ks[i / each.size()], each[i % each.size()]};
  }
};

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

// A slow device gets those of one binade, which show every bit, zeros, infinities and some NaNs, then a
// random part of the others.
std::vector<uint64_t> SomeOf(const Format& f, std::vector<uint64_t> words) {
  const auto must = [&](uint64_t word) {
    if (IsInteger(f)) return false;
    const Unpacked x = Decode(f, word);
    const uint64_t fraction = word & LowBits(f.fraction_bits + f.ignored_bits);
    if (x.kind == Kind::kNan)
      return std::has_single_bit(fraction) || std::has_single_bit(fraction + 1);
    const bool zero = x.significand == 0, positive = (word >> SignBit(f) & 1) == 0;
    return x.kind == Kind::kInfinite || zero || (x.exponent == 0 && positive);
  };
  const auto rest = std::stable_partition(words.begin(), words.end(), must);
  std::mt19937_64 random(1);
  std::shuffle(rest, words.end(), random);
  words.resize(std::min(words.size(), kSlowWords));
  std::ranges::sort(words);
  return words;
}

// Each bit set in one, clear in another.
std::vector<uint64_t> WordsForEachK(const Format& f) {
  const uint64_t sign = f.is_signed ? 1ull << SignBit(f) : 0;
  const uint64_t largest = IsInteger(f) ? LowBits(f.bits) & ~sign : MaxFiniteWord(f);
  std::vector<uint64_t> words = {1ull << f.ignored_bits, largest};
  if (sign != 0) words.insert(words.end(), {sign | 1ull << f.ignored_bits, sign | largest});
  return words;
}

// The operand's word for k, its addend, or all of its scales.
void Replace(const Model& m, ReadOperand operand, int k, uint64_t word, DotProductCase& dot) {
  const bool of_a = operand == ReadOperand::kA || operand == ReadOperand::kScaleOfA;
  std::vector<uint64_t>& row = of_a ? dot.a : dot.b;
  if (operand == ReadOperand::kAddend) {
    dot.c = word;
  } else if (operand == ReadOperand::kA || operand == ReadOperand::kB) {
    row[k] = word;
  } else {
    std::fill(row.begin() + m.k, row.end(), word);
  }
}

// The word in place of one element of the operand, for k among zeros, or of all scales. The partner has a
// one for every k, so that the answer does not depend on which k meet; or a power of two if the
// product would be near the least or the largest result.
DotProductCase DotOf(const Operation& op, ReadOperand operand, int k, uint64_t word) {
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
  own[k] = IntegerWord(of_b ? m.b : m.a, 1);
  for (int i = 0; i < m.k && !IsAbsent(m.b); ++i) {
    const bool pruned = of_b && op.instruction->sparse && i % 4 > 1;
    if (!pruned) other[i] = one;
  }
  Replace(m, operand, k, word, dot);
  return dot;
}

// b of the pruned elements of a sparse a is not read.
std::vector<int> OtherKs(const Operation& op, ReadOperand operand) {
  std::vector<int> ks;
  if (operand != ReadOperand::kA && operand != ReadOperand::kB) return ks;
  for (int k = 1; k < op.model.k; ++k) {
    if (!op.instruction->sparse || k % 4 <= 1) ks.push_back(k);
  }
  return ks;
}

std::vector<Words> WordsToAsk(const Operation& op, bool slow) {
  std::vector<Words> all;
  for (const ReadOperand operand : OperandsOf(op)) {
    const Format& f = FormatOf(op, operand);
    std::vector<uint64_t> words = WordsOf(f);
    const size_t of = words.size();
    if (slow) words = SomeOf(f, std::move(words));
    all.push_back({operand, std::move(words), WordsForEachK(f), OtherKs(op, operand), of});
  }
  return all;
}

void AppendDots(const Operation& op, const Words& words, std::vector<DotProductCase>& dots) {
  for (size_t i = 0; i < words.count(); ++i) {
    const auto [k, word] = words.At(i);
    dots.push_back(DotOf(op, words.operand, k, word));
  }
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

  // The nearest to `asked`, among the partners of the same dot product; else the word of the value.
  std::optional<uint64_t> Of(uint64_t asked, int k, const Observed& o) {
    DotProductCase partners = o.dot;
    Replace(op_.model, operand_, k, 0, partners);
    const auto [at, unknown] = by_answer_.try_emplace(partners);
    if (unknown) {
      for (const uint64_t word : words_) at->second[AnswerTo(word, k, o)].push_back(word);
    }
    const uint64_t answer = Canonical(op_.model.d, o.d);
    const auto found = at->second.find(answer);
    if (found == at->second.end()) return OfValue(k, o, answer);
    return *std::ranges::min_element(found->second, {}, [asked](uint64_t word) {
      return word > asked ? word - asked : asked - word;
    });
  }

 private:
  uint64_t AnswerTo(uint64_t word, int k, const Observed& o) const {
    DotProductCase dot = o.dot;
    Replace(op_.model, operand_, k, word, dot);
    return Canonical(op_.model.d, Simulate(op_.model, dot));
  }

  // The result, divided by the partner.
  std::optional<uint64_t> OfValue(int k, const Observed& o, uint64_t answer) const {
    const Format &f = FormatOf(op_, operand_), &d = op_.model.d;
    if (IsInteger(f) || IsInteger(d)) return std::nullopt;
    Value value = DecodeValue(d, o.d);
    if (operand_ == ReadOperand::kA)
      value.exponent -= DecodeValue(op_.model.b, o.dot.b[k]).exponent;
    if (operand_ == ReadOperand::kB)
      value.exponent -= DecodeValue(op_.model.a, o.dot.a[k]).exponent;
    uint64_t word = 0;
    if (!EncodeValue(f, value, &word) || AnswerTo(word, k, o) != answer) return std::nullopt;
    return word;
  }

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
      {"NaN", [](const Format&, const Unpacked& x) { return x.kind == Kind::kNan; }},
      {"infinity", [](const Format&, const Unpacked& x) { return x.kind == Kind::kInfinite; }},
      {"subnormal", [](const Format& g, const Unpacked& x) {
         return x.kind == Kind::kFinite && x.significand != 0 &&
                x.significand >> g.fraction_bits == 0;
       }}};
  for (const auto& [text, holds] : classes) {
    const auto count =
        std::ranges::count_if(words, [&, h = holds](uint64_t w) { return h(f, Decode(f, w)); });
    const bool same = std::ranges::all_of(o.misread, [&, h = holds](const Misread& m) {
      return h(f, Decode(f, m.word)) && m.observed.d == o.misread[0].observed.d;
    });
    if (!same || count != std::ssize(o.misread)) continue;
    return absl::StrCat("every ", text, f.bits <= 8 ? "" : " queried");
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

// `observed`: the answers to the words.
OperandDecoding DecodingOf(const Operation& op, const Words& asked,
                           std::span<const Observed> observed,
                           const std::vector<Neighbour>& changes) {
  const ReadOperand operand = asked.operand;
  OperandDecoding decoding = {operand, &FormatOf(op, operand), asked.words.size(), asked.of, {},
                              {}};
  Images images(op, operand, asked.words);
  for (size_t i = 0; i < observed.size(); ++i) {
    if (GivesNumber(op, op.model.algorithm, observed[i])) continue;
    const auto [k, word] = asked.At(i);
    (i < asked.words.size() ? decoding.misread : decoding.elsewhere)
        .push_back({word, observed[i], images.Of(word, k, observed[i]), k});
  }
  if (decoding.AsTheModel()) return decoding;
  decoding.all_of = ClassText(decoding, asked.words);
  const std::vector<Observed> sorted = MisreadFirst(op, observed);
  const Parameter* const addend_flush =
      FindParameter(op.model.algorithm.family, "addend_subnormals");
  for (const Neighbour& n : changes) {
    const Parameter* const p = n.single()->parameter;
    const bool flushes = operand == ReadOperand::kAddend && p == addend_flush;
    if (!flushes && p->name != absl::string_view(ReadingOf(operand))) continue;
    if (GivesNumbers(op, n.algorithm, sorted)) decoding.rules.push_back(*n.single());
  }
  return decoding;
}

// Whether the answers about an operand are those of the model whose partners, all ones, are read as the
// word that `partner` shows for one.
bool IsMisreadOne(const Operation& op, const OperandDecoding& partner,
                  std::span<const Observed> observed) {
  const uint64_t one = IntegerWord(*partner.format, 1);
  const auto read = std::ranges::find(partner.misread, one, &Misread::word);
  if (read == partner.misread.end() || !read->as) return false;
  return std::ranges::all_of(observed, [&](const Observed& o) {
    DotProductCase dot = o.dot;
    std::vector<uint64_t>& row = partner.operand == ReadOperand::kA ? dot.a : dot.b;
    std::replace(row.begin(), row.begin() + op.model.k, one, *read->as);
    return SameNumber(op.model.d, Simulate(op.model, dot), o.d);
  });
}

// If one of a and b misreads the ones that meet the other, the other is read as the model reads it.
void KeepTheMisreader(const Operation& op, OperandDecoding& a, std::span<const Observed> of_a,
                      OperandDecoding& b, std::span<const Observed> of_b) {
  if (a.AsTheModel() || b.AsTheModel()) return;
  const bool by_a = IsMisreadOne(op, a, of_b), by_b = IsMisreadOne(op, b, of_a);
  if (by_a == by_b) return;
  OperandDecoding& right = by_a ? b : a;
  right.misread.clear();
  right.elsewhere.clear();
  right.rules.clear();
}

// The result for zeros in a and ones in b, if it is not zero: then answers to single words say nothing.
std::string ResultOfZeros(const Operation& op, const OperandDecoding& a) {
  if (a.misread.empty() || a.misread.front().word != 0 || !a.format->has_zero) return "";
  const Format& d = op.model.d;
  const uint64_t word = a.misread.front().observed.d;
  return absl::StrCat(HexWord(d, word), " = ", NumberText(d, word),
                      " for zeros in a and ones in b");
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

// If one reading reproduces the answers, operands that it does not cover only met misread ones. Some
// misread word stays: a difference is never cleared away as a whole.
void KeepCovered(Family family, Decoding& decoding) {
  const Parameter& p = *decoding.changes.front().parameter;
  if (decoding.changes.size() > 1 || !IsReading(p)) return;
  const bool of_both = &p == FindParameter(family, "operand_reading");
  const auto covers = [&](const OperandDecoding& o) {
    const bool element = o.operand == ReadOperand::kA || o.operand == ReadOperand::kB;
    return p.name == absl::string_view(ReadingOf(o.operand)) || (of_both && element);
  };
  if (std::ranges::none_of(decoding.operands, [&](const OperandDecoding& o) {
        return covers(o) && !o.AsTheModel();
      })) {
    return;
  }
  for (OperandDecoding& o : decoding.operands) {
    if (covers(o)) continue;
    o.misread.clear();
    o.elsewhere.clear();
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

// The result if no word of the operand gives it.
std::string ImageText(const Format& f, const Format& d, const Misread& m) {
  return m.as ? absl::StrCat(HexWord(f, *m.as), " = ", NumberText(f, *m.as))
              : absl::StrCat("no word of ", f.name, ", the result is ", HexWord(d, m.observed.d),
                             " = ", NumberText(d, m.observed.d));
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

// "for k = 1, 3, 5: ffff as ...": the k whose words are misread, and the first of them.
std::string ElsewhereText(const OperandDecoding& o, const Format& d) {
  std::vector<std::string> ks;
  for (size_t i = 0, end = 0; i < o.elsewhere.size() && ks.size() <= kNamedRuns; i = end) {
    int last = o.elsewhere[i].k;
    for (end = i; end < o.elsewhere.size() && o.elsewhere[end].k <= last + 1; ++end) {
      last = o.elsewhere[end].k;
    }
    const int first = o.elsewhere[i].k;
    ks.push_back(ks.size() == kNamedRuns ? "..."
                 : first == last         ? absl::StrCat(first)
                                         : absl::StrCat(first, "..", last));
  }
  const Misread& m = o.elsewhere.front();
  return absl::StrCat("for k = ", absl::StrJoin(ks, ", "), ", ", HexWord(*o.format, m.word), " as ",
                      ImageText(*o.format, d, m));
}

// Changes that nothing distinguishes.
std::string RulesText(const std::vector<Change>& rules) {
  constexpr size_t kNamed = 3;
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(kNamed, rules.size()); ++i) names.push_back(Name(rules[i]));
  return absl::StrCat(absl::StrJoin(names, " or "), rules.size() > kNamed ? " or others" : "");
}

std::string OperandText(const OperandDecoding& o, const Format& d) {
  if (o.misread.empty()) return absl::StrCat("by no single rule, ", ElsewhereText(o, d));
  const std::string rule = o.rules.empty() ? o.all_of.empty() ? "by no single rule, " : ""
                           : IsReading(*o.rules[0].parameter)
                               ? TextOf(static_cast<Reading>(o.rules[0].value)) + ": "
                               : "";
  return absl::StrCat(
      rule, MapText(o, d), " (", o.misread.size(), " of ", o.words, " words)",
      o.rules.empty() && !o.elsewhere.empty() ? absl::StrCat(", ", ElsewhereText(o, d)) : "");
}

}  // namespace

const char* Name(ReadOperand operand) {
  constexpr const char* kNames[] = {"a", "b", "c", "the scales of a", "the scales of b"};
  return kNames[static_cast<int>(operand)];
}

bool Decoding::AsTheModel() const {
  return std::ranges::all_of(operands, &OperandDecoding::AsTheModel);
}

std::string Decoding::Text() const {
  const bool some =
      std::ranges::any_of(operands, [](const OperandDecoding& o) { return o.words < o.of; });
  if (AsTheModel()) {
    return absl::StrCat(
        "as the model reads it",
        some ? absl::StrCat(" (at most ", kSlowWords, " words of each operand)") : "");
  }
  if (!result.empty()) return absl::StrCat("the result is ", result);
  // Operands with the same words come together.
  std::vector<std::pair<std::string, std::vector<const OperandDecoding*>>> texts;
  for (const OperandDecoding& o : operands) {
    if (o.AsTheModel()) continue;
    const std::string text = OperandText(o, *d);
    const auto same = std::ranges::find(texts, text, [](const auto& t) { return t.first; });
    if (same == texts.end()) {
      texts.push_back({text, {&o}});
    } else {
      same->second.push_back(&o);
    }
  }
  std::vector<std::string> lines, rules;
  for (const auto& [text, of] : texts) {
    lines.push_back(absl::StrCat(absl::StrJoin(of, " and ",
                                               [](std::string* out, const OperandDecoding* o) {
                                                 out->append(mmadiff::Name(o->operand));
                                               }),
                                 ": ", text));
    for (const OperandDecoding* o : of) {
      if (!o->rules.empty()) rules.push_back(RulesText(o->rules));
    }
  }
  if (!changes.empty()) rules = {RulesText(changes)};
  if (!rules.empty()) lines.push_back(absl::StrJoin(rules, ", "));
  return absl::StrJoin(lines, "; ");
}

std::vector<DotProductCase> DecodingCases(const Operation& op) {
  std::vector<DotProductCase> dots;
  for (const Words& words : WordsToAsk(op, false)) AppendDots(op, words, dots);
  return dots;
}

absl::StatusOr<Decoding> AskDecoding(Device& device, const Operation& asked, const Operation& op) {
  Decoding decoding;
  decoding.d = op.instruction->d;
  std::vector<DotProductCase> dots;
  const std::vector<Words> all = WordsToAsk(op, device.IsSlow());
  for (const Words& words : all) AppendDots(op, words, dots);
  ASSIGN_OR_RETURN(const auto d, RunTwice(device, asked, MakeDotProductBatch(op.shape(), dots)));
  for (size_t i = 0; i < dots.size(); ++i) decoding.observed.push_back({dots[i], d[i]});
  std::vector<Neighbour> changes;
  if (!GivesNumbers(op, op.model.algorithm, decoding.observed)) {
    changes = Neighbours(op.model);
    std::ranges::move(Misreadings(op.model, false), std::back_inserter(changes));
  }
  std::vector<std::span<const Observed>> own;
  for (size_t i = 0, first = 0; i < all.size(); first += all[i++].count()) {
    own.push_back(std::span(decoding.observed).subspan(first, all[i].count()));
    decoding.operands.push_back(DecodingOf(op, all[i], own.back(), changes));
  }
  KeepRulesOfAllScales(decoding.operands);
  const std::vector<Observed> sorted = MisreadFirst(op, decoding.observed);
  for (const Neighbour& n : changes) {
    if (GivesNumbers(op, n.algorithm, sorted)) decoding.changes.push_back(*n.single());
  }
  if (!decoding.changes.empty()) {
    KeepCovered(op.model.algorithm.family, decoding);
    return decoding;
  }
  decoding.result = FormOf(op, decoding.observed);
  if (decoding.result.empty()) decoding.result = ResultOfZeros(op, decoding.operands[0]);
  if (!IsAbsent(op.model.b)) {
    KeepTheMisreader(op, decoding.operands[0], own[0], decoding.operands[1], own[1]);
  }
  // A fault that no reading of some operand explains may be none of operands.
  const bool every = std::ranges::all_of(decoding.operands, [](const OperandDecoding& o) {
    return o.AsTheModel() || !o.rules.empty();
  });
  for (OperandDecoding& o : decoding.operands) {
    if (!every) o.rules.clear();
  }
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
    if (o.AsTheModel() || answer.refuting) continue;
    answer.refuting = (o.misread.empty() ? o.elsewhere : o.misread).front().observed;
  }
  for (const Change& change : decoding.changes) answer.facts.push_back(mmadiff::Name(change));
  answer.detail = FormatLine(*op.instruction, answer.refuting->dot, answer.refuting->d);
  return answer;
}

}  // namespace mmadiff

#include "triage/probe/decoding.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "device/line_protocol.h"
#include "device/status_macros.h"
#include "sim/reading.h"
#include "sim/simulate.h"
#include "sim/sparsity.h"
#include "sim/word.h"
#include "triage/number_text.h"
#include "triage/probe/decoding_text.h"
#include "triage/probe/decoding_words.h"
#include "triage/probe/layout.h"
#include "triage/probe/twice.h"

namespace mmadiff {
namespace {

constexpr size_t kProducts = 2048, kSlowProducts = 512;  // that may refute rules

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

// Finds the word of which the model gives an answer.
class Images {
 public:
  Images(const Operation& op, ReadOperand operand, const std::vector<uint64_t>& words)
      : op_(op), operand_(operand), words_(words) {}

  // The nearest to `asked`, among the partners of the same dot product, with the device's very answer if there
  // is one; else the word of the value.
  std::optional<uint64_t> Of(uint64_t asked, int k, const Observed& o) {
    DotProductCase partners = o.dot;
    Replace(op_.model, operand_, k, 0, partners);
    const auto [at, unknown] = by_answer_.try_emplace(partners);
    if (unknown) {
      for (const uint64_t word : words_) {
        const uint64_t d = AnswerTo(word, k, o);
        at->second[Canonical(op_.model.d, d)].push_back({word, d});
      }
    }
    const uint64_t answer = Canonical(op_.model.d, o.d);
    const auto found = at->second.find(answer);
    if (found == at->second.end()) return OfValue(k, o, answer);
    return std::ranges::min_element(found->second, {},
                                    [&](const auto& image) {
                                      const auto& [word, d] = image;
                                      const bool other_sign = IsNegative(word) != IsNegative(asked);
                                      return std::tuple(d != o.d, other_sign,
                                                        word > asked ? word - asked : asked - word);
                                    })
        ->first;
  }

 private:
  bool IsNegative(uint64_t word) const {
    return (word >> SignBit(FormatOf(op_.model, operand_)) & 1) != 0;
  }

  uint64_t AnswerTo(uint64_t word, int k, const Observed& o) const {
    DotProductCase dot = o.dot;
    Replace(op_.model, operand_, k, word, dot);
    return Simulate(op_.model, dot);
  }

  // The result, divided by the partner.
  std::optional<uint64_t> OfValue(int k, const Observed& o, uint64_t answer) const {
    const Format &f = FormatOf(op_.model, operand_), &d = op_.model.d;
    if (IsInteger(f) || IsInteger(d)) return std::nullopt;
    Value value = DecodeValue(d, o.d);
    if (operand_ == ReadOperand::kA)
      value.exponent -= DecodeValue(op_.model.b, o.dot.b[k]).exponent;
    if (operand_ == ReadOperand::kB)
      value.exponent -= DecodeValue(op_.model.a, o.dot.a[k]).exponent;
    uint64_t word = 0;
    if (!EncodeValue(f, value, &word)) return std::nullopt;
    return Canonical(d, AnswerTo(word, k, o)) == answer ? std::optional(word) : std::nullopt;
  }

  const Operation& op_;
  const ReadOperand operand_;
  const std::vector<uint64_t>& words_;
  std::map<DotProductCase, std::map<uint64_t, std::vector<std::pair<uint64_t, uint64_t>>>>
      by_answer_;  // canonical answer -> words and answers
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

// Whether all words for each k with misread words have the result zero.
bool IsIgnored(const Operation& op, const DecodingWords& asked, std::span<const Observed> observed,
               const OperandDecoding& decoding) {
  std::set<int> ks;
  for (const Misread& m : decoding.elsewhere) ks.insert(m.k);
  if (!decoding.misread.empty()) ks.insert(0);
  for (size_t i = 0; i < observed.size(); ++i) {
    if (!IsZero(op.model.d, observed[i].d) && ks.contains(asked.At(i).first)) return false;
  }
  return true;
}

// `observed`: the answers to the words.
OperandDecoding DecodingOf(const Operation& op, const DecodingWords& asked,
                           std::span<const Observed> observed,
                           const std::vector<Neighbour>& changes) {
  const ReadOperand operand = asked.operand;
  OperandDecoding decoding = {
      operand, &FormatOf(op.model, operand), asked.words.size(), asked.of, {}, {}};
  Images images(op, operand, asked.words);
  for (size_t i = 0; i < observed.size(); ++i) {
    if (GivesNumber(op, op.model.algorithm, observed[i])) continue;
    const auto [k, word] = asked.At(i);
    (i < asked.words.size() ? decoding.misread : decoding.elsewhere)
        .push_back({word, observed[i], images.Of(word, k, observed[i]), k});
  }
  if (decoding.AsTheModel()) return decoding;
  decoding.ignored = IsSparse(op.model) && IsIgnored(op, asked, observed, decoding);
  decoding.all_of = ClassText(decoding, asked.words);
  const std::vector<Observed> sorted = MisreadFirst(op, observed);
  const Parameter* const addend_flush =
      FindParameter(op.model.algorithm.family, "addend_subnormals");
  for (const Neighbour& n : changes) {
    const Parameter* const p = n.single()->parameter;
    const bool flushes = operand == ReadOperand::kAddend && p == addend_flush;
    if (!flushes && p->operands != Bit(operand)) continue;
    if (GivesNumbers(op, n.algorithm, sorted)) decoding.rules.push_back(*n.single());
  }
  return decoding;
}

// Whether the answers about other operands are those of the model that reads each one of this operand as
// the word that the operand's own answers show.
bool MisreadsOne(const Operation& op, const OperandDecoding& o,
                 std::span<const std::span<const Observed>> others) {
  if (o.operand == ReadOperand::kAddend) return false;
  const Model& m = op.model;
  const bool of_a = o.operand == ReadOperand::kA || o.operand == ReadOperand::kScaleOfA;
  const bool scales = o.operand == ReadOperand::kScaleOfA || o.operand == ReadOperand::kScaleOfB;
  const uint64_t one = IntegerWord(*o.format, 1);
  std::vector<uint64_t> ones(scales ? m.scales() : m.k, one);  // as they are read
  bool any = false;
  for (const std::vector<Misread>* const misread : {&o.misread, &o.elsewhere}) {
    for (const Misread& word : *misread) {
      if (word.word != one) continue;
      if (!word.as) return false;
      ones[scales ? word.k / m.scale_block : word.k] = *word.as;
      any = true;
    }
  }
  const auto gives = [&](const Observed& observed) {
    DotProductCase dot = observed.dot;
    uint64_t* const row = (of_a ? dot.a : dot.b).data() + (scales ? m.k : 0);
    for (size_t i = 0; i < ones.size(); ++i) {
      if (row[i] == one) row[i] = ones[i];
    }
    return SameNumber(m.d, Simulate(m, dot), observed.d);
  };
  return any && std::ranges::all_of(others, [&](const auto& observed) {
           return std::ranges::all_of(observed, gives);
         });
}

// If one operand misreads the ones that meet the others, these are read as the model reads them.
void KeepTheMisreader(const Operation& op, std::vector<OperandDecoding>& operands,
                      std::span<const std::span<const Observed>> own) {
  std::vector<OperandDecoding*> misreaders;
  for (size_t i = 0; i < operands.size(); ++i) {
    std::vector<std::span<const Observed>> others(own.begin(), own.end());
    others.erase(others.begin() + static_cast<ptrdiff_t>(i));
    if (MisreadsOne(op, operands[i], others)) misreaders.push_back(&operands[i]);
  }
  if (misreaders.size() != 1) return;
  for (OperandDecoding& o : operands) {
    if (&o != misreaders[0]) o.Clear();
  }
}

// Whether several operands seem to misread the one that the words of others meet.
bool AreRelative(const std::vector<OperandDecoding>& operands) {
  const auto misreads_one = [](const OperandDecoding& o) {
    return std::ranges::count(o.misread, IntegerWord(*o.format, 1), &Misread::word) > 0;
  };
  return std::ranges::count_if(operands, misreads_one) > 1;
}

// The result for zeros in one of a and b and ones in the other, if it is not zero: then answers to single
// words say nothing.
std::string ResultOfZeros(const Operation& op, const std::vector<OperandDecoding>& operands) {
  const Format& d = op.model.d;
  for (const OperandDecoding& o : operands) {
    const bool of_a = o.operand == ReadOperand::kA;
    if (!of_a && o.operand != ReadOperand::kB) continue;
    if (o.misread.empty() || o.misread.front().word != 0 || !o.format->has_zero) continue;
    const uint64_t word = o.misread.front().observed.d;
    return absl::StrCat(HexWord(d, word), " = ", NumberText(d, word), " for zeros in ",
                        of_a ? "a" : "b", " and ones in ", of_a ? "b" : "a");
  }
  return "";
}

// If one reading reproduces the answers, operands that it does not cover only met misread ones. Some
// misread word stays: a difference is never cleared away as a whole.
void KeepCovered(Decoding& decoding) {
  const Parameter& p = *decoding.changes.front().parameter;
  if (decoding.changes.size() > 1 || !IsReading(p)) return;
  const auto covers = [&](const OperandDecoding& o) { return (p.operands & Bit(o.operand)) != 0; };
  if (std::ranges::none_of(decoding.operands, [&](const OperandDecoding& o) {
        return covers(o) && !o.AsTheModel();
      })) {
    return;
  }
  for (OperandDecoding& o : decoding.operands) {
    if (!covers(o)) o.Clear();
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

// Whether an algorithm with rules gives the products in which they make a difference. The sum may have
// other differences.
bool Predicts(const Operation& op, const Algorithm& rules, std::span<const Observed> products) {
  const Format& d = op.model.d;
  const Model model = WithAlgorithm(op, rules);
  return std::ranges::all_of(products, [&](const Observed& o) {
    const uint64_t read = Simulate(model, o.dot);
    return SameNumber(d, read, o.d) || SameNumber(d, read, Simulate(op.model, o.dot));
  });
}

// The decoding that the answers to the words show, with rules that other products do not refute.
Decoding DecodingOf(const Operation& op, const std::vector<DecodingWords>& all,
                    std::vector<Observed> observed, std::span<const Observed> products) {
  Decoding decoding;
  decoding.d = op.instruction->d;
  decoding.observed = std::move(observed);
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
  const std::vector<Observed> sorted = MisreadFirst(op, decoding.observed);
  for (const Neighbour& n : changes) {
    if (!GivesNumbers(op, n.algorithm, sorted)) continue;
    const bool predicts = Predicts(op, n.algorithm, products);
    if (predicts) decoding.changes.push_back(*n.single());
    decoding.refuted |= !predicts;
  }
  if (!decoding.changes.empty()) {
    decoding.refuted = false;
    KeepCovered(decoding);
    return decoding;
  }
  decoding.result = FormOf(op, decoding.observed);
  if (decoding.result.empty()) decoding.result = ResultOfZeros(op, decoding.operands);
  KeepTheMisreader(op, decoding.operands, own);
  decoding.relative = AreRelative(decoding.operands);
  // A fault that no reading of some operand explains may be none of operands.
  const bool every = std::ranges::all_of(decoding.operands, [](const OperandDecoding& o) {
    return o.AsTheModel() || !o.rules.empty();
  });
  const Algorithm rules = WithRules(op, decoding);
  if (every && rules != op.model.algorithm) decoding.refuted = !Predicts(op, rules, products);
  for (OperandDecoding& o : decoding.operands) {
    if (!every || decoding.refuted) o.rules.clear();
  }
  return decoding;
}

absl::StatusOr<std::vector<Observed>> AskAll(Device& device, const Operation& asked,
                                             const std::vector<DotProductCase>& dots) {
  ASSIGN_OR_RETURN(const auto d, RunTwice(device, asked, MakeDotProductBatch(asked.shape(), dots)));
  std::vector<Observed> observed;
  for (size_t i = 0; i < dots.size(); ++i) observed.push_back({dots[i], d[i]});
  return observed;
}

}  // namespace

bool Decoding::AsTheModel() const {
  return std::ranges::all_of(operands, &OperandDecoding::AsTheModel);
}

Algorithm WithRules(const Operation& op, const Decoding& decoding) {
  Algorithm algorithm = op.model.algorithm;
  if (!decoding.changes.empty()) return WithChanges(algorithm, {decoding.changes.data(), 1});
  for (const OperandDecoding& o : decoding.operands) {
    if (!o.rules.empty()) algorithm = WithChanges(algorithm, {o.rules.data(), 1});
  }
  return algorithm;
}

absl::StatusOr<Decoding> AskDecoding(Device& device, const Operation& asked,
                                     std::span<const Operation> models) {
  const std::vector<DecodingWords> all = WordsToAsk(models[0], device.IsSlow());
  ASSIGN_OR_RETURN(std::vector<Observed> observed,
                   AskAll(device, asked, DecodingCases(models[0], all)));
  const Operation& op = *std::ranges::min_element(models, {}, [&](const Operation& model) {
    return std::ranges::count_if(
        observed, [&](const Observed& o) { return !GivesNumber(model, model.model.algorithm, o); });
  });
  return DecodingOf(op, all, std::move(observed), {});
}

absl::StatusOr<Decoding> AskDecoding(Device& device, const Operation& asked, const Operation& op) {
  const std::vector<DecodingWords> all = WordsToAsk(op, device.IsSlow());
  ASSIGN_OR_RETURN(std::vector<Observed> observed, AskAll(device, asked, DecodingCases(op, all)));
  std::vector<Observed> products;
  if (!GivesNumbers(op, op.model.algorithm, observed)) {
    const size_t count = device.IsSlow() ? kSlowProducts : kProducts;
    ASSIGN_OR_RETURN(products,
                     AskAll(device, asked, ProductsOfWords(op, WordsToAsk(op, false), count)));
  }
  return DecodingOf(op, all, std::move(observed), products);
}

ProbeAnswer DecodingAnswer(const Operation& op, const Question& question, Decoding decoding) {
  ProbeAnswer answer = {.question = &question,
                        .answer = DecodingText(decoding),
                        .table = DecodingTable(decoding),
                        .cases = decoding.observed.size(),
                        .observed = std::move(decoding.observed)};
  if (decoding.AsTheModel()) return answer;
  if (LosesBitsOfWords(op)) {
    answer.answer = "not known: the model's own sums lose bits of single words";
    answer.decides = "see `model`";
    answer.table = {};
    answer.agreement = Agreement::kOpen;
    return answer;
  }
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

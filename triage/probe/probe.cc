#include "triage/probe/probe.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "corpus/cases/case_name.h"
#include "device/line_protocol.h"
#include "device/status_macros.h"
#include "sim/pattern.h"
#include "sim/reading.h"
#include "sim/simulate.h"
#include "triage/diagnosis/chooser.h"
#include "triage/diagnosis/diagnosis.h"
#include "triage/model_words.h"
#include "triage/probe/candidates.h"
#include "triage/probe/decoding.h"
#include "triage/probe/layout.h"
#include "triage/probe/modes.h"
#include "triage/probe/nan_payloads.h"
#include "triage/probe/operand_sweep.h"
#include "triage/probe/readings.h"
#include "triage/probe/repeat.h"
#include "triage/probe/twice.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

constexpr int kDistinguishing = 4;  // cases that distinguish each candidate from the model
constexpr int kPlain = 32;          // additional cases, for unexpected answers
constexpr int kRounds = 4;          // each chooses, asks and explains cases
constexpr int kMaxTried = 1 << 16;  // generated dot products to choose from

// A parameter question and the device's answers.
struct Asked {
  const Question* question;
  std::vector<Observed> observed;
};

// The number of observations that a model does not reproduce; stops counting above `most`.
size_t Misfits(const Operation& op, const Model& model, std::span<const Asked> all, size_t most) {
  size_t misfits = 0;
  for (const Asked& asked : all) {
    for (const Observed& o : asked.observed) {
      if (!Fits(op, model, o) && ++misfits > most) {
        return misfits;
      }
    }
  }
  return misfits;
}

// Cases that distinguish the candidates of a question from the model and, if it is not the table's, the
// candidates for the table's model that also reproduce all answers so far.
std::vector<DotProductCase> Choose(const Operation& op, const Question& q, const Model& model,
                                   std::span<const Asked> all) {
  std::vector<CaseChooser::Chain> others;
  for (const Neighbour& n : Candidates(q, model)) {
    others.push_back({WithAlgorithm(op, n.algorithm)});
  }
  for (const Neighbour& n : Candidates(q, op.model)) {
    const Model rival = WithAlgorithm(op, n.algorithm);
    if (SameModel(model, op.model) || SameModel(model, rival)) continue;
    if (Misfits(op, rival, all, 0) == 0) others.push_back({rival});
  }
  CaseChooser chooser(op, model, others, kDistinguishing, q.nan_bits);
  for (const VectorDot& of_vector : VectorDotsOf(q, op)) chooser.Consider(of_vector.dot, true);
  int tried = 0;
  Batch tile;
  for (uint64_t index = 0; tried < kMaxTried && !(chooser.done() && tried >= kPlain); ++index) {
    const int before = tried;
    for (const std::string& input_class : SplitWords(q.classes)) {
      if (!GenerateClass(op, input_class, index, tile)) continue;
      // A few of its dot products, spread over all rows and columns.
      const int64_t all = tile.dot_products(), count = std::min<int64_t>(all, 8);
      for (int64_t i = 0; i < count; ++i, ++tried) {
        chooser.Consider(Extract(tile, (i * (all / count) + i) % all), tried < kPlain);
      }
    }
    if (tried == before) break;  // there are no such classes
  }
  return std::move(chooser.chosen());
}

bool Fits(const Operation& op, const Model& model, const Asked& asked) {
  return Misfits(op, model, {&asked, 1}, 0) == 0;
}

// The operation's model with the change that reproduces all answers to all questions, else the
// nearest.
Model Infer(const Operation& op, std::span<const Asked> all) {
  std::vector<Observed> observed;
  for (const Asked& asked : all) {
    observed.insert(observed.end(), asked.observed.begin(), asked.observed.end());
  }
  const Diagnosis d = FindChange(op, std::move(observed));
  return WithAlgorithm(op, d.changes.empty() ? d.nearest.algorithm : d.changes[0].algorithm);
}

// Whether the question asks for the parameter and some input can distinguish a different value of
// it.
bool AsksFor(const Question& q, const Model& model, const Parameter* parameter) {
  return std::ranges::any_of(Candidates(q, model), [&](const Neighbour& n) {
    return n.changes.front().parameter == parameter;
  });
}

// The subset of the changes that the question asks for.
std::vector<Change> AskedFor(const Question& q, const Model& table, std::vector<Change> changes) {
  std::erase_if(changes, [&](const Change& c) { return !AsksFor(q, table, c.parameter); });
  return changes;
}

// The first answer that no candidate reproduces, else the first that the model does not reproduce.
const Observed& Refuting(const Operation& op, const Asked& asked, const Model& model) {
  const std::vector<Neighbour> candidates = Candidates(*asked.question, model);
  const Observed* first = nullptr;
  for (const Observed& o : asked.observed) {
    const auto gives = [&](const Model& m) { return Fits(op, m, o); };
    if (gives(model)) continue;
    if (first == nullptr) first = &o;
    const bool explained = std::ranges::any_of(
        candidates, [&](const Neighbour& n) { return gives(WithAlgorithm(op, n.algorithm)); });
    if (!explained) return o;
  }
  return *first;
}

// ProbeAnswer::facts. If nothing was found that fits, the first of the others has no "or".
std::vector<std::string> Facts(bool fits, const std::vector<Change>& found,
                               const std::vector<std::string>& others) {
  std::vector<std::string> facts;
  for (const Change& change : found) facts.push_back(Name(change));
  for (const std::string& other : others) {
    facts.push_back(fits || !facts.empty() ? "or " + other : other);
  }
  return facts;
}

// `all` includes `asked`; `own_model` is the answer's name for the operation's model.
ProbeAnswer Answer(const Operation& op, const Asked& asked, std::span<const Asked> all,
                   const Model& model, const char* own_model) {
  const Question& q = *asked.question;
  ProbeAnswer answer = {.question = &q, .cases = asked.observed.size(), .observed = asked.observed};
  const bool whole_model = q.parameters[0] == '*', fits = Fits(op, model, asked);
  const size_t misfits = Misfits(op, model, all, SIZE_MAX);
  std::vector<std::string> others;  // other candidates that fit and do not spoil other questions
  for (const Neighbour& n : Candidates(q, model)) {
    const Model other = WithAlgorithm(op, n.algorithm);
    if (Fits(op, other, asked) && (!fits || Misfits(op, other, all, misfits) <= misfits)) {
      others.push_back(Name(n));
    }
  }
  // For the whole model everything that was found; for any other question the parameters that it
  // asks for.
  std::vector<Change> changed = *ChangesBetween(op.model.algorithm, model.algorithm);
  if (!whole_model) changed = AskedFor(q, op.model, std::move(changed));
  std::vector<Change> found = changed;
  if (!whole_model) found = AskedFor(q, op.model, ReportedFields(model));
  if (!fits) found.clear();
  const bool usual = found.empty() && fits;  // values that AlgorithmFields() leaves out
  answer.answer = !whole_model && usual
                      ? Name(AskedFor(q, op.model, SearchedFields(model.algorithm)))
                  : !whole_model    ? Name(found)
                  : changed.empty() ? own_model
                                    : absl::StrCat("the model with ", Name(changed));
  answer.facts = Facts(fits, found, others);
  if (fits && !others.empty()) {
    const bool besides = whole_model && !changed.empty();
    absl::StrAppend(&answer.answer, besides ? " (or also with " : " (or ",
                    absl::StrJoin(others, ", "), ")");
  } else if (!fits) {
    answer.answer = others.empty() ? "none" : absl::StrJoin(others, " or ");
  }
  const Parameter* nan_rule = FindParameter(op.model.algorithm.family, "nan_rule");
  const bool of_nan =
      q.nan_bits || (whole_model && changed.size() == 1 && changed.front().parameter == nan_rule);
  // The table's silence on NaN bits covers payloads only: a number in place of a NaN contradicts.
  const bool payloads_alone = std::ranges::all_of(asked.observed, [&op](const Observed& o) {
    return SameResult(op, Simulate(op.model, o.dot), o.d);
  });
  const bool open = of_nan && op.numerics->nan_verdict == NanVerdict::kAnyNan && payloads_alone;
  if (fits && changed.empty()) {
    if (!others.empty()) answer.decision = Decision::kAgreesAmong;
    return answer;
  }
  answer.agreement = open ? Agreement::kOpen : Agreement::kContradicts;
  answer.decision = open                      ? Decision::kNanNotPromised
                    : !fits && others.empty() ? Decision::kNothingFits
                                              : Decision::kContradicts;
  if (fits) {
    std::vector<Change> table = *ChangesBetween(model.algorithm, op.model.algorithm);
    if (!whole_model) table = AskedFor(q, op.model, std::move(table));
    answer.detail = Name(table);
    return answer;
  }
  answer.refuting = Refuting(op, asked, model);
  answer.detail =
      absl::StrCat(others.empty() ? "no candidate reproduces all bits of " : "",
                   FormatLine(*op.instruction, answer.refuting->dot, answer.refuting->d));
  return answer;
}

std::string DecisionText(const ProbeAnswer& answer) {
  switch (answer.decision) {
    case Decision::kAgrees:
      return "agrees";
    case Decision::kAgreesAmong:
      return "agrees; the cases leave other values open";
    case Decision::kAgreesInNans:
      return "agrees, although the table does not promise NaN bits";
    case Decision::kContradicts:
    case Decision::kNothingFits:
      return "contradicts the table: " + answer.detail;
    case Decision::kNanNotPromised:
      return "the table does not promise NaN bits: " + answer.detail;
  }
  return "";
}

// Without a model nothing is decided except whether the device matches the hypothesis.
std::string DecisionText(const ProbeAnswer& answer, const Hypothesis& h) {
  if (answer.agreement == Agreement::kAgrees) return absl::StrCat("as supposed: ", h.text);
  return absl::StrCat(answer.decision == Decision::kContradicts ? "" : "not as ",
                      "supposed: ", answer.detail);
}

// For an operation without a model or a hypothesis: the question has nothing to decide.
ProbeAnswer NoModelAnswer(const Question& q) {
  return {.question = &q,
          .answer = "not asked",
          .decides = "the tables have no model",
          .agreement = Agreement::kOpen,
          .left = Reason::kNoModel};
}

// The operation with its hypothetical model, if it has none of its own.
Operation AsSupposed(const Operation& of) {
  Operation op = of;
  if (const Hypothesis* const hypothesis = HypothesisOf(of); hypothesis != nullptr) {
    op.model.algorithm = hypothesis->algorithm(*of.instruction);
  }
  return op;
}

// The operation with the sum that the answers have shown, and the operands read as its table says.
Operation WithFoundSum(const Operation& op, const Model& found) {
  Algorithm algorithm = found.algorithm;
  CopyReadings(op.model.algorithm, algorithm);
  if (FlushesBefore(algorithm.family)) {
    algorithm.input_subnormals = op.model.algorithm.input_subnormals;
  }
  return {op.instruction, op.numerics, WithAlgorithm(op, algorithm), op.name};
}

// Appends the device's answers; asks twice.
absl::Status Ask(Device& device, const Operation& op, const std::vector<DotProductCase>& dots,
                 bool nan_bits, std::vector<Observed>& observed) {
  ASSIGN_OR_RETURN(const auto d, RunTwice(device, op, MakeDotProductBatch(op.shape(), dots)));
  for (size_t i = 0; i < dots.size(); ++i) observed.push_back({dots[i], d[i], nan_bits});
  return absl::OkStatus();
}

// Asks the questions that are the same for every device. `supposed` has the model that answers are
// compared with.
absl::StatusOr<ProbeAnswer> AskAlone(Device& device, const Operation& asked,
                                     const Operation& supposed, const Question& q) {
  switch (q.method) {
    case Method::kLayout:
      return AskLayout(device, asked, q);
    case Method::kRepeat:
      return AskRepeat(device, asked, q);
    case Method::kReadings:
      return AskReadings(device, asked, q);
    case Method::kModes:
      return AskModes(device, asked, q);
    case Method::kPayloads: {
      std::vector<Observed> observed;
      RETURN_IF_ERROR(Ask(device, asked, PayloadCases(supposed), false, observed));
      return PayloadAnswer(supposed, q, std::move(observed));
    }
    case Method::kDecoding:
    case Method::kParameters:
    case Method::kPairs:
      break;
  }
  return absl::InternalError("not asked alone");
}

}  // namespace

bool Applies(const Question& q, const Operation& of) {
  const Operation op = AsSupposed(of);
  if (NeedsModel(q) && !IsModelled(op)) return true;  // the answer is that there is no model
  switch (q.method) {
    case Method::kReadings:
      return !VectorDotsOf(q, op).empty();
    case Method::kParameters:
      return !Candidates(q, op.model).empty();
    case Method::kPayloads:
      return !PayloadCases(op).empty();
    case Method::kPairs:
      return !IsModelled(of) || HasOperandSweep(of);
    default:
      return true;
  }
}

absl::StatusOr<OperationAnswers> ProbeOperation(Device& device, const Operation& of,
                                                std::span<const Question* const> questions) {
  const Hypothesis* const hypothesis = HypothesisOf(of);
  const Operation op = AsSupposed(of);  // for comparing answers; the device gets `of`
  OperationAnswers all = {op.model, {}};
  std::vector<Asked> asked;
  for (const Question* q : questions) {
    if (q->method == Method::kParameters && IsModelled(op) && Applies(*q, op))
      asked.push_back({q, {}});
  }
  // Again, with cases that distinguish candidates from the model found so far.
  for (int round = 0; round < kRounds && !asked.empty(); ++round) {
    for (Asked& a : asked) {
      RETURN_IF_ERROR(Ask(device, of, Choose(op, *a.question, all.model, asked),
                          a.question->nan_bits, a.observed));
    }
    // Starts from the table's model each time, because the model suggested by fewer answers may be
    // misleading.
    const Model model = Infer(op, asked);
    if (SameModel(model, all.model)) break;
    all.model = model;
  }
  const Operation found = WithFoundSum(op, all.model);
  Algorithm read = all.model.algorithm;  // with the rules of reading
  for (const Question* q : questions) {
    absl::StatusOr<ProbeAnswer> answer;
    if (NeedsModel(*q) &&
        (!IsModelled(op) || (hypothesis != nullptr && q->method == Method::kPairs))) {
      answer = NoModelAnswer(*q);
    } else if (!Applies(*q, op) || q->method == Method::kPairs ||
               (q->method == Method::kModes && device.Modes().empty())) {
      continue;
    } else if (q->method == Method::kParameters) {
      const auto at = std::ranges::find(asked, q, &Asked::question);
      answer = Answer(op, *at, asked, all.model,
                      hypothesis != nullptr ? "the supposed model" : "the table's model");
    } else if (q->method == Method::kDecoding) {
      ASSIGN_OR_RETURN(Decoding decoding, AskDecoding(device, of, found));
      const Algorithm rules = WithRules(found, decoding);
      answer = DecodingAnswer(found, *q, std::move(decoding));
      if (answer->agreement == Agreement::kContradicts) read = rules;
    } else {
      answer = AskAlone(device, of, op, *q);
    }
    RETURN_IF_ERROR(answer.status());
    if (NeedsModel(*q) && answer->decides.empty()) {
      answer->decides =
          hypothesis == nullptr ? DecisionText(*answer) : DecisionText(*answer, *hypothesis);
      if (hypothesis != nullptr) answer->agreement = Agreement::kOpen;
    }
    all.answers.push_back(*std::move(answer));
  }
  all.model = WithAlgorithm(op, read);
  return all;
}

}  // namespace mmadiff

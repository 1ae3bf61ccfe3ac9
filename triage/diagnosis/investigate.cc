#include "triage/diagnosis/investigate.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "device/status_macros.h"
#include "sim/simulate.h"
#include "sim/word.h"
#include "triage/minimize/simplicity.h"
#include "triage/minimize/target.h"
#include "triage/probe/decoding_words.h"
#include "triage/typical.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

constexpr size_t kAnswers = 512;       // from one execution: differing ones, and others
constexpr size_t kMaxCases = 12;       // that refute
constexpr size_t kMaxNamed = 6;        // changes named in a text
constexpr size_t kEnoughAnswers = 16;  // rivals refuted by more answers are treated alike
constexpr int64_t kAskedAtOnce = 64, kMaxOfSlow = 64;      // dot products of ordinary numbers
constexpr size_t kMaxWords = 2048, kMaxWordsOfSlow = 128;  // that may refute a reading
constexpr char kMinimal[] = "the device and the model differ";

bool IsSame(const Neighbour& x, const Neighbour& y) { return x.algorithm == y.algorithm; }

// The changes to refute besides the operation's model, which the minimal mismatch refutes: its
// one-parameter changes except the believed one; without a believed one also the nearest.
std::vector<Neighbour> RivalsOf(const Operation& op, const Diagnosis& d) {
  std::vector<Neighbour> rivals = SingleChanges(op.model);
  if (!d.changes.empty()) {
    std::erase_if(rivals, [&](const Neighbour& n) { return IsSame(n, d.changes.front()); });
  } else if (!d.nearest.changes.empty()) {
    rivals.push_back(d.nearest);
  }
  return rivals;
}

Mismatch Alone(const Mismatch& m) {
  const Batch dot = MakeDotProductBatch(m.op->shape(), {Extract(m.inputs, m.element)});
  Mismatch alone = {m.op, dot, 0};
  if (!m.device.empty()) alone.device = {m.device[m.element]};
  if (!m.model.empty()) alone.model = {m.model[m.element]};
  return alone;
}

// Words of the execution that are not +0, nor scales of 1.0.
int64_t ActiveWordsOf(const Model& m, const Batch& inputs) {
  const Batch neutral = NeutralBatch(m, inputs.shape, inputs.count);
  int64_t count = 0;
  for (const auto array : {&Batch::a, &Batch::b, &Batch::c}) {
    for (size_t i = 0; i < (inputs.*array).size(); ++i) {
      count += (inputs.*array)[i] != (neutral.*array)[i];
    }
  }
  return count;
}

// One investigation; Run() performs the steps of Investigate() in order.
class Investigator {
 public:
  Investigator(Runner& runner, const Mismatch& mismatch, Investigation& result)
      : runner_(runner), op_(runner.op()), mismatch_(mismatch), result_(result) {}

  absl::Status Run(const CaseStream& cases, std::span<const Observed> known) {
    ASSIGN_OR_RETURN(Tries tries, Repeat(runner_, mismatch_, kTries));
    found_ = mismatch_;
    found_.device = tries.device;
    found_.model = tries.model;
    std::vector<Observed> observed = AnswersOf(tries.model, tries.device);
    if (tries.repeatability != Repeatability::kReproduced) {
      result_.bucket = BucketOf(op_, observed);
      result_.bucket.repetition = Repetition::kFlaky;
      return absl::OkStatus();
    }
    observed.insert(observed.end(), known.begin(), known.end());
    bool sampled = known.size() >= kAnswers;  // by an earlier investigation, not a few cases
    // Mismatches in NaN bits follow rules that the models here may not include, so they are filed
    // apart from wrong numbers.
    const DifferenceClass gravest = GravestClass(op_, AnswersOf(found_.model, found_.device));
    const bool numbers = gravest != DifferenceClass::kNanPayload;
    for (size_t refuting = 1; refuting > 0; sampled = true) {
      ASSIGN_OR_RETURN(Diagnosis diagnosis, Diagnose(runner_, observed, cases, sampled, numbers));
      result_.diagnosis = std::move(diagnosis);
      explanation_.reset();
      if (result_.diagnosis.changes.empty()) break;
      explanation_ = WithAlgorithm(op_, result_.diagnosis.changes.front().algorithm);
      observed = result_.diagnosis.observed;
      RETURN_IF_ERROR(AskPredicted(observed));
      RETURN_IF_ERROR(AskWords(observed));
      refuting = observed.size() - result_.diagnosis.observed.size();
    }
    const Repetition repetition = result_.bucket.repetition;
    result_.bucket = result_.diagnosis.bucket(op_);
    result_.bucket.repetition = repetition;
    if (repetition == Repetition::kFlaky) return absl::OkStatus();
    if (!explanation_ && !numbers) {
      result_.bucket = Bucket::Unexplained(gravest);
    }
    rivals_ = RivalsOf(op_, result_.diagnosis);
    absl::Status s = KeepMinimal();
    if (s.ok() && result_.bucket.Repeats()) s = KeepRefuting();
    if (s.ok() && result_.bucket.Repeats()) s = KeepSmallest();
    if (s.ok() && result_.bucket.Repeats()) s = KeepFound();
    if (s.ok() && !result_.cases.empty()) PutSimplestFirst();
    if (s.ok() && result_.bucket.Repeats()) s = KeepTypical();
    return s;
  }

  static constexpr int kTries = 5;

 private:
  // The device's answers to the execution; for a large one some differing and some other words.
  std::vector<Observed> AnswersOf(const std::vector<uint64_t>& model,
                                  const std::vector<uint64_t>& device) const {
    std::vector<Observed> answers;
    const size_t step = std::max<size_t>(1, device.size() / kAnswers);
    size_t differing = 0;
    for (size_t i = 0; i < device.size(); ++i) {
      const bool differs = !SameResult(op_, model[i], device[i]);
      differing += differs;
      if (i % step == 0 || (differs && differing <= kAnswers)) {
        answers.push_back({Extract(mismatch_.inputs, static_cast<int64_t>(i)), device[i]});
      }
    }
    return answers;
  }

  // Models that a mismatch must refute to belong to the bucket on its own: the operation's own and
  // the neighbors that are preferred to the explanation; without an explanation all of them. Readings
  // are left out: one of them fits almost every single mismatch.
  std::vector<Model> Preferred() const {
    std::vector<Model> models = {op_.model};
    for (const Neighbour& n : SingleChanges(op_.model)) {
      const std::vector<Neighbour>& changes = result_.diagnosis.changes;
      if (!changes.empty() && IsSame(n, changes.front())) break;
      if (IsReading(*n.single()->parameter)) continue;
      models.push_back(WithAlgorithm(op_, n.algorithm));
    }
    return models;
  }

  // Where to start shrinking: the simplest case that holds the target, out of the found execution
  // and all answers. `own`: only the mismatch itself, which a recording can answer.
  std::optional<Mismatch> Start(const Target& target, bool own = false) const {
    std::optional<Mismatch> start;
    Complexity least = {};
    const auto consider = [&](const Observed& o, auto make) {
      const Complexity c = ComplexityOf(op_.model, o.dot);
      if ((start && c >= least) || !target.Holds(o.dot, o.d)) return;
      start = make();
      least = c;
    };
    const Batch& inputs = mismatch_.inputs;
    for (int64_t i = 0; i < inputs.dot_products(); ++i) {
      consider({Extract(inputs, i), found_.device[i]}, [&] { return Mismatch{&op_, inputs, i}; });
    }
    for (const Observed& o : own ? std::vector<Observed>() : result_.diagnosis.observed) {
      consider(o, [&] { return Mismatch{&op_, MakeDotProductBatch(op_.shape(), {o.dot}), 0}; });
    }
    return start;
  }

  // The smallest case from there that holds the target and whose answers repeat; none otherwise.
  absl::StatusOr<std::optional<Mismatch>> Smallest(const Target& target, const Mismatch& start,
                                                   Effort effort = Effort::kAll) {
    ASSIGN_OR_RETURN(Mismatch minimal, Shrink(runner_, target, start, effort));
    // If the case was not shrunk, keeps its name: a recording finds it only by name.
    if (SameWords(minimal.inputs, start.inputs)) minimal.inputs = start.inputs;
    const absl::StatusOr<Tries> tries = Repeat(runner_, minimal, 2);
    if (absl::IsNotFound(tries.status()) || FailureOf(tries.status())) return std::nullopt;
    RETURN_IF_ERROR(tries.status());
    const uint64_t d = tries->device[minimal.element];
    if (!tries->steady || !target.Holds(Extract(minimal.inputs, minimal.element), d)) {
      return std::nullopt;
    }
    minimal.inputs.stream.clear();
    minimal.device = tries->device;
    minimal.model = tries->model;
    return std::optional<Mismatch>(std::move(minimal));
  }

  // Spends at most half of the remaining budget, because the refuting cases come later.
  absl::Status KeepMinimal() {
    runner_.KeepBack(runner_.left() / 2);
    const absl::Status s = KeepMinimalOf();
    result_.spent = !runner_.HasBudget();  // its half
    runner_.KeepBack(0);
    return s;
  }

  absl::Status KeepMinimalOf() {
    const bool explained = explanation_.has_value();
    // Without an explanation the case must differ in the same way as the gravest word of the
    // mismatch.
    const DifferenceClass lost = explained
                                     ? DifferenceClass::kNone
                                     : GravestClass(op_, AnswersOf(found_.model, found_.device));
    Target target(op_, explanation_, Preferred(), lost);
    std::optional<Mismatch> start = Start(target);
    for (const DifferenceClass way : {lost, DifferenceClass::kNone}) {
      if (start) break;
      target = Target(op_, explanation_, {op_.model}, way);
      start = Start(target);
    }
    if (!start) start = found_;
    ASSIGN_OR_RETURN(auto minimal, Smallest(target, *start));
    if (!minimal) {
      const Target any(op_, std::nullopt, {op_.model});
      ASSIGN_OR_RETURN(minimal, Smallest(any, Start(any, true).value_or(found_)));
    }
    if (minimal) {
      Keep({*minimal, result_.bucket, ""});
    } else {  // it held while shrinking and no longer does: do not trust the original
      result_.bucket.repetition = Repetition::kFlaky;
    }
    return absl::OkStatus();
  }

  // Keeps a case for each rival that an answer refutes and no case refutes yet: first the nearest,
  // then the rival with the fewest refuting answers. Without budget the answer is kept as it is.
  absl::Status KeepRefuting() {
    std::vector<std::pair<size_t, Neighbour>> by_answers;
    for (const Neighbour& r : rivals_) {
      const Model model = WithAlgorithm(op_, r.algorithm);
      if (runner_.StopRequested()) return absl::CancelledError("stopped");
      size_t refuting = 0;
      for (const Observed& o : result_.diagnosis.observed) {
        refuting += !Gives(op_, model, o.dot, o.d);
        if (refuting == kEnoughAnswers) break;
      }
      const bool nearest = IsSame(r, result_.diagnosis.nearest);
      if (refuting > 0) by_answers.push_back({nearest ? 0 : refuting, r});
    }
    std::ranges::stable_sort(by_answers, {}, [](const auto& r) { return r.first; });
    for (const auto& [answers, rival] : by_answers) {
      if (result_.cases.size() >= kMaxCases) break;
      const auto same = [&rival = rival](const Neighbour& r) { return IsSame(r, rival); };
      if (std::ranges::none_of(rivals_, same)) continue;  // refuted since
      const Target target(op_, explanation_, {WithAlgorithm(op_, rival.algorithm)});
      const std::optional<Mismatch> start = Start(target);
      if (!start) continue;
      ASSIGN_OR_RETURN(const auto minimal, Smallest(target, *start, Effort::kNarrow));
      if (minimal) Keep({*minimal, result_.bucket, ""});
    }
    result_.left = rivals_.size();
    return absl::OkStatus();
  }

  absl::Status KeepSmallest() {
    if (Preferred().size() == 1) return absl::OkStatus();  // same as the minimal one
    const Mismatch& from = result_.cases.front().mismatch;
    const Target target(op_, explanation_, {op_.model});
    ASSIGN_OR_RETURN(const auto minimal, Smallest(target, from));
    if (minimal && IsNew(*minimal)) {
      Keep({*minimal, result_.bucket, "the smallest mismatch found", CaseRole::kConfirms});
    }
    return absl::OkStatus();
  }

  // The first mismatch as found: its dot product alone if the minimal case is a single dot product,
  // else the whole tile.
  absl::Status KeepFound() {
    Mismatch found = found_;
    const Mismatch& minimal = result_.cases.front().mismatch;
    if (!(minimal.inputs.shape == mismatch_.inputs.shape)) {
      const DotProductCase dot = Extract(mismatch_.inputs, mismatch_.element);
      found = {&op_, MakeDotProductBatch(op_.shape(), {dot}), 0};
      const absl::StatusOr<Tries> tries = Repeat(runner_, found, 1);
      if (absl::IsNotFound(tries.status())) return absl::OkStatus();
      RETURN_IF_ERROR(tries.status());
      found.model = tries->model;
      found.device = tries->device;
      if (found.device[0] != found_.device[mismatch_.element] &&
          found.inputs.shape == minimal.inputs.shape) {
        result_.bucket.repetition = Repetition::kFlaky;  // it has changed since
      }
    }
    found.inputs.stream.clear();
    if (IsNew(found)) {
      result_.cases.push_back(
          {std::move(found), result_.bucket, "as found, not minimized", CaseRole::kAsFound});
    }
    return absl::OkStatus();
  }

  // People see the first case: the simplest of the kept mismatches, for whole tiles the one with the
  // fewest operands. Without an explanation only dot products as grave as the minimal one count.
  void PutSimplestFirst() {
    std::vector<KeptCase>& cases = result_.cases;
    const bool alone = cases.front().mismatch.inputs.shape == DotProductShape(op_.shape());
    const auto complexity = [&](const KeptCase& c) {
      const Batch& inputs = c.mismatch.inputs;
      return std::pair(alone ? 0 : ActiveWordsOf(op_.model, inputs),
                       ComplexityOf(op_.model, Extract(inputs, c.mismatch.element)));
    };
    const auto way = [this](const Mismatch& m) {
      const Observed o{Extract(m.inputs, m.element), m.device[m.element]};
      return explanation_ ? DifferenceClass::kNone : GravestClass(op_, {&o, 1});
    };
    const DifferenceClass gravest = way(cases.front().mismatch);
    auto simplest = cases.begin();
    for (auto c = cases.begin() + 1; c < cases.end(); ++c) {
      const Mismatch& m = c->mismatch;
      const bool differs = !SameResult(op_, m.model[m.element], m.device[m.element]);
      const bool alike = m.inputs.shape == cases.front().mismatch.inputs.shape;
      const bool grave = !alone || way(m) == gravest;
      if (differs && alike && grave && complexity(*c) < complexity(*simplest)) {
        simplest = c;
      }
    }
    std::rotate(cases.begin(), simplest, simplest + 1);
    cases.front().role = CaseRole::kMinimal;
    std::string& why = cases.front().why;
    why = absl::StrCat(kMinimal, why.empty() ? "" : "; ", why);
  }

  // Shows how much ordinary numbers differ, if they do; the minimal case often has very small ones.
  absl::Status KeepTypical() {
    if (!explanation_) {
      RETURN_IF_ERROR(LookForTypical());
    }
    if (typical_ && IsNew(*typical_)) {
      Keep({*std::move(typical_), result_.bucket, "uses ordinary numbers", CaseRole::kTypical});
    }
    return absl::OkStatus();
  }

  // Without an explanation the device runs all ordinary dot products, or some if it is slow.
  absl::Status LookForTypical() {
    const Mismatch& minimal = result_.cases.front().mismatch;
    if (!(minimal.inputs.shape == DotProductShape(op_.shape()))) return absl::OkStatus();
    const Target target(op_, std::nullopt, {op_.model},
                        GravestClass(op_, AnswersOf(found_.model, found_.device)));
    const int64_t all = kTypicalDotProducts,
                  asked =
                      std::clamp(runner_.left(), kMaxOfSlow, runner_.IsSlow() ? kMaxOfSlow : all);
    for (int64_t i = 0; i < asked;) {
      std::vector<DotProductCase> dots;
      for (; i < asked && std::ssize(dots) < kAskedAtOnce; ++i) {
        dots.push_back(TypicalDotProduct(op_.model, i * all / asked));
      }
      ASSIGN_OR_RETURN(const auto d, runner_.Try(MakeDotProductBatch(op_.shape(), dots)));
      for (size_t k = 0; k < dots.size(); ++k) {
        if (target.Holds(dots[k], d[k])) return AskTypical(dots[k]).status();
      }
    }
    result_.ordinary = asked;
    return absl::OkStatus();
  }

  // Returns the device's answer, none if it has no answer. The case goes to typical_ if the answer
  // differs from the model's and repeats. An answer that does not repeat makes the bucket flaky.
  absl::StatusOr<std::optional<uint64_t>> AskTypical(const DotProductCase& dot) {
    Mismatch typical = {&op_, MakeDotProductBatch(op_.shape(), {dot}), 0};
    const absl::StatusOr<Tries> tries = Repeat(runner_, typical, kTries);
    if (absl::IsNotFound(tries.status()) || FailureOf(tries.status())) return std::nullopt;
    RETURN_IF_ERROR(tries.status());
    if (!tries->steady) result_.bucket.repetition = Repetition::kFlaky;
    typical.device = tries->device;
    typical.model = tries->model;
    if (tries->repeatability == Repeatability::kReproduced) typical_ = std::move(typical);
    return tries->device[0];
  }

  // Asks about the first ordinary numbers for which the explanation and the model have different
  // words. If the device's answer is not the explanation's, it is added to `observed`.
  absl::Status AskPredicted(std::vector<Observed>& observed) {
    const Target target(op_, explanation_, {op_.model});
    const auto dot = FindTypical(
        op_.model, [&](const DotProductCase& candidate) { return target.Possible(candidate); });
    typical_.reset();
    result_.ordinary = dot ? 0 : kTypicalDotProducts;
    if (!dot) return absl::OkStatus();
    ASSIGN_OR_RETURN(const auto d, AskTypical(*dot));
    if (d && !Gives(op_, *explanation_, *dot, *d)) {
      observed.push_back({*dot, *d});
      typical_.reset();
    }
    return absl::OkStatus();
  }

  // Asks about single words of all operands if the explanation is a reading, which typical cases hardly
  // refute. Answers that it does not give are added to `observed`.
  absl::Status AskWords(std::vector<Observed>& observed) {
    const Change* const change = result_.diagnosis.changes.front().single();
    if (change == nullptr || !IsReading(*change->parameter)) return absl::OkStatus();
    std::vector<DotProductCase> dots = ShuffledDecodingCases(op_);
    dots.resize(std::min(dots.size(), runner_.IsSlow() ? kMaxWordsOfSlow : kMaxWords));
    const absl::StatusOr<Answers> answers = runner_.Observe(MakeDotProductBatch(op_.shape(), dots));
    if (absl::IsNotFound(answers.status())) return absl::OkStatus();
    RETURN_IF_ERROR(answers.status());
    const WithNanVerdict free(op_, op_.model, NanVerdict::kAnyNan);
    const Operation& judged = result_.diagnosis.other_nans > 0 ? free.op : op_;
    for (int64_t i = 0; i < answers->size(); ++i) {
      const Observed o = {dots[i], answers->d[i]};
      if (!answers->failures.contains(i) && !Fits(judged, *explanation_, o)) {
        observed.push_back(o);
      }
    }
    return absl::OkStatus();
  }

  bool IsNew(const Mismatch& m) const {
    return std::ranges::none_of(
        result_.cases, [&](const KeptCase& e) { return SameWords(e.mismatch.inputs, m.inputs); });
  }

  // Removes the rivals that the case refutes, and names them in `why`.
  void Keep(KeptCase kept) {
    std::vector<std::string> refuted;
    const Mismatch& m = kept.mismatch;
    const DotProductCase dot = Extract(m.inputs, m.element);
    const uint64_t d = m.device[m.element];
    std::erase_if(rivals_, [&](const Neighbour& r) {
      if (Gives(op_, WithAlgorithm(op_, r.algorithm), dot, d)) return false;
      refuted.push_back(Name(r));
      return true;
    });
    result_.refuted += refuted.size();
    if (!refuted.empty()) {
      const size_t named = std::min(refuted.size(), kMaxNamed);
      absl::StrAppend(
          &kept.why, kept.why.empty() ? "rules out " : "; rules out ",
          absl::StrJoin(refuted.begin(), refuted.begin() + named, ", "),
          named == refuted.size() ? "" : absl::StrCat(" and ", refuted.size() - named, " more"));
    }
    result_.cases.push_back(std::move(kept));
  }

  Runner& runner_;
  const Operation& op_;
  const Mismatch& mismatch_;
  Investigation& result_;
  Mismatch found_;  // with the words of the first tries
  std::optional<Model> explanation_;
  std::optional<Mismatch> typical_;  // ordinary numbers that differ every time
  std::vector<Neighbour> rivals_;    // not refuted yet
};

}  // namespace

std::string Investigation::Text() const {
  if (bucket.repetition == Repetition::kFlaky) return "the device does not repeat its answers";
  const bool alone = refuted + left == 0,
             single = !diagnosis.changes.empty() && diagnosis.changes.front().single() != nullptr;
  return absl::StrCat(
      diagnosis.Text(),
      alone ? "; there is no other single-parameter change"
            : absl::StrCat("; the filed cases rule out ", refuted, single ? " other" : "",
                           refuted == 1 ? " single-parameter change" : " single-parameter changes"),
      left == 0 ? "" : absl::StrCat(", but not the remaining ", left),
      ordinary == 0 ? ""
                    : absl::StrCat("; none of ", ordinary,
                                   " dot products of ordinary numbers shows the difference"),
      spent ? absl::StrCat("; stopped after ", executions, " executions") : "");
}

absl::StatusOr<Investigation> Investigate(Device& device, const Mismatch& mismatch,
                                          const CaseStream& cases, std::span<const Observed> known,
                                          int64_t most) {
  RETURN_IF_ERROR(Check(mismatch));
  const int64_t most_slow = most == 0 ? kMaxSlowExecutions : most;
  Runner runner(device, *mismatch.op, most == 0 ? kMaxExecutions : most, most_slow);
  Investigation result;
  absl::Status s = Investigator(runner, mismatch, result).Run(cases, known);
  if (FailureOf(s) && mismatch.inputs.dot_products() > 1) {  // another word of the execution failed
    return Investigate(device, Alone(mismatch), cases, known, most);
  }
  result.executions = runner.executions();
  result.spent |= !runner.HasBudget();
  RETURN_IF_ERROR(s);
  return result;
}

}  // namespace mmadiff

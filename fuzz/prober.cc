#include "fuzz/prober.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "corpus/case_folder.h"
#include "corpus/durable_file.h"
#include "corpus/line_checksum.h"
#include "corpus/regression_case.h"
#include "device/line_protocol.h"
#include "device/threads.h"
#include "triage/probe/operand_sweep.h"

namespace mmadiff {
namespace {

// Files of answers; errors are kDataLoss.
class AnswerFiles {
 public:
  AnswerFiles(std::string folder, Device& device)
      : folder_(std::move(folder)),
        device_(device),
        date_(absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::Now(), absl::UTCTimeZone())) {}

  absl::Status Add(const Operation& op, std::span<const ProbeAnswer> answers) {
    if (folder_.empty()) return absl::OkStatus();
    std::string text =
        absl::StrCat("# instruction: ", op.name, "\n# device: ", IdentityFor(device_, op),
                     "\n# date: ", date_, "\n");
    bool any = false;
    for (const ProbeAnswer& answer : answers) {
      if (absl::Status s = AddRefuting(op, answer); !s.ok()) return s;
      if (answer.observed.empty()) continue;
      any = true;
      absl::StrAppend(&text, "# question: ", answer.question->id, ": ", answer.question->text,
                      "\n# answer: ", answer.answer, "\n# lines: ", answer.observed.size(),
                      " then a hash\n");
      for (const Observed& o : answer.observed) {
        absl::StrAppend(&text, FormatLine(*op.instruction, o.dot, o.d), "\n");
      }
    }
    if (!any) return absl::OkStatus();
    const std::string name = absl::StrReplaceAll(op.name, {{"/", "."}});
    return Durable(
        WriteFileDurably(absl::StrCat(folder_, "/", name, ".txt"), WithAnswersHash(text)));
  }

 private:
  absl::Status AddRefuting(const Operation& op, const ProbeAnswer& answer) {
    // A regression case is held against a model.
    if (!answer.refuting.has_value() || !IsModelled(op)) return absl::OkStatus();
    const Observed& o = *answer.refuting;
    RegressionCase c;
    c.op = &op;
    c.inputs = MakeDotProductBatch(op.shape(), {o.dot});
    c.answers = {{device_.name(), IdentityFor(device_, op), date_, {o.d}}};
    c.slug = absl::StrCat("probe_", answer.question->id);
    c.why = absl::StrCat(answer.question->text, " ", answer.answer);
    c.source = "mmadiff probe";
    return Durable(WriteCase(c, folder_).status());
  }

  static absl::Status Durable(const absl::Status& s) {
    return s.ok() ? s : absl::DataLossError(s.message());
  }

  const std::string folder_;
  Device& device_;
  const std::string date_;
};

class Prober {
 public:
  Prober(const ProberOptions& options, Engine& engine, const OnAnswer& answered, Console& console)
      : options_(options),
        engines_(engine, options.threads, options.open, [] { return StopSignal() != 0; }),
        answered_(answered),
        console_(console),
        files_(options.folder, engine.device()) {
    for (const Question* q : options.questions) {
      if (q->method == Method::kPairs) {
        pairs_ = q;
      } else {
        (q->method == Method::kLayout ? layout_ : others_).push_back(q);
      }
    }
  }

  absl::StatusOr<ProberOutcome> Run() {
    if (absl::Status s = AskLayouts(); !s.ok()) return s;
    if (absl::Status s = AskOthers(); !s.ok()) return s;
    if (absl::Status s = AskPairs(); !s.ok()) return s;
    return std::move(outcome_);
  }

 private:
  struct OperationModel {
    const Operation* op;
    Model model;  // with what the device taught
  };

  absl::Status AskLayouts() {
    const auto ask = [this](Engine& engine, const Operation& op) {
      return ProbeOperation(engine.device(), op, layout_);
    };
    return AskAll(options_.ops, ask, [this](const Operation& op, const OperationAnswers& answers) {
      const std::vector<ProbeAnswer>& all = answers.answers;
      if (all.empty() || all.front().agreement == Agreement::kAgrees) {
        good_.push_back(&op);
      } else {
        outcome_.dropped.push_back(absl::InternalError("layout"));
      }
    });
  }

  absl::Status AskOthers() {
    const auto ask = [this](Engine& engine,
                            const Operation& op) -> absl::StatusOr<OperationAnswers> {
      // Of a GPU, its self-test; what others cannot answer twice is a question.
      const bool tries = engine.resident() && (!others_.empty() || pairs_ != nullptr);
      const absl::Status tried =
          tries ? engine.Try({&op, &Strategies().front(), 1}) : absl::OkStatus();
      if (!tried.ok()) return tried;
      std::vector<const Question*> questions = others_;
      if (!IsModelled(op) && pairs_ != nullptr) questions.push_back(pairs_);  // it stays open
      return ProbeOperation(engine.device(), op, questions);
    };
    return AskAll(good_, ask, [this](const Operation& op, const OperationAnswers& answers) {
      if (pairs_ == nullptr || !HasOperandSweep(op)) return;
      const bool lost = std::ranges::any_of(
          answers.answers, [](const ProbeAnswer& a) { return a.refuting.has_value(); });
      if (lost) {  // every pair would differ
        answered_(op, {.question = pairs_,
                       .answer = "not asked",
                       .decides = "nothing gives all answers to the other questions",
                       .agreement = Agreement::kOpen});
      } else {
        with_pairs_.push_back({&op, answers.model});
      }
    });
  }

  // Has `ask` ask about each operation, in all threads, and gives `answered` the answers, in order:
  // what was dropped has none, nor what is late, which the first never is.
  absl::Status AskAll(
      const std::vector<const Operation*>& ops,
      const std::function<absl::StatusOr<OperationAnswers>(Engine&, const Operation&)>& ask,
      const std::function<void(const Operation&, const OperationAnswers&)>& answered) {
    std::vector<std::optional<absl::StatusOr<OperationAnswers>>> all(ops.size());
    const auto work = [&](size_t i, int thread) {
      Engine* const engine = engines_.of(thread);
      if (engine == nullptr || (i > 0 && StopNow(options_.limit))) return;
      console_.Status(ops[i]->name, false);
      all[i] = ask(*engine, *ops[i]);
    };
    return InOrder(ops.size(), engines_.threads(), work, [&](size_t i) {
      if (!all[i].has_value()) work(i, 0);  // the thread had no engine, or it is late
      const auto answers = std::exchange(all[i], std::nullopt);
      if (!answers.has_value()) {
        outcome_.late.push_back(ops[i]);
        return absl::OkStatus();
      }
      if (Drops(*ops[i], answers->status())) return absl::OkStatus();
      if (!answers->ok()) return answers->status();
      const OperationAnswers& got = **answers;
      for (const ProbeAnswer& answer : got.answers) answered_(*ops[i], answer);
      absl::Status s = files_.Add(*ops[i], got.answers);
      if (s.ok()) answered(*ops[i], got);
      return s;
    });
  }

  // Each gets its share of the time that is left.
  absl::Status AskPairs() {
    for (size_t i = 0; i < with_pairs_.size() && StopSignal() == 0; ++i) {
      const absl::Duration left = std::max(absl::ZeroDuration(), options_.limit.Left());
      const auto ops = static_cast<int64_t>(with_pairs_.size() - i);
      if (absl::Status s = AskPairsOf(with_pairs_[i], TimeLimit::After(left / ops)); !s.ok()) {
        return s;
      }
    }
    return absl::OkStatus();
  }

  // Whether the error is of this operation alone: the others go on.
  bool Drops(const Operation& op, const absl::Status& s) {
    if (!IsOfOperation(s)) return false;
    console_.Warn(absl::StrCat("dropped ", op.name, ": ", s.message()));
    outcome_.dropped.push_back(s);
    return true;
  }

  absl::Status AskPairsOf(const OperationModel& of, const TimeLimit& limit) {
    const Operation& op = *of.op;
    console_.Status(absl::StrCat("pairs of ", op.name), false);
    std::vector<Device*> devices;
    for (int t = 0; t < engines_.threads(); ++t) {
      Engine* const engine = engines_.of(t);
      devices.push_back(engine == nullptr ? nullptr : &engine->device());
    }
    const absl::StatusOr<OperandSweep> r = SweepOperands(devices, op, of.model, limit);
    if (Drops(op, r.status())) return absl::OkStatus();
    if (!r.ok()) return r.status();
    ProbeAnswer answer = {.question = pairs_, .partial = r->done < r->of, .cases = r->done};
    answer.decides = answer.partial ? "agrees so far" : "agrees";
    answer.answer = absl::StrCat(r->differing, " of ", r->done, " differ",
                                 answer.partial ? absl::StrCat(" (of ", r->of, " in all)") : "");
    if (!r->first.empty()) {
      answer.agreement = Agreement::kContradicts;
      answer.refuting = r->first.front();
      answer.decides =
          absl::StrCat("contradicts what fits the other answers: ",
                       FormatLine(*op.instruction, answer.refuting->dot, answer.refuting->d));
    }
    answered_(op, answer);
    return files_.Add(op, {&answer, 1});
  }

  const ProberOptions& options_;
  Engines engines_;
  const OnAnswer& answered_;
  Console& console_;
  AnswerFiles files_;
  std::vector<const Question*> layout_, others_;
  const Question* pairs_ = nullptr;
  std::vector<const Operation*> good_;      // their layout is right
  std::vector<OperationModel> with_pairs_;  // to be asked for
  ProberOutcome outcome_;
};

}  // namespace

absl::StatusOr<ProberOutcome> ProbeOperations(const ProberOptions& options, Engine& engine,
                                              const OnAnswer& answered, Console& console) {
  return Prober(options, engine, answered, console).Run();
}

}  // namespace mmadiff

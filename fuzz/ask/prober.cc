#include "fuzz/ask/prober.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "corpus/utc_time.h"
#include "device/line_protocol.h"
#include "device/status_macros.h"
#include "fuzz/ask/answer_file.h"
#include "fuzz/ask/dispatcher.h"
#include "fuzz/verdict/error_meaning.h"
#include "triage/explain.h"
#include "triage/probe/operand_sweep.h"

namespace mmadiff {
namespace {

// Runs stage by stage and passes answers on in the order of rows.
class ProbeAgenda : public Agenda {
 public:
  ProbeAgenda(const ProberOptions& options, Engine& first, int workers, OnAnswer answered,
              Console& console)
      : options_(options),
        workers_(workers),
        slow_(first.device().IsSlow()),
        answered_(answered),
        console_(console),
        device_(first.device()) {
    for (const Question* q : options.questions) {
      if (q->method == Method::kPairs) {
        pairs_ = q;
      } else {
        (q->method == Method::kLayout ? layout_ : others_).push_back(q);
      }
    }
    Begin(Stage::kLayouts, options.ops);
  }

  std::optional<Task> Next(absl::Duration) override {
    while (stage_ != Stage::kPairs && given_on_ == next_ && NoneLeft()) EndStage();
    if (stage_ != Stage::kPairs) return NextQuestions();
    if (pair_ >= with_pairs_.size() || sweeping_ == workers_) return std::nullopt;
    const auto& [op, model] = with_pairs_[pair_];
    if (sweep_ == nullptr) {  // gets its share of the remaining time
      console_.Status(absl::StrCat("pairs of ", op->name), false);
      const absl::Duration left = std::max(absl::ZeroDuration(), options_.limit.Left());
      const auto ops = static_cast<int64_t>(with_pairs_.size() - pair_);
      sweep_ = SweeperOf(*op, model, TimeLimit::After(left / ops), slow_);
    }
    ++sweeping_;
    return Task{RowOf(*op), PairsTask{op, sweep_}};
  }

  absl::StatusOr<std::vector<Task>> Take(TaskResult result) override {
    RETURN_IF_ERROR(stage_ == Stage::kPairs ? TakePairs() : TakeAnswers(std::move(result)));
    return std::vector<Task>();
  }

  ProberOutcome Finish() && {
    if (stage_ != Stage::kPairs) EndStage();
    std::ranges::copy(ops_, std::back_inserter(outcome_.late));  // in case the stage did not begin
    return std::move(outcome_);
  }

 private:
  enum class Stage { kLayouts, kOthers, kPairs };

  void Begin(Stage stage, std::vector<const Operation*> ops) {
    stage_ = stage;
    ops_ = std::move(ops);
    results_.assign(ops_.size(), std::nullopt);
    next_ = given_on_ = 0;
  }

  // Operations that the stage did not reach are late.
  void EndStage() {
    for (; given_on_ < ops_.size(); ++given_on_) {
      if (!results_[given_on_].has_value()) outcome_.late.push_back(ops_[given_on_]);
    }
    const bool layouts = stage_ == Stage::kLayouts;
    if (!layouts) {
      for (const auto& [op, answer] : held_) answered_(*op, answer);
      held_.clear();
    }
    Begin(layouts ? Stage::kOthers : Stage::kPairs, std::exchange(good_, {}));
  }

  // When the time is over, all operations of a stage except the first are late.
  bool NoneLeft() const { return next_ == ops_.size() || (next_ > 0 && options_.limit.Reached()); }

  size_t RowOf(const Operation& op) const {
    return std::ranges::find(options_.ops, &op) - options_.ops.begin();
  }

  std::optional<Task> NextQuestions() {
    if (NoneLeft()) return std::nullopt;
    const Operation& op = *ops_[next_++];
    console_.Status(op.name, false);
    QuestionsTask task = {&op, stage_ == Stage::kLayouts ? layout_ : others_};
    if (stage_ == Stage::kOthers) {
      // GPUs run a self-test; for other devices, repetition is one of the questions.
      task.tries = !others_.empty() || pairs_ != nullptr;
      if (!IsModelled(op) && pairs_ != nullptr) task.questions.push_back(pairs_);  // answer is open
    }
    return Task{RowOf(op), std::move(task)};
  }

  absl::Status TakeAnswers(TaskResult result) {
    const auto at = std::ranges::find(ops_, &result.task.op()) - ops_.begin();
    results_[at] = std::move(result);
    for (; given_on_ < ops_.size() && results_[given_on_].has_value(); ++given_on_) {
      const TaskResult& next = *results_[given_on_];
      if (next.drop.has_value()) outcome_.dropped.push_back(*next.drop);
      if (absl::IsCancelled(next.status)) outcome_.late.push_back(ops_[given_on_]);
      if (!next.status.ok()) continue;
      RETURN_IF_ERROR(GiveOn(*ops_[given_on_], std::get<OperationAnswers>(next.answer)));
    }
    return absl::OkStatus();
  }

  absl::Status GiveOn(const Operation& op, const OperationAnswers& got) {
    const auto other = std::ranges::find_if(got.answers, [](const ProbeAnswer& a) {
      return a.question->method == Method::kRepeat && a.agreement == Agreement::kContradicts;
    });
    if (other != got.answers.end()) {  // then none of its answers count
      const absl::Status why = absl::AbortedError(other->answer);
      outcome_.dropped.push_back({&op, DropCause::kDoesNotRepeat, why});
      console_.Warn(Text(outcome_.dropped.back()));
      return absl::OkStatus();
    }
    if (stage_ == Stage::kLayouts && IsOpenLayout(op, got.answers)) {
      held_.emplace(&op, got.answers.front());
      good_.push_back(&op);
      return File(op, got.answers);
    }
    if (stage_ == Stage::kOthers) GiveHeld(op, got.answers);
    for (const ProbeAnswer& answer : got.answers) answered_(op, answer);
    RETURN_IF_ERROR(File(op, got.answers));
    if (stage_ == Stage::kOthers) {
      AddPairs(op, got);
    } else if (got.answers.empty() || got.answers.front().agreement != Agreement::kContradicts) {
      good_.push_back(&op);
    } else {
      outcome_.dropped.push_back(
          {&op, DropCause::kLayout, absl::FailedPreconditionError("layout")});
    }
    return absl::OkStatus();
  }

  // Whether a model did not give the answers to the layout question, so that other questions must say why.
  bool IsOpenLayout(const Operation& op, std::span<const ProbeAnswer> answers) const {
    return IsModelled(op) && !others_.empty() && !answers.empty() &&
           answers.front().agreement == Agreement::kOpen;
  }

  void GiveHeld(const Operation& op, std::span<const ProbeAnswer> others) {
    const auto held = held_.extract(&op);
    if (held.empty()) return;
    ProbeAnswer answer = held.mapped();
    if (std::ranges::none_of(
            others, [](const ProbeAnswer& a) { return a.agreement == Agreement::kContradicts; })) {
      answer.agreement = Agreement::kContradicts;
      answer.decides = "contradicts the tables, and no answer to the other questions says why";
    }
    answered_(op, answer);
  }

  void AddPairs(const Operation& op, const OperationAnswers& got) {
    if (pairs_ == nullptr || !HasOperandSweep(op)) return;
    const bool lost = std::ranges::any_of(got.answers, [&](const ProbeAnswer& a) {
      return a.refuting.has_value() && a.agreement == Agreement::kContradicts &&
             !Fits(op, got.model, *a.refuting);
    });
    if (!lost) {
      with_pairs_.emplace_back(&op, got.model);
      return;
    }
    answered_(op, {.question = pairs_,  // every pair would differ
                   .answer = "not asked",
                   .decides = "no model reproduces all answers to the other questions",
                   .agreement = Agreement::kOpen,
                   .left = Reason::kContradicted});
  }

  // Called as each worker ends its part of the sweep; files the answer after the last one.
  absl::Status TakePairs() {
    if (++swept_ < sweeping_) return absl::OkStatus();
    const Operation& op = *with_pairs_[pair_++].first;
    const absl::StatusOr<OperandSweep> r = sweep_->Result();
    sweep_ = nullptr;
    sweeping_ = swept_ = 0;
    if (absl::IsCancelled(r.status()))
      outcome_.late.push_back(&op);
    else if (!r.ok())
      outcome_.dropped.push_back({&op, MeaningOf(r.status().code()).cause, r.status()});
    if (!r.ok()) return absl::OkStatus();
    ProbeAnswer answer = {.question = pairs_, .partial = r->done < r->of, .cases = r->done};
    answer.decides = answer.partial ? "agrees so far" : "agrees";
    answer.answer = absl::StrCat(r->differing, " of ", r->done, " differ",
                                 answer.partial ? absl::StrCat(" (of ", r->of, " in all)") : "");
    if (!r->first.empty()) {
      answer.agreement = Agreement::kContradicts;
      answer.refuting = r->first.front();
      answer.decides =
          absl::StrCat("contradicts the model that fits the other answers: ",
                       FormatLine(*op.instruction, answer.refuting->dot, answer.refuting->d));
    }
    answered_(op, answer);
    return File(op, {&answer, 1});
  }

  absl::Status File(const Operation& op, std::span<const ProbeAnswer> answers) const {
    if (options_.folder.empty()) return absl::OkStatus();
    AnswerFile file(op, device_, date_);
    bool any = false;
    for (const ProbeAnswer& answer : answers) {
      const Question& q = *answer.question;
      if (answer.refuting.has_value()) {
        RETURN_IF_ERROR(
            file.WriteRefuting(options_.folder, *answer.refuting, absl::StrCat("probe_", q.id),
                               absl::StrCat(q.text, " ", answer.answer), "mmadiff probe"));
      }
      if (answer.observed.empty()) continue;
      any = true;
      file.Add(absl::StrCat(q.id, ": ", q.text), answer.answer, answer.observed);
    }
    return any ? file.Write(options_.folder) : absl::OkStatus();
  }

  const ProberOptions& options_;
  const int workers_;
  const bool slow_;
  OnAnswer answered_;
  Console& console_;
  const Device& device_;
  const std::string date_ = UtcNow();
  std::vector<const Question*> layout_, others_;
  const Question* pairs_ = nullptr;
  ProberOutcome outcome_;
  std::map<const Operation*, ProbeAnswer> held_;  // open layouts, until the other answers come

  Stage stage_ = Stage::kLayouts;
  std::vector<const Operation*> ops_;                           // operations of the stage
  std::vector<std::optional<TaskResult>> results_;              // parallel to ops_
  size_t next_ = 0, given_on_ = 0;                              // indices into ops_
  std::vector<const Operation*> good_;                          // their layout is right
  std::vector<std::pair<const Operation*, Model>> with_pairs_;  // models adapted to the device
  size_t pair_ = 0;                                             // index into with_pairs_
  std::shared_ptr<OperandSweeper> sweep_;                       // current sweep
  int sweeping_ = 0, swept_ = 0;                                // numbers of workers
};

}  // namespace

absl::StatusOr<ProberOutcome> ProbeOperations(const ProberOptions& options, Engine& engine,
                                              OnAnswer answered, Console& console) {
  const bool sweeps = std::ranges::count(options.questions, Method::kPairs, &Question::method) > 0;
  const int threads = sweeps ? options.threads : std::min<int>(options.threads, options.ops.size());
  std::vector<std::unique_ptr<Worker>> workers = WorkersOf(engine, threads, options.open);
  ProbeAgenda agenda(options, engine, static_cast<int>(workers.size()), answered, console);
  TaskLog nothing;
  const DispatchOutcome dispatched =
      Dispatch({TimeLimit(), absl::ZeroDuration()}, workers, agenda, nothing, console);
  RETURN_IF_ERROR(dispatched.durable);
  RETURN_IF_ERROR(dispatched.device);
  return std::move(agenda).Finish();
}

}  // namespace mmadiff

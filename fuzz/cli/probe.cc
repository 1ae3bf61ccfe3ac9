// mmadiff probe: asks a device the questions that only hardware can answer.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "corpus/durable_file.h"
#include "device/plain_text.h"
#include "device/threads.h"
#include "fuzz/ask/dispatcher.h"
#include "fuzz/ask/inferrer.h"
#include "fuzz/ask/prober.h"
#include "fuzz/cli/cli.h"
#include "fuzz/cli/inferred.h"
#include "fuzz/output/next_command.h"
#include "fuzz/output/progress.h"
#include "fuzz/verdict/error_meaning.h"
#include "triage/infer/inference_text.h"
#include "triage/probe/operand_sweep.h"

namespace mmadiff {

Fields<Question> FieldsOf(const Question*) {
  return {
      {"question", &Question::id, "id"},
      {"text", &Question::text, Prose()},
  };
}

namespace {

struct ProbeFlags {
  std::vector<std::string> instr = {"*"}, question;
  std::string device = "auto", max_total_time = "10m", out;
  bool all = false, list = false, stats = false;
  int threads = 0;
};

struct AnsweredQuestion {
  const Operation& op;
  const ProbeAnswer& answer;
};

Fields<AnsweredQuestion> FieldsOf(const AnsweredQuestion*) {
  using A = AnsweredQuestion;
  return {
      {"question", [](const A& a) { return a.answer.question->id; }},
      {"instruction", [](const A& a) { return a.op.name; }, InstructionName()},
      {"answer", [](const A& a) { return a.answer.answer; }, Prose()},
      {"agreement",
       [](const A& a) { return Name(a.answer.agreement); },
       {.words = {"agrees", "contradicts", "open"}}},
      {"decides", [](const A& a) { return a.answer.decides; }, Prose()},
      {"table", [](const A& a) { return a.answer.table; }, Prose()},
      {"cases", [](const A& a) { return a.answer.cases; }},
  };
}

struct ProbeResult {
  std::vector<AnsweredQuestion> answers;
  std::vector<Json> inferred;  // JSON of InferredInstruction
};

Fields<ProbeResult> FieldsOf(const ProbeResult*) {
  return {
      {"answers", &ProbeResult::answers,
       "answers by instruction, those that contradict the tables first"},
      {"inferred",
       &ProbeResult::inferred,
       {.what = "with --all: the models inferred for instructions without a model or a hypothesis",
        .schema = ListOf(SchemaOf<InferredInstruction>())}},
  };
}

// Answers by instruction: those that contradict the table first, then open ones.
class ProbeAnswersByRow {
 public:
  void Add(const Operation& op, const ProbeAnswer& answer) {
    ++found_[static_cast<int>(answer.agreement)];
    answered_ += !answer.left;
    partial_ += answer.partial && answer.agreement == Agreement::kAgrees;
    cases_ += answer.cases;
    auto group = std::ranges::find(groups_, &op, &Group::op);
    if (group == groups_.end()) group = groups_.insert(group, {&op, {}});
    group->answers.push_back(answer);
  }

  void AddInference(const Operation& op, const Inference& inference, const TextStyle& style) {
    inferred_.push_back(JsonOf(InferredInstruction{op, inference}));
    absl::StrAppend(&inferences_, InferenceText(op, inference, style));
  }

  void Print(const ProbeFlags& flags, Call& call) {
    for (Group& group : groups_) std::ranges::stable_sort(group.answers, {}, Rank);
    std::ranges::stable_partition(groups_, &Group::Contradicts);
    const TextStyle style = call.console.style();
    const bool terminal = call.console.terminal();
    call.PrintWithLeftOut(Result(), [&] {
      std::string text;
      for (const Group& group : groups_) text += Text(group, flags.device, style);
      text += inferences_;
      if (flags.stats || !terminal) text += Stats();
      return terminal ? absl::StrCat(text, Verdict(style), Filed(flags.out, style)) : text;
    });
  }

  // nullptr if not found.
  const ProbeAnswer* Find(const Operation& op, const Question& q) const {
    const auto group = std::ranges::find(groups_, &op, &Group::op);
    if (group == groups_.end()) return nullptr;
    const auto answer = std::ranges::find(group->answers, &q, &ProbeAnswer::question);
    return answer == group->answers.end() ? nullptr : &*answer;
  }
  bool HasAnswersOf(const Operation& op) const {
    return std::ranges::count(groups_, &op, &Group::op) > 0;
  }
  // Whether some answer could have contradicted a model or the question before it.
  bool AnyCouldFail() const {
    return !inferred_.empty() || found_[static_cast<int>(Agreement::kAgrees)] > 0 ||
           contradictions() > 0;
  }
  uint64_t contradictions() const { return found_[static_cast<int>(Agreement::kContradicts)]; }
  uint64_t cases() const { return cases_; }

 private:
  struct Group {
    const Operation* op;
    std::vector<ProbeAnswer> answers;

    uint64_t Count(Agreement agreement) const {
      return std::ranges::count(answers, agreement, &ProbeAnswer::agreement);
    }
    bool Contradicts() const { return Count(Agreement::kContradicts) > 0; }
  };

  static int Rank(const ProbeAnswer& answer) {
    return answer.agreement == Agreement::kContradicts ? 0
           : answer.agreement == Agreement::kOpen      ? 1
                                                       : 2;
  }

  // Whether no value of the queried parameters reproduces the answers.
  static bool IsLost(const ProbeAnswer& answer) {
    return answer.question->method == Method::kParameters && answer.refuting.has_value();
  }

  // Several questions without a fitting value mean one thing: a different family, if the device reads
  // operands as the model does.
  static std::string OtherFamily(const Group& group, const std::string& device,
                                 const TextStyle& style) {
    const std::string family =
        IsModelled(*group.op) ? Name(group.op->model.algorithm.family) : "as supposed";
    const auto decoding = std::ranges::find(
        group.answers, Method::kDecoding, [](const ProbeAnswer& a) { return a.question->method; });
    const bool asked = decoding != group.answers.end();
    const bool reads = asked && decoding->agreement == Agreement::kAgrees;
    const std::string lost = absl::StrCat(
        "no change of one parameter, of two, or of more one by one reproduces the "
        "answers to ",
        std::ranges::count_if(group.answers, IsLost), " questions");
    return absl::StrCat(
        Labelled(
            "  family            ",
            reads ? absl::StrCat("this is not ", IsModelled(*group.op) ? "a " : "", family,
                                 " as far as was tried: ", lost, "; `infer` searches all families")
                  : absl::StrCat(lost, asked ? ": operands are not read as the model reads them"
                                             : "; whether operands are read as the model "
                                               "reads them was not asked"),
            style.width),
        CommandLine(
            "  next              ",
            absl::StrCat(Program(), reads || asked ? " infer" : " probe --question=decoding",
                         " --device=", ShellWord(device), " --instr=", ShellWord(group.op->name)),
            style.width));
  }

  static std::string Text(const Group& group, const std::string& device, const TextStyle& style) {
    std::string text = absl::StrCat(group.op->name, "\n");
    const bool other = std::ranges::count_if(group.answers, IsLost) > 1;
    if (other) absl::StrAppend(&text, OtherFamily(group, device, style));
    for (const ProbeAnswer& answer : group.answers) {
      if (other && IsLost(answer)) continue;
      const bool mark = style.color && answer.agreement == Agreement::kContradicts;
      absl::StrAppend(&text, mark ? kMarkBegin : "",
                      Labelled(absl::StrFormat("  %-17s ", answer.question->id),
                               absl::StrCat(answer.answer, ": ", answer.decides), style.width),
                      mark ? kMarkEnd : "");
    }
    return text;
  }

  std::string Stats() const {
    return absl::StrFormat(
        "stat::answers: %d\nstat::agree: %d\nstat::contradict: %d\n"
        "stat::open: %d\nstat::cases: %d\n",
        answered_, found_[0], found_[1], found_[2], cases_);
  }

  // The conclusion from a contradiction: the change of the whole model, if that was found.
  static const std::string& Conclusion(const Group& group) {
    const auto of_model = [](const ProbeAnswer& a) {
      return a.question == FindQuestion("model") && a.agreement == Agreement::kContradicts;
    };
    const auto model = std::ranges::find_if(group.answers, of_model);
    return (model == group.answers.end() ? group.answers.front() : *model).answer;
  }

  // The last lines on a terminal.
  std::string Verdict(const TextStyle& style) const {
    constexpr size_t kMax = 8;
    const size_t wrong = std::ranges::count_if(groups_, &Group::Contradicts);
    const auto verb = [&](int i, const char* of_one, const char* of_many) {
      return absl::StrCat(i == 0 ? CountText(found_[i], "answer") : absl::StrCat(found_[i]),
                          found_[i] == 1 ? of_one : of_many);
    };
    std::string text = absl::StrCat("\n", CountText(groups_.size(), "instruction"), " queried, ",
                                    CountText(cases_, "case"), ": ", verb(0, " agrees", " agree"),
                                    partial_ == 0 ? "" : absl::StrCat(" (", partial_, " so far)"),
                                    ", ", verb(1, " contradicts", " contradict"), " the tables, ",
                                    verb(2, " is open", " are open"), "\n");
    for (size_t i = 0; i < std::min(wrong, kMax); ++i) {
      absl::StrAppend(&text, "  ", groups_[i].op->name, ": ", Conclusion(groups_[i]), "\n");
    }
    if (wrong > kMax) absl::StrAppend(&text, "  and ", wrong - kMax, " more\n");
    return Wrap(text, style.width, 2);
  }

  // The path of the answers, and a command that shows mismatches with the model bit by bit.
  std::string Filed(const std::string& out, const TextStyle& style) const {
    if (out.empty()) return "";
    const std::string command = absl::StrCat(Program(), " replay ", ShellWord(out));
    return absl::StrCat(
        Labelled("filed    ", out, style.width),
        contradictions() == 0 ? "" : CommandLine("next     ", command, style.width));
  }

  ProbeResult Result() const {
    ProbeResult result = {{}, inferred_};
    for (const Group& group : groups_) {
      for (const ProbeAnswer& answer : group.answers) result.answers.push_back({*group.op, answer});
    }
    return result;
  }

  std::vector<Group> groups_;
  std::vector<Json> inferred_;
  std::string inferences_;                            // for people
  uint64_t found_[3] = {}, partial_ = 0, cases_ = 0;  // by Agreement
  uint64_t answered_ = 0;                             // an open one may have no answer
};

std::string NameOf(const Question& q, const Operation& op) {
  return absl::StrCat(q.id, " of ", op.name);
}

// The pairs of an operation and a question that applies to it.
std::vector<std::pair<const Operation*, const Question*>> Applying(const ProberOptions& options,
                                                                   bool named, Ledger& ledger) {
  Filtered<std::pair<const Operation*, const Question*>> asked(Thing::kQuestion);
  for (const Operation* op : options.ops) {
    for (const Question* q : options.questions) {
      if (Applies(*q, *op)) {
        asked.Keep({op, q}, NameOf(*q, *op), named);
      } else {
        asked.Leave(Reason::kDoesNotApply, NameOf(*q, *op), named);
      }
    }
  }
  return ledger.Keep(std::move(asked));
}

// Enters the outcome of the applicable questions, with or without an answer.
void Enter(const ProberOptions& options,
           const std::vector<std::pair<const Operation*, const Question*>>& applying,
           const ProbeAnswersByRow& answers, const ProberOutcome& outcome, const Device& device,
           Ledger& ledger) {
  const auto leave = [&](const Operation& op, const Question& q, Reason why) {
    ledger.Leave({Thing::kQuestion, why, NameOf(q, op)});
    ledger.Leave({Thing::kOperation, why, op.name});
  };
  for (const auto& [op, q] : applying) {
    const ProbeAnswer* const answer = answers.Find(*op, *q);
    if (answer != nullptr && !answer->left) {
      ledger.Compare(Thing::kQuestion, NameOf(*q, *op));
      ledger.Compare(Thing::kOperation, op->name);
    } else if (answer != nullptr) {
      leave(*op, *q, *answer->left);
    } else if (const auto drop = std::ranges::find(outcome.dropped, op, &Drop::op);
               drop != outcome.dropped.end()) {
      const bool layout = answers.HasAnswersOf(*op) && drop->cause == DropCause::kLayout;
      leave(*op, *q, layout ? Reason::kContradicted : ReasonOf(*drop));
    } else if (std::ranges::count(outcome.late, op) > 0) {
      leave(*op, *q, Reason::kNotReached);
    } else if (q->method == Method::kModes && device.Modes().empty()) {
      leave(*op, *q, Reason::kNotOffered);
    }
  }
  for (const Operation* op : options.ops) {  // those without an entry so far
    if (std::ranges::count(applying, op, &std::pair<const Operation*, const Question*>::first) == 0)
      ledger.Leave({Thing::kOperation, Reason::kDoesNotApply, op->name});
  }
}

void Finish(const ProbeAnswersByRow& answers, const ProberOutcome& outcome, Ending& ending) {
  if (!outcome.late.empty()) {
    ending.Say(
        Verdict::kEarly,
        absl::StrCat("unanswered questions for ", CountText(outcome.late.size(), "instruction"),
                     ", from ", outcome.late.front()->name, " on: ",
                     StopSignal() != 0 ? "stopped by a signal"
                                       : "--max_total_time ran out; choose fewer with --instr"));
  } else if (StopSignal() != 0) {
    ending.Say(Verdict::kEarly);
  }
  SayDropped(outcome.dropped, answers.cases() > 0, ending);
  if (answers.contradictions() > 0) ending.Say(Verdict::kDiffers);
}

absl::StatusOr<std::vector<const Question*>> QuestionsOf(const ProbeFlags& flags) {
  std::vector<const Question*> questions;
  if (flags.all == !flags.question.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("write either --all or --question=ID (--all takes up to --max_total_time=",
                     flags.max_total_time, "); `mmadiff probe --list` shows the questions"));
  }
  for (const std::string& id : flags.question) {
    if (FindQuestion(id) == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat("no question '", id, "'; --list shows them"));
    }
  }
  for (const Question& q : Questions()) {
    const auto& ids = flags.question;
    if (flags.all || std::ranges::find(ids, q.id) != ids.end()) questions.push_back(&q);
  }
  return questions;
}

std::string QuestionsText(size_t width) {
  std::string text;
  for (const Question& q : Questions()) {
    text += Labelled(absl::StrFormat("%-17s ", q.id), q.text, width);
  }
  return text;
}

// Announces the possible duration of the sweeps of all pairs before they begin.
void SayHowLong(const ProberOptions& options, const ProbeFlags& flags, Call& call) {
  const auto asks = std::ranges::any_of(
      options.questions, [](const Question* q) { return q->method == Method::kPairs; });
  const auto sweeps =
      std::ranges::count_if(options.ops, [](const Operation* op) { return HasOperandSweep(*op); });
  if (call.globals.quiet || !asks || sweeps == 0) return;
  call.console.Status(
      absl::StrCat("`pairs` for ", sweeps, sweeps == 1 ? " instruction" : " instructions",
                   " may take until --max_total_time=", flags.max_total_time,
                   " runs out; operand pairs that are not reached by then are left out"),
      true);
}

// The operations that were reached, for which questions about the arithmetic have nothing to decide.
std::vector<const Operation*> WithoutArithmetic(const ProberOptions& options,
                                                const ProbeAnswersByRow& answers,
                                                const ProberOutcome& outcome) {
  std::vector<const Operation*> unknown = options.ops;
  // The layout of a single dot product is the order of its terms, which the tree shows.
  const auto is_lost = [&](const Operation* op) {
    const auto drop = std::ranges::find(outcome.dropped, op, &Drop::op);
    return drop != outcome.dropped.end() &&
           (drop->cause != DropCause::kLayout || op->shape().d_words() > 1);
  };
  std::erase_if(unknown, [&](const Operation* op) {
    return IsModelled(*op) || HypothesisOf(*op) != nullptr || !answers.HasAnswersOf(*op) ||
           is_lost(op);
  });
  return unknown;
}

// Infers models in the time left.
void InferThem(const std::vector<const Operation*>& ops, const ProberOptions& options,
               const ProbeFlags& flags, Engine& engine, ProbeAnswersByRow& answers, Call& call) {
  constexpr int64_t kValidation = 100000;  // dot products; `infer` has more time
  InferAgenda agenda(ops, RecordingOf(flags.device), {.validation = kValidation}, call.console,
                     [&](const Operation& op, const Inference& inference) {
                       if (inference.answers.empty()) return absl::OkStatus();
                       call.ledger().Compare(Thing::kOperation, op.name);
                       answers.AddInference(op, inference, call.console.style());
                       SayInferred(op, inference, call);
                       return absl::OkStatus();
                     });
  TaskLog nothing;
  const DispatchOutcome dispatched =
      Dispatch({options.limit, absl::ZeroDuration()}, WorkersOf(engine, 1, options.open), agenda,
               nothing, call.console);
  SayDropped(dispatched.drops, true, call);
  call.Say(dispatched.device);
  if ((agenda.cancelled() || !agenda.rest().empty()) && dispatched.device.ok()) {
    call.Say(Verdict::kEarly,
             absl::StrCat("models are still to be inferred; next: ",
                          InferCommand(flags.device, agenda.cancelled() ? ops : agenda.rest())));
  }
}

// Operations without a model or a hypothesis: `infer` asks instead.
void AskAboutUnknown(const ProberOptions& options, const ProberOutcome& outcome,
                     const ProbeFlags& flags, Engine& engine, ProbeAnswersByRow& answers,
                     Call& call) {
  const std::vector<const Operation*> unknown = WithoutArithmetic(options, answers, outcome);
  const bool infers = flags.all && !unknown.empty() && StopSignal() == 0;
  if (infers && options.limit.Reached()) {  // `pairs` takes all of the time left
    call.console.Warn(absl::StrCat("no time is left to infer models; next: ",
                                   InferCommand(flags.device, unknown)));
  } else if (infers) {
    InferThem(unknown, options, flags, engine, answers, call);
  }
  if (answers.AnyCouldFail()) return;
  call.Say(Verdict::kNothing,
           absl::StrCat("no queried question could fail",
                        unknown.empty() ? ""
                                        : ", because there is no model to compare with; next: " +
                                              InferCommand(flags.device, unknown)));
}

void RunProbe(const ProbeFlags& flags, Call& call) {
  if (flags.list) {
    return call.Print(Questions(), [&] { return QuestionsText(call.console.style().width); });
  }
  const absl::StatusOr<std::vector<const Question*>> questions = QuestionsOf(flags);
  if (!questions.ok()) return call.Say(questions.status());
  const absl::StatusOr<absl::Duration> limit =
      ParseDuration("--max_total_time", flags.max_total_time);
  if (!limit.ok()) return call.Say(limit.status());
  const EngineOr engine = OpenEngineAndWarn(flags.device, call.console);
  if (!engine.ok()) return call.Say(engine.status());
  auto ops = ChooseOperations(flags.instr, Models::kOptional, &(*engine)->device(), call.ledger());
  if (!ops.ok()) return call.Say(ops.status());
  if (ops->empty()) return;  // the ledger has the reason
  if (!flags.out.empty()) {
    if (absl::Status s = MakeFolder(flags.out); !s.ok())
      return call.Say(Verdict::kNotWritten, std::string(s.message()));
  }
  HandleStopSignals();
  ProbeAnswersByRow answers;
  const ProberOptions options = {.ops = *std::move(ops),
                                 .questions = *questions,
                                 .limit = TimeLimit::After(*limit),
                                 .folder = flags.out,
                                 .threads = ThreadsOf(flags.threads),
                                 .open = OpenerOf(flags.device)};
  const auto applying = Applying(options, !flags.all, call.ledger());
  SayHowLong(options, flags, call);
  const absl::StatusOr<ProberOutcome> outcome = ProbeOperations(
      options, **engine,
      [&](const Operation& op, const ProbeAnswer& answer) { answers.Add(op, answer); },
      call.console);
  if (outcome.ok()) {
    Enter(options, applying, answers, *outcome, (*engine)->device(), call.ledger());
    Finish(answers, *outcome, call);
    if (!applying.empty()) AskAboutUnknown(options, *outcome, flags, **engine, answers, call);
  }
  answers.Print(flags, call);  // including the answers before an error
  if (!outcome.ok()) call.Say(outcome.status(), Verdict::kNotWritten);
}

}  // namespace

Action AddProbe(CLI::App& command) {
  const auto flags = std::make_shared<ProbeFlags>();
  AddFlag(
      command, "--all", flags->all,
      "ask every question, and infer the models of instructions that have neither a model nor a "
      "hypothesis");
  AddOption(command, "--question", flags->question, "comma-separated ids of the questions to ask")
      .Delimiter(',')
      .TypeName("IDS");
  AddFlag(command, "--list", flags->list, "list the questions");
  AddFlag(command, "--stats", flags->stats, "print stat:: lines even on a terminal");
  AddDevice(command, flags->device, "device to query");
  AddInstr(command, flags->instr);
  AddThreads(command, flags->threads);
  AddDuration(
      command, "--max_total_time", flags->max_total_time,
      "start no instruction after this time; `pairs` gets the time left by the other questions");
  AddOption(command, "--out", flags->out,
            "output folder for every case with its answer (for replay and recorded:) and for the "
            "unexplained cases")
      .TypeName("FOLDER");
  return {RunProbe,
          flags,
          {SchemaOf<WithLeftOut<ProbeResult>>, {SchemaOf<std::vector<Question>>, "--list"}}};
}

}  // namespace mmadiff

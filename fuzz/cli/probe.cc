// mmadiff probe: asks a device the questions that only hardware answers.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "corpus/durable_file.h"
#include "fuzz/cli/cli.h"
#include "fuzz/json_text.h"
#include "fuzz/prober.h"

namespace mmadiff {
namespace {

struct ProbeFlags {
  std::vector<std::string> instr = {"*"}, question;
  std::string device = "auto", max_total_time = "10m", out;
  bool all = false, list = false;
};

// Prints answers, as they come or as one JSON text, and counts them.
class Answers {
 public:
  Answers(Console& console, bool json) : console_(console), json_(json) {
    if (json_) return;
    console_.Print(
        absl::StrFormat("%-17s %-46s %s\n", "question", "instruction", "answer: decides"));
  }

  void Add(const Operation& op, const ProbeAnswer& answer) {
    ++found_[static_cast<int>(answer.agreement)];
    cases_ += answer.cases;
    if (json_) {
      json_answers_.push_back({{"question", answer.question->id},
                               {"instruction", op.name},
                               {"answer", answer.answer},
                               {"agreement", Name(answer.agreement)},
                               {"decides", answer.decides},
                               {"cases", answer.cases}});
    } else {
      console_.Print(absl::StrFormat("%-17s %-46s %s: %s\n", answer.question->id, op.name,
                                     answer.answer, answer.decides));
    }
  }

  int Finish(const ProberOutcome& outcome) {
    if (json_) {
      console_.Print(JsonText(json_answers_, 1) + "\n");
    } else {
      console_.Print(absl::StrFormat(
          "stat::answers: %d\nstat::agree: %d\nstat::contradict: %d\n"
          "stat::open: %d\nstat::cases: %d\n",
          found_[0] + found_[1] + found_[2], found_[0], found_[1], found_[2], cases_));
    }
    const auto& [dropped, late] = outcome;
    if (!late.empty()) {
      console_.Warn(absl::StrCat(late.size(), " of the instructions, from ", late.front()->name,
                                 ", were not asked all questions: --max_total_time was over"));
    }
    if (!dropped.empty()) {
      console_.Warn(absl::StrCat(dropped.size(), " instructions were dropped (above)"));
      return CodeOfDropped(dropped, cases_ > 0);
    }
    if (found_[1] > 0) return kMismatch;
    return late.empty() ? kClean : kStopped;
  }

 private:
  Console& console_;
  const bool json_;
  nlohmann::ordered_json json_answers_ = nlohmann::ordered_json::array();
  uint64_t found_[3] = {}, cases_ = 0;  // by Agreement
};

absl::StatusOr<std::vector<const Question*>> QuestionsOf(const ProbeFlags& flags) {
  std::vector<const Question*> questions;
  if (flags.all == !flags.question.empty()) {
    return absl::InvalidArgumentError("either --all or --question=ID; --list shows the questions");
  }
  for (const std::string& id : flags.question) {
    if (FindQuestion(id) == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat("no question '", id, "'; --list shows them"));
    }
  }
  for (const Question& q : Questions()) {
    const auto& ids = flags.question;
    if (flags.all || std::find(ids.begin(), ids.end(), q.id) != ids.end()) questions.push_back(&q);
  }
  return questions;
}

int PrintQuestions(Console& console) {
  for (const Question& q : Questions()) console.Print(absl::StrFormat("%-17s %s\n", q.id, q.text));
  return kClean;
}

int RunProbe(const ProbeFlags& flags, const Globals& globals) {
  Console console = globals.MakeConsole();
  if (flags.list) return PrintQuestions(console);
  const absl::StatusOr<std::vector<const Question*>> questions = QuestionsOf(flags);
  if (!questions.ok()) return Fail(questions.status());
  const absl::StatusOr<absl::Duration> limit =
      ParseDuration("--max_total_time", flags.max_total_time);
  if (!limit.ok()) return Fail(limit.status());
  absl::StatusOr<std::vector<const Operation*>> ops =
      OperationsMatching(flags.instr, Models::kOptional);
  if (!ops.ok()) return Fail(ops.status());
  const EngineOr engine = OpenEngineAndWarn(flags.device, console);
  if (!engine.ok()) return Fail(engine.status());
  std::erase_if(*ops, [&](const Operation* op) { return !(*engine)->device().Supports(*op).ok(); });
  if (ops->empty()) {
    return Fail(absl::NotFoundError(
        absl::StrCat("device ", flags.device, " has none of these instructions")));
  }
  if (!flags.out.empty()) {
    if (absl::Status s = MakeFolder(flags.out); !s.ok())
      return Fail(absl::DataLossError(s.message()), kNotDurable);
  }
  Answers answers(console, globals.json);
  const absl::StatusOr<ProberOutcome> outcome = ProbeOperations(
      {*std::move(ops), *questions, TimeLimit::After(*limit), flags.out}, **engine,
      [&](const Operation& op, const ProbeAnswer& answer) { answers.Add(op, answer); }, console);
  return outcome.ok() ? answers.Finish(*outcome) : Fail(outcome.status(), kNotDurable);
}

}  // namespace

std::function<int()> AddProbe(CLI::App& command, const Globals& globals) {
  const auto flags = std::make_shared<ProbeFlags>();
  command.add_flag("--all", flags->all, "every question");
  command.add_option("--question", flags->question, "ids, comma separated")
      ->delimiter(',')
      ->type_name("IDS");
  command.add_flag("--list", flags->list, "the questions");
  AddDevice(command, flags->device, "who is asked");
  AddInstr(command, flags->instr);
  AddDuration(
      command, "--max_total_time", flags->max_total_time,
      "begin no further instruction after that; `pairs` gets what the other questions leave");
  command
      .add_option("--out", flags->out,
                  "folder for every case with its answer (for replay and recorded:) and for the "
                  "cases that nothing explains")
      ->type_name("FOLDER");
  return [flags, &globals] { return RunProbe(*flags, globals); };
}

}  // namespace mmadiff

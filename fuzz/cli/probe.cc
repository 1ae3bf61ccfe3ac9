// mmadiff probe: asks a device the questions that only hardware answers.
#include "triage/probe/probe.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "corpus/durable_file.h"
#include "corpus/line_checksum.h"
#include "corpus/regression_case.h"
#include "device/line_protocol.h"
#include "fuzz/cases/case_name.h"
#include "fuzz/cli/cli.h"
#include "fuzz/engine.h"
#include "fuzz/json_text.h"
#include "triage/probe/pairs.h"

namespace mmadiff {
namespace {

struct ProbeFlags {
  std::vector<std::string> instr = {"*"}, question;
  std::string device = "auto", max_total_time = "10m", out;
  bool all = false, list = false;
};

class Probe {
 public:
  Probe(Engine& engine, Console& console, const std::string& folder, bool json)
      : engine_(engine),
        device_(engine.device()),
        console_(console),
        folder_(folder),
        json_(json),
        date_(absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::Now(), absl::UTCTimeZone())) {}

  // Layouts of all rows first: where one is wrong, nothing else is asked of the row. Pairs last,
  // with the time that is left.
  absl::Status Run(std::vector<const Row*> rows, const std::vector<const Question*>& questions,
                   const TimeLimit& limit) {
    if (!json_)
      console_.Print(
          absl::StrFormat("%-17s %-46s %s\n", "question", "instruction", "answer: decides"));
    std::vector<const Question*> layout, others;
    const Question* pairs = nullptr;
    for (const Question* q : questions) {
      if (q->method == Method::kPairs) {
        pairs = q;
      } else {
        (q->method == Method::kLayout ? layout : others).push_back(q);
      }
    }
    std::vector<const Row*> good;
    for (const Row* row : rows) {
      if (row != rows.front() && IsLate(*row, limit)) continue;
      const absl::StatusOr<RowAnswers> answers = Ask(*row, layout);
      if (Drops(*row, answers.status())) continue;
      if (!answers.ok()) return answers.status();
      const auto& all = answers->answers;
      if (all.empty() || all.front().finding == Agreement::kAgrees) {
        good.push_back(row);
      } else {
        dropped_.push_back(absl::InternalError("layout"));
      }
    }
    std::vector<RowModel> with_pairs;
    for (const Row* row : good) {
      if (row != good.front() && IsLate(*row, limit)) continue;
      // Of a GPU, its self-test; what others cannot answer twice is a question.
      const bool tries = engine_.resident() && (!others.empty() || pairs != nullptr);
      const absl::Status tried =
          tries ? engine_.Try({row, &Strategies().front(), 1}) : absl::OkStatus();
      if (Drops(*row, tried)) continue;
      if (!tried.ok()) return tried;
      const absl::StatusOr<RowAnswers> answers = Ask(*row, others);
      if (Drops(*row, answers.status())) continue;
      if (!answers.ok()) return answers.status();
      if (pairs == nullptr || !HasPairs(*row)) continue;
      const bool lost = std::ranges::any_of(
          answers->answers, [](const ProbeAnswer& a) { return a.refuting.has_value(); });
      if (lost) {  // every pair would differ
        Print(*row, {.question = pairs,
                     .answer = "not asked",
                     .decides = "nothing gives all answers to the other questions",
                     .finding = Agreement::kOpen});
      } else {
        with_pairs.push_back({row, answers->model});
      }
    }
    for (size_t i = 0; i < with_pairs.size(); ++i) {
      const absl::Duration left = std::max(absl::ZeroDuration(), limit.Left());
      const TimeLimit share = TimeLimit::After(left / static_cast<int64_t>(with_pairs.size() - i));
      const absl::Status s = AskPairs(with_pairs[i], *pairs, share);
      if (!Drops(*with_pairs[i].row, s) && !s.ok()) return s;
    }
    return absl::OkStatus();
  }

  int Finish() {
    if (json_) {
      console_.Print(JsonText(json_answers_, 1) + "\n");
    } else {
      console_.Print(absl::StrFormat(
          "stat::answers: %d\nstat::agree: %d\nstat::contradict: %d\n"
          "stat::open: %d\nstat::cases: %d\n",
          found_[0] + found_[1] + found_[2], found_[0], found_[1], found_[2], cases_));
    }
    if (!late_.empty()) {
      console_.Warn(absl::StrCat(late_.size(), " of the instructions, from ", late_.front(),
                                 ", were not asked all questions: --max_total_time was over"));
    }
    if (!dropped_.empty()) {
      console_.Warn(absl::StrCat(dropped_.size(), " instructions were dropped (above)"));
      return CodeOfDropped(dropped_, cases_ > 0);
    }
    if (found_[1] > 0) return kMismatch;
    return late_.empty() ? kClean : kStopped;
  }

 private:
  struct RowModel {
    const Row* row;
    Model model;  // with what the device taught
  };

  // Whether the time is up before the row was asked all.
  bool IsLate(const Row& row, const TimeLimit& limit) {
    if (limit.Left() > absl::ZeroDuration()) return false;
    late_.push_back(row.name);
    return true;
  }

  // Whether the error is of this row alone: the others go on.
  bool Drops(const Row& row, const absl::Status& s) {
    if (!IsOfRow(s) || not_durable_) return false;
    console_.Warn(absl::StrCat("dropped ", row.name, ": ", s.message()));
    dropped_.push_back(s);
    return true;
  }

  absl::StatusOr<RowAnswers> Ask(const Row& row, const std::vector<const Question*>& questions) {
    console_.Status(row.name, false);
    absl::StatusOr<RowAnswers> answers = ProbeRow(device_, row, questions);
    if (!answers.ok()) return answers.status();
    for (const ProbeAnswer& answer : answers->answers) Print(row, answer);
    if (absl::Status s = Write(row, answers->answers); !s.ok()) return s;
    return answers;
  }

  absl::Status AskPairs(const RowModel& of, const Question& q, const TimeLimit& limit) {
    const Row& row = *of.row;
    console_.Status(absl::StrCat("pairs of ", row.name), false);
    const absl::StatusOr<PairResult> r = SweepPairs(device_, row, of.model, limit);
    if (!r.ok()) return r.status();
    ProbeAnswer answer = {.question = &q, .decides = "agrees", .cases = r->done};
    answer.answer = absl::StrCat(r->differing, " of ", r->done, " differ",
                                 r->done < r->of ? absl::StrCat(" (of ", r->of, " in all)") : "");
    if (!r->first.empty()) {
      answer.finding = Agreement::kContradicts;
      answer.refuting = r->first.front();
      answer.decides =
          absl::StrCat("contradicts what fits the other answers: ",
                       FormatLine(*row.instruction, answer.refuting->dot, answer.refuting->d));
    }
    Print(row, answer);
    return File(row, answer);
  }

  void Print(const Row& row, const ProbeAnswer& answer) {
    ++found_[static_cast<int>(answer.finding)];
    cases_ += answer.cases;
    if (json_) {
      json_answers_.push_back({{"question", answer.question->id},
                               {"instruction", row.name},
                               {"answer", answer.answer},
                               {"finding", Name(answer.finding)},
                               {"decides", answer.decides},
                               {"cases", answer.cases}});
    } else {
      console_.Print(absl::StrFormat("%-17s %-46s %s: %s\n", answer.question->id, row.name,
                                     answer.answer, answer.decides));
    }
  }

  // Every case with its answer, and what nothing explains as a regression case.
  absl::Status Write(const Row& row, const std::vector<ProbeAnswer>& answers) {
    if (folder_.empty()) return absl::OkStatus();
    std::string text =
        absl::StrCat("# instruction: ", row.name, "\n# device: ", IdentityFor(device_, row),
                     "\n# date: ", date_, "\n");
    bool any = false;
    for (const ProbeAnswer& answer : answers) {
      if (absl::Status s = File(row, answer); !s.ok()) return s;
      if (answer.observed.empty()) continue;
      any = true;
      absl::StrAppend(&text, "# question: ", answer.question->id, ": ", answer.question->text,
                      "\n# answer: ", answer.answer, "\n# lines: ", answer.observed.size(),
                      " then a hash\n");
      for (const Observed& o : answer.observed) {
        absl::StrAppend(&text, FormatLine(*row.instruction, o.dot, o.d), "\n");
      }
    }
    if (!any) return absl::OkStatus();
    const std::string name = absl::StrReplaceAll(row.name, {{"/", "."}});
    return Durable(
        WriteFileDurably(absl::StrCat(folder_, "/", name, ".txt"), WithAnswersHash(text)));
  }

  absl::Status File(const Row& row, const ProbeAnswer& answer) {
    if (folder_.empty() || !answer.refuting.has_value()) return absl::OkStatus();
    const Observed& o = *answer.refuting;
    RegressionCase c;
    c.row = &row;
    c.inputs = MakeDotProductBatch(row.shape(), {o.dot});
    c.answers = {{device_.name(), IdentityFor(device_, row), date_, {o.d}}};
    c.slug = absl::StrCat("probe_", answer.question->id);
    c.why = absl::StrCat(answer.question->text, " ", answer.answer);
    c.source = "mmadiff probe";
    return Durable(WriteCase(c, folder_).status());
  }

  // Of files alone: a device's error keeps its code.
  absl::Status Durable(const absl::Status& s) {
    not_durable_ |= !s.ok();
    return s.ok() ? s : absl::DataLossError(s.message());
  }

  Engine& engine_;
  Device& device_;
  Console& console_;
  const std::string folder_;
  const bool json_;
  const std::string date_;
  nlohmann::ordered_json json_answers_ = nlohmann::ordered_json::array();
  uint64_t found_[3] = {}, cases_ = 0;
  std::vector<absl::Status> dropped_;
  std::vector<std::string> late_;  // rows that were not asked all
  bool not_durable_ = false;
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
  absl::StatusOr<std::vector<const Row*>> rows = RowsMatching(flags.instr);
  if (!rows.ok()) return Fail(rows.status());
  const EngineOr engine = OpenEngine(flags.device);
  if (!engine.ok()) return Fail(engine.status());
  std::erase_if(*rows, [&](const Row* row) { return !(*engine)->device().Supports(*row).ok(); });
  if (rows->empty()) {
    return Fail(absl::NotFoundError(
        absl::StrCat("device ", flags.device, " has none of these instructions")));
  }
  if (!flags.out.empty()) {
    if (absl::Status s = MakeFolder(flags.out); !s.ok())
      return Fail(absl::DataLossError(s.message()), kNotDurable);
  }
  Probe probe(**engine, console, flags.out, globals.json);
  if (absl::Status s = probe.Run(*std::move(rows), *questions, TimeLimit::After(*limit)); !s.ok()) {
    return Fail(s, kNotDurable);
  }
  return probe.Finish();
}

}  // namespace

std::function<int()> AddProbe(CLI::App& command, const Globals& globals) {
  const auto flags = std::make_shared<ProbeFlags>();
  command.add_flag("--all", flags->all, "every question");
  command.add_option("--question", flags->question, "ids, comma separated")->delimiter(',');
  command.add_flag("--list", flags->list, "the questions");
  command.add_option("--device", flags->device, "[auto]");
  command.add_option("--instr", flags->instr, "globs, comma separated [*]")->delimiter(',');
  command.add_option(
      "--max_total_time", flags->max_total_time,
      "begin no further instruction after that; `pairs` gets what the other questions "
      "leave: 90s, 30m [10m]");
  command.add_option("--out", flags->out,
                     "folder for every case with its answer (for replay and recorded:) and for "
                     "the cases that nothing explains");
  return [flags, &globals] { return RunProbe(*flags, globals); };
}

}  // namespace mmadiff

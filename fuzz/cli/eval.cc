// mmadiff eval: the simulator, or a device, as a filter.
#include <algorithm>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "corpus/line_checksum.h"
#include "device/line_protocol.h"
#include "device/plain_text.h"
#include "device/status_macros.h"
#include "fuzz/cli/cli.h"
#include "fuzz/cli/json_rows.h"
#include "fuzz/cli/protocol.h"
#include "sim/simulate.h"
#include "triage/race/racer.h"

namespace mmadiff {
namespace {

class Output {
 public:
  virtual ~Output() = default;
  virtual void Answer(const DotProductCase& dot, uint64_t d) = 0;
  virtual void PassOn(absl::string_view comment) = 0;
  virtual void Finish(const absl::Status& status) = 0;
};

// Stdout, and the hash of what went there: a recording, when it is kept.
class LineOutput : public Output {
 public:
  // `identity`: of the device; empty for the simulator.
  LineOutput(const Operation& op, const std::string& identity) : op_(op) {
    if (identity.empty()) return;
    Write(absl::StrCat("# instruction: ", op.name, "\n# device: ", identity, "\n"));
  }
  void Answer(const DotProductCase& dot, uint64_t d) override {
    Write(FormatLine(*op_.instruction, dot, d) + "\n");
  }
  // The answers have a hash where the operands have one; an old one is of other answers.
  void PassOn(absl::string_view comment) override {
    absl::string_view ignored;
    if (IsLineComment(comment, "answers", &ignored)) return;
    Write(PlainLine(comment) + "\n");
    if (!IsLineComment(comment, "operands", &ignored)) return;
    std::printf("# answers: %s\n", hash_.Take().c_str());
  }
  void Finish(const absl::Status&) override {}

 private:
  void Write(absl::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    hash_.Add(text);
  }

  const Operation& op_;
  TextHash hash_;
};

// An answer, with the words of all rows where several were asked.
struct WordOfRow {
  const Operation& op;
  uint64_t d;
};
struct AnsweredLine {
  const Instruction& instruction;
  const DotProductCase& dot;
  uint64_t d;
  std::optional<std::vector<WordOfRow>> words = {};
};

Fields<WordOfRow> FieldsOf(const WordOfRow*) {
  using W = WordOfRow;
  return {
      {"instruction", [](const W& w) { return w.op.name; }, InstructionName()},
      {"d", [](const W& w) { return HexWord(*w.op.instruction->d, w.d); }, HexDigits()},
  };
}

Fields<AnsweredLine> FieldsOf(const AnsweredLine*) {
  using L = AnsweredLine;
  return {
      Field<L>::Flat([](const L& l) {
        return DotProductWords{l.instruction, l.dot, l.d};
      }),
      {"words", &L::words, Absent({.what = "of each row of a glob"})},
  };
}

struct EvalResult {
  const Operation& op;
  std::string device_identity;
  uint64_t count = 0;
  std::string error = "";
};

Fields<EvalResult> FieldsOf(const EvalResult*) {
  using R = EvalResult;
  return {
      {"instruction", [](const R& r) { return r.op.name; }, InstructionName()},
      {"device_identity", &R::device_identity, "who answered; empty: the simulator"},
      {"dot_products", [](const R&) { return std::vector<AnsweredLine>(); }},
      {"count", &R::count},
      {"error", &R::error, Prose("what ended it too early; empty if nothing did")},
  };
}

class JsonOutput : public Output {
 public:
  JsonOutput(const Operation& op, const std::string& identity)
      : result_{op, identity}, rows_(result_, "dot_products") {}
  void Answer(const DotProductCase& dot, uint64_t d) override {
    rows_.Add(AnsweredLine{*result_.op.instruction, dot, d});
    ++result_.count;
  }
  void PassOn(absl::string_view) override {}
  void Finish(const absl::Status& status) override {
    result_.error = std::string(status.message());
    rows_.Finish(result_);
  }

 private:
  EvalResult result_;
  JsonRows rows_;
};

// Rows with equal formats, k and scales; the first of them reads the lines.
absl::StatusOr<std::vector<const Operation*>> OperationsOf(const std::string& name,
                                                           Ledger& ledger) {
  if (name.find_first_of("*?[") == name.npos) {
    ASSIGN_OR_RETURN(const Operation* op, OneOperation(name));
    return std::vector{op};
  }
  ASSIGN_OR_RETURN(std::vector<const Operation*> ops,
                   ChooseOperations({name}, Models::kRequired, nullptr, ledger));
  for (const Operation* op : ops) {
    const std::string why = WhyNotComparable(ops.front()->model, op->model);
    if (!why.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(ops.front()->name, " and ", op->name, " match, and ", why));
    }
    ledger.Compare(Thing::kOperation, op->name);
  }
  return ops;
}

// Each line's words, with the rows that give them.
class RowsOutput {
 public:
  RowsOutput(const std::vector<const Operation*>& ops, bool json) : ops_(ops) {
    if (json) rows_.emplace(EvalResult{*ops[0], ""}, "dot_products");
  }

  // `d`: words of each row.
  void Answer(const DotProductCase& dot, const std::vector<uint64_t>& d) {
    const Instruction& instruction = *ops_[0]->instruction;
    ++count_;
    std::vector<WordOfRow> words;
    std::string text = FormatLine(instruction, dot) + "\n";
    std::vector<uint64_t> distinct = d;
    std::ranges::sort(distinct);
    distinct.erase(std::ranges::unique(distinct).begin(), distinct.end());
    for (const uint64_t word : distinct) {
      absl::StrAppend(&text, "  ", HexWord(*instruction.d, word), " ");
      for (size_t i = 0; i < ops_.size(); ++i) {
        if (d[i] != word) continue;
        absl::StrAppend(&text, " ", ops_[i]->name);
        words.push_back({*ops_[i], word});
      }
      text += '\n';
    }
    if (rows_) {
      rows_->Add(AnsweredLine{instruction, dot, d[0], std::move(words)});
    } else {
      std::fputs(text.c_str(), stdout);
    }
  }
  void Finish(const absl::Status& status) {
    if (rows_) rows_->Finish(EvalResult{*ops_[0], "", count_, std::string(status.message())});
  }

 private:
  const std::vector<const Operation*>& ops_;
  std::optional<JsonRows> rows_;
  uint64_t count_ = 0;
};

// One line on all rows that match, by the simulator.
void EvalRows(const std::vector<const Operation*>& ops, const Globals& globals, Ending& ending) {
  RowsOutput output(ops, globals.json);
  const auto print = [&](const Portion& portion) -> absl::Status {
    for (int64_t i = 0; i < portion.batch.dot_products(); ++i) {
      const DotProductCase dot = Extract(portion.batch, i);
      std::vector<uint64_t> d;
      for (const Operation* op : ops) d.push_back(Simulate(op->model, dot));
      output.Answer(dot, d);
    }
    return std::ferror(stdout) ? absl::CancelledError() : absl::OkStatus();
  };
  const absl::Status status = StdinReader(*ops[0], false, print, nullptr, ops).Read();
  output.Finish(status);
  if (!std::ferror(stdout)) ending.Say(status);  // else main.cc says so
}

void RunEval(const std::string& name, const std::string& device_spec, const Globals& globals,
             Ending& ending) {
  const auto ops = OperationsOf(name, ending.ledger());
  if (!ops.ok()) return ending.Say(ops.status());
  if (ops->empty()) return;  // the ledger says why
  if (ops->size() > 1) {
    if (device_spec.empty()) return EvalRows(*ops, globals, ending);
    return ending.Say(Verdict::kUsage, "--device takes one instruction");
  }
  const Operation* const op = ops->front();
  Console console = globals.MakeConsole();
  DeviceOr device = std::unique_ptr<Device>();
  std::string identity;
  if (!device_spec.empty()) {
    device = OpenDeviceAndWarn(device_spec, console);
    if (!device.ok()) return ending.Say(device.status());
    if (absl::Status s = (*device)->Supports(*op); !s.ok()) return ending.Say(s);
    identity = PlainLine(Name((*device)->identity()));
  }
  std::unique_ptr<Output> output;
  if (globals.json) {
    output = std::make_unique<JsonOutput>(*op, identity);
  } else {
    output = std::make_unique<LineOutput>(*op, identity);
  }
  const auto print = [&](const Portion& portion) -> absl::Status {
    std::vector<uint64_t> d(portion.batch.dot_products());
    absl::Status answered;
    if (*device == nullptr) {
      Simulate(op->model, portion.batch, d);
    } else {
      answered = (*device)->Run(*op, portion.batch, d);
    }
    for (size_t i = 0; i < d.size(); ++i) output->Answer(Extract(portion.batch, i), d[i]);
    return std::ferror(stdout) ? absl::CancelledError() : answered;
  };
  const auto pass_on = [&output](absl::string_view comment) {
    output->PassOn(comment);
    return absl::OkStatus();
  };
  const absl::Status status = StdinReader(*op, false, print, pass_on).Read();
  output->Finish(status);
  if (!std::ferror(stdout)) ending.Say(status);  // else main.cc says so
}

}  // namespace

Action AddEval(CLI::App& command, const Globals& globals) {
  struct Flags {
    std::string op, device;
  };
  const auto flags = std::make_shared<Flags>();
  AddInstruction(command, flags->op);
  AddDevice(command, flags->device, "who answers [the simulator]");
  return {[flags, &globals](Ending& ending) { RunEval(flags->op, flags->device, globals, ending); },
          {SchemaOf<EvalResult>}};
}

}  // namespace mmadiff

// mmadiff eval: runs the simulator, or a device, as a filter.
#include <map>
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

struct EvalFlags {
  std::string op, device;
};

class Output {
 public:
  virtual ~Output() = default;
  // `d`: one word per row.
  virtual void Answer(const DotProductCase& dot, const std::vector<uint64_t>& d) = 0;
  virtual void PassOn(absl::string_view) {}  // a comment
  virtual void Finish(const absl::Status&) {}
};

// Prints to stdout with a hash of the output, so that a saved output is a recording.
class LineOutput : public Output {
 public:
  // `identity`: the device's; empty for the simulator.
  LineOutput(const Operation& op, const std::string& identity) : op_(op) {
    if (identity.empty()) return;
    Write(absl::StrCat("# instruction: ", op.name, "\n# device: ", identity, "\n"));
  }
  void Answer(const DotProductCase& dot, const std::vector<uint64_t>& d) override {
    Write(FormatLine(*op_.instruction, dot, d[0]) + "\n");
  }
  // The answers get a hash if the operands have one; an existing answer hash belongs to different
  // answers.
  void PassOn(absl::string_view comment) override {
    absl::string_view ignored;
    if (IsLineComment(comment, "answers", &ignored)) return;
    Write(PlainLine(comment) + "\n");
    if (!IsLineComment(comment, "operands", &ignored)) return;
    std::printf("# answers: %s\n", hash_.Take().c_str());
  }

 private:
  void Write(absl::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    hash_.Add(text);
  }

  const Operation& op_;
  TextHash hash_;
};

// An answer, with the words of all rows if there are several.
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
      {"words", &L::words, Absent({.what = "results of each row that matches a glob"})},
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
      {"device_identity", &R::device_identity, "device that answered; empty for the simulator"},
      {"dot_products", [](const R&) { return std::vector<AnsweredLine>(); }},
      {"count", &R::count},
      {"error", &R::error, Prose("error that ended `eval` early; empty if there was none")},
  };
}

std::map<uint64_t, std::vector<const Operation*>> RowsByWord(
    const std::vector<const Operation*>& ops, const std::vector<uint64_t>& d) {
  std::map<uint64_t, std::vector<const Operation*>> rows;
  for (size_t i = 0; i < ops.size(); ++i) rows[d[i]].push_back(ops[i]);
  return rows;
}

class JsonOutput : public Output {
 public:
  JsonOutput(const std::vector<const Operation*>& ops, const std::string& identity,
             const Ledger& ledger)
      : ops_(ops),
        ledger_(ledger),
        result_{.op = *ops[0], .device_identity = identity},
        rows_(JsonOf(result_), "dot_products") {}
  void Answer(const DotProductCase& dot, const std::vector<uint64_t>& d) override {
    AnsweredLine line = {*result_.op.instruction, dot, d[0]};
    if (ops_.size() > 1) {
      line.words.emplace();
      for (const auto& [word, rows] : RowsByWord(ops_, d)) {
        for (const Operation* op : rows) line.words->push_back({*op, word});
      }
    }
    rows_.Add(JsonOf(line));
    ++result_.count;
  }
  void Finish(const absl::Status& status) override {
    result_.error = std::string(status.message());
    rows_.Finish(JsonOf(WithLeftOut<EvalResult>{result_, ledger_.lines()}));
  }

 private:
  const std::vector<const Operation*>& ops_;
  const Ledger& ledger_;
  EvalResult result_;
  JsonRows rows_;
};

// Prints the words for each line, with the rows that compute them.
class RowsOutput : public Output {
 public:
  explicit RowsOutput(const std::vector<const Operation*>& ops) : ops_(ops) {}
  void Answer(const DotProductCase& dot, const std::vector<uint64_t>& d) override {
    const Instruction& instruction = *ops_[0]->instruction;
    std::string text = FormatLine(instruction, dot) + "\n";
    for (const auto& [word, rows] : RowsByWord(ops_, d)) {
      absl::StrAppend(&text, "  ", HexWord(*instruction.d, word), " ");
      for (const Operation* op : rows) absl::StrAppend(&text, " ", op->name);
      text += '\n';
    }
    std::fputs(text.c_str(), stdout);
  }

 private:
  const std::vector<const Operation*>& ops_;
};

// Rows with equal formats, k and scales; the first of them reads the lines.
absl::StatusOr<std::vector<const Operation*>> ComparableOperations(const std::string& name,
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

void RunEval(const EvalFlags& flags, Call& call) {
  const auto ops = ComparableOperations(flags.op, call.ledger());
  if (!ops.ok()) return call.Say(ops.status());
  if (ops->empty()) return;  // the ledger has the reason
  if (ops->size() > 1 && !flags.device.empty()) {
    return call.Say(Verdict::kUsage, "--device takes one instruction");
  }
  const Operation& op = *ops->front();  // operation of the lines
  DeviceOr device = std::unique_ptr<Device>();
  std::string identity;
  if (!flags.device.empty()) {
    device = OpenDeviceAndWarn(flags.device, call.console);
    if (!device.ok()) return call.Say(device.status());
    if (absl::Status s = (*device)->Supports(op); !s.ok()) return call.Say(s);
    identity = PlainLine(Name((*device)->identity()));
  }
  std::unique_ptr<Output> output;
  if (call.globals.json) {
    output = std::make_unique<JsonOutput>(*ops, identity, call.ledger());
  } else if (ops->size() > 1) {
    output = std::make_unique<RowsOutput>(*ops);
  } else {
    output = std::make_unique<LineOutput>(op, identity);
  }
  const auto print = [&](const Portion& portion) -> absl::Status {
    std::vector<uint64_t> answers(portion.batch.dot_products());  // the device's or a model's
    std::vector<std::vector<uint64_t>> d(answers.size());
    absl::Status answered;
    for (const Operation* row : *ops) {
      if (*device == nullptr) {
        Simulate(row->model, portion.batch, answers);
      } else {
        answered = (*device)->Run(*row, portion.batch, answers);
      }
      d.resize(answers.size());  // a device that fails gives fewer
      for (size_t i = 0; i < d.size(); ++i) d[i].push_back(answers[i]);
    }
    for (size_t i = 0; i < d.size(); ++i) output->Answer(Extract(portion.batch, i), d[i]);
    return std::ferror(stdout) ? absl::CancelledError() : answered;
  };
  const auto pass_on = [&output](absl::string_view comment) { output->PassOn(comment); };
  const absl::Status status = StdinReader(op, false, print, pass_on, *ops).Read();
  output->Finish(status);
  if (!std::ferror(stdout)) call.Say(status);  // otherwise main.cc reports it
}

}  // namespace

Action AddEval(CLI::App& command) {
  const auto flags = std::make_shared<EvalFlags>();
  AddInstruction(command, flags->op);
  AddDevice(command, flags->device, "device to query [the simulator]");
  return {RunEval, flags, {SchemaOf<WithLeftOut<EvalResult>>}};
}

}  // namespace mmadiff

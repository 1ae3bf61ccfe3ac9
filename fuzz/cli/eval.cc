// mmadiff eval: the simulator, or a device, as a filter.
#include "absl/strings/str_cat.h"
#include "corpus/line_checksum.h"
#include "device/line_protocol.h"
#include "device/plain_text.h"
#include "fuzz/case_json.h"
#include "fuzz/cli/cli.h"
#include "fuzz/cli/json_rows.h"
#include "fuzz/cli/protocol.h"
#include "sim/simulate.h"

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

class JsonOutput : public Output {
 public:
  JsonOutput(const Operation& op, const std::string& identity)
      : op_(op), rows_({{"instruction", op.name}, {"device", identity}}, "dot_products") {}
  void Answer(const DotProductCase& dot, uint64_t d) override {
    rows_.Add(DotProductJson(*op_.instruction, dot, d));
    ++count_;
  }
  void PassOn(absl::string_view) override {}
  void Finish(const absl::Status& status) override {
    rows_.Finish({{"count", count_}, {"error", std::string(status.message())}});
  }

 private:
  const Operation& op_;
  JsonRows rows_;
  uint64_t count_ = 0;
};

void RunEval(const std::string& name, const std::string& device_spec, const Globals& globals,
             Ending& ending) {
  const absl::StatusOr<const Operation*> op = OneOperation(name);
  if (!op.ok()) return ending.Say(op.status());
  Console console = globals.MakeConsole();
  DeviceOr device = std::unique_ptr<Device>();
  std::string identity;
  if (!device_spec.empty()) {
    device = OpenDeviceAndWarn(device_spec, console);
    if (!device.ok()) return ending.Say(device.status());
    if (absl::Status s = (*device)->Supports(**op); !s.ok()) return ending.Say(s);
    identity = PlainLine(Name((*device)->identity()));
  }
  std::unique_ptr<Output> output;
  if (globals.json) {
    output = std::make_unique<JsonOutput>(**op, identity);
  } else {
    output = std::make_unique<LineOutput>(**op, identity);
  }
  const auto print = [&](const Portion& portion) -> absl::Status {
    std::vector<uint64_t> d(portion.batch.dot_products());
    absl::Status answered;
    if (*device == nullptr) {
      Simulate((*op)->model, portion.batch, d);
    } else {
      answered = (*device)->Run(**op, portion.batch, d);
    }
    for (size_t i = 0; i < d.size(); ++i) output->Answer(Extract(portion.batch, i), d[i]);
    return std::ferror(stdout) ? absl::CancelledError() : answered;
  };
  const auto pass_on = [&output](absl::string_view comment) {
    output->PassOn(comment);
    return absl::OkStatus();
  };
  const absl::Status status = StdinReader(**op, false, print, pass_on).Read();
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
  return [flags, &globals](Ending& ending) { RunEval(flags->op, flags->device, globals, ending); };
}

}  // namespace mmadiff

// mmadiff eval: the simulator, or a device, as a filter.
#include "absl/strings/str_cat.h"
#include "corpus/line_checksum.h"
#include "device/line_protocol.h"
#include "device/plain_text.h"
#include "fuzz/cli/cli.h"
#include "fuzz/cli/protocol.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

// Stdout, and the hash of what went there: a recording, when it is kept.
class Output {
 public:
  void Write(absl::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    hash_.Add(text);
  }
  // The answers have a hash where the operands have one; an old one is of other answers.
  void PassOn(absl::string_view comment) {
    absl::string_view ignored;
    if (IsLineComment(comment, "answers", &ignored)) return;
    Write(PlainLine(comment) + "\n");
    if (!IsLineComment(comment, "operands", &ignored)) return;
    std::printf("# answers: %s\n", hash_.Take().c_str());
  }

 private:
  TextHash hash_;
};

int RunEval(const std::string& name, const std::string& device_spec, Console console) {
  const absl::StatusOr<const Operation*> op = OneOperation(name);
  if (!op.ok()) return Fail(op.status());
  Output output;
  DeviceOr device = std::unique_ptr<Device>();
  if (!device_spec.empty()) {
    device = OpenDeviceAndWarn(device_spec, console);
    if (!device.ok()) return Fail(device.status());
    if (absl::Status s = (*device)->Supports(**op); !s.ok()) return Fail(s);
    output.Write(absl::StrCat("# instruction: ", (*op)->name,
                              "\n# device: ", PlainLine((*device)->identity()), "\n"));
  }
  const auto print = [&](const Portion& portion) -> absl::Status {
    std::vector<uint64_t> d(portion.batch.dot_products());
    absl::Status answered;
    if (*device == nullptr) {
      Simulate((*op)->model, portion.batch, d);
    } else {
      answered = (*device)->Run(**op, portion.batch, d);
    }
    for (size_t i = 0; i < d.size(); ++i) {
      output.Write(FormatLine(*(*op)->instruction, Extract(portion.batch, i), d[i]) + "\n");
    }
    return std::ferror(stdout) ? absl::CancelledError() : answered;
  };
  const auto pass_on = [&output](absl::string_view comment) {
    output.PassOn(comment);
    return absl::OkStatus();
  };
  const absl::Status status = StdinReader(**op, false, print, pass_on).Read();
  if (std::ferror(stdout)) return kNotDurable;  // main.cc says so
  return status.ok() ? kClean : Fail(status);
}

}  // namespace

std::function<int()> AddEval(CLI::App& command, const Globals& globals) {
  struct Flags {
    std::string op, device;
  };
  const auto flags = std::make_shared<Flags>();
  AddInstruction(command, flags->op);
  AddDevice(command, flags->device, "who answers [the simulator]");
  return [flags, &globals] { return RunEval(flags->op, flags->device, globals.MakeConsole()); };
}

}  // namespace mmadiff

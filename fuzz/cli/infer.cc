// mmadiff infer: infers the model of a black box.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "corpus/durable_file.h"
#include "device/line_protocol.h"
#include "device/status_macros.h"
#include "device/stop.h"
#include "fuzz/ask/dispatcher.h"
#include "fuzz/ask/inferrer.h"
#include "fuzz/cli/cli.h"
#include "fuzz/cli/inferred.h"
#include "fuzz/cli/own_models.h"
#include "fuzz/output/next_command.h"
#include "fuzz/output/progress.h"
#include "triage/infer/inference_text.h"
#include "triage/infer/stored_products.h"

namespace mmadiff {
namespace {

struct InferFlags {
  std::string device = "auto", formats, scale, max_total_time = "10m", out, svg;
  std::vector<std::string> instr;
  int k = 0;
  uint64_t budget = InferOptions().budget, validate = InferOptions().validation;
};

struct InferResult {
  std::vector<Json> instructions;  // JSON of InferredInstruction
};

Fields<InferResult> FieldsOf(const InferResult*) {
  using R = InferResult;
  return {
      {"instructions", &R::instructions, {.schema = ListOf(SchemaOf<InferredInstruction>())}},
  };
}

// Prints and files each result as it arrives.
class Inferring {
 public:
  Inferring(const InferFlags& flags, Call& call) : flags_(flags), call_(call) {}

  void Run() {
    const absl::StatusOr<absl::Duration> limit =
        ParseDuration("--max_total_time", flags_.max_total_time);
    if (!limit.ok()) return call_.Say(limit.status());
    if (absl::Status s = CheckFlags(); !s.ok()) return call_.Say(s);
    DeviceOr device = OpenDeviceAndWarn(flags_.device, call_.console);
    if (!device.ok()) return call_.Say(device.status());
    if (absl::Status s = Choose(**device); !s.ok()) return call_.Say(s);
    if (ops_.empty()) return;  // the ledger has the reason
    if (!flags_.out.empty()) {
      if (absl::Status s = MakeFolder(flags_.out); !s.ok()) {
        return call_.Say(Verdict::kNotWritten, std::string(s.message()));
      }
    }
    HandleStopSignals();
    device_ = device->get();
    const std::unique_ptr<Worker> worker =
        std::make_unique<EngineWorker>(std::make_unique<HostEngine>(*std::move(device)));
    InferAgenda agenda(
        ops_, RecordingOf(flags_.device),
        {static_cast<int64_t>(flags_.budget), static_cast<int64_t>(flags_.validate), {}},
        call_.console, [this](const auto& op, const auto& inferred) { return Take(op, inferred); });
    TaskLog nothing;
    const DispatchOutcome dispatched = Dispatch({TimeLimit::After(*limit), absl::ZeroDuration()},
                                                {&worker, 1}, agenda, nothing, call_.console);
    SayDropped(dispatched.drops, false, call_);
    if (agenda.cancelled() || dispatched.stopped_by || !dispatched.device.ok()) {
      call_.ledger().LeaveRest(Thing::kOperation, Reason::kNotReached);
    }
    if (call_.globals.json) {
      call_.PrintJson(WithLeftOut<InferResult>{result_, call_.ledger().lines()});
    }
    call_.Say(dispatched.durable, Verdict::kNotWritten);
    call_.Say(dispatched.device);
    if (agenda.cancelled()) {
      call_.Say(Verdict::kEarly,
                "stopped before the end: the results above are based on the answers so far; a new "
                "call starts over");
    } else if (!agenda.rest().empty() && dispatched.device.ok() && dispatched.durable.ok()) {
      call_.Say(Verdict::kEarly, absl::StrCat(Name(dispatched.stopped_by),
                                              ": the remaining instructions were not queried"));
    }
  }

 private:
  absl::Status Take(const Operation& op, const Inference& inference) {
    if (!inference.answers.empty()) call_.ledger().Compare(Thing::kOperation, op.name);
    result_.instructions.push_back(JsonOf(InferredInstruction{op, inference}));
    if (!call_.globals.json)
      call_.console.Print(InferenceText(op, inference, call_.console.style()));
    RETURN_IF_ERROR(File(op, *device_, inference));
    SayInferred(op, inference, call_);
    return absl::OkStatus();
  }

  absl::Status CheckFlags() const {
    const bool named = !flags_.instr.empty(), described = !flags_.formats.empty();
    if (named == described && (named || ReadOperations().empty())) {
      return absl::InvalidArgumentError(
          "write either --instr=ARCH/INSTRUCTION or, for an instruction outside the tables, "
          "--formats=A,B,C,D --k=K");
    }
    if (flags_.formats.empty() && (flags_.k != 0 || !flags_.scale.empty())) {
      return absl::InvalidArgumentError("--k and --scale need --formats");
    }
    return absl::OkStatus();
  }

  absl::Status Choose(const Device& device) {
    std::vector<std::string> names = flags_.instr;
    if (!flags_.formats.empty()) {
      ASSIGN_OR_RETURN(const Operation* unlisted,
                       UnlistedOperation(flags_.formats, flags_.k, flags_.scale));
      names = {unlisted->name};
    }
    ASSIGN_OR_RETURN(auto ops, ChooseOperations(names, Models::kOptional, &device, call_.ledger()));
    ops_ = std::move(ops);
    if (!flags_.svg.empty() && ops_.size() > 1) {
      return absl::InvalidArgumentError("--svg draws one instruction");
    }
    return absl::OkStatus();
  }

  absl::Status File(const Operation& op, Device& device, const Inference& inference) {
    if (!flags_.out.empty()) {
      RETURN_IF_ERROR(FileInference(flags_.out, device, op, inference));
    }
    if (flags_.svg.empty()) return absl::OkStatus();
    if (!inference.structure || !inference.structure->tree) {
      call_.console.Warn("no summation tree was found; --svg wrote nothing");
      return absl::OkStatus();
    }
    const std::string svg =
        TreeSvg(*inference.structure->tree, StoredProducts(op).model.k, op.name,
                [&](const SummationTree& node) { return NodeText(inference, node); });
    const absl::Status written = WriteFileDurably(flags_.svg, svg);
    return written.ok() ? written : absl::DataLossError(written.message());
  }

  const InferFlags& flags_;
  Call& call_;
  std::vector<const Operation*> ops_;
  InferResult result_;
  Device* device_ = nullptr;
};

void RunInfer(const InferFlags& flags, Call& call) { Inferring(flags, call).Run(); }

}  // namespace

Action AddInfer(CLI::App& command) {
  const auto flags = std::make_shared<InferFlags>();
  AddDevice(command, flags->device, "device to query");
  AddInstr(command, flags->instr,
           "comma-separated globs of ARCH/INSTRUCTION, with or without a model");
  AddOption(
      command, "--formats", flags->formats,
      "formats of a, b, c and d, for an instruction outside the tables, such as f16,f16,f32,f32; "
      "by "
      "a name as `half` or `float8_e4m3fn`, or described by [u]eEmF[bBIAS][iBITS][KIND], such as "
      "e5m10 or e4m3b11fnuz: E exponent and F fraction bits, BITS low bits that are not read, KIND "
      "ieee, ieeeall, fn, fnuz or finite; `-` is absent: f16,f16,-,f32 has no addend, f32,-,-,e4m3 "
      "is a conversion")
      .TypeName("A,B,C,D");
  AddOption(command, "--k", flags->k, "with --formats: products per dot product, 1 to 256 [none]")
      .TypeName("K");
  AddOption(command, "--scale", flags->scale,
            "with --formats: format of the scales and products per scale, such as ue8m0:32 or "
            "ue5m3fn:16")
      .TypeName("FORMAT:BLOCK");
  AddOption(
      command, "--budget", flags->budget,
      "most dot products to use for finding the model; choose 10000 for a slow device [100000]")
      .Count()
      .TypeName("N");
  AddOption(
      command, "--validate", flags->validate,
      "approximate number of generated dot products for validating the model afterwards [1000000]")
      .Count()
      .TypeName("N");
  AddDuration(command, "--max_total_time", flags->max_total_time, "stop after this time");
  AddOption(
      command, "--out", flags->out,
      "output folder for every question with its answer (for replay and recorded:), and for the "
      "model that was found (for --model)")
      .TypeName("FOLDER");
  AddOption(command, "--svg", flags->svg, "file for a drawing of the summation tree")
      .TypeName("FILE");
  return {RunInfer, flags, {SchemaOf<WithLeftOut<InferResult>>}};
}

}  // namespace mmadiff

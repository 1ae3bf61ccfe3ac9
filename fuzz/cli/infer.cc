// mmadiff infer: infers the model of a black box.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "corpus/durable_file.h"
#include "device/line_protocol.h"
#include "device/status_macros.h"
#include "device/stop.h"
#include "fuzz/ask/dispatcher.h"
#include "fuzz/ask/inferrer.h"
#include "fuzz/cli/cli.h"
#include "fuzz/output/next_command.h"
#include "fuzz/output/progress.h"
#include "triage/infer/inference_text.h"

namespace mmadiff {
namespace {

struct InferFlags {
  std::string device = "auto", formats, scale, max_total_time = "10m", out, svg;
  std::vector<std::string> instr;
  int k = 0;
  uint64_t budget = InferOptions().budget, validate = InferOptions().validation;
};

}  // namespace

Fields<Algorithm> FieldsOf(const Algorithm*) {
  using A = Algorithm;
  return {
      {"family", [](const A& a) { return Name(a.family); }},
      {"parameters", [](const A& a) { return ParametersJson(AlgorithmFields(a)); },
       ParameterValues()},
  };
}

Fields<Fixed> FieldsOf(const Fixed*) {
  using F = Fixed;
  return {
      {"parameter", [](const F& f) { return Name(f.value); }},
      {"experiments", &F::experiments},
  };
}

Fields<UndeterminedValues> FieldsOf(const UndeterminedValues*) {
  using U = UndeterminedValues;
  return {
      {"values", &U::values},
      {"proved", &U::proved},
      {"why", &U::why, Prose()},
  };
}

Fields<Refuted> FieldsOf(const Refuted*) {
  using R = Refuted;
  return {
      Field<R>::Flat(&R::nearest),
      {"misses", &R::missed, {.least = 1}},
      {"first_experiment", &R::experiment},
  };
}

namespace {

// The result for an instruction: an algorithm, or the nearest one.
struct InferredInstruction {
  const Operation& op;
  const Inference& inference;

  bool found() const { return inference.algorithm.has_value(); }
  bool near() const { return !found() && inference.nearest.algorithm.family != Family::kNone; }

  std::optional<std::string> tree() const {
    if (!inference.structure || !inference.structure->tree) return std::nullopt;
    return TreeText(*inference.structure->tree, op.model.k);
  }
  std::optional<std::vector<std::string>> same_rows() const {
    if (!found()) return std::nullopt;
    return NamesOf(SameRows(op, *inference.algorithm));
  }
  std::optional<std::string> near_row() const {
    if (!found()) return std::nullopt;
    return same_rows()->empty() ? NearestRow(op, *inference.algorithm) : "";
  }
  std::optional<DotProductWords> refuting() const {
    if (!inference.refuting) return std::nullopt;
    return DotProductWords{*op.instruction, inference.refuting->dot, inference.refuting->d};
  }
};

// nullopt unless `there`.
template <class T>
std::optional<T> If(bool there, const T& value) {
  return there ? std::optional(value) : std::nullopt;
}

Fields<InferredInstruction> FieldsOf(const InferredInstruction*) {
  using R = InferredInstruction;
  return {
      {"instruction", [](const R& r) { return r.op.name; }, InstructionName()},
      {"tree", &R::tree, Absent({.what = "summation tree; absent if none was found"})},
      {"row", [](const R& r) { return r.inference.algorithm; },
       Absent({.what = "model that reproduces all answers"})},
      {"same_rows", &R::same_rows, Absent(InstructionName())},
      {"near", &R::near_row,
       Absent({.what = "nearest row if `same_rows` is empty: ROW:NAME=VALUE,..., as `race` accepts "
                       "it; else empty"})},
      {"nan_bits_unknown", [](const R& r) { return If(r.found(), r.inference.nan_unknown); },
       Absent({.what = "whether no rule reproduces the bits of the NaNs"})},
      {"also", [](const R& r) { return If(r.found(), r.inference.also); },
       Absent({.what = "models of other families that also reproduce all answers"})},
      {"nodes",
       [](const R& r) { return If(!r.found(), NodeLines(r.inference.nodes, r.op.model.k)); },
       Absent({.what = "if there is no row: width and rounding of each node of the tree"})},
      {"nearest", [](const R& r) { return If(r.near(), r.inference.nearest.algorithm); },
       Absent({.what = "if no model was found: the one that misses the fewest answers"})},
      {"nearest_misses", [](const R& r) { return If(r.near(), r.inference.nearest.missed); },
       Absent({.what = "number of answers that `nearest` does not reproduce", .least = 1})},
      {"refuting", &R::refuting, Absent({.what = "dot product whose answer rules out the model"})},
      {"fixed", [](const R& r) { return r.inference.fixed; }},
      {"undetermined", [](const R& r) { return Summary(r.inference); }},
      {"refuted", [](const R& r) { return r.inference.refuted; }},
      {"contradicts_table",
       [](const R& r) { return IsModelled(r.op) && ContradictsTable(r.op, r.inference); }},
      {"answers", [](const R& r) { return r.inference.answers.size(); },
       "number of answers that repeated"},
      {"asked", [](const R& r) { return r.inference.asked; }, "number of queried dot products"},
      {"validated", [](const R& r) { return r.inference.validated; },
       "number of generated dot products that the model was validated with"},
      {"abandoned", [](const R& r) { return r.inference.abandoned; },
       "dot products of validations that found a mismatch or ended early"},
      {"flaky", [](const R& r) { return r.inference.flaky; },
       "number of answers that differed when repeated"},
      {"budget_spent", [](const R& r) { return r.inference.spent; }},
      {"ended", [](const R& r) { return std::string(r.inference.status.message()); },
       Prose("reason for an early end; empty if there was none")},
      {"text", [](const R& r) { return InferenceText(r.op, r.inference, {}); },
       Prose("all of this, for people")},
  };
}

struct InferResult {
  std::vector<Json> instructions;  // JSON of InferredInstruction
};

Fields<InferResult> FieldsOf(const InferResult*) {
  using R = InferResult;
  return {
      {"instructions", &R::instructions, {.schema = ListOf(SchemaOf<InferredInstruction>())}},
  };
}

// One task per row; prints and files each result as it arrives.
class Inferring : public Agenda {
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
    TaskLog nothing;
    const DispatchOutcome dispatched = Dispatch({TimeLimit::After(*limit), absl::ZeroDuration()},
                                                {&worker, 1}, *this, nothing, call_.console);
    SayDropped(dispatched.drops, false, call_);
    if (cancelled_ || dispatched.stopped_by || !dispatched.device.ok()) {
      call_.ledger().LeaveRest(Thing::kOperation, Reason::kNotReached);
    }
    if (call_.globals.json) {
      call_.PrintJson(WithLeftOut<InferResult>{result_, call_.ledger().lines()});
    }
    call_.Say(dispatched.durable, Verdict::kNotWritten);
    call_.Say(dispatched.device);
    if (cancelled_) {
      call_.Say(Verdict::kEarly,
                "stopped before the end: the results above are based on the answers so far; a new "
                "call starts over");
    } else if (next_ < ops_.size() && dispatched.device.ok() && dispatched.durable.ok()) {
      call_.Say(Verdict::kEarly, absl::StrCat(Name(dispatched.stopped_by),
                                              ": the remaining instructions were not queried"));
    }
  }

  std::optional<Task> Next(absl::Duration) override {
    if (next_ == ops_.size()) return std::nullopt;
    const Operation* op = ops_[next_];
    call_.console.Status(absl::StrCat("inferring ", op->name), false);
    InferTask task = {op};
    absl::string_view path = flags_.device;
    if (absl::ConsumePrefix(&path, "recorded:")) task.recording = std::string(path);
    task.options = {static_cast<int64_t>(flags_.budget), static_cast<int64_t>(flags_.validate),
                    [this, op](const std::string& what) {
                      call_.console.Status(absl::StrCat(op->name, ": ", what), false);
                    }};
    return Task{next_++, std::move(task)};
  }

  absl::StatusOr<std::vector<Task>> Take(TaskResult result) override {
    const Operation& op = result.task.op();
    const auto& inference = std::get<Inference>(result.answer);
    cancelled_ |= absl::IsCancelled(result.status);
    if (inference.status != result.status) return std::vector<Task>();  // it has no recording
    if (!inference.answers.empty()) call_.ledger().Compare(Thing::kOperation, op.name);
    result_.instructions.push_back(JsonOf(InferredInstruction{op, inference}));
    if (!call_.globals.json)
      call_.console.Print(InferenceText(op, inference, call_.console.style()));
    RETURN_IF_ERROR(File(op, *device_, inference));
    SayVerdict(op, inference);
    return std::vector<Task>();
  }

 private:
  absl::Status CheckFlags() const {
    if (flags_.instr.empty() == flags_.formats.empty()) {
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

  // An error does not invalidate earlier answers; its own verdict comes from the drop.
  void SayVerdict(const Operation& op, const Inference& inference) {
    if (!inference.status.ok()) {
      if (inference.flaky > 0) {
        call_.Say(Verdict::kUnrepeated);
      } else if (ContradictsTable(op, inference)) {
        call_.Say(Verdict::kDiffers);
      }
    } else if (inference.answers.empty()) {
      call_.Say(Verdict::kNothing, "nothing was queried: --budget is too small");
    } else if (inference.flaky > 0) {
      call_.Say(Verdict::kUnrepeated);
    } else if (!inference.algorithm || ContradictsTable(op, inference)) {
      call_.Say(Verdict::kDiffers);
    } else if (inference.spent) {
      call_.Say(Verdict::kEarly);
    } else if (inference.fixed.empty() && !inference.also.empty()) {
      SayDecidesNothing(op, inference);
    }
  }

  void SayDecidesNothing(const Operation& op, const Inference& inference) {
    size_t open = 0;
    for (const UndeterminedValues& u : Summary(inference)) open += u.proved ? 0 : u.values.size();
    call_.Say(Verdict::kNothing,
              absl::StrCat(op.name, ": no parameter is decided by ",
                           CountText(inference.answers.size(), "answer"), ": models of ",
                           inference.also.size() + 1, " families reproduce them. ", open,
                           " values are open; at most that many more well-chosen answers decide "
                           "all that can be decided"));
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
        TreeSvg(*inference.structure->tree, op.model.k, op.name,
                [&](const SummationTree& node) { return NodeText(inference, node); });
    const absl::Status written = WriteFileDurably(flags_.svg, svg);
    return written.ok() ? written : absl::DataLossError(written.message());
  }

  const InferFlags& flags_;
  Call& call_;
  std::vector<const Operation*> ops_;
  InferResult result_;
  Device* device_ = nullptr;
  size_t next_ = 0;  // index in ops_
  bool cancelled_ = false;
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
  AddOption(command, "--out", flags->out,
            "output folder for every question with its answer (for replay and recorded:)")
      .TypeName("FOLDER");
  AddOption(command, "--svg", flags->svg, "file for a drawing of the summation tree")
      .TypeName("FILE");
  return {RunInfer, flags, {SchemaOf<WithLeftOut<InferResult>>}};
}

}  // namespace mmadiff

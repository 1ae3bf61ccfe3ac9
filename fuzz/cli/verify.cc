// mmadiff verify: reruns finished units of a run to detect silent corruption.
#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "corpus/hex.h"
#include "device/threads.h"
#include "fuzz/cli/cli.h"
#include "fuzz/folder/recheck.h"
#include "fuzz/output/next_command.h"

namespace mmadiff {
namespace {

struct VerifyFlags {
  std::string folder, device, sample = "1%", unit, max_total_time;
  uint64_t seed = 1;
  int threads = 0;
};

absl::Status ParseSample(const std::string& text, RecheckOptions& options) {
  absl::string_view number = text;
  if (absl::ConsumeSuffix(&number, "%")) {
    double percent;
    if (absl::SimpleAtod(number, &percent) && percent > 0 && percent <= 100) {
      options.share = percent / 100;
      return absl::OkStatus();
    }
  } else if (const auto count = ParseCount(text); count.ok() && *count > 0) {
    options.units = *count;
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--sample: '", text,
                   "' is neither a share (above 0% and at most 100%) nor a number of units"));
}

// ARCH/INSTRUCTION:NUMBER
absl::Status ParseUnitName(const std::string& text, RecheckOptions& options) {
  if (text.empty()) return absl::OkStatus();
  const size_t colon = text.rfind(':');
  if (colon == 0 || colon == text.npos ||
      !absl::SimpleAtoi(text.substr(colon + 1), &options.unit)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--unit: '", text, "' is not ARCH/INSTRUCTION:NUMBER"));
  }
  options.instruction = text.substr(0, colon);
  return absl::OkStatus();
}

std::string What(const Rechecked& unit) {
  if (unit.CoverageDiffers()) return "its stored coverage differs from its coverage now";
  if (unit.ModelDiffers()) return "the model's digest has changed";
  return unit.DeviceDiffers() ? "the device's digest has changed" : "";
}

std::string CommandOf(const VerifyFlags& flags, const RecheckOutcome& outcome,
                      const Rechecked& unit) {
  const std::string name = absl::StrCat(outcome.manifest.instructions[unit.stored.instruction].name,
                                        ":", unit.stored.unit);
  return absl::StrCat(
      Program(), " verify ", ShellWord(flags.folder), " --unit=", ShellWord(name),
      flags.device.empty() ? "" : absl::StrCat(" --device=", ShellWord(flags.device)));
}

std::string UnitText(const VerifyFlags& flags, const RecheckOutcome& outcome,
                     const Rechecked& unit) {
  const UnitResult& s = unit.stored;
  return absl::StrCat(
      "DIFFERS ", outcome.manifest.instructions[s.instruction].name, " unit ", s.unit, ", cases ",
      s.first_case, " to ", s.first_case + s.cases - 1, ": ", What(unit), "\n  done by  ",
      s.machine == Machine() ? "an unknown machine" : Name(s.machine), "\n  device   stored ",
      Hex(s.device_digest), ", now ", Hex(unit.now.device_digest), "\n  model    stored ",
      Hex(s.model_digest), ", now ", Hex(unit.now.model_digest), "\n  differ   stored ",
      s.mismatches, ", now ", unit.now.mismatches, "\n  again    ", CommandOf(flags, outcome, unit),
      "\n");
}

// A unit whose digests differ.
struct DifferingUnit {
  const VerifyFlags& flags;
  const RecheckOutcome& outcome;
  const Rechecked& unit;

  const UnitResult& stored() const { return unit.stored; }
};

Fields<DifferingUnit> FieldsOf(const DifferingUnit*) {
  using U = DifferingUnit;
  return {
      {"instruction",
       [](const U& u) { return u.outcome.manifest.instructions[u.stored().instruction].name; },
       InstructionName()},
      {"unit", [](const U& u) { return u.stored().unit; }},
      {"first_case", [](const U& u) { return u.stored().first_case; }},
      {"cases", [](const U& u) { return u.stored().cases; }},
      {"machine", [](const U& u) { return Name(u.stored().machine); },
       "machine that executed the unit; empty if unknown"},
      {"differs",
       [](const U& u) { return u.unit.ModelDiffers() ? "model" : "device"; },
       {.words = {"model", "device"}}},
      {"stored_device_digest", [](const U& u) { return Hex(u.stored().device_digest); },
       HexDigest()},
      {"device_digest", [](const U& u) { return Hex(u.unit.now.device_digest); }, HexDigest()},
      {"stored_model_digest", [](const U& u) { return Hex(u.stored().model_digest); }, HexDigest()},
      {"model_digest", [](const U& u) { return Hex(u.unit.now.model_digest); }, HexDigest()},
      {"stored_mismatches", [](const U& u) { return u.stored().mismatches; }},
      {"mismatches", [](const U& u) { return u.unit.now.mismatches; }},
      {"command", [](const U& u) { return CommandOf(u.flags, u.outcome, u.unit); },
       "command line that executes the unit again"},
  };
}

struct VerifyResult {
  const VerifyFlags& flags;
  const RecheckOutcome& outcome;
  std::vector<DifferingUnit> differing = {};
};

Fields<VerifyResult> FieldsOf(const VerifyResult*) {
  using R = VerifyResult;
  return {
      {"folder", [](const R& r) { return r.flags.folder; }},
      {"finished_units", [](const R& r) { return r.outcome.finished; }},
      {"sampled_units", [](const R& r) { return r.outcome.sampled; }},
      {"verified_units", [](const R& r) { return r.outcome.done.size(); }},
      {"differing", &R::differing},
      {"stopped_by", [](const R& r) { return Name(r.outcome.stopped_by); }, StoppedBy()},
      {"dropped", [](const R& r) { return Messages(r.outcome.failed); },
       Prose("one reason for each dropped instruction")},
      {"damage", [](const R& r) { return r.outcome.damage; }, Prose()},
  };
}

void Finish(const RecheckOutcome& outcome, uint64_t model, uint64_t device, Call& call) {
  for (const std::string& what : outcome.damage) call.Say(Verdict::kHarmed, what);
  if (outcome.other_device) {
    call.console.Warn(absl::StrCat("the run's device was ", Name(outcome.manifest.device_identity),
                                   "; this device is ", Name(*outcome.other_device)));
  }
  SayDropped(outcome.failed, !outcome.done.empty(), call);
  if (!outcome.device.ok()) call.Say(Verdict::kEarly, std::string(outcome.device.message()));
  const bool dropped = !outcome.failed.empty() || !outcome.device.ok();
  if (outcome.stopped_by || (outcome.done.size() < outcome.sampled && !dropped)) {
    call.Say(Verdict::kEarly);
  }
  if (outcome.stopped_by) {
    call.console.Warn(absl::StrCat("stopped early (", Name(outcome.stopped_by),
                                   "); the same command line starts over"));
  }
  if (model > 0) {
    call.Say(Verdict::kBroken,
             "the model's digests differ from the stored ones: this program or a machine on which "
             "it ran computes wrongly, so there is no verdict on the device");
  }
  if (device > 0) call.Say(Verdict::kDiffers);
}

void RunVerify(const VerifyFlags& flags, Call& call) {
  RecheckOptions options;
  options.seed = flags.seed;
  options.threads = ThreadsOf(flags.threads);
  if (absl::Status s = ParseSample(flags.sample, options); !s.ok()) return call.Say(s);
  if (absl::Status s = ParseUnitName(flags.unit, options); !s.ok()) return call.Say(s);
  if (!flags.max_total_time.empty()) {
    const auto limit = ParseDuration("--max_total_time", flags.max_total_time);
    if (!limit.ok()) return call.Say(limit.status());
    options.limit = TimeLimit::After(*limit);
  }
  HandleStopSignals();
  const auto open = [&](const std::string& device) {
    return OpenEngineAndWarn(flags.device.empty() ? device : flags.device, call.console);
  };
  const auto outcome = Recheck(flags.folder, options, open, call.console);
  if (!outcome.ok()) return call.Say(outcome.status());
  uint64_t model = 0, device = 0;
  VerifyResult result = {flags, *outcome};
  std::string text;
  for (const Rechecked& unit : outcome->done) {
    if (!unit.ModelDiffers() && !unit.DeviceDiffers()) continue;
    ++(unit.ModelDiffers() ? model : device);
    text += UnitText(flags, *outcome, unit);
    result.differing.push_back({flags, *outcome, unit});
  }
  const uint64_t missing = outcome->sampled - outcome->done.size();
  absl::StrAppend(
      &text, outcome->done.size() - model - device, " of ", outcome->done.size(),
      " units equal; sample: ", outcome->sampled, " of ", outcome->finished, " finished units",
      missing == 0 ? "" : absl::StrCat("; ", missing, " sampled but not compared"), "\n");
  call.Print(result, [&] { return text; });
  Finish(*outcome, model, device, call);
}

}  // namespace

Action AddVerify(CLI::App& command) {
  const auto flags = std::make_shared<VerifyFlags>();
  AddOption(command, "folder", flags->folder, "folder of a run").Required();
  AddOption(command, "--sample", flags->sample,
            "share or number of the finished units; at least one")
      .TypeName("N|N%");
  AddOption(command, "--unit", flags->unit, "verify only this unit, ARCH/INSTRUCTION:NUMBER")
      .TypeName("UNIT");
  AddDevice(command, flags->device, "device to execute the units on [the run's device]");
  AddOption(command, "--seed", flags->seed, "seed of the sample").TypeName("N");
  AddThreads(command, flags->threads);
  AddDuration(command, "--max_total_time", flags->max_total_time, "stop after this time");
  return {RunVerify, flags, {SchemaOf<VerifyResult>}};
}

}  // namespace mmadiff

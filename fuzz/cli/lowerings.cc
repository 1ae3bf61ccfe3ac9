// mmadiff lowerings: the computations into which versions of ptxas translate instructions.
#include "fuzz/unit/lowerings.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "corpus/durable_file.h"
#include "corpus/stored_lowerings.h"
#include "device/sass/sass_device.h"
#include "device/status_macros.h"
#include "fuzz/cli/cli.h"
#include "fuzz/output/next_command.h"
#include "fuzz/output/progress.h"

namespace mmadiff {

Fields<FoundLowering> FieldsOf(const FoundLowering*);
Fields<OperationLowerings> FieldsOf(const OperationLowerings*);

namespace {

struct LoweringsFlags {
  std::vector<std::string> globs;
  LoweringOptions options;
  std::string target, against;
  bool tsv = false;
};

struct FailedVersion {
  std::string version;
  FailedLowering failed;
};

Fields<FailedVersion> FieldsOf(const FailedVersion*) {
  using F = FailedVersion;
  return {{"ptxas", &F::version},
          {"why", [](const F& f) { return f.failed.why; }, Prose()},
          {"rejected", [](const F& f) { return f.failed.rejected; },
           "by this version; otherwise its machine code is not executed or misses a wait"}};
}

// A lowering that is not in the file of --against.
struct NewLowering {
  std::string instruction, lowering;
};

Fields<NewLowering> FieldsOf(const NewLowering*) {
  using N = NewLowering;
  return {{"instruction", &N::instruction, InstructionName()}, {"lowering", &N::lowering}};
}

struct LoweringsResult {
  std::string target;
  const std::vector<OperationLowerings>& instructions;
  std::vector<NewLowering> added = {};
};

Fields<LoweringsResult> FieldsOf(const LoweringsResult*) {
  using R = LoweringsResult;
  return {
      {"target", &R::target, "of ptxas"},
      {"instructions", [](const R& r) { return r.instructions; }},
      {"added", &R::added, "lowerings that are not in the file of --against"},
  };
}

// The target of that name, or the first one of the architecture.
absl::StatusOr<const PtxTarget*> TargetFor(const std::string& name, std::string_view arch) {
  if (!name.empty()) return sass::FindTarget(name);
  for (const PtxTarget& t : PtxTargets()) {
    if (arch == t.arch && sass::FindTarget(t.target).ok()) return &t;
  }
  return absl::NotFoundError(absl::StrCat("no machine code of '", std::string(arch),
                                          "' is executed, only that of: ", sass::TargetNames()));
}

std::string VerdictOf(const FoundLowering& f) {
  return f.differs.empty() ? absl::StrCat("equals the model on ", f.dot_products, " dot products")
                           : absl::StrCat("differs from the model in ", f.differs);
}

std::string WhyOf(const std::string& version, const FailedLowering& failed) {
  return failed.rejected ? failed.why : absl::StrCat("ptxas ", version, ": ", failed.why);
}

// The command that explains a lowering's first case that differs from the model.
std::string ExplainCommand(const LoweringOptions& options, const std::string& target,
                           const FoundLowering& f) {
  const std::string device =
      absl::StrCat("sass:arch=", target, f.ptxas.empty() ? "" : ",ptxas=" + f.ptxas,
                   options.level == LoweringOptions().level ? "" : ",O=" + options.level);
  return absl::StrCat(Program(), " explain ", ShellWord(f.differs),
                      " --device=", ShellWord(device));
}

std::string TextOf(const OperationLowerings& o, const LoweringOptions& options,
                   const std::string& target, size_t width) {
  std::string text = absl::StrCat(o.op->name, "\n");
  for (size_t i = 0; i < o.found.size(); ++i) {
    const FoundLowering& f = o.found[i];
    absl::StrAppend(&text,
                    Wrap(absl::StrCat("  ", f.lowering.name, "  ptxas ",
                                      absl::StrJoin(f.versions, ", "), "; ", VerdictOf(f), "\n"),
                         width, 4),
                    Wrap(absl::StrCat("    ", f.lowering.computes, "\n"), width, 6));
    if (!f.differs.empty()) {
      text += CommandLine("    explain: ", ExplainCommand(options, target, f), width);
    }
    if (i == 0) continue;
    const std::string &first = o.found[0].lowering.name, &differ = o.from_first[i - 1];
    absl::StrAppend(&text, "    ",
                    differ.empty() ? absl::StrCat("differs from ", first, " in no case")
                                   : absl::StrCat("differs from ", first, " in ", differ),
                    "\n");
  }
  for (const auto& [version, failed] : o.failed) {
    absl::StrAppend(&text, Wrap(absl::StrCat("  ", WhyOf(version, failed), "\n"), width, 4));
  }
  return text;
}

bool IsRejected(const OperationLowerings& o) {
  return std::ranges::any_of(o.failed, [](const auto& f) { return f.second.rejected; });
}
bool IsNotExecuted(const OperationLowerings& o) {
  return std::ranges::any_of(o.failed, [](const auto& f) { return !f.second.rejected; });
}
bool Differs(const OperationLowerings& o) {
  return std::ranges::any_of(o.found, [](const FoundLowering& f) { return !f.differs.empty(); });
}
bool HasOne(const OperationLowerings& o) { return o.found.size() == 1; }
bool HasSeveral(const OperationLowerings& o) { return o.found.size() > 1; }

// "159 instructions: 155 with one lowering, 4 with several; 4 differing from the model; 2 new"
std::string LoweringsSummary(const LoweringsResult& result, bool against) {
  constexpr std::pair<bool (*)(const OperationLowerings&), const char*> kParts[] = {
      {HasOne, " with one lowering"},
      {HasSeveral, " with several"},
      {IsRejected, " rejected by a version"},
      {IsNotExecuted, " not executed"}};
  std::vector<std::string> parts;
  for (const auto& [is, what] : kParts) {
    const auto count = std::ranges::count_if(result.instructions, is);
    if (count > 0) parts.push_back(absl::StrCat(count, what));
  }
  const auto differ = std::ranges::count_if(result.instructions, Differs);
  return absl::StrCat(CountText(result.instructions.size(), "instruction"),
                      parts.empty() ? "" : ": ", absl::StrJoin(parts, ", "),
                      differ == 0 ? "" : absl::StrCat("; ", differ, " differing from the model"),
                      against ? absl::StrCat("; ", result.added.size(), " new") : "", "\n");
}

std::string TextOf(const LoweringsResult& result, const LoweringsFlags& flags, size_t width) {
  const bool against = !flags.against.empty();
  std::string text;
  for (const OperationLowerings& o : result.instructions) {
    const bool is_new = std::ranges::count(result.added, o.op->name, &NewLowering::instruction) > 0;
    if (against && !is_new && !Differs(o) && !IsNotExecuted(o)) continue;
    text += TextOf(o, flags.options, result.target, width);
  }
  for (const NewLowering& n : result.added) {
    absl::StrAppend(&text, "new: ", n.instruction, " ", n.lowering, "\n");
  }
  return text + Wrap(LoweringsSummary(result, against), width, 2);
}

std::string TsvOf(const LoweringsResult& result) {
  std::string text =
      absl::StrCat("# ", result.target,
                   ": instruction, lowering, versions of ptxas, comparison, first result\n");
  for (const OperationLowerings& o : result.instructions) {
    for (const FoundLowering& f : o.found) {
      absl::StrAppend(&text, o.op->name, "\t", f.lowering.name, "\t",
                      absl::StrJoin(f.versions, " "), "\t", VerdictOf(f), "\t", f.lowering.computes,
                      "\n");
    }
    for (const auto& [version, failed] : o.failed) {
      absl::StrAppend(&text, "# ", o.op->name, ": ", WhyOf(version, failed), "\n");
    }
  }
  return text;
}

void Judge(const LoweringsResult& result, Call& call) {
  if (!result.added.empty()) call.Say(Verdict::kDiffers);
  for (const OperationLowerings& o : result.instructions) {
    if (IsNotExecuted(o)) call.Say(Verdict::kRowFailed);
    if (Differs(o)) call.Say(Verdict::kDiffers);
  }
  if (const auto rejected = std::ranges::count_if(result.instructions, IsRejected)) {
    call.Say(Verdict::kNotHere,
             absl::StrCat("rejected by a version of ptxas: ", CountText(rejected, "instruction")));
  }
}

// kInvalidArgument if the operations belong to several architectures.
absl::Status CheckOneArchitecture(const std::vector<const Operation*>& ops) {
  std::vector<std::string> archs;
  for (const Operation* op : ops) {
    const std::string arch(op->arch());
    if (std::ranges::count(archs, arch) == 0) archs.push_back(arch);
  }
  if (archs.size() < 2) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("globs of ", archs.size() == 2 ? std::string("two") : absl::StrCat(archs.size()),
                   " architectures: ", absl::StrJoin(archs, ", "), "; name one"));
}

// The operations that the target's machine code can be executed for; the others are in the ledger.
absl::StatusOr<std::vector<const Operation*>> Executable(const LoweringsFlags& flags,
                                                         const PtxTarget& target, Ledger& ledger) {
  const std::vector<std::string>& ptxas = flags.options.ptxas;
  ASSIGN_OR_RETURN(const auto device,
                   OpenSass(absl::StrCat("arch=", target.target,
                                         ptxas.empty() ? "" : ",ptxas=" + ptxas.front())));
  return ChooseOperations(flags.globs, Models::kRequired, device.get(), ledger);
}

// Those of the file, as (operation, name).
using Known = std::set<std::pair<std::string, std::string>>;
absl::StatusOr<Known> ReadStored(const std::string& file) {
  Known known;
  if (file.empty()) return known;
  ASSIGN_OR_RETURN(const std::string text, ReadFile(DataPath(file)));
  ASSIGN_OR_RETURN(const std::vector<StoredLowering> stored, ParseLowerings(text));
  for (const StoredLowering& l : stored) known.emplace(l.operation, l.name);
  return known;
}

void RunLowerings(const LoweringsFlags& flags, Call& call) {
  const auto stored = ReadStored(flags.against);
  if (!stored.ok()) return call.Say(stored.status());
  Ledger unused;  // this choice only determines the architecture
  const auto matching = ChooseOperations(flags.globs, Models::kRequired, nullptr, unused);
  if (!matching.ok()) return call.Say(matching.status());
  if (matching->empty()) {
    (void)ChooseOperations(flags.globs, Models::kRequired, nullptr, call.ledger());
    return;
  }
  const absl::Status one = CheckOneArchitecture(*matching);
  if (!one.ok()) return call.Say(one);
  const auto target = TargetFor(flags.target, matching->front()->arch());
  if (!target.ok()) return call.Say(target.status());
  const auto ops = Executable(flags, **target, call.ledger());
  if (!ops.ok()) return call.Say(ops.status());
  std::vector<OperationLowerings> instructions;
  for (const Operation* op : *ops) instructions.push_back({op});
  const absl::Status s = FindLowerings(flags.options, **target, instructions);
  if (!s.ok()) return call.Say(s);
  LoweringsResult result = {(*target)->target, instructions};
  for (const OperationLowerings& o : instructions) {
    call.ledger().Compare(Thing::kOperation, o.op->name);
    for (const FoundLowering& f : o.found) {
      const bool added = !stored->contains({o.op->name, f.lowering.name});
      if (added && !flags.against.empty()) result.added.push_back({o.op->name, f.lowering.name});
    }
  }
  call.PrintWithLeftOut(result, [&] {
    return flags.tsv ? TsvOf(result) : TextOf(result, flags, call.console.style().width);
  });
  Judge(result, call);
}

}  // namespace

Fields<FoundLowering> FieldsOf(const FoundLowering*) {
  using F = FoundLowering;
  return {
      {"lowering", [](const F& f) { return f.lowering.name; },
       "digest of the expressions of all results; equal: equal results for all operands"},
      {"ptxas", &F::versions, "versions that make it"},
      {"computes", [](const F& f) { return f.lowering.computes; },
       Prose("expression of the first result")},
      {"branches_on_data", [](const F& f) { return f.lowering.branches_on_data; },
       "whether the expressions are those of one path only"},
      {"dot_products", &F::dot_products, "compared with the model"},
      {"differs", &F::differs, "name of the first case that differs from the model; empty if none"},
  };
}

Fields<OperationLowerings> FieldsOf(const OperationLowerings*) {
  using O = OperationLowerings;
  return {
      {"instruction", [](const O& o) { return o.op->name; }, InstructionName()},
      {"lowerings", &O::found},
      {"differ", &O::from_first,
       "for each lowering after the first: name of the first case in which it differs from the "
       "first; empty if in none"},
      {"failed",
       [](const O& o) {
         std::vector<FailedVersion> failed;
         for (const auto& [version, why] : o.failed) failed.push_back({version, why});
         return failed;
       }},
  };
}

Action AddLowerings(CLI::App& command) {
  const auto flags = std::make_shared<LoweringsFlags>();
  AddOption(command, "globs", flags->globs,
            "comma-separated globs of ARCH/INSTRUCTION, of one architecture")
      .Delimiter(',')
      .TypeName("GLOBS")
      .Required();
  AddOption(command, "--ptxas", flags->options.ptxas,
            "assemblers: paths, or versions that .ci/ptxas got, such as 12.4.131,13.0.88 [that in "
            "PATH, then in the CUDA Toolkit]")
      .Delimiter(',')
      .TypeName("LIST");
  AddOption(command, "--target", flags->target, "target of ptxas [the first of the architecture]")
      .TypeName("TARGET");
  AddOption(command, "--opt_level", flags->options.level, "optimization level of ptxas")
      .OneOf({"0", "1", "2", "3"});
  AddOption(command, "--cases", flags->options.cases, "executions of each lowering to compare")
      .Count()
      .Positive();
  AddOption(command, "--against", flags->against,
            "file that --tsv printed; a lowering that is not in it counts as a difference")
      .TypeName("FILE");
  AddFlag(command, "--tsv", flags->tsv, "print columns separated by tabs");
  return {RunLowerings, flags, {SchemaOf<WithLeftOut<LoweringsResult>>}};
}

}  // namespace mmadiff

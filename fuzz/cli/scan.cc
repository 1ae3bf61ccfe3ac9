// mmadiff scan: lists the mma and wmma of PTX whose operands are in registers of their own result,
// and proves what an assembler makes of them.
#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "corpus/durable_file.h"
#include "device/cuda/ptx_file.h"
#include "device/sass/kernel_code.h"
#include "device/sass/nvdisasm.h"
#include "device/status_macros.h"
#include "fuzz/cli/cli.h"
#include "fuzz/output/next_command.h"
#include "fuzz/output/progress.h"
#include "fuzz/unit/overlap_proof.h"

namespace mmadiff {
namespace {

struct ScanFlags {
  std::string file, arch, ptxas, nvcc;
  int opt_level = 3;
  uint64_t cases = 300;
  std::vector<std::string> options;
};

struct ScannedInstruction {
  PtxMatrixInstruction ptx;
  OverlapProof proof;
};

// "k.cu:6": relative to the current folder if it is there.
std::string PlaceText(const SourceLine& place) {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::path(place.file).lexically_normal();
  const auto below = path.lexically_relative(std::filesystem::current_path(error));
  const bool is_below = !error && !below.empty() && *below.begin() != "..";
  return absl::StrCat((is_below ? below : path).string(), ":", place.line);
}

std::vector<std::string> SourceOf(const ScannedInstruction& s) {
  std::vector<std::string> places;
  for (const SourceLine& place : s.ptx.source) places.push_back(PlaceText(place));
  return places;
}

// "PTX line 48" beside lines of the source, otherwise "line 48".
std::string LineText(const PtxMatrixInstruction& ptx, int line) {
  return absl::StrCat(ptx.source.empty() ? "" : "PTX ", "line ", line);
}

// The copy that avoids the first register with wrong results, then the names of the others.
std::string Avoidance(const ScannedInstruction& s) {
  if (s.proof.verdict != OverlapVerdict::kWrong) return "";
  const std::vector<SharedRegister> suspects = s.ptx.suspects();
  std::vector<std::string> registers, places;  // places of the first register
  for (const SharedRegister& one : suspects) {
    const bool wrong = s.proof.suffice.empty() || std::ranges::count(s.proof.suffice, Name(one));
    const std::string& name = s.ptx.d[one.d];
    if (wrong && std::ranges::count(registers, name) == 0) registers.push_back(name);
  }
  for (const SharedRegister& one : suspects) {
    if (s.ptx.d[one.d] != registers[0]) continue;
    places.push_back(absl::StrCat(std::string(1, one.operand), one.word));
  }
  const int bits = s.proof.register_bits;
  const std::string own =
      absl::StrCat("%own", s.ptx.line);  // unique: other copies have other lines
  std::string text = absl::StrCat(".reg .b", bits, " ", own, "; mov.b", bits, " ", own, ", ",
                                  registers[0], "; before ", LineText(s.ptx, s.ptx.line), ", and ",
                                  own, " as ", absl::StrJoin(places, ", "));
  registers.erase(registers.begin());
  if (registers.empty()) return text;
  return absl::StrCat(text, "; likewise copies of ", absl::StrJoin(registers, ", "));
}

std::vector<std::string> OverlapNames(const ScannedInstruction& s) {
  std::vector<std::string> names;
  for (const SharedRegister& one : s.ptx.suspects()) names.push_back(Name(one));
  return names;
}

Fields<ScannedInstruction> FieldsOf(const ScannedInstruction*) {
  using S = ScannedInstruction;
  using Names = std::vector<std::string>;
  return {
      {"line", [](const S& s) { return s.ptx.line; }, {.what = "in the PTX", .least = 1}},
      {"source", SourceOf,
       "FILE:LINE of the CUDA source, from .loc: the calls through which it was inlined, from the "
       "outermost, then its own line; empty without .loc"},
      {"function", [](const S& s) { return s.ptx.function; }},
      {"target", [](const S& s) { return s.ptx.target; },
       "for which it was assembled; empty if unknown"},
      {"mnemonic", [](const S& s) { return s.ptx.mnemonic; }},
      {"d", [](const S& s) -> const Names& { return s.ptx.d; }, "registers"},
      {"a", [](const S& s) -> const Names& { return s.ptx.a; }},
      {"b", [](const S& s) -> const Names& { return s.ptx.b; }},
      {"c", [](const S& s) -> const Names& { return s.ptx.c; }},
      {"overlaps", OverlapNames, "c3d2: register 3 of C is register 2 of D"},
      {"verdict",
       [](const S& s) { return Name(s.proof.verdict); },
       {.words = NamesOf<OverlapVerdict>(kOverlapVerdicts)}},
      {"reason", [](const S& s) { return s.proof.reason; },
       Prose("why it was not tried, or which machine instruction is wrong; may be empty")},
      {"instruction",
       [](const S& s) {
         return s.proof.instruction.empty() ? std::nullopt : std::optional(s.proof.instruction);
       },
       InstructionName("row of the tables, or null")},
      {"device", [](const S& s) { return s.proof.device; }, "without the overlap"},
      {"tried", [](const S& s) -> const Names& { return s.proof.tried; },
       "values of overlap=, one kernel each"},
      {"suffice", [](const S& s) -> const Names& { return s.proof.suffice; },
       "overlaps that alone give wrong results"},
      {"differing",
       [](const S& s) { return s.proof.differing; },
       {.what = "results that differ from those without the overlap", .unit = "dot products"}},
      {"dot_products", [](const S& s) { return s.proof.dot_products; }, "compared"},
      {"avoid", Avoidance, Prose("PTX that gives the first wrong register a copy; may be empty")},
  };
}

struct ScanResult {
  std::string file, ptxas;
  size_t matrix_instructions = 0, wgmma_instructions = 0;
  size_t in_place = 0, in_place_not_tried = 0;  // accumulate in place: right, not tried
  std::vector<ScannedInstruction> instructions = {};
  std::vector<std::string> targets = {};  // whose machine code was executed

  uint64_t Count(OverlapVerdict verdict) const {
    return std::ranges::count_if(
        instructions, [&](const ScannedInstruction& s) { return s.proof.verdict == verdict; });
  }
  // Of those with an operand in a different register of D.
  uint64_t CountDisplaced(OverlapVerdict verdict) const {
    return std::ranges::count_if(instructions, [&](const ScannedInstruction& s) {
      return s.proof.verdict == verdict && !s.ptx.displaced().empty();
    });
  }
};

Fields<ScanResult> FieldsOf(const ScanResult*) {
  using R = ScanResult;
  return {
      {"file", &R::file},
      {"ptxas", &R::ptxas, "version; empty without one"},
      {"matrix_instructions", &R::matrix_instructions, "mma and wmma.mma of the file"},
      {"wgmma_instructions", &R::wgmma_instructions, "wgmma.mma_async of the file, not scanned"},
      {"targets", &R::targets, "whose machine code was executed"},
      {"in_place", &R::in_place, "right ones whose only overlap is accumulation in place"},
      {"in_place_not_tried", &R::in_place_not_tried, "such instructions that were not tried"},
      {"instructions", &R::instructions, "those with other overlaps, or wrong ones"},
      {"wrong", [](const R& r) { return r.Count(OverlapVerdict::kWrong); }},
      {"right", [](const R& r) { return r.Count(OverlapVerdict::kRight); }},
      {"not_tried", [](const R& r) { return r.Count(OverlapVerdict::kNotTried); }},
  };
}

bool IsCuda(const ScanFlags& flags) { return absl::EndsWith(flags.file, ".cu"); }

absl::StatusOr<std::string> PtxOf(const ScanFlags& flags) {
  if (!flags.options.empty() && !absl::StartsWith(flags.options.front(), "-")) {
    return absl::InvalidArgumentError("scan takes one file; options of nvcc follow --");
  }
  if (!IsCuda(flags)) {
    if (!flags.options.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "'", flags.options.front(), "' can only be an option of nvcc, which compiles .cu files"));
    }
    if (flags.file == "-") {
      return absl::InvalidArgumentError(
          "scan reads a file, not stdin: `cuobjdump -ptx PROGRAM >FILE.ptx`, then scan FILE.ptx");
    }
    const absl::StatusOr<std::string> text = ReadFile(flags.file, kMaxPtxBytes);
    if (absl::IsNotFound(text.status())) {
      return absl::InvalidArgumentError(text.status().message());
    }
    return text;
  }
  std::error_code error;
  if (!std::filesystem::is_regular_file(flags.file, error)) {
    return absl::InvalidArgumentError(absl::StrCat(flags.file, ": no such file"));
  }
  if (flags.arch.empty()) {
    return absl::InvalidArgumentError("a .cu file needs a target, for example --arch=sm_90a");
  }
  ASSIGN_OR_RETURN(const std::string nvcc, sass::FindCompiler(flags.nvcc));
  return sass::CompiledPtx(nvcc, flags.arch, flags.options, flags.file);
}

// Advice on a file that is not PTX, by its name; "" if the name shows nothing.
std::string AdviceOn(const std::string& file) {
  for (const char* header : {".cuh", ".h", ".hpp"}) {
    if (absl::EndsWith(file, header)) return "a header, not PTX; scan a .cu file that includes it";
  }
  for (const char* source : {".cpp", ".cc", ".cxx", ".c"}) {
    if (absl::EndsWith(file, source)) return "not PTX; give CUDA C++ a name that ends in .cu";
  }
  if (absl::EndsWith(file, ".cubin")) {
    return "machine code without PTX; scan the PTX or CUDA C++ of which it was made";
  }
  return "";
}

absl::StatusOr<PtxFile> InstructionsOf(const ScanFlags& flags) {
  ASSIGN_OR_RETURN(const std::string ptx, PtxOf(flags));
  auto read = ReadPtx(ptx);
  if (read.ok()) return read;
  const std::string advice = AdviceOn(flags.file);
  return absl::Status(
      read.status().code(),
      absl::StrCat(flags.file, ": ", advice.empty() ? read.status().message() : advice));
}

// The version of ptxas; an error if it or nvdisasm is missing.
absl::StatusOr<std::string> FindTools(const std::string& wanted) {
  ASSIGN_OR_RETURN(const std::string ptxas, sass::FindAssembler(wanted));
  RETURN_IF_ERROR(sass::FindDisassembler(ptxas).status());
  return sass::VersionOf(ptxas);
}

std::string PtxVector(const char* name, const std::vector<std::string>& elements) {
  return absl::StrCat("    ", name, " {", absl::StrJoin(elements, ", "), "}\n");
}

const char* WordOf(OverlapVerdict verdict) {
  return verdict == OverlapVerdict::kWrong   ? "WRONG"
         : verdict == OverlapVerdict::kRight ? "right"
                                             : "not tried";
}

// The comparison and its result.
std::string ProofText(const OverlapProof& proof) {
  if (proof.verdict == OverlapVerdict::kNotTried) return proof.reason;
  const std::string compared =
      absl::StrCat(CountText(proof.dot_products, "dot product"), " on ", proof.target);
  const char* const how = proof.tried.size() > 1 ? " (each overlap tried alone)" : "";
  if (proof.verdict == OverlapVerdict::kRight) return compared + how;
  const std::string suffice = absl::StrJoin(proof.suffice, ", ");
  return absl::StrCat(proof.differing, " of ", compared, " differ", how, "; ",
                      proof.suffice.empty()       ? "no single overlap suffices"
                      : proof.suffice.size() == 1 ? suffice + " alone suffices"
                                                  : "each of these suffices: " + suffice);
}

std::string VerdictText(const ScanFlags& flags, const ScannedInstruction& s, size_t width) {
  const OverlapProof& proof = s.proof;
  std::string text =
      Labelled(absl::StrCat("    ", WordOf(proof.verdict), ": "), ProofText(proof), width);
  if (proof.verdict != OverlapVerdict::kWrong) return text;
  if (!proof.reason.empty()) absl::StrAppend(&text, Labelled("    why: ", proof.reason, width));
  const std::string& overlap = proof.suffice.empty() ? proof.tried.front() : proof.suffice.front();
  return absl::StrCat(
      text, Labelled("    avoid: ", Avoidance(s), width),
      CommandLine("    repeat: ",
                  absl::StrCat(Program(), " run --device=",
                               ShellWord(absl::StrCat(proof.device, ",overlap=", overlap)),
                               " --instr=", proof.instruction, " --cases=", flags.cases),
                  width));
}

// Where a user finds it: in the source if that is known, otherwise in the PTX.
std::string Heading(const ScannedInstruction& s, size_t width) {
  const PtxMatrixInstruction& ptx = s.ptx;
  if (ptx.source.empty())
    return absl::StrCat("  ", LineText(ptx, ptx.line), ": ", ptx.mnemonic, "\n");
  const std::vector<std::string> places = SourceOf(s);
  std::string line = LineText(ptx, ptx.line);
  for (size_t i = 1; i < places.size(); ++i) {
    absl::StrAppend(&line, i == 1 ? ", inlined from " : ", ", places[i]);
  }
  return absl::StrCat("  ", places.front(), ": ", ptx.mnemonic, "\n",
                      Labelled("    ", line, width));
}

// Its place, mnemonic, D, and the operands that share registers with D.
std::string InstructionText(const ScannedInstruction& s, size_t width) {
  const PtxMatrixInstruction& ptx = s.ptx;
  std::string text = Heading(s, width) + PtxVector("d", ptx.d);
  const auto shares = [&](char operand) {
    return std::ranges::count(ptx.shared, operand, &SharedRegister::operand) > 0;
  };
  return absl::StrCat(text, shares('a') ? PtxVector("a", ptx.a) : "",
                      shares('b') ? PtxVector("b", ptx.b) : "",
                      shares('c') ? PtxVector("c", ptx.c) : "");
}

// "1 wrong, 2 right"; "right" if all are.
std::string Verdicts(uint64_t wrong, uint64_t right, uint64_t not_tried) {
  if (wrong == 0 && not_tried == 0) return "right";
  std::vector<std::string> parts;
  for (const auto& [count, what] : {std::pair(wrong, " wrong"), std::pair(right, " right"),
                                    std::pair(not_tried, " not tried")}) {
    if (count > 0) parts.push_back(absl::StrCat(count, what));
  }
  return absl::StrJoin(parts, ", ");
}

std::string Summary(const ScanFlags& flags, const ScanResult& result) {
  using enum OverlapVerdict;
  std::string text = absl::StrCat(result.file, ": ",
                                  CountText(result.matrix_instructions, "mma or wmma instruction"));
  const uint64_t wrong = result.CountDisplaced(kWrong), right = result.CountDisplaced(kRight),
                 not_tried = result.CountDisplaced(kNotTried);
  if (const uint64_t displaced = wrong + right + not_tried; displaced > 0) {
    absl::StrAppend(
        &text, "; ", displaced, displaced == 1 ? " has" : " have",
        " an operand in a different register of D: ", Verdicts(wrong, right, not_tried));
  }
  const uint64_t wrong_in_place = result.Count(kWrong) - wrong;
  if (const uint64_t in_place = wrong_in_place + result.in_place + result.in_place_not_tried;
      in_place > 0) {
    absl::StrAppend(
        &text, "; ", in_place, in_place == 1 ? " accumulates" : " accumulate",
        " in place: ", Verdicts(wrong_in_place, result.in_place, result.in_place_not_tried));
  } else if (wrong + right + not_tried == 0 && result.matrix_instructions > 0) {
    text += "; none has an operand in a register of D";
  }
  if (result.wgmma_instructions > 0) {
    absl::StrAppend(&text, "; ", CountText(result.wgmma_instructions, "wgmma instruction"),
                    ": not scanned");
  }
  if (!result.targets.empty()) {
    absl::StrAppend(&text, "; ptxas ", result.ptxas, " -O", flags.opt_level, ", ",
                    absl::StrJoin(result.targets, ", "));
  }
  return text + "\n";
}

// A verdict that repeats an earlier one refers to its line.
std::string Text(const ScanFlags& flags, const ScanResult& result, size_t width) {
  std::string text = Wrap(Summary(flags, result), width, 2);
  std::string function;
  std::map<std::string, int> lines;  // by reason, or instruction and overlaps
  for (const ScannedInstruction& s : result.instructions) {
    if (s.ptx.function != function) absl::StrAppend(&text, s.ptx.function, "\n");
    function = s.ptx.function;
    const bool tried = s.proof.verdict != OverlapVerdict::kNotTried;
    const auto [first, is_new] = lines.try_emplace(
        tried ? absl::StrCat(s.ptx.target, " ", s.ptx.mnemonic, " ", Name(s.ptx.shared))
              : s.proof.reason,
        s.ptx.line);
    absl::StrAppend(&text, InstructionText(s, width),
                    is_new ? VerdictText(flags, s, width)
                           : absl::StrCat("    ", WordOf(s.proof.verdict), ", as ",
                                          LineText(s.ptx, first->second), "\n"));
  }
  return text;
}

std::string CudaText(const ScanResult& result, size_t width) {
  if (result.Count(OverlapVerdict::kWrong) == 0) return "";
  return Wrap(
      "Registers and lines of the PTX are those that nvcc -ptx -lineinfo makes. In C++, copy the "
      "operand before the instruction: asm volatile(\"mov.f32 %0, %1;\" : \"=f\"(copy) : "
      "\"f\"(operand));\n",
      width, 2);
}

void RunScan(const ScanFlags& flags, Call& call) {
  auto read = InstructionsOf(flags);
  if (!read.ok()) return call.Say(read.status());
  if (!flags.arch.empty()) {
    const absl::Status known = sass::FindTarget(flags.arch).status();
    if (!known.ok()) return call.Say(known);
  }
  const absl::StatusOr<std::string> tools = FindTools(flags.ptxas);
  if (!flags.ptxas.empty() && !tools.ok()) return call.Say(tools.status());
  ScanResult result = {flags.file, tools.value_or(""), read->matrix.size(), read->wgmma};
  OverlapProver prover({flags.ptxas, flags.opt_level, flags.cases});
  for (PtxMatrixInstruction& instruction : read->matrix) {
    if (instruction.shared.empty()) continue;
    if (!flags.arch.empty() && !IsCuda(flags)) instruction.target = flags.arch;
    call.console.Status(absl::StrCat("trying PTX line ", instruction.line), false);
    ScannedInstruction scanned;
    if (tools.ok()) {
      scanned.proof = prover.Prove(instruction, instruction.target);
    } else {
      scanned.proof.reason = std::string(tools.status().message());
    }
    const OverlapProof& proof = scanned.proof;
    if (proof.verdict != OverlapVerdict::kNotTried &&
        std::ranges::count(result.targets, proof.target) == 0) {
      result.targets.push_back(proof.target);
    }
    if (instruction.displaced().empty() && scanned.proof.verdict != OverlapVerdict::kWrong) {
      const bool right = scanned.proof.verdict == OverlapVerdict::kRight;
      ++(right ? result.in_place : result.in_place_not_tried);
      continue;
    }
    scanned.ptx = std::move(instruction);
    result.instructions.push_back(std::move(scanned));
  }
  call.console.Clear();
  call.Print(result, [&] {
    const size_t width = call.console.style().width;
    return Text(flags, result, width) + (IsCuda(flags) ? CudaText(result, width) : "");
  });
  if (result.Count(OverlapVerdict::kWrong) > 0) call.Say(Verdict::kDiffers);
  const uint64_t not_tried = result.Count(OverlapVerdict::kNotTried) + result.in_place_not_tried;
  if (not_tried > 0) {
    call.Say(Verdict::kNotHere, absl::StrCat("not tried: ", CountText(not_tried, "instruction")));
  }
}

}  // namespace

Action AddScan(CLI::App& command) {
  const auto flags = std::make_shared<ScanFlags>();
  AddOption(command, "file", flags->file, "PTX text, or CUDA C++ if its name ends in .cu")
      .Required();
  AddOption(command, "options", flags->options, "after --: further options of nvcc for a .cu file");
  AddOption(command, "--arch", flags->arch,
            "target to assemble for [that of the PTX; required for a .cu file]")
      .TypeName("TARGET");
  AddOption(command, "--ptxas", flags->ptxas, "assembler [in PATH, then in the CUDA Toolkit]")
      .TypeName("FILE");
  AddOption(command, "--nvcc", flags->nvcc,
            "compiler of a .cu file [in PATH, then in the CUDA Toolkit]")
      .TypeName("FILE");
  AddOption(command, "--opt_level", flags->opt_level, "optimization level of ptxas").Range(0, 3);
  AddOption(command, "--cases", flags->cases, "executions of each kernel").Count().Positive();
  return {RunScan, flags, {SchemaOf<ScanResult>}};
}

}  // namespace mmadiff

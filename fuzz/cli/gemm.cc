// mmadiff gemm: a whole matrix product, bit for bit as a plan says.
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "corpus/arrays/npy.h"
#include "device/line_protocol.h"
#include "device/status_macros.h"
#include "device/threads.h"
#include "fuzz/cli/cli.h"
#include "fuzz/cli/matrices.h"
#include "fuzz/cli/typed_name.h"
#include "sim/plan/find.h"
#include "triage/number_text.h"

namespace mmadiff {
namespace {

struct GemmFlags {
  std::string plan, expect, out;
  MatrixFlags matrices;
  int threads = 0;
};

// An element that differs from the expected one.
struct WrongElement {
  int64_t row, column;
  const Format* format;
  uint64_t got, want;
};
Fields<WrongElement> FieldsOf(const WrongElement*) {
  using W = WrongElement;
  return {
      {"row", &W::row},
      {"column", &W::column},
      {"plan", [](const W& w) { return HexWord(*w.format, w.got); }, HexDigits()},
      {"expected", [](const W& w) { return HexWord(*w.format, w.want); }, HexDigits()},
  };
}

struct GemmResult {
  std::string plan;
  int64_t m, n, k;
  std::string digest;
  std::optional<int64_t> differing = {};  // from --expect
  std::optional<WrongElement> first = {};
};
Fields<GemmResult> FieldsOf(const GemmResult*) {
  using R = GemmResult;
  return {
      {"plan", &R::plan, "as the program writes it"},
      {"m", &R::m},
      {"n", &R::n},
      {"k", &R::k},
      {"digest", &R::digest, "XXH3 (64 bits) of the words of D by rows, little-endian"},
      {"differing", &R::differing, "with --expect: number of elements that differ"},
      {"first", &R::first, "the first of these"},
  };
}

std::string Text(const GemmResult& r, const std::string& out) {
  std::string text = absl::StrCat("plan    ", r.plan, "\nshape   ", r.m, " x ", r.n, " x ", r.k,
                                  "\ndigest  ", r.digest, "\n");
  if (!out.empty()) absl::StrAppend(&text, "wrote   ", out, "\n");
  if (!r.differing) return text;
  const int64_t all = r.m * r.n;
  absl::StrAppend(&text, "equal   ", all - *r.differing, " of ", all, " elements\n");
  if (!r.first) return text;
  const WrongElement& w = *r.first;
  absl::StrAppend(&text, "first   [", w.row, ", ", w.column, "]: the plan gives ",
                  WordText(*w.format, w.got), ", expected ", WordText(*w.format, w.want), "\n");
  return text;
}

void Compare(const ResultMatrix& d, const Words& want, const Format& format, GemmResult& result) {
  const MatrixDifference difference = CompareWords(format, result.m, result.n, d.in(), want);
  result.differing = difference.count;
  if (difference.count == 0) return;
  const MatrixElement e = difference.first;
  result.first = WrongElement{e.row, e.column, &format, Load(d.in(), e.row, e.column),
                              Load(want, e.row, e.column)};
}

absl::Status Gemm(const GemmFlags& flags, Call& call) {
  if (!flags.out.empty() && !absl::EndsWith(flags.out, ".npy")) {
    return absl::InvalidArgumentError(
        absl::StrCat("--out=", flags.out, ": gemm writes a NumPy file: end its name in .npy"));
  }
  ASSIGN_OR_RETURN(const Plan plan, TypedPlan(flags.plan));
  ASSIGN_OR_RETURN(LoadedMatrices loaded, LoadedMatrices::Load(flags.matrices, plan));
  const Matrices& m = loaded.matrices();
  const Format& format = *plan.epilogue.format;
  Words want;
  if (!flags.expect.empty()) {
    ASSIGN_OR_RETURN(want, loaded.Result(flags.expect, &format));
  }
  ResultMatrix d(m.m, m.n, format);
  call.console.Step(absl::StrCat("multiplies ", loaded.shape()));
  Execute(plan, m, d.out(), {.threads = ThreadsOf(flags.threads)});
  if (!flags.out.empty()) {
    const absl::Status written = WriteNpy(flags.out, d.in(), m.m, m.n, format);
    if (!written.ok()) {
      call.Say(written, Verdict::kNotWritten);
      return absl::OkStatus();
    }
  }
  GemmResult result = {PlanText(plan), m.m, m.n, m.k, d.digest()};
  if (want.data != nullptr) Compare(d, want, format, result);
  call.Print(result, [&] { return Text(result, flags.out); });
  if (result.first) call.Say(Verdict::kDiffers);
  return absl::OkStatus();
}

void RunGemm(const GemmFlags& flags, Call& call) {
  const absl::Status status = Gemm(flags, call);
  if (!status.ok()) call.Say(status);
}

}  // namespace

Action AddGemm(CLI::App& command) {
  const auto flags = std::make_shared<GemmFlags>();
  AddOption(command, "plan", flags->plan, "instruction, ranges of k, joins and format of D")
      .TypeName("PLAN")
      .Required();
  AddMatrixFlags(command, flags->matrices);
  AddOption(command, "--expect", flags->expect,
            "compare D with this one: exit code 1 if it differs")
      .TypeName("D");
  AddOption(command, "--out", flags->out, "write D to this file").TypeName("FILE.npy");
  AddThreads(command, flags->threads);
  return {RunGemm, flags, {SchemaOf<GemmResult>}};
}

}  // namespace mmadiff

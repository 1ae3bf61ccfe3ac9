#include "fuzz/cli/plan_shapes.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "corpus/durable_file.h"
#include "device/blas/library.h"
#include "device/matrix_program.h"
#include "device/plain_text.h"
#include "device/status_macros.h"
#include "device/stop.h"
#include "device/threads.h"
#include "fuzz/output/progress.h"
#include "sim/plan/candidates.h"
#include "triage/plan/few_plans.h"

namespace mmadiff {
namespace {

constexpr int64_t kMaxShapes = 100000;
constexpr int64_t kMaxElements = 1 << 28;  // of a matrix
constexpr int64_t kDefaultSize = 512;      // of the sides that are not given

}  // namespace

Fields<PlanOfElements> FieldsOf(const PlanOfElements*) {
  using P = PlanOfElements;
  return {
      {"plan", &P::plan},
      {"where", &P::where, "rows and columns of its elements; empty: all"},
  };
}

std::vector<PlanOfElements> PlansOf(const Regions& regions) {
  std::vector<PlanOfElements> plans;
  for (size_t i = 0; i < regions.plans.size(); ++i) {
    plans.push_back({PlanText(regions.plans[i]), RegionText(regions, static_cast<int>(i))});
  }
  return plans;
}

std::string ElementsText(const std::vector<PlanOfElements>& plans) {
  std::string text;
  for (const PlanOfElements& p : plans) {
    absl::StrAppend(&text, "elements  ", p.where.empty() ? "all" : p.where, ": ", p.plan, "\n");
  }
  return text;
}

std::vector<PlanOfElements> PlansOf(const ShapePlans& s) {
  return s.regions ? PlansOf(*s.regions) : std::vector<PlanOfElements>();
}

bool Explained(const ShapePlans& s) { return s.regions && s.differing == 0; }

Fields<ShapePlans> FieldsOf(const ShapePlans*) {
  using S = ShapePlans;
  return {
      {"m", [](const S& s) { return s.shape.m; }},
      {"n", [](const S& s) { return s.shape.n; }},
      {"k", [](const S& s) { return s.shape.k; }},
      {"plans", [](const S& s) { return PlansOf(s); },
       "plans of all elements; none if some elements have none"},
      {"unexplained", &S::unexplained, "elements that no plan gives"},
      {"differing", &S::differing, "elements of one more product that the plans do not give"},
      {"products", &S::products, "products that the device computed"},
      {"seed", &S::seed,
       "of the last product: A has the seed 2 * seed, B 2 * seed + 1, C -1 - seed"},
      {"digest", &S::digest, "XXH3 (64 bits) of its D; empty if there was no last product"},
  };
}

Fields<UsedPlan> FieldsOf(const UsedPlan*) {
  using U = UsedPlan;
  return {
      {"plan", [](const U& u) { return PlanText(u.plan); }},
      {"shapes", &U::shapes, "shapes in which it is the plan of some elements"},
  };
}

Fields<Identity::Fact> FieldsOf(const Identity::Fact*) {
  using F = Identity::Fact;
  return {{"fact", [](const F& f) { return std::string(f.key->key); }}, {"value", &F::value}};
}

namespace {

// Consecutive values of the only side that varies, with one plan in the first row.
struct SameFirstRow {
  int64_t first, last;
  std::vector<PlanOfElements> plans;
};
Fields<SameFirstRow> FieldsOf(const SameFirstRow*) {
  using S = SameFirstRow;
  return {
      {"first", &S::first, "least value of the side that varies"},
      {"last", &S::last},
      {"plans", &S::plans, "of the first row"},
  };
}

struct ShapesResult {
  std::string device;
  Identity identity;
  ProductKind kind;
  std::vector<ShapePlans> shapes = {};
  std::vector<UsedPlan> used = {};
  std::string varies = {};
  std::vector<SameFirstRow> first_row = {};
};
Fields<ShapesResult> FieldsOf(const ShapesResult*) {
  using R = ShapesResult;
  return {
      {"device", &R::device},
      {"device_identity", [](const R& r) { return Name(r.identity); }},
      {"facts", [](const R& r) { return r.identity.facts; }, "of the identity"},
      {"formats", [](const R& r) { return Name(r.kind.formats); }, "of A, B and D"},
      {"alpha", [](const R& r) { return r.kind.factors.alpha; }},
      {"beta", [](const R& r) { return r.kind.factors.beta; }},
      {"shapes", &R::shapes},
      {"used", &R::used, "their plans, those of most shapes first"},
      {"varies", &R::varies, "\"m\" if only m varies; else empty"},
      {"first_row", &R::first_row,
       "if one side varies: whether the first row of D keeps its plan, by values of that side"},
  };
}

std::string Text(const ShapesResult& r) {
  const auto explained = std::ranges::count_if(r.shapes, Explained);
  std::string text =
      absl::StrCat("device    ", r.device, ": ", PlainLine(Name(r.identity)), "\nshapes    ",
                   explained, " of ", r.shapes.size(), " have a plan for every element\n");
  for (const UsedPlan& u : r.used) {
    absl::StrAppend(&text, "plan      ", PlanText(u.plan), "   in ", CountText(u.shapes, "shape"),
                    "\n");
  }
  for (const ShapePlans& s : r.shapes) {
    if (Explained(s)) continue;
    absl::StrAppend(&text, "no plan   ", ShapeText(s.shape), ": ",
                    s.regions ? absl::StrCat(s.differing, " elements of the next product differ")
                    : s.unexplained > 0 ? absl::StrCat("no plan gives ", s.unexplained, " elements")
                                        : "the plans follow no classes of rows and columns",
                    "\n");
  }
  for (const SameFirstRow& s : r.first_row) {
    absl::StrAppend(&text, "first row ", r.varies, " = ", s.first,
                    s.last > s.first ? absl::StrCat("-", s.last) : "", ":");
    for (const PlanOfElements& p : s.plans) {
      absl::StrAppend(&text, "\n          ", p.plan, p.where.empty() ? "" : "   ", p.where);
    }
    absl::StrAppend(&text, "\n");
  }
  if (r.shapes.size() == 1) text += ElementsText(PlansOf(r.shapes[0]));
  return text;
}

absl::StatusOr<std::vector<int64_t>> ParseSides(const char* flag,
                                                const std::vector<std::string>& parts) {
  std::vector<int64_t> sides;
  for (const std::string& part : parts) {
    const std::pair<std::string, std::string> ends = absl::StrSplit(part, absl::MaxSplits('-', 1));
    int64_t first = 0, last = 0;
    const bool range = absl::StrContains(part, '-');
    if (!absl::SimpleAtoi(ends.first, &first) ||
        !absl::SimpleAtoi(range ? ends.second : ends.first, &last) || first < 1 || last < first ||
        last - first >= kMaxShapes) {
      return absl::InvalidArgumentError(
          absl::StrCat(flag, "=", part, ": give sizes, such as 512, 1-64 or 100,402"));
    }
    for (int64_t side = first; side <= last; ++side) sides.push_back(side);
  }
  if (sides.empty()) sides.push_back(kDefaultSize);
  return sides;
}

absl::StatusOr<std::vector<MatrixShape>> ShapesOf(const ShapeFlags& flags) {
  if (flags.m.empty() && flags.n.empty() && flags.k.empty()) {
    return RandomShapes(flags.cases, flags.largest, flags.seed);
  }
  ASSIGN_OR_RETURN(const std::vector<int64_t> ms, ParseSides("--m", flags.m));
  ASSIGN_OR_RETURN(const std::vector<int64_t> ns, ParseSides("--n", flags.n));
  ASSIGN_OR_RETURN(const std::vector<int64_t> ks, ParseSides("--k", flags.k));
  if (std::ssize(ms) > kMaxShapes / std::ssize(ns) / std::ssize(ks)) {
    return absl::InvalidArgumentError(absl::StrCat("more than ", kMaxShapes, " shapes"));
  }
  const MatrixShape most = {std::ranges::max(ms), std::ranges::max(ns), std::ranges::max(ks)};
  if (most.m > kMaxElements / most.k || most.k > kMaxElements / most.n ||
      most.n > kMaxElements / most.m) {
    return absl::InvalidArgumentError(absl::StrCat(ShapeText(most), ": give sizes with at most ",
                                                   kMaxElements, " elements in each matrix"));
  }
  std::vector<MatrixShape> shapes;
  for (const int64_t m : ms) {
    for (const int64_t n : ns) {
      for (const int64_t k : ks) shapes.push_back({m, n, k});
    }
  }
  return shapes;
}

// The plans of the first row, in the order of columns; equal if the row is computed equally.
std::vector<PlanOfElements> FirstRow(const ShapePlans& s) {
  std::vector<PlanOfElements> plans;
  if (!s.regions) return plans;
  for (size_t p = 0; p < s.regions->plans.size(); ++p) {
    std::vector<int64_t> columns;
    for (int64_t j = 0; j < s.shape.n; ++j) {
      if (s.regions->PlanAt(0, j) == static_cast<int>(p)) columns.push_back(j);
    }
    const bool all = std::ssize(columns) == s.shape.n;
    if (columns.empty()) continue;
    plans.push_back({PlanText(s.regions->plans[p]), all ? "" : "columns " + SetText(columns)});
  }
  return plans;
}

// If only m varies: the plans of the first row.
void AddFirstRows(const ShapeFlags& flags, ShapesResult& result) {
  const std::vector<ShapePlans>& shapes = result.shapes;
  const auto same = [&](int64_t MatrixShape::*side) {
    return std::ranges::all_of(
        shapes, [&](const ShapePlans& s) { return s.shape.*side == shapes[0].shape.*side; });
  };
  if (flags.m.empty() || shapes.size() < 2 || !same(&MatrixShape::n) || !same(&MatrixShape::k)) {
    return;
  }
  result.varies = "m";
  const auto text = [](const std::vector<PlanOfElements>& plans) {
    std::string all;
    for (const PlanOfElements& p : plans) absl::StrAppend(&all, p.plan, p.where, ";");
    return all;
  };
  for (const ShapePlans& s : shapes) {
    std::vector<PlanOfElements> plans = FirstRow(s);
    SameFirstRow* last = result.first_row.empty() ? nullptr : &result.first_row.back();
    if (last != nullptr && last->last + 1 == s.shape.m && text(last->plans) == text(plans)) {
      last->last = s.shape.m;
    } else {
      result.first_row.push_back({s.shape.m, s.shape.m, std::move(plans)});
    }
  }
}

// The instructions to try if none are named. A library runs on this CPU.
std::vector<std::string> GlobsFor(const MatrixDevice& device,
                                  const std::vector<std::string>& instr) {
  const bool named = instr != std::vector<std::string>{"*"};
  if (named || !absl::StartsWith(device.name(), "blas:")) return instr;
  return {device.formats().d->bits == 64 ? "x86/vfmadd231sd" : "x86/vfmadd231ss"};
}

// Why no file can be written there, as far as is known before; empty if it can, or if it has no name.
std::string WhyNotWritable(const std::filesystem::path& file) {
  std::error_code ignored;
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  if (file.empty()) return "";
  if (!std::filesystem::is_directory(folder, ignored)) return "its folder does not exist";
  if (access(folder.c_str(), W_OK | X_OK) != 0) return std::strerror(errno);
  const bool other =
      std::filesystem::exists(file, ignored) && !std::filesystem::is_regular_file(file, ignored);
  return other ? "is not a file" : "";
}

}  // namespace

void AddShapeFlags(CLI::App& command, ShapeFlags& flags, const Flag& seed) {
  AddOption(command, "--device", flags.device,
            "ask a library for products, "
            "blas:LIBRARY[,threads=N,coretype=NAME,routine=dgemm,alpha=X,beta=X], or a program, "
            "exec:COMMAND[,timeout=5m] with --formats")
      .TypeName(kMatrixDevice);
  std::vector<Flag> asks = {seed};
  for (const auto& [name, sides] :
       {std::pair("--m", &flags.m), {"--n", &flags.n}, {"--k", &flags.k}}) {
    asks.push_back(
        AddOption(command, name, *sides,
                  "with --device: sizes, such as 512, 1-64 or 100,402; without, random shapes")
            .TypeName("SIZES")
            .Delimiter(','));
  }
  asks.push_back(
      AddOption(command, "--cases", flags.cases, "with --device: number of random shapes")
          .Range(1, kMaxShapes));
  asks.push_back(
      AddOption(command, "--largest", flags.largest, "their largest side").Range(1, 1 << 14));
  asks.push_back(AddOption(command, "--out", flags.out,
                           "with --device: write what --json prints to this file, a recording")
                     .TypeName("FILE"));
  Flag expect = AddOption(command, "--expect", flags.expect,
                          "with --device: ask for the products of a recording: exit code 1 if bits "
                          "differ");
  expect.TypeName("RECORDING");
  for (const Flag& flag : asks) expect.Excludes(flag);
}

absl::StatusOr<std::unique_ptr<MatrixDevice>> OpenMatrixDevice(
    absl::string_view device, const std::vector<const Format*>& formats) {
  absl::string_view specification = device;
  const bool given = formats[0] != nullptr;
  if (absl::ConsumePrefix(&specification, "blas:")) {
    if (!given) return OpenBlas(specification);
    return absl::InvalidArgumentError(
        "--formats: a library has its own; choose with routine=sgemm or routine=dgemm");
  }
  if (absl::ConsumePrefix(&specification, "exec:")) {
    if (!given) {
      return absl::InvalidArgumentError(
          "exec: multiplies in which formats? Give those of A, B and D, as --formats=f16,f16,f32");
    }
    ASSIGN_OR_RETURN(const absl::Duration timeout, TimeoutOf("MMADIFF_EXEC_TIMEOUT"));
    return OpenMatrixProgram(specification, {formats[0], formats[1], formats[2]}, timeout);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "--device=", device, " does not multiply matrices: blas:LIBRARY or exec:COMMAND"));
}

absl::StatusOr<std::vector<const Operation*>> PossibleOperations(
    const std::vector<const Operation*>& ops, const MatrixFormats& formats) {
  std::vector<const Operation*> fit = OperationsFor(ops, *formats.a, *formats.b, *formats.d);
  if (!fit.empty()) return fit;
  return absl::InvalidArgumentError(WhyNoOperations(*formats.a, *formats.b, *formats.d));
}

absl::StatusOr<std::vector<const Operation*>> OperationsOf(const MatrixDevice& device,
                                                           const std::vector<std::string>& instr,
                                                           Ledger& ledger) {
  ASSIGN_OR_RETURN(const std::vector<const Operation*> chosen,
                   ChooseOperations(GlobsFor(device, instr), Models::kRequired, nullptr, ledger));
  ASSIGN_OR_RETURN(std::vector<const Operation*> ops, PossibleOperations(chosen, device.formats()));
  for (const Operation* op : ops) ledger.Compare(Thing::kOperation, op->name);
  ledger.LeaveRest(Thing::kOperation, Reason::kNotNeeded);
  return ops;
}

absl::Status AskShapes(const ShapeFlags& flags, const std::vector<const Format*>& formats,
                       const std::vector<std::string>& instr, int threads, Call& call) {
  if (const std::string why = WhyNotWritable(flags.out); !why.empty()) {
    call.Say(Verdict::kNotWritten, absl::StrCat(flags.out, ": ", why));
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<MatrixDevice> device,
                   OpenMatrixDevice(flags.device, formats));
  ASSIGN_OR_RETURN(const std::vector<MatrixShape> shapes, ShapesOf(flags));
  ASSIGN_OR_RETURN(const std::vector<const Operation*> ops,
                   OperationsOf(*device, instr, call.ledger()));
  ShapesResult result = {device->name(), device->identity(), KindOf(*device)};
  for (const MatrixShape& shape : shapes) {
    call.console.Step(absl::StrCat("asks for ", ShapeText(shape)));
    ASSIGN_OR_RETURN(ShapePlans asked, AskPlans(*device, shape, ops, flags.seed, kProducts,
                                                {.threads = ThreadsOf(threads)}));
    result.shapes.push_back(std::move(asked));
  }
  if (shapes.size() > 1) {
    call.console.Step("asks again with the plans of most shapes");
    RETURN_IF_ERROR(PreferFewPlans(*device, flags.seed, kProducts, {.threads = ThreadsOf(threads)},
                                   result.shapes));
  }
  RETURN_IF_ERROR(device->Finish());
  result.used = UsedPlans(result.shapes);
  AddFirstRows(flags, result);
  if (!flags.out.empty()) {
    const WithLeftOut<ShapesResult> all = {result, call.ledger().lines()};
    call.Say(WriteFileDurably(flags.out, JsonText(JsonOf(all), 1) + "\n"), Verdict::kNotWritten);
  }
  call.PrintWithLeftOut(result, [&] { return Text(result); });
  if (!std::ranges::all_of(result.shapes, Explained)) call.Say(Verdict::kDiffers);
  return absl::OkStatus();
}

Schema SchemaOfShapes() { return SchemaOf<WithLeftOut<ShapesResult>>(); }

}  // namespace mmadiff

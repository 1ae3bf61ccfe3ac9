// mmadiff plan: which plans made a result, from A, B and D alone.
#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "device/line_protocol.h"
#include "device/status_macros.h"
#include "device/threads.h"
#include "fuzz/cli/cli.h"
#include "fuzz/cli/matrices.h"
#include "fuzz/cli/plan_expect.h"
#include "fuzz/cli/plan_shapes.h"
#include "fuzz/cli/plan_tree.h"
#include "fuzz/output/progress.h"
#include "sim/plan/find.h"
#include "sim/plan/search.h"
#include "sim/plan/why_no_plan.h"
#include "triage/number_text.h"

namespace mmadiff {

Fields<Witness> FieldsOf(const Witness*) {
  using W = Witness;
  return {
      {"row", [](const W& w) { return w.element.row; }},
      {"column", [](const W& w) { return w.element.column; }},
      {"rejected", &W::rejected, "plans that it was the first to reject"},
  };
}

Fields<DecidingElements> FieldsOf(const DecidingElements*) {
  using D = DecidingElements;
  return {
      {"elements", &D::elements, "of a D of random operands"},
      {"plans", &D::plans, "that reproduce all of them"},
  };
}

namespace {

struct PlanFlags {
  MatrixFlags matrices;
  ShapeFlags shapes;
  std::string d, tree;
  std::vector<std::string> instr = {"*"};
  std::vector<std::string> formats;
  int threads = 0;
};

// A plan that gives every element, and other operations that compute the same.
struct MatchedPlan {
  std::string plan;
  std::vector<std::string> same;
};
Fields<MatchedPlan> FieldsOf(const MatchedPlan*) {
  using P = MatchedPlan;
  return {
      {"plan", &P::plan},
      {"same", &P::same, "other instructions with which it gives the same bits"},
  };
}

// A range of k of the first element that the nearest plan does not give.
struct RangeOfElement {
  std::string ks, sum, joined;
  size_t stage;
};
Fields<RangeOfElement> FieldsOf(const RangeOfElement*) {
  using R = RangeOfElement;
  return {
      {"stage", &R::stage, "index of the stage of the plan, from 0"},
      {"k", &R::ks, "ranges of k, such as 0-319"},
      {"sum", &R::sum, HexDigits("of these products")},
      {"joined", &R::joined,
       HexDigits("of the stage, after this range is joined; in trees that of the range")},
  };
}

struct NearestPlan {
  std::string plan;
  int64_t differing, row, column;
  std::vector<RangeOfElement> ranges;
  std::string text;  // the ranges and the results for people
};
Fields<NearestPlan> FieldsOf(const NearestPlan*) {
  using N = NearestPlan;
  return {
      {"plan", &N::plan},
      {"differing", &N::differing, "elements that it does not give"},
      {"row", &N::row, "the first of these"},
      {"column", &N::column},
      {"ranges", &N::ranges, "its sums in the order of the plan"},
  };
}

struct PlanResult {
  int64_t m, n, k;
  int64_t tried, unsettled;
  std::vector<MatchedPlan> plans;
  std::vector<Witness> witnesses;
  std::vector<PlanOfElements> elements = {};
  std::vector<DecidingElements> deciding = {};
  std::optional<NearestPlan> nearest = {};
};
Fields<PlanResult> FieldsOf(const PlanResult*) {
  using R = PlanResult;
  return {
      {"m", &R::m},
      {"n", &R::n},
      {"k", &R::k},
      {"tried", &R::tried, "plans that differ for this k"},
      {"plans", &R::plans, "plans that give every element"},
      {"unsettled", &R::unsettled,
       "more plans that give the elements compared first; too many to compare all"},
      {"witnesses", &R::witnesses, "elements that rejected all other plans"},
      {"elements", &R::elements, "without such plans: one for each class of rows and columns"},
      {"deciding", &R::deciding, "if the elements reject no plan: how many would"},
      {"nearest", &R::nearest, "if no plan gives every element: the one that fits best"},
  };
}

std::string Text(const MatchedPlan& p) {
  constexpr size_t kShown = 5;
  std::string text = absl::StrCat("plan      ", p.plan, "\n");
  if (p.same.empty()) return text;
  const size_t shown = std::min(kShown, p.same.size());
  absl::StrAppend(
      &text, "  the same with ", absl::StrJoin(p.same.begin(), p.same.begin() + shown, ", "),
      shown < p.same.size() ? absl::StrCat(" and ", p.same.size() - shown, " more") : "", "\n");
  return text;
}

std::string DecidingText(const std::vector<DecidingElements>& deciding) {
  // The fewest elements that leave as few plans as possible.
  const auto d = std::ranges::min_element(deciding, {}, &DecidingElements::plans);
  return absl::StrCat("rejected  no plan; ", CountText(d->elements, "element"),
                      " of random operands would leave ", CountText(d->plans, "plan"), "\n");
}

std::string Text(const PlanResult& r) {
  constexpr size_t kShown = 10;
  std::string text;
  for (const MatchedPlan& p : std::span(r.plans).first(std::min(kShown, r.plans.size()))) {
    text += Text(p);
  }
  if (r.plans.size() > kShown) {
    absl::StrAppend(&text, "  and ", r.plans.size() - kShown, " more (see --json)\n");
  }
  if (r.unsettled > 0) {
    absl::StrAppend(&text, "  and ", r.unsettled,
                    " more that give the elements compared first; too many to compare all\n");
  }
  const int64_t all = r.m * r.n;
  if (!r.elements.empty()) {
    absl::StrAppend(&text, "plan      none gives every element; by rows and columns, all ", all,
                    " elements have one\n", ElementsText(r.elements));
  } else if (r.nearest) {
    absl::StrAppend(&text, "plan      none of those tried gives every element\nnearest   ",
                    r.nearest->plan, ": ", r.nearest->differing, " of ", all,
                    " elements differ, the first at [", r.nearest->row, ", ", r.nearest->column,
                    "]\n", r.nearest->text);
  } else {
    absl::StrAppend(&text, "elements  ", all, " of ", all, " are equal\n");
    if (MayBeChance(all, r.tried)) {
      absl::StrAppend(&text, "          so few elements may fit one of ", r.tried,
                      " plans by chance: ask with a larger D\n");
    }
  }
  absl::StrAppend(&text, "tried     ", r.tried, " plans that differ for this k\n");
  std::string decided;
  for (const Witness& w : r.witnesses) {
    absl::StrAppend(&decided, decided.empty() ? "" : ", ", "[", w.element.row, ", ",
                    w.element.column, "] ", w.rejected);
  }
  if (!decided.empty()) absl::StrAppend(&text, "rejected  at element: ", decided, "\n");
  if (!r.deciding.empty()) text += DecidingText(r.deciding);
  return text;
}

// A format by its name, for raw words.
absl::StatusOr<const Format*> FormatNamed(const std::string& name) {
  const std::optional<ElementType> type = FindElementType(name);
  if (type && type->format != nullptr) return type->format;
  return absl::InvalidArgumentError(
      absl::StrCat("--formats: no format ", name, ": ", ElementTypeNames()));
}

MatchedPlan Matched(const Plan& plan, const std::vector<const Operation*>& ops) {
  MatchedPlan matched = {PlanText(plan), {}};
  for (const Operation* op : ops) {
    if (op != plan.operation && SameModel(op->model, plan.operation->model)) {
      matched.same.push_back(op->name);
    }
  }
  return matched;
}

// The formats of A, B, D and block scales from --formats, nullptr where it is not given.
absl::StatusOr<std::vector<const Format*>> Formats(const std::vector<std::string>& names) {
  std::vector<const Format*> formats(4, nullptr);
  if (names.empty()) return formats;
  if (names.size() != 3 && names.size() != 4) {
    return absl::InvalidArgumentError(
        "--formats takes three: those of A, B and D; a fourth is that of block scales");
  }
  for (size_t i = 0; i < names.size(); ++i) {
    ASSIGN_OR_RETURN(formats[i], FormatNamed(names[i]));
  }
  return formats;
}

// The nearest plan, and its first wrong element range by range.
NearestPlan Nearest(const FoundPlans& found, const Matrices& m, const Words& d) {
  constexpr size_t kShown = 24;
  const auto [row, column] = found.first;
  NearestPlan nearest = {PlanText(found.nearest), found.differing, row, column, {}, ""};
  const Format& sums = found.nearest.operation->model.d;
  const Format& format = *found.nearest.epilogue.format;
  const TracedElement element = TraceAt(found.nearest, m, row, column);
  for (const TracedRange& r : element.ranges) {
    nearest.ranges.push_back(
        {KsText(r.ks), HexWord(sums, r.sum), HexWord(sums, r.joined), r.stage});
    if (nearest.ranges.size() > kShown) continue;
    absl::StrAppend(&nearest.text, "  ", std::string(2 * r.stage, ' '), "k ",
                    nearest.ranges.back().ks, ": ", NumberText(sums, r.sum), ", joined ",
                    NumberText(sums, r.joined), "\n");
  }
  if (nearest.ranges.size() > kShown) {
    absl::StrAppend(&nearest.text, "  ... (all of it with --json)\n");
  }
  absl::StrAppend(&nearest.text, "  sum ", WordText(sums, element.sum), ", as ", format.name, " ",
                  WordText(format, element.result), "; D has ",
                  WordText(format, Load(d, row, column)), "\n");
  return nearest;
}

// The plans that give D, or regions, or the nearest plan; or how many elements would decide.
PlanResult Search(const Matrices& m, const Words& d, const Format& format,
                  const PlanCandidates& candidates, const Execution& execution) {
  const PlanSearch search = SearchPlans(m, d, format, candidates.plans, execution);
  const FoundPlans& found = search.found;
  PlanResult result = {
      m.m, m.n, m.k, found.tried, std::ssize(found.unsettled), {}, found.witnesses};
  for (const Plan& plan : found.plans) result.plans.push_back(Matched(plan, candidates.operations));
  result.deciding = search.deciding;
  if (search.regions) {
    result.elements = PlansOf(*search.regions);
  } else if (found.plans.empty()) {
    result.nearest = Nearest(found, m, d);
  }
  return result;
}

// Every operand that is given is one that the kernel reads.
PlanQuestion QuestionOf(const MatrixFlags& flags, const LoadedMatrices& loaded, const Format& d) {
  return {.d = &d,
          .sum = HasOthers(flags) ? &loaded.sum_format() : nullptr,
          .block_scale = loaded.block_scale_format(),
          .has_alpha = flags.alpha != MatrixFlags().alpha,
          .has_beta = flags.beta != MatrixFlags().beta};
}

absl::Status FindPlan(PlanFlags flags, Call& call) {
  const ShapeFlags& shapes = flags.shapes;
  if (!flags.matrices.c.empty() && flags.matrices.beta == MatrixFlags().beta) {
    flags.matrices.beta = "1";
  }
  if (!shapes.m.empty() || !shapes.n.empty() || !shapes.k.empty()) {
    return absl::InvalidArgumentError("--m, --n and --k need --device: files have their shapes");
  }
  if (!shapes.out.empty() || !shapes.expect.empty()) {
    return absl::InvalidArgumentError(
        "--out and --expect need --device=blas:LIBRARY or exec:COMMAND");
  }
  if (flags.d.empty()) {
    return absl::InvalidArgumentError(
        "give the files of A, B and D, or --device=blas:LIBRARY or exec:COMMAND");
  }
  ASSIGN_OR_RETURN(const std::vector<const Format*> formats, Formats(flags.formats));
  ASSIGN_OR_RETURN(LoadedMatrices loaded,
                   LoadedMatrices::LoadFiles(flags.matrices, {formats[0], formats[1], formats[3]}));
  const Matrices& m = loaded.matrices();
  ASSIGN_OR_RETURN(const Words d, loaded.Result(flags.d, formats[2]));
  const Format& format = loaded.result_format();
  ASSIGN_OR_RETURN(const std::vector<const Operation*> ops,
                   ChooseOperations(flags.instr, Models::kRequired, nullptr, call.ledger()));
  const PlanCandidates candidates =
      CandidatesFor(ops, m, QuestionOf(flags.matrices, loaded, format));
  if (!candidates.why_none.empty()) return absl::InvalidArgumentError(candidates.why_none);
  for (const Operation* op : candidates.operations) {
    call.ledger().Compare(Thing::kOperation, op->name);
  }
  call.ledger().LeaveRest(Thing::kOperation, Reason::kNotNeeded);
  call.console.Step(absl::StrCat("tries ", candidates.plans.size(), " plans"));
  const PlanResult result = Search(m, d, format, candidates, {.threads = ThreadsOf(flags.threads)});
  call.PrintWithLeftOut(result, [&] { return Text(result); });
  if (result.nearest) call.Say(Verdict::kDiffers);
  if (!result.deciding.empty()) call.Say(Verdict::kNothing);
  return absl::OkStatus();
}

void RunPlan(const PlanFlags& flags, Call& call) {
  if (!flags.tree.empty()) {
    const absl::Status printed = PrintPlanTree(flags.tree, flags.matrices, flags.shapes, call);
    if (!printed.ok()) call.Say(printed);
    return;
  }
  const auto ask = [&]() -> absl::Status {
    if (!flags.matrices.a.empty()) {
      return absl::InvalidArgumentError("give files or --device, not both");
    }
    if (HasOthers(flags.matrices)) {
      return absl::InvalidArgumentError(
          "--c, --bias, --alpha, --beta and scales are for files; a library gets its factors by "
          "--device=blas:LIBRARY,alpha=X,beta=X");
    }
    ASSIGN_OR_RETURN(const std::vector<const Format*> formats, Formats(flags.formats));
    if (formats[3] != nullptr) {
      return absl::InvalidArgumentError(
          "--formats: a device has no block scales, so it takes three");
    }
    const auto& verb = flags.shapes.expect.empty() ? AskShapes : ExpectRecording;
    return verb(flags.shapes, formats, flags.instr, flags.threads, call);
  };
  const absl::Status status = flags.shapes.device.empty() ? FindPlan(flags, call) : ask();
  if (!status.ok()) call.Say(status);
}

}  // namespace

Action AddPlan(CLI::App& command) {
  const auto flags = std::make_shared<PlanFlags>();
  AddOption(command, "a", flags->matrices.a,
            "M x K: FILE.npy, FILE.safetensors:NAME, or FILE.bin:ROWSxCOLUMNS:FORMAT")
      .TypeName("A");
  AddOption(command, "b", flags->matrices.b, "K x N").TypeName("B");
  AddOption(command, "d", flags->d, "M x N: the result").TypeName("D");
  AddOption(command, "--c", flags->matrices.c, "M x N, which the kernel adds, --beta times (1)")
      .TypeName("C");
  AddTransposeFlags(command, flags->matrices);
  AddOtherOperands(command, flags->matrices);
  AddOption(command, "--formats", flags->formats,
            "formats of A, B, D and block scales, for raw words and for exec:COMMAND")
      .TypeName("A,B,D")
      .Delimiter(',');
  AddInstr(
      command, flags->instr,
      "comma-separated globs of the instructions to try; without, those that fit: all, or with "
      "blas: this CPU's multiply-add of the format");
  AddShapeFlags(command, flags->shapes, AddSeed(command, flags->shapes.seed));
  AddOption(command, "--tree", flags->tree,
            "instead: print this plan, for --k products, as a model for --model=FILE")
      .TypeName("PLAN");
  AddThreads(command, flags->threads);
  return {RunPlan,
          flags,
          {{SchemaOf<WithLeftOut<PlanResult>>, "A B D"},
           {SchemaOfPlanTree, "--tree=PLAN"},
           {SchemaOfShapes, "--device=DEVICE"},
           {SchemaOfExpectation, "--expect=RECORDING"}}};
}

}  // namespace mmadiff

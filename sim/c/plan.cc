// The C interface: plans.
#include "sim/plan/plan.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/c/calls.h"
#include "sim/plan/exact_product.h"
#include "sim/plan/execute.h"
#include "sim/plan/race.h"
#include "sim/plan/regions.h"
#include "sim/plan/search.h"
#include "sim/plan/witness.h"
#include "sim/products.h"
#include "sim/word_check.h"

struct mmadiff_plan {
  mmadiff::Plan plan;
  std::string text;
};

struct mmadiff_found {
  mmadiff::PlanSearch search;
  int64_t elements = 0;  // of D
  std::vector<std::string> plans, same;
  struct Region {
    std::string plan, elements;
  };
  std::vector<Region> regions;
  std::string nearest;
};

struct mmadiff_race {
  mmadiff::PlanRace race;
};

namespace mmadiff {
namespace {

Plan PlanNamed(const char* text) {
  const std::string_view given = Required(text, "the text of a plan");
  const size_t first = std::min(given.find_first_not_of(" \t\n"), given.size());
  const size_t end = std::min(given.find_first_of(" \t\n|", first), given.size());
  const std::string_view name = given.substr(first, end - first);
  std::string error, known(given);
  // Names that are not in the tables are quoted; a text without a name has its own reason.
  if (!name.empty() && FindOperation(name) == nullptr && end < given.size()) {
    known = OperationNamed(name).name + std::string(given.substr(end));
  }
  const std::optional<Plan> plan = ParsePlan(known, &error);
  if (!plan) throw CallError(error);
  return *plan;
}

// The product without scales, or without those that the plan does not read.
mmadiff_product WithoutScales(mmadiff_product p, const Plan* plan = nullptr) {
  if (plan == nullptr || !ReadsScales(*plan)) p.scale_a = p.scale_b = {};
  if (plan == nullptr || plan->operation->model.scale_block == 0) {
    p.block_scale_a = p.block_scale_b = {};
  }
  return p;
}

// The operands of product `e`, which the plan can take.
Matrices OperandsOf(const Plan& plan, const mmadiff_product& all, int64_t e) {
  const mmadiff_product p = WithoutScales(all, &plan);
  const Model& row = plan.operation->model;
  const Matrices matrices = MatricesOf(p, row.a, row.b, e);
  Require(WhyNotMatrices(plan, matrices));
  Require(WhyNotScales(plan, matrices));
  if (p.m > 0 && p.n > 0) {
    Require(WhyNotWords("A", *matrices.a_format, matrices.a, p.m, p.k));
    Require(WhyNotWords("B", *matrices.b_format, matrices.b, p.k, p.n));
  }
  return matrices;
}
// Those of the only product.
Matrices OperandsOf(const Plan& plan, const mmadiff_product& p) {
  if (p.count != 1) throw CallError("elements are those of one product: count must be 1");
  return OperandsOf(plan, p, 0);
}

void Execute(const Plan& plan, const mmadiff_product& p, const mmadiff_work* work) {
  for (int64_t e = 0; e < p.count; ++e) {
    const Matrices matrices = OperandsOf(plan, p, e);
    const Stack<MutableWords> d = {MutableWordsOf(p.d), p.d.stride};
    if (p.m > 0 && p.n > 0) {
      Require(WhyNotBits("D", *plan.epilogue.format, p.d.data != nullptr, p.d.bits));
    }
    Execute(plan, matrices, d.At(e), {.threads = ThreadsOf(work)});
  }
}

void RequireElement(const Matrices& m, int64_t row, int64_t column) {
  if (row >= 0 && row < m.m && column >= 0 && column < m.n) return;
  throw CallError("D has no element [" + std::to_string(row) + ", " + std::to_string(column) +
                  "]: it is " + std::to_string(m.m) + " x " + std::to_string(m.n));
}

void Elements(const Plan& plan, const mmadiff_product& p, std::span<const int64_t> rows,
              std::span<const int64_t> columns, uint64_t* words, const mmadiff_work* work) {
  const Matrices matrices = OperandsOf(plan, p);
  for (size_t i = 0; i < rows.size(); ++i) RequireElement(matrices, rows[i], columns[i]);
  ForEachPart(std::ssize(rows), ThreadsOf(work), [&](int64_t i, const Poll& poll) {
    words[i] = ExecuteAt(plan, matrices, {&rows[i], 1}, {&columns[i], 1}, &poll)[0];
  });
}

size_t Witnesses(const Plan& plan, const mmadiff_product& p, uint64_t seed, bool any_nan,
                 size_t count, int64_t* rows, int64_t* columns, const mmadiff_work* work) {
  constexpr size_t kMost = 1 << 20;
  if (count > kMost) throw CallError("at most 2^20 elements");
  const Matrices matrices = OperandsOf(plan, p);
  const Format& d = *plan.epilogue.format;
  if (p.d.data != nullptr && p.m > 0 && p.n > 0) {
    Require(WhyNotWords("D", d, WordsOf(p.d), p.m, p.n));
  }
  const std::vector<MatrixElement> elements =
      WitnessesOf(plan, matrices, WordsOf(p.d), static_cast<int64_t>(count), seed, any_nan,
                  {.threads = ThreadsOf(work)});
  for (size_t i = 0; i < elements.size(); ++i) {
    rows[i] = elements[i].row, columns[i] = elements[i].column;
  }
  return elements.size();
}

void Exact(const mmadiff_product& all, const mmadiff_words& low, const mmadiff_work* work) {
  const mmadiff_product p = WithoutScales(all);
  const Format &a = FormatNamed(p.a_format), &b = FormatNamed(p.b_format);
  if (IsInteger(a) || IsInteger(b)) throw CallError("exact products need floating-point formats");
  if (p.k > kMaxExactK) throw CallError("exact products have at most 2^31 k");
  for (int64_t e = 0; e < p.count; ++e) {
    const Matrices m = MatricesOf(p, a, b, e);
    if (p.m == 0 || p.n == 0) continue;
    if (p.k > 0) Require(WhyNotWords("A", a, m.a, p.m, p.k));
    if (p.k > 0) Require(WhyNotWords("B", b, m.b, p.k, p.n));
    const Stack<MutableWords> high = {MutableWordsOf(p.d), p.d.stride},
                              rest = {MutableWordsOf(low), low.stride};
    for (const Stack<MutableWords>& d : {high, rest}) {
      Require(WhyNotBits("D", kF64, d.first.data != nullptr, d.first.bits));
    }
    ExactProduct(m, high.At(e), rest.At(e), ThreadsOf(work));
  }
}

// The operations that match one of the globs; without globs, all.
std::vector<const Operation*> OperationsOf(std::string_view globs) {
  std::vector<const Operation*> all;
  for (size_t at = 0; at < globs.size();) {
    const size_t end = std::min(globs.find(' ', at), globs.size());
    const std::string glob = GlobOf(globs.substr(at, end - at));
    at = end + 1;
    if (glob.empty()) continue;
    const std::vector<const Operation*> found = MatchOperations(glob);
    if (found.empty()) throw CallError(WhyNoOperation(glob));
    all.insert(all.end(), found.begin(), found.end());
  }
  return all.empty() ? MatchOperations("*") : all;
}

std::string SameRows(const Operation& row, std::span<const Operation* const> rows) {
  std::string names;
  for (const Operation* op : rows) {
    if (op == &row || !SameModel(op->model, row.model)) continue;
    names += (names.empty() ? "" : " ") + op->name;
  }
  return names;
}

mmadiff_found* FindPlansOf(const mmadiff_product& p, const mmadiff_query& query,
                           const mmadiff_work* work) {
  if (p.count != 1) throw CallError("plans are searched for one product: count must be 1");
  const auto format = [](const char* name) {
    return name == nullptr ? nullptr : &FormatNamed(name);
  };
  const Format& d = FormatNamed(query.d_format);
  const Format &a = FormatNamed(p.a_format), &b = FormatNamed(p.b_format);
  const Matrices matrices = MatricesOf(p, a, b, 0);
  if (p.m == 0 || p.n == 0) throw CallError("D has no elements");
  const PlanCandidates candidates =
      CandidatesFor(OperationsOf(query.globs == nullptr ? "" : query.globs), matrices,
                    {&d, format(query.sum_format), format(query.block_scale_format),
                     query.has_alpha != 0, query.has_beta != 0});
  Require(candidates.why_none);
  Require(WhyNotWords("A", a, matrices.a, p.m, p.k));
  Require(WhyNotWords("B", b, matrices.b, p.k, p.n));
  Require(WhyNotWords("D", d, WordsOf(p.d), p.m, p.n));
  auto result = std::make_unique<mmadiff_found>();
  PlanSearch& search = result->search;
  result->elements = p.m * p.n;
  search = SearchPlans(matrices, WordsOf(p.d), d, candidates.plans, {.threads = ThreadsOf(work)});
  for (const Plan& plan : search.found.Left()) {
    result->plans.push_back(PlanText(plan));
    result->same.push_back(SameRows(*plan.operation, candidates.operations));
  }
  if (result->plans.empty()) result->nearest = PlanText(search.found.nearest);
  for (size_t i = 0; search.regions && i < search.regions->plans.size(); ++i) {
    result->regions.push_back(
        {PlanText(search.regions->plans[i]), RegionText(*search.regions, static_cast<int>(i))});
  }
  return result.release();
}

}  // namespace
}  // namespace mmadiff

using namespace mmadiff;

extern "C" {

mmadiff_plan* mmadiff_plan_open(const char* text) {
  return Guarded<mmadiff_plan*>(nullptr, [&] {
    Plan plan = PlanNamed(text);
    std::string written = PlanText(plan);
    return new mmadiff_plan{std::move(plan), std::move(written)};
  });
}

void mmadiff_plan_close(mmadiff_plan* plan) { delete plan; }

void mmadiff_plan_describe(const mmadiff_plan* plan, mmadiff_plan_info* info, size_t size) {
  if (plan == nullptr) return Describe(mmadiff_plan_info{}, info, size);
  const Plan& p = plan->plan;
  const Model& m = p.operation->model;
  const mmadiff_plan_info all = {
      .text = plan->text.c_str(),
      .row = p.operation->name.c_str(),
      .a = m.a.name,
      .b = m.b.name,
      .c = p.from_c ? m.c.name : m.d.name,
      .d = p.epilogue.format->name,
      .sum = m.d.name,
      .scale = m.scale_block == 0 ? "" : m.scale.name,
      .scales = m.scales(),
      .k = m.k,
      .reads_c = ReadsC(p),
      .reads_alpha = ReadsAlpha(p),
      .reads_beta = ReadsBeta(p),
      .reads_bias = p.epilogue.bias,
      .reads_scales = ReadsScales(p),
      .reads_block_scales = m.scale_block != 0,
  };
  Describe(all, info, size);
}

mmadiff_status mmadiff_plan_execute(const mmadiff_plan* plan, const mmadiff_product* product,
                                    const mmadiff_work* work) {
  return GuardedStatus([&] { Execute(Required(plan, "the plan").plan, Checked(product), work); });
}

mmadiff_status mmadiff_plan_elements(const mmadiff_plan* plan, const mmadiff_product* product,
                                     size_t count, const int64_t* rows, const int64_t* columns,
                                     uint64_t* words, const mmadiff_work* work) {
  return GuardedStatus([&] {
    if (count == 0) return;
    const std::span all_rows(&Required(rows, "rows"), count);
    const std::span all_columns(&Required(columns, "columns"), count);
    Elements(Required(plan, "the plan").plan, Checked(product), all_rows, all_columns,
             &Required(words, "words"), work);
  });
}

size_t mmadiff_plan_witnesses(const mmadiff_plan* plan, const mmadiff_product* product,
                              uint64_t seed, int any_nan, size_t count, int64_t* rows,
                              int64_t* columns, const mmadiff_work* work) {
  return Guarded<size_t>(0, [&]() -> size_t {
    if (count == 0) return 0;
    return Witnesses(Required(plan, "the plan").plan, Checked(product), seed, any_nan != 0, count,
                     &Required(rows, "rows"), &Required(columns, "columns"), work);
  });
}

mmadiff_status mmadiff_plan_trace(const mmadiff_plan* plan, const mmadiff_product* product,
                                  int64_t row, int64_t column,
                                  void (*each)(void* context, const mmadiff_range* range),
                                  void* context, uint64_t* sum, uint64_t* result,
                                  const mmadiff_work* work) {
  return GuardedStatus([&] {
    const Plan& p = Required(plan, "the plan").plan;
    const Matrices matrices = OperandsOf(p, Checked(product));
    RequireElement(matrices, row, column);
    const Threads threads = ThreadsOf(work);
    const Poll poll(threads);
    const TracedElement element = TraceAt(p, matrices, row, column, &poll);
    for (const TracedRange& range : element.ranges) {
      const std::string ks = KsText(range.ks);
      std::vector<int64_t> runs;
      for (const Piece& piece : range.ks) runs.insert(runs.end(), {piece.first, piece.end});
      const mmadiff_range one = {ks.c_str(),  runs.data(), range.ks.size(),
                                 range.stage, range.sum,   range.joined};
      if (each != nullptr) each(context, &one);
    }
    Required(sum, "sum") = element.sum;
    Required(result, "result") = element.result;
  });
}

mmadiff_status mmadiff_exact(const mmadiff_product* product, const mmadiff_words* low,
                             const mmadiff_work* work) {
  return GuardedStatus([&] { Exact(Checked(product), Required(low, "low"), work); });
}

mmadiff_found* mmadiff_find_plans(const mmadiff_product* product, const mmadiff_query* query,
                                  const mmadiff_work* work) {
  return Guarded<mmadiff_found*>(
      nullptr, [&] { return FindPlansOf(Checked(product), Required(query, "the query"), work); });
}

void mmadiff_found_close(mmadiff_found* found) { delete found; }

void mmadiff_found_describe(const mmadiff_found* found, mmadiff_found_info* info, size_t size) {
  if (found == nullptr) return Describe(mmadiff_found_info{}, info, size);
  const FoundPlans& f = found->search.found;
  const auto& deciding = found->search.deciding;
  // The fewest elements that leave as few plans as possible.
  const auto d = std::ranges::min_element(deciding, {}, &DecidingElements::plans);
  const mmadiff_found_info all = {
      .tried = f.tried,
      .plans = f.plans.size(),
      .unsettled = f.unsettled.size(),
      .regions = found->regions.size(),
      .nearest = found->nearest.c_str(),
      .differing = f.differing,
      .row = f.first.row,
      .column = f.first.column,
      .may_be_chance = MayBeChance(found->elements, f.tried),
      .deciding_elements = d == deciding.end() ? 0 : d->elements,
      .deciding_plans = d == deciding.end() ? 0 : d->plans,
  };
  Describe(all, info, size);
}

const char* mmadiff_found_plan(const mmadiff_found* found, size_t index) {
  return found != nullptr && index < found->plans.size() ? found->plans[index].c_str() : nullptr;
}

const char* mmadiff_found_same(const mmadiff_found* found, size_t index) {
  return found != nullptr && index < found->same.size() ? found->same[index].c_str() : nullptr;
}

const char* mmadiff_found_region(const mmadiff_found* found, size_t index, const char** elements) {
  if (found == nullptr || index >= found->regions.size()) return nullptr;
  const mmadiff_found::Region& region = found->regions[index];
  if (elements != nullptr) *elements = region.elements.c_str();
  return region.plan.c_str();
}

mmadiff_race* mmadiff_race_plans(const mmadiff_plan* x, const mmadiff_plan* y,
                                 const mmadiff_work* work) {
  return Guarded<mmadiff_race*>(nullptr, [&] {
    PlanRace race =
        RacePlans(Required(x, "the plan").plan, Required(y, "the plan").plan, ThreadsOf(work));
    Require(race.not_comparable);
    return new mmadiff_race{std::move(race)};
  });
}

void mmadiff_race_close(mmadiff_race* race) { delete race; }

void mmadiff_race_describe(const mmadiff_race* race, mmadiff_race_info* info, size_t size) {
  if (race == nullptr) return Describe(mmadiff_race_info{}, info, size);
  const PlanRace& r = race->race;
  const mmadiff_race_info all = {
      .equal = r.equal.c_str(),
      .is_found = r.found.has_value(),
      .k = r.found ? r.found->k : r.least_k,
      .a = r.found ? r.found->a.data() : nullptr,
      .b = r.found ? r.found->b.data() : nullptr,
      .x = r.found ? r.found->x : 0,
      .y = r.found ? r.found->y : 0,
  };
  Describe(all, info, size);
}

}  // extern "C"

#include "sim/plan/candidates.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "sim/plan/matrices.h"
#include "sim/plan/order.h"
#include "sim/plan/why_no_plan.h"

namespace mmadiff {
namespace {

using Stages = std::vector<PlanStage>;

PlanStage Every(int64_t n) {
  PlanStage stage;
  stage.range.size = n;
  return stage;
}

PlanStage Dealt(PlanRange::Kind kind, int64_t count, int64_t size, PlanJoin::Kind join) {
  PlanStage stage;
  stage.range.kind = kind;
  stage.range.count = count;
  stage.range.size = size;
  stage.join.kind = join;
  return stage;
}

// The stages of a text.
Stages StagesOf(const std::string& text) {
  std::string error;
  return ParsePlan("x86/vfmadd231ss | " + text + " | f32", &error).value().stages;
}

// Blocks of k: powers of two, and those of OpenBLAS, MKL and oneDNN. Only these libraries halve the
// last two.
std::vector<PlanStage> Blocks(bool of_cpu) {
  std::vector<PlanStage> stages;
  for (const int64_t n : {16,  32,  48,  64,  84,  96,  128, 192, 240,  256,  320, 336,
                          352, 384, 448, 480, 512, 640, 768, 896, 1024, 2048, 4096}) {
    stages.push_back(Every(n));
  }
  if (!of_cpu) return stages;
  for (const int64_t n : {128, 192, 240, 256, 320, 352, 384, 448, 512, 640, 768}) {
    for (const int64_t unit : {0, 1, 2, 4, 8, 16, 32}) {
      stages.push_back(Every(n));
      stages.back().range.halved = true;
      stages.back().range.unit = unit;
    }
  }
  for (const char* text :
       {"every 384 last 480: add", "every 256 last 320: add", "every 192 fit: add"}) {
    stages.push_back(StagesOf(text).front());
  }
  return stages;
}

// Split k, as GPU kernels do between blocks of threads.
std::vector<PlanStage> Splits() {
  using enum PlanRange::Share;
  std::vector<PlanStage> stages;
  for (const int64_t count : {2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 24, 32}) {
    for (const int64_t size : {8, 16, 32, 64, 128, 256}) {
      for (const PlanRange::Share share : {kCeil, kFloor, kEven}) {
        stages.push_back(Dealt(PlanRange::Kind::kInto, count, size, PlanJoin::Kind::kAdd));
        stages.back().range.share = share;
      }
    }
  }
  return stages;
}

// Lanes and accumulators.
std::vector<PlanStage> Lanes(int step) {
  std::vector<PlanStage> stages;
  for (const int64_t count : {2, 3, 4, 8, 16, 32, 64, 128}) {
    for (const int64_t size : {1, 2, 4, 8, 16, 32, 64, 128}) {
      for (const PlanJoin::Kind join :
           {PlanJoin::Kind::kAdd, PlanJoin::Kind::kTree, PlanJoin::Kind::kPairs}) {
        // Blocks of threads that share matrix instructions add one after the other.
        if (join != PlanJoin::Kind::kAdd && (step > 1 || count == 2)) continue;
        stages.push_back(Dealt(PlanRange::Kind::kStrided, count, size, join));
      }
    }
  }
  return stages;
}

// Accumulators and lanes of CPUs' kernels inside a block of k, with their tails.
constexpr const char* kInner[] = {
    // OpenBLAS: Haswell, SkylakeX, Prescott
    "strided 2 of 1 unrolled 4: add", "strided 2 of 1 unrolled 8: add",
    "strided 2 of 1 unrolled 16: add", "strided 4 of 1 unrolled 4: add",
    "strided 4 of 1 unrolled 8: add", "strided 4 of 1 unrolled 16: add",
    "strided 4 of 1 unrolled 8: pairs", "strided 4 of 1 unrolled 8: tree",
    "strided 8 of 1 unrolled 16: pairs 2 4 1", "strided 2 of 1: add | tail 2",
    "strided 4 of 1: add | tail 4", "strided 4 of 1: pairs | tail 4",
    "strided 4 of 1: tree | tail 4", "strided 8 of 1: pairs | tail 8",
    "strided 8 of 1: tree | tail 8",
    // BLIS: products of a matrix and a vector
    "strided 4 of 1: pairs | tail 4 unfused", "strided 8 of 1: pairs | tail 8 unfused",
    "strided 4 of 1: add | strided 8 of 1: add | tail 32 unfused",
    "strided 4 of 1: add | strided 4 of 1: add | tail 16 unfused",
    // MKL, without AVX-512
    "every 1: pairs | every 4: add | tail 4", "every 1: tree | every 4: add | tail 4",
    "strided 2 of 1: add | tail 2 | strided 2 of 1: add | tail 2"};

// All orders for an operation with `step` products, the simplest first.
std::vector<Stages> Orders(int step, bool of_cpu) {
  std::vector<Stages> orders = {{}};
  const auto add_all = [&](const std::vector<PlanStage>& stages, const Stages& inner) {
    for (const PlanStage& stage : stages) {
      const PlanRange& range = stage.range;
      if (range.kind == PlanRange::Kind::kStrided && range.size % step != 0) continue;
      orders.push_back(inner);
      orders.back().push_back(stage);
    }
  };
  add_all(Blocks(of_cpu), {});
  add_all(Splits(), {});
  add_all(Lanes(step), {});
  if (step > 1 || !of_cpu) return orders;
  for (const char* text : kInner) {
    const Stages inner = StagesOf(text);
    orders.push_back(inner);
    add_all(Blocks(of_cpu), inner);
  }
  return orders;
}

// Epilogues that round on the way: parts, or the running sum, in the format of the result.
std::vector<Stages> Rounded(const Stages& stages, const Format& sum, const Format& d, bool of_cpu) {
  std::vector<Stages> all = {stages};
  // Kernels of CPUs with several stages keep their sums in registers.
  if (stages.empty() || d.bits >= sum.bits || d.bits < 16 || (of_cpu && stages.size() > 1))
    return all;
  for (const bool held : {false, true}) {
    all.push_back(stages);
    PlanJoin& join = all.back().back().join;
    (held ? join.held : join.as) = &d;
  }
  return all;
}

// The results with these operands.
std::vector<Epilogue> ResultsWith(const UsedOperands& used, const Format* format) {
  using enum Epilogue::Fused;
  const Epilogue plain = {used.alpha, used.beta, used.bias, kNone, Epilogue::Scales::kNone, format};
  std::vector<Epilogue> results = {plain};
  for (const Epilogue::Fused fused : {kAlpha, kBeta}) {
    if (!used.beta || (fused == kAlpha ? !used.alpha : used.adds_c)) continue;
    results.push_back(plain);
    results.back().fused = fused;
  }
  return results;
}

// Those that multiply the sum by scales.
std::vector<Epilogue> ScaledResults(bool bias, const Format* format) {
  using enum Epilogue::Scales;
  std::vector<Epilogue> results;
  for (const Epilogue::Scales scales : {kTogether, kAThenB, kBThenA}) {
    results.push_back({.bias = bias, .scales = scales, .format = format});
    if (!bias) continue;
    results.push_back(results.back());
    results.back().fused = Epilogue::Fused::kScales;
  }
  return results;
}

// How additions of blocks to D in memory use these factors.
std::vector<PlanJoin> JoinsWith(const UsedOperands& used, PlanJoin join) {
  using Start = PlanJoin::Start;
  std::vector<PlanJoin> joins;
  const auto add = [&](PlanJoin::Kind kind, Start start) {
    join.kind = kind;
    join.start = start;
    joins.push_back(join);
  };
  const auto kind = used.alpha ? PlanJoin::Kind::kAlpha : PlanJoin::Kind::kAdd;
  const Start start = used.beta ? Start::kBetaC : Start::kDefault;
  if (used.alpha) add(PlanJoin::Kind::kFusedAlpha, start);
  add(kind, start);
  if (used.beta && !used.adds_c) add(kind, Start::kFusedBetaC);
  return joins;
}

// The plan with these operands in each way that kernels use.
std::vector<Plan> WithOperands(const Plan& plan, const UsedOperands& used) {
  const Format* const format = plan.epilogue.format;
  const bool scales_sum = used.scale_block != 0 && !ReadsScales(plan);
  if (scales_sum && (used.alpha || used.beta)) return {};
  std::vector<Plan> plans;
  for (const Epilogue& result :
       scales_sum ? ScaledResults(used.bias, format) : ResultsWith(used, format)) {
    plans.push_back(plan);
    plans.back().epilogue = result;
  }
  if (scales_sum || (!used.alpha && !used.beta)) return plans;
  if (plan.stages.empty() && used.adds_c && !used.alpha) {
    plans.push_back(plan);
    plans.back().from_c = true;
    plans.back().epilogue.bias = used.bias;
  }
  if (plan.stages.empty()) return plans;
  const PlanStage& last = plan.stages.back();
  if (last.tail != 0 || last.range.kind != PlanRange::Kind::kEvery || IsScaled(last.join)) {
    return plans;
  }
  for (const PlanJoin& join : JoinsWith(used, last.join)) {
    plans.push_back(plan);
    plans.back().stages.back().join = join;
    plans.back().epilogue.bias = used.bias;
  }
  return plans;
}

constexpr std::string_view kCpus[] = {"arm", "x86"};
bool IsOfCpu(const Operation& op) { return std::ranges::count(kCpus, op.arch()) > 0; }

// The rest of a plan after its operation.
struct Order {
  bool from_c;
  int64_t residue;
  Stages stages;
  Epilogue epilogue;
};

// Orders that multiply parts by scales, of so many k or a part of these: by themselves, over sums of
// shorter ranges, and inside a split of k.
std::vector<Stages> ScaledOrders(int64_t scale_block) {
  constexpr int64_t kLeast = 32;
  std::vector<Stages> orders;
  for (int64_t each = scale_block; each >= std::min(kLeast, scale_block) && each > 0; each /= 2) {
    for (const PlanJoin::Kind kind : {PlanJoin::Kind::kScaled, PlanJoin::Kind::kScaledInTurns}) {
      PlanStage scaled = Every(each);
      scaled.join.kind = kind;
      orders.push_back({scaled});
      for (int64_t part = each / 2; part >= kLeast; part /= 2) {
        orders.push_back({Every(part), scaled});
      }
      for (const PlanStage& split : Splits()) orders.push_back({scaled, split});
    }
  }
  std::ranges::stable_sort(orders, {}, &Stages::size);
  return orders;
}

std::vector<Stages> OrdersWith(const UsedOperands& used, std::span<const int64_t> ks, int step,
                               bool of_cpu) {
  constexpr int64_t kUsualBlock = 128;
  const int64_t block = used.scale_block;
  if (block == 0) return Orders(step, of_cpu);
  if (std::ranges::any_of(ks, [&](int64_t k) { return k > block; })) return ScaledOrders(block);
  std::vector<Stages> orders = Orders(step, of_cpu);
  const std::vector<Stages> scaled = ScaledOrders(std::min(block, kUsualBlock));
  orders.insert(orders.end(), scaled.begin(), scaled.end());
  return orders;
}

// Those that differ for one of these k.
std::vector<Order> DistinctOrders(Plan plan, std::span<const int64_t> ks,
                                  const UsedOperands& used) {
  const Model& m = plan.operation->model;
  const bool of_cpu = IsOfCpu(*plan.operation);
  std::vector<Order> orders;
  std::set<std::string> texts;
  for (const int64_t residue : {0, 32, 64}) {
    if (residue != 0 && (m.k == 1 || m.scale_block != 0)) continue;
    plan.residue = residue;
    for (const Stages& order : OrdersWith(used, ks, m.k, of_cpu)) {
      // CUTLASS takes the rest first in kernels without ranges of k, and in those of split-K.
      if (residue != 0 && !order.empty() && order[0].range.kind != PlanRange::Kind::kInto) continue;
      for (const Stages& stages : Rounded(order, m.d, *plan.epilogue.format, of_cpu)) {
        plan.stages = stages;
        for (const Plan& p : WithOperands(plan, used)) {
          std::string text;
          for (const int64_t k : ks) text += OrderAt(p, k) + "\n";
          if (!texts.insert(std::move(text)).second) continue;
          orders.push_back({p.from_c, residue, p.stages, p.epilogue});
        }
      }
    }
  }
  return orders;
}

class Collector {
 public:
  Collector(std::span<const int64_t> ks, const UsedOperands& used) : ks_(ks), used_(used) {}

  // All orders of the plan's operation, unless it computes what an earlier one does.
  void AddAll(Plan plan) {
    if (!WhyNoPlan(plan).empty()) return;
    const auto same = [&](const Plan& other) { return SameArithmetic(plan, other); };
    if (std::ranges::any_of(done_, same)) return;
    done_.push_back(plan);
    for (const Order& order : OrdersOf(plan, plan.operation->model)) {
      plan.from_c = order.from_c;
      plan.residue = order.residue;
      plan.stages = order.stages;
      plan.epilogue = order.epilogue;
      if (WhyNoPlan(plan).empty()) plans.push_back(plan);
    }
  }

  std::vector<Plan> plans;

 private:
  // They depend only on the number of products, the format of sums, block scales, and the kind of
  // processor.
  const std::vector<Order>& OrdersOf(const Plan& plan, const Model& m) {
    const auto [at, is_new] =
        orders_.try_emplace({m.k, m.d.name, m.scale_block, IsOfCpu(*plan.operation)});
    if (is_new) at->second = DistinctOrders(plan, ks_, used_);
    return at->second;
  }

  const std::span<const int64_t> ks_;
  const UsedOperands used_;
  std::vector<Plan> done_;  // one for each arithmetic
  std::map<std::tuple<int, std::string, int, bool>, std::vector<Order>> orders_;
};

}  // namespace

std::vector<const Operation*> OperationsFor(std::span<const Operation* const> operations,
                                            const Format& a, const Format& b, const Format& d,
                                            const Format* sum, const UsedOperands& used) {
  std::vector<const Operation*> fit;
  for (const Operation* op : operations) {
    Plan plan;
    plan.operation = op;
    plan.epilogue.format = &d;
    const Format& scale = op->model.scale;
    const bool fits_sum = sum == nullptr || std::string_view(op->model.d.name) == sum->name;
    const bool fits_scales =
        op->model.scale_block == 0
            ? used.block_scale == nullptr
            : used.block_scale != nullptr && std::string_view(scale.name) == used.block_scale->name;
    if (fits_sum && fits_scales && WhyNoPlan(plan).empty() && WhyNotFormats(*op, a, b).empty()) {
      fit.push_back(op);
    }
  }
  // FP4 is e4m3, too, but that is rarely meant.
  std::stable_partition(fit.begin(), fit.end(), [&](const Operation* op) {
    return std::string_view(op->model.a.name) == a.name &&
           std::string_view(op->model.b.name) == b.name;
  });
  return fit;
}

std::string WhyNoOperations(const Format& a, const Format& b, const Format& d, const Format* sum,
                            const UsedOperands& used) {
  std::string text = std::string("none of the instructions multiplies ") + a.name + " by " + b.name;
  if (used.block_scale != nullptr) text += std::string(" with scales in ") + used.block_scale->name;
  text += std::string(" in a chain along k") +
          (sum == nullptr ? "" : std::string(", sums in ") + sum->name);
  return text + ", with results that become " + d.name;
}

std::vector<Plan> CandidatePlans(std::span<const Operation* const> operations,
                                 std::span<const int64_t> ks, const Format& d,
                                 const UsedOperands& used) {
  Collector collector(ks, used);
  for (const Operation* op : operations) {
    Plan plan;
    plan.operation = op;
    plan.epilogue.format = &d;
    for (const bool unfused : {false, true}) {
      plan.unfused = unfused;
      collector.AddAll(plan);
    }
  }
  return collector.plans;
}

}  // namespace mmadiff

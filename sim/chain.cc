#include "sim/chain.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "sim/sparsity.h"

namespace mmadiff {
namespace {

// Whether steps of the algorithm follow one another across executions as they do within one.
bool HasEqualSteps(const Model& one) {
  if (IsSparse(one)) {
    return one.algorithm.selection == Selection::kStored && HasEqualSteps(SelectedModel(one));
  }
  const Algorithm& alg = one.algorithm;
  const bool consecutive = alg.grouping == Grouping::kConsecutive;
  if (alg.family == Family::kNone || alg.family == Family::kTree) return false;
  if (alg.addend_joins != AddendJoins::kFirstStep) return false;
  if (alg.family == Family::kFmaChain)
    return consecutive && (alg.order == Order::kAscending || one.k == 1);
  if (alg.family == Family::kIntegerDot) {
    // Sums modulo 2^32, and sums that only grow, which stay at the largest number once they reach it.
    return alg.overflow == Overflow::kWrap || (!one.a.is_signed && !one.b.is_signed);
  }
  if (alg.terms > one.k || one.k % alg.terms != 0) return false;
  if (alg.family == Family::kTwoStageSum) return consecutive || one.k % 2 == 0;
  // An addend that is flushed only at entry is flushed at the entry of each execution. That changes
  // nothing if the result was flushed the same way.
  const bool flushes =
      alg.family == Family::kPairwiseSum && alg.addend_subnormals != Subnormals::kKeep &&
      alg.addend_flush == AddendFlush::kAtEntry && alg.addend_subnormals != alg.output_subnormals;
  return consecutive && !flushes;
}

}  // namespace

std::string WhyNoChain(const Model& one, int executions) {
  if (executions == 1) return "";
  if (IsAbsent(one.c)) return "it has no addend";
  if (std::string_view(one.c.name) != one.d.name) {
    return std::string("its result is ") + one.d.name + ", but its addend is " + one.c.name;
  }
  if (executions < 1 || one.k * one.executions > kMaxK / executions) {
    return "a chain has 1.." + std::to_string(kMaxK) + " products";
  }
  return "";
}

Model Chain(const Model& one, int executions) {
  if (!WhyNoChain(one, executions).empty()) {
    std::fputs("Chain() of a model that cannot be chained\n", stderr);
    std::abort();  // the caller did not check WhyNoChain(): programmer error
  }
  Model chain = one;
  chain.k *= executions;
  chain.executions *= executions;
  return chain;
}

std::optional<Model> AsOneExecution(const Model& chain) {
  Model one = OneExecution(chain);
  if (chain.executions > 1 && !HasEqualSteps(one)) return std::nullopt;
  one.k = chain.k;
  return one;
}

}  // namespace mmadiff

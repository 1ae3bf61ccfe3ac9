#include "triage/race/racer.h"

#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "device/status_macros.h"
#include "sim/chain.h"
#include "sim/sparsity.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

std::string Escaped(absl::string_view text) { return absl::CHexEscape(text.substr(0, 1000)); }

std::string Formats(const Model& m) {
  if (IsAbsent(m.b)) return absl::StrCat(m.d.name, " of ", m.a.name);
  std::string text =
      absl::StrCat(m.d.name, " = ", m.a.name, " x ", m.b.name, " + ", m.c.name, ", k=", m.k);
  if (m.scale_block > 0) {
    absl::StrAppend(&text, ", ", m.scale.name, " scales of ", m.scale_block);
  }
  if (IsSparse(m)) absl::StrAppend(&text, ", ", SparsityText(m), " sparse");
  return text;
}

}  // namespace

Racer RacerOf(const Operation& op) { return {op.name, &op, op.model}; }

absl::StatusOr<Racer> ParseRacer(absl::string_view text) {
  const Operation* op = FindOperation({text.data(), text.size()}, Models::kOptional);
  if (op == nullptr) return absl::InvalidArgumentError(WhyNoOperation(Escaped(text)));
  if (!IsModelled(*op)) {
    return absl::NotFoundError(absl::StrCat(
        op->name, " has no model (", Text(op->numerics->evidence), ") and cannot be compared"));
  }
  return RacerOf(*op);
}

Racer ChainedRacer(const Racer& racer, int k) {
  const int executions = k / racer.model.k;
  if (k % racer.model.k != 0 || executions == 1 || !WhyNoChain(racer.model, executions).empty())
    return racer;
  const Model chain = Chain(racer.model, executions);
  return {absl::StrCat(executions, " x ", racer.name), racer.op,
          AsOneExecution(chain).value_or(chain)};
}

std::string WhyNotComparable(const Model& x, const Model& y) {
  Model same = y;
  same.algorithm = x.algorithm;
  same.executions = x.executions;
  if (SameModel(x, same)) return "";
  return absl::StrCat("no input fits both: ", Formats(x), " versus ", Formats(y));
}

bool Tell(const Racer& x, uint64_t of_x, const Racer& y, uint64_t of_y) {
  return !SameResult(*x.op, of_x, of_y) && !SameResult(*y.op, of_x, of_y);
}

NanVerdict CommonNanVerdict(const Racer& x, const Racer& y) {
  const NanVerdict of_x = x.op->numerics->nan_verdict;
  return of_x == NanVerdict::kBits ? y.op->numerics->nan_verdict : of_x;
}

}  // namespace mmadiff

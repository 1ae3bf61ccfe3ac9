#include "fuzz/unit/lowerings.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "corpus/cases/case_name.h"
#include "device/status_macros.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

constexpr size_t kKernelsAtATime = 24;  // of a call of ptxas

// The texts of these operations' modules: one for all, or one each if the assembler rejects that.
std::vector<absl::StatusOr<std::string>> TextsOf(const sass::Toolchain& tools,
                                                 std::span<const OperationLowerings> ops) {
  std::vector<ModuleEntry> entries;
  for (const OperationLowerings& o : ops) entries.push_back({*o.op->instruction});
  const auto all = sass::AssembledText(tools, entries);
  if (all.ok()) return std::vector<absl::StatusOr<std::string>>(ops.size(), all);
  std::vector<absl::StatusOr<std::string>> texts;
  for (const ModuleEntry& entry : entries) texts.push_back(sass::AssembledText(tools, {&entry, 1}));
  return texts;
}

// Adds what one version makes of the operation.
absl::Status AddLowering(const absl::StatusOr<std::string>& text, const sass::Toolchain& tools,
                         const std::string& ptxas, const sass::Natives& natives, uint64_t cases,
                         OperationLowerings& o) {
  RETURN_IF_ERROR(text.status());
  const Instruction& i = *o.op->instruction;
  ASSIGN_OR_RETURN(const sass::KernelCode code, sass::Find(*text, *tools.target, i, {}));
  const CaseStream stream = {o.op, &Strategies().front(), 1};
  Batch batch;
  Generate(stream, 0, static_cast<int64_t>(cases), batch);
  ASSIGN_OR_RETURN(sass::Lowering lowering, sass::LoweringOf(code, i, natives, batch));
  RETURN_IF_ERROR(sass::CheckWaits(code, i, natives, batch));
  FoundLowering found = {lowering, {tools.version}, ptxas};
  RETURN_IF_ERROR(sass::Run(
      code, i, natives, batch, [] { return false; }, found.answers));
  const auto known = std::ranges::find_if(o.found, [&](const FoundLowering& f) {
    return f.lowering.name == lowering.name && f.answers == found.answers;
  });
  if (known != o.found.end()) {
    known->versions.push_back(tools.version);
    return absl::OkStatus();
  }
  const Comparison comparison = Compare(*o.op, batch, found.answers);
  found.dot_products = batch.dot_products();
  const auto case_of = [&](size_t element) {
    return FormatCaseName({stream, element / o.op->shape().d_words()});
  };
  if (!comparison.differing.empty()) found.differs = case_of(comparison.differing.front());
  if (!o.found.empty()) {
    const auto& first = o.found.front().answers;
    const auto at = std::ranges::mismatch(first, found.answers);
    o.from_first.push_back(at.in1 == first.end() ? "" : case_of(at.in1 - first.begin()));
  }
  o.found.push_back(std::move(found));
  return absl::OkStatus();
}

}  // namespace

absl::Status FindLowerings(const LoweringOptions& options, const PtxTarget& target,
                           std::span<OperationLowerings> operations) {
  const sass::Natives natives(target.arch);
  const std::vector<std::string> wanted =
      options.ptxas.empty() ? std::vector<std::string>{""} : options.ptxas;
  for (const std::string& ptxas : wanted) {
    ASSIGN_OR_RETURN(const sass::Toolchain tools,
                     sass::FindToolchain(target.target, ptxas, options.level));
    for (size_t first = 0; first < operations.size(); first += kKernelsAtATime) {
      const std::span<OperationLowerings> part =
          operations.subspan(first, std::min(kKernelsAtATime, operations.size() - first));
      const auto texts = TextsOf(tools, part);
      for (size_t i = 0; i < part.size(); ++i) {
        const absl::Status s = AddLowering(texts[i], tools, ptxas, natives, options.cases, part[i]);
        if (s.ok()) continue;
        const bool rejected = absl::IsUnimplemented(texts[i].status());
        part[i].failed[tools.version] = {std::string(s.message()), rejected};
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace mmadiff

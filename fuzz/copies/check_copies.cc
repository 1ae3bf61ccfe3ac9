#include "fuzz/copies/check_copies.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "device/status_macros.h"
#include "sim/copy/copy_field.h"
#include "triage/copies/copy_mismatch.h"
#include "triage/copies/minimize_copy.h"

namespace mmadiff {
namespace {

// The result of the device, and its mismatch with the model.
class ComparedCopy {
 public:
  explicit ComparedCopy(CopyDevice& device) : device_(device) {}

  absl::StatusOr<std::optional<CopyMismatch>> Run(const TensorCopy& copy,
                                                  const CopyMemory& memory) {
    Execute(copy, {}, memory, model_);
    RETURN_IF_ERROR(device_.Run(copy, memory, result_));
    return Compare(model_, result_);
  }
  const CopyResult& model() const { return model_; }
  const CopyResult& result() const { return result_; }

 private:
  CopyDevice& device_;
  CopyResult model_, result_;
};

absl::StatusOr<CopyFinding> Investigate(CopyDevice& device, const CopyTask& task,
                                        const CopyCase& found) {
  ComparedCopy comparison(device);
  absl::Status failed;
  const auto differs = [&](const TensorCopy& copy) {
    const auto mismatch = comparison.Run(copy, found.memory);
    if (!mismatch.ok()) failed = mismatch.status();
    return mismatch.ok() && mismatch->has_value();
  };
  const TensorCopy simple = MinimizedCopy(found.copy, task.arch, kCopyWindow, differs);
  RETURN_IF_ERROR(failed);
  ASSIGN_OR_RETURN(const auto mismatch, comparison.Run(simple, found.memory));
  if (!mismatch.has_value()) return absl::DataLossError("the device's answer does not repeat");
  CopyFinding finding;
  finding.minimized = FieldsText(simple);
  finding.where = Text(simple, found.memory, *mismatch, comparison.result(), kCopyWindow);
  return finding;
}

}  // namespace

absl::StatusOr<CopyRow> CheckCopies(CopyDevice& device, const CopyTask& task) {
  CopyRow row = {.form = absl::StrCat(task.arch, "/", task.form->name)};
  ComparedCopy compared(device);
  std::vector<CopyChange> explanations;
  CopyCase first;
  const int64_t cases = task.described.has_value() ? 1 : task.cases;
  for (int64_t i = 0; i < cases; ++i) {
    const CopyCaseName name = {task.arch, task.form, task.seed, static_cast<uint64_t>(i)};
    const CopyCase c = task.described.has_value() ? *task.described : GenerateCopy(name);
    ASSIGN_OR_RETURN(const auto mismatch, compared.Run(c.copy, c.memory));
    ++row.cases;
    row.bytes += std::ranges::count(compared.model().specified, 1);
    if (!mismatch.has_value()) continue;
    if (row.mismatches++ == 0) {
      explanations = CopyNeighbors();
      first = c;
      row.first.emplace();
      if (!task.described.has_value()) row.first->name = FormatCopyCase(name);
    }
    std::erase_if(explanations, [&](const CopyChange& change) {
      return !Explains(change, c.copy, c.memory, compared.model(), compared.result());
    });
  }
  if (!row.first.has_value()) return row;
  const std::string name = row.first->name;
  ASSIGN_OR_RETURN(row.first, Investigate(device, task, first));
  row.first->name = name;
  for (const CopyChange& change : explanations) row.first->explanations.push_back(Name(change));
  return row;
}

}  // namespace mmadiff

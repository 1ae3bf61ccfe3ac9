#include "triage/race/recorded_pool.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "corpus/recordings/recording.h"
#include "device/status_macros.h"

namespace mmadiff {
namespace {

constexpr size_t kMaxOfOperation = 1 << 14;
constexpr int64_t kOfRecording = 8;

}  // namespace

absl::StatusOr<std::vector<PoolCase>> RecordedPool(const std::string& path,
                                                   const std::vector<const Operation*>& ops) {
  std::vector<PoolCase> pool;
  std::vector<size_t> counts(ops.size(), 0);
  const auto stats = ReadRecordings(path, "", [&](const Recording& r) -> absl::Status {
    const size_t op = std::ranges::find(ops, r.op) - ops.begin();
    if (op == ops.size() || counts[op] >= kMaxOfOperation) return absl::OkStatus();
    ASSIGN_OR_RETURN(const Batch inputs, InputsOf(r));
    const int64_t step = std::max<int64_t>(1, inputs.shape.d_words() / kOfRecording);
    for (int64_t i = 0; i < inputs.dot_products() && counts[op] < kMaxOfOperation; i += step) {
      pool.push_back({r.op, Extract(inputs, i), r.d[i]});
      ++counts[op];
    }
    return absl::OkStatus();
  });
  RETURN_IF_ERROR(stats.status());
  if (!pool.empty()) return pool;
  return absl::OutOfRangeError(absl::StrCat(path, ": no recorded dot product can be used"));
}

}  // namespace mmadiff

#include "fuzz/cli/protocol.h"

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "absl/strings/str_cat.h"

namespace mmadiff {
namespace {

constexpr size_t kPortion = 4096;

}  // namespace

absl::Status ReadStdin(const Row& row, bool with_results,
                       const std::function<absl::Status(const Portion&)>& deliver) {
  std::vector<DotProductCase> dots;
  Portion portion;
  const auto flush = [&]() -> absl::Status {
    if (dots.empty()) return absl::OkStatus();
    portion.batch = MakeDotProductBatch(row.shape(), dots);
    absl::Status status = deliver(portion);
    dots.clear();
    portion.d.clear();
    portion.line.clear();
    return status;
  };
  char* buffer = nullptr;
  size_t capacity = 0;
  uint64_t number = 0;
  absl::Status status;
  for (ssize_t length; status.ok() && (length = getline(&buffer, &capacity, stdin)) >= 0;) {
    ++number;
    absl::string_view text(buffer, length);
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
    if (IsComment(text)) continue;
    absl::StatusOr<ProtocolLine> line = ParseLine(*row.instruction, text);
    if (!line.ok()) {
      status = absl::InvalidArgumentError(
          absl::StrCat("stdin line ", number, ": ", line.status().message()));
    } else if (with_results && !line->d.has_value()) {
      status = absl::InvalidArgumentError(absl::StrCat(
          "stdin line ", number, ": the result d is missing; check reads a.. b.. c d"));
    } else {
      dots.push_back(std::move(line->dot));
      portion.d.push_back(line->d.value_or(0));
      portion.line.push_back(number);
      if (dots.size() == kPortion) status = flush();
    }
  }
  std::free(buffer);
  absl::Status last = flush();  // what was good before a bad line is still used
  return status.ok() ? last : status;
}

}  // namespace mmadiff

#include "triage/probe/modes.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "corpus/cases/case_name.h"
#include "device/line_protocol.h"
#include "device/status_macros.h"
#include "triage/probe/twice.h"

namespace mmadiff {
namespace {

constexpr size_t kCases = 1024, kOfTile = 8;

// A few dot products from tiles of every class.
std::vector<DotProductCase> Cases(const Operation& op) {
  std::vector<DotProductCase> cases;
  Batch tile;
  for (uint64_t index = 0; cases.size() < kCases && GenerateClass(op, "*", index, tile); ++index) {
    const int64_t all = tile.dot_products(), count = std::min<int64_t>(all, kOfTile);
    for (int64_t i = 0; i < count; ++i) {
      cases.push_back(Extract(tile, (i * (all / count) + static_cast<int64_t>(index)) % all));
    }
  }
  return cases;
}

class InMode {
 public:
  InMode(Device& device, const std::string& mode) : device_(device) { device_.SetMode(mode); }
  ~InMode() { device_.SetMode(""); }
  InMode(const InMode&) = delete;
  InMode& operator=(const InMode&) = delete;

 private:
  Device& device_;
};

}  // namespace

absl::StatusOr<ProbeAnswer> AskModes(Device& device, const Operation& op,
                                     const Question& question) {
  const std::vector<DotProductCase> dots = Cases(op);
  const Batch batch = MakeDotProductBatch(op.shape(), dots);
  ASSIGN_OR_RETURN(const std::vector<uint64_t> plain, RunTwice(device, op, batch));
  ProbeAnswer answer = {
      .question = &question, .decides = "reads none of them", .cases = dots.size()};
  std::vector<std::string> unread, read;
  const auto ask = [&](const std::string& mode) {
    const InMode in(device, mode);
    answer.cases += dots.size();
    return RunTwice(device, op, batch);
  };
  std::string first;  // the first that changed
  for (const std::string& mode : device.Modes()) {
    ASSIGN_OR_RETURN(const auto d, ask(mode));
    size_t changed = 0;
    for (size_t i = 0; i < dots.size(); ++i) {
      if (d[i] == plain[i] || changed++ > 0 || !first.empty()) continue;
      first = absl::StrCat(FormatLine(*op.instruction, dots[i], plain[i]), " becomes ",
                           HexWord(*op.instruction->d, d[i]), " with ", mode);
    }
    if (changed == 0) unread.push_back(mode);
    if (changed > 0) read.push_back(absl::StrCat(mode, " changes ", changed));
    if (changed > 0) answer.facts.push_back(absl::StrCat(mode, " ", changed));
  }
  ASSIGN_OR_RETURN(const auto again, ask(""));
  if (again != plain) {
    return absl::AbortedError("different answers to the same inputs in the same mode");
  }
  for (size_t i = 0; i < dots.size(); ++i) answer.observed.push_back({dots[i], plain[i]});
  const std::string change_none = absl::StrJoin(unread, ", ") + " change none";
  if (read.empty()) {
    answer.answer = absl::StrCat(change_none, " of ", dots.size());
    if (!IsModelled(op)) answer.agreement = Agreement::kOpen;
  } else {
    answer.answer = absl::StrCat(absl::StrJoin(read, ", "), " of ", dots.size(),
                                 unread.empty() ? "" : "; " + change_none);
    answer.agreement = Agreement::kOpen;
    answer.decides = absl::StrCat("all other answers here are for the startup modes: ", first);
  }
  return answer;
}

}  // namespace mmadiff

#include "fuzz/folder/finding_life.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "corpus/stored_files.h"
#include "device/status_macros.h"
#include "fuzz/folder/findings.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

using enum FindingState;

// The next state, by state and result of the replay. An equal answer proves nothing about a flaky
// finding.
constexpr FindingState kNext[][3] = {{kFixed, kOpen, kFlaky},
                                     {kFixed, kExplained, kFlaky},
                                     {kFixed, kRegressed, kFlaky},
                                     {kFlaky, kOpen, kFlaky},
                                     {kFixed, kRegressed, kFlaky}};

constexpr FindingState kByUrgency[] = {kRegressed, kOpen, kFlaky, kExplained, kFixed};

auto Urgency(FindingState state) { return std::ranges::find(kByUrgency, state); }

// Whether a device moved it. True also if the file does not name the mover.
bool MovedByDevice(const RegressionCase& c) {
  return c.state != kOpen && c.state != kExplained && c.moved_by.kind != MovedBy::kRun &&
         c.moved_by.kind != MovedBy::kModel;
}

}  // namespace

bool IsFinding(const RegressionCase& c) {
  const auto predicts = [](const Answer& answer) { return answer.IsPrediction(); };
  const auto model = std::ranges::find_if(c.answers, predicts);
  if (!c.bucket || model == c.answers.end()) return false;
  if (c.no_word) return true;
  return std::ranges::any_of(c.answers, [&](const Answer& answer) {
    return !answer.IsPrediction() &&
           !std::ranges::equal(answer.d, model->d,
                               [&c](uint64_t x, uint64_t y) { return SameResult(*c.op, x, y); });
  });
}

FindingState StateOf(const RegressionCase& c) {
  const bool never_moved = c.state == kOpen && c.moved_by.kind == MovedBy::kNobody;
  return never_moved && c.bucket.repetition == Repetition::kFlaky ? FindingState::kFlaky : c.state;
}

FindingState MoreUrgent(FindingState x, FindingState y) {
  return std::ranges::min(x, y, {}, Urgency);
}

FindingState NextState(const RegressionCase& c, Replayed said, absl::string_view device) {
  const FindingState state = StateOf(c);
  if (device.empty() && (MovedByDevice(c) || state == FindingState::kFlaky)) return state;
  return kNext[static_cast<int>(state)][static_cast<int>(said)];
}

std::string MovesText(const std::vector<FindingMove>& moves) {
  std::map<std::pair<FindingState, FindingState>, int> counts;
  for (const FindingMove& move : moves) ++counts[{move.from, move.to}];
  std::string text;
  for (const auto& [move, count] : counts) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", count, " from ", Name(move.first), " to ",
                    Name(move.second));
  }
  return text;
}

absl::StatusOr<std::vector<FiledFinding>> ListFindings(const std::vector<std::string>& folders,
                                                       std::vector<std::string>& damaged,
                                                       Ledger& ledger) {
  std::vector<FiledFinding> all;
  for (const std::string& folder : folders) {
    ASSIGN_OR_RETURN(const CasesBelow below, ReadStoredCases(folder, ledger));
    damaged.insert(damaged.end(), below.damaged.begin(), below.damaged.end());
    std::map<std::pair<std::string, std::string>, FiledFinding> of_folder;
    for (const auto& [path, c] : below.cases) {
      if (!c.bucket) continue;
      FiledFinding& f = of_folder[{c.op->name, Name(c.bucket)}];
      ++f.cases;
      if (f.shown.empty() || !c.reason.empty()) f.shown = ShownName(c.bucket, c.reason);
      if (!IsFinding(c)) continue;
      if (f.path.empty() || IsMinimal(c)) f.path = path;
      f.state = MoreUrgent(f.state, StateOf(c));
    }
    for (auto& [key, f] : of_folder) {
      if (f.path.empty()) continue;  // supporting cases without their finding
      std::tie(f.op, f.bucket) = key;
      all.push_back(std::move(f));
    }
  }
  const auto key = [](const FiledFinding& f) {
    return std::tuple(Urgency(f.state), f.op, f.bucket, f.path);
  };
  std::ranges::sort(all, {}, key);
  return all;
}

}  // namespace mmadiff

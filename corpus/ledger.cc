#include "corpus/ledger.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace mmadiff {
namespace {

struct ThingText {
  const char *name, *several;
};
constexpr ThingText kThingTexts[] = {{"operation", "rows"}, {"question", "questions"},
                                     {"file", "files"},     {"case", "cases"},
                                     {"unit", "units"},     {"finding", "findings"}};
static_assert(std::size(kThingTexts) == kThings);

struct ReasonText {
  const char *name, *text;
};
constexpr ReasonText kReasonTexts[] = {
    {"other_shard", "they are in a different shard"},
    {"not_sampled", "they are not in the sample"},
    {"not_selected", "they were not selected"},
    {"no_model", "they have no model"},
    {"no_arithmetic", "nothing is known of their arithmetic"},
    {"device_lacks", "the device lacks them"},
    {"not_recorded", "the recording has no answer"},
    {"does_not_apply", "they do not apply"},
    {"not_offered", "the device does not offer them"},
    {"unknown_here", "this version does not have them"},
    {"prediction", "they hold the model's own answers"},
    {"dropped", "they were dropped"},
    {"does_not_repeat", "their answers do not repeat"},
    {"damaged", "they are damaged"},
    {"not_understood", "they are not understood"},
    {"other_run", "they belong to a different run"},
    {"not_reached", "they were not reached"},
    {"mismatch_limit", "enough mismatches were found (--max_mismatches)"},
    {"too_slow", "they take this device too long"},
    {"contradicted", "their row is contradicted already"},
};
static_assert(std::size(kReasonTexts) == kReasons);

const ThingText& TextOf(Thing thing) { return kThingTexts[static_cast<int>(thing)]; }
const ReasonText& TextOf(Reason reason) { return kReasonTexts[static_cast<int>(reason)]; }

constexpr size_t kShownNames = 3;

std::string NamesText(const Ledger::Line& line) {
  if (line.names.empty()) return "";
  const size_t shown = std::min(line.names.size(), kShownNames);
  return absl::StrCat(" (", absl::StrJoin(line.names.begin(), line.names.begin() + shown, ", "),
                      line.count > shown ? ", ...)" : ")");
}

}  // namespace

const char* Name(Thing thing) { return TextOf(thing).name; }
const char* Name(Reason reason) { return TextOf(reason).name; }

void Ledger::Ask(Thing thing, absl::string_view name, bool exact) {
  Entry& entry = named_[{thing, std::string(name)}];
  entry.asked = true;
  entry.exact |= exact;
}

void Ledger::Compare(Thing thing, absl::string_view name) {
  named_[{thing, std::string(name)}].compared = true;
}

void Ledger::Leave(const LeftOut& one) {
  Entry& entry = named_[{one.thing, one.name}];
  entry.exact |= one.exact;
  if (entry.left.has_value()) return;
  entry.left = one.reason;
  entry.detail = one.detail;
}

void Ledger::Count(Thing thing, uint64_t asked, uint64_t compared) {
  Many& many = many_[static_cast<int>(thing)];
  many.asked += asked;
  many.compared += compared;
}

void Ledger::LeaveMany(Thing thing, Reason reason, uint64_t count) {
  many_[static_cast<int>(thing)].left[static_cast<int>(reason)] += count;
}

Ledger::Tally Ledger::tally(Thing thing) const {
  const Many& many = many_[static_cast<int>(thing)];
  Tally tally = {many.asked, many.compared,
                 std::accumulate(std::begin(many.left), std::end(many.left), uint64_t{0})};
  for (const auto& [key, entry] : named_) {
    if (key.first != thing) continue;
    tally.asked += entry.asked;
    tally.compared += entry.compared;
    tally.left += !entry.compared && entry.left.has_value();
  }
  return tally;
}

bool Ledger::Balances() const {
  for (const auto& [key, entry] : named_) {
    if (!entry.asked || !(entry.compared || entry.left.has_value())) return false;
  }
  for (int thing = 0; thing < kThings; ++thing) {
    const Tally tally = this->tally(static_cast<Thing>(thing));
    if (tally.asked != tally.compared + tally.left) return false;
  }
  return true;
}

std::vector<Ledger::Line> Ledger::lines() const {
  std::map<std::tuple<Thing, Reason, bool>, Line> lines;
  const auto add = [&lines](Thing thing, Reason reason, bool exact, uint64_t count) -> Line& {
    Line& line =
        lines.try_emplace({thing, reason, exact}, Line{thing, reason, exact}).first->second;
    line.count += count;
    return line;
  };
  for (const auto& [key, entry] : named_) {
    if (entry.compared || !entry.left.has_value()) continue;
    Line& line = add(key.first, *entry.left, entry.exact, 1);
    if (line.names.size() < kMostNames) line.names.push_back(key.second);
    if (line.detail.empty()) line.detail = entry.detail;
  }
  for (int thing = 0; thing < kThings; ++thing) {
    for (int reason = 0; reason < kReasons; ++reason) {
      const uint64_t count = many_[thing].left[reason];
      if (count > 0) add(static_cast<Thing>(thing), static_cast<Reason>(reason), false, count);
    }
  }
  std::vector<Line> all;
  for (auto& [key, line] : lines) all.push_back(std::move(line));
  return all;
}

std::string Ledger::Text() const {
  std::string text;
  for (const Line& line : lines()) {
    absl::StrAppend(&text, line.count, " of ", tally(line.thing).asked, " ",
                    TextOf(line.thing).several, " left out: ", TextOf(line.reason).text,
                    NamesText(line), line.detail.empty() ? "" : ": ", line.detail, "\n");
  }
  return text;
}

}  // namespace mmadiff

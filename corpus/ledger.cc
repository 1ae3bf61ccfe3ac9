#include "corpus/ledger.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"

namespace mmadiff {
namespace {

constexpr size_t kShownNames = 3;

struct ThingText {
  const char *name, *one, *several;
};
constexpr ThingText kThingTexts[] = {{"instruction", "instruction", "instructions"},
                                     {"question", "question", "questions"},
                                     {"file", "file", "files"},
                                     {"case", "case", "cases"},
                                     {"unit", "unit", "units"},
                                     {"finding", "finding", "findings"}};
static_assert(std::size(kThingTexts) == kThings);

struct ReasonText {
  const char *name, *text;  // "$0" is "it" or "them"
};
constexpr ReasonText kReasonTexts[] = {
    {"other_shard", "in a different shard"},
    {"not_sampled", "not in the sample"},
    {"not_selected", "not selected"},
    {"no_formats", "this version has no operand formats for $0"},
    {"only_in_one", "the other side lacks $0"},
    {"no_model", "no model is known for $0"},
    {"no_arithmetic", "nothing is known about the arithmetic"},
    {"device_lacks", "the device lacks $0"},
    {"conversion", "conversions, which the device does not claim to have"},
    {"cannot_start", "the program for $0 cannot be started"},
    {"not_recorded", "the recording has no answers for $0"},
    {"does_not_apply", "not applicable"},
    {"not_offered", "the device has no modes to set"},
    {"unknown_here", "this version does not have $0"},
    {"prediction", "the model's own answers"},
    {"dropped", "dropped"},
    {"does_not_repeat", "answers that do not repeat"},
    {"damaged", "damaged"},
    {"not_understood", "not understood"},
    {"other_file", "not mmadiff files"},
    {"not_followed", "links to folders are not followed"},
    {"temporary", "temporary, left by a killed process"},
    {"no_answers", "no answers in $0"},
    {"other_run", "from a different run"},
    {"not_reached", "not reached"},
    {"mismatch_limit", "enough mismatches were found (--max_mismatches)"},
    {"too_slow", "the device is too slow for $0"},
    {"contradicted", "the instruction is already contradicted"},
    {"not_needed", "the others decided"},
};
static_assert(std::size(kReasonTexts) == kReasons);

const ThingText& TextOf(Thing thing) { return kThingTexts[static_cast<int>(thing)]; }
const ReasonText& TextOf(Reason reason) { return kReasonTexts[static_cast<int>(reason)]; }

// A long list of files shows the first names. A long list of other things shows none, because a
// glob named them.
std::string NamesText(const LeftOutLine& line) {
  const bool many = !line.exact && line.count > kShownNames;
  if (line.names.empty() || (many && line.thing != Thing::kFile)) return "";
  const size_t shown = many ? std::min(kShownNames, line.names.size()) : line.names.size();
  return absl::StrCat(" (", absl::StrJoin(line.names.begin(), line.names.begin() + shown, ", "),
                      many ? ", ...)" : ")");
}

}  // namespace

const char* Name(Thing thing) { return TextOf(thing).name; }
const char* Name(Reason reason) { return TextOf(reason).name; }

std::optional<Thing> ParseThing(absl::string_view name) {
  for (int i = 0; i < kThings; ++i) {
    if (name == kThingTexts[i].name) return static_cast<Thing>(i);
  }
  return std::nullopt;
}

std::optional<Reason> ParseReason(absl::string_view name) {
  for (int i = 0; i < kReasons; ++i) {
    if (name == kReasonTexts[i].name) return static_cast<Reason>(i);
  }
  return std::nullopt;
}

bool IsSaidElsewhere(const LeftOutLine& line) {
  switch (line.reason) {
    case Reason::kDropped:
    case Reason::kDoesNotRepeat:
    case Reason::kNotReached:
    case Reason::kOtherShard:
    case Reason::kMismatchLimit:
    case Reason::kNotNeeded:
      return true;
    case Reason::kNoAnswers:  // in a run folder
      return line.count < line.asked;
    case Reason::kDoesNotApply:  // the operation's questions already have lines
      return line.thing == Thing::kOperation;
    default:
      return false;
  }
}

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

void Ledger::LeaveRest(Thing thing, Reason reason) {
  for (auto& [key, entry] : named_) {
    if (key.first == thing && !entry.compared && !entry.left) entry.left = reason;
  }
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

std::string Ledger::Unbalanced() const {
  for (const auto& [key, entry] : named_) {
    if (entry.asked && (entry.compared || entry.left.has_value())) continue;
    return absl::StrCat(TextOf(key.first).one, " ", key.second);
  }
  for (int thing = 0; thing < kThings; ++thing) {
    const Tally tally = this->tally(static_cast<Thing>(thing));
    if (tally.asked == tally.compared + tally.left) continue;
    return absl::StrCat(tally.asked, " ", kThingTexts[thing].several, ", ", tally.compared,
                        " compared, ", tally.left, " left out");
  }
  return "";
}

std::vector<LeftOutLine> Ledger::lines() const {
  std::map<std::tuple<Thing, Reason, bool>, LeftOutLine> lines;
  const auto add = [&](Thing thing, Reason reason, bool exact, uint64_t count) -> LeftOutLine& {
    LeftOutLine& line =
        lines.try_emplace({thing, reason, exact}, LeftOutLine{thing, reason, exact}).first->second;
    line.count += count;
    return line;
  };
  for (const auto& [key, entry] : named_) {
    if (entry.compared || !entry.left.has_value()) continue;
    LeftOutLine& line = add(key.first, *entry.left, entry.exact, 1);
    if (line.names.size() < LeftOutLine::kMaxNames) line.names.push_back(key.second);
    if (line.detail.empty()) line.detail = entry.detail;
  }
  for (int thing = 0; thing < kThings; ++thing) {
    for (int reason = 0; reason < kReasons; ++reason) {
      const uint64_t count = many_[thing].left[reason];
      if (count > 0) add(static_cast<Thing>(thing), static_cast<Reason>(reason), false, count);
    }
  }
  std::vector<LeftOutLine> all;
  for (auto& [key, line] : lines) {
    line.asked = tally(line.thing).asked;
    all.push_back(std::move(line));
  }
  return all;
}

std::string Text(const LeftOutLine& line) {
  const ThingText& thing = TextOf(line.thing);
  const bool all = line.count == line.asked;
  const std::string left_out = line.asked == 1 ? absl::StrCat("1 ", thing.one, " left out")
                                               : absl::StrCat(line.count, " of ", line.asked, " ",
                                                              thing.several, " left out");
  // The device's own sentence is enough if it names the instruction.
  if (line.exact && line.reason == Reason::kDeviceLacks && line.count == 1 &&
      line.names.size() == 1 && absl::StrContains(line.detail, line.names.front())) {
    return absl::StrCat(left_out, ": ", line.detail);
  }
  return absl::StrCat(left_out, line.exact ? ", although named: " : ": ",
                      absl::Substitute(TextOf(line.reason).text, line.count == 1 ? "it" : "them"),
                      NamesText(line),
                      line.detail.empty() || !(line.exact || all) ? "" : ": " + line.detail);
}

}  // namespace mmadiff

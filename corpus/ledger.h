// Accounts for everything that a verb must process. Each thing is either compared or left
// out for a reason: for each Thing, asked = compared + left out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace mmadiff {

enum class Thing : uint8_t {
  kOperation,  // a row, with its variant
  kQuestion,   // for one row
  kFile,       // named, or found in a folder
  kCase,       // regression cases, vectors, lines of a stream
  kUnit,       // from a run or recorded digests
  kFinding,
};
inline constexpr int kThings = 6;

enum class Reason : uint8_t {
  // Excluded by the user.
  kOtherShard,
  kNotSampled,   // --sample, --every, --unit
  kNotSelected,  // --instr for a folder, --question, --most
  // Cannot be queried on this device.
  kNoFormats,     // the tables have only its name
  kOnlyInOne,     // when two things are compared
  kNoModel,       // nothing to compare with
  kNoArithmetic,  // not even a hypothesis
  kDeviceLacks,
  kConversion,    // globs leave conversions out if the device does not have them
  kCannotStart,   // the program of an exec: device
  kNotRecorded,   // recorded:PATH has no answer
  kDoesNotApply,  // a question, to this row
  kNotOffered,    // this device has no such mode or variant
  kUnknownHere,   // a stored row that this version does not have
  kPrediction,    // a stored answer of the model itself
  // Went wrong.
  kDropped,  // the dispatcher's error gives the reason
  kDoesNotRepeat,
  kDamaged,
  kNotUnderstood,  // its name is one of ours but its contents are not
  kOtherFile,      // not written by mmadiff
  kNotFollowed,    // a link to a folder
  kTemporary,      // left by a killed process
  kNoAnswers,      // for example, a file of a run
  kOtherRun,
  // Not done yet, or not worth doing.
  kNotReached,     // time, signal, full folder, budget
  kMismatchLimit,  // --max_mismatches
  kTooSlow,        // a question that would take a slow device hours
  kContradicted,   // pairs of a row that already differs
  kNotNeeded,      // the others decided
};
inline constexpr int kReasons = 29;

// The words in JSON and in stored files: "instruction", "device_lacks".
const char* Name(Thing thing);
const char* Name(Reason reason);
// nullopt for any other word.
std::optional<Thing> ParseThing(absl::string_view name);
std::optional<Reason> ParseReason(absl::string_view name);

// `exact`: the user named it without a wildcard, so leaving it out is an error.
struct LeftOut {
  Thing thing;
  Reason reason;
  std::string name;
  std::string detail = {};  // for people
  bool exact = false;
};

// Summary of the things left out for one reason.
struct LeftOutLine {
  static constexpr size_t kMaxNames = 100;

  Thing thing;
  Reason reason;
  bool exact;
  uint64_t count = 0, asked = 0;        // `count` of the `asked` things were left out
  std::vector<std::string> names = {};  // at most kMaxNames
  std::string detail = {};              // the first nonempty detail
  friend bool operator==(const LeftOutLine&, const LeftOutLine&) = default;
};
// Whether the verb itself already prints more about each thing, so this line is not printed.
bool IsSaidElsewhere(const LeftOutLine& line);
// "2 of 159 instructions left out: the device lacks them (sm_90/mma..., sm_90/mma...)". A long list
// of files shows the first names; a long list of other things shows none.
std::string Text(const LeftOutLine& line);

// The result of a filter. Only a ledger can take the kept part, and it also enters the rest, so a
// filter cannot drop anything silently.
template <class T>
class [[nodiscard]] Filtered {
 public:
  explicit Filtered(Thing thing) : thing_(thing) {}

  void Keep(T one, std::string name, bool exact = false) {
    kept_.push_back(std::move(one));
    names_.emplace_back(std::move(name), exact);
  }
  void Leave(Reason reason, std::string name, bool exact = false, std::string detail = "") {
    left_.push_back({thing_, reason, std::move(name), std::move(detail), exact});
  }

 private:
  friend class Ledger;
  Thing thing_;
  std::vector<T> kept_;
  std::vector<std::pair<std::string, bool>> names_;  // name of each kept_ and whether exact
  std::vector<LeftOut> left_;
};

class Ledger {
 public:
  // Enters a requested thing. Idempotent by thing and name, so filters can be chained.
  void Ask(Thing thing, absl::string_view name, bool exact = false);
  // Enters the outcome of a thing. Compared overrides left out; the first reason stays.
  void Compare(Thing thing, absl::string_view name);
  void Leave(const LeftOut& one);
  // Leaves out every thing that has no outcome yet.
  void LeaveRest(Thing thing, Reason reason);
  // For things without names of their own: lines, units.
  void Count(Thing thing, uint64_t asked, uint64_t compared);
  void LeaveMany(Thing thing, Reason reason, uint64_t count);

  template <class T>
  std::vector<T> Keep(Filtered<T> filtered) {
    for (const auto& [name, exact] : filtered.names_) Ask(filtered.thing_, name, exact);
    for (const LeftOut& one : filtered.left_) {
      Ask(one.thing, one.name, one.exact);
      Leave(one);
    }
    return std::move(filtered.kept_);
  }

  struct Tally {
    uint64_t asked = 0, compared = 0, left = 0;
  };
  Tally tally(Thing thing) const;
  // Whether asked = compared + left for every thing, and nothing else was compared or left out.
  bool Balances() const { return Unbalanced().empty(); }
  // The first thing that does not balance, for people; "" if everything balances.
  std::string Unbalanced() const;

  // One line per combination of thing, reason and `exact`, in this order.
  std::vector<LeftOutLine> lines() const;

 private:
  struct Entry {
    bool asked = false, exact = false, compared = false;
    std::optional<Reason> left = std::nullopt;
    std::string detail = {};
  };
  struct Many {
    uint64_t asked = 0, compared = 0, left[kReasons] = {};
  };
  std::map<std::pair<Thing, std::string>, Entry> named_;
  Many many_[kThings];
};

}  // namespace mmadiff

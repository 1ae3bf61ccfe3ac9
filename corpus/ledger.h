// Accounts for everything that a verb was asked to do: each thing is compared, or left out for a
// reason. For each Thing, asked = compared + left out.
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
  kQuestion,   // of one row
  kFile,       // named, or found in a folder
  kCase,       // regression cases, vectors, lines of a stream
  kUnit,       // of a run or of recorded digests
  kFinding,
};
inline constexpr int kThings = 6;

enum class Reason : uint8_t {
  // Excluded by the user.
  kOtherShard,
  kNotSampled,   // --sample, --every, --unit
  kNotSelected,  // --instr of a folder, --question, --most
  // Cannot be asked here.
  kNoFormats,     // the tables have its name alone
  kOnlyInOne,     // of two that are compared
  kNoModel,       // nothing to compare with
  kNoArithmetic,  // not even a hypothesis
  kDeviceLacks,
  kCannotStart,   // the program behind exec:
  kNotRecorded,   // recorded:PATH has no answer
  kDoesNotApply,  // a question, to this row
  kNotOffered,    // by this device: modes, variants
  kUnknownHere,   // a stored row that this version does not have
  kPrediction,    // a stored answer of the model itself
  // Went wrong.
  kDropped,  // the dispatcher's cause says why
  kDoesNotRepeat,
  kDamaged,
  kNotUnderstood,  // a file whose name says that it is one of ours, and its bytes do not
  kOtherFile,      // of somebody else
  kNotFollowed,    // a link to a folder
  kTemporary,      // a killed process left the file
  kNoAnswers,      // a file of a run, say
  kOtherRun,
  // Not done yet, or not worth doing.
  kNotReached,     // time, signal, full folder, budget
  kMismatchLimit,  // --max_mismatches
  kTooSlow,        // a question that takes a slow device hours
  kContradicted,   // pairs of a row that differs already
  kNotNeeded,      // others decided
};
inline constexpr int kReasons = 28;

// The words of JSON and of what is stored: "instruction", "device_lacks".
const char* Name(Thing thing);
const char* Name(Reason reason);
// Nothing for any other word.
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

// What was left out of a thing for a reason, summed up.
struct LeftOutLine {
  static constexpr size_t kMaxNames = 100;

  Thing thing;
  Reason reason;
  bool exact;
  uint64_t count = 0, asked = 0;        // of `asked` things `count`
  std::vector<std::string> names = {};  // at most kMaxNames
  std::string detail = {};              // the first that there is
  friend bool operator==(const LeftOutLine&, const LeftOutLine&) = default;
};
// Whether the verb itself says more of each, so that this line is not printed.
bool IsSaidElsewhere(const LeftOutLine& line);
// "2 of 159 instructions left out: the device lacks them (sm_90/mma..., sm_90/mma...)"; of many
// files the first names, of many other things none.
std::string Text(const LeftOutLine& line);

// The result of a filter. Only a ledger can take the kept part, and it enters the rest, so no filter
// can be silent.
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
  std::vector<std::pair<std::string, bool>> names_;  // of kept_, and whether exact
  std::vector<LeftOut> left_;
};

class Ledger {
 public:
  // Enters a thing that was asked for. Idempotent by thing and name, so filters can be chained.
  void Ask(Thing thing, absl::string_view name, bool exact = false);
  // What became of it. Compared wins over left out; of several reasons the first stays.
  void Compare(Thing thing, absl::string_view name);
  void Leave(const LeftOut& one);
  // All of which nothing became yet.
  void LeaveRest(Thing thing, Reason reason);
  // Things without names of their own: lines, units.
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
  // The first thing that does not balance, for people; "" if everything does.
  std::string Unbalanced() const;

  // A line for each thing, reason and whether exact, in this order.
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

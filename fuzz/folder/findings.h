// Handles mismatching cases: assigns a bucket; for a new bucket requests an investigation, files
// the cases worth keeping below the findings folder, and prints a report on stdout.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "corpus/case_folder.h"
#include "corpus/clue.h"
#include "corpus/regression_case.h"
#include "device/device.h"
#include "fuzz/ask/task.h"
#include "fuzz/output/console.h"
#include "triage/diagnosis/investigate.h"
#include "triage/explain.h"

namespace mmadiff {

bool IsMinimal(const RegressionCase& c);  // whether it is the main case of its finding

struct Finding {
  std::string op;  // ARCH/INSTRUCTION
  Bucket bucket;
  std::string case_name;            // first case
  std::string path;                 // path of the minimal case; empty if it could not be filed
  std::vector<std::string> beside;  // paths of the other cases that were kept
  std::string typical;              // one of these, with ordinary numbers; "" if there is no such
  std::string diagnosis;            // the search and its result, as text; may be empty
  std::string why = {};     // shortest note of the cases that `replay --why` explained; may be ""
  std::string shared;       // common property of the mismatches, as text; "" if none
  std::string reason = {};  // Device::Reason()
  std::vector<Clue> clues = {};  // only of an operation's first unexplained finding
  std::vector<Bucket> replaces;  // buckets that this one refutes; their files were removed
  uint64_t reports = 1;          // cases of the bucket that were diagnosed and reported alone
  uint64_t cases = 0;            // in this bucket and attempt; 0: filed by an earlier attempt
  bool unfixed = false;          // filed by an earlier attempt, and not all of it is fixed
  FindingState state = FindingState::kOpen;  // the most urgent of its cases
  std::string device = {};                   // specification of the device that answered
  int64_t spent = 0;  // executions after which the search was cut off; 0: it was completed

  bool flaky() const { return bucket.repetition == Repetition::kFlaky; }
};

// Adds a filed case to the finding of its bucket.
void AddFiled(const FiledCase& filed, std::vector<Finding>& findings);

class Findings {
 public:
  // `folder` receives the files. After `max_cases` mismatching cases an operation stops (0: no
  // limit). `print`: report each bucket on stdout when it is filed.
  Findings(std::string folder, uint64_t max_cases, bool print, Console& console)
      : folder_(std::move(folder)), max_cases_(max_cases), print_(print), console_(console) {}

  // Adds the findings of earlier attempts in the folder to list(). `own`: whether a case belongs to
  // this run. Returns an error line for each other case and each unreadable file.
  std::vector<std::string> LoadEarlier(absl::FunctionRef<bool(const RegressionCase&)> own);

  // Counts the case if a known change reproduces it. Otherwise returns a task to investigate it;
  // until File(), no other case of the operation may be considered.
  std::optional<InvestigateTask> Consider(const CaseName& name, const Mismatch& found);
  // Files the result; if the task failed, files the case as observed. kDataLoss: it could not be
  // filed.
  absl::Status File(const TaskResult& investigated);
  // Answers in findings of earlier attempts for the operation that are not fixed, at most `most`.
  std::vector<Observed> Earlier(const Operation& op, size_t most) const;
  // Mismatching cases left until the operation stops; none without a limit.
  std::optional<uint64_t> Left(const Operation& op) const;

  // The findings of this attempt, then those of earlier ones.
  std::vector<Finding> list() const;

 private:
  // Recognizes cases that were added recently: a slow device returns one case in several parts,
  // each with its own mismatches.
  class LastCases {
   public:
    bool Add(const CaseName& name) {
      if (std::ranges::find(last_, name.index) != last_.end()) return false;
      last_.push_back(name.index);
      if (last_.size() > kMax) last_.pop_front();
      return true;
    }

   private:
    static constexpr size_t kMax = 64;
    std::deque<uint64_t> last_;
  };
  struct Group {
    Finding finding;
    std::optional<Neighbour> change;    // reproduces all its cases,
    bool free_nans = false;             // except the bits of NaNs
    std::set<DifferenceClass> classes;  // GravestClass() of the investigated mismatches
    uint64_t age = 0;                   // for kAged: age of the process from which it differs
    LastCases last = {};                // for finding.cases

    void Count(const CaseName& name) { finding.cases += last.Add(name); }
  };
  // The state of one operation. Once an answer has no change that reproduces it together with the
  // others, later cases are only counted, except that a new class of difference is investigated.
  struct OfOperation {
    uint64_t cases = 0;
    std::list<Group> groups;         // by bucket, in the order of their first cases
    std::vector<Observed> observed;  // the relevant answers of the device
    std::vector<Observed> earlier;   // answers that earlier attempts filed, to execute again
    std::vector<Observed> unfixed;   // those of `earlier` in findings that are not fixed
    bool unexplained = false, clues = false;  // one was found; it has clues
    LastCases last;                           // for `cases`
  };

  // Counts the case in an existing group, if one covers it without an investigation.
  bool CountIfKnown(OfOperation& of_op, const CaseName& name, const Mismatch& found) const;
  // Updates the group with the result of the investigation. Returns the cases to keep.
  std::vector<KeptCase> Learn(OfOperation& of_op, const InvestigateTask& task,
                              const InvestigateAnswer& answer, Group& group) const;
  // Whether the group's change, which reproduces all answers of the operation, absorbs the other
  // finding.
  static bool Replaces(const Group& group, const Finding& other);
  // Adds a group, or adds its case to the group of the same bucket.
  void Join(OfOperation& of_op, const InvestigateTask& task, Group group);

  const std::string folder_;
  const uint64_t max_cases_;
  const bool print_;
  Console& console_;
  std::vector<Finding> earlier_;
  std::map<std::string, OfOperation> ops_;
};

// The case to file. `device`, `identity`: name of the device, and IdentityFor() the operation.
RegressionCase ToRegressionCase(const KeptCase& kept, absl::string_view device,
                                absl::string_view identity, absl::string_view source);
// Files the cases below the folder and names them in the finding, the first one as its path.
// kDataLoss: a file could not be written.
absl::Status FileCases(const std::vector<KeptCase>& cases, absl::string_view identity,
                       const std::string& folder, Finding& finding);

}  // namespace mmadiff

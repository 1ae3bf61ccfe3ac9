// What becomes of a mismatching case: its bucket; for a new bucket an investigation, the cases that
// are worth keeping as files below the findings folder, and a report on stdout.
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
#include "corpus/regression_case.h"
#include "device/device.h"
#include "fuzz/ask/task.h"
#include "fuzz/output/console.h"
#include "triage/diagnosis/investigate.h"
#include "triage/explain.h"

namespace mmadiff {

bool IsMinimal(const RegressionCase& c);  // the case that a finding is named by

struct Finding {
  std::string op;  // ARCH/INSTRUCTION
  Bucket bucket;
  std::string case_name;            // first case
  std::string path;                 // of the minimal case; empty if it could not be filed
  std::vector<std::string> beside;  // of the other cases that were kept
  std::string typical;              // of these, the one of ordinary numbers; "" if there is none
  std::string diagnosis;            // what was searched and found, in words; empty if nothing was
  std::string shared;               // what the mismatches have in common, in words; "" if nothing
  std::vector<Bucket> replaces;     // what this one refutes; their files are gone
  uint64_t reports = 1;             // cases of the bucket that were diagnosed and reported alone
  uint64_t cases = 0;               // of this bucket, in this attempt; 0: filed by an earlier one
  bool unfixed = false;             // filed by an earlier attempt, and not all of it is fixed
  FindingState state = FindingState::kOpen;  // the most urgent of its cases
  std::string device = {};                   // the specification of the one that answered
  int64_t spent = 0;  // executions that ended the search too early; 0: it is done

  bool flaky() const { return bucket.repetition == Repetition::kFlaky; }
};

// Adds a filed case to the finding of its bucket.
void AddFiled(const FiledCase& filed, std::vector<Finding>& findings);

class Findings {
 public:
  // `folder` receives the files. An operation has enough after `max_cases` mismatching cases (0: no
  // limit). `print`: report each bucket on stdout when it is filed.
  Findings(std::string folder, uint64_t max_cases, bool print, Console& console)
      : folder_(std::move(folder)), max_cases_(max_cases), print_(print), console_(console) {}

  // What earlier attempts left in the folder becomes part of list(): the cases of which `own` says
  // that they are of this run. Returns what is wrong with the others and with what cannot be read.
  std::vector<std::string> LoadEarlier(absl::FunctionRef<bool(const RegressionCase&)> own);

  // Counts the case if a change that is known gives it. Otherwise it is to be investigated, and until
  // File() no other of its operation is to be considered.
  std::optional<InvestigateTask> Consider(const CaseName& name, const Mismatch& found);
  // Files the answer; of a task that failed the case as it was seen. kDataLoss: it could not be filed.
  absl::Status File(const TaskResult& investigated);
  // What earlier attempts filed of the operation and is not fixed, at most so many.
  std::vector<Observed> Earlier(const Operation& op, size_t most) const;
  // Mismatching cases until the operation has enough; none without a limit.
  std::optional<uint64_t> Left(const Operation& op) const;

  // Those of this attempt, then the earlier ones.
  std::vector<Finding> list() const;

 private:
  // Whether a case is another one than the last that were added: a slow device gives one case in parts,
  // each with its mismatches.
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
    std::optional<Neighbour> change;    // that gives all its cases,
    bool free_nans = false;             // but for the bits of NaNs
    std::set<DifferenceClass> classes;  // GravestClass() of the mismatches that were investigated
    uint64_t age = 0;                   // of kAged: from which on its process gives others
    LastCases last = {};                // of finding.cases

    void Count(const CaseName& name) { finding.cases += last.Add(name); }
  };
  // Of one operation. One answer that no change gives together with the others stays so: from then
  // on cases are counted, and investigated where they differ in a way that none did.
  struct OfOperation {
    uint64_t cases = 0;
    std::list<Group> groups;         // by bucket, in the order of their first cases
    std::vector<Observed> observed;  // what the device answered, as far as it matters
    std::vector<Observed> earlier;   // what earlier attempts filed, to be asked again
    std::vector<Observed> unfixed;   // differences of these
    bool unexplained = false;
    LastCases last;  // of `cases`
  };

  // Whether a group takes the case in without an investigation.
  bool CountIfKnown(OfOperation& of_op, const CaseName& name, const Mismatch& found) const;
  // What the answer says, and the cases to keep.
  std::vector<KeptCase> Learn(OfOperation& of_op, const InvestigateTask& task,
                              const InvestigateAnswer& answer, Group& group) const;
  // Whether the group's change, which gives all answers of the operation, takes in the other finding.
  static bool Replaces(const Group& group, const Finding& other);
  // Adds a group, or one more case to that of the same bucket.
  void Join(OfOperation& of_op, const InvestigateTask& task, Group group);

  const std::string folder_;
  const uint64_t max_cases_;
  const bool print_;
  Console& console_;
  std::vector<Finding> earlier_;
  std::map<std::string, OfOperation> ops_;
};

// The case to file. `device`, `identity`: its name, and what answered for the operation.
RegressionCase ToRegressionCase(const KeptCase& kept, absl::string_view device,
                                absl::string_view identity, absl::string_view source);
// Files the cases below the folder and names them in the finding, the first one as its path.
// kDataLoss: a file could not be written.
absl::Status FileCases(const std::vector<KeptCase>& cases, absl::string_view identity,
                       const std::string& folder, Finding& finding);

}  // namespace mmadiff

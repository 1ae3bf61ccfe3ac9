// The outcome of one call of a verb: its verdicts and the ledger of the requested things. Also the
// meanings of exit codes.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "corpus/ledger.h"
#include "fuzz/verdict/verdict_table.h"

namespace mmadiff {

// All exit codes, ascending.
std::span<const ExitCode> ExitCodes();
const VerdictMeaning& MeaningOf(Verdict verdict);
// The verb's row of VerbTable(); empty for an unknown verb.
std::span<const VerbVerdict> VerdictsOf(absl::string_view verb);
// The meaning of the code for the verb: the meanings of its verdicts with this code, in order of
// precedence, separated by "; "; "" if the verb never returns it. Without a verb: the general
// meaning.
std::string MeaningOf(ExitCode code, absl::string_view verb = "");

// The verdict of a thing that was left out; kGood if it has none. `exact`: the command line names
// it.
Verdict VerdictOf(Reason reason, bool exact);

// Collects the verdicts of one call and the things that its filters leave out.
class Ending {
 public:
  explicit Ending(absl::string_view verb = "");

  // `why` is printed for people. A verdict that the verb's row does not list becomes kBroken.
  void Say(Verdict verdict, std::string why = "");
  // Enters the verdict of the error's code, with its message; `data_loss` is the verdict of
  // kDataLoss. Does nothing for OK.
  void Say(const absl::Status& error, Verdict data_loss = Verdict::kHarmed);

  // Every filter enters here the things that it removes.
  Ledger& ledger() { return ledger_; }
  const Ledger& ledger() const { return ledger_; }
  // Call it at the end of the verb; later calls do nothing. Enters the verdicts of the things that
  // were left out. If nothing is left to query, that is kNotHere; for questions, kUsage. If the
  // ledger does not balance in a call that is otherwise clean or that found a mismatch, that is
  // kBroken.
  void Close();

  struct Said {
    Verdict verdict;
    std::string why;
  };
  const std::vector<Said>& all() const { return said_; }  // by precedence, stable
  Verdict verdict() const;                                // the first; kGood without any
  int exit_code(int instead_of_1 = kMismatch) const;

 private:
  std::string verb_;
  Ledger ledger_;
  bool closed_ = false;
  std::vector<Said> said_;
};

}  // namespace mmadiff

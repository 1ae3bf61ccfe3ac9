// What one call of a verb comes to: its verdicts and the ledger of what it was asked; and what exit
// codes mean.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "corpus/ledger.h"
#include "fuzz/verdict/verdict_table.h"

namespace mmadiff {

// All, ascending.
std::span<const ExitCode> ExitCodes();
const VerdictMeaning& MeaningOf(Verdict verdict);
// The row of VerbTable(); none for an unknown verb.
std::span<const VerbVerdict> VerdictsOf(absl::string_view verb);
// What the code means to the verb: the meanings of its verdicts that have the code, in order of
// precedence, separated by "; "; "" if the verb never gives it. Without a verb: the general meaning.
std::string MeaningOf(ExitCode code, absl::string_view verb = "");

// The verdict of a thing that was left out; kGood: none. `exact`: the command line names it.
Verdict VerdictOf(Reason reason, bool exact);

// Collects the verdicts of one call, and what every filter of it leaves out.
class Ending {
 public:
  explicit Ending(absl::string_view verb = "");

  // `why` is printed for people. A verdict that the verb's row does not list becomes kBroken.
  void Say(Verdict verdict, std::string why = "");
  // The verdict of the error's code, with its message; `data_loss` is that of kDataLoss. OK says
  // nothing.
  void Say(const absl::Status& error, Verdict data_loss = Verdict::kHarmed);

  // Where every filter enters what it takes away.
  Ledger& ledger() { return ledger_; }
  const Ledger& ledger() const { return ledger_; }
  // When the verb is done; later calls do nothing: the verdicts of what was left out. Nothing left to ask is kNotHere,
  // of questions kUsage. A ledger that does not balance in a call that is else clean, or that found
  // a difference, is kBroken.
  void Close();

  struct Said {
    Verdict verdict;
    std::string why;
  };
  const std::vector<Said>& all() const { return said_; }  // by precedence, stable
  Verdict verdict() const;                                // the first; kGood if nothing was said
  int exit_code(int instead_of_1 = kMismatch) const;

 private:
  std::string verb_;
  Ledger ledger_;
  bool closed_ = false;
  std::vector<Said> said_;
};

}  // namespace mmadiff

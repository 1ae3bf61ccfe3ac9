#include "fuzz/verdict/ending.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "fuzz/verdict/error_meaning.h"

namespace mmadiff {
namespace {

bool IsOfEveryVerb(Verdict verdict) {
  return verdict == Verdict::kUsage || verdict == Verdict::kNotWritten ||
         verdict == Verdict::kBroken || verdict == Verdict::kGood;
}

// nullptr if the verb never gives the verdict.
const char* WhatOf(Verdict verdict, absl::string_view verb) {
  const char* general = MeaningOf(verdict).what;
  for (const VerbVerdict& own : VerdictsOf(verb)) {
    if (own.verdict == verdict) return own.what == nullptr ? general : own.what;
  }
  return IsOfEveryVerb(verdict) ? general : nullptr;
}

}  // namespace

std::span<const ExitCode> ExitCodes() {
  static constexpr ExitCode kCodes[] = {kClean,    kMismatch, kUsage,      kInternal,
                                        kNoDevice, kDamaged,  kNotDurable, kStopped};
  return kCodes;
}

const VerdictMeaning& MeaningOf(Verdict verdict) {
  return VerdictMeanings()[static_cast<size_t>(verdict)];
}

std::span<const VerbVerdict> VerdictsOf(absl::string_view verb) {
  for (const VerbRow& row : VerbTable()) {
    if (row.verb == verb) return row.verdicts;
  }
  return {};
}

std::string MeaningOf(ExitCode code, absl::string_view verb) {
  std::string text;
  for (const VerdictMeaning& of : VerdictMeanings()) {
    const char* what = verb.empty() ? of.what : WhatOf(of.verdict, verb);
    if (of.code != code || what == nullptr) continue;
    absl::StrAppend(&text, text.empty() ? "" : "; ", what);
  }
  return text;
}

Ending::Ending(absl::string_view verb) : verb_(verb) {}

void Ending::Say(Verdict verdict, std::string why) {
  if (WhatOf(verdict, verb_) == nullptr) verdict = Verdict::kBroken;
  const auto behind = std::ranges::upper_bound(said_, verdict, {}, &Said::verdict);
  said_.insert(behind, {verdict, std::move(why)});
}

void Ending::Say(const absl::Status& error, Verdict data_loss) {
  if (error.ok()) return;
  const Verdict verdict = absl::IsDataLoss(error) ? data_loss : MeaningOf(error.code()).verdict;
  Say(verdict, std::string(error.message()));
}

Verdict VerdictOf(Reason reason, bool exact) {
  switch (reason) {
    case Reason::kNoFormats:
    case Reason::kOnlyInOne:
    case Reason::kNoModel:
    case Reason::kNoArithmetic:
    case Reason::kDeviceLacks:
    case Reason::kConversion:
    case Reason::kCannotStart:
    case Reason::kNotRecorded:
    case Reason::kUnknownHere:
      return exact ? Verdict::kNotHere : Verdict::kGood;
    case Reason::kDamaged:
    case Reason::kNotUnderstood:
      return Verdict::kHarmed;
    default:
      return Verdict::kGood;
  }
}

void Ending::Close() {
  if (std::exchange(closed_, true)) return;
  const std::vector<LeftOutLine> lines = ledger_.lines();
  std::map<Thing, uint64_t> absent;  // things that cannot be requested on this machine
  for (const LeftOutLine& line : lines) {
    if (VerdictOf(line.reason, true) == Verdict::kNotHere) absent[line.thing] += line.count;
  }
  for (const LeftOutLine& line : lines) {
    const bool all = absent[line.thing] == line.asked;
    // A question that was left out implies nothing about its row, which was named.
    const bool exact = line.exact && line.thing != Thing::kQuestion;
    const Verdict verdict = VerdictOf(line.reason, exact || all);
    if (verdict != Verdict::kGood) Say(verdict);
    if (line.count == line.asked && line.reason == Reason::kDoesNotApply) Say(Verdict::kUsage);
  }
  const bool claims =
      verdict() == Verdict::kGood || verdict() == Verdict::kThin || verdict() == Verdict::kDiffers;
  if (claims && !ledger_.Balances()) {
    Say(Verdict::kBroken,
        absl::StrCat("not everything that was requested is accounted for: ", ledger_.Unbalanced()));
  }
}

Verdict Ending::verdict() const { return said_.empty() ? Verdict::kGood : said_.front().verdict; }

int Ending::exit_code(int instead_of_1) const {
  const ExitCode code = MeaningOf(verdict()).code;
  return code == kMismatch ? instead_of_1 : code;
}

}  // namespace mmadiff

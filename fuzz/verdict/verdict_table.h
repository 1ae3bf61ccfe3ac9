// The possible outcomes of verbs: verdicts, their exit codes, precedence and meanings. Help, the
// man page and docs/cli.md are generated from these tables.
#pragma once

#include <cstdint>
#include <span>

namespace mmadiff {

enum ExitCode : int {
  kClean = 0,
  kMismatch = 1,
  kUsage = 2,
  kInternal = 3,
  kNoDevice = 4,
  kDamaged = 5,
  kNotDurable = 6,
  kStopped = 75,
};

// In order of precedence: the first of a call's verdicts in this order decides the exit code.
enum class Verdict : uint8_t {
  kUsage,       // 2   the command line; nothing was queried
  kNotWritten,  // 6   results could not be made durable
  kBroken,      // 3   the program or this machine computes wrongly
  kRowFailed,   // 3   an instruction was dropped: it traps, hangs, fails, has a different layout
  kDiffers,     // 1   proved: repeated, or stored
  kHarmed,      // 5   damaged data; answers or files that cannot be read
  kUnrepeated,  // 5   answers that do not repeat decide nothing
  kEarly,       // 75  stopped; nothing is lost; run again
  kNotHere,     // 4   no such device, or it lacks the instruction
  kNothing,     // 3   nothing was compared, and no verdict above gives the reason
  kThin,        // 3   --require_coverage
  kGood,        // 0
};
inline constexpr int kVerdicts = 12;

struct VerdictMeaning {
  Verdict verdict;
  ExitCode code;
  const char* word;  // kind of a failure in a JUnit file
  const char* what;  // for people, unless the verb's row has its own meaning
};
std::span<const VerdictMeaning> VerdictMeanings();  // in the order of Verdict

// A verdict that a verb can return and its meaning there; parts are separated by "; ".
struct VerbVerdict {
  Verdict verdict;
  const char* what = nullptr;  // nullptr: as in VerdictMeanings()
};
struct VerbRow {
  const char* verb;
  // Every verb can also return kUsage, kNotWritten, kBroken and kGood; they are listed only if they
  // have a different meaning.
  std::span<const VerbVerdict> verdicts;
};
std::span<const VerbRow> VerbTable();

}  // namespace mmadiff

#include "fuzz/verdict/verdict_table.h"

#include <iterator>

namespace mmadiff {
namespace {

using enum Verdict;

constexpr VerdictMeaning kMeanings[] = {
    {kUsage, ExitCode::kUsage, "usage", "usage"},
    {kNotWritten, kNotDurable, "unwritten", "results could not be written"},
    {kBroken, kInternal, "broken", "internal error"},
    {kRowFailed, kInternal, "dropped", "the device failed on an instruction"},
    {kDiffers, kMismatch, "differs", "mismatches"},
    {kHarmed, kDamaged, "damaged",
     "damaged data (the good records were used), or answers that cannot be read"},
    {kUnrepeated, kDamaged, "flaky", "answers that do not repeat"},
    {kEarly, kStopped, "incomplete", "stopped early: nothing is lost, run again"},
    {kNotHere, kNoDevice, "absent",
     "no such device here, or an instruction that it lacks or that has no model"},
    {kNothing, kInternal, "nothing", "nothing was compared"},
    {kThin, kInternal, "thin", "too few cases (--require_coverage)"},
    {kGood, kClean, "clean", "clean"},
};
static_assert(std::size(kMeanings) == kVerdicts);

constexpr VerbVerdict kRun[] = {
    {kRowFailed, "a planted fault was not found; an instruction was dropped, the others were run"},
    {kDiffers, "the device repeated a difference five times of five"},
    {kHarmed,
     "damaged data; answers that cannot be read; earlier answers that could not be trusted; two "
     "different answers to one unit"},
    {kUnrepeated, "only answers that do not repeat; earlier mismatches that no longer occur"},
    {kEarly, "a signal; a time limit; a lost device"},
    {kNotHere},
    {kNothing, "nothing was compared; the shard has no unit"},
    {kThin, "with --require_coverage: a bin is thin"},
    {kGood, "clean; the time limit of --forever"}};
constexpr VerbVerdict kMerge[] = {{kUsage, "usage; none of the folders is one of a run"},
                                  {kHarmed,
                                   "damaged data; one of several folders is none of a run; two "
                                   "different answers to one unit, and "
                                   "nothing was merged"}};
constexpr VerbVerdict kStatus[] = {
    {kUsage, "usage; none of the folders is one of a run"},
    {kHarmed, "damaged data; one of several folders is none of a run"}};
constexpr VerbVerdict kReport[] = {
    {kUsage, "usage; none of the folders is one of a run"},
    {kDiffers, "with --compare: a common answer differs"},
    {kHarmed, "damaged data; one of several folders is none of a run"},
    {kNothing}};
constexpr VerbVerdict kVerify[] = {
    {kBroken, "the model's digest of a unit, or its coverage, is different now"},
    {kRowFailed},
    {kDiffers, "the device's digest of a unit is different now"},
    {kHarmed},
    {kEarly, "a signal; a time limit; a lost device"},
    {kNotHere},
    {kNothing}};
constexpr VerbVerdict kCleanVerb[] = {{kHarmed, "damaged data"}};
constexpr VerbVerdict kReplay[] = {
    {kRowFailed, "the device failed on an instruction; a survey has rows that fail"},
    {kDiffers, "the model, or the device, differs from what is stored"},
    {kHarmed},
    {kUnrepeated},
    {kEarly},
    {kNotHere, "no such device here; it has none of the instructions"},
    {kNothing}};
constexpr VerbVerdict kMinimize[] = {{kRowFailed},
                                     {kDiffers, "there was a mismatch, and it is filed"},
                                     {kHarmed},
                                     {kUnrepeated},
                                     {kEarly},
                                     {kNotHere},
                                     {kGood, "the device gives the model's answer"}};
constexpr VerbVerdict kExplain[] = {{kRowFailed},
                                    {kDiffers, "the device's answer is not the model's"},
                                    {kHarmed},
                                    {kEarly},
                                    {kNotHere},
                                    {kNothing, "no case has an answer of a device"},
                                    {kGood, "they are equal; the model was asked alone"}};
constexpr VerbVerdict kNoModel[] = {{kNotHere, "the instruction has no model"}};
constexpr VerbVerdict kNoFormats[] = {{kNotHere, "the tables have no formats of the instruction"}};
constexpr VerbVerdict kRace[] = {{kDiffers, "a case tells the two apart"},
                                 {kNotHere,
                                  "an instruction that was named has no model; two architectures "
                                  "without a format in common"},
                                 {kGood, "no case was found that does; --all; --set"}};
constexpr VerbVerdict kIdentify[] = {{kRowFailed},
                                     {kDiffers, "no architecture gives all answers"},
                                     {kHarmed, "damaged data; answers that do not repeat"},
                                     {kEarly},
                                     {kNotHere},
                                     {kNothing},
                                     {kGood, "one does; several do, and nothing tells them apart"}};
constexpr VerbVerdict kList[] = {{kHarmed, "damaged data"},
                                 {kNotHere, "no model of these instructions is known"}};
constexpr VerbVerdict kEval[] = {{kRowFailed}, {kHarmed}, {kEarly}, {kNotHere}};
constexpr VerbVerdict kCheck[] = {{kUsage, "usage; the stream does not say how many lines it has"},
                                  {kDiffers, "a line differs, even if a later one is damaged"},
                                  {kHarmed, "damaged data"},
                                  {kNotHere, "the instruction has no model"},
                                  {kNothing}};
constexpr VerbVerdict kMutants[] = {{kDiffers, "a fault was not found"},
                                    {kEarly},
                                    {kNotHere, "an instruction that was named has no model"},
                                    {kNothing}};
constexpr VerbVerdict kCoverage[] = {{kDiffers, "a bin was not filled"},
                                     {kEarly},
                                     {kNotHere, "an instruction that was named has no model"}};
constexpr VerbVerdict kBench[] = {
    {kRowFailed},
    {kDiffers, "the device's answers are not the model's"},
    {kHarmed, "the file to compare with is no output of bench; a device that answers badly"},
    {kEarly},
    {kNotHere},
    {kNothing, "nothing to compare"}};
constexpr VerbVerdict kProbe[] = {
    {kUsage, "usage; no question applies to the instructions"},
    {kRowFailed},
    {kDiffers, "an answer contradicts the table"},
    {kHarmed},
    {kUnrepeated},
    {kEarly, "a lost device; a signal; the time was over before all were asked"},
    {kNotHere}};
constexpr VerbVerdict kInfer[] = {
    {kRowFailed},
    {kDiffers, "the table is contradicted; no model gives every answer"},
    {kHarmed, "damaged recordings; answers that cannot be read"},
    {kUnrepeated},
    {kEarly, "a lost device; a signal; the time or the budget was over before the end"},
    {kNotHere},
    {kNothing, "the budget was too small to ask anything; the answers decide nothing"},
    {kGood, "a model gives every answer, and the table does not contradict it"}};
constexpr VerbVerdict kChanges[] = {{kDiffers, "there are changes"},
                                    {kHarmed, "damaged data"},
                                    {kGood, "there are none; --update"}};
constexpr VerbVerdict kRecord[] = {{kRowFailed}, {kHarmed}, {kUnrepeated}, {kEarly}, {kNotHere}};
constexpr VerbVerdict kSurvey[] = {
    {kRowFailed, "a row traps, fails, does not repeat or has a different layout"},
    {kDiffers, "an answer contradicts the table; with --compare: a common answer differs"},
    {kHarmed, "damaged data"},
    {kEarly, "a signal; a full folder; a lost device; the time did not reach all"},
    {kNotHere},
    {kNothing, "no instruction has a model; with --compare: nothing is in both"}};

constexpr VerbRow kTable[] = {
    {"run", kRun},          {"merge", kMerge},       {"status", kStatus},
    {"report", kReport},    {"verify", kVerify},     {"clean", kCleanVerb},
    {"replay", kReplay},    {"minimize", kMinimize}, {"explain", kExplain},
    {"race", kRace},        {"identify", kIdentify}, {"list", kList},
    {"gen", kNoModel},      {"eval", kEval},         {"check", kCheck},
    {"layout", kNoFormats}, {"mutants", kMutants},   {"coverage", kCoverage},
    {"bench", kBench},      {"probe", kProbe},       {"infer", kInfer},
    {"changes", kChanges},  {"record", kRecord},     {"survey", kSurvey},
    {"help", {}},
};

}  // namespace

std::span<const VerdictMeaning> VerdictMeanings() { return kMeanings; }
std::span<const VerbRow> VerbTable() { return kTable; }

}  // namespace mmadiff

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
     "damaged data (only the undamaged records were used), or answers that cannot be read"},
    {kUnrepeated, kDamaged, "flaky", "answers that do not repeat"},
    {kEarly, kStopped, "incomplete", "stopped early: nothing is lost, run again"},
    {kNotHere, kNoDevice, "absent",
     "no such device on this machine, or an instruction that the device lacks or that has no "
     "model"},
    {kNothing, kInternal, "nothing", "nothing was compared"},
    {kThin, kInternal, "thin", "too few cases (--require_coverage)"},
    {kGood, kClean, "clean", "clean"},
};
static_assert(std::size(kMeanings) == kVerdicts);

constexpr VerbVerdict kRun[] = {
    {kRowFailed,
     "a planted fault was not found; the device failed on an instruction, and the others were run"},
    {kDiffers, "the device repeated a mismatch in five of five tries"},
    {kHarmed,
     "damaged data; unreadable answers; earlier answers that could not be trusted; two different "
     "results for one unit"},
    {kUnrepeated, "none of the mismatches repeats; earlier mismatches no longer occur"},
    {kEarly, "a signal; a lost device; a time limit (with --forever: 0)"},
    {kNotHere},
    {kNothing, "nothing was compared; the shard has no unit"},
    {kThin, "with --require_coverage: a bin has too few cases"},
    {kGood, "clean; --forever reached its time limit"}};
constexpr VerbVerdict kMerge[] = {{kUsage, "usage; none of the folders is the folder of a run"},
                                  {kHarmed,
                                   "damaged data; one of several folders is not the folder of a "
                                   "run; two different answers for one unit (nothing was merged)"}};
constexpr VerbVerdict kStatus[] = {
    {kUsage, "usage; none of the folders belongs to a run"},
    {kHarmed, "damaged data; some of the folders do not belong to a run"}};
constexpr VerbVerdict kReport[] = {
    {kUsage, "usage; none of the folders belongs to a run"},
    {kDiffers, "with --compare: a shared answer differs"},
    {kHarmed, "damaged data; some of the folders do not belong to a run (the others are reported)"},
    {kNothing}};
constexpr VerbVerdict kVerify[] = {
    {kBroken, "the model's digest of a unit, or the unit's coverage, has changed"},
    {kRowFailed},
    {kDiffers, "the device's digest of a unit has changed"},
    {kHarmed},
    {kEarly, "a signal; a time limit; a lost device"},
    {kNotHere},
    {kNothing}};
constexpr VerbVerdict kCleanVerb[] = {{kHarmed, "damaged data"}};
constexpr VerbVerdict kReplay[] = {
    {kRowFailed, "the device failed on an instruction; a survey has rows that fail"},
    {kDiffers, "the model or the device differs from the stored answers"},
    {kHarmed},
    {kUnrepeated},
    {kEarly},
    {kNotHere, "no such device on this machine; the device has none of the instructions"},
    {kNothing}};
constexpr VerbVerdict kMinimize[] = {
    {kRowFailed}, {kDiffers, "a mismatch was found and filed"},  {kHarmed}, {kUnrepeated}, {kEarly},
    {kNotHere},   {kGood, "the device gives the model's answer"}};
constexpr VerbVerdict kExplain[] = {{kRowFailed},
                                    {kDiffers, "the device's answer differs from the model's"},
                                    {kHarmed},
                                    {kEarly},
                                    {kNotHere},
                                    {kNothing, "no case has an answer from a device"},
                                    {kGood, "the answers are equal; no device was queried"}};
constexpr VerbVerdict kNoModel[] = {{kNotHere, "the instruction has no model"}};
constexpr VerbVerdict kNoFormats[] = {{kNotHere, "the tables have no formats for the instruction"}};
constexpr VerbVerdict kCopy[] = {
    {kDiffers, "a promised byte of the device differs from the model's"},
    {kNotHere, "no such device, or one without tensor copies; no form matches"},
    {kNothing, "no promised byte was compared"},
    {kGood, "no device was named; every promised byte is equal"}};
constexpr VerbVerdict kScan[] = {
    {kDiffers, "ptxas translates an instruction wrongly"},
    {kHarmed, "the file is not PTX; nvcc rejects it"},
    {kNotHere, "an instruction was not tried; no nvcc for a .cu file"},
    {kGood,
     "no operand is in a register of the result; all such instructions are right in all cases"}};
constexpr VerbVerdict kGemm[] = {
    {kDiffers, "an element of D is not that of --expect"}, {kHarmed, "damaged files"}, {kGood}};
constexpr VerbVerdict kPlan[] = {
    {kRowFailed, "the program ends, or does not answer in time"},
    {kDiffers, "some elements have no plan; a product is not that of --expect"},
    {kHarmed, "damaged files; a program writes more than D; answers that do not repeat"},
    {kNotHere, "no such library or program on this machine"},
    {kNothing, "the elements reject no plan"},
    {kGood, "a plan gives every element; all products are those of --expect"}};
constexpr VerbVerdict kRace[] = {
    {kDiffers, "a case distinguishes the two"},
    {kNotHere, "a named instruction has no model; the two architectures have no format in common"},
    {kGood, "no distinguishing case was found; always with --all or --set"}};
constexpr VerbVerdict kIdentify[] = {
    {kRowFailed},
    {kDiffers, "no architecture reproduces all answers"},
    {kHarmed, "damaged data; answers that do not repeat"},
    {kEarly},
    {kNotHere},
    {kNothing},
    {kGood, "one architecture reproduces all answers; several do and cannot be distinguished"}};
constexpr VerbVerdict kList[] = {{kHarmed, "damaged data"},
                                 {kNotHere, "the named instructions have no model"}};
constexpr VerbVerdict kEval[] = {{kRowFailed}, {kHarmed}, {kEarly}, {kNotHere}};
constexpr VerbVerdict kCheck[] = {
    {kUsage, "usage; the stream does not announce its number of lines"},
    {kDiffers, "a line differs (even if a later line is damaged)"},
    {kHarmed, "damaged data"},
    {kNotHere, "the instruction has no model"},
    {kNothing}};
constexpr VerbVerdict kMutants[] = {{kDiffers, "a fault was not found"},
                                    {kEarly},
                                    {kNotHere, "a named instruction has no model"},
                                    {kNothing}};
constexpr VerbVerdict kCoverage[] = {
    {kDiffers, "a bin was not filled"}, {kEarly}, {kNotHere, "a named instruction has no model"}};
constexpr VerbVerdict kBench[] = {
    {kRowFailed},
    {kDiffers, "the device's answers differ from the model's"},
    {kHarmed,
     "the file to compare with is not the output of bench; the device's answers cannot be read"},
    {kEarly},
    {kNotHere},
    {kNothing, "nothing to compare"}};
constexpr VerbVerdict kProbe[] = {
    {kUsage, "usage; no question applies to the instructions"},
    {kRowFailed},
    {kDiffers,
     "an answer contradicts mmadiff's model; no model reproduces every answer of an instruction "
     "without one"},
    {kHarmed},
    {kUnrepeated},
    {kEarly, "a lost device; a signal; time ran out before the last question"},
    {kNotHere},
    {kNothing, "no queried question could fail"}};
constexpr VerbVerdict kInfer[] = {
    {kRowFailed},
    {kDiffers, "the answers contradict mmadiff's model; no model reproduces every answer"},
    {kHarmed, "damaged recordings; unreadable answers"},
    {kUnrepeated},
    {kEarly, "a lost device; a signal; the time or the budget ran out before the end"},
    {kNotHere},
    {kNothing, "the budget was too small for any question; the answers determine no parameter"},
    {kGood, "a model reproduces every answer, and no answer contradicts mmadiff's own model"}};
constexpr VerbVerdict kChanges[] = {{kDiffers, "some instructions changed"},
                                    {kHarmed, "damaged data"},
                                    {kGood, "no instruction changed; --update was given"}};
constexpr VerbVerdict kLowerings[] = {
    {kRowFailed, "machine code of an instruction is not executed or misses a wait"},
    {kDiffers,
     "machine code differs from the model; with --against: a lowering is not in the file"},
    {kHarmed, "damaged data"},
    {kNotHere,
     "a ptxas rejects an instruction; no mma, wmma, wgmma or fma among them; no ptxas or nvdisasm"},
    {kGood,
     "no machine code differs from the model, and with --against all lowerings are in the file"}};
constexpr VerbVerdict kRecord[] = {
    {kRowFailed}, {kHarmed},  {kUnrepeated},
    {kEarly},     {kNotHere}, {kNothing, "with --run: no instruction has a finished first unit"}};
constexpr VerbVerdict kSurvey[] = {
    {kRowFailed, "an instruction traps, fails, does not repeat or has a different layout"},
    {kDiffers, "an answer contradicts mmadiff's model; with --compare: a shared answer differs"},
    {kHarmed, "damaged data"},
    {kEarly, "a signal; --max_bytes reached; a lost device; time ran out"},
    {kNotHere},
    {kNothing, "no instruction has a model; with --compare: the two surveys share nothing"}};

constexpr VerbRow kTable[] = {
    {"run", kRun},           {"merge", kMerge},      {"status", kStatus}, {"report", kReport},
    {"verify", kVerify},     {"clean", kCleanVerb},  {"replay", kReplay}, {"minimize", kMinimize},
    {"explain", kExplain},   {"gemm", kGemm},        {"plan", kPlan},     {"race", kRace},
    {"identify", kIdentify}, {"list", kList},        {"gen", kNoModel},   {"eval", kEval},
    {"check", kCheck},       {"layout", kNoFormats}, {"copy", kCopy},     {"mutants", kMutants},
    {"coverage", kCoverage}, {"bench", kBench},      {"probe", kProbe},   {"infer", kInfer},
    {"changes", kChanges},   {"record", kRecord},    {"survey", kSurvey}, {"lowerings", kLowerings},
    {"scan", kScan},         {"help", {}},
};

}  // namespace

std::span<const VerdictMeaning> VerdictMeanings() { return kMeanings; }
std::span<const VerbRow> VerbTable() { return kTable; }

}  // namespace mmadiff

// Reads the meaning of sentences in files that were written before these meanings had fields of
// their own. No other code may interpret a sentence of a stored file.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "corpus/bucket.h"
#include "device/hardware.h"
#include "device/stop.h"

namespace mmadiff {

struct SurveyAnswer;

// SurveyEnd.stopped_by: "time limit", "folder full", "signal 2", "".
StopCause StopCauseOfOld(absl::string_view stopped_by);
// RegressionCase.role, from `why`: kMinimal or kUnknown.
CaseRole RoleOfOld(absl::string_view why);
// SurveyAnswer.scope and .facts, from its `answer`.
void AddMeaningOfOld(SurveyAnswer& answer);
// UnitRecord.machine: "node7, GPU-0d1e... at PCI 0000:17:00.0, 130 of 132 multiprocessors answered".
Machine MachineOfOld(absl::string_view text);
// IdentityFact.value of the key "contents": "contents xxh3 7ab2...".
std::string ContentsOfOld(absl::string_view value);
// A line of the file `hardware` in a run folder: the same without the machine name.
Hardware HardwareOfLine(absl::string_view text);

}  // namespace mmadiff

// What files say in sentences that were written before their meaning had fields of its own. Nothing
// else may read a sentence of a stored file.
#pragma once

#include "absl/strings/string_view.h"
#include "device/stop.h"

namespace mmadiff {

// SurveyEnd.stopped_by: "time limit", "folder full", "signal 2", "".
StopCause StopCauseOfOld(absl::string_view stopped_by);

}  // namespace mmadiff

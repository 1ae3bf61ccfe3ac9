// Between a survey and the process that asks its device: the same program, started anew, which reads
// the job from stdin and writes messages to stdout, each after its length (4 bytes, little-endian).
#pragma once

#include "absl/time/time.h"
#include "fuzz/survey/survey.h"

namespace mmadiff {

// Asks in a child that is killed when nothing has come from it for `timeout`. `verb`: what the
// program is told to do, a word.
AskProcess AskInChild(const char* verb, absl::Duration timeout);

// The child's side: the exit code.
int AnswerSurvey();

}  // namespace mmadiff

// Command lines for people to copy.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace mmadiff {

// How people started the program: "./mmadiff" unless main() says otherwise. Commands begin with it,
// so that they work where it was started.
void SetProgram(absl::string_view word_0);
std::string Program();  // a word of a shell

// One word of a POSIX shell; quoted where it must be.
std::string ShellWord(absl::string_view word);

// "PROGRAM VERB PATH" of a filed case. What is wider than `width` has a pattern with the case's
// identifier instead of its name, if no other file of the folder matches it.
std::string CaseCommand(absl::string_view verb, const std::string& path, size_t width);

// "LABEL COMMAND", or the command below the label where it does not fit, broken between words with
// backslashes, so that it can be copied. Ends with a line end.
std::string CommandLine(absl::string_view label, absl::string_view command, size_t width);

}  // namespace mmadiff

// Command lines for people to copy.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace mmadiff {

// The word that started the program: "./mmadiff" unless main() sets it. Printed commands begin with
// it, so that they work in the same place.
void SetProgram(absl::string_view word_0);
// Every printed command has the flag too.
void AddProgramFlag(absl::string_view flag);
std::string ProgramFlags();  // of all of them, each after a space
std::string Program();       // words of a shell

// One word of a POSIX shell, quoted if necessary.
std::string ShellWord(absl::string_view word);

// "PROGRAM VERB PATH" of a filed case. If it is wider than `width`, a pattern with the case's
// identifier replaces the name, provided that it matches no other file of the folder.
std::string CaseCommand(absl::string_view verb, const std::string& path, size_t width);

// "LABEL COMMAND"; if it does not fit, the command is below the label, broken between words with
// backslashes, so that it can be copied. Ends with a line end.
std::string CommandLine(absl::string_view label, absl::string_view command, size_t width);

}  // namespace mmadiff

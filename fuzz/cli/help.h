// --help, and the man page.
#pragma once

#include <string>

#include "fuzz/cli/cli.h"

namespace mmadiff {

// The help of the program or of one of its verbs, for 80 columns.
std::string HelpText(const CLI::App& app);
// The devices, and the parameters of `faulty:`.
std::string DevicesText();

// mmadiff(1), in roff with the macros of man(7).
std::string ManPage(const CLI::App& program);
// The tables of exit codes of docs/cli.md, in Markdown.
std::string ExitCodesPage();
// A table of the verbs, their descriptions and examples, in Markdown.
std::string VerbsPage();

}  // namespace mmadiff

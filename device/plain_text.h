// Makes text from outside (files, programs, drivers) safe for a terminal, XML or JSON.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace mmadiff {

// Marks around text that a terminal should emphasize: bytes that do not occur in UTF-8. Nothing
// else adds color.
inline constexpr char kMarkBegin[] = "\xfe", kMarkEnd[] = "\xff";

// Printable UTF-8: control characters (C0 and C1) and bytes that are not UTF-8 become "\x1b".
// Newline and tab stay.
std::string PlainText(absl::string_view text);
// The same without newline and tab: one line.
std::string PlainLine(absl::string_view text);
// PlainText() with the marks replaced by `begin` and `end`.
std::string PlainText(absl::string_view text, absl::string_view begin, absl::string_view end);

// Bytes of the UTF-8 character that `text` begins with; 0 if it begins with none. Shortest forms
// up to U+10FFFF without surrogates (RFC 3629).
size_t Utf8Length(absl::string_view text);

}  // namespace mmadiff

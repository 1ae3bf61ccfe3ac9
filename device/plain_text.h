// Text from outside (files, programs, drivers) as what may go to a terminal, into XML or JSON.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace mmadiff {

// Around what a terminal is to emphasise: bytes that no UTF-8 has. Nothing else brings colour.
inline constexpr char kMarkBegin[] = "\xfe", kMarkEnd[] = "\xff";

// Printable UTF-8: control characters (C0 and C1) and bytes that are no UTF-8 become "\x1b".
// Newline and tab stay.
std::string PlainText(absl::string_view text);
// The same without newline and tab: one line.
std::string PlainLine(absl::string_view text);
// PlainText() with what lies between marks in `begin` and `end`.
std::string PlainText(absl::string_view text, absl::string_view begin, absl::string_view end);

// Bytes of the UTF-8 character that `text` begins with; 0 if it begins with none. Shortest forms
// up to U+10FFFF without surrogates (RFC 3629).
size_t Utf8Length(absl::string_view text);

}  // namespace mmadiff

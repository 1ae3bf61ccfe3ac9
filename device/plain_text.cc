#include "device/plain_text.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace mmadiff {
namespace {

std::string Escape(absl::string_view text, absl::string_view kept) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string plain;
  plain.reserve(text.size());
  while (!text.empty()) {
    const uint8_t c = text[0], next = text.size() > 1 ? text[1] : 0;
    size_t length = Utf8Length(text);
    const uint8_t third = length == 3 ? text[2] : 0;
    // Marks that change the direction of the text after them: U+202A to U+202E, U+2066 to U+2069.
    const bool turns = c == 0xe2 && ((next == 0x80 && third >= 0xaa && third <= 0xae) ||
                                     (next == 0x81 && third >= 0xa6 && third <= 0xa9));
    const bool control = c < 0x20 || c == 0x7f || (c == 0xc2 && next < 0xa0) || turns;
    if ((length == 0 || control) && kept.find(text[0]) == kept.npos) {
      plain += {'\\', 'x', kHex[c >> 4], kHex[c & 15]};
      length = 1;
    } else {
      length = std::max<size_t>(length, 1);
      plain.append(text.data(), length);
    }
    text.remove_prefix(length);
  }
  return plain;
}

}  // namespace

size_t Utf8Length(absl::string_view text) {
  const uint8_t c = text.empty() ? 0xff : text[0];
  const size_t length = c < 0x80   ? 1
                        : c < 0xc2 ? 0
                        : c < 0xe0 ? 2
                        : c < 0xf0 ? 3
                        : c < 0xf5 ? 4
                                   : 0;
  if (length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((text[i] & 0xc0) != 0x80) return 0;
  }
  const uint8_t next = length > 1 ? text[1] : 0;
  const bool out_of_range = (c == 0xe0 && next < 0xa0) || (c == 0xed && next >= 0xa0) ||
                            (c == 0xf0 && next < 0x90) || (c == 0xf4 && next >= 0x90) ||
                            // U+FFFE and U+FFFF, which XML does not allow
                            (c == 0xef && next == 0xbf && static_cast<uint8_t>(text[2]) > 0xbd);
  return out_of_range ? 0 : length;
}

std::string PlainText(absl::string_view text) { return Escape(text, "\n\t"); }

std::string PlainText(absl::string_view text, absl::string_view begin, absl::string_view end) {
  return absl::StrReplaceAll(Escape(text, absl::StrCat("\n\t", kMarkBegin, kMarkEnd)),
                             {{kMarkBegin, begin}, {kMarkEnd, end}});
}

std::string PlainLine(absl::string_view text) { return Escape(text, ""); }

}  // namespace mmadiff

#include "corpus/line_checksum.h"

#include <xxhash.h>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "device/line_protocol.h"

namespace mmadiff {

void TextHash::Free::operator()(XXH3_state_s* state) const { XXH3_freeState(state); }

TextHash::TextHash() : state_(XXH3_createState()) { XXH3_64bits_reset(state_.get()); }

void TextHash::Add(absl::string_view text) {
  XXH3_64bits_update(state_.get(), text.data(), text.size());
}

std::string TextHash::Take() {
  const uint64_t hash = XXH3_64bits_digest(state_.get());
  XXH3_64bits_reset(state_.get());
  return absl::StrCat(absl::Hex(hash, absl::kZeroPad16));
}

bool ParseLineCount(absl::string_view rest, uint64_t* lines, bool* then_a_hash) {
  rest = absl::StripAsciiWhitespace(rest);
  *then_a_hash = absl::ConsumeSuffix(&rest, " then a hash");
  return absl::SimpleAtoi(rest, lines);
}

bool IsLineComment(absl::string_view line, absl::string_view key, absl::string_view* rest) {
  line = absl::StripAsciiWhitespace(line);
  if (!absl::ConsumePrefix(&line, "#")) return false;
  line = absl::StripLeadingAsciiWhitespace(line);
  if (!absl::ConsumePrefix(&line, key) || !absl::ConsumePrefix(&line, ":")) return false;
  *rest = absl::StripAsciiWhitespace(line);
  return true;
}

std::string WithAnswersHash(std::string text) {
  TextHash hash;
  hash.Add(text);
  absl::StrAppend(&text, "# answers: ", hash.Take(), "\n");
  return text;
}

std::string AnswersFile(absl::string_view title, absl::string_view lines) {
  uint64_t dots = 0;
  for (const absl::string_view line : absl::StrSplit(lines, '\n')) dots += !IsComment(line);
  return WithAnswersHash(absl::StrCat("# ", title, "\n# lines: ", dots, " then a hash\n", lines));
}

}  // namespace mmadiff

#include "device/line_protocol.h"

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace mmadiff {
namespace {

constexpr char kDigits[] = "0123456789abcdef";
constexpr size_t kShown = 32;  // characters of a bad word that a message repeats

// Value of a hex digit; -1 for any other character.
constexpr std::array<int8_t, 256> MakeDigitValues() {
  std::array<int8_t, 256> values{};
  for (int8_t& v : values) v = -1;
  for (int i = 0; i < 16; ++i) {
    values[static_cast<unsigned char>(kDigits[i])] = static_cast<int8_t>(i);
    if (i >= 10) values['A' + i - 10] = static_cast<int8_t>(i);
  }
  return values;
}
constexpr std::array<int8_t, 256> kDigitValues = MakeDigitValues();

constexpr bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

void AppendHex(const Format& format, uint64_t word, std::string& out) {
  for (int i = HexDigits(format) - 1; i >= 0; --i) out += kDigits[word >> (4 * i) & 15];
}

// False when `text` is no word of the format; DescribeBadWord() says why.
bool ReadHex(const Format& format, absl::string_view text, uint64_t* word) {
  if (text.empty() || text.size() > static_cast<size_t>(HexDigits(format))) return false;
  uint64_t value = 0;
  int bad = 0;  // negative when any digit was
  for (const char c : text) {
    const int digit = kDigitValues[static_cast<unsigned char>(c)];
    bad |= digit;
    value = value << 4 | static_cast<uint64_t>(digit & 15);
  }
  *word = value;
  return bad >= 0 && (value & ~LowBits(format.bits)) == 0;
}

std::string Quoted(absl::string_view text) {
  return absl::StrCat("'", absl::CHexEscape(text.substr(0, kShown)),
                      text.size() > kShown ? "...'" : "'");
}

std::string DescribeBadWord(const Format& format, absl::string_view text) {
  if (text.empty()) return "no digits";
  for (size_t i = 0; i < text.size(); ++i) {
    if (kDigitValues[static_cast<unsigned char>(text[i])] >= 0) continue;
    return absl::StrCat(Quoted(text), " has no hex digit at character ", i + 1,
                        absl::StartsWith(text, "0x") ? " (write words without 0x)" : "");
  }
  if (text.size() > static_cast<size_t>(HexDigits(format))) {
    return absl::StrCat(Quoted(text), " has ", text.size(), " digits; ", format.name, " has ",
                        HexDigits(format));
  }
  return absl::StrCat(Quoted(text), " has bits beyond the ", format.bits, " of ", format.name);
}

// The next word of `line` from *position on; empty at the end.
absl::string_view NextWord(absl::string_view line, size_t* position) {
  while (*position < line.size() && IsBlank(line[*position])) ++*position;
  const size_t begin = *position;
  while (*position < line.size() && !IsBlank(line[*position])) ++*position;
  return line.substr(begin, *position - begin);
}

size_t CountWords(absl::string_view line) {
  size_t position = 0, words = 0;
  while (!NextWord(line, &position).empty()) ++words;
  return words;
}

// "a2", "b0", "c", "d" of word `index`, 0 <= index <= 2 k + 1.
std::string OperandName(int index, int k) {
  if (index < k) return absl::StrCat("a", index);
  if (index < 2 * k) return absl::StrCat("b", index - k);
  return index == 2 * k ? "c" : "d";
}

absl::Status WordCountError(const Instruction& instruction, absl::string_view line) {
  const int k = instruction.shape.k;
  return absl::InvalidArgumentError(
      absl::StrCat(CountWords(line), " words, but ", instruction.name, " has ", 2 * k + 1,
                   " (a0..a", k - 1, " b0..b", k - 1, " c), or ", 2 * k + 2, " with the result d"));
}

}  // namespace

bool IsComment(absl::string_view line) {
  size_t position = 0;
  const absl::string_view word = NextWord(line, &position);
  return word.empty() || word[0] == '#';
}

absl::StatusOr<ProtocolLine> ParseLine(const Instruction& instruction, absl::string_view line) {
  const int k = instruction.shape.k;
  ProtocolLine parsed;
  parsed.dot.a.resize(k);
  parsed.dot.b.resize(k);
  size_t position = 0;
  for (int i = 0; i < 2 * k + 2; ++i) {
    const absl::string_view text = NextWord(line, &position);
    if (text.empty() && i == 2 * k + 1) return parsed;
    if (text.empty()) return WordCountError(instruction, line);
    const Format& format = i < k        ? *instruction.a
                           : i < 2 * k  ? *instruction.b
                           : i == 2 * k ? *instruction.c
                                        : *instruction.d;
    uint64_t word;
    if (!ReadHex(format, text, &word)) {
      return absl::InvalidArgumentError(absl::StrCat("word ", i + 1, " (", OperandName(i, k),
                                                     "), column ", position - text.size() + 1, ": ",
                                                     DescribeBadWord(format, text)));
    }
    if (i < k) {
      parsed.dot.a[i] = word;
    } else if (i < 2 * k) {
      parsed.dot.b[i - k] = word;
    } else if (i == 2 * k) {
      parsed.dot.c = word;
    } else {
      parsed.d = word;
    }
  }
  if (!NextWord(line, &position).empty()) return WordCountError(instruction, line);
  return parsed;
}

std::string FormatLine(const Instruction& instruction, const DotProductCase& dot,
                       std::optional<uint64_t> d) {
  std::string line;
  line.reserve(dot.a.size() * (HexDigits(*instruction.a) + 1) +
               dot.b.size() * (HexDigits(*instruction.b) + 1) + HexDigits(*instruction.c) + 1 +
               HexDigits(*instruction.d));
  for (const uint64_t word : dot.a) {
    AppendHex(*instruction.a, word, line);
    line += ' ';
  }
  for (const uint64_t word : dot.b) {
    AppendHex(*instruction.b, word, line);
    line += ' ';
  }
  AppendHex(*instruction.c, dot.c, line);
  if (d.has_value()) {
    line += ' ';
    AppendHex(*instruction.d, *d, line);
  }
  return line;
}

std::string HexWord(const Format& format, uint64_t word) {
  std::string text;
  AppendHex(format, word, text);
  return text;
}

absl::StatusOr<uint64_t> ParseHexWord(const Format& format, absl::string_view text) {
  uint64_t word;
  if (!ReadHex(format, text, &word)) {
    return absl::InvalidArgumentError(DescribeBadWord(format, text));
  }
  return word;
}

}  // namespace mmadiff

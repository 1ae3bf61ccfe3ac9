#include "device/line_protocol.h"

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "device/status_macros.h"
#include "sim/sparsity.h"

namespace mmadiff {
namespace {

constexpr char kDigits[] = "0123456789abcdef";
constexpr size_t kShown = 32;  // characters of a bad word shown in a message

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

// False if `text` is not a word of the format; DescribeBadWord() gives the reason.
bool ReadHex(const Format& format, absl::string_view text, uint64_t* word) {
  if (text.empty() || text.size() > static_cast<size_t>(HexDigits(format))) return false;
  uint64_t value = 0;
  int bad = 0;  // negative if any digit is bad
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
    return absl::StrCat(Quoted(text), ": character ", i + 1, " is not a hex digit",
                        absl::StartsWith(text, "0x") ? " (write words without 0x)" : "");
  }
  if (text.size() > static_cast<size_t>(HexDigits(format))) {
    return absl::StrCat(Quoted(text), " has ", text.size(), " digits; ", format.name, " has ",
                        HexDigits(format));
  }
  return absl::StrCat(Quoted(text), " does not fit the ", format.bits, " bits of ", format.name);
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

// Consecutive words of a line that belong together; `words` points to one or `count` of them.
template <class Word>
struct Segment {
  const char* name;
  const Format* format;
  Word* words;
  int count;
  bool numbered = true;
};

// The segments in the order of the line. Rows hold k elements and then the scales; the words of an
// absent operand are left out.
template <class Word, class Dot>
std::array<Segment<Word>, 6> SegmentsOf(const Instruction& i, Dot& dot) {
  const int k = i.shape.k, scales = i.shape.scales;
  return {{{"a", i.a, dot.a.data(), k},
           {"b", i.b, dot.b.data(), IsAbsent(*i.b) ? 0 : k},
           {"c", i.c, &dot.c, IsAbsent(*i.c) ? 0 : 1, false},
           {"sa", i.scale, dot.a.data() + k, scales},
           {"sb", i.scale, dot.b.data() + k, scales},
           {"e", &kMetadataFormat, dot.metadata.data(), i.shape.groups}}};
}

// "a0..a15 b0..b15 c sa0 sb0", and the number of these words.
std::string OperandNames(const Instruction& instruction, int* words) {
  const std::vector<uint64_t> row(instruction.shape.row_words());
  const DotProductCase none = {row, row, 0, std::vector<uint64_t>(instruction.shape.groups)};
  std::string text;
  *words = 0;
  for (const auto& s : SegmentsOf<const uint64_t>(instruction, none)) {
    if (s.count == 0) continue;
    *words += s.count;
    absl::StrAppend(&text, text.empty() ? "" : " ", s.name);
    if (s.numbered) text += '0';
    if (s.count > 1) absl::StrAppend(&text, "..", s.name, s.count - 1);
  }
  return text;
}

absl::Status WordCountError(const Instruction& instruction, absl::string_view line) {
  int words;
  const std::string names = OperandNames(instruction, &words);
  return absl::InvalidArgumentError(absl::StrCat(CountWords(line), " words, but ", instruction.name,
                                                 " has ", words, " (", names, "), or ", words + 1,
                                                 " with the result d"));
}

// Reads the words of one line from left to right.
class WordReader {
 public:
  WordReader(const Instruction& instruction, absl::string_view line)
      : instruction_(instruction), line_(line) {}

  bool AtEnd() const {
    size_t position = position_;
    return NextWord(line_, &position).empty();
  }

  // `name` and `index` (-1: none) identify the word.
  absl::Status Read(const Format& format, const char* name, int index, uint64_t* word) {
    const absl::string_view text = NextWord(line_, &position_);
    if (text.empty()) return WordCountError(instruction_, line_);
    ++number_;
    if (ReadHex(format, text, word)) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        "word ", number_, " (", name, index < 0 ? "" : absl::StrCat(index), "), column ",
        position_ - text.size() + 1, ": ", DescribeBadWord(format, text)));
  }

 private:
  const Instruction& instruction_;
  const absl::string_view line_;
  size_t position_ = 0;
  int number_ = 0;
};

// A line without metadata is at least one word shorter, even with d. A single word of metadata cannot be
// left out before d.
bool HasMetadata(const Instruction& instruction, absl::string_view line) {
  if (!instruction.sparse()) return false;
  int words;
  OperandNames(instruction, &words);
  const int left_out = instruction.shape.groups, d = left_out > 1 ? 1 : 0;
  return CountWords(line) > static_cast<size_t>(words - left_out + d);
}

bool IsUnknownDigit(char c) {
  return absl::string_view("xXzZuUwW?-").find(c) != absl::string_view::npos;
}

// The kind of failure for text that is not a word of the format.
FailureKind FailureOfWord(const Format& format, absl::string_view word) {
  bool unknown = false;
  for (const char c : word) {
    if (absl::ascii_isxdigit(c)) continue;
    if (!IsUnknownDigit(c)) return FailureKind::kText;
    unknown = true;
  }
  const auto digits = static_cast<size_t>(HexDigits(format));
  if (!unknown) return FailureKind::kWidth;
  return word.size() == digits ? FailureKind::kUnknownBits : FailureKind::kText;
}

}  // namespace

bool IsComment(absl::string_view line) {
  size_t position = 0;
  const absl::string_view word = NextWord(line, &position);
  return word.empty() || word[0] == '#';
}

absl::StatusOr<ProtocolLine> ParseLine(const Instruction& instruction, absl::string_view line) {
  ProtocolLine parsed;
  parsed.dot.a.resize(instruction.shape.row_words());
  parsed.dot.b.resize(instruction.shape.row_words());
  if (HasMetadata(instruction, line)) parsed.dot.metadata.resize(instruction.shape.groups);
  WordReader reader(instruction, line);
  for (const auto& s : SegmentsOf<uint64_t>(instruction, parsed.dot)) {
    for (int i = 0; i < s.count && s.words != nullptr; ++i) {
      RETURN_IF_ERROR(reader.Read(*s.format, s.name, s.numbered ? i : -1, &s.words[i]));
    }
  }
  const std::vector<uint64_t>& metadata = parsed.dot.metadata;
  std::string why = WhyUndefined(instruction, metadata);
  if (why.empty()) why = WhyNotSparse(instruction, parsed.dot.a, metadata);
  if (!why.empty()) return absl::InvalidArgumentError(why);
  if (instruction.sparse()) parsed.dot.metadata = StoredMetadata(instruction.shape, parsed.dot);
  if (reader.AtEnd()) return parsed;
  RETURN_IF_ERROR(reader.Read(*instruction.d, "d", -1, &parsed.d.emplace()));
  if (!reader.AtEnd()) return WordCountError(instruction, line);
  return parsed;
}

absl::StatusOr<AnswerLine> ParseAnswer(const Instruction& instruction, absl::string_view line) {
  const absl::string_view stripped = absl::StripAsciiWhitespace(line);
  const size_t space = stripped.find_last_of(" \t");
  const bool alone = space == stripped.npos;
  const absl::string_view word = alone ? stripped : stripped.substr(space + 1);
  const absl::StatusOr<uint64_t> d = ParseHexWord(*instruction.d, word);
  AnswerLine answer;
  if (d.ok()) {
    answer.d = *d;
  } else {
    const FailureKind kind = FailureOfWord(*instruction.d, word);
    if (ScopeOf(kind) != FailureScope::kWord) return d.status();
    answer.failure = {.kind = kind, .text = std::string(d.status().message())};
  }
  if (alone) return answer;
  absl::StatusOr<ProtocolLine> asked = ParseLine(instruction, stripped.substr(0, space));
  if (asked.ok() && !asked->d.has_value()) {
    answer.dot = std::move(asked->dot);
    return answer;
  }
  ASSIGN_OR_RETURN(const ProtocolLine whole, ParseLine(instruction, stripped));
  return absl::InvalidArgumentError(
      "it repeats the operands without a result; append the result d in hexadecimal as its last "
      "word");
}

std::string FormatLine(const Instruction& instruction, const DotProductCase& dot,
                       std::optional<uint64_t> d) {
  std::string line;
  DotProductCase given;
  if (instruction.sparse()) {
    given = dot;
    given.metadata = StoredMetadata(instruction.shape, dot);
  }
  for (const auto& s :
       SegmentsOf<const uint64_t>(instruction, instruction.sparse() ? given : dot)) {
    for (int i = 0; i < s.count; ++i) {
      if (!line.empty()) line += ' ';
      AppendHex(*s.format, s.words[i], line);
    }
  }
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

bool EndsInWholeWord(const Format& format, absl::string_view line) {
  uint64_t word;
  line = absl::StripTrailingAsciiWhitespace(line);
  const size_t before = line.find_last_of(" \t");
  const absl::string_view last = line.substr(before == line.npos ? 0 : before + 1);
  return last.size() == static_cast<size_t>(HexDigits(format)) && ReadHex(format, last, &word);
}

absl::StatusOr<uint64_t> ParseHexWord(const Format& format, absl::string_view text) {
  uint64_t word;
  if (!ReadHex(format, text, &word)) {
    return absl::InvalidArgumentError(DescribeBadWord(format, text));
  }
  return word;
}

}  // namespace mmadiff

// The line protocol: one dot product per line, `a0 .. a(K-1) b0 .. b(K-1) c [d]`, words in
// hexadecimal in the operand's own width (HexDigits: whole bytes), written in lower case, read in
// either case. For a block-scaled instruction, c is followed by the scales of a and then those of
// b: `a0 .. b(K-1) c sa0 .. sa(S-1) sb0 .. sb(S-1) [d]`. For a sparse instruction, its metadata come
// last (sim/sparsity.h): `.. e0 .. e(G-1) [d]`; a line that is read may leave them out. Blank lines and lines that start with '#'
// are comments.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "device/answers.h"
#include "sim/batch.h"
#include "sim/operation.h"

namespace mmadiff {

struct ProtocolLine {
  DotProductCase dot;
  std::optional<uint64_t> d;  // present if the line has one more word
};

bool IsComment(absl::string_view line);

// kInvalidArgument names the word and its column ("word 3 (a2), column 11: ..."): a wrong number of
// words (with the expected number), a character that is not a hex digit, too many digits or bits
// for the format. Also metadata that do not fit A, or a dense A (sim/sparsity.h).
absl::StatusOr<ProtocolLine> ParseLine(const Instruction& instruction, absl::string_view line);

// Without a line end. `d` is appended when present.
std::string FormatLine(const Instruction& instruction, const DotProductCase& dot,
                       std::optional<uint64_t> d = std::nullopt);

// A program's answer to a dot product: its line with d as one more word, or d alone. Instead of d
// there may be text that is not a word (FailureScope::kWord).
struct AnswerLine {
  std::optional<DotProductCase> dot;
  uint64_t d = 0;
  std::optional<InputFailure> failure;
};
// kInvalidArgument, as for ParseLine(): any other text.
absl::StatusOr<AnswerLine> ParseAnswer(const Instruction& instruction, absl::string_view line);

// One word, HexDigits(format) digits.
std::string HexWord(const Format& format, uint64_t word);
// The inverse; kInvalidArgument describes the error in the text.
absl::StatusOr<uint64_t> ParseHexWord(const Format& format, absl::string_view text);
bool EndsInWholeWord(const Format& format, absl::string_view line);  // with all digits

}  // namespace mmadiff

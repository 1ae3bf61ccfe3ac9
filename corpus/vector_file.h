// Vectors: dot products with what sources say that hardware or a model answers, one text file a
// source (corpus/vectors). The format, with '#' comments and a blank line between records:
//
//   source: Author: Title (year)          header, once
//   link: where to find it                optional
//
//   vector: name                          [a-z0-9_]+; FILE/name everywhere else
//   about: what it shows
//   section: where in the source          optional
//   formats: d a b c [scale]
//   operands: a.. | b.. | c [| sa.. | sb..]
//   KIND: WORD ROWS [: who]               KIND of AnswerKind, WORD may be NAN
//   reason: why sources differ            with a contested answer
//
//   end                                   last line of the file: it was not cut off
//
// Operands are hexadecimal words as wide as the line protocol's, k ascending; missing elements are
// 0, missing scales 1.0. "@8" goes on at k = 8, "W*" fills the rest with W. Several operand lines
// have the same answers. ROWS are ARCH/INSTRUCTION with braces (sim/pattern.h) and '*'.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/batch.h"
#include "sim/operation.h"

namespace mmadiff {

enum class AnswerKind : uint8_t {
  kObserved,   // hardware gave it, says the source
  kPublished,  // the source states it of that architecture, and names no device that gave it
  kExpected,   // worked out by hand or by an independent model
  kContested,  // somebody said it, and the model gives another word: a known difference
};
const char* Name(AnswerKind kind);

struct VectorAnswer {
  AnswerKind kind = AnswerKind::kExpected;
  uint64_t d = 0;
  bool any_nan = false;               // the word is NAN; d is one of them
  std::string patterns;               // of the operations, as written
  std::vector<const Operation*> ops;  // at least one
  std::string who;                    // empty: not said
};

struct Vector {
  std::string name;  // FILE/NAME
  std::string about, section, reason;
  const Format *d = nullptr, *a = nullptr, *b = nullptr, *c = nullptr, *scale = nullptr;
  std::vector<std::string> operands;  // at least one
  std::vector<VectorAnswer> answers;  // none where only a question needs the vector
};

struct VectorFile {
  std::string source, link;
  std::vector<Vector> vectors;  // at least one
};

// kDataLoss names `where`, the line, and what to do. The stem of `where` is the FILE of the
// names. Only the file "questions" may have vectors without answers. Texts have no control
// characters.
absl::StatusOr<VectorFile> ParseVectors(absl::string_view text, absl::string_view where);
absl::StatusOr<VectorFile> ReadVectors(const std::string& path);

// Whether a text holds dot products in the line protocol: it says "# instruction: ", or its first
// line that is no comment has nothing but hexadecimal words.
bool IsLineProtocol(absl::string_view text);
// The *.txt below a folder, or the one file, in the order of their paths, but for recordings in the
// line protocol. What cannot be read is among them: ReadVectors() says why. Errors as FilesBelow().
absl::StatusOr<std::vector<std::string>> ListVectorFiles(const std::string& path);

// One operand line as a dot product of the operation; kInvalidArgument when its formats or k do not
// fit.
absl::StatusOr<DotProductCase> DotProductOf(const Vector& vector, absl::string_view operands,
                                            const Operation& op);

// What there is to compare: every answer x its operations x the operand lines, in this order.
struct VectorCase {
  const VectorAnswer* answer = nullptr;
  const Operation* op = nullptr;
  DotProductCase dot;
};
std::vector<VectorCase> CasesOf(const Vector& vector);

// Whether `d` is the answer: equal bits, or two NaNs where the answer or the operation leaves their
// bits open.
bool Is(const VectorAnswer& answer, const Operation& op, uint64_t d);

// The word of an answer as the file has it.
std::string WordText(const Vector& vector, const VectorAnswer& answer);

// The files of corpus/vectors as they were when the program was built.
std::span<const VectorFile> EmbeddedVectors();
// nullptr when there is none of that name.
const Vector* FindVector(absl::string_view name);

}  // namespace mmadiff

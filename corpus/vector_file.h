// Vectors: dot products with the answers that sources report for hardware or a model, one text file
// per source (corpus/vectors). The format has '#' comments and a blank line between records:
//
//   source: Author: Title (year)          header, once
//   link: where to find it                optional
//
//   vector: name                          [a-z0-9_]+; FILE/name everywhere else
//   about: the purpose of the vector
//   section: where in the source          optional
//   formats: d a b c [scale]
//   operands: a.. | b.. | c [| sa.. | sb..]
//   KIND: WORD OPERATIONS [: who]         KIND of AnswerKind, WORD may be NAN
//   reason: why sources differ            with a contested answer
//   reading: WORD TEXT                    conclusion about the hardware if it answers WORD
//
//   end                                   last line of the file: it was not cut off
//
// Operands are hexadecimal words as wide as in the line protocol, k ascending. Missing elements are
// 0, missing scales 1.0. "@8" continues at k = 8, "W*" fills the rest with W. Several operand lines
// share the same answers. OPERATIONS are ARCH/INSTRUCTION with braces (sim/pattern.h) and '*'.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "corpus/vector.h"

namespace mmadiff {

struct VectorFile {
  std::string source, link;
  std::vector<Vector> vectors;  // at least one
};

// kDataLoss with `where`, the line, and advice. The stem of `where` is the FILE of the names. Only
// the file "questions" may have vectors without answers. Texts have no control characters.
absl::StatusOr<VectorFile> ParseVectors(absl::string_view text, absl::string_view where);

// One operand line as a dot product of the operation. kInvalidArgument if its formats or k do not
// fit, or if A is dense and the instruction is sparse (sim/sparsity.h).
absl::StatusOr<DotProductCase> DotProductOf(const Vector& vector, absl::string_view operands,
                                            const Operation& op);

// The files of corpus/vectors as of the build of the program.
std::span<const VectorFile> EmbeddedVectors();
// nullptr if no vector has this name.
const Vector* FindVector(absl::string_view name);

}  // namespace mmadiff

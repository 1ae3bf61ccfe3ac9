// Comments in the line protocol that say what a stream or a file holds:
//   # lines: N               N dot products follow
//   # lines: N then a hash   the same; the file is damaged without `# answers:`
//   # operands: HHHHHHHHHHHHHHHH   XXH3-64 of the dot products since `# lines:` as FormatLine()
//                                  writes them without d, each with its line end
//   # answers: HHHHHHHHHHHHHHHH    XXH3-64 of all bytes before this line, from the start of the
//                                  file or the last such line on
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"

struct XXH3_state_s;

namespace mmadiff {

// XXH3-64 of text that comes in parts.
class TextHash {
 public:
  TextHash();

  void Add(absl::string_view text);
  // 16 hex digits of what came since the last Take().
  std::string Take();

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const;
  };
  const std::unique_ptr<XXH3_state_s, Free> state_;
};

// `rest` is what follows "# lines:". False when that is not as above.
bool ParseLineCount(absl::string_view rest, uint64_t* lines, bool* then_a_hash);

// Whether the line is a comment `# KEY: REST`; `*rest` is without white space around it.
bool IsLineComment(absl::string_view line, absl::string_view key, absl::string_view* rest);

// `text`, lines with their ends, with a last line `# answers: HASH`.
std::string WithAnswersHash(std::string text);
// The same with a comment `title` and `# lines: N then a hash` before them: a part of this is nothing.
std::string AnswersFile(absl::string_view title, absl::string_view lines);

}  // namespace mmadiff

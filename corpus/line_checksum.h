// Comments in the line protocol that describe a stream or a file:
//   # lines: N               N dot products follow
//   # lines: N then a hash   the same; the file is damaged without `# answers:`
//   # operands: HHHHHHHHHHHHHHHH   XXH3-64 of the dot products since `# lines:` as FormatLine()
//                                  writes them without d, each with its line end
//   # answers: HHHHHHHHHHHHHHHH    XXH3-64 of all bytes before this line, since the start of the
//                                  file or the previous such line
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"

struct XXH3_state_s;

namespace mmadiff {

// XXH3-64 of text that arrives in parts.
class TextHash {
 public:
  TextHash();

  void Add(absl::string_view text);
  // 16 hex digits: the hash of the text added since the last Take().
  std::string Take();

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const;
  };
  const std::unique_ptr<XXH3_state_s, Free> state_;
};

// `rest` is the text after "# lines:". False if it does not have one of the forms above.
bool ParseLineCount(absl::string_view rest, uint64_t* lines, bool* then_a_hash);

// Whether the line is a comment `# KEY: REST`. `*rest` has no surrounding white space.
bool IsLineComment(absl::string_view line, absl::string_view key, absl::string_view* rest);

// `text`, lines with their ends, plus a last line `# answers: HASH`.
std::string WithAnswersHash(std::string text);
// The same, with a comment `title` and `# lines: N then a hash` before the lines, so a partial file
// is rejected.
std::string AnswersFile(absl::string_view title, absl::string_view lines);

}  // namespace mmadiff

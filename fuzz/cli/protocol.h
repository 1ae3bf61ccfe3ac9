// Line protocol on stdin and stdout, shared by gen, eval and check. A stream begins with `#
// instruction: ARCH/INSTRUCTION` and `# lines: N`, so that a truncated stream is detected, and ends
// with `# operands: HASH` (corpus/line_checksum.h), so that changed lines are detected.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "corpus/line_checksum.h"
#include "device/line_protocol.h"

namespace mmadiff {

// The comment lines at the start of a stream.
std::string StreamHeader(const Operation& op, uint64_t lines);

// A portion of parsed lines, with the line number of each.
struct Portion {
  Batch batch;      // has the shape DotProductShape()
  Answers answers;  // results, if the lines have any
  std::vector<uint64_t> line;
};

class StdinReader {
 public:
  // Both are called in the order of the lines.
  using Deliver = std::function<absl::Status(const Portion&)>;
  using Comment = std::function<void(absl::string_view)>;  // a line that begins with '#'

  // `with_results`: every line must have d or a failure in its place (ParseAnswer()); otherwise d
  // is optional and ignored. `alike`: further operations that the stream may name.
  StdinReader(const Operation& op, bool with_results, Deliver deliver, Comment comment = nullptr,
              std::vector<const Operation*> alike = {})
      : op_(op),
        alike_(std::move(alike)),
        with_results_(with_results),
        deliver_(std::move(deliver)),
        comment_(std::move(comment)) {}

  // Reads stdin to its end. kDataLoss, with the line number, for a line that cannot be read, names
  // a different instruction, does not match the hash in `# operands:`, or has no line end after `#
  // lines:`. All lines before it are still delivered.
  absl::Status Read();
  // The sum of all `# lines: N`; nullopt without any.
  std::optional<uint64_t> announced() const { return announced_; }
  // Whether there were as many `# operands: HASH`.
  bool sealed() const { return sealed_ == 0; }

 private:
  absl::StatusOr<bool> NextLine();
  absl::Status Line();
  absl::Status ReadComment();
  absl::Status Announce(absl::string_view count);
  absl::Status DotProduct();
  absl::Status Flush();
  absl::Status Error(absl::string_view what) const;

  const Operation& op_;
  const std::vector<const Operation*> alike_;
  const bool with_results_;
  const Deliver deliver_;
  const Comment comment_;
  std::string line_;
  uint64_t number_ = 0;  // number of line_, from 1
  std::vector<DotProductCase> dots_;
  Portion portion_;
  std::optional<uint64_t> announced_;
  int64_t sealed_ = 0;  // number of `# operands:` minus number of `# lines:`
  TextHash operands_;   // hash of the lines since `# lines:`
};

}  // namespace mmadiff

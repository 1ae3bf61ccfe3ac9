// Recorded answers of hardware.
//
// PATH is one of:
//   a block log (written by `record`: outputs only, inputs named by their cases)
//   a folder that `record` wrote (corpus/recordings/recording_folder.h)
//   the folder of a survey (corpus/recordings/survey_answers.h)
//   a folder of text cases and of line-protocol files whose names give their operation
//   one text case (*.txtpb)
//   a line-protocol file, as text or gzip
// A line-protocol file names its operation in a comment `# instruction: ARCH/INSTRUCTION` or in its
// file name, ARCH[.ANYTHING].INSTRUCTION.txt[.gz], and the device in `# device: IDENTITY` (else
// ANYTHING). Predictions, the answers of "model" in text cases, are not recordings and are skipped.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "corpus/block_log.h"
#include "corpus/cases/case_name.h"
#include "corpus/ledger.h"
#include "corpus/stored_at.h"
#include "device/device.h"
#include "sim/batch.h"
#include "sim/operation.h"

namespace mmadiff {

// Consecutive recorded executions of one operation, which may have no model. If inputs.stream is
// not empty, then inputs.a, b and c are empty: the inputs are the cases stream:first ..
// stream:first+count-1, and InputsOf() generates them.
struct Recording {
  const Operation* op = nullptr;
  Batch inputs;
  std::vector<uint64_t> d;  // inputs.dot_products() words
  std::string identity;     // the device that answered
  StoredAt where;           // dot product i is at line `where` + i
};

// The inputs, generated if the recording only names them. kDataLoss if the name is invalid or
// belongs to a different operation.
absl::StatusOr<Batch> InputsOf(const Recording& recording);

// The stream that a file names together with the operation. kDataLoss if the name is invalid or
// belongs to a different operation.
absl::StatusOr<CaseStream> StoredStream(const std::string& name, const Operation& op);

// The place of dot product `index` in a recording: "FILE:LINE", or the place and the case.
std::string WhereOf(const Recording& recording, int64_t index);

struct RecordingStats {
  uint64_t dot_products = 0;
  std::set<std::string> dropped;  // operations of a folder of which `record` kept nothing as
                                  // evidence
  std::vector<Damage> damage;     // in block logs; their good records are still delivered
  Ledger ledger;                  // the files of a folder
};

// Delivers everything in PATH in portions of at most about 64 K words. `instruction` names the
// operation of line-protocol files that do not name it; if it is empty, every file must name its
// own. `run` is the run of a block log, if the caller has it. Errors:
//   kNotFound           no such file
//   kInvalidArgument    the operation is named neither by the file nor by `instruction`; PATH is
//                       neither a folder nor a regular file, such as a pipe (PATH is read more than
//                       once); PATH is a folder that contains folders written by `record`
//   kDataLoss           an empty recording; a malformed line, with FILE:LINE and the word, after the
//                       lines before it were delivered
// Delivers no line of a damaged or truncated gzip file.
absl::StatusOr<RecordingStats> ReadRecordings(
    const std::string& path, const std::string& instruction,
    absl::FunctionRef<absl::Status(const Recording&)> deliver, std::optional<RunId> run = {});

// Whether the recording is complete and the path has no other answers: kDataLoss for damage, and
// for answers next to a recording.
absl::Status CheckWhole(const std::string& path, const RecordingStats& stats);

// Writes a recording as a block log: portions of outputs keyed by Batch::stream and Batch::first.
class RecordingWriter {
 public:
  static absl::StatusOr<std::unique_ptr<RecordingWriter>> Create(const std::string& path,
                                                                 RunId run = RandomRunId());
  // batch.stream must not be empty. Splits outputs that do not fit in one block.
  absl::Status Append(const Operation& op, const Batch& batch, const std::vector<uint64_t>& d,
                      const std::string& identity);
  absl::Status Flush();
  absl::Status Finish();  // flushes and writes the end mark, without which a log is damaged

 private:
  explicit RecordingWriter(std::unique_ptr<BlockLogWriter> log);
  std::unique_ptr<BlockLogWriter> log_;
};

}  // namespace mmadiff

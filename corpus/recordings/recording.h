// Recorded answers of hardware.
//
// PATH is a block log (written by `record`: outputs only, inputs named by their cases), a folder
// that `record` wrote (corpus/recordings/recording_folder.h), the folder of a survey
// (corpus/recordings/survey_answers.h), a folder of text cases and line-protocol files whose names
// say their operation, one text case (*.txtpb), or a line-protocol file, as text or gzip. A line-protocol file says its operation in a
// comment `# instruction: ARCH/INSTRUCTION` or in its name, ARCH[.ANYTHING].INSTRUCTION.txt[.gz],
// and who answered in `# device: IDENTITY` (else ANYTHING).
// Predictions, the answers of "model" in text cases, are no recordings and are passed over.
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

// Consecutive recorded executions of one operation, perhaps one without a model. When inputs.stream is not empty, inputs.a, b
// and c are empty: they are the cases stream:first .. stream:first+count-1, and InputsOf()
// generates them.
struct Recording {
  const Operation* op = nullptr;
  Batch inputs;
  std::vector<uint64_t> d;  // inputs.dot_products() words
  std::string identity;     // of the device that answered
  StoredAt where;           // dot product i is in the line `where` + i
};

// The inputs, generated where a recording only names them; kDataLoss when it names none, or those
// of another operation.
absl::StatusOr<Batch> InputsOf(const Recording& recording);

// The stream that a file names beside the operation; kDataLoss when it is none, or of another
// operation.
absl::StatusOr<CaseStream> StoredStream(const std::string& name, const Operation& op);

// Of dot product `index` of a recording: "FILE:LINE", or the place and the case.
std::string WhereOf(const Recording& recording, int64_t index);

struct RecordingStats {
  uint64_t dot_products = 0;
  std::set<std::string> dropped;  // operations of a folder, of which `record` kept none as evidence
  std::vector<Damage> damage;     // of block logs; good records were delivered all the same
  Ledger ledger;                  // of the files of a folder
};

// Delivers everything in PATH in portions of at most about 64 K words. `instruction` names the
// operation of line-protocol files that do not say it; empty to rely on the file, and when neither
// says it, that is kInvalidArgument; so is a PATH that is neither folder nor regular file, such as
// a pipe: it is read more than once; so is a folder with folders that `record` wrote. `run` is that of a block log, when the caller knows it.
// kNotFound for no file. A malformed line is kDataLoss with FILE:LINE and the word, after the lines
// before it; so is an empty recording. Of a damaged or truncated gzip file no line is delivered.
absl::StatusOr<RecordingStats> ReadRecordings(
    const std::string& path, const std::string& instruction,
    absl::FunctionRef<absl::Status(const Recording&)> deliver, std::optional<RunId> run = {});

// Whether that is all that the path has of one device: kDataLoss for damage, and for answers beside a recording.
absl::Status CheckWhole(const std::string& path, const RecordingStats& stats);

// Writes a recording as a block log: portions of outputs keyed by Batch::stream and Batch::first.
class RecordingWriter {
 public:
  static absl::StatusOr<std::unique_ptr<RecordingWriter>> Create(const std::string& path,
                                                                 RunId run = RandomRunId());
  // batch.stream must not be empty. Splits what does not fit a block.
  absl::Status Append(const Operation& op, const Batch& batch, const std::vector<uint64_t>& d,
                      const std::string& identity);
  absl::Status Flush();
  absl::Status Finish();  // flushes and writes the end mark, without which a log is damaged

 private:
  explicit RecordingWriter(std::unique_ptr<BlockLogWriter> log);
  std::unique_ptr<BlockLogWriter> log_;
};

}  // namespace mmadiff

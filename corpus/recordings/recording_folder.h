// A folder of recorded answers: at most eight files of less than 16 MB that anyone can verify
// without the device:
//   recording.txtpb   the device, the time, the instructions; size and checksum of the other files
//   raw-N.log         answers to the first cases of every strategy (block logs)
//   regressions.txt   answers to regression cases (line protocol)
//   digests.log       digests of the answers to many units of cases (block log)
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "corpus/recordings/recording.h"
#include "corpus/run_record.h"
#include "device/watcher.h"

namespace mmadiff {

inline constexpr uint64_t kMaxRecordingFileBytes = 16'000'000;
inline constexpr int kMaxRawFiles = 5;

struct RecordingManifest {
  struct Instruction {
    std::string name;
    bool emulated = false;
    uint64_t raw_cases = 0;  // whole executions of each strategy, from case 0
    uint64_t repeated = 0;   // of these dot products, the number queried twice with equal answers
    uint64_t regressions = 0;
    uint64_t digest_units = 0, unit_cases = 0;
  };
  struct File {
    std::string name;
    uint64_t bytes = 0;
    std::string xxh3;  // hash of the contents, 32 hex digits
  };

  std::string tool_version, model_version;
  uint32_t generator_version = 0;
  uint64_t seed = 0;
  std::string device;
  Identity device_identity;
  std::string date;
  std::vector<Instruction> instructions;
  // Filled by RecordingFolderWriter::Commit():
  std::string run;  // named by every block of the logs, 32 hex digits
  std::vector<File> files;
};

// Digests of consecutive units. Unit u is the cases from first + u * unit_cases to first + (u + 1)
// * unit_cases - 1.
struct RecordedDigests {
  const Operation* op = nullptr;
  std::string stream;
  uint64_t first = 0, unit_cases = 0;
  std::vector<Digest> digests;
  std::string identity;  // the device that answered
};

// Writes to a temporary folder next to `path` and renames it to `path` in Commit(), so the
// recording is complete or does not exist. Create() first removes leftovers of the same recording
// from killed processes on this host.
class RecordingFolderWriter {
 public:
  // kAlreadyExists if the path exists; kDataLoss if nothing can be written.
  static absl::StatusOr<std::unique_ptr<RecordingFolderWriter>> Create(const std::string& path);
  ~RecordingFolderWriter();  // removes the folder if it was not committed

  // As RecordingWriter::Append(). Starts a new file when one is full. kResourceExhausted when all
  // are full.
  absl::Status AppendRaw(const Operation& op, const Batch& batch, const std::vector<uint64_t>& d,
                         const std::string& identity);
  absl::Status WriteRegressions(const std::string& lines);
  absl::Status WriteDigests(const std::vector<RecordedDigests>& all);
  absl::Status Commit(RecordingManifest manifest);

 private:
  RecordingFolderWriter(std::string path, std::string temporary, Fd lock)
      : path_(std::move(path)), temporary_(std::move(temporary)), lock_(std::move(lock)) {}

  std::string NewFile(const std::string& name);  // returns its path
  absl::Status FinishRaw();

  const RunId run_ = RandomRunId();
  std::string path_, temporary_;    // temporary_ is empty once committed
  Fd lock_;                         // on a file in the temporary folder, held while it is written
  std::vector<std::string> names_;  // names of the files written
  std::unique_ptr<RecordingWriter> raw_;
  int raw_files_ = 0;
};

// True if the folder has at least one of these files.
bool IsRecordingFolder(const std::string& path);
// Whether the name is that of one of these files.
bool IsRecordingFile(absl::string_view name);
// All recording folders below a folder, sorted. Errors as FilesBelow().
absl::StatusOr<std::vector<std::string>> RecordingFoldersBelow(const std::string& folder);

// kNotFound or kDataLoss with a description of the problem.
absl::StatusOr<RecordingManifest> ReadRecordingManifest(const std::string& folder);

// The part of ReadRecordings() for a recording folder: raw answers and regressions. A file that is
// missing or does not match the manifest is damage; block logs still deliver their good records.
// Without a good manifest, the regressions cannot be verified and are not used.
absl::Status ReadRecordingFolder(const std::string& folder,
                                 absl::FunctionRef<absl::Status(const Recording&)> deliver,
                                 RecordingStats& stats);

// Delivers all digests of the folder and returns the damage of digests.log. kDataLoss if a digest
// has an invalid operation, an invalid unit, or cases beyond 2^64.
absl::StatusOr<std::vector<Damage>> ReadDigests(
    const std::string& folder, absl::FunctionRef<absl::Status(const RecordedDigests&)> deliver);

}  // namespace mmadiff

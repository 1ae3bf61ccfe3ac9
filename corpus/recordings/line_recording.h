// Recordings in the line protocol, plain or gzip: a part of ReadRecordings().
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "corpus/recordings/recording.h"

namespace mmadiff {

// The facts in a file name ARCH[.ANYTHING].INSTRUCTION.txt[.gz]. ARCH ends at the first '.';
// INSTRUCTION is the longest instruction name, of any legal size, at the end. `op` is nullptr if
// the name contains no instruction, or none of ARCH.
struct FileNameFacts {
  const Operation* op = nullptr;
  std::string anything;
};
FileNameFacts FactsOfFileName(absl::string_view path);

// The files below a folder whose names give their operation, sorted. Errors as FilesBelow().
absl::StatusOr<std::vector<std::string>> LineRecordingsBelow(const std::string& folder);

// As ReadRecordings() for one file. Adds to `dot_products`. A comment "# lines: N" announces N dot
// products, up to the next such comment or the end; any other number is kDataLoss. A missing or
// wrong hash (corpus/line_checksum.h) is also kDataLoss; then no line is delivered.
absl::Status ReadLineRecording(const std::string& path, const std::string& instruction,
                               absl::FunctionRef<absl::Status(const Recording&)> deliver,
                               uint64_t& dot_products);

}  // namespace mmadiff

// Vector files below a folder.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "corpus/vector_file.h"

namespace mmadiff {

absl::StatusOr<VectorFile> ReadVectors(const std::string& path);  // errors as ParseVectors()

// Whether a text holds dot products in the line protocol: it says "# instruction: ", or its first
// line that is no comment has nothing but hexadecimal words.
bool IsLineProtocol(absl::string_view text);
// The *.txt below a folder, or the one file, in the order of their paths, but for recordings in the
// line protocol. What cannot be read is among them: ReadVectors() says why. Errors as FilesBelow().
absl::StatusOr<std::vector<std::string>> ListVectorFiles(const std::string& path);

}  // namespace mmadiff

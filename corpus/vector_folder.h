// Vector files below a folder.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "corpus/vector_file.h"

namespace mmadiff {

absl::StatusOr<VectorFile> ReadVectors(const std::string& path);  // errors as ParseVectors()

// Whether a text holds dot products in the line protocol: it contains "# instruction: ", or its
// first line that is not a comment has only hexadecimal words.
bool IsLineProtocol(absl::string_view text);

}  // namespace mmadiff

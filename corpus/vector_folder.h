// Vector files below a folder.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "corpus/vector_file.h"

namespace mmadiff {

absl::StatusOr<VectorFile> ReadVectors(const std::string& path);  // errors as ParseVectors()

// Whether a text holds dot products in the line protocol: it says "# instruction: ", or its first
// line that is no comment has nothing but hexadecimal words.
bool IsLineProtocol(absl::string_view text);

}  // namespace mmadiff

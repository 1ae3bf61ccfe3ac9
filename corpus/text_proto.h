// Strict reading and writing of text protos, for regression_case.cc, run_record.cc and
// recording_folder.cc.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace google::protobuf {
class Message;
}

namespace mmadiff {

// Our text protos are far smaller. A larger text is refused before it is parsed.
inline constexpr size_t kMaxTextProtoBytes = 4 << 20;

// kDataLoss with `where`, the line and column of the first error, and the number of further errors.
// Unknown fields and repeated singular fields are errors.
absl::Status ParseTextProto(absl::string_view text, absl::string_view where,
                            google::protobuf::Message& message);

std::string FormatTextProto(const google::protobuf::Message& message);

// Returns the text plus a last line with the XXH3-128 of everything before it.
std::string Seal(std::string text);
// Returns the text that was passed to Seal(). kDataLoss with `where` if the text was changed or
// damaged since.
absl::StatusOr<absl::string_view> Unseal(absl::string_view text, absl::string_view where);

unsigned __int128 Xxh3(absl::string_view bytes);
// XXH3-128 as 32 hexadecimal digits.
std::string Xxh3Hex(absl::string_view bytes);

}  // namespace mmadiff

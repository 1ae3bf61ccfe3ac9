// Strict reading and writing of text protos, for regression_case.cc and run_record.cc.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace google::protobuf {
class Message;
}

namespace mmadiff {

// No text proto of ours comes near this; a larger text is refused before it is parsed.
inline constexpr size_t kMaxTextProtoBytes = 4 << 20;

// kInvalidArgument names `where`, line and column of the first error and how many follow. Unknown
// and repeated singular fields are errors.
absl::Status ParseTextProto(absl::string_view text, absl::string_view where,
                            google::protobuf::Message& message);

std::string FormatTextProto(const google::protobuf::Message& message);

}  // namespace mmadiff

// Meanings as they are stored (proto/meaning.proto), for the .cc files of corpus/ that read and write
// protos.
#pragma once

#include "device/stop.h"

namespace google::protobuf {
class Message;
}

namespace mmadiff {

namespace proto {
class StopCause;
}

// False if an enum field, at any depth, holds a number that this program does not know. Get() is for
// messages that it accepts.
bool KnowsAllNumbers(const google::protobuf::Message& message);

void Set(const StopCause& cause, proto::StopCause& out);
StopCause Get(const proto::StopCause& in);

}  // namespace mmadiff

// Meanings as they are stored (proto/meaning.proto), for the .cc files of corpus/ that read and write
// protos.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "corpus/agreement.h"
#include "corpus/bucket.h"
#include "corpus/ledger.h"
#include "device/hardware.h"
#include "device/identity.h"
#include "device/stop.h"

namespace google::protobuf {
class Message;
template <typename Element>
class RepeatedPtrField;
}  // namespace google::protobuf

namespace mmadiff {

namespace proto {
class IdentityFact;
class LeftOut;
class Machine;
class StopCause;
}  // namespace proto

// False if an enum field, at any depth, holds a number that this program does not know. Get() is for
// messages that it accepts.
bool KnowsAllNumbers(const google::protobuf::Message& message);

void Set(const StopCause& cause, proto::StopCause& out);
StopCause Get(const proto::StopCause& in);
void Set(const Machine& machine, proto::Machine& out);
Machine Get(const proto::Machine& in);

using StoredFacts = google::protobuf::RepeatedPtrField<proto::IdentityFact>;
void Set(const Identity& identity, StoredFacts& out);
// `name` is all that files from before facts were stored have. kDataLoss for a fact that this program does not know.
absl::StatusOr<Identity> Get(const StoredFacts& in, const std::string& name);

using StoredLeftOut = google::protobuf::RepeatedPtrField<proto::LeftOut>;
// Of what was not named only a few names.
void Set(const std::vector<LeftOutLine>& lines, StoredLeftOut& out);
// kDataLoss for a thing or a reason that this program does not know.
absl::StatusOr<std::vector<LeftOutLine>> Get(const StoredLeftOut& in);

}  // namespace mmadiff

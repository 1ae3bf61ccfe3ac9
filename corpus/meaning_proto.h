// Stored form of meanings (proto/meaning.proto), for the .cc files of corpus/ that read and write
// protos.
#pragma once

#include <vector>

#include "corpus/agreement.h"
#include "corpus/bucket.h"
#include "corpus/ledger.h"
#include "corpus/proto_io.h"
#include "device/hardware.h"
#include "device/identity.h"
#include "device/stop.h"

namespace mmadiff {

void StoredFields(ProtoIo& io, StopCause& cause);
void StoredFields(ProtoIo& io, Machine& machine);
void StoredFields(ProtoIo& io, unsigned __int128& digest);

// The fields `identity` and `device_identity`. Files written before facts were stored have only the
// name. kDataLoss for a fact that this program does not support.
void IdentityFields(ProtoIo& io, Identity& identity);
// The fields that all manifests share: the program that ran and the device that answered.
template <typename Manifest>
void ProvenanceFields(ProtoIo& io, Manifest& manifest) {
  io.Field("tool_version", manifest.tool_version);
  io.Field("model_version", manifest.model_version);
  io.Field("generator_version", manifest.generator_version);
  io.Field("seed", manifest.seed);
  io.Field("device", manifest.device);
  IdentityFields(io, manifest.device_identity);
}
// Stores only some of the names of things that were not named exactly. kDataLoss for a thing or a
// reason that this program does not support.
void StoredFields(ProtoIo& io, LeftOutLine& line);

}  // namespace mmadiff

#include "corpus/meaning_proto.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "corpus/old_text.h"
#include "proto/meaning.pb.h"
#include "proto/run.pb.h"

namespace mmadiff {

static_assert(proto::StopCause::Kind_ARRAYSIZE == kStopCauses);

void StoredFields(ProtoIo& io, StopCause& cause) {
  io.Field("kind", cause.kind);
  io.Field("signal", cause.signal);
}

// Key and value of a fact.
static void StoredFields(ProtoIo& io, std::pair<std::string, std::string>& fact) {
  io.Field("key", fact.first);
  io.Field("value", fact.second);
}

void IdentityFields(ProtoIo& io, Identity& identity) {
  std::vector<std::pair<std::string, std::string>> facts;
  for (const auto& [key, value] : identity.facts) facts.emplace_back(key->key, value);
  io.Field("identity", facts);
  if (!io.reading()) return;
  std::string name;
  io.Field("device_identity", name);
  identity = Identity::Named(name);
  for (const auto& [stored_key, value] : facts) {
    const IdentityKey* const key = FindIdentityKey(stored_key);
    if (key == nullptr) {
      return io.Fail(absl::DataLossError(absl::StrCat("unknown device fact '", stored_key, "'")));
    }
    const bool contents = key == FindIdentityKey("contents");
    identity.facts.push_back({key, contents ? ContentsOfOld(value) : value});
  }
}

static_assert(proto::Agreement_ARRAYSIZE == kAgreements);
static_assert(proto::CaseRole_ARRAYSIZE == kCaseRoles);
static_assert(proto::Scope_ARRAYSIZE == kScopes);
static_assert(proto::Hardware::Part_ARRAYSIZE == kHardwareParts);

static void StoredFields(ProtoIo& io, Hardware& hardware) {
  io.Field("unit", hardware.unit);
  io.Field("pci", hardware.pci);
  io.Field("part", hardware.part);
  io.Field("answered", hardware.answered);
  io.Field("of", hardware.of);
}

void StoredFields(ProtoIo& io, Machine& machine) {
  io.Field("host", machine.host);
  if (io.reading() || machine.hardware.known()) {
    io.Field("hardware", machine.hardware);
  }
}

void StoredFields(ProtoIo& io, unsigned __int128& digest) {
  auto low = static_cast<uint64_t>(digest), high = static_cast<uint64_t>(digest >> 64);
  io.Field("low", low);
  io.Field("high", high);
  digest = static_cast<unsigned __int128>(high) << 64 | low;
}

void StoredFields(ProtoIo& io, LeftOutLine& line) {
  constexpr size_t kMaxStoredNames = 3;
  std::string thing, reason;
  if (!io.reading()) {
    thing = Name(line.thing);
    reason = Name(line.reason);
    if (!line.exact) line.names.resize(std::min(line.names.size(), kMaxStoredNames));
  }
  io.Field("thing", thing);
  io.Field("reason", reason);
  io.Field("named", line.exact);
  io.Field("count", line.count);
  io.Field("asked", line.asked);
  io.Field("name", line.names);
  io.Field("detail", line.detail);
  const std::optional<Thing> known_thing = ParseThing(thing);
  const std::optional<Reason> known_reason = ParseReason(reason);
  if (!known_thing || !known_reason) {
    return io.Fail(absl::DataLossError(
        absl::StrCat("left_out: unknown thing '", thing, "' or reason '", reason, "'")));
  }
  line.thing = *known_thing;
  line.reason = *known_reason;
}

}  // namespace mmadiff

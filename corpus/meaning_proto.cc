#include "corpus/meaning_proto.h"

#include <google/protobuf/message.h>

#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "corpus/old_text.h"
#include "proto/meaning.pb.h"

namespace mmadiff {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

bool KnowsNumber(const FieldDescriptor& field, int number) {
  return field.enum_type()->FindValueByNumber(number) != nullptr;
}

bool KnowsOne(const Message& message, const FieldDescriptor& field, int i) {
  const Reflection& reflection = *message.GetReflection();
  const bool repeated = field.is_repeated();
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
    return KnowsNumber(field, repeated ? reflection.GetRepeatedEnumValue(message, &field, i)
                                       : reflection.GetEnumValue(message, &field));
  }
  return KnowsAllNumbers(repeated ? reflection.GetRepeatedMessage(message, &field, i)
                                  : reflection.GetMessage(message, &field));
}

}  // namespace

bool KnowsAllNumbers(const Message& message) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_ENUM &&
        field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      continue;
    }
    const int count = field->is_repeated() ? message.GetReflection()->FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i) {
      if (!KnowsOne(message, *field, i)) return false;
    }
  }
  return true;
}

static_assert(proto::StopCause::Kind_ARRAYSIZE == kStopCauses);

void Set(const StopCause& cause, proto::StopCause& out) {
  out.set_kind(static_cast<proto::StopCause::Kind>(cause.kind));
  out.set_signal(cause.signal);
}

StopCause Get(const proto::StopCause& in) {
  return {static_cast<StopCause::Kind>(in.kind()), in.signal()};
}

void Set(const Identity& identity, StoredFacts& out) {
  for (const auto& [key, value] : identity.facts) {
    proto::IdentityFact& added = *out.Add();
    added.set_key(key->key);
    added.set_value(value);
  }
}

absl::StatusOr<Identity> Get(const StoredFacts& in, const std::string& name) {
  Identity identity = Identity::Named(name);
  for (const proto::IdentityFact& fact : in) {
    const IdentityKey* const key = FindIdentityKey(fact.key());
    if (key == nullptr) {
      return absl::DataLossError(absl::StrCat("unknown fact '", fact.key(), "' of a device"));
    }
    const bool contents = key == FindIdentityKey("contents");
    identity.facts.push_back({key, contents ? ContentsOfOld(fact.value()) : fact.value()});
  }
  return identity;
}

static_assert(proto::Agreement_ARRAYSIZE == kAgreements);
static_assert(proto::CaseRole_ARRAYSIZE == kCaseRoles);
static_assert(proto::Scope_ARRAYSIZE == kScopes);
static_assert(proto::Hardware::Part_ARRAYSIZE == kHardwareParts);

void Set(const Machine& machine, proto::Machine& out) {
  const Hardware& hardware = machine.hardware;
  out.set_host(machine.host);
  if (!hardware.known()) return;
  proto::Hardware& added = *out.mutable_hardware();
  added.set_unit(hardware.unit);
  added.set_pci(hardware.pci);
  added.set_part(static_cast<proto::Hardware::Part>(hardware.part));
  added.set_answered(hardware.answered);
  added.set_of(hardware.of);
}

Machine Get(const proto::Machine& in) {
  const proto::Hardware& hardware = in.hardware();
  return {in.host(),
          {hardware.unit(), hardware.pci(), static_cast<Hardware::Part>(hardware.part()),
           hardware.answered(), hardware.of()}};
}

void Set(const std::vector<LeftOutLine>& lines, StoredLeftOut& out) {
  constexpr size_t kFewNames = 3;
  for (const LeftOutLine& line : lines) {
    proto::LeftOut& added = *out.Add();
    added.set_thing(Name(line.thing));
    added.set_reason(Name(line.reason));
    added.set_named(line.exact);
    added.set_count(line.count);
    added.set_asked(line.asked);
    for (const std::string& name : line.names) {
      if (line.exact || added.name_size() < static_cast<int>(kFewNames)) added.add_name(name);
    }
    added.set_detail(line.detail);
  }
}

absl::StatusOr<std::vector<LeftOutLine>> Get(const StoredLeftOut& in) {
  std::vector<LeftOutLine> lines;
  for (const proto::LeftOut& one : in) {
    const std::optional<Thing> thing = ParseThing(one.thing());
    const std::optional<Reason> reason = ParseReason(one.reason());
    if (!thing || !reason) {
      return absl::DataLossError(absl::StrCat("left_out: unknown thing '", one.thing(),
                                              "' or reason '", one.reason(), "'"));
    }
    lines.push_back({*thing,
                     *reason,
                     one.named(),
                     one.count(),
                     one.asked(),
                     {one.name().begin(), one.name().end()},
                     one.detail()});
  }
  return lines;
}

}  // namespace mmadiff

#include "corpus/run_record.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "corpus/meaning_proto.h"
#include "corpus/old_text.h"
#include "corpus/text_proto.h"
#include "device/plain_text.h"
#include "device/status_macros.h"
#include "proto/run.pb.h"

namespace mmadiff {
namespace {

constexpr size_t kMaxDropBytes = 2000;  // bytes of a message

constexpr char kHeader[] =
    "# The facts of a run. Never edit: a run with other facts needs another folder.\n"
    "# proto-file: proto/run.proto\n"
    "# proto-message: mmadiff.proto.Manifest\n\n";

// The header of the first manifests. Never change it: run ids are hashes of text that begins with
// it.
constexpr char kOldHeader[] =
    "# The facts of a run. Never edit: a run with other facts needs another folder.\n"
    "# proto-file: proto/run.proto\n"
    "# proto-message: mmadiff.proto.Manifest\n\n";

std::string Describe(const RunManifest::Instruction& i) {
  return absl::StrCat(
      i.name, " (", i.cases, " cases in units of ", i.unit_cases, i.emulated ? ", emulated" : "",
      i.schedule.empty() ? "" : absl::StrCat(", ", i.schedule),
      i.earlier_cases.empty() ? "" : absl::StrCat(", at first ", i.FirstCases()), ")");
}

// Collects "FIELD: stored X, wanted Y" for fields that differ.
class Differences {
 public:
  template <typename T>
  void Compare(absl::string_view field, const T& stored, const T& wanted) {
    if (stored == wanted) return;
    Add(field, Shown(stored), Shown(wanted));
  }
  void Compare(absl::string_view field, const Identity& stored, const Identity& wanted) {
    if (stored == wanted) return;
    Add(field, Shown(NameBeside(stored, wanted)), Shown(NameBeside(wanted, stored)));
  }
  std::string Text() const { return absl::StrJoin(parts_, "; "); }

 private:
  void Add(absl::string_view field, const std::string& stored, const std::string& wanted) {
    parts_.push_back(absl::StrCat(field, ": stored ", stored, ", wanted ", wanted));
  }
  static std::string Shown(uint64_t value) { return absl::StrCat(value); }
  static std::string Shown(const std::string& value) { return value.empty() ? "(none)" : value; }

  std::vector<std::string> parts_;
};

}  // namespace

static void StoredFields(ProtoIo& io, RunManifest::Instruction& instruction) {
  io.Field("name", instruction.name);
  io.Field("cases", instruction.cases);
  io.Field("unit_cases", instruction.unit_cases);
  io.Field("emulated", instruction.emulated);
  io.Field("schedule", instruction.schedule);
  io.Field("earlier_cases", instruction.earlier_cases);
}

// All fields except the id.
static void StoredFields(ProtoIo& io, RunManifest& manifest) {
  ProvenanceFields(io, manifest);
  io.Field("strategy", manifest.strategy);
  io.Field("instruction", manifest.instructions);
  io.Field("shard", manifest.shard);
  io.Field("shards", manifest.shards);
  io.Field("left_out", manifest.left_out);
}

std::string FormatManifest(const RunManifest& manifest) {
  proto::Manifest message;
  ProtoIo::Write(manifest, message);
  message.set_run(FormatRunId(RunIdOf(manifest)));
  return Seal(kHeader + FormatTextProto(message));
}

std::string CanonicalManifest(const RunManifest& manifest) {
  RunManifest first = manifest;
  first.left_out.clear();
  for (RunManifest::Instruction& i : first.instructions) {
    i.cases = i.FirstCases();
    i.earlier_cases.clear();
  }
  proto::Manifest message;
  ProtoIo::Write(first, message);
  if (!manifest.id_of_text) return FormatTextProto(message);
  message.clear_identity();
  message.set_device_identity(Name(manifest.device_identity));
  return Seal(kOldHeader + FormatTextProto(message));
}

RunId RunIdOf(const RunManifest& manifest) { return Xxh3(CanonicalManifest(manifest)); }

absl::StatusOr<RunManifest> ParseManifest(absl::string_view text, absl::string_view where) {
  ASSIGN_OR_RETURN(const absl::string_view unsealed, Unseal(text, where));
  proto::Manifest message;
  RETURN_IF_ERROR(ParseTextProto(unsealed, where, message));
  if (message.instruction_size() == 0) {
    return absl::DataLossError(absl::StrCat(where, ": no instruction; expected at least one"));
  }
  if (message.shard() >= message.shards()) {
    return absl::DataLossError(
        absl::StrCat(where, ": shard ", message.shard(), " of ", message.shards()));
  }
  RunManifest manifest;
  if (const absl::Status read = ProtoIo::Read(message, manifest); !read.ok()) {
    return absl::DataLossError(absl::StrCat(where, ": ", read.message()));
  }
  for (size_t i = 0; i < manifest.instructions.size(); ++i) {
    const RunManifest::Instruction& instruction = manifest.instructions[i];
    if (instruction.name.empty() || instruction.unit_cases == 0) {
      return absl::DataLossError(absl::StrCat(where, ": instruction[", i, "]: expected a name and ",
                                              "unit_cases of at least 1"));
    }
    std::vector<uint64_t> counts = instruction.earlier_cases;
    counts.push_back(instruction.cases);
    if (std::ranges::adjacent_find(counts, std::greater_equal()) != counts.end()) {
      return absl::DataLossError(absl::StrCat(where, ": instruction[", i, "]: expected ascending ",
                                              "earlier_cases, all below cases"));
    }
  }
  if (message.run() == FormatRunId(RunIdOf(manifest))) return manifest;
  manifest.id_of_text = true;
  if (!message.run().empty() && message.run() != FormatRunId(RunIdOf(manifest))) {
    return absl::DataLossError(absl::StrCat(where, ": its facts do not match run ", message.run()));
  }
  return manifest;
}

std::string ManifestDifference(const RunManifest& stored, const RunManifest& wanted) {
  Differences all;
  all.Compare("tool_version", stored.tool_version, wanted.tool_version);
  all.Compare("model_version", stored.model_version, wanted.model_version);
  all.Compare("generator_version", stored.generator_version, wanted.generator_version);
  all.Compare("seed", stored.seed, wanted.seed);
  all.Compare("strategy", stored.strategy, wanted.strategy);
  all.Compare("device", stored.device, wanted.device);
  all.Compare("device_identity", stored.device_identity, wanted.device_identity);
  const size_t count = std::max(stored.instructions.size(), wanted.instructions.size());
  for (size_t i = 0; i < count; ++i) {
    const auto shown = [i](const RunManifest& m) {
      return i < m.instructions.size() ? Describe(m.instructions[i]) : std::string();
    };
    all.Compare(absl::StrCat("instruction[", i, "]"), shown(stored), shown(wanted));
  }
  all.Compare("shard", stored.shard, wanted.shard);
  all.Compare("shards", stored.shards, wanted.shards);
  return all.Text();
}

uint32_t BlockVersionOf(const UnitResult& unit) {
  if (unit.mismatch_limit > 0) return kBlocksWithStops;
  if (unit.drop) return kBlocksWithDrops;
  if (unit.IsBegun() || unit.failures > 0) return kBlocksWithBegun;
  return unit.part ? kBlocksWithParts : kPlainBlocks;
}

static void StoredFields(ProtoIo& io, RowDrop& drop) { io.Status("code", "message", drop); }

// All fields except `counts`, of which there are many.
static void StoredFields(ProtoIo& io, UnitResult& unit) {
  io.Field("instruction", unit.instruction);
  io.Field("unit", unit.unit);
  io.Field("first_case", unit.first_case);
  io.Field("cases", unit.cases);
  io.Field("dot_products", unit.dot_products);
  io.Field("mismatches", unit.mismatches);
  io.Field("mismatching_case", unit.mismatching_cases);
  io.Field("device_digest", unit.device_digest);
  io.Field("model_digest", unit.model_digest);
  io.Field("seconds", unit.seconds);
  io.Field("coverage", unit.coverage);
  io.Field("ended", unit.ended);
  if (io.reading() && !io.Has("who")) {
    std::string old_machine;
    io.Field("machine", old_machine);
    unit.machine = MachineOfOld(old_machine);
  } else {
    io.Field("who", unit.machine);
  }
  io.Field("part", unit.part);
  io.Field("failures", unit.failures);
  io.Field("mismatch_limit", unit.mismatch_limit);
  if (io.reading() || !unit.canary.d.empty()) {
    io.Field("canary_case", unit.canary.first_case);
    io.Field("canary", unit.canary.d);
  }
  io.Field("drop", unit.drop);
}

std::string SerializeUnit(const UnitResult& unit) {
  UnitResult stored = unit;
  if (unit.drop) {
    stored.drop.emplace(unit.drop->code(),
                        PlainLine(std::string(unit.drop->message()).substr(0, kMaxDropBytes)));
  }
  proto::UnitRecord message;
  ProtoIo::Write(std::move(stored), message);
  for (const auto& [name, count] : unit.counts) {
    proto::ClassCount& added = *message.add_count();
    added.set_name(name);
    added.set_count(count);
  }
  return message.SerializeAsString();
}

absl::StatusOr<UnitResult> ParseUnit(absl::string_view bytes) {
  proto::UnitRecord message;
  UnitResult unit;
  const std::string error =
      absl::StrCat("a record of ", bytes.size(), " bytes is not a UnitRecord");
  RETURN_IF_ERROR(ProtoIo::Parse(bytes, error, message, unit));
  if (unit.drop || unit.mismatch_limit > 0) {
    const bool empty = unit.cases == 0 && unit.dot_products == 0 && unit.mismatches == 0;
    if (unit.part && empty && unit.device_digest == 0 && unit.model_digest == 0) return unit;
    return absl::DataLossError(
        absl::StrCat("unit ", unit.unit, ": a ", unit.drop ? "drop" : "stop", " with results"));
  }
  for (const proto::ClassCount& c : message.count()) {
    if (!unit.counts.emplace(c.name(), c.count()).second) {
      return absl::DataLossError(absl::StrCat("unit ", unit.unit, ": two counts for ", c.name()));
    }
  }
  const bool with_digests = !unit.part || unit.IsBegun();
  if (with_digests && (unit.mismatches == 0) != (unit.device_digest == unit.model_digest)) {
    return absl::DataLossError(absl::StrCat("unit ", unit.unit, ": ", unit.mismatches,
                                            " mismatches, which its digests contradict"));
  }
  // No run writes such values; the bytes are a different message that happens to parse.
  if ((unit.dot_products == 0 && unit.failures == 0) || (unit.cases == 0 && !unit.part) ||
      (unit.failures > 0 && !unit.part) || unit.mismatches > unit.dot_products ||
      !(unit.seconds >= 0) || std::isinf(unit.seconds)) {
    return absl::DataLossError(absl::StrCat("unit ", unit.unit, ": ", unit.cases, " cases, ",
                                            unit.mismatches, " mismatches of ", unit.dot_products,
                                            ", ", unit.seconds, " seconds"));
  }
  return unit;
}

}  // namespace mmadiff

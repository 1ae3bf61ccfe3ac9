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
#include "xxhash.h"

namespace mmadiff {
namespace {

constexpr size_t kMaxDropBytes = 2000;  // of a message

constexpr char kHeader[] =
    "# The facts of a run. Never edit: a run with other facts needs another folder.\n"
    "# proto-file: proto/run.proto\n"
    "# proto-message: mmadiff.proto.Manifest\n\n";

// The header of the first manifests. Never change it: the ids of their runs are hashes that begin with it.
constexpr char kOldHeader[] =
    "# The facts of a run. Never edit: a run with other facts needs another folder.\n"
    "# proto-file: proto/run.proto\n"
    "# proto-message: mmadiff.proto.Manifest\n\n";

void SetDigest(Digest digest, proto::Digest128& out) {
  out.set_low(static_cast<uint64_t>(digest));
  out.set_high(static_cast<uint64_t>(digest >> 64));
}

Digest GetDigest(const proto::Digest128& in) { return Digest{in.high()} << 64 | in.low(); }

std::string Describe(const RunManifest::Instruction& i) {
  return absl::StrCat(
      i.name, " (", i.cases, " cases in units of ", i.unit_cases, i.emulated ? ", emulated" : "",
      i.schedule.empty() ? "" : absl::StrCat(", ", i.schedule),
      i.earlier_cases.empty() ? "" : absl::StrCat(", at first ", i.FirstCases()), ")");
}

// Without the identity of the device.
proto::Manifest ToProto(const RunManifest& manifest) {
  proto::Manifest message;
  message.set_tool_version(manifest.tool_version);
  message.set_model_version(manifest.model_version);
  message.set_generator_version(manifest.generator_version);
  message.set_seed(manifest.seed);
  message.set_strategy(manifest.strategy);
  message.set_device(manifest.device);
  for (const RunManifest::Instruction& i : manifest.instructions) {
    proto::Manifest::Instruction& added = *message.add_instruction();
    added.set_name(i.name);
    added.set_cases(i.cases);
    added.set_unit_cases(i.unit_cases);
    added.set_emulated(i.emulated);
    added.set_schedule(i.schedule);
    for (const uint64_t cases : i.earlier_cases) added.add_earlier_cases(cases);
  }
  message.set_shard(manifest.shard);
  message.set_shards(manifest.shards);
  return message;
}

// Collects "FIELD: stored X, wanted Y" of what differs.
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

std::string FormatManifest(const RunManifest& manifest) {
  proto::Manifest message = ToProto(manifest);
  Set(manifest.device_identity, *message.mutable_identity());
  message.set_run(FormatRunId(RunIdOf(manifest)));
  Set(manifest.left_out, *message.mutable_left_out());
  return Seal(kHeader + FormatTextProto(message));
}

std::string CanonicalManifest(const RunManifest& manifest) {
  RunManifest first = manifest;
  for (RunManifest::Instruction& i : first.instructions) {
    i.cases = i.FirstCases();
    i.earlier_cases.clear();
  }
  proto::Manifest message = ToProto(first);
  if (!manifest.id_of_text) {
    Set(manifest.device_identity, *message.mutable_identity());
    return FormatTextProto(message);
  }
  message.set_device_identity(Name(manifest.device_identity));
  return Seal(kOldHeader + FormatTextProto(message));
}

RunId RunIdOf(const RunManifest& manifest) {
  const std::string text = CanonicalManifest(manifest);
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return RunId{hash.high64} << 64 | hash.low64;
}

absl::StatusOr<RunManifest> ParseManifest(absl::string_view text, absl::string_view where) {
  ASSIGN_OR_RETURN(const absl::string_view unsealed, Unseal(text, where));
  proto::Manifest message;
  RETURN_IF_ERROR(ParseTextProto(unsealed, where, message));
  if (message.instruction_size() == 0) {
    return absl::DataLossError(absl::StrCat(where, ": no instruction; at least one is expected"));
  }
  if (message.shard() >= message.shards()) {
    return absl::DataLossError(
        absl::StrCat(where, ": shard ", message.shard(), " of ", message.shards()));
  }
  absl::StatusOr<Identity> identity = Get(message.identity(), message.device_identity());
  if (!identity.ok())
    return absl::DataLossError(absl::StrCat(where, ": ", identity.status().message()));
  RunManifest manifest = {.tool_version = message.tool_version(),
                          .model_version = message.model_version(),
                          .generator_version = message.generator_version(),
                          .seed = message.seed(),
                          .strategy = message.strategy(),
                          .device = message.device(),
                          .device_identity = *std::move(identity),
                          .instructions = {},
                          .shard = message.shard(),
                          .shards = message.shards()};
  for (int i = 0; i < message.instruction_size(); ++i) {
    const proto::Manifest::Instruction& instruction = message.instruction(i);
    if (instruction.name().empty() || instruction.unit_cases() == 0) {
      return absl::DataLossError(absl::StrCat(where, ": instruction[", i, "]: a name and ",
                                              "unit_cases of at least 1 are expected"));
    }
    manifest.instructions.push_back(
        {instruction.name(),
         instruction.cases(),
         instruction.unit_cases(),
         instruction.emulated(),
         instruction.schedule(),
         {instruction.earlier_cases().begin(), instruction.earlier_cases().end()}});
    std::vector<uint64_t> counts = manifest.instructions.back().earlier_cases;
    counts.push_back(instruction.cases());
    if (std::ranges::adjacent_find(counts, std::greater_equal()) != counts.end()) {
      return absl::DataLossError(absl::StrCat(where, ": instruction[", i, "]: earlier_cases that ",
                                              "ascend to below cases are expected"));
    }
  }
  auto left_out = Get(message.left_out());
  if (!left_out.ok()) {
    return absl::DataLossError(absl::StrCat(where, ": ", left_out.status().message()));
  }
  manifest.left_out = *std::move(left_out);
  if (message.run() == FormatRunId(RunIdOf(manifest))) return manifest;
  manifest.id_of_text = true;
  if (!message.run().empty() && message.run() != FormatRunId(RunIdOf(manifest))) {
    return absl::DataLossError(
        absl::StrCat(where, ": its facts are not those of run ", message.run()));
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

std::string SerializeUnit(const UnitResult& unit) {
  proto::UnitRecord message;
  message.set_instruction(unit.instruction);
  message.set_unit(unit.unit);
  message.set_first_case(unit.first_case);
  message.set_cases(unit.cases);
  message.set_dot_products(unit.dot_products);
  message.set_mismatches(unit.mismatches);
  for (uint64_t c : unit.mismatching_cases) message.add_mismatching_case(c);
  SetDigest(unit.device_digest, *message.mutable_device_digest());
  SetDigest(unit.model_digest, *message.mutable_model_digest());
  for (const auto& [name, count] : unit.counts) {
    proto::ClassCount& added = *message.add_count();
    added.set_name(name);
    added.set_count(count);
  }
  message.set_seconds(unit.seconds);
  for (const uint64_t n : unit.coverage) message.add_coverage(n);
  message.set_ended(unit.ended);
  Set(unit.machine, *message.mutable_who());
  message.set_part(unit.part);
  message.set_failures(unit.failures);
  message.set_mismatch_limit(unit.mismatch_limit);
  if (!unit.canary.d.empty()) {
    message.set_canary_case(unit.canary.first_case);
    message.mutable_canary()->Assign(unit.canary.d.begin(), unit.canary.d.end());
  }
  if (unit.drop) {
    message.mutable_drop()->set_code(static_cast<int>(unit.drop->code()));
    message.mutable_drop()->set_message(
        PlainLine(std::string(unit.drop->message()).substr(0, kMaxDropBytes)));
  }
  return message.SerializeAsString();
}

absl::StatusOr<UnitResult> ParseUnit(absl::string_view bytes) {
  proto::UnitRecord message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
      !KnowsAllNumbers(message)) {
    return absl::DataLossError(
        absl::StrCat("a record of ", bytes.size(), " bytes is no UnitRecord"));
  }
  UnitResult unit = {
      .instruction = message.instruction(),
      .unit = message.unit(),
      .first_case = message.first_case(),
      .cases = message.cases(),
      .dot_products = message.dot_products(),
      .mismatches = message.mismatches(),
      .mismatching_cases = {message.mismatching_case().begin(), message.mismatching_case().end()},
      .device_digest = GetDigest(message.device_digest()),
      .model_digest = GetDigest(message.model_digest()),
      .counts = {},
      .seconds = message.seconds(),
      .coverage = {message.coverage().begin(), message.coverage().end()},
      .ended = message.ended(),
      .machine = message.has_who() ? Get(message.who()) : MachineOfOld(message.machine()),
      .part = message.part(),
      .canary = {message.canary_case(), {message.canary().begin(), message.canary().end()}},
      .failures = message.failures(),
      .mismatch_limit = message.mismatch_limit()};
  if (message.has_drop()) {
    unit.drop.emplace(static_cast<absl::StatusCode>(message.drop().code()),
                      message.drop().message());
  }
  if (unit.drop || unit.mismatch_limit > 0) {
    const bool empty = unit.cases == 0 && unit.dot_products == 0 && unit.mismatches == 0;
    if (unit.part && empty && unit.device_digest == 0 && unit.model_digest == 0) return unit;
    return absl::DataLossError(
        absl::StrCat("unit ", unit.unit, ": a ", unit.drop ? "drop" : "stop", " that has results"));
  }
  for (const proto::ClassCount& c : message.count()) {
    if (!unit.counts.emplace(c.name(), c.count()).second) {
      return absl::DataLossError(absl::StrCat("unit ", unit.unit, ": two counts of ", c.name()));
    }
  }
  const bool with_digests = !unit.part || unit.IsBegun();
  if (with_digests && (unit.mismatches == 0) != (unit.device_digest == unit.model_digest)) {
    return absl::DataLossError(absl::StrCat("unit ", unit.unit, ": ", unit.mismatches,
                                            " mismatches, and digests that do not agree with it"));
  }
  // What no run writes: such bytes are another message that happens to parse.
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

#include "corpus/survey_record.h"

#include "absl/strings/str_cat.h"
#include "corpus/meaning_proto.h"
#include "corpus/old_text.h"
#include "device/status_macros.h"
#include "proto/survey.pb.h"
#include "sim/operation.h"

namespace mmadiff {
namespace {

// `what` describes the expected message in errors.
template <typename P, typename S>
absl::StatusOr<S> Parse(absl::string_view bytes, absl::string_view what) {
  P message;
  S value;
  const std::string error = absl::StrCat(bytes.size(), " bytes that are not a ", what);
  RETURN_IF_ERROR(ProtoIo::Parse(bytes, error, message, value));
  return value;
}

// Collects "FIELD: stored X, wanted Y" for fields that differ.
template <typename T>
void Compare(absl::string_view field, const T& stored, const T& wanted, std::string& text) {
  if (stored == wanted) return;
  absl::StrAppend(&text, text.empty() ? "" : "; ", field, ": stored '", stored, "', wanted '",
                  wanted, "'");
}

}  // namespace

const char* Name(SurveyStage stage) {
  constexpr const char* kNames[kSurveyStages] = {
      "layout", "repeat", "questions", "vectors", "run", "recording", "pairs", "explain", "trap"};
  return kNames[static_cast<int>(stage)];
}

bool HasParts(SurveyStage stage) {
  return stage == SurveyStage::kVectors || stage == SurveyStage::kRecording;
}

std::set<std::pair<std::string, std::string>> UnrepeatedRows(
    const std::vector<SurveyResult>& results) {
  std::set<std::pair<std::string, std::string>> rows;
  const auto flaky = [](const SurveyFinding& f) { return !f.bucket.Repeats(); };
  for (const SurveyResult& result : results) {
    const SurveyTask& task = result.task;
    if (task.IsCanary()) continue;
    const bool says_so = task.stage == SurveyStage::kRepeat && !result.answers.empty() &&
                         result.answers.front().agreement != Agreement::kAgrees;
    if (says_so || absl::IsAborted(result.status) || std::ranges::any_of(result.findings, flaky)) {
      rows.emplace(task.op, task.variant);
    }
  }
  return rows;
}

std::string SurveyTask::Text() const {
  const bool part = HasParts(stage) && number > 0;
  return absl::StrCat(Name(stage), " of ", op, variant.empty() ? "" : " with " + variant.substr(1),
                      stage == SurveyStage::kRun ? absl::StrCat(", unit ", number) : "",
                      part ? absl::StrCat(", part ", number) : "",
                      stage == SurveyStage::kQuestions && !detail.empty() ? ": " + detail : "");
}

std::string Name(const KillingInput& input) {
  const std::string before = input.tried && !input.confirmed
                                 ? "an unknown input: the device survives zeros and, alone, the "
                                 : "";
  const bool one = input.confirmed && input.count == 1;
  switch (input.kind) {
    case KillingInput::kZeros:
      return "one execution with every operand +0";
    case KillingInput::kCases:
      if (one) return input.first;
      return absl::StrCat(before, input.count, " cases from ", input.first,
                          input.confirmed ? "" : " on");
    case KillingInput::kLines:
      if (one) return input.first;
      return absl::StrCat(before, input.count, " dot products, the first ", input.first);
    case KillingInput::kOldText:
      return input.first;
    case KillingInput::kUnknown:
      break;
  }
  return "unknown inputs";
}

static void StoredFields(ProtoIo& io, SurveyTask& task) {
  auto stage = static_cast<uint32_t>(task.stage);
  io.Field("stage", stage);
  if (stage >= kSurveyStages) {
    return io.Fail(absl::DataLossError(absl::StrCat("unknown survey stage: ", stage)));
  }
  task.stage = static_cast<SurveyStage>(stage);
  io.Field("instruction", task.op);
  io.Field("variant", task.variant);
  io.Field("number", task.number);
  io.Field("detail", task.detail);
}

static void StoredFields(ProtoIo& io, KillingInput& input) {
  uint32_t kind = input.kind;
  io.Field("kind", kind);
  if (kind >= kKillingInputs) {
    return io.Fail(absl::DataLossError(absl::StrCat("unknown kind of input: ", kind)));
  }
  input.kind = static_cast<KillingInput::Kind>(kind);
  io.Field("first", input.first);
  io.Field("count", input.count);
  io.Field("tried", input.tried);
  io.Field("confirmed", input.confirmed);
  io.Field("line", input.lines);
}

static void StoredFields(ProtoIo& io, SurveyManifest::Instruction& instruction) {
  io.Field("name", instruction.name);
  io.Field("emulated", instruction.emulated);
  io.Field("variant", instruction.variants);
  io.Field("raw_cases", instruction.raw_cases);
  io.Field("unit_cases", instruction.unit_cases);
  io.Field("digest_cases", instruction.digest_cases);
}

static void StoredFields(ProtoIo& io, SurveyManifest& manifest) {
  io.Field("format", manifest.format);
  if (io.reading() && (manifest.format < kOldestSurveyFormat || manifest.format > kSurveyFormat)) {
    return io.Fail(absl::DataLossError(absl::StrCat("a survey of format ", manifest.format,
                                                    "; this program reads ", kSurveyFormat)));
  }
  ProvenanceFields(io, manifest);
  io.Field("cases", manifest.cases);
  io.Field("regressions", manifest.regressions);
  io.Field("max_bytes", manifest.max_bytes);
  io.Field("kept_lines", manifest.kept_lines);
  io.Field("left_out", manifest.left_out);
  io.Field("instruction", manifest.instructions);
}

static void StoredFields(ProtoIo& io, SurveyAnswer& answer) {
  bool typed = true;
  io.Field("question", answer.question);
  io.Field("answer", answer.answer);
  io.Field("decides", answer.decides);
  io.Field("agreement", answer.agreement);
  io.Field("scope", answer.scope);
  io.Field("fact", answer.facts);
  io.Field("typed", typed);
  io.Field("cases", answer.cases);
  io.Field("differing", answer.differing);
  io.Field("line", answer.lines);
  if (!typed) AddMeaningOfOld(answer);
}

static void StoredFields(ProtoIo& io, SurveyLine& line) {
  io.Field("name", line.name);
  io.Field("line", line.line);
  io.Field("differs", line.differs);
}

static void StoredFields(ProtoIo& io, SurveyOutputs& outputs) {
  io.Field("stream", outputs.stream);
  io.Field("count", outputs.count);
  io.Field("d", outputs.d);
  io.Field("first", outputs.first);
}

static void StoredFields(ProtoIo& io, SurveyDigests& digests) {
  io.Field("stream", digests.stream);
  io.Field("unit_cases", digests.unit_cases);
  io.Field("digest", digests.digests);
}

static void StoredFields(ProtoIo& io, SurveyFinding::Case& kept) {
  io.Field("line", kept.line);
  io.Field("model", kept.model);
  io.Field("why", kept.why);
}

// When reading, the bucket has no family yet and holds only its name.
static void StoredFields(ProtoIo& io, SurveyFinding& finding) {
  std::string bucket = Name(finding.bucket);
  io.Field("bucket", bucket);
  if (io.reading()) finding.bucket.unknown = bucket;
  io.Field("text", finding.text);
  io.Field("kept", finding.cases);
}

static void StoredFields(ProtoIo& io, SurveyResult& result) {
  io.Field("task", result.task);
  io.Status("code", "message", result.status);
  io.Field("seconds", result.seconds);
  io.Field("hardware", result.hardware);
  io.Field("answer", result.answers);
  io.Field("line", result.lines);
  io.Field("first_case", result.first_case);
  io.Field("cases", result.cases);
  io.Field("dot_products", result.dot_products);
  io.Field("mismatches", result.mismatches);
  io.Field("first_mismatch", result.first_mismatch);
  io.Field("outputs", result.outputs);
  io.Field("digests", result.digests);
  io.Field("finding", result.findings);
  if (io.reading() || result.killing.kind != KillingInput::kUnknown) {
    io.Field("killing", result.killing);
  }
  bool died_once = !result.died_of.empty();
  io.Field("trapped", result.trapped);
  io.Field("died_once", died_once);
  io.Field("died_of", result.died_of);
  io.Field("differing_units", result.differing_units);
  io.Field("unfinished", result.unfinished);
  io.Field("next", result.next);
  io.Field("of", result.of);
  io.Field("pace", result.pace);
  if (!io.reading()) return;
  const Operation* op = FindOperation(result.task.op, Models::kOptional);
  const Family family = op == nullptr ? Family::kNone : op->model.algorithm.family;
  for (SurveyFinding& f : result.findings) f.bucket = ParseBucket(family, f.bucket.unknown);
  std::string trap;
  io.Field("trap", trap);
  if (!trap.empty()) result.killing = {.kind = KillingInput::kOldText, .first = trap};
  if (died_once && result.died_of.empty()) result.died_of = "an unrecorded cause";
}

static void StoredFields(ProtoIo& io, SurveyEnd& end) {
  std::string old_cause;
  if (io.reading()) io.Field("stopped_by", old_cause);
  if (io.reading() && !io.Has("cause")) {
    end.stopped_by = StopCauseOfOld(old_cause);
  } else {
    io.Field("cause", end.stopped_by);
  }
  io.Field("device", end.device);
}

static void StoredFields(ProtoIo& io, AskRequest& request) {
  io.Field("manifest", request.manifest);
  io.Field("identify", request.identify);
  io.Field("task", request.task);
  io.Field("first", request.part.first);
  io.Field("count", request.part.count);
  io.Field("unit_seconds", request.part.seconds);
  io.Field("input", request.input);
  io.Field("announce", request.announce);
  io.Field("seconds", request.seconds);
}

static void StoredFields(ProtoIo& io, AskReply& reply) {
  bool empty = io.reading();
  const auto is = [&](AskReply::Kind kind, const char* name) {
    if (io.reading() && io.Has(name)) {
      reply.kind = kind;
      empty = false;
    }
    return reply.kind == kind;
  };
  bool yes = true;
  if (is(AskReply::kAlive, "alive")) io.Field("alive", yes);
  if (is(AskReply::kBegun, "begun")) io.Field("begun", yes);
  if (is(AskReply::kAsked, "asked")) io.Inside("asked").Field("line", reply.asked);
  if (is(AskReply::kIdentity, "identity")) io.Field("identity", reply.identity);
  if (is(AskReply::kResult, "result")) io.Field("result", reply.result);
  if (is(AskReply::kNotOpened, "not_opened")) {
    io.Status("not_opened", "message", reply.status);
  }
  if (empty) io.Fail(absl::DataLossError("an empty reply"));
}

std::string SerializeManifest(const SurveyManifest& manifest) {
  return ProtoIo::Serialize<proto::SurveyManifest>(manifest);
}

std::string SerializeResult(const SurveyResult& result) {
  return ProtoIo::Serialize<proto::SurveyResult>(result);
}

std::string SerializeEnd(const SurveyEnd& end) { return ProtoIo::Serialize<proto::SurveyEnd>(end); }

std::string SerializeRequest(const AskRequest& request) {
  return ProtoIo::Serialize<proto::AskRequest>(request);
}

std::string SerializeReply(const AskReply& reply) {
  return ProtoIo::Serialize<proto::AskReply>(reply);
}

absl::StatusOr<SurveyManifest> ParseSurveyManifest(absl::string_view bytes) {
  return Parse<proto::SurveyManifest, SurveyManifest>(bytes, "survey manifest");
}

absl::StatusOr<SurveyResult> ParseSurveyResult(absl::string_view bytes) {
  return Parse<proto::SurveyResult, SurveyResult>(bytes, "survey result");
}

absl::StatusOr<SurveyEnd> ParseSurveyEnd(absl::string_view bytes) {
  return Parse<proto::SurveyEnd, SurveyEnd>(bytes, "survey end");
}

absl::StatusOr<AskRequest> ParseAskRequest(absl::string_view bytes) {
  return Parse<proto::AskRequest, AskRequest>(bytes, "request");
}

absl::StatusOr<AskReply> ParseAskReply(absl::string_view bytes) {
  return Parse<proto::AskReply, AskReply>(bytes, "reply");
}

std::string ManifestDifference(const SurveyManifest& stored, const SurveyManifest& wanted) {
  std::string text;
  Compare("tool_version", stored.tool_version, wanted.tool_version, text);
  Compare("model_version", stored.model_version, wanted.model_version, text);
  Compare("generator_version", stored.generator_version, wanted.generator_version, text);
  Compare("seed", stored.seed, wanted.seed, text);
  Compare("device", stored.device, wanted.device, text);
  if (!(stored.device_identity == wanted.device_identity)) {
    Compare("device_identity", NameBeside(stored.device_identity, wanted.device_identity),
            NameBeside(wanted.device_identity, stored.device_identity), text);
  }
  Compare("cases", stored.cases, wanted.cases, text);
  Compare("regressions", stored.regressions, wanted.regressions, text);
  Compare("max_bytes", stored.max_bytes, wanted.max_bytes, text);
  Compare("kept_lines", stored.kept_lines, wanted.kept_lines, text);
  if (stored.instructions != wanted.instructions) {
    const auto first = [](const SurveyManifest& m) {
      return m.instructions.empty() ? "" : ", the first " + m.instructions.front().name;
    };
    absl::StrAppend(&text, text.empty() ? "" : "; ", "instructions: stored ",
                    stored.instructions.size(), first(stored), ", wanted ",
                    wanted.instructions.size(), first(wanted));
  }
  return text;
}

}  // namespace mmadiff

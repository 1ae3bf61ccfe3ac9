#include "corpus/survey_record.h"

#include "absl/strings/str_cat.h"
#include "corpus/meaning_proto.h"
#include "corpus/old_text.h"
#include "device/status_macros.h"
#include "proto/survey.pb.h"
#include "sim/operation.h"

namespace mmadiff {
namespace {

template <typename Message>
absl::StatusOr<Message> Parse(absl::string_view bytes, absl::string_view what) {
  Message message;
  if (message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) &&
      KnowsAllNumbers(message)) {
    return message;
  }
  return absl::DataLossError(absl::StrCat(bytes.size(), " bytes that are no ", what));
}

void Set(const SurveyTask& task, proto::SurveyTask& out) {
  out.set_stage(static_cast<uint32_t>(task.stage));
  out.set_instruction(task.op);
  out.set_variant(task.variant);
  out.set_number(task.number);
  out.set_detail(task.detail);
}

absl::StatusOr<SurveyTask> Get(const proto::SurveyTask& in) {
  if (in.stage() >= kSurveyStages) {
    return absl::DataLossError(absl::StrCat("no stage of a survey: ", in.stage()));
  }
  return SurveyTask{static_cast<SurveyStage>(in.stage()), in.instruction(), in.variant(),
                    in.number(), in.detail()};
}

void Set(const KillingInput& input, proto::KillingInput& out) {
  out.set_kind(input.kind);
  out.set_first(input.first);
  out.set_count(input.count);
  out.set_tried(input.tried);
  out.set_confirmed(input.confirmed);
  for (const std::string& line : input.lines) out.add_line(line);
}

absl::Status Get(const proto::KillingInput& in, KillingInput& input) {
  if (in.kind() >= kKillingInputs) {
    return absl::DataLossError(absl::StrCat("no kind of input: ", in.kind()));
  }
  input.kind = static_cast<KillingInput::Kind>(in.kind());
  input.first = in.first();
  input.count = in.count();
  input.tried = in.tried();
  input.confirmed = in.confirmed();
  input.lines.assign(in.line().begin(), in.line().end());
  return absl::OkStatus();
}

void Set(const SurveyManifest& manifest, proto::SurveyManifest& out) {
  out.set_tool_version(manifest.tool_version);
  out.set_model_version(manifest.model_version);
  out.set_generator_version(manifest.generator_version);
  out.set_seed(manifest.seed);
  out.set_device(manifest.device);
  mmadiff::Set(manifest.device_identity, *out.mutable_identity());
  out.set_cases(manifest.cases);
  out.set_regressions(manifest.regressions);
  out.set_max_bytes(manifest.max_bytes);
  out.set_kept_lines(manifest.kept_lines);
  out.set_format(manifest.format);
  mmadiff::Set(manifest.left_out, *out.mutable_left_out());
  for (const SurveyManifest::Instruction& i : manifest.instructions) {
    proto::SurveyManifest::Instruction& added = *out.add_instruction();
    added.set_name(i.name);
    added.set_emulated(i.emulated);
    for (const std::string& variant : i.variants) added.add_variant(variant);
    added.set_raw_cases(i.raw_cases);
    added.set_unit_cases(i.unit_cases);
    added.set_digest_cases(i.digest_cases);
  }
}

absl::StatusOr<SurveyManifest> Get(const proto::SurveyManifest& in) {
  if (in.format() < kOldestSurveyFormat || in.format() > kSurveyFormat) {
    return absl::DataLossError(
        absl::StrCat("a survey of format ", in.format(), "; this program reads ", kSurveyFormat));
  }
  ASSIGN_OR_RETURN(Identity identity, mmadiff::Get(in.identity(), in.device_identity()));
  SurveyManifest manifest = {in.tool_version(),
                             in.model_version(),
                             in.generator_version(),
                             in.seed(),
                             in.device(),
                             std::move(identity),
                             in.cases(),
                             in.regressions(),
                             in.max_bytes(),
                             in.kept_lines(),
                             {},
                             in.format()};
  ASSIGN_OR_RETURN(auto left_out, mmadiff::Get(in.left_out()));
  manifest.left_out = std::move(left_out);
  for (const proto::SurveyManifest::Instruction& i : in.instruction()) {
    manifest.instructions.push_back({i.name(),
                                     i.emulated(),
                                     {i.variant().begin(), i.variant().end()},
                                     i.raw_cases(),
                                     i.unit_cases(),
                                     i.digest_cases()});
  }
  return manifest;
}

void Set(const SurveyResult& result, proto::SurveyResult& out) {
  Set(result.task, *out.mutable_task());
  out.set_code(static_cast<int>(result.status.code()));
  out.set_message(std::string(result.status.message()));
  out.set_seconds(result.seconds);
  out.set_hardware(result.hardware);
  for (const SurveyAnswer& a : result.answers) {
    proto::SurveyAnswer& added = *out.add_answer();
    added.set_question(a.question);
    added.set_answer(a.answer);
    added.set_decides(a.decides);
    added.set_agreement(static_cast<proto::Agreement>(a.agreement));
    added.set_scope(static_cast<proto::Scope>(a.scope));
    for (const std::string& fact : a.facts) added.add_fact(fact);
    added.set_typed(true);
    added.set_cases(a.cases);
    added.set_differing(a.differing);
    for (const std::string& line : a.lines) added.add_line(line);
  }
  for (const SurveyLine& l : result.lines) {
    proto::SurveyLine& added = *out.add_line();
    added.set_name(l.name);
    added.set_line(l.line);
    added.set_differs(l.differs);
  }
  out.set_first_case(result.first_case);
  out.set_cases(result.cases);
  out.set_dot_products(result.dot_products);
  out.set_mismatches(result.mismatches);
  out.set_first_mismatch(result.first_mismatch);
  for (const SurveyOutputs& o : result.outputs) {
    proto::SurveyOutputs& added = *out.add_outputs();
    added.set_stream(o.stream);
    added.set_count(o.count);
    added.set_d(o.d);
    added.set_first(o.first);
  }
  for (const SurveyDigests& d : result.digests) {
    proto::SurveyDigests& added = *out.add_digests();
    added.set_stream(d.stream);
    added.set_unit_cases(d.unit_cases);
    for (const Digest digest : d.digests) {
      proto::Digest128& halves = *added.add_digest();
      halves.set_low(static_cast<uint64_t>(digest));
      halves.set_high(static_cast<uint64_t>(digest >> 64));
    }
  }
  for (const SurveyFinding& f : result.findings) {
    proto::SurveyFinding& added = *out.add_finding();
    added.set_bucket(Name(f.bucket));
    added.set_text(f.text);
    for (const SurveyFinding::Case& c : f.cases) {
      proto::SurveyFinding::Case& kept = *added.add_kept();
      kept.set_line(c.line);
      kept.set_model(c.model);
      kept.set_why(c.why);
    }
  }
  if (result.killing.kind != KillingInput::kUnknown) Set(result.killing, *out.mutable_killing());
  out.set_trapped(result.trapped);
  out.set_died_once(!result.died_of.empty());
  out.set_died_of(result.died_of);
  out.set_differing_units(result.differing_units);
  out.set_unfinished(result.unfinished);
  out.set_next(result.next);
  out.set_of(result.of);
  out.set_pace(result.pace);
}

absl::StatusOr<SurveyResult> Get(const proto::SurveyResult& in) {
  SurveyResult result;
  ASSIGN_OR_RETURN(const SurveyTask task, Get(in.task()));
  result.task = task;
  result.status = absl::Status(static_cast<absl::StatusCode>(in.code()), in.message());
  result.seconds = in.seconds();
  result.hardware = in.hardware();
  for (const proto::SurveyAnswer& a : in.answer()) {
    result.answers.push_back({a.question(),
                              a.answer(),
                              a.decides(),
                              static_cast<Agreement>(a.agreement()),
                              a.cases(),
                              a.differing(),
                              {a.line().begin(), a.line().end()},
                              static_cast<Scope>(a.scope()),
                              {a.fact().begin(), a.fact().end()}});
    if (!a.typed()) AddMeaningOfOld(result.answers.back());
  }
  for (const proto::SurveyLine& l : in.line()) {
    result.lines.push_back({l.name(), l.line(), l.differs()});
  }
  result.first_case = in.first_case();
  result.cases = in.cases();
  result.dot_products = in.dot_products();
  result.mismatches = in.mismatches();
  result.first_mismatch = in.first_mismatch();
  for (const proto::SurveyOutputs& o : in.outputs()) {
    result.outputs.push_back({o.stream(), o.count(), o.d(), o.first()});
  }
  for (const proto::SurveyDigests& d : in.digests()) {
    SurveyDigests& added = result.digests.emplace_back();
    added.stream = d.stream();
    added.unit_cases = d.unit_cases();
    for (const proto::Digest128& digest : d.digest()) {
      added.digests.push_back(Digest{digest.high()} << 64 | digest.low());
    }
  }
  const Operation* op = FindOperation(result.task.op, Models::kOptional);
  const Family family = op == nullptr ? Family::kNone : op->model.algorithm.family;
  for (const proto::SurveyFinding& f : in.finding()) {
    SurveyFinding& added = result.findings.emplace_back();
    added.bucket = ParseBucket(family, f.bucket());
    added.text = f.text();
    for (const auto& kept : f.kept())
      added.cases.push_back({kept.line(), kept.model(), kept.why()});
  }
  RETURN_IF_ERROR(Get(in.killing(), result.killing));
  if (!in.trap().empty()) result.killing = {.kind = KillingInput::kOldText, .first = in.trap()};
  result.trapped = in.trapped();
  result.died_of = in.died_of();
  if (in.died_once() && result.died_of.empty()) result.died_of = "a cause that was not kept";
  result.differing_units = in.differing_units();
  result.unfinished = in.unfinished();
  result.next = in.next();
  result.of = in.of();
  result.pace = in.pace();
  return result;
}

// Collects "FIELD: stored X, wanted Y" of what differs.
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
  const std::string before =
      input.tried && !input.confirmed
          ? "no input that is known: it survives zeros and, asked alone, the "
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

std::string SerializeManifest(const SurveyManifest& manifest) {
  proto::SurveyManifest message;
  Set(manifest, message);
  return message.SerializeAsString();
}

std::string SerializeResult(const SurveyResult& result) {
  proto::SurveyResult message;
  Set(result, message);
  return message.SerializeAsString();
}

std::string SerializeEnd(const SurveyEnd& end) {
  proto::SurveyEnd message;
  Set(end.stopped_by, *message.mutable_cause());
  message.set_device(end.device);
  return message.SerializeAsString();
}

std::string SerializeRequest(const AskRequest& request) {
  proto::AskRequest out;
  if (request.manifest.has_value()) Set(*request.manifest, *out.mutable_manifest());
  for (const std::string& glob : request.identify) out.add_identify(glob);
  Set(request.task, *out.mutable_task());
  out.set_first(request.unit.first);
  out.set_count(request.unit.count);
  out.set_unit_seconds(request.unit.seconds);
  Set(request.input, *out.mutable_input());
  out.set_announce(request.announce);
  out.set_seconds(request.seconds);
  return out.SerializeAsString();
}

std::string SerializeReply(const AskReply& reply) {
  proto::AskReply out;
  switch (reply.kind) {
    case AskReply::kAlive:
      out.set_alive(true);
      break;
    case AskReply::kBegun:
      out.set_begun(true);
      break;
    case AskReply::kAsked:
      for (const std::string& line : reply.asked) out.mutable_asked()->add_line(line);
      out.mutable_asked();
      break;
    case AskReply::kIdentity:
      Set(reply.identity, *out.mutable_identity());
      break;
    case AskReply::kResult:
      Set(reply.result, *out.mutable_result());
      break;
    case AskReply::kNotOpened:
      out.set_not_opened(static_cast<int>(reply.status.code()));
      out.set_message(std::string(reply.status.message()));
      break;
  }
  return out.SerializeAsString();
}

absl::StatusOr<SurveyManifest> ParseSurveyManifest(absl::string_view bytes) {
  ASSIGN_OR_RETURN(const auto message, Parse<proto::SurveyManifest>(bytes, "manifest of a survey"));
  return Get(message);
}

absl::StatusOr<SurveyResult> ParseSurveyResult(absl::string_view bytes) {
  ASSIGN_OR_RETURN(const auto message, Parse<proto::SurveyResult>(bytes, "result of a survey"));
  return Get(message);
}

absl::StatusOr<SurveyEnd> ParseSurveyEnd(absl::string_view bytes) {
  ASSIGN_OR_RETURN(const auto message, Parse<proto::SurveyEnd>(bytes, "end of a survey"));
  return SurveyEnd{
      message.has_cause() ? Get(message.cause()) : StopCauseOfOld(message.stopped_by()),
      message.device()};
}

absl::StatusOr<AskRequest> ParseAskRequest(absl::string_view bytes) {
  ASSIGN_OR_RETURN(const auto in, Parse<proto::AskRequest>(bytes, "request"));
  AskRequest request;
  if (in.has_manifest()) {
    ASSIGN_OR_RETURN(SurveyManifest manifest, Get(in.manifest()));
    request.manifest = std::move(manifest);
  }
  request.identify.assign(in.identify().begin(), in.identify().end());
  ASSIGN_OR_RETURN(SurveyTask task, Get(in.task()));
  request.task = std::move(task);
  request.unit = {in.first(), in.count(), in.unit_seconds()};
  RETURN_IF_ERROR(Get(in.input(), request.input));
  request.announce = in.announce();
  request.seconds = in.seconds();
  return request;
}

absl::StatusOr<AskReply> ParseAskReply(absl::string_view bytes) {
  ASSIGN_OR_RETURN(const auto in, Parse<proto::AskReply>(bytes, "reply"));
  AskReply reply;
  switch (in.content_case()) {
    case proto::AskReply::kAlive:
      return reply;
    case proto::AskReply::kBegun:
      reply.kind = AskReply::kBegun;
      return reply;
    case proto::AskReply::kAsked:
      reply.kind = AskReply::kAsked;
      reply.asked.assign(in.asked().line().begin(), in.asked().line().end());
      return reply;
    case proto::AskReply::kIdentity: {
      reply.kind = AskReply::kIdentity;
      ASSIGN_OR_RETURN(SurveyManifest identity, Get(in.identity()));
      reply.identity = std::move(identity);
      return reply;
    }
    case proto::AskReply::kResult: {
      reply.kind = AskReply::kResult;
      ASSIGN_OR_RETURN(SurveyResult result, Get(in.result()));
      reply.result = std::move(result);
      return reply;
    }
    case proto::AskReply::kNotOpened:
      reply.kind = AskReply::kNotOpened;
      reply.status = absl::Status(static_cast<absl::StatusCode>(in.not_opened()), in.message());
      return reply;
    default:
      return absl::DataLossError("an empty reply");
  }
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

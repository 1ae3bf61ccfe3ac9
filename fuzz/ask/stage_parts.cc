#include "fuzz/ask/stage_parts.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "corpus/recordings/packed_words.h"
#include "device/line_protocol.h"
#include "device/status_macros.h"
#include "device/stop.h"
#include "fuzz/ask/known_cases.h"
#include "fuzz/unit/unit_runner.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

constexpr uint64_t kDigestUnits = 4;      // per recording
constexpr int64_t kRecordedAtOnce = 256;  // executions; a slow device runs one at a time

TimeLimit EndOf(const TaskPart& part) {
  return part.seconds > 0 ? TimeLimit::After(absl::Seconds(part.seconds)) : TimeLimit();
}

// Adds the device's answers to the inputs, one line per dot product.
absl::Status AddAnswers(Device& device, const Operation& op, const Batch& inputs,
                        const std::string& name, SurveyResult& result) {
  std::vector<uint64_t> d;
  RETURN_IF_ERROR(device.Run(op, inputs, d));
  const std::vector<int64_t> differing = Compare(op, inputs, d).differing;
  for (int64_t i = 0; i < inputs.dot_products(); ++i) {
    result.lines.push_back({name, FormatLine(*op.instruction, Extract(inputs, i), d[i]),
                            std::binary_search(differing.begin(), differing.end(), i)});
  }
  result.dot_products += d.size();
  result.mismatches += differing.size();
  return absl::OkStatus();
}

// Counts differences from the model, and names the first case with one.
void CountDiffering(CaseName name, const Batch& batch, const std::vector<uint64_t>& d,
                    SurveyResult& result) {
  const Operation& op = *name.stream.op;
  const std::vector<int64_t> differing = Compare(op, batch, d).differing;
  result.dot_products += d.size();
  result.mismatches += differing.size();
  if (differing.empty() || !result.first_mismatch.empty()) return;
  name.index += differing.front() / op.shape().d_words();
  result.first_mismatch = FormatCaseName(name);
}

absl::Status AddDigests(Engine& engine, const CaseStream& stream, uint64_t unit_cases,
                        SurveyResult& result) {
  SurveyDigests digests = {stream.name(), unit_cases, {}};
  for (uint64_t u = 0; u < kDigestUnits; ++u) {
    ASSIGN_OR_RETURN(const auto digest, engine.AnswerDigest(stream, u * unit_cases, unit_cases));
    digests.digests.push_back(digest);
    if (!IsModelled(*stream.op)) continue;
    ASSIGN_OR_RETURN(const auto model,
                     AnswerDigest(stream, u * unit_cases, unit_cases, /*device=*/nullptr));
    if (model != digest) ++result.differing_units;
  }
  result.digests.push_back(std::move(digests));
  return absl::OkStatus();
}

// Adds the answers to cases [first, first + count).
absl::Status AddOutputs(Device& device, const CaseStream& stream, uint64_t first, int64_t count,
                        SurveyResult& result) {
  const Operation& op = *stream.op;
  Batch batch;
  Generate(stream, first, count, batch);
  std::vector<uint64_t> d;
  RETURN_IF_ERROR(device.Run(op, batch, d));
  const std::string name = stream.name();
  std::vector<SurveyOutputs>& all = result.outputs;
  auto outputs = std::ranges::find(all, name, &SurveyOutputs::stream);
  if (outputs == all.end()) outputs = all.insert(all.end(), {name, 0, "", first});
  outputs->d += PackWords(*op.instruction->d, d);
  outputs->count += count;
  if (IsModelled(op)) CountDiffering({stream, first}, batch, d, result);
  return absl::OkStatus();
}

}  // namespace

absl::Status AskVectors(const SurveyManifest& manifest, const TaskPart& part, Device& device,
                        const Operation& op, SurveyResult& result) {
  ASSIGN_OR_RETURN(const auto cases, KnownCases({&op}, manifest.regressions));
  for (const KnownCase& c : cases) result.of += c.inputs.dot_products();
  const TimeLimit end = EndOf(part);
  for (result.next = part.first; result.next < cases.size(); ++result.next) {
    result.unfinished = result.next > part.first && end.Reached();
    if (result.unfinished) return absl::OkStatus();
    const KnownCase& c = cases[result.next];
    RETURN_IF_ERROR(AddAnswers(device, op, c.inputs, c.name, result));
  }
  return absl::OkStatus();
}

absl::Status AskRecording(const SurveyManifest& manifest, const TaskPart& part, Engine& engine,
                          Device& device, const CaseStream& stream, SurveyResult& result) {
  const Operation& op = *stream.op;
  const auto& all = manifest.instructions;
  const auto i = std::ranges::find(all, op.name, &SurveyManifest::Instruction::name);
  if (i == all.end()) return absl::NotFoundError("not part of this survey");
  const bool slow = part.seconds > 0;
  const uint64_t at_once = slow ? 1 : kRecordedAtOnce, strategies = Strategies().size();
  const uint64_t batches = (i->raw_cases + at_once - 1) / at_once * strategies;
  const TimeLimit end = EndOf(part);
  for (result.next = part.first; result.next < batches; ++result.next) {
    result.unfinished = result.next > part.first && end.Reached();
    if (result.unfinished) return absl::OkStatus();
    const CaseStream of = {&op, &Strategies()[result.next % strategies], stream.seed};
    const uint64_t first = result.next / strategies * at_once;
    const auto count = static_cast<int64_t>(std::min(at_once, i->raw_cases - first));
    RETURN_IF_ERROR(AddOutputs(device, of, first, count, result));
  }
  return slow ? absl::OkStatus() : AddDigests(engine, stream, i->digest_cases, result);
}

}  // namespace mmadiff

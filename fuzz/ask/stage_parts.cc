#include "fuzz/ask/stage_parts.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "corpus/recordings/packed_words.h"
#include "device/clock.h"
#include "device/line_protocol.h"
#include "device/status_macros.h"
#include "device/stop.h"
#include "fuzz/ask/known_cases.h"
#include "fuzz/unit/unit_runner.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

constexpr uint64_t kDigestUnits = 4;      // per recording
constexpr int64_t kRecordedAtOnce = 256;  // executions; on a slow device, whatever it runs soon
constexpr double kShareOfPart = .1;       // a request to a slow device should take less of its part

TimeLimit EndOf(const TaskPart& part) {
  return part.seconds > 0 ? TimeLimit::After(absl::Seconds(part.seconds)) : TimeLimit();
}

// Asks a slow device for several batches in one request, more and more while requests are short:
// each may start a program.
class Requests {
 public:
  Requests(Device& device, const Operation& op, const TaskPart& part)
      : device_(device), op_(op), seconds_(part.seconds * kShareOfPart) {}

  uint64_t count() const { return count_; }  // batches in the next request

  // `got` is called for the batches that are answered, in their order, also before an error. All of them
  // have one shape.
  absl::Status Run(std::span<const Batch> batches,
                   absl::FunctionRef<void(const Batch&, const std::vector<uint64_t>&)> got) {
    Batch together;
    for (const Batch& batch : batches.size() > 1 ? batches : std::span<const Batch>()) {
      together.Append(batch);
    }
    std::vector<uint64_t> d;
    const absl::Duration begun = MonotonicNow();
    // A recording finds a batch by its name.
    const absl::Status status =
        device_.Run(op_, batches.size() == 1 ? batches.front() : together, d);
    const double seconds = absl::ToDoubleSeconds(MonotonicNow() - begun);
    if (seconds_ > 0) count_ = seconds < seconds_ ? 2 * count_ : (count_ + 1) / 2;
    auto from = d.begin();
    for (const Batch& batch : batches) {
      if (d.end() - from < batch.dot_products()) break;
      const auto to = from + batch.dot_products();
      got(batch, {std::exchange(from, to), to});
    }
    return status;
  }

 private:
  Device& device_;
  const Operation& op_;
  const double seconds_;  // 0: the device is not slow
  uint64_t count_ = 1;
};

// Adds the device's answers to the inputs, one line per dot product.
void AddAnswers(const Operation& op, const Batch& inputs, const std::vector<uint64_t>& d,
                const std::string& name, SurveyResult& result) {
  const std::vector<int64_t> differing = Compare(op, inputs, d).differing;
  for (int64_t i = 0; i < inputs.dot_products(); ++i) {
    result.lines.push_back({name, FormatLine(*op.instruction, Extract(inputs, i), d[i]),
                            std::binary_search(differing.begin(), differing.end(), i)});
  }
  result.dot_products += d.size();
  result.mismatches += differing.size();
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

// Adds the answers `d` to the batch, which is generated.
void AddOutputs(const CaseStream& stream, const Batch& batch, const std::vector<uint64_t>& d,
                SurveyResult& result) {
  const Operation& op = *stream.op;
  const std::string name = stream.name();
  std::vector<SurveyOutputs>& all = result.outputs;
  auto outputs = std::ranges::find(all, name, &SurveyOutputs::stream);
  if (outputs == all.end()) outputs = all.insert(all.end(), {name, 0, "", batch.first});
  outputs->d += PackWords(*op.instruction->d, d);
  outputs->count += batch.count;
  if (IsModelled(op)) CountDiffering({stream, batch.first}, batch, d, result);
}

}  // namespace

absl::Status AskVectors(const SurveyManifest& manifest, const TaskPart& part, Device& device,
                        const Operation& op, SurveyResult& result) {
  ASSIGN_OR_RETURN(const auto cases, KnownCases({&op}, manifest.regressions));
  for (const KnownCase& c : cases) result.of += c.inputs.dot_products();
  const TimeLimit end = EndOf(part);
  Requests requests(device, op, part);
  for (result.next = part.first; result.next < cases.size();) {
    result.unfinished = result.next > part.first && end.Reached();
    if (result.unfinished) return absl::OkStatus();
    std::vector<Batch> batches;
    for (size_t n = result.next; n < cases.size() && batches.size() < requests.count(); ++n) {
      if (cases[n].inputs.shape != cases[result.next].inputs.shape) break;
      batches.push_back(cases[n].inputs);
    }
    RETURN_IF_ERROR(requests.Run(batches, [&](const Batch& batch, const auto& d) {
      AddAnswers(op, batch, d, cases[result.next++].name, result);
    }));
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
  Requests requests(device, op, part);
  for (result.next = part.first; result.next < batches;) {
    result.unfinished = result.next > part.first && end.Reached();
    if (result.unfinished) return absl::OkStatus();
    std::vector<Batch> generated;
    for (uint64_t n = result.next; n < std::min(batches, result.next + requests.count()); ++n) {
      const CaseStream of = {&op, &Strategies()[n % strategies], stream.seed};
      const uint64_t first = n / strategies * at_once;
      const auto count = static_cast<int64_t>(std::min(at_once, i->raw_cases - first));
      Generate(of, first, count, generated.emplace_back());
    }
    RETURN_IF_ERROR(requests.Run(generated, [&](const Batch& batch, const auto& d) {
      const Strategy* const strategy = &Strategies()[result.next++ % strategies];
      AddOutputs({&op, strategy, stream.seed}, batch, d, result);
    }));
  }
  return slow ? absl::OkStatus() : AddDigests(engine, stream, i->digest_cases, result);
}

}  // namespace mmadiff

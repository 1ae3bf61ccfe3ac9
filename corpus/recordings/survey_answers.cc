#include "corpus/recordings/survey_answers.h"

#include <filesystem>
#include <map>
#include <span>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "corpus/bucket.h"
#include "corpus/recordings/packed_words.h"
#include "corpus/text_proto.h"
#include "device/device.h"
#include "device/line_protocol.h"
#include "device/status_macros.h"

namespace mmadiff {
namespace {

using Take = absl::FunctionRef<absl::Status(const SurveyAnswers&)>;

// Groups lines by name.
std::map<std::string, std::vector<std::string>> LinesOf(const SurveyResult& result) {
  std::map<std::string, std::vector<std::string>> named;
  const auto add = [&named](const std::string& name, const std::string& line) {
    named[name].push_back(line);
  };
  for (const SurveyAnswer& a : result.answers) {
    for (const std::string& line : a.lines) add(a.question, line);
  }
  for (const SurveyLine& line : result.lines) add(line.name, line.line);
  for (const SurveyFinding& f : result.findings) {
    if (!f.bucket.Repeats()) continue;
    for (const SurveyFinding::Case& c : f.cases) add(Name(f.bucket), c.line);
  }
  return named;
}

absl::StatusOr<Recording> OfLines(const SurveyAnswers& answers, const std::string& log) {
  Recording recording;
  std::vector<DotProductCase> dots;
  for (const std::string& line : answers.lines) {
    absl::StatusOr<ProtocolLine> parsed = ParseLine(*answers.op->instruction, line);
    if (!parsed.ok() || !parsed->d.has_value()) {
      return absl::DataLossError(absl::StrCat(log, ": ", answers.name, ": not an answer of ",
                                              answers.op->name, ": ",
                                              parsed.ok() ? line : parsed.status().message()));
    }
    recording.d.push_back(*parsed->d);
    dots.push_back(std::move(parsed->dot));
  }
  recording.inputs = MakeDotProductBatch(answers.op->shape(), dots);
  recording.where = {absl::StrCat(log, ", ", answers.name), 1};
  return recording;
}

absl::StatusOr<Recording> OfOutputs(const SurveyAnswers& answers, const std::string& log) {
  const SurveyOutputs& outputs = *answers.outputs;
  const Format& format = *answers.op->instruction->d;
  const uint64_t bytes = answers.op->shape().d_words() * WordBytes(format);
  if (outputs.count != outputs.d.size() / bytes || outputs.d.size() % bytes != 0) {
    return absl::DataLossError(absl::StrCat(log, ": ", outputs.d.size(), " bytes of results for ",
                                            outputs.count, " cases of ", answers.op->name));
  }
  Recording recording;
  recording.inputs.shape = answers.op->shape();
  recording.inputs.count = static_cast<int64_t>(outputs.count);
  recording.inputs.stream = outputs.stream;
  recording.inputs.first = outputs.first;
  recording.d = UnpackWords(format, outputs.d);
  recording.where = {absl::StrCat(log, ", from ", outputs.stream, ":", outputs.first, " on")};
  return recording;
}

// Calls `key` for each execution or line.
template <typename Key>
void ForEachKey(const Recording& r, const Key& key) {
  const std::string who = absl::StrCat(r.op->name, "\n", r.identity, "\n");
  const int64_t words = r.inputs.shape.d_words();
  for (int64_t i = 0; i < r.inputs.count; ++i) {
    const std::span<const uint64_t> d(&r.d[i * words], words);
    key(Xxh3Hex(r.inputs.stream.empty()
                    ? who + FormatLine(*r.op->instruction, Extract(r.inputs, i), d[0])
                    : absl::StrCat(who, r.inputs.stream, ":", r.inputs.first + i, "\n",
                                   PackWords(*r.op->instruction->d, d))));
  }
}

template <typename Key>
void ForEachKey(const RecordedDigests& d, const Key& key) {
  for (size_t u = 0; u < d.digests.size(); ++u) {
    key(absl::StrCat(d.op->name, "\n", d.identity, "\n", d.stream, ":", d.first + u * d.unit_cases,
                     ":", d.unit_cases, "\n", FormatRunId(d.digests[u])));
  }
}

}  // namespace

absl::Status ForEachAnswers(const SurveyManifest& manifest,
                            const std::vector<SurveyResult>& results, Take take) {
  std::map<std::string, bool> emulated;
  for (const SurveyManifest::Instruction& i : manifest.instructions) {
    emulated[i.name] = i.emulated;
  }
  const auto unrepeated = UnrepeatedRows(results);
  for (const SurveyResult& result : results) {
    const Operation* op = FindOperation(result.task.op, Models::kOptional);
    if (op == nullptr || unrepeated.contains({result.task.op, result.task.variant})) continue;
    const std::string identity =
        Name(manifest.device_identity) + (emulated[result.task.op] ? kEmulatedNote : "");
    const std::string& variant = result.task.variant;
    const std::string who =
        variant.empty() ? identity
                        : absl::StrCat(identity, ", ", variant.substr(1));  // drops the comma
    for (auto& [name, lines] : LinesOf(result)) {
      RETURN_IF_ERROR(take({op, who, name, std::move(lines)}));
    }
    for (const SurveyOutputs& o : result.outputs) {
      if (o.count == 0) continue;
      RETURN_IF_ERROR(take({.op = op, .identity = identity, .outputs = &o}));
    }
    for (const SurveyDigests& d : result.digests) {
      RETURN_IF_ERROR(take({.op = op, .identity = identity, .digests = &d}));
    }
  }
  return absl::OkStatus();
}

absl::Status DeliverSurvey(const std::string& folder, const StoredSurvey& stored,
                           absl::FunctionRef<absl::Status(const Recording&)> deliver) {
  const std::string log = SurveyLogPath(folder);
  return ForEachAnswers(stored.manifest, stored.results, [&](const SurveyAnswers& answers) {
    if (answers.digests != nullptr) return absl::OkStatus();
    ASSIGN_OR_RETURN(Recording recording,
                     answers.outputs == nullptr ? OfLines(answers, log) : OfOutputs(answers, log));
    recording.op = answers.op;
    recording.identity = answers.identity;
    return deliver(recording);
  });
}

absl::Status DeliverSurveyDigests(const StoredSurvey& stored,
                                  absl::FunctionRef<absl::Status(const RecordedDigests&)> deliver) {
  return ForEachAnswers(stored.manifest, stored.results, [&](const SurveyAnswers& answers) {
    if (answers.digests == nullptr) return absl::OkStatus();
    const SurveyDigests& d = *answers.digests;
    if (d.unit_cases == 0)
      return absl::DataLossError("digests without cases for " + answers.op->name);
    return deliver({answers.op, d.stream, 0, d.unit_cases, d.digests, answers.identity});
  });
}

std::vector<std::string> WrongRecording(const std::string& folder, const StoredSurvey& stored) {
  const std::string path = folder + "/recording";
  std::error_code ignored;
  if (!std::filesystem::exists(path + "/recording.txtpb", ignored)) return {};
  const absl::StatusOr<RecordingManifest> manifest = ReadRecordingManifest(path);
  if (!manifest.ok()) return {std::string(manifest.status().message())};
  if (manifest->device_identity != stored.manifest.device_identity) {
    return {absl::StrCat(path, ": from a different device: ", Name(manifest->device_identity))};
  }
  absl::flat_hash_set<std::string> known;
  const auto know = [&known](const auto& answers) {
    ForEachKey(answers, [&known](std::string key) { known.insert(std::move(key)); });
    return absl::OkStatus();
  };
  absl::Status s = DeliverSurvey(folder, stored, know);
  s.Update(DeliverSurveyDigests(stored, know));
  uint64_t all = 0, foreign = 0;
  const auto count = [&](const auto& answers) {
    ForEachKey(answers, [&](const std::string& key) {
      ++all;
      foreign += !known.contains(key);
    });
    return absl::OkStatus();
  };
  RecordingStats stats;
  s.Update(ReadRecordingFolder(path, count, stats));
  const auto damage = ReadDigests(path, count);
  s.Update(damage.status());
  std::vector<std::string> wrong;
  if (!s.ok()) wrong.emplace_back(s.message());
  if (damage.ok()) stats.damage.insert(stats.damage.end(), damage->begin(), damage->end());
  for (const Damage& d : stats.damage) wrong.push_back(absl::StrCat(path, ": ", Text(d)));
  if (foreign > 0) {
    wrong.push_back(absl::StrCat(path, ": ", foreign, " of ", all, " answers are not in ",
                                 SurveyLogPath(folder)));
  }
  return wrong;
}

absl::Status ReadSurveyFolder(const std::string& folder,
                              absl::FunctionRef<absl::Status(const Recording&)> deliver,
                              RecordingStats& stats) {
  ASSIGN_OR_RETURN(const StoredSurvey stored, ReadSurvey(folder));
  if (stored.damaged) {
    stats.damage.push_back(
        {.kind = DamageKind::kOtherFile, .detail = stored.Damage(), .file = SurveyLogPath(folder)});
  } else {
    for (std::string& wrong : WrongRecording(folder, stored)) {
      stats.damage.push_back({.kind = DamageKind::kOtherFile, .detail = std::move(wrong)});
    }
  }
  return DeliverSurvey(folder, stored, [&](const Recording& recording) {
    stats.dot_products += recording.d.size();
    return deliver(recording);
  });
}

}  // namespace mmadiff

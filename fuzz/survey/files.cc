#include "fuzz/survey/files.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <ranges>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "corpus/durable_file.h"
#include "corpus/line_checksum.h"
#include "corpus/recordings/packed_words.h"
#include "corpus/recordings/recording_folder.h"
#include "fuzz/cases/case_name.h"
#include "fuzz/findings.h"
#include "fuzz/survey/page.h"
#include "sim/operation.h"

namespace mmadiff {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostLineBytes = 15'000'000;  // of regressions.txt

class RecordingOf {
 public:
  RecordingOf(const SurveyOutcome& outcome, std::string& note) : outcome_(outcome), note_(note) {
    for (const SurveyManifest::Instruction& i : outcome.manifest.instructions) {
      index_[i.name] = manifest_.instructions.size();
      RecordingManifest::Instruction& added = manifest_.instructions.emplace_back();
      added.name = i.name;
      added.emulated = i.emulated;
      added.unit_cases = i.digest_cases;
      identities_.push_back(outcome.manifest.device_identity +
                            (i.emulated ? ", emulated by ptxas" : ""));
    }
  }

  absl::Status Write(const std::string& path) {
    auto writer = RecordingFolderWriter::Create(path);
    if (!writer.ok()) return writer.status();
    for (const SurveyResult& result : outcome_.results) {
      if (absl::Status s = Add(result, **writer); !s.ok()) return s;
    }
    if (!any_) return absl::OkStatus();  // the writer removes what it began
    absl::Status s;
    if (!lines_.empty()) {
      s = (*writer)->WriteRegressions(WithAnswersHash(absl::StrCat(
          "# Answers to questions, vectors and regression cases, ", Now(), "\n", lines_)));
    }
    if (s.ok() && !digests_.empty()) s = (*writer)->WriteDigests(digests_);
    if (!s.ok()) return s;
    const SurveyManifest& from = outcome_.manifest;
    manifest_.tool_version = from.tool_version;
    manifest_.model_version = from.model_version;
    manifest_.generator_version = from.generator_version;
    manifest_.seed = from.seed;
    manifest_.device = from.device;
    manifest_.device_identity = from.device_identity;
    manifest_.date = Now();
    return (*writer)->Commit(manifest_);
  }

 private:
  absl::Status Add(const SurveyResult& result, RecordingFolderWriter& writer) {
    const Operation* op = FindOperation(result.task.op, Models::kOptional);
    const auto at = index_.find(result.task.op);
    if (op == nullptr || at == index_.end()) return absl::OkStatus();
    RecordingManifest::Instruction& i = manifest_.instructions[at->second];
    const std::string& identity = identities_[at->second];
    for (const SurveyAnswer& a : result.answers) {
      if (!a.lines.empty()) AddLines(result, identity, a.question, a.lines, i);
    }
    std::map<std::string, std::vector<std::string>> named;
    for (const SurveyLine& line : result.lines) named[line.name].push_back(line.line);
    for (const auto& [name, lines] : named) AddLines(result, identity, name, lines, i);
    for (const SurveyFinding& f : result.findings) {
      std::vector<std::string> lines;
      for (const SurveyFinding::Case& c : f.cases) lines.push_back(c.line);
      if (!lines.empty() && f.bucket != "flaky") AddLines(result, identity, f.bucket, lines, i);
    }
    for (const SurveyOutputs& o : result.outputs) {
      Batch batch;
      batch.shape = op->shape();
      batch.count = static_cast<int64_t>(o.count);
      batch.stream = o.stream;
      batch.first = o.first;
      if (o.count == 0) continue;
      absl::Status s =
          writer.AppendRaw(*op, batch, UnpackWords(*op->instruction->d, o.d), identity);
      if (!s.ok()) return s;
      raw_[i.name][o.stream] += o.count;
      any_ = true;
    }
    // Of each strategy: of a slow device some may have more.
    if (const auto& raw = raw_[i.name]; raw.size() == Strategies().size()) {
      i.raw_cases = std::ranges::min(raw | std::views::values);
    }
    for (const SurveyDigests& d : result.digests) {
      digests_.push_back({op, d.stream, 0, d.unit_cases, d.digests, identity});
      i.digest_units = d.digests.size();
      any_ = true;
    }
    return absl::OkStatus();
  }

  void AddLines(const SurveyResult& result, const std::string& identity, const std::string& name,
                const std::vector<std::string>& lines, RecordingManifest::Instruction& i) {
    std::string text = absl::StrCat("# instruction: ", result.task.op, "\n# device: ", identity,
                                    result.task.variant.empty() ? "" : ", " + result.task.variant,
                                    "\n# case: ", name, "\n");
    for (const std::string& line : lines) absl::StrAppend(&text, line, "\n");
    if (lines_.size() + text.size() > kMostLineBytes) {
      note_ = "not all answered lines are in the recording: answers.log has them";
      return;
    }
    lines_ += text;
    ++i.regressions;
    any_ = true;
  }

  const SurveyOutcome& outcome_;
  std::string& note_;
  RecordingManifest manifest_;
  std::map<std::string, size_t> index_;
  std::map<std::string, std::map<std::string, uint64_t>> raw_;  // operation, stream: executions
  std::vector<std::string> identities_;
  std::string lines_;
  std::vector<RecordedDigests> digests_;
  bool any_ = false;
};

// Whether a file of this name is ours: one of `own`, or what a killed process left of it
// (corpus/durable_file.h).
bool IsOwn(const std::string& name, std::initializer_list<absl::string_view> own, bool whole) {
  return std::any_of(own.begin(), own.end(), [&](absl::string_view file) {
    const bool torn = absl::StartsWith(name, absl::StrCat(file, ".tmp")) &&
                      name.size() == file.size() + std::strlen(".tmpXXXXXX");
    return torn || (whole && name == file);
  });
}

std::vector<fs::path> EntriesOf(const fs::path& folder) {
  std::error_code ignored;
  std::vector<fs::path> entries;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) entries.push_back(entry.path());
  return entries;
}

// What an earlier attempt wrote, or was killed while it wrote; nothing else.
void RemoveOld(const std::string& folder) {
  std::error_code ignored;
  for (const fs::path& path : EntriesOf(folder)) {
    const std::string name = path.filename().string();
    const bool recording = IsOwn(name, {"recording"}, true);
    if (!recording && !IsOwn(name, {"survey.md", "survey.json", "answers.log"}, false)) continue;
    for (const fs::path& file : EntriesOf(path)) {
      if (IsOwn(file.filename().string(),
                {"recording.txtpb", "raw-1.log", "raw-2.log", "raw-3.log", "raw-4.log", "raw-5.log",
                 "regressions.txt", "digests.log"},
                true)) {
        fs::remove(file, ignored);
      }
    }
    fs::remove(path, ignored);  // a folder only if it is empty
  }
}

}  // namespace

absl::Status WriteSurveyFiles(const std::string& folder, const SurveySummary& summary,
                              std::string& note) {
  RemoveOld(folder);
  absl::Status s = RecordingOf(*summary.outcome, note).Write(folder + "/recording");
  if (s.ok()) s = WriteFileDurably(folder + "/survey.json", SurveyJson(summary));
  if (s.ok()) s = WriteFileDurably(folder + "/survey.md", SurveyPage(summary));
  return s.ok() ? s : absl::DataLossError(s.message());
}

}  // namespace mmadiff

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
#include "corpus/cases/case_name.h"
#include "corpus/durable_file.h"
#include "corpus/line_checksum.h"
#include "corpus/recordings/packed_words.h"
#include "corpus/recordings/recording_folder.h"
#include "corpus/recordings/survey_answers.h"
#include "corpus/utc_time.h"
#include "device/status_macros.h"
#include "fuzz/folder/findings.h"
#include "fuzz/survey/fields.h"
#include "fuzz/survey/html_page.h"
#include "fuzz/survey/page.h"
#include "fuzz/survey/stamp.h"
#include "sim/operation.h"

namespace mmadiff {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxLineBytes = 15'000'000;  // in regressions.txt
constexpr int64_t kWordsAtOnce = 1 << 15;     // raw answers per record

class RecordingOf {
 public:
  RecordingOf(const SurveyOutcome& outcome, std::string& note) : outcome_(outcome), note_(note) {
    for (const SurveyManifest::Instruction& i : outcome.manifest.instructions) {
      index_[i.name] = manifest_.instructions.size();
      RecordingManifest::Instruction& added = manifest_.instructions.emplace_back();
      added.name = i.name;
      added.emulated = i.emulated;
      added.unit_cases = i.digest_cases;
    }
  }

  absl::Status Write(const std::string& path) {
    auto writer = RecordingFolderWriter::Create(path);
    RETURN_IF_ERROR(writer.status());
    absl::Status s =
        ForEachAnswers(outcome_.manifest, outcome_.results,
                       [&](const SurveyAnswers& answers) { return Add(answers, **writer); });
    RETURN_IF_ERROR(s);
    if (!any_) return absl::OkStatus();  // the writer removes its unfinished files
    if (!lines_.empty()) {
      s = (*writer)->WriteRegressions(
          AnswersFile("Answers to questions, vectors and regression cases, " + UtcNow(), lines_));
    }
    if (s.ok() && !digests_.empty()) s = (*writer)->WriteDigests(digests_);
    RETURN_IF_ERROR(s);
    const SurveyManifest& from = outcome_.manifest;
    manifest_.tool_version = from.tool_version;
    manifest_.model_version = from.model_version;
    manifest_.generator_version = from.generator_version;
    manifest_.seed = from.seed;
    manifest_.device = from.device;
    manifest_.device_identity = from.device_identity;
    manifest_.date = UtcNow();
    return (*writer)->Commit(manifest_);
  }

 private:
  RecordingManifest::Instruction& InstructionOf(const std::string& op) {
    const auto [at, added] = index_.try_emplace(op, manifest_.instructions.size());
    if (added) manifest_.instructions.emplace_back().name = op;  // a size other than the table's
    return manifest_.instructions[at->second];
  }

  absl::Status Add(const SurveyAnswers& answers, RecordingFolderWriter& writer) {
    RecordingManifest::Instruction& i = InstructionOf(answers.op->name);
    if (answers.outputs != nullptr) return AddRaw(answers, i, writer);
    if (answers.digests == nullptr) {
      AddLines(answers, i);
      return absl::OkStatus();
    }
    const SurveyDigests& d = *answers.digests;
    digests_.push_back({answers.op, d.stream, 0, d.unit_cases, d.digests, answers.identity});
    i.digest_units = d.digests.size();
    any_ = true;
    return absl::OkStatus();
  }

  absl::Status AddRaw(const SurveyAnswers& answers, RecordingManifest::Instruction& i,
                      RecordingFolderWriter& writer) {
    const SurveyOutputs& o = *answers.outputs;
    const std::vector<uint64_t> d = UnpackWords(*answers.op->instruction->d, o.d);
    Batch batch;
    batch.shape = answers.op->shape();
    batch.stream = o.stream;
    const int64_t words = batch.shape.d_words();
    const uint64_t at_once = std::max<int64_t>(1, kWordsAtOnce / words);
    for (uint64_t done = 0; done < o.count; done += batch.count) {
      batch.first = o.first + done;
      batch.count = static_cast<int64_t>(std::min(at_once, o.count - done));
      const auto begin = d.begin() + static_cast<std::ptrdiff_t>(done) * words;
      RETURN_IF_ERROR(writer.AppendRaw(*answers.op, batch, {begin, begin + batch.count * words},
                                       answers.identity));
    }
    std::map<std::string, uint64_t>& raw = raw_[i.name];
    raw[o.stream] += o.count;
    // raw_cases is the smallest count: on a slow device some strategies may have more.
    if (raw.size() == Strategies().size()) {
      i.raw_cases =
          std::ranges::min_element(raw, {}, [](const auto& of) { return of.second; })->second;
    }
    any_ = true;
    return absl::OkStatus();
  }

  void AddLines(const SurveyAnswers& answers, RecordingManifest::Instruction& i) {
    std::string text =
        absl::StrCat("# instruction: ", answers.op->name, "\n# device: ", answers.identity,
                     "\n# case: ", answers.name, "\n");
    for (const std::string& line : answers.lines) absl::StrAppend(&text, line, "\n");
    if (lines_.size() + text.size() > kMaxLineBytes) {
      note_ = "some answered lines did not fit the recording; answers.log has all of them";
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
  std::map<std::string, std::map<std::string, uint64_t>> raw_;  // operation, stream -> executions
  std::string lines_;
  std::vector<RecordedDigests> digests_;
  bool any_ = false;
};

// Whether a file of this name belongs to the survey: one of `own` (if `whole`), or a temporary file
// of it that a killed process left (corpus/durable_file.h).
bool IsOwn(const std::string& name, std::initializer_list<absl::string_view> own, bool whole) {
  return std::ranges::any_of(own, [&](absl::string_view file) {
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

// Removes files that an earlier attempt wrote or began to write, and nothing else.
void RemoveOld(const std::string& folder) {
  std::error_code ignored;
  for (const fs::path& path : EntriesOf(folder)) {
    const std::string name = path.filename().string();
    const bool recording = IsOwn(name, {"recording"}, true);
    const auto torn = [&](absl::string_view own) { return IsOwn(name, {own}, false); };
    if (!recording && !torn("answers.log") && std::ranges::none_of(kSurveyPages, torn)) continue;
    const bool link = fs::is_symlink(path, ignored);           // its target is not ours
    if (!link) fs::remove(path / "recording.txtpb", ignored);  // first: invalidates the recording
    for (const fs::path& file : link ? std::vector<fs::path>() : EntriesOf(path)) {
      if (IsOwn(file.filename().string(),
                {"recording.txtpb", "raw-1.log", "raw-2.log", "raw-3.log", "raw-4.log", "raw-5.log",
                 "regressions.txt", "digests.log", "writer.lock"},
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
  if (s.ok()) s = WriteSurveyPages(folder, summary);
  return s.ok() ? s : absl::DataLossError(s.message());
}

absl::Status WriteSurveyPages(const std::string& folder, const SurveySummary& summary) {
  const absl::StatusOr<StoredSurvey> log = ReadSurvey(folder);
  absl::Status s = log.status();
  const auto write = [&](const char* name, const std::string& page) {
    if (s.ok()) s = WriteFileDurably(folder + name, Stamped(page, *log, log->results.size()));
  };
  write("/survey.json", JsonText(JsonOf(summary), 1) + "\n");
  write("/survey.md", SurveyPage(summary));
  write("/survey.html", SurveyHtml(summary));
  return s.ok() ? s : absl::DataLossError(s.message());
}

}  // namespace mmadiff

#include "corpus/survey_log.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "corpus/durable_file.h"
#include "corpus/text_proto.h"
#include "device/clock.h"
#include "device/status_macros.h"
#include "proto/survey.pb.h"

namespace mmadiff {
namespace {

constexpr size_t kPartBytes = 48 << 10;  // per record
constexpr auto kFlushEvery = absl::Milliseconds(500);

RunId RunOf(const std::string& manifest) { return ParseRunId(Xxh3Hex(manifest)).value(); }

// Splits the bytes of a message into records.
std::vector<std::string> Parts(const std::string& bytes, proto::SurveyPart::Kind kind) {
  const size_t count = std::max<size_t>(1, (bytes.size() + kPartBytes - 1) / kPartBytes);
  std::vector<std::string> parts;
  for (size_t i = 0; i < count; ++i) {
    proto::SurveyPart part;
    part.set_number(static_cast<uint32_t>(i));
    part.set_of(static_cast<uint32_t>(count));
    part.set_kind(kind);
    part.set_bytes(bytes.substr(i * kPartBytes, kPartBytes));
    parts.push_back(part.SerializeAsString());
  }
  return parts;
}

// Joins records back into results.
class Reader {
 public:
  explicit Reader(StoredSurvey& stored) : stored_(stored) {}

  absl::Status Take(absl::string_view bytes) {
    proto::SurveyPart part;
    if (!part.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
      return absl::DataLossError("a record that is not part of a survey");
    }
    const bool manifest = part.kind() == proto::SurveyPart::KIND_MANIFEST;
    if (!begun_ && !manifest) {
      return absl::DataLossError("the log does not begin with a manifest");
    }
    if (part.number() == 0) joined_.clear(), next_ = 0;
    // The beginning is lost, or a process was killed before it wrote the end.
    if (part.number() != next_) return absl::OkStatus();
    joined_ += part.bytes();
    if (++next_ < part.of()) return absl::OkStatus();
    next_ = ~0u;
    if (manifest) return TakeManifest();
    if (part.kind() == proto::SurveyPart::KIND_END) return TakeEnd();
    ASSIGN_OR_RETURN(SurveyResult result, ParseSurveyResult(joined_));
    stored_.results.push_back(std::move(result));
    const std::string before = stored_.hashes.empty() ? "" : stored_.hashes.back();
    stored_.hashes.push_back(Xxh3Hex(before + joined_));
    return absl::OkStatus();
  }
  bool begun() const { return begun_; }

 private:
  absl::Status TakeManifest() {
    if (std::exchange(begun_, true)) return absl::DataLossError("two manifests");
    const absl::StatusOr<SurveyManifest> manifest = ParseSurveyManifest(joined_);
    if (manifest.ok()) stored_.manifest = *manifest;
    stored_.run = RunOf(joined_);
    return manifest.status();
  }

  absl::Status TakeEnd() {
    absl::StatusOr<SurveyEnd> end = ParseSurveyEnd(joined_);
    if (end.ok()) stored_.ends.push_back({*std::move(end), stored_.results.size()});
    return end.status();
  }

  StoredSurvey& stored_;
  std::string joined_;
  uint32_t next_ = ~0u;  // number of the next part
  bool begun_ = false;
};

}  // namespace

std::string StoredSurvey::Damage() const {
  for (const mmadiff::Damage& d : stats.damage) {
    if (!d.IsTornEnd()) return Text(d);
  }
  return "";
}

std::string SurveyLogPath(const std::string& folder) { return folder + "/answers.log"; }

absl::StatusOr<StoredSurvey> ReadSurvey(const std::string& folder) {
  const std::string path = SurveyLogPath(folder);
  StoredSurvey stored;
  Reader reader(stored);
  absl::Status wrong;
  const auto stats =
      ReadBlockLog(path, [&](absl::string_view bytes) { return wrong = reader.Take(bytes); });
  if (!wrong.ok()) return absl::DataLossError(absl::StrCat(path, ": ", wrong.message()));
  RETURN_IF_ERROR(stats.status());
  if (!reader.begun()) {
    return absl::DataLossError(absl::StrCat(path, ": not a survey: it has no manifest"));
  }
  stored.stats = *stats;
  stored.damaged = !stored.Damage().empty();
  return stored;
}

absl::StatusOr<std::unique_ptr<SurveyLog>> SurveyLog::Create(const std::string& folder,
                                                             const SurveyManifest& manifest) {
  // The file is created together with its manifest.
  const std::string bytes = SerializeManifest(manifest);
  const std::string log =
      EncodeRecords(Parts(bytes, proto::SurveyPart::KIND_MANIFEST), RunOf(bytes));
  absl::Status s = CreateFileDurably(SurveyLogPath(folder), log);
  if (!s.ok()) return absl::DataLossError(s.message());
  ASSIGN_OR_RETURN(const StoredSurvey stored, ReadSurvey(folder));
  return Continue(folder, stored);
}

absl::StatusOr<std::unique_ptr<SurveyLog>> SurveyLog::Continue(const std::string& folder,
                                                               const StoredSurvey& stored) {
  auto log = BlockLogWriter::Continue(SurveyLogPath(folder), stored.run, stored.stats);
  if (!log.ok()) return absl::DataLossError(log.status().message());
  std::unique_ptr<SurveyLog> survey(new SurveyLog(*std::move(log)));
  survey->bytes_ = stored.stats.good_bytes;
  return survey;
}

absl::Status SurveyLog::Append(const SurveyResult& result) {
  absl::Status s = Add(Parts(SerializeResult(result), proto::SurveyPart::KIND_RESULT));
  if (!s.ok() || MonotonicNow() - flushed_ < kFlushEvery) return s;
  return Flush();
}

absl::Status SurveyLog::Append(const SurveyEnd& end) {
  absl::Status s = Add(Parts(SerializeEnd(end), proto::SurveyPart::KIND_END));
  return s.ok() ? Flush() : s;
}

absl::Status SurveyLog::Add(const std::vector<std::string>& records) {
  for (const std::string& record : records) {
    if (absl::Status s = log_->Append(record); !s.ok()) return absl::DataLossError(s.message());
    bytes_ += record.size();
  }
  return absl::OkStatus();
}

absl::Status SurveyLog::Flush() {
  flushed_ = MonotonicNow();
  const absl::Status s = log_->Flush();
  return s.ok() ? s : absl::DataLossError(s.message());
}

}  // namespace mmadiff

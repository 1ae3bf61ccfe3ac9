#include "corpus/recordings/recording.h"

#include <algorithm>
#include <span>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "corpus/case_folder.h"
#include "corpus/path_kind.h"
#include "corpus/recordings/line_recording.h"
#include "corpus/recordings/packed_words.h"
#include "corpus/recordings/recording_folder.h"
#include "corpus/recordings/survey_answers.h"
#include "corpus/regression_case.h"
#include "corpus/stored_files.h"
#include "corpus/survey_log.h"
#include "device/status_macros.h"
#include "proto/run.pb.h"

namespace mmadiff {
namespace {

using Deliver = absl::FunctionRef<absl::Status(const Recording&)>;
using proto::RecordedOutputs;

// Output bytes per record; leaves room for the names in the same record.
constexpr int64_t kMaxOutputBytes = 48 << 10;

bool FitsFormat(const Format& f, std::span<const uint64_t> words) {
  return std::ranges::all_of(words, [&f](uint64_t word) { return (word & ~LowBits(f.bits)) == 0; });
}

// One record of a block log.
struct Outputs {
  Recording recording;
  bool whole = true;  // else part of one execution, starting at word `element` of its results
  uint64_t element = 0;
};

// The record's checksum was good, so any error here was made by the writer.
absl::StatusOr<Outputs> ParseOutputs(absl::string_view bytes, const std::string& where) {
  const auto error = [&where](const auto&... parts) {
    return absl::DataLossError(absl::StrCat(where, ": ", parts...));
  };
  RecordedOutputs message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return error(bytes.size(), " bytes that are not recorded outputs");
  }
  Recording recording;
  recording.op = FindOperation(message.instruction(), Models::kOptional);
  if (recording.op == nullptr) {
    return error(WhyNoOperation(absl::CHexEscape(message.instruction().substr(0, 100))));
  }
  if (message.stream().empty()) return error("recorded outputs without a stream");
  const Shape& own = recording.op->shape();
  if (message.shape_kind() == RecordedOutputs::SHAPE_KIND_EXECUTION) {
    recording.inputs.shape = own;
  } else if (message.shape_kind() == RecordedOutputs::SHAPE_KIND_DOT_PRODUCT) {
    recording.inputs.shape = DotProductShape(own);
  } else {
    return error("unknown shape kind ", message.shape_kind());
  }
  const Format& format = *recording.op->instruction->d;
  const uint64_t words = recording.inputs.shape.d_words(), d_bytes = message.d().size();
  const uint64_t case_bytes = words * WordBytes(format);
  const uint64_t count = d_bytes / case_bytes;
  const bool whole = count > 0 && message.count() == count && d_bytes % case_bytes == 0;
  const bool part = message.count() == 1 && d_bytes > 0 && d_bytes % WordBytes(format) == 0 &&
                    message.element() < words &&
                    d_bytes <= case_bytes - message.element() * WordBytes(format);
  if (!(whole && message.element() == 0) && !part) {
    return error(d_bytes, " bytes of outputs, expected ", case_bytes, " for each of ",
                 message.count(), " cases");
  }
  if (message.first() + (message.count() - 1) < message.first()) {
    return error("cases from ", message.first(), " on exceed 2^64");
  }
  recording.inputs.count = static_cast<int64_t>(message.count());
  recording.inputs.stream = message.stream();
  recording.inputs.first = message.first();
  recording.d = UnpackWords(format, message.d());
  if (!FitsFormat(format, recording.d)) return error("a word that exceeds ", format.name);
  recording.identity = message.identity();
  recording.where = {where};
  return Outputs{std::move(recording), whole, message.element()};
}

// Appends a part to the previous parts of the same execution. Drops a part if the beginning was
// lost. May take the recording out of `part`.
void Join(Outputs& part, Recording& joined) {
  Recording& added = part.recording;
  if (part.element == 0) {
    joined = std::move(added);
  } else if (joined.op == added.op && joined.inputs.stream == added.inputs.stream &&
             joined.inputs.first == added.inputs.first && joined.d.size() == part.element) {
    joined.d.insert(joined.d.end(), added.d.begin(), added.d.end());
  }
}

absl::Status ReadLog(const std::string& path, Deliver deliver, RecordingStats& stats,
                     std::optional<RunId> run) {
  uint64_t number = 0;
  Recording joined;  // parts of an execution
  const auto read = [&](absl::string_view bytes) {
    ASSIGN_OR_RETURN(auto outputs, ParseOutputs(bytes, absl::StrCat(path, ":record ", ++number)));
    if (!outputs.whole) {
      Join(outputs, joined);
      if (static_cast<int64_t>(joined.d.size()) != joined.inputs.dot_products() ||
          joined.d.empty()) {
        return absl::OkStatus();
      }
      outputs.recording = std::exchange(joined, {});
    }
    stats.dot_products += outputs.recording.d.size();
    return deliver(outputs.recording);
  };
  ASSIGN_OR_RETURN(BlockLogStats log, ReadBlockLog(path, read, run));
  DemandEnd(log);
  stats.damage = std::move(log.damage);
  if (!joined.d.empty()) stats.damage.push_back({DamageKind::kUnfinishedPart});
  return absl::OkStatus();
}

absl::Status ReadTextCase(const std::string& file, Deliver deliver, RecordingStats& stats) {
  ASSIGN_OR_RETURN(const RegressionCase c, ReadCase(file));
  for (size_t i = 0; i < c.answers.size(); ++i) {
    const Answer& answer = c.answers[i];
    if (answer.IsPrediction()) continue;
    const std::string& who = answer.identity.empty() ? answer.device : answer.identity;
    stats.dot_products += answer.d.size();
    RETURN_IF_ERROR(
        deliver({c.op, c.inputs, answer.d, who, {absl::StrCat(file, ":answers[", i, "]")}}));
  }
  return absl::OkStatus();
}

absl::Status ReadOne(const std::string& path, FileKind kind, const std::string& instruction,
                     Deliver deliver, RecordingStats& stats, std::optional<RunId> run) {
  if (kind == FileKind::kCase) return ReadTextCase(path, deliver, stats);
  if (kind == FileKind::kLog) return ReadLog(path, deliver, stats, run);
  return ReadLineRecording(path, instruction, deliver, stats.dot_products);
}

// Skips vectors: they are not answers of one device.
absl::Status ReadAllBelow(const std::string& folder, const std::string& instruction,
                          Deliver deliver, RecordingStats& stats) {
  StoredFolders folders;
  ASSIGN_OR_RETURN(auto below, StoredFilesBelow(folder, folders, IsRecorded));
  const std::vector<StoredFile> files = stats.ledger.Keep(std::move(below));
  for (const LeftOutLine& line : stats.ledger.lines()) {
    if (line.reason == Reason::kNotUnderstood) {
      return absl::DataLossError(
          absl::StrCat(folder, ": ", Text(line), "; move it away, or name the files to read"));
    }
  }
  for (const StoredFile& file : files) {
    RETURN_IF_ERROR(ReadOne(file.path, file.kind, instruction, deliver, stats, {}));
    stats.ledger.Compare(Thing::kFile, file.path);
  }
  return absl::OkStatus();
}

// A folder of recordings mixes several devices.
absl::Status NoRecordingFolderBelow(const std::string& folder) {
  const absl::StatusOr<std::vector<std::string>> below = RecordingFoldersBelow(folder);
  if (!below.ok() || below->empty()) return below.status();
  return absl::InvalidArgumentError(
      absl::StrCat(folder, ": contains ", below->size(),
                   " recordings; name one of them: ", absl::StrJoin(*below, ", ")));
}

}  // namespace

absl::StatusOr<Batch> InputsOf(const Recording& recording) {
  Batch inputs = recording.inputs;
  if (inputs.stream.empty()) return inputs;
  ASSIGN_OR_RETURN(const CaseStream stream, StoredStream(inputs.stream, *recording.op));
  if (inputs.shape != recording.op->shape()) {
    return absl::DataLossError(
        absl::StrCat(recording.where.file, ": ", inputs.stream, " has whole executions"));
  }
  Generate(stream, inputs.first, inputs.count, inputs);
  return inputs;
}

absl::StatusOr<CaseStream> StoredStream(const std::string& name, const Operation& op) {
  const absl::StatusOr<CaseStream> stream = ParseStreamName(name, Models::kOptional);
  if (!stream.ok()) return absl::DataLossError(stream.status().message());
  if (stream->op == &op) return stream;
  return absl::DataLossError(absl::StrCat(op.name, ": answers to cases of ", name));
}

std::string WhereOf(const Recording& r, int64_t index) {
  const std::string place = Name(r.where + index);
  if (r.inputs.stream.empty()) return place;
  return absl::StrCat(place, " (case ", r.inputs.stream, ":",
                      r.inputs.first + index / r.inputs.shape.d_words(), ")");
}

absl::StatusOr<RecordingStats> ReadRecordings(const std::string& path,
                                              const std::string& instruction, Deliver deliver,
                                              std::optional<RunId> run) {
  RecordingStats stats;
  absl::Status s;
  switch (KindOf(path)) {
    case PathKind::kOther:
      s = absl::InvalidArgumentError(
          absl::StrCat(path,
                       ": not a regular file; a recording is read more than once, so save it to a "
                       "file first"));
      break;
    case PathKind::kRecording:
      s = ReadRecordingFolder(path, deliver, stats);
      break;
    case PathKind::kSurvey:
      s = ReadSurveyFolder(path, deliver, stats);
      break;
    case PathKind::kFolder:
    case PathKind::kRun:
      s = NoRecordingFolderBelow(path);
      if (s.ok()) s = ReadAllBelow(path, instruction, deliver, stats);
      break;
    case PathKind::kNothing:  // the reader reports it
    case PathKind::kCase:
    case PathKind::kFile:
      s = ReadOne(path, KindOfFile(path), instruction, deliver, stats, run);
      break;
  }
  RETURN_IF_ERROR(s);
  if (stats.dot_products > 0) return stats;
  return absl::DataLossError(absl::StrCat(
      path, ": contains no recorded answer",
      stats.damage.empty() ? ""
                           : absl::StrCat("; ", stats.damage.size(),
                                          " damaged places, first: ", Text(stats.damage[0]))));
}

absl::Status CheckWhole(const std::string& path, const RecordingStats& stats) {
  ASSIGN_OR_RETURN(const auto others, OtherAnswersBelow(path));
  if (!others.empty()) {
    return absl::DataLossError(
        absl::StrCat(path, ": the folder also has answers that are not part of the recording (",
                     absl::StrJoin(others, ", "), "); move them away"));
  }
  if (stats.damage.empty()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(path, ": ", Text(stats.damage[0]), ", ",
                                          stats.damage.size(),
                                          " damaged places in total; a damaged recording cannot be "
                                          "a device (`replay` uses its good records)"));
}

absl::StatusOr<std::unique_ptr<RecordingWriter>> RecordingWriter::Create(const std::string& path,
                                                                         RunId run) {
  ASSIGN_OR_RETURN(std::unique_ptr<BlockLogWriter> log, BlockLogWriter::Create(path, run));
  return std::unique_ptr<RecordingWriter>(new RecordingWriter(std::move(log)));
}

RecordingWriter::RecordingWriter(std::unique_ptr<BlockLogWriter> log) : log_(std::move(log)) {}

absl::Status RecordingWriter::Append(const Operation& op, const Batch& batch,
                                     const std::vector<uint64_t>& d, const std::string& identity) {
  const Format& format = *op.instruction->d;
  if (batch.stream.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(op.name, ": only generated batches are recorded; this one has no stream"));
  }
  if (static_cast<int64_t>(d.size()) != batch.dot_products() || !FitsFormat(format, d)) {
    return absl::InvalidArgumentError(absl::StrCat(op.name, ": ", d.size(), " answers, expected ",
                                                   batch.dot_products(), " of ", format.name));
  }
  const bool whole = batch.shape == op.shape();
  if (!whole && batch.shape != DotProductShape(op.shape())) {
    return absl::InvalidArgumentError(absl::StrCat(op.name, ": a batch of a different shape"));
  }
  const int64_t case_words = batch.shape.d_words();
  // Writes whole cases per record; if a case is too large, as many of its words as fit.
  const int64_t most_words = kMaxOutputBytes / WordBytes(format);
  const int64_t most = most_words / case_words * case_words;
  RecordedOutputs message;
  message.set_instruction(op.name);
  message.set_stream(batch.stream);
  message.set_shape_kind(whole ? RecordedOutputs::SHAPE_KIND_EXECUTION
                               : RecordedOutputs::SHAPE_KIND_DOT_PRODUCT);
  message.set_identity(identity);
  const int64_t all = static_cast<int64_t>(d.size());
  for (int64_t done = 0, count; done < all; done += count) {
    const int64_t element = done % case_words;
    count = most > 0 ? std::min(most, all - done) : std::min(most_words, case_words - element);
    message.set_first(batch.first + done / case_words);
    message.set_count(std::max<int64_t>(1, count / case_words));
    message.set_element(element);
    message.set_d(PackWords(format, std::span(&d[done], count)));
    RETURN_IF_ERROR(log_->Append(message.SerializeAsString()));
  }
  return absl::OkStatus();
}

absl::Status RecordingWriter::Flush() { return log_->Flush(); }

absl::Status RecordingWriter::Finish() { return log_->Finish(); }

}  // namespace mmadiff

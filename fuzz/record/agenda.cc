#include "fuzz/record/agenda.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "corpus/line_checksum.h"
#include "corpus/utc_time.h"
#include "device/clock.h"
#include "device/line_protocol.h"
#include "device/status_macros.h"
#include "fuzz/folder/findings.h"
#include "fuzz/record/raw_cases.h"
#include "fuzz/unit/devices.h"

namespace mmadiff {
namespace {

constexpr uint64_t kDigestBytes = 21;        // per digest in digests.log
constexpr uint64_t kInstructionBytes = 160;  // in the manifest, without the name
constexpr uint64_t kDigestParts = 64;        // the first unit of a row is repeated in these parts

// Puts these cases into one batch. Consecutive cases keep their stream and index, which a recording
// needs to name them.
void GenerateEach(const CaseStream& stream, const std::vector<uint64_t>& cases, Batch& batch) {
  Generate(stream, cases.front(), static_cast<int64_t>(cases.size()), batch);
  if (cases.back() - cases.front() + 1 == cases.size()) return;
  batch = {};
  Batch one;
  for (const uint64_t index : cases) {
    Generate(stream, index, 1, one);
    batch.Append(one);
  }
}

}  // namespace

RecordAgenda::RecordAgenda(const RecordOptions& options, Append append,
                           RecordingFolderWriter* folder, Console& console)
    : options_(options), append_(std::move(append)), folder_(folder), console_(console) {
  for (const Operation* op : options.ops) {
    rows_.emplace_back().stream = {op, options.strategy, options.seed};
  }
}

std::optional<Task> RecordAgenda::Next(absl::Duration) {
  while (failed_.ok() && !asking_) {
    std::optional<Task> task;
    if (phase_ == Phase::kTry && next_ < rows_.size()) {
      task = {next_, TryTask{rows_[next_].stream}};
      ++next_;
    } else if (phase_ == Phase::kKnown) {
      task = NextKnown();
    } else if (phase_ == Phase::kRaw) {
      task = NextRaw();
    } else if (phase_ == Phase::kAgain) {
      task = NextAgain();
    } else if (phase_ == Phase::kDigests) {
      return NextDigest();
    }
    asking_ = task.has_value();
    if (asking_) return task;
    failed_ = EndPhase();
  }
  return std::nullopt;
}

absl::Status RecordAgenda::EndPhase() {
  next_ = 0;
  switch (phase_) {
    case Phase::kTry:
      phase_ = Phase::kKnown;
      return BeginKnown();
    case Phase::kKnown:
      phase_ = Phase::kRaw;
      RETURN_IF_ERROR(EndKnown());
      return PlanRaw();
    case Phase::kRaw:
      phase_ = Phase::kAgain;
      strategy_ = 0;
      return absl::OkStatus();
    default:
      phase_ = Phase::kDigests;
      PlanDigests();
      return absl::OkStatus();
  }
}

absl::StatusOr<std::vector<Task>> RecordAgenda::Take(TaskResult result) {
  Row& row = rows_[result.task.row];
  asking_ = false;
  if (result.drop.has_value()) {
    row.dropped = true;
    // Fail, because otherwise wrong answers would remain in the folder.
    const DropCause cause = result.drop->cause;
    const bool wrong = cause == DropCause::kGarbled || cause == DropCause::kDoesNotRepeat;
    if (wrong && phase_ != Phase::kTry && folder_ != nullptr) {
      failed_.Update(DeviceError(
          absl::Status(result.status.code(),
                       absl::StrCat(result.task.op().name, ": ", result.status.message(),
                                    "; nothing was recorded, for this or any other instruction"))));
    }
  }
  if (const auto* digest = std::get_if<DigestTask>(&result.task.what)) {
    TakeDigest(row, *digest, result);
  } else if (!result.status.ok()) {
    return std::vector<Task>();
  } else if (const auto* words = std::get_if<WordsTask>(&result.task.what)) {
    RETURN_IF_ERROR(TakeWords(row, *words, std::get<WordsAnswer>(result.answer)));
  } else {
    row.answers = true;
    row.tried = std::get<TryAnswer>(std::move(result.answer));
    row.recorded.name = row.stream.op->name;
    row.recorded.emulated = row.tried.emulated;
    row.recorded.unit_cases = row.tried.unit_cases;
  }
  return std::vector<Task>();
}

absl::Status RecordAgenda::BeginKnown() {
  if (folder_ == nullptr) return absl::OkStatus();
  std::vector<const Operation*> ops;
  for (const Row& row : rows_) {
    if (row.answers) ops.push_back(row.stream.op);
  }
  absl::StatusOr<std::vector<KnownCase>> known = KnownCases(ops, options_.regressions);
  if (!known.ok()) return absl::AbortedError(known.status().message());
  known_ = *std::move(known);
  return absl::OkStatus();
}

size_t RecordAgenda::RowOf(const Operation& op) const {
  return std::ranges::find(options_.ops, &op) - options_.ops.begin();
}

std::optional<Task> RecordAgenda::NextKnown() {
  while (next_ < known_.size() && rows_[RowOf(*known_[next_].op)].dropped) ++next_;
  if (next_ == known_.size()) return std::nullopt;
  KnownCase& known = known_[next_++];
  return Task{RowOf(*known.op), WordsTask{known.op, std::move(known.inputs)}};
}

absl::Status RecordAgenda::EndKnown() {
  if (known_answers_.size() > kMaxRecordingFileBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "answers to regression cases take ", known_answers_.size(), " bytes, but at most ",
        kMaxRecordingFileBytes, " can be stored: name fewer instructions"));
  }
  if (known_answers_.empty()) return absl::OkStatus();
  return folder_->WriteRegressions(
      AnswersFile("Answers to regression cases, " + UtcNow(), known_answers_));
}

absl::Status RecordAgenda::TakeWords(Row& row, const WordsTask& task, const WordsAnswer& answer) {
  const Operation& op = *task.op;
  if (phase_ == Phase::kAgain) return TakeAgain(row, answer);
  if (phase_ == Phase::kRaw) {
    if (task.inputs.first == 0) row.sample.emplace_back();
    AddToSample(row, task.inputs, answer.d);
    outcome_.raw_dot_products += answer.d.size();
    row.raw_dot_products += answer.d.size();
    return append_(op, task.inputs, answer.d, answer.identity);
  }
  absl::StrAppend(&known_answers_, "# instruction: ", op.name, "\n# device: ", answer.identity,
                  "\n# case: ", known_[next_ - 1].name, "\n");
  for (size_t i = 0; i < answer.d.size(); ++i) {
    absl::StrAppend(&known_answers_,
                    FormatLine(*op.instruction, Extract(task.inputs, i), answer.d[i]), "\n");
  }
  ++row.recorded.regressions;
  ++outcome_.regressions;
  return absl::OkStatus();
}

absl::Status RecordAgenda::PlanRaw() {
  std::vector<const Operation*> ops;
  std::string longest;
  uint64_t used = known_answers_.size() + 4096;
  for (Row& row : rows_) {
    row.recorded.raw_cases = options_.cases;
    if (!row.answers) continue;
    ops.push_back(row.stream.op);
    used += row.stream.op->name.size() + kInstructionBytes;
    if (row.tried.identity.size() > longest.size()) longest = row.tried.identity;
  }
  if (folder_ == nullptr || ops.empty()) return absl::OkStatus();
  const uint64_t rest = options_.max_bytes > used ? options_.max_bytes - used : 0;
  digest_bytes_ = std::min(kMaxRecordingFileBytes, rest / 4);
  // A file may end a little before it is full.
  const uint64_t most = kMaxRawFiles * (kMaxRecordingFileBytes - 1'000'000);
  ASSIGN_OR_RETURN(const auto planned, PlanRawCases(ops, longest, options_.cases,
                                                    std::min(most, rest - digest_bytes_)));
  for (size_t i = 0; i < ops.size(); ++i) rows_[RowOf(*ops[i])].recorded.raw_cases = planned[i];
  return absl::OkStatus();
}

std::optional<Task> RecordAgenda::NextRaw() {
  const size_t strategies = folder_ == nullptr ? 1 : Strategies().size();
  for (; next_ < rows_.size(); ++next_, strategy_ = 0, first_ = 0) {
    const Row& row = rows_[next_];
    for (; !row.dropped && strategy_ < strategies; ++strategy_, first_ = 0) {
      if (first_ >= row.recorded.raw_cases) continue;
      CaseStream stream = row.stream;
      if (folder_ != nullptr) stream.strategy = &Strategies()[strategy_];
      WordsTask task = {stream.op, {}};
      Generate(stream, first_,
               std::min<int64_t>(RawBatchCases(*stream.op), row.recorded.raw_cases - first_),
               task.inputs);
      first_ += task.inputs.count;
      return Task{next_, std::move(task)};
    }
  }
  return std::nullopt;
}

// The number of sampled cases per strategy.
int64_t RecordAgenda::SampleCases(const Operation& op) const {
  constexpr int64_t kSampleWords = 2048;
  return std::max<int64_t>(1, kSampleWords / op.shape().d_words());
}

// The sample is spread over all cases. When it is repeated, its cases have other positions in the
// process that answers.
void RecordAgenda::AddToSample(Row& row, const Batch& inputs, const std::vector<uint64_t>& d) {
  const auto most = static_cast<uint64_t>(SampleCases(*row.stream.op));
  const uint64_t step = std::max<uint64_t>(1, row.recorded.raw_cases / most);
  const int64_t words = inputs.shape.d_words();
  Sample& sample = row.sample.back();
  for (int64_t i = 0; i < inputs.count && sample.cases.size() < most; ++i) {
    const uint64_t index = inputs.first + static_cast<uint64_t>(i);
    if (index % step != step - 1) continue;
    sample.cases.push_back(index);
    sample.d.insert(sample.d.end(), d.begin() + i * words, d.begin() + (i + 1) * words);
  }
}

std::optional<Task> RecordAgenda::NextAgain() {
  for (; next_ < rows_.size(); ++next_, strategy_ = 0) {
    const Row& row = rows_[next_];
    if (row.dropped || strategy_ >= row.sample.size()) continue;
    if (row.sample[strategy_].cases.empty()) continue;
    CaseStream stream = row.stream;
    if (folder_ != nullptr) stream.strategy = &Strategies()[strategy_];
    WordsTask task = {stream.op, {}};
    GenerateEach(stream, row.sample[strategy_].cases, task.inputs);
    return Task{next_, std::move(task)};
  }
  return std::nullopt;
}

// A difference fails the recording, because wrong answers would remain among the right ones.
absl::Status RecordAgenda::TakeAgain(Row& row, const WordsAnswer& answer) {
  const std::vector<uint64_t>& first = row.sample[strategy_++].d;
  row.recorded.repeated += answer.d.size();
  outcome_.repeated += answer.d.size();
  size_t other = 0;
  for (size_t i = 0; i < first.size(); ++i) other += answer.d[i] != first[i];
  if (other == 0) return absl::OkStatus();
  failed_.Update(absl::AbortedError(
      absl::StrCat(row.stream.op->name, ": ", other, " of ", first.size(),
                   " answers were different when repeated; nothing was recorded, for this or any "
                   "other instruction")));
  return absl::OkStatus();
}

void RecordAgenda::PlanDigests() {
  uint64_t overhead = 0;
  for (Row& row : rows_) {
    if (row.dropped) {
      row.recorded.raw_cases = 0;
      row.ended = 0;
    }
    if (row.answers) overhead += 2 * RecordOverhead(*row.stream.op, row.tried.identity);
  }
  most_units_ = digest_bytes_ > overhead ? (digest_bytes_ - overhead) / kDigestBytes : 0;
}

// The operation that has used the least time is next, so that all get their share. Each gets at
// least one unit, whatever the time.
std::optional<Task> RecordAgenda::NextDigest() {
  if (units_ >= most_units_) return std::nullopt;
  const absl::Duration now = MonotonicNow();
  Row* next = nullptr;
  for (Row& row : rows_) {
    if (row.ended) continue;
    if (next == nullptr || row.begun == 0 || row.UsedAt(now) < next->UsedAt(now)) next = &row;
    if (row.begun == 0) break;
  }
  if (next == nullptr || (next->begun > 0 && options_.limit.Reached())) return std::nullopt;
  ++units_;
  ++next->running;
  next->used -= now;
  const uint64_t cases = next->recorded.unit_cases;
  const uint64_t unit = next->begun++;
  return Task{RowOf(*next->stream.op),
              DigestTask{next->stream, unit * cases, cases, unit == 0 ? kDigestParts : 0}};
}

void RecordAgenda::TakeDigest(Row& row, const DigestTask& task, const TaskResult& result) {
  const uint64_t unit = task.first / task.cases;
  row.used += MonotonicNow();
  --row.running;
  row.digests.resize(std::max<size_t>(row.digests.size(), unit + 1));
  if (result.status.ok()) {
    row.digests[unit] = std::get<DigestAnswer>(result.answer).digest;
  } else {
    --units_;
    row.ended = std::min(row.ended.value_or(unit), unit);
  }
}

void RecordAgenda::ShowProgress(uint64_t) {
  if (units_ > 0) {
    console_.Status(
        absl::StrCat(units_, " units of digests, ",
                     absl::FormatDuration(absl::Trunc(
                         std::max(options_.limit.Left(), absl::ZeroDuration()), absl::Seconds(1))),
                     " left"),
        false);
  } else if (phase_ == Phase::kRaw && next_ < rows_.size()) {
    console_.Status(absl::StrCat("recording ", rows_[next_].stream.op->name), false);
  }
}

absl::StatusOr<RecordingManifest> RecordAgenda::Finish(RecordOutcome& outcome) {
  RecordingManifest manifest;
  std::vector<RecordedDigests> all;
  outcome = outcome_;
  for (Row& row : rows_) {
    if (!row.answers) continue;
    if (row.dropped && row.recorded.raw_cases == 0) {  // its answers are only in the log
      outcome.raw_dot_products -= row.raw_dot_products;
      outcome.repeated -= row.recorded.repeated;
      continue;
    }
    outcome.recorded.push_back(row.stream.op);
    row.digests.resize(std::min(row.begun, row.ended.value_or(row.begun)));
    const Operation& op = *row.stream.op;
    const uint64_t units = row.digests.size(), cases = row.recorded.unit_cases;
    row.recorded.digest_units = units;
    outcome.digest_units += units;
    outcome.digest_dot_products += units * cases * op.shape().d_words();
    outcome.without_digests += units == 0 && !row.dropped;
    manifest.instructions.push_back(row.recorded);
    if (units > 0) {
      all.push_back({&op, row.stream.name(), 0, cases, std::move(row.digests), row.tried.identity});
    }
  }
  if (folder_ == nullptr || all.empty()) return manifest;
  RETURN_IF_ERROR(folder_->WriteDigests(all));
  return manifest;
}

}  // namespace mmadiff

// The agenda of `record`: first each operation once; then, one after the other and in the order of
// the files, regression cases and vectors, and raw cases; then a sample of the raw cases again;
// last, in all threads, digests.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "corpus/recordings/recording_folder.h"
#include "fuzz/ask/agenda.h"
#include "fuzz/ask/known_cases.h"
#include "fuzz/output/console.h"
#include "fuzz/record/record.h"

namespace mmadiff {

class RecordAgenda : public Agenda {
 public:
  // Stores raw answers.
  using Append = std::function<absl::Status(
      const Operation&, const Batch&, const std::vector<uint64_t>& d, const std::string& identity)>;

  // If `folder` is nullptr, records a log: only raw answers to cases of one strategy.
  RecordAgenda(const RecordOptions& options, Append append, RecordingFolderWriter* folder,
               Console& console);

  std::optional<Task> Next(absl::Duration elapsed) override;
  absl::StatusOr<std::vector<Task>> Take(TaskResult result) override;
  void ShowProgress(uint64_t answered) override;

  // The error that made the recording unusable, if any. kAborted for a damaged regression case or
  // an answer that cannot be trusted.
  const absl::Status& failed() const { return failed_; }
  // Whether all raw answers are stored and the sample was repeated.
  bool HasRaw() const { return phase_ == Phase::kDigests; }
  // Writes the digests into the folder. Returns the manifest without the device.
  absl::StatusOr<RecordingManifest> Finish(RecordOutcome& outcome);

 private:
  enum class Phase { kTry, kKnown, kRaw, kAgain, kDigests };

  // Raw answers to repeat.
  struct Sample {
    std::vector<uint64_t> cases, d;  // indices in the stream; all words of each case
  };

  // The state of one operation. `used`: time of its finished units, minus the start time of each
  // running unit. `ended`: number of the first unit without a digest.
  struct Row {
    CaseStream stream;
    RecordingManifest::Instruction recorded;
    TryAnswer tried;
    bool answers = false, dropped = false;
    std::vector<Sample> sample;  // by strategy
    std::vector<Digest> digests;
    uint64_t raw_dot_products = 0;
    uint64_t begun = 0, running = 0;
    std::optional<uint64_t> ended = {};
    absl::Duration used = absl::ZeroDuration();

    absl::Duration UsedAt(absl::Duration now) const { return used + running * now; }
  };

  absl::Status EndPhase();
  absl::Status BeginKnown();
  absl::Status EndKnown();
  absl::Status PlanRaw();
  void PlanDigests();
  std::optional<Task> NextKnown();
  std::optional<Task> NextRaw();
  std::optional<Task> NextAgain();
  int64_t SampleCases(const Operation& op) const;
  void AddToSample(Row& row, const Batch& inputs, const std::vector<uint64_t>& d);
  absl::Status TakeAgain(Row& row, const WordsAnswer& answer);
  std::optional<Task> NextDigest();
  absl::Status TakeWords(Row& row, const WordsTask& task, const WordsAnswer& answer);
  void TakeDigest(Row& row, const DigestTask& task, const TaskResult& result);
  size_t RowOf(const Operation& op) const;

  const RecordOptions& options_;
  const Append append_;
  RecordingFolderWriter* const folder_;
  Console& console_;
  std::vector<Row> rows_;
  absl::Status failed_;
  RecordOutcome outcome_;

  Phase phase_ = Phase::kTry;
  bool asking_ = false;                                     // one task at a time, except digests
  size_t next_ = 0;                                         // next row or known case
  std::vector<KnownCase> known_;                            // regression cases and vectors
  std::string known_answers_;                               // lines
  size_t strategy_ = 0;                                     // strategy of the next raw cases
  uint64_t first_ = 0;                                      // first of the next raw cases
  uint64_t digest_bytes_ = 0, units_ = 0, most_units_ = 0;  // units_ includes running units
};

}  // namespace mmadiff

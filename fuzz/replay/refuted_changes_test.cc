// "measured" means refuted: of every change of one parameter of a measured row of sm_90, a stored
// answer or a stored digest of a GPU says that it is wrong. The list has the changes that no answer
// refutes: "digests" refute them, or they are "open". MMADIFF_WRITE=1 writes it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "corpus/durable_file.h"
#include "corpus/recordings/line_recording.h"
#include "corpus/recordings/recording.h"
#include "corpus/recordings/recording_folder.h"
#include "device/faulty.h"
#include "device/status_macros.h"
#include "fuzz/engine/recompute.h"
#include "fuzz/unit/unit_runner.h"
#include "sim/operation.h"
#include "sim/parameter.h"
#include "sim/simulate.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

constexpr char kList[] = "corpus/observations/sm_90_changes.tsv";
constexpr const char* kFolders[] = {"corpus/observations/nvidia_h200",
                                    "corpus/observations/nvidia_h100"};
constexpr char kQuestions[] = "corpus/observations/nvidia_h100_questions";

// The changes of each row that nothing has refuted yet.
using Unrefuted = std::map<const Operation*, std::vector<Neighbour>>;

Unrefuted AllChanges() {
  Unrefuted all;
  for (const Operation& op : Operations()) {
    if (!op.name.starts_with("sm_90/")) continue;
    if (op.numerics->evidence.grade == Grade::kMeasured) all[&op] = AllNeighbours(op.model);
  }
  return all;
}

void RefuteByAnswers(Unrefuted& left) {
  const auto compare = [&left](const Recording& recording) -> absl::Status {
    const auto found = left.find(recording.op);
    if (found == left.end()) return absl::OkStatus();
    const Operation& op = *recording.op;
    ASSIGN_OR_RETURN(const Batch inputs, InputsOf(recording));
    std::vector<uint64_t> answers(inputs.dot_products());
    std::erase_if(found->second, [&](const Neighbour& n) {
      Simulate(WithAlgorithm(op, n.algorithm), inputs, answers);
      return !Differences(op, answers, recording.d).empty();
    });
    return absl::OkStatus();
  };
  for (const char* folder : kFolders) {
    RecordingStats stats;
    ASSERT_TRUE(ReadRecordingFolder(folder, compare, stats).ok()) << folder;
  }
  const auto questions = LineRecordingsBelow(kQuestions);
  ASSERT_TRUE(questions.ok() && !questions->empty()) << kQuestions;
  for (const std::string& file : *questions) {
    ASSERT_TRUE(ReadRecordings(file, "", compare).ok()) << file;
  }
}

// The digest of a faulty simulator's answers to the inputs of a unit, which the row's own model
// chooses.
Digest DigestOfFaulty(const RecomputedUnit& unit, const std::string& fault) {
  Numerics numerics = *unit.stream.op->numerics;
  if (unit.nans_only) numerics.nan_verdict = NanVerdict::kAnyNan;
  Operation op = *unit.stream.op;
  op.numerics = &numerics;
  CaseStream stream = unit.stream;
  stream.op = &op;
  const auto device = OpenFaulty(fault).value();
  EXPECT_TRUE(device->Supports(op).ok()) << op.name << " " << fault;
  return *AnswerDigest(stream, unit.first, unit.cases, device.get());
}

void RefuteByDigests(Unrefuted& left) {
  for (const char* folder : kFolders) {
    RecomputeOptions options;
    options.passes_over = [&](const RecordedDigests& d) {
      const auto found = left.find(d.op);
      return found == left.end() || found->second.empty();
    };
    const auto compare = [&](const RecomputedUnit& unit) {
      EXPECT_EQ(DigestOfFaulty(unit, "none=0"), unit.recorded) << unit.stream.name();
      std::erase_if(left[unit.stream.op], [&](const Neighbour& n) {
        return DigestOfFaulty(unit, Name(n)) != unit.recorded;
      });
      return absl::OkStatus();
    };
    ASSERT_TRUE(VerifyDigests(folder, options, compare).ok()) << folder;
  }
}

TEST(Measured, ChangesThatStoredAnswersRefute) {
  Unrefuted by_answers = AllChanges();
  ASSERT_GE(by_answers.size(), 100u);
  RefuteByAnswers(by_answers);
  Unrefuted open = by_answers;
  RefuteByDigests(open);
  std::string text;
  for (const Operation& op : Operations()) {
    for (const Neighbour& n : by_answers[&op]) {
      const bool is_open =
          std::ranges::find(open[&op], n.changes, &Neighbour::changes) != open[&op].end();
      absl::StrAppend(&text, op.name, "\t", is_open ? "open" : "digests", "\t", Name(n), "\n");
    }
  }
  if (std::getenv("MMADIFF_WRITE") != nullptr) {
    ASSERT_TRUE(WriteFileDurably(kList, text).ok());
  }
  EXPECT_EQ(*ReadFile(kList), text);
}

}  // namespace
}  // namespace mmadiff

// Which changes of one parameter of a recorded row, to a neighboring value, the hardware refutes. A list has the changes that no
// stored answer refutes: stored "digests" refute them, or they are "open". MMADIFF_WRITE=1 writes it.
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
#include "sim/open_changes.h"
#include "sim/operation.h"
#include "sim/parameter.h"
#include "sim/simulate.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

// Recordings of the rows of some architectures, and the list of their changes.
struct Source {
  const char* list;
  std::vector<const char*> folders;  // as `record` writes them
  const char* lines;                 // a folder of line recordings
};
const Source kSources[] = {
    {"corpus/observations/sm_90_changes.tsv",
     {"corpus/observations/nvidia_h200", "corpus/observations/nvidia_h100"},
     "corpus/observations/nvidia_h100_questions"},
    {"corpus/observations/x86_changes.tsv",
     {"corpus/observations/amd_epyc_zen4", "corpus/observations/amd_epyc_zen3"},
     "corpus/observations/intel_avx512_bf16_model167"},
    {"corpus/observations/amd_rdna/changes.tsv", {}, "corpus/observations/amd_rdna"},
    {"corpus/observations/khattak_mikaitis/changes.tsv",
     {},
     "corpus/observations/khattak_mikaitis"},
};

// The changes of each recorded row that nothing has refuted yet.
using Unrefuted = std::map<const Operation*, std::vector<Neighbour>>;

void RefuteByAnswers(const Source& source, Unrefuted& left) {
  const auto compare = [&left](const Recording& recording) -> absl::Status {
    const Operation& op = *recording.op;
    if (!IsModelled(op)) return absl::OkStatus();
    const auto [found, first] = left.try_emplace(&op);
    if (first) found->second = AllNeighbours(op.model);
    ASSIGN_OR_RETURN(const Batch inputs, InputsOf(recording));
    std::vector<uint64_t> answers(inputs.dot_products());
    std::erase_if(found->second, [&](const Neighbour& n) {
      Simulate(WithAlgorithm(op, n.algorithm), inputs, answers);
      return !Differences(op, answers, recording.d).empty();
    });
    return absl::OkStatus();
  };
  for (const char* folder : source.folders) {
    RecordingStats stats;
    ASSERT_TRUE(ReadRecordingFolder(folder, compare, stats).ok()) << folder;
  }
  const auto files = LineRecordingsBelow(source.lines);
  ASSERT_TRUE(files.ok() && !files->empty()) << source.lines;
  for (const std::string& file : *files) {
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

void RefuteByDigests(const Source& source, Unrefuted& left) {
  for (const char* folder : source.folders) {
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

bool Has(const std::vector<Neighbour>& all, const Neighbour& n) {
  return std::ranges::find(all, n.changes, &Neighbour::changes) != all.end();
}

TEST(Recorded, ChangesThatNoStoredAnswerRefutes) {
  Unrefuted by_none;
  for (const Source& source : kSources) {
    SCOPED_TRACE(source.list);
    Unrefuted by_answers;
    RefuteByAnswers(source, by_answers);
    Unrefuted open = by_answers;
    RefuteByDigests(source, open);
    std::string text;
    for (const Operation& op : Operations()) {
      for (const Neighbour& n : by_answers[&op]) {
        const char* const by = Has(open[&op], n) ? "open" : "digests";
        absl::StrAppend(&text, op.name, "\t", by, "\t", Name(n), "\n");
      }
    }
    if (std::getenv("MMADIFF_WRITE") != nullptr) {
      ASSERT_TRUE(WriteFileDurably(source.list, text).ok());
    }
    EXPECT_EQ(*ReadFile(source.list), text);
    for (const auto& [op, left] : open) {
      std::vector<Neighbour>& still = by_none.try_emplace(op, left).first->second;
      std::erase_if(still, [&](const Neighbour& n) { return !Has(left, n); });
    }
  }
  for (const Operation& op : Operations()) {
    if (op.numerics->evidence.grade != Grade::kMeasured) continue;
    ASSERT_TRUE(by_none.contains(&op)) << op.name;
    EXPECT_EQ(OpenChanges(op), std::ssize(by_none[&op])) << op.name;
  }
}

}  // namespace
}  // namespace mmadiff

// Recordings of devices that multiply matrices: the files of `plan --device --out`.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "device/identity.h"
#include "sim/format.h"
#include "triage/plan/shape_plans.h"

namespace mmadiff {

struct RecordedShape {
  MatrixShape shape;  // no side is 0
  // Texts by PlanText() and RegionText(), as PredictedDigest() takes them; none: not known.
  std::vector<std::pair<std::string, std::string>> plans;
  int64_t differing = 0;  // as in ShapePlans
  uint64_t seed = 0;      // of ShapePlans
  std::string digest;     // 16 hexadecimal digits; empty: no product was recorded
};

struct PlanRecording {
  std::string device;
  Identity identity;
  ProductKind kind;
  std::vector<RecordedShape> shapes;
};

inline constexpr size_t kMaxRecordingBytes = 16 << 20;
// A, B and D have at most this many: those of the largest shape of `plan --largest`.
inline constexpr int64_t kMaxRecordedElements = int64_t{1} << 28;

// kDataLoss: the text is not the JSON of such a recording; the message of one line says where. Members
// of other names are skipped. Does not check that the elements of the plans exist: PredictedDigest()
// does.
absl::StatusOr<PlanRecording> ParsePlanRecording(absl::string_view text);

// The same, with the path in front of messages. kInvalidArgument: no such file. Other errors as
// ReadFile().
absl::StatusOr<PlanRecording> ReadPlanRecording(const std::string& path);

}  // namespace mmadiff

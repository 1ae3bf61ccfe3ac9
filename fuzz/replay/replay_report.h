// One report of a replay, as text for people and as a row of its JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "corpus/vector.h"
#include "device/answers.h"
#include "fuzz/output/fields.h"
#include "fuzz/replay/replay_device.h"
#include "sim/batch.h"
#include "sim/operation.h"
#include "triage/text_table.h"

namespace mmadiff {

// Words and digests are strings; missing ones are absent.
struct ReplayRow {
  const char* kind;  // "mismatch", "flaky", "changed", "contested", "agrees", "differs", "survey"
  const Operation* op = nullptr;
  std::string where;
  std::optional<std::string> device = {};  // device that gave `d`; "" is the model
  std::optional<DotProductCase> dot = {};
  uint64_t d = 0;                            // answer to `dot`
  std::optional<InputFailure> failure = {};  // instead of d
  std::optional<std::string> said = {};      // text of a survey
  std::optional<std::string> digest = {};    // digest of a unit, instead of `dot`
  std::optional<std::string> model = {}, again = {};
  const Vector* vector = nullptr;
  const VectorAnswer* answer = nullptr;  // answer of `vector`
  std::optional<std::string> given = {}, reason = {}, recorded = {}, recorded_by = {};
};
Fields<ReplayRow> FieldsOf(const ReplayRow*);

struct ReplayReport {
  std::string text;  // lines
  ReplayRow row;
};

using OnReport = absl::FunctionRef<void(const ReplayReport& report)>;

// Passes on the first `most` reports.
class FirstReports {
 public:
  FirstReports(OnReport report, uint64_t most) : report_(report), left_(most) {}
  bool full() const { return left_ == 0; }
  void Add(const ReplayReport& report) {
    if (full()) return;
    --left_;
    report_(report);
  }

 private:
  OnReport report_;
  uint64_t left_;
};

// A report of a dot product: a title, the nonzero operands, then `lines`. The default title is the
// location and the device.
ReplayReport ReportCase(const ReplayRow& row, absl::string_view lines, const TextStyle& style,
                        const std::string& title = "");

// The row for the answer to dot product `element`; `where` and `device` as in the row.
ReplayRow RowOf(const char* kind, const std::string& where, const std::string& device,
                const Operation& op, const Batch& inputs, const ConfirmedAnswers& answers,
                int64_t element);

// The same as ReportCase() for dot product `element`, which is flaky.
ReplayReport ReportFlaky(ReplayRow row, const ConfirmedAnswers& answers, int64_t element,
                         const TextStyle& style, const std::string& title = "");

}  // namespace mmadiff

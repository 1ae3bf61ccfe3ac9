// What a replay says of one thing that it compared: for people, and as a row of its JSON.
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

// Words and digests are texts; what there is not is not said.
struct ReplayRow {
  const char* kind;  // "mismatch", "flaky", "changed", "contested", "agrees", "differs", "survey"
  const Operation* op = nullptr;
  std::string where;
  std::optional<std::string> device = {};  // whose answer `d` is; "" is the model
  std::optional<DotProductCase> dot = {};
  uint64_t d = 0;                            // of `dot`
  std::optional<InputFailure> failure = {};  // in place of d
  std::optional<std::string> said = {};      // of a survey
  std::optional<std::string> digest = {};    // of a unit, in place of `dot`
  std::optional<std::string> model = {}, again = {};
  const Vector* vector = nullptr;
  const VectorAnswer* answer = nullptr;  // of `vector`
  std::optional<std::string> given = {}, reason = {}, recorded = {}, recorded_by = {};
};
Fields<ReplayRow> FieldsOf(const ReplayRow*);

struct ReplayReport {
  std::string text;  // lines
  ReplayRow row;
};

using OnReport = absl::FunctionRef<void(const ReplayReport& report)>;

// Hands on the first `most` reports.
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

// Of a dot product: a title, what is not zero of the operands, `lines`. Without `title` it is where
// and the device.
ReplayReport ReportCase(const ReplayRow& row, absl::string_view lines, const TextStyle& style,
                        const std::string& title = "");

// Of what was answered to dot product `element`; `where` and `device` as in the row.
ReplayRow RowOf(const char* kind, const std::string& where, const std::string& device,
                const Operation& op, const Batch& inputs, const ConfirmedAnswers& answers,
                int64_t element);

// Of dot product `element`, which is flaky; otherwise as ReportCase().
ReplayReport ReportFlaky(ReplayRow row, const ConfirmedAnswers& answers, int64_t element,
                         const TextStyle& style, const std::string& title = "");

}  // namespace mmadiff

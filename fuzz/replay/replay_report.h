// What a replay says of one thing that it compared: for people, and as a row of its JSON
// (docs/schema/replay.schema.json).
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "device/answers.h"
#include "fuzz/ask/asked_device.h"
#include "sim/batch.h"
#include "sim/operation.h"
#include "triage/text_table.h"

namespace mmadiff {

struct ReplayReport {
  std::string text;  // lines
  nlohmann::ordered_json json;
};

using OnReport = std::function<void(const ReplayReport& report)>;

// Hands on the first `most` reports.
class FirstReports {
 public:
  FirstReports(const OnReport& report, uint64_t most) : report_(report), left_(most) {}
  bool full() const { return left_ == 0; }
  void Add(const ReplayReport& report) {
    if (full()) return;
    --left_;
    report_(report);
  }

 private:
  const OnReport& report_;
  uint64_t left_;
};

// A dot product and the answer `d` of `device`; "" is the model.
struct ReportedCase {
  const char* kind;  // "mismatch", "flaky", "changed"
  const Operation& op;
  DotProductCase dot;
  uint64_t d;
  std::string where, device;
  std::string title = "";                    // in place of both
  std::optional<InputFailure> failure = {};  // in place of d
};

// A title, what is not zero of the operands, `lines`. Callers add to the row what it should have
// been.
ReplayReport ReportCase(const ReportedCase& c, absl::string_view lines, const TextStyle& style);

// Of dot product `element`, which is flaky; `title` in place of where and the device if not empty.
ReplayReport ReportFlaky(const Operation& op, const Batch& inputs, const AskedAnswers& answers,
                         int64_t element, const std::string& where, const std::string& device,
                         const std::string& title, const TextStyle& style);

}  // namespace mmadiff

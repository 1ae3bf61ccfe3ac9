#include "corpus/vector.h"

#include <utility>

#include "corpus/vector_file.h"
#include "device/line_protocol.h"

namespace mmadiff {

const char* Name(AnswerKind kind) {
  constexpr const char* kNames[] = {"observed", "published", "expected", "contested"};
  return kNames[static_cast<int>(kind)];
}

std::vector<VectorCase> CasesOf(const Vector& vector) {
  std::vector<VectorCase> cases;
  for (const VectorAnswer& answer : vector.answers) {
    for (const Operation* op : answer.ops) {
      for (const std::string& operands : vector.operands) {
        absl::StatusOr<DotProductCase> dot = DotProductOf(vector, operands, *op);
        if (dot.ok()) cases.push_back({&answer, op, *std::move(dot)});  // checked by the parser
      }
    }
  }
  return cases;
}

bool Is(const VectorAnswer& answer, const Operation& op, uint64_t d) {
  if (d == answer.d) return true;
  const Format& f = op.model.d;
  const bool open = answer.any_nan || op.numerics->nan_verdict == NanVerdict::kAnyNan;
  return open && IsNan(f, d) && IsNan(f, answer.d);
}

const std::string* ReadingOf(const Vector& vector, uint64_t d) {
  for (const VectorReading& r : vector.readings) {
    if (r.any_nan ? IsNan(*vector.d, d) : r.d == d) return &r.text;
  }
  return nullptr;
}

std::string WordText(const Vector& vector, const VectorAnswer& answer) {
  return answer.any_nan ? "NAN" : HexWord(*vector.d, answer.d);
}

}  // namespace mmadiff

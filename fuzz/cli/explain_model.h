// `explain` without a device: the stages of a row's model for one dot product.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "device/line_protocol.h"
#include "fuzz/cli/cli.h"
#include "sim/batch.h"
#include "sim/operation.h"
#include "triage/race/racer.h"
#include "triage/stage_table.h"

namespace mmadiff {

// Numbers of one's own, as ParseNumber() takes them; what is left out is +0, a scale 1.0.
struct OwnNumbers {
  std::vector<std::string> a, b, scale_a, scale_b;
  std::optional<std::string> c, d,
      line;  // `line`: one of the line protocol, in place of the others

  bool any() const {
    return !a.empty() || !b.empty() || c || d || !scale_a.empty() || !scale_b.empty() || line;
  }
};

// A line may have an answer, and `d` is one. Numbers that their formats have not are rounded to nearest even and
// printed to stderr. kInvalidArgument says which number is none of its format, or that there are too many.
absl::StatusOr<ProtocolLine> DotProductOf(const Operation& op, const OwnNumbers& numbers,
                                          Console& console);

// How stages are printed.
struct StageOutput {
  bool csv = false;
  std::string svg;  // file for the drawing of the alignment; empty: none
};

// "stage,model,...": a line for each row, quoted as RFC 4180 says.
std::string StagesCsv(const StageTable& table);
// Draws the models if --svg was given. Returns false after it has set a verdict.
bool WriteDrawing(const NamedModels& models, const DotProductCase& dot, const StageOutput& output,
                  Ending& ending);

// {"instruction": ..., "parameters": ...}
struct ParametersOf {
  const Operation& op;
};
Fields<ParametersOf> FieldsOf(const ParametersOf*);

// {"model": ..., "stages": ...}
struct StagesOf {
  const Operation& op;
  const StageTable& stages;
};
Fields<StagesOf> FieldsOf(const StagesOf*);

// The result of the model alone, perhaps beside another.
struct ExplainedModel {
  const Operation& op;
  const DotProductCase& dot;
  const StageTable& stages;
  const Racer* against = nullptr;  // of the second column
};
Fields<ExplainedModel> FieldsOf(const ExplainedModel*);

// The table of the stages, the result, the alignment.
std::string ModelText(const Operation& op, const DotProductCase& dot, const TextStyle& style);

// Beside them those of another model, of as many products or in a chain; says kDiffers if the results do.
void ExplainAgainst(const Operation& op, const DotProductCase& dot, const Racer& against,
                    const StageOutput& output, Call& call);

void ExplainModel(const Operation& op, const DotProductCase& dot, const StageOutput& output,
                  Call& call);

}  // namespace mmadiff

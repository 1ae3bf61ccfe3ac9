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

// Numbers from the command line, as ParseNumber() accepts them. Missing operands are +0, missing
// scales 1.0, missing metadata those that the zeros of A give.
struct OwnNumbers {
  std::vector<std::string> a, b, scale_a, scale_b, metadata;
  std::optional<std::string> c, d,
      line;  // `line`: a line of the line protocol, instead of the other members

  bool any() const {
    return !a.empty() || !b.empty() || c || d || !scale_a.empty() || !scale_b.empty() ||
           !metadata.empty() || line;
  }
};

// A line may have an answer; `d` is an answer too. Numbers that the format cannot represent are
// rounded to nearest even and printed to stderr. kInvalidArgument names a number that is not one of
// its format, or reports that there are too many.
absl::StatusOr<ProtocolLine> DotProductOf(const Operation& op, const OwnNumbers& numbers,
                                          Console& console);

// Output options for stages.
struct StageOutput {
  bool csv = false;
  std::string svg;  // file for the drawing of the alignment; empty: no drawing
};

// "stage,model,...": one line per row, quoted as in RFC 4180.
std::string StagesCsv(const StageTable& table);
// Draws the models if --svg was given. Returns false after it has set a verdict.
bool WriteDrawing(const NamedModels& models, const DotProductCase& dot, const StageOutput& output,
                  Ending& ending);

// {"instruction": ..., "parameters": ...}
struct ModelParameters {
  const Operation& op;
};
Fields<ModelParameters> FieldsOf(const ModelParameters*);

// {"model": ..., "stages": ...}
struct StagesOf {
  const Operation& op;
  const StageTable& stages;
};
Fields<StagesOf> FieldsOf(const StagesOf*);

// The result of the model, perhaps beside a second one.
struct ExplainedModel {
  const Operation& op;
  const DotProductCase& dot;
  const StageTable& stages;
  const Racer* against = nullptr;  // model of the second column
};
Fields<ExplainedModel> FieldsOf(const ExplainedModel*);

// The table of the stages, the result, the alignment.
std::string ModelText(const Operation& op, const DotProductCase& dot, const TextStyle& style);

// The same with a second model beside it, which has the same number of products or is a chain.
// Enters kDiffers if the results differ.
void ExplainAgainst(const Operation& op, const DotProductCase& dot, const Racer& against,
                    const StageOutput& output, Call& call);

void ExplainModel(const Operation& op, const DotProductCase& dot, const StageOutput& output,
                  Call& call);

}  // namespace mmadiff

// ReadSurvey() survives a folder with any bytes in its log. The first byte selects the kind of the
// rest: a file, or a record in a block with valid checksums.
#include "corpus/survey_log.h"
#include "fuzz/targets/input_folder.h"

using namespace mmadiff::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const absl::string_view rest = Text(data + 1, size - 1);
  Write("answers.log", data[0] % 2 == 1 ? LogOf(rest, 1) : std::string(rest));
  const auto stored = mmadiff::ReadSurvey(Folder());
  if (!stored.ok()) return 0;
  for (const mmadiff::SurveyResult& result : stored->results) {
    Check(mmadiff::ParseSurveyResult(mmadiff::SerializeResult(result)).ok());
  }
  return 0;
}

// ParseCaseName() survives any text; FormatCaseName() writes accepted text as the same case.
#include "corpus/cases/case_name.h"
#include "fuzz/targets/input.h"

using namespace mmadiff::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto name = mmadiff::ParseCaseName(Text(data, size));
  if (!name.ok()) return 0;
  const auto again = mmadiff::ParseCaseName(mmadiff::FormatCaseName(*name));
  Check(again.ok() && again->index == name->index);
  const mmadiff::CaseStream &x = name->stream, &y = again->stream;
  Check(x.op == y.op && x.strategy == y.strategy && x.seed == y.seed && x.version == y.version);
  return 0;
}

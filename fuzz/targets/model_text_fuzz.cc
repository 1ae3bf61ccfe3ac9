// Texts of models: a model that is read is valid, is printed as it is read, and gives the answers of the
// reference.
#include "fuzz/targets/input.h"
#include "sim/operation.h"
#include "sim/parameter.h"
#include "sim/reference/random_dot.h"
#include "sim/tree/model_text.h"

using namespace mmadiff::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  mmadiff::TextError error;
  const std::string text(Text(data, size));
  const std::optional<mmadiff::Model> model = mmadiff::ParseModel(text, &error);
  Check(model.has_value() == error.what.empty());
  if (!model) return 0;
  Check(WhyInvalid(*model).empty());
  const std::optional<mmadiff::Model> again = mmadiff::ParseModel(ModelFileText(*model), &error);
  Check(again.has_value() && SameModel(*model, *again));
  mmadiff::reference::Random random(size);
  for (int i = 0; i < 4; ++i) {
    const mmadiff::DotProductCase dot = mmadiff::reference::RandomDot(*model, random);
    Check(mmadiff::reference::Disagreement(*model, dot).empty());
  }
  return 0;
}

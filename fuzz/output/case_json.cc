#include "fuzz/output/case_json.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "device/line_protocol.h"

namespace mmadiff {
namespace {

using Json = nlohmann::ordered_json;

Json WordsJson(const Format& format, const std::vector<uint64_t>& words, int from, int to) {
  Json json = Json::array();
  for (int i = from; i < to; ++i) json.push_back(HexWord(format, words[i]));
  return json;
}

}  // namespace

Json ParametersJson(std::span<const Change> changes) {
  Json json = Json::object();
  for (const auto& [parameter, value] : changes) {
    const std::string text = ValueText(*parameter, value);
    json[parameter->name] = text == absl::StrCat(value) ? Json(value) : Json(text);
  }
  return json;
}

Json ChangeJson(const Neighbour& n) {
  return {{"name", Name(n)}, {"parameters", ParametersJson(n.changes)}};
}

Json DotProductJson(const Instruction& i, const DotProductCase& dot, std::optional<uint64_t> d) {
  const int k = i.shape.k, all = i.shape.row_words();
  Json json = {{"a", WordsJson(*i.a, dot.a, 0, k)},
               {"b", WordsJson(*i.b, dot.b, 0, k)},
               {"c", HexWord(*i.c, dot.c)}};
  if (i.scale != nullptr) {
    json["scale_a"] = WordsJson(*i.scale, dot.a, k, all);
    json["scale_b"] = WordsJson(*i.scale, dot.b, k, all);
  }
  if (d.has_value()) json["d"] = HexWord(*i.d, *d);
  return json;
}

Json MessagesJson(std::span<const Drop> drops) {
  Json json = Json::array();
  for (const Drop& drop : drops) json.push_back(std::string(drop.status.message()));
  return json;
}

Json AnswerJson(const Vector& vector, const VectorAnswer& answer) {
  return {{"kind", Name(answer.kind)},
          {"d", WordText(vector, answer)},
          {"instructions", answer.patterns},
          {"who", answer.who}};
}

Json LeftOutJson(std::span<const LeftOutLine> lines) {
  Json json = Json::array();
  for (const LeftOutLine& line : lines) {
    json.push_back({{"thing", Name(line.thing)},
                    {"reason", Name(line.reason)},
                    {"named", line.exact},
                    {"count", line.count},
                    {"of", line.asked},
                    {"names", line.names},
                    {"detail", line.detail}});
  }
  return json;
}

}  // namespace mmadiff

#include "fuzz/case_json.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "device/line_protocol.h"

namespace mmadiff {
namespace {

using Json = nlohmann::ordered_json;

Json Words(const Format& format, const std::vector<uint64_t>& words, int from, int to) {
  Json json = Json::array();
  for (int i = from; i < to; ++i) json.push_back(HexWord(format, words[i]));
  return json;
}

}  // namespace

Json ParametersJson(absl::string_view text) {
  if (const size_t open = text.find('('); open != text.npos) text.remove_prefix(open + 1);
  absl::ConsumeSuffix(&text, ")");
  Json json = Json::object();
  for (const absl::string_view part : absl::StrSplit(text, absl::ByAnyChar(", "))) {
    const std::pair<std::string, std::string> named = absl::StrSplit(part, absl::MaxSplits('=', 1));
    const auto& [name, value] = named;
    int number;
    if (value.empty()) continue;
    json[name] = absl::SimpleAtoi(value, &number) ? Json(number) : Json(value);
  }
  return json;
}

Json ChangeJson(absl::string_view name) {
  return {{"name", std::string(name)}, {"parameters", ParametersJson(name)}};
}

Json DotProductJson(const Instruction& i, const DotProductCase& dot, std::optional<uint64_t> d) {
  const int k = i.shape.k, all = i.shape.row_words();
  Json json = {{"a", Words(*i.a, dot.a, 0, k)},
               {"b", Words(*i.b, dot.b, 0, k)},
               {"c", HexWord(*i.c, dot.c)}};
  if (i.scale != nullptr) {
    json["scale_a"] = Words(*i.scale, dot.a, k, all);
    json["scale_b"] = Words(*i.scale, dot.b, k, all);
  }
  if (d.has_value()) json["d"] = HexWord(*i.d, *d);
  return json;
}

Json MessagesJson(std::span<const absl::Status> errors) {
  Json json = Json::array();
  for (const absl::Status& error : errors) json.push_back(std::string(error.message()));
  return json;
}

Json AnswerJson(const Vector& vector, const VectorAnswer& answer) {
  return {{"kind", Name(answer.kind)},
          {"d", WordText(vector, answer)},
          {"instructions", answer.patterns},
          {"who", answer.who}};
}

}  // namespace mmadiff

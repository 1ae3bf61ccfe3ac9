#include "sim/plan/plan.h"

#include <algorithm>
#include <charconv>
#include <span>

#include "sim/algorithms.h"
#include "sim/chain.h"
#include "sim/parameter.h"
#include "sim/plan/why_no_plan.h"

namespace mmadiff {
namespace {

constexpr int64_t kMaxNumber = int64_t{1} << 40;  // of products
constexpr int64_t kMaxRanges = 1 << 20;
const Format* const kEpilogueFormats[] = {&kF64, &kF32, &kF16, &kBf16, &kE4m3, &kE5m2, &kS32};

std::vector<std::string_view> Split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t first = text.find_first_not_of(separators);
    if (first == text.npos) return parts;
    text.remove_prefix(first);
    const size_t end = std::min(text.find_first_of(separators), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

// The words of one part of a plan, between bars.
class WordsOfPart {
 public:
  explicit WordsOfPart(std::string_view part) : words_(Split(part, " \t\n")) {}

  bool done() const { return next_ == words_.size(); }
  std::string_view peek() const { return done() ? std::string_view() : words_[next_]; }
  bool Take(std::string_view word) {
    if (peek() != word) return false;
    ++next_;
    return true;
  }
  std::optional<int64_t> TakeNumber() {
    const std::string_view word = peek();
    int64_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    const bool whole = error == std::errc() && end == word.data() + word.size();
    if (done() || !whole || number < 1 || number > kMaxNumber) return std::nullopt;
    ++next_;
    return number;
  }
  const Format* TakeFormat() {
    for (const Format* f : kEpilogueFormats) {
      if (Take(f->name)) return f;
    }
    return nullptr;
  }

 private:
  std::vector<std::string_view> words_;
  size_t next_ = 0;
};

// All of these return what is wrong, or an empty text.
std::string NotNumber(std::string_view after, const WordsOfPart& words) {
  return "a positive integer must follow \"" + std::string(after) + "\", not \"" +
         std::string(words.peek()) + "\"";
}
std::string ParseNumber(std::string_view after, WordsOfPart& words, int64_t* number) {
  const std::optional<int64_t> found = words.TakeNumber();
  if (!found) return NotNumber(after, words);
  *number = *found;
  return "";
}

std::string ParseFormat(std::string_view after, WordsOfPart& words, const Format** format) {
  *format = words.TakeFormat();
  if (*format != nullptr) return "";
  return "a format must follow \"" + std::string(after) +
         "\": f64, f32, f16, bf16, e4m3, e5m2 or s32, not \"" + std::string(words.peek()) + "\"";
}

std::string ParseBlocks(std::string_view after, WordsOfPart& words, PlanRange& range) {
  if (std::string error = ParseNumber(after, words, &range.count); !error.empty()) return error;
  if (range.count > kMaxRanges) return "at most " + std::to_string(kMaxRanges) + " ranges";
  if (!words.Take("of")) return "the form is \"" + std::string(after) + " S of G\"";
  return ParseNumber("of", words, &range.size);
}

std::string ParseAt(WordsOfPart& words, PlanRange& range) {
  int64_t least = 0;
  while (const std::optional<int64_t> k = words.TakeNumber()) {
    if (*k <= least) return "the k after \"at\" must increase";
    range.at.push_back(least = *k);
  }
  return range.at.empty() || !words.done() ? NotNumber("at", words) : "";
}

std::string ParseEvery(WordsOfPart& words, PlanRange& range) {
  if (std::string error = ParseNumber("every", words, &range.size); !error.empty()) return error;
  range.halved = words.Take("halved");
  if (range.halved) return words.done() ? "" : ParseNumber("halved", words, &range.unit);
  range.fit = words.Take("fit");
  if (range.fit || !words.Take("last")) return "";
  if (std::string error = ParseNumber("last", words, &range.last); !error.empty()) return error;
  return range.last > range.size ? "" : "\"every N last M\": M is more than N";
}

std::string ParseRange(WordsOfPart words, PlanRange& range) {
  std::string error;
  if (words.Take("every")) {
    range.kind = PlanRange::Kind::kEvery;
    error = ParseEvery(words, range);
  } else if (words.Take("into")) {
    range.kind = PlanRange::Kind::kInto;
    error = ParseBlocks("into", words, range);
    if (words.Take("floor")) {
      range.share = PlanRange::Share::kFloor;
    } else if (words.Take("even")) {
      range.share = PlanRange::Share::kEven;
    }
  } else if (words.Take("strided")) {
    range.kind = PlanRange::Kind::kStrided;
    error = ParseBlocks("strided", words, range);
    if (error.empty() && words.Take("unrolled")) {
      error = ParseNumber("unrolled", words, &range.unrolled);
    }
  } else if (words.Take("at")) {
    range.kind = PlanRange::Kind::kAt;
    error = ParseAt(words, range);
  } else {
    return "\"" + std::string(words.peek()) + "\" is not a range: every, into, strided or at";
  }
  if (!error.empty() || words.done()) return error;
  return "\"" + std::string(words.peek()) + "\" is not expected in a range";
}

std::string ParseStart(WordsOfPart& words, PlanJoin& join) {
  const bool fused = words.Take("fma");
  const bool again = join.start != PlanJoin::Start::kDefault;
  if (words.Take("beta*c")) {
    join.start = fused ? PlanJoin::Start::kFusedBetaC : PlanJoin::Start::kBetaC;
  } else if (!fused && words.Take("zero")) {
    join.start = PlanJoin::Start::kZero;
  } else if (!fused && words.Take("c")) {
    join.start = PlanJoin::Start::kC;
  } else {
    return "a join begins \"from zero\", \"from c\", \"from beta*c\" or \"from fma beta*c\"";
  }
  return again ? "\"from\" may stand once" : "";
}

std::string ParseOption(WordsOfPart& words, PlanJoin& join) {
  if (words.Take("from")) return ParseStart(words, join);
  for (const auto& [name, format] : {std::pair("as", &join.as), {"held", &join.held}}) {
    if (!words.Take(name)) continue;
    if (*format != nullptr) return "\"" + std::string(name) + "\" may stand once";
    return ParseFormat(name, words, format);
  }
  return "\"" + std::string(words.peek()) + "\" is not an option of a join: from, as, held";
}

std::string ParseJoin(WordsOfPart words, PlanJoin& join) {
  if (words.Take("add")) {
    join.kind = words.Take("alpha") ? PlanJoin::Kind::kAlpha : PlanJoin::Kind::kAdd;
  } else if (words.Take("tree")) {
    join.kind = PlanJoin::Kind::kTree;
  } else if (words.Take("pairs")) {
    join.kind = PlanJoin::Kind::kPairs;
    while (const std::optional<int64_t> d = words.TakeNumber()) join.distances.push_back(*d);
  } else if (words.Take("fma")) {
    if (words.Take("alpha")) {
      join.kind = PlanJoin::Kind::kFusedAlpha;
    } else if (words.Take("(a*b)")) {
      join.kind = PlanJoin::Kind::kScaled;
    } else if (words.Take("a*b")) {
      join.kind = PlanJoin::Kind::kScaledInTurns;
    } else {
      return "the factor of fma is (a*b), a*b or alpha";
    }
  } else {
    return "\"" + std::string(words.peek()) +
           "\" is not a join: add, fma (a*b), fma a*b, add alpha, fma alpha, tree, pairs";
  }
  while (!words.done()) {
    if (std::string error = ParseOption(words, join); !error.empty()) return error;
  }
  return "";
}

std::string ParseTail(WordsOfPart words, PlanStage& stage) {
  if (std::string error = ParseNumber("tail", words, &stage.tail); !error.empty()) return error;
  stage.tail_unfused = words.Take("unfused");
  return words.done() ? "" : "nothing may follow \"tail N\" but \"unfused\"";
}

// The results; "+ bias" may follow those without a bias.
struct ResultForm {
  const char* text;
  Epilogue epilogue;
};
using Fused = Epilogue::Fused;
using Scales = Epilogue::Scales;
constexpr ResultForm kResultForms[] = {
    {"sum", {}},
    {"alpha*sum", {.alpha = true}},
    {"sum + beta*c", {.beta = true}},
    {"fma(beta, c, sum)", {.beta = true, .fused = Fused::kBeta}},
    {"alpha*sum + beta*c", {.alpha = true, .beta = true}},
    {"fma(alpha, sum, beta*c)", {.alpha = true, .beta = true, .fused = Fused::kAlpha}},
    {"fma(beta, c, alpha*sum)", {.alpha = true, .beta = true, .fused = Fused::kBeta}},
    {"(a*b)*sum", {.scales = Scales::kTogether}},
    {"b*(a*sum)", {.scales = Scales::kAThenB}},
    {"a*(b*sum)", {.scales = Scales::kBThenA}},
    {"fma(a*b, sum, bias)", {.bias = true, .fused = Fused::kScales, .scales = Scales::kTogether}},
    {"fma(b, a*sum, bias)", {.bias = true, .fused = Fused::kScales, .scales = Scales::kAThenB}},
    {"fma(a, b*sum, bias)", {.bias = true, .fused = Fused::kScales, .scales = Scales::kBThenA}},
};
constexpr std::string_view kPlusBias = " + bias";

std::string WithoutBlanks(std::string_view text) {
  std::string kept;
  for (const std::string_view word : Split(text, " \t\n")) kept += word;
  return kept;
}

// Whether the part before the format is a result: no stage.
bool IsResult(std::string_view part) {
  WordsOfPart words(part);
  const bool other = words.Take("tail") || words.Take("cut") || words.Take("residue");
  return !other && part.find(':') == part.npos;
}

std::string ParseResult(std::string_view text, Epilogue& epilogue) {
  const std::string given = WithoutBlanks(text), plus_bias = WithoutBlanks(kPlusBias);
  std::string forms;
  for (const ResultForm& form : kResultForms) {
    const std::string wanted = WithoutBlanks(form.text);
    forms += (forms.empty() ? "" : "; ") + std::string(form.text);
    const bool plus = !form.epilogue.bias && given == wanted + plus_bias;
    if (!plus && given != wanted) continue;
    epilogue = form.epilogue;
    epilogue.bias |= plus;
    return "";
  }
  const size_t first = std::min(text.find_first_not_of(' '), text.size());
  const std::string_view shown = text.substr(first, text.find_last_not_of(' ') + 1 - first);
  return "\"" + std::string(shown) +
         "\" is neither a stage, a range, a colon and a join, such as \"every 128: add\", nor a "
         "result: " +
         forms + "; + bias may end those without";
}

std::string ParseStage(std::string_view text, Plan& plan) {
  WordsOfPart words(text);
  if (words.Take("tail")) return ParseTail(words, plan.stages.emplace_back());
  for (const auto& [name, number] : {std::pair("residue", &plan.residue), {"cut", &plan.cut}}) {
    if (!words.Take(name)) continue;
    if (*number != 0) return "\"" + std::string(name) + "\" may stand once";
    if (std::string error = ParseNumber(name, words, number); !error.empty()) return error;
    return words.done() ? "" : "nothing may follow \"" + std::string(name) + " N\"";
  }
  const size_t colon = text.find(':');
  if (colon == text.npos) {
    return "a stage has a range, a colon and a join: \"every 128: add\"; a result is before the "
           "format";
  }
  PlanStage stage;
  std::string error = ParseRange(WordsOfPart(text.substr(0, colon)), stage.range);
  if (error.empty()) error = ParseJoin(WordsOfPart(text.substr(colon + 1)), stage.join);
  plan.stages.push_back(stage);
  return error;
}

std::string ParseLast(WordsOfPart words, Epilogue& epilogue) {
  if (std::string error = ParseFormat("|", words, &epilogue.format); !error.empty()) {
    return "the last part is the format of D; " + error;
  }
  return words.done() ? "" : "nothing may follow the format of D";
}

std::string ParseOperation(WordsOfPart words, Plan& plan) {
  const std::string name(words.peek());
  words.Take(name);
  plan.operation = FindOperation(name);
  if (plan.operation == nullptr) return WhyNoOperation(name);
  plan.unfused = words.Take("unfused");
  if (words.Take("from")) {
    if (!words.Take("c")) return "an operation begins with +0, or \"from c\"";
    plan.from_c = true;
  }
  return words.done() ? "" : "nothing may follow the operation but \"unfused\" and \"from c\"";
}

std::vector<std::string_view> PartsBetweenBars(std::string_view text) {
  std::vector<std::string_view> parts;
  for (size_t bar = 0; bar != text.npos;) {
    bar = text.find('|');
    parts.push_back(text.substr(0, bar));
    if (bar != text.npos) text.remove_prefix(bar + 1);
  }
  return parts;
}

std::string Parse(std::string_view text, Plan& plan) {
  const std::vector<std::string_view> parts = PartsBetweenBars(text);
  if (parts.size() < 2)
    return "a plan has an instruction and the format of D: \"sm_90/fma.rn.f32 | f32\"";
  std::string error = ParseOperation(WordsOfPart(parts.front()), plan);
  for (size_t i = 1; i + 1 < parts.size() && error.empty(); ++i) {
    const bool result = i + 2 == parts.size() && IsResult(parts[i]);
    error = result ? ParseResult(parts[i], plan.epilogue) : ParseStage(parts[i], plan);
  }
  if (error.empty()) error = ParseLast(WordsOfPart(parts.back()), plan.epilogue);
  return error.empty() ? WhyNoPlan(plan) : error;
}

std::string Text(const PlanRange& range) {
  const auto blocks = [&](const char* name) {
    return name + std::to_string(range.count) + " of " + std::to_string(range.size);
  };
  switch (range.kind) {
    case PlanRange::Kind::kEvery:
      return "every " + std::to_string(range.size) + (range.halved ? " halved" : "") +
             (range.unit != 0 ? " " + std::to_string(range.unit) : "") + (range.fit ? " fit" : "") +
             (range.last != 0 ? " last " + std::to_string(range.last) : "");
    case PlanRange::Kind::kInto:
      return blocks("into ") + (range.share == PlanRange::Share::kCeil    ? ""
                                : range.share == PlanRange::Share::kFloor ? " floor"
                                                                          : " even");
    case PlanRange::Kind::kStrided:
      return blocks("strided ") +
             (range.unrolled == 0 ? "" : " unrolled " + std::to_string(range.unrolled));
    case PlanRange::Kind::kAt:
      break;
  }
  std::string text = "at";
  for (const int64_t k : range.at) text += " " + std::to_string(k);
  return text;
}

std::string Text(const PlanJoin& join) {
  static constexpr const char* kNames[] = {"add",   "fma (a*b)", "fma a*b",  "tree",
                                           "pairs", "add alpha", "fma alpha"};
  static constexpr const char* kStarts[] = {"", " from zero", " from c", " from beta*c",
                                            " from fma beta*c"};
  std::string text = kNames[static_cast<int>(join.kind)];
  for (const int64_t distance : join.distances) text += " " + std::to_string(distance);
  text += kStarts[static_cast<int>(join.start)];
  if (join.as != nullptr) text += std::string(" as ") + join.as->name;
  if (join.held != nullptr) text += std::string(" held ") + join.held->name;
  return text;
}

std::string Text(const PlanStage& stage) {
  if (stage.tail == 0) return Text(stage.range) + ": " + Text(stage.join);
  return "tail " + std::to_string(stage.tail) + (stage.tail_unfused ? " unfused" : "");
}

}  // namespace

std::optional<Plan> ParsePlan(std::string_view text, std::string* error) {
  Plan plan;
  *error = Parse(text, plan);
  if (!error->empty()) return std::nullopt;
  return plan;
}

std::string PlanText(const Plan& plan) {
  std::string text = plan.operation->name;
  if (plan.unfused) text += " unfused";
  if (plan.from_c) text += " from c";
  if (plan.cut != 0) text += " | cut " + std::to_string(plan.cut);
  if (plan.residue != 0) text += " | residue " + std::to_string(plan.residue);
  for (const PlanStage& stage : plan.stages) {
    text += " | " + Text(stage);
  }
  if (!plan.epilogue.is_sum()) text += " | " + ResultText(plan.epilogue);
  return text + " | " + plan.epilogue.format->name;
}

std::string ResultText(const Epilogue& e) {
  for (const auto& [text, form] : kResultForms) {
    for (const bool plus : {false, true}) {
      if (plus && form.bias) continue;
      Epilogue same = form;
      same.bias |= plus;
      same.format = e.format;
      if (same == e) return text + std::string(plus ? kPlusBias : "");
    }
  }
  return "";
}

bool IsScaled(const PlanJoin& join) {
  return join.kind == PlanJoin::Kind::kScaled || join.kind == PlanJoin::Kind::kScaledInTurns;
}

bool ReadsScales(const Plan& plan) {
  return plan.epilogue.scales != Scales::kNone ||
         std::ranges::any_of(plan.stages, [](const PlanStage& s) { return IsScaled(s.join); });
}

bool ReadsC(const Plan& plan) {
  return plan.from_c || plan.epilogue.beta ||
         std::ranges::any_of(plan.stages, [](const PlanStage& s) { return BeginsWithC(s.join); });
}

bool ReadsAlpha(const Plan& plan) {
  return plan.epilogue.alpha || std::ranges::any_of(plan.stages, [](const PlanStage& s) {
           return s.join.kind == PlanJoin::Kind::kAlpha ||
                  s.join.kind == PlanJoin::Kind::kFusedAlpha;
         });
}

bool ReadsBeta(const Plan& plan) {
  return plan.epilogue.beta || std::ranges::any_of(plan.stages, [](const PlanStage& s) {
           return BeginsWithC(s.join) && s.join.start != PlanJoin::Start::kC;
         });
}

bool SameArithmetic(const Plan& x, const Plan& y) {
  return x.unfused == y.unfused && SameModel(x.operation->model, y.operation->model);
}

Model MultiplyAddOf(const Operation& operation) {
  const Format& d = operation.model.d;
  const std::string arch(operation.arch());
  for (const std::string& name : {"/fma.rn." + std::string(d.name), std::string("/vfmadd231ss"),
                                  std::string("/vfmadd231sd")}) {
    const Operation* found = FindOperation(arch + name);
    if (found != nullptr && std::string_view(found->model.d.name) == d.name) return found->model;
  }
  Model m = operation.model;
  m.a = m.b = m.c = d;
  m.k = 1;
  m.scale_block = 0;
  const NanRule nan_rule = m.algorithm.nan_rule;
  m.algorithm = Fma(d);
  m.algorithm.nan_rule = nan_rule;
  return m;
}

Model UnfusedOf(Model m) {
  m.algorithm.family = Family::kPairwiseSum;
  if (Propagates(m.algorithm.nan_rule)) m.algorithm.nan_rule = NanRule::kQuietPositive;
  return m;
}

}  // namespace mmadiff

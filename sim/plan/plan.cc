#include "sim/plan/plan.h"

#include <algorithm>
#include <charconv>
#include <span>

#include "sim/algorithms.h"
#include "sim/chain.h"
#include "sim/parameter.h"

namespace mmadiff {
namespace {

constexpr int64_t kMaxNumber = int64_t{1} << 40;  // of products
constexpr int64_t kMaxRanges = 1 << 20;
const Format* const kEpilogueFormats[] = {&kF64, &kF32, &kF16, &kBf16, &kS32};

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
  return "a format must follow \"" + std::string(after) + "\": f64, f32, f16, bf16 or s32, not \"" +
         std::string(words.peek()) + "\"";
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

std::string ParseOption(WordsOfPart& words, PlanJoin& join) {
  if (words.Take("from")) {
    if (join.from_zero || !words.Take("zero")) {
      return "a join begins with the first part, or once \"from zero\"";
    }
    join.from_zero = true;
    return "";
  }
  for (const auto& [name, format] : {std::pair("as", &join.as), {"held", &join.held}}) {
    if (!words.Take(name)) continue;
    if (*format != nullptr) return "\"" + std::string(name) + "\" may stand once";
    return ParseFormat(name, words, format);
  }
  return "\"" + std::string(words.peek()) + "\" is not an option of a join: from zero, as, held";
}

std::string ParseJoin(WordsOfPart words, PlanJoin& join) {
  if (words.Take("add")) {
    join.kind = PlanJoin::Kind::kAdd;
  } else if (words.Take("tree")) {
    join.kind = PlanJoin::Kind::kTree;
  } else if (words.Take("pairs")) {
    join.kind = PlanJoin::Kind::kPairs;
    while (const std::optional<int64_t> d = words.TakeNumber()) join.distances.push_back(*d);
  } else if (words.Take("fma")) {
    const bool at_once = words.Take("(a*b)");
    if (!at_once && !words.Take("a*b")) return "the scales of fma are (a*b) or a*b";
    join.kind = at_once ? PlanJoin::Kind::kScaled : PlanJoin::Kind::kScaledInTurns;
  } else {
    return "\"" + std::string(words.peek()) +
           "\" is not a join: add, fma (a*b), fma a*b, tree, pairs";
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
  if (colon == text.npos) return "a stage has a range, a colon and a join: \"every 128: add\"";
  PlanStage stage;
  std::string error = ParseRange(WordsOfPart(text.substr(0, colon)), stage.range);
  if (error.empty()) error = ParseJoin(WordsOfPart(text.substr(colon + 1)), stage.join);
  plan.stages.push_back(stage);
  return error;
}

std::string ParseEpilogue(WordsOfPart words, Epilogue& epilogue) {
  epilogue.alpha = words.Take("alpha");
  epilogue.beta = words.Take("beta");
  epilogue.bias = words.Take("bias");
  if (std::string error = ParseFormat("|", words, &epilogue.format); !error.empty()) {
    return "the last part is [alpha] [beta] [bias] FORMAT: " + error;
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
  if (parts.size() < 2) return "a plan has an operation and a format: \"sm_90/fma.rn.f32 | f32\"";
  std::string error = ParseOperation(WordsOfPart(parts.front()), plan);
  for (const std::string_view stage : std::span(parts).subspan(1, parts.size() - 2)) {
    if (error.empty()) error = ParseStage(stage, plan);
  }
  if (error.empty()) error = ParseEpilogue(WordsOfPart(parts.back()), plan.epilogue);
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
  static constexpr const char* kNames[] = {"add", "fma (a*b)", "fma a*b", "tree", "pairs"};
  std::string text = kNames[static_cast<int>(join.kind)];
  for (const int64_t distance : join.distances) text += " " + std::to_string(distance);
  if (join.from_zero) text += " from zero";
  if (join.as != nullptr) text += std::string(" as ") + join.as->name;
  if (join.held != nullptr) text += std::string(" held ") + join.held->name;
  return text;
}

std::string Text(const PlanStage& stage) {
  if (stage.tail == 0) return Text(stage.range) + ": " + Text(stage.join);
  return "tail " + std::to_string(stage.tail) + (stage.tail_unfused ? " unfused" : "");
}

// Where range `i` of "into S of G" begins among n products, 0 <= i <= S.
int64_t FirstOf(const PlanRange& range, int64_t n, int64_t i) {
  const int64_t s = range.count, whole = n / range.size, blocks = whole + (n % range.size != 0);
  if (i == s) return n;
  switch (range.share) {
    case PlanRange::Share::kCeil:
      return std::min(i * ((blocks + s - 1) / s) * range.size, n);
    case PlanRange::Share::kFloor:
      return i * (whole / s) * range.size;
    case PlanRange::Share::kEven:
      break;
  }
  return (i * (whole / s) + std::min(i, whole % s)) * range.size;
}

std::vector<Pieces> Every(const PlanRange& range, int64_t n) {
  std::vector<Pieces> parts;
  for (int64_t k = 0; k < n;) {
    const int64_t left = n - k;
    const int64_t whole = range.fit && n > range.size && n < 2 * range.size ? n / 2 : range.size;
    int64_t size = left <= range.last ? left : std::min(whole, left);
    if (range.halved && left > range.size && left < 2 * range.size) {
      const int64_t unit = range.unit;
      size = unit == 0 ? (left + 1) / 2 : std::min((left / 2 + unit - 1) / unit * unit, left);
    }
    parts.push_back({{k, k + size}});
    k += size;
  }
  return parts;
}

std::vector<Pieces> At(const PlanRange& range, int64_t n) {
  std::vector<Pieces> parts;
  int64_t first = 0;
  for (const int64_t k : range.at) {
    if (k >= n) break;
    parts.push_back({{first, k}});
    first = k;
  }
  if (first < n) parts.push_back({{first, n}});
  return parts;
}

// The parts of 0 to n - 1.
std::vector<Pieces> PartsOf(const PlanRange& range, int64_t n) {
  if (range.kind == PlanRange::Kind::kEvery) return Every(range, n);
  if (range.kind == PlanRange::Kind::kAt) return At(range, n);
  const bool strided = range.kind == PlanRange::Kind::kStrided;
  const int64_t dealt = strided && range.unrolled != 0 ? n / range.unrolled * range.unrolled : n;
  const int64_t blocks = (dealt + range.size - 1) / range.size;
  const auto block = [&](int64_t i) { return std::min(i * range.size, dealt); };
  std::vector<Pieces> parts;
  for (int64_t i = 0; i < range.count; ++i) {
    Pieces part;
    if (strided) {
      for (int64_t j = i; j < blocks; j += range.count) part.push_back({block(j), block(j + 1)});
      if (i == 0 && dealt < n) part.push_back({dealt, n});
    } else {
      const int64_t first = FirstOf(range, n, i), end = FirstOf(range, n, i + 1);
      if (first < end) part.push_back({first, end});
    }
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

bool FitDistances(const PlanStage& stage) {
  std::vector<int64_t> distances = stage.join.distances;
  if (distances.empty()) return true;
  std::ranges::sort(distances);
  for (size_t i = 0; i < distances.size(); ++i) {
    if (distances[i] != int64_t{1} << i) return false;
  }
  return stage.range.kind == PlanRange::Kind::kStrided &&
         stage.range.count == int64_t{1} << distances.size();
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
  text += " |";
  if (plan.epilogue.alpha) text += " alpha";
  if (plan.epilogue.beta) text += " beta";
  if (plan.epilogue.bias) text += " bias";
  return text + " " + plan.epilogue.format->name;
}

bool SameArithmetic(const Plan& x, const Plan& y) {
  return x.unfused == y.unfused && SameModel(x.operation->model, y.operation->model);
}

namespace {

// For sums in a floating-point format.
std::string WhyNoJoin(const PlanJoin& join, const Format& sums) {
  const bool tree = join.kind == PlanJoin::Kind::kTree || join.kind == PlanJoin::Kind::kPairs;
  if (tree && join.from_zero) return "a tree has no first sum: leave out \"from zero\"";
  for (const Format* f : {join.as, join.held}) {
    if (f == nullptr || !IsInteger(*f)) continue;
    return std::string("sums in ") + sums.name + " cannot be rounded to " + f->name;
  }
  return "";
}

}  // namespace

std::string WhyNoPlan(const Plan& plan) {
  const Model& m = plan.operation->model;
  const std::string& name = plan.operation->name;
  if (m.algorithm.family == Family::kNone) return name + " has no model";
  if (std::string why = WhyNoChain(m, 2); !why.empty() && m.k < kMaxK) {
    return name + " cannot be chained along k: " + why;
  }
  if (plan.operation->instruction->sparse) return name + " is sparse; plans are for dense matrices";
  const auto unfused_tail = [](const PlanStage& s) { return s.tail_unfused; };
  const bool unfuses = plan.unfused || std::ranges::any_of(plan.stages, unfused_tail);
  if (unfuses && (m.algorithm.family != Family::kFmaChain || m.k != 1)) {
    return name + " is not a single multiply-add, so it has no unfused form";
  }
  if (!std::ranges::all_of(plan.stages, FitDistances)) {
    return "\"pairs D...\" joins ranges \"strided S of G\": each power of two below S once";
  }
  if (plan.from_c && !plan.stages.empty()) return "\"from c\" allows no stage that joins";
  const Epilogue& e = plan.epilogue;
  const bool changes = e.alpha || e.beta || e.bias || !plan.stages.empty();
  if (IsInteger(m.d)) {
    if (std::string_view(e.format->name) != m.d.name || e.alpha || e.beta || e.bias) {
      return "integer sums keep their format " + std::string(m.d.name) + " and need no epilogue";
    }
    const auto adds = [](const PlanStage& s) {
      return s.join.kind == PlanJoin::Kind::kAdd && s.join.as == nullptr && s.join.held == nullptr;
    };
    return std::ranges::all_of(plan.stages, adds) ? "" : "integer sums can only be added";
  }
  for (const PlanStage& s : plan.stages) {
    if (std::string why = WhyNoJoin(s.join, m.d); !why.empty()) return why;
  }
  if (IsInteger(*e.format)) return "sums in " + std::string(m.d.name) + " do not become integers";
  if (changes && m.d.bits == 16 && std::string_view(m.d.name) != e.format->name) {
    return "sums in " + std::string(m.d.name) + " must keep that format";
  }
  return "";
}

int64_t CountOf(const Pieces& pieces) {
  int64_t count = 0;
  for (const Piece& piece : pieces) count += piece.end - piece.first;
  return count;
}

namespace {

// Finds k by their positions in pieces.
class KsByPosition {
 public:
  explicit KsByPosition(const Pieces& pieces) : pieces_(pieces) {
    int64_t count = 0;
    for (const Piece& piece : pieces) {
      first_.push_back(count);
      count += piece.end - piece.first;
    }
  }

  Pieces At(const Pieces& positions) const {
    Pieces found;
    for (const Piece& wanted : positions) {
      for (int64_t at = wanted.first; at < wanted.end;) {
        const auto next = std::ranges::upper_bound(first_, at);
        const size_t i = next - first_.begin() - 1;
        const int64_t k = pieces_[i].first + at - first_[i];
        const int64_t size = std::min(wanted.end - at, pieces_[i].end - k);
        found.push_back({k, k + size});
        at += size;
      }
    }
    return found;
  }

 private:
  const Pieces& pieces_;
  std::vector<int64_t> first_;  // position of each piece
};

}  // namespace

Pieces Slice(const Pieces& pieces, int64_t first, int64_t end) {
  return KsByPosition(pieces).At({{first, end}});
}

std::vector<Pieces> PartsOf(const PlanRange& range, const Pieces& pieces) {
  const KsByPosition ks(pieces);
  std::vector<Pieces> parts = PartsOf(range, CountOf(pieces));
  for (Pieces& part : parts) part = ks.At(part);
  return parts;
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

}  // namespace mmadiff

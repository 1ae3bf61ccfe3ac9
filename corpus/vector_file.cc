#include "corpus/vector_file.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "corpus/embedded_texts.h"
#include "device/line_protocol.h"
#include "device/status_macros.h"
#include "sim/pattern.h"
#include "sim/round.h"
#include "sim/sparsity.h"
#include "sim/word.h"

namespace mmadiff {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxWords = 1024;         // per operand; no instruction has this many
constexpr size_t kMaxAlternatives = 1000;  // per operation pattern
constexpr int kMaxStars = 3;               // fnmatch takes exponential time in their number
constexpr absl::string_view kQuestions = "questions";

// Quotes file text for a message.
std::string Quoted(absl::string_view text) {
  return absl::StrCat("'", absl::CHexEscape(text.substr(0, 100)), "'");
}

bool IsName(absl::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '_';
  });
}

// Length of the printable UTF-8 character at the start of the text; 0 if the text starts with
// anything else.
size_t PrintableBytes(absl::string_view text) {
  const auto at = [text](size_t i) { return static_cast<uint8_t>(text[i]); };
  if (at(0) < 0x80) return at(0) >= 0x20 && at(0) != 0x7f;
  const size_t bytes = at(0) >= 0xf0 ? 4 : at(0) >= 0xe0 ? 3 : 2;
  constexpr uint32_t kLeast[] = {0, 0, 0xa0, 0x800, 0x10000};  // U+0080 to U+009F are control
                                                               // characters
  if (at(0) < 0xc2 || at(0) > 0xf4 || text.size() < bytes) return 0;
  uint32_t code = at(0) & (0x7f >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if (at(i) >> 6 != 2) return 0;
    code = code << 6 | (at(i) & 0x3f);
  }
  const bool surrogate = code >> 11 == 0x1b;
  return code < kLeast[bytes] || surrogate || code > 0x10ffff ? 0 : bytes;
}

bool IsPrintable(absl::string_view text) {
  for (size_t i = 0, bytes; i < text.size(); i += bytes) {
    if ((bytes = PrintableBytes(text.substr(i))) == 0) return false;
  }
  return true;
}

// Reads an operand or its scales. `words` keeps the values that the text does not set.
absl::Status ReadWords(absl::string_view text, const Format& f, std::span<uint64_t> words) {
  size_t at = 0;
  for (absl::string_view token : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    if (absl::ConsumePrefix(&token, "@")) {
      if (absl::SimpleAtoi(token, &at)) continue;
      return absl::InvalidArgumentError(absl::StrCat(Quoted(token), " after '@' is not a number"));
    }
    const bool repeats = absl::ConsumeSuffix(&token, "*");
    if (token.size() != static_cast<size_t>(HexDigits(f))) {
      return absl::InvalidArgumentError(absl::StrCat(Quoted(token), " has ", token.size(),
                                                     " digits; write all ", HexDigits(f), " of ",
                                                     f.name));
    }
    ASSIGN_OR_RETURN(const uint64_t word, ParseHexWord(f, token));
    if (at >= words.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("word ", at, ", but there are only ", words.size()));
    }
    do {
      words[at++] = word;
    } while (repeats && at < words.size());
  }
  return absl::OkStatus();
}

// Reads `k` elements, `scales` scales and, after one more '|', `groups` words of metadata.
absl::StatusOr<DotProductCase> ReadOperands(const Vector& v, absl::string_view line, size_t k,
                                            size_t scales, size_t groups) {
  std::vector<absl::string_view> parts = absl::StrSplit(line, '|');
  const bool sparse = parts.size() % 2 == 0;
  const absl::string_view metadata = sparse ? parts.back() : "";
  if (sparse) parts.pop_back();
  if ((parts.size() != 3 && !(v.scale != nullptr && parts.size() == 5)) ||
      (sparse && groups == 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat(parts.size() + sparse, " parts; write a | b | c", v.scale ? " | sa | sb" : "",
                     groups == 0 ? "" : ", and for a sparse instruction | metadata"));
  }
  DotProductCase dot;
  dot.a.assign(k + scales, 0);
  if (v.scale != nullptr)
    std::fill(dot.a.begin() + k, dot.a.end(), v.scale->has_zero ? 0x38 : 0x7f);
  dot.b = dot.a;
  const std::span<uint64_t> a(dot.a), b(dot.b);
  absl::Status s = ReadWords(parts[0], *v.a, a.first(k));
  if (s.ok()) s = ReadWords(parts[1], *v.b, b.first(k));
  if (s.ok()) s = ReadWords(parts[2], *v.c, {&dot.c, 1});
  if (s.ok() && parts.size() == 5) s = ReadWords(parts[3], *v.scale, a.subspan(k));
  if (s.ok() && parts.size() == 5) s = ReadWords(parts[4], *v.scale, b.subspan(k));
  if (sparse) dot.metadata.resize(groups);
  if (s.ok() && sparse) s = ReadWords(metadata, kMetadataFormat, dot.metadata);
  RETURN_IF_ERROR(s);
  return dot;
}

// The reason why an operation pattern must not be passed to Expand() and MatchOperations(); empty
// if it may be.
std::string Unsafe(absl::string_view pattern) {
  size_t alternatives = 1, commas = 0;
  bool open = false;
  for (const char c : pattern) {
    if (c == '$') return "'$' is not supported";
    if (c == ',') ++commas;
    if (c != '{' && c != '}') continue;
    if (open == (c == '{')) return "unbalanced braces";
    open = !open;
    alternatives *= open ? 1 : commas + 1;
    commas = 0;
    if (alternatives > kMaxAlternatives) return "too many alternatives";
  }
  if (open) return "unbalanced braces";
  return std::ranges::count(pattern, '*') > kMaxStars ? "too many '*'" : "";
}

// Reads one file. Every failure is kDataLoss with the file name and the line.
class Parser {
 public:
  Parser(absl::string_view where, std::string stem) : where_(where), stem_(std::move(stem)) {}

  absl::StatusOr<VectorFile> Parse(absl::string_view text) {
    if (!IsName(stem_))
      return Error("name the file [a-z0-9_]+.txt; its name is part of the vectors' names");
    if (!text.empty() && text.back() != '\n') {
      line_ = std::ranges::count(text, '\n') + 1;
      return Error("the last line has no line end: the file was cut off; restore it");
    }
    for (const absl::string_view line : absl::StrSplit(text, '\n')) {
      ++line_;
      if (absl::EndsWith(line, "\r")) {
        return Error("the line ends in CR LF; use LF only");
      }
      if (!IsPrintable(line)) {
        return Error("a control character or invalid UTF-8: ", Quoted(line), "; remove it");
      }
      if (absl::StartsWith(line, "#")) continue;
      if (ended_ && !line.empty()) return Error(Quoted(line), " follows 'end'");
      ended_ |= line == "end";
      RETURN_IF_ERROR(line.empty() || ended_ ? Finish() : Field(line));
    }
    RETURN_IF_ERROR(Finish());
    if (file_.source.empty()) return Error("empty; begin with 'source: ' and the author");
    if (file_.vectors.empty()) return Error("no vector; add one, or remove the file");
    if (!ended_) return Error("the last line is not 'end': the file was cut off; restore it");
    return std::move(file_);
  }

 private:
  struct AnswerLine {
    int line;
    AnswerKind kind;
    absl::string_view text;
  };

  template <typename... Parts>
  absl::Status Error(const Parts&... parts) const {
    return absl::DataLossError(absl::StrCat(where_, ":", line_, ": ", parts...));
  }

  absl::Status Field(absl::string_view line) {
    const size_t colon = line.find(": ");
    if (colon == line.npos) return Error(Quoted(line), ": write NAME: VALUE");
    const absl::string_view key = line.substr(0, colon);
    const absl::string_view value = absl::StripAsciiWhitespace(line.substr(colon + 2));
    if (value.empty()) return Error(Quoted(key), " has no value");
    if (!vector_.has_value()) {
      if (key == "source") return Set(key, value, file_.source);
      if (file_.source.empty()) return Error(Quoted(key), ": begin the file with 'source: '");
      if (key == "link") return Set(key, value, file_.link);
      if (key == "vector") return Begin(value);
      return Error(Quoted(key), ": 'vector: ' comes first");
    }
    if (key == "about") return Set(key, value, vector_->about);
    if (key == "section") return Set(key, value, vector_->section);
    if (key == "reason") return Set(key, value, vector_->reason);
    if (key == "reading") return ReadReading(value);
    if (key == "formats") return Formats(value);
    if (key == "operands") return Operands(value);
    for (int kind = 0; kind <= static_cast<int>(AnswerKind::kContested); ++kind) {
      const AnswerKind k = static_cast<AnswerKind>(kind);
      if (key != Name(k)) continue;
      answers_.push_back({line_, k, value});
      return absl::OkStatus();
    }
    return Error(Quoted(key), ": not a field of a vector; a blank line separates vectors");
  }

  absl::Status Set(absl::string_view key, absl::string_view value, std::string& text) const {
    if (!text.empty()) return Error(Quoted(key), " appears twice; keep one");
    text = std::string(value);
    return absl::OkStatus();
  }

  absl::Status Begin(absl::string_view name) {
    if (!IsName(name)) return Error("vector ", Quoted(name), ": name it [a-z0-9_]+");
    const std::string full = absl::StrCat(stem_, "/", name);
    for (const Vector& v : file_.vectors) {
      if (v.name == full) return Error("vector ", Quoted(name), " appears twice; rename one");
    }
    vector_.emplace();
    vector_->name = full;
    return absl::OkStatus();
  }

  absl::Status Formats(absl::string_view text) {
    if (vector_->d != nullptr) return Error("formats: given twice; keep one");
    const std::vector<absl::string_view> names = absl::StrSplit(text, ' ', absl::SkipEmpty());
    if (names.size() != 4 && names.size() != 5) return Error("formats: write d a b c [scale]");
    const Format** const places[] = {&vector_->d, &vector_->a, &vector_->b, &vector_->c,
                                     &vector_->scale};
    for (size_t i = 0; i < names.size(); ++i) {
      *places[i] = FindFormat({names[i].data(), names[i].size()});
      if (*places[i] == nullptr) {
        return Error("no format ", Quoted(names[i]), "; `mmadiff list formats` shows them");
      }
    }
    return absl::OkStatus();
  }

  absl::Status Operands(absl::string_view text) {
    if (vector_->d == nullptr) return Error("operands: 'formats: ' comes first");
    const auto dot = ReadOperands(*vector_, text, kMaxWords, kMaxWords, kMaxWords);
    if (!dot.ok()) return Error("operands: ", dot.status().message());
    vector_->operands.emplace_back(text);
    return absl::OkStatus();
  }

  // Ends a record.
  absl::Status Finish() {
    if (!vector_.has_value()) return absl::OkStatus();
    const Vector& v = *vector_;
    if (v.about.empty()) return Error(v.name, ": add 'about: ' and describe the vector");
    if (v.operands.empty()) return Error(v.name, ": add 'formats: ' and 'operands: '");
    if (answers_.empty() && stem_ != kQuestions) {
      return Error(v.name, ": add an answer, or move it to ", kQuestions, ".txt");
    }
    answered_.clear();
    const int end = line_;
    for (const AnswerLine& answer : answers_) {
      line_ = answer.line;
      RETURN_IF_ERROR(ReadAnswer(answer));
    }
    line_ = end;
    file_.vectors.push_back(*std::move(vector_));
    vector_.reset();
    answers_.clear();
    return absl::OkStatus();
  }

  absl::Status ReadAnswer(const AnswerLine& line) {
    VectorAnswer answer;
    answer.kind = line.kind;
    const std::pair<absl::string_view, absl::string_view> who =
        absl::StrSplit(line.text, absl::MaxSplits(':', 1));
    answer.who = std::string(absl::StripAsciiWhitespace(who.second));
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(absl::StripAsciiWhitespace(who.first), absl::MaxSplits(' ', 1));
    answer.patterns = std::string(absl::StripAsciiWhitespace(parts.second));
    if (answer.who.empty() && line.kind != AnswerKind::kExpected) {
      return Error(Name(line.kind),
                   ": no source; add ' : ' and the person or device that reported it");
    }
    if (line.kind == AnswerKind::kContested && vector_->reason.empty()) {
      return Error("contested: add 'reason: ' with why the sources differ");
    }
    RETURN_IF_ERROR(ReadWord(parts.first, answer.d, answer.any_nan));
    for (const absl::string_view pattern :
         absl::StrSplit(answer.patterns, ' ', absl::SkipEmpty())) {
      RETURN_IF_ERROR(AddOperations(pattern, answer));
    }
    if (answer.ops.empty())
      return Error("add the instructions after the word, as ARCH/INSTRUCTION");
    vector_->answers.push_back(std::move(answer));
    return absl::OkStatus();
  }

  absl::Status ReadReading(absl::string_view text) {
    if (vector_->d == nullptr) return Error("reading: 'formats: ' comes first");
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(text, absl::MaxSplits(' ', 1));
    VectorReading reading = {.text = std::string(absl::StripAsciiWhitespace(parts.second))};
    if (reading.text.empty()) return Error("reading: write WORD and its meaning");
    RETURN_IF_ERROR(ReadWord(parts.first, reading.d, reading.any_nan));
    for (const VectorReading& r : vector_->readings) {
      if (r.d == reading.d) return Error("reading: ", parts.first, " appears twice; keep one");
    }
    vector_->readings.push_back(std::move(reading));
    return absl::OkStatus();
  }

  absl::Status ReadWord(absl::string_view text, uint64_t& word, bool& any_nan) const {
    const Format& f = *vector_->d;
    any_nan = text == "NAN";
    if (any_nan) {
      if (EncodeNan(f, false, &word) || EncodeNan(f, true, &word)) return absl::OkStatus();
      return Error("NAN: ", f.name, " has none; write the word");
    }
    const absl::Status s = ReadWords(text, f, {&word, 1});
    return s.ok() ? s : Error("answer: ", s.message());
  }

  absl::Status AddOperations(absl::string_view pattern, VectorAnswer& answer) {
    if (const std::string why = Unsafe(pattern); !why.empty()) {
      return Error(Quoted(pattern), ": ", why);
    }
    for (const Expansion& e : Expand({pattern.data(), pattern.size()})) {
      // FindOperation first: it finds an instruction at every size.
      const Operation* one = FindOperation(e.text);
      const std::vector<const Operation*> ops =
          one ? std::vector<const Operation*>{one} : MatchOperations(e.text);
      if (ops.empty()) {
        return Error(absl::StrContains(e.text, '*')
                         ? absl::StrCat(Quoted(e.text), ": no instruction has this name")
                         : WhyNoOperation(absl::CHexEscape(e.text.substr(0, 100))));
      }
      absl::Status last;
      bool any = false;
      for (const Operation* op : ops) {
        if (last = Fits(*op); !last.ok()) continue;
        any = true;
        RETURN_IF_ERROR(AddOperation(op, answer));
      }
      if (!any) return Error(Quoted(e.text), ": ", last.message());
    }
    return absl::OkStatus();
  }

  absl::Status Fits(const Operation& op) const {
    absl::Status s;
    for (const std::string& line : vector_->operands) {
      s.Update(DotProductOf(*vector_, line, op).status());
    }
    return s;
  }

  absl::Status AddOperation(const Operation* op, VectorAnswer& answer) {
    if (answer.kind == AnswerKind::kContested) {
      if (std::ranges::find(answer.ops, op) == answer.ops.end()) {
        answer.ops.push_back(op);
      }
      return absl::OkStatus();
    }
    const auto [at, added] = answered_.emplace(op, line_);
    if (!added) return Error("line ", at->second, " already answers for ", op->name, "; keep one");
    answer.ops.push_back(op);
    return absl::OkStatus();
  }

  const absl::string_view where_;
  const std::string stem_;
  int line_ = 0;
  bool ended_ = false;  // seen the line "end"
  VectorFile file_;
  std::optional<Vector> vector_;  // being read
  std::vector<AnswerLine> answers_;
  std::map<const Operation*, int> answered_;  // with the line that answered
};

std::vector<VectorFile> ParseAll() {
  std::vector<VectorFile> files;
  ForEachText(mmadiff_vectors, [&](absl::string_view name, absl::string_view text) {
    absl::StatusOr<VectorFile> file = ParseVectors(text, name);
    if (!file.ok()) {  // corpus/vectors_test.cc would have failed
      std::cerr << file.status().message() << "\n";
      std::abort();
    }
    files.push_back(*std::move(file));
  });
  return files;
}

}  // namespace

absl::StatusOr<VectorFile> ParseVectors(absl::string_view text, absl::string_view where) {
  return Parser(where, fs::path(std::string(where)).stem().string()).Parse(text);
}

absl::StatusOr<DotProductCase> DotProductOf(const Vector& v, absl::string_view operands,
                                            const Operation& op) {
  const Instruction& in = *op.instruction;
  if (in.d != v.d || in.a != v.a || in.b != v.b || in.c != v.c || in.scale != v.scale) {
    return absl::InvalidArgumentError(
        absl::StrCat(op.name, " has the formats ", in.d->name, " ", in.a->name, " ", in.b->name,
                     " ", in.c->name, in.scale ? absl::StrCat(" ", in.scale->name) : ""));
  }
  absl::StatusOr<DotProductCase> dot =
      ReadOperands(v, operands, in.shape.k, in.shape.scales, in.shape.groups);
  if (!dot.ok())
    return absl::InvalidArgumentError(absl::StrCat(op.name, ": ", dot.status().message()));
  std::string why = WhyUndefined(in, dot->metadata);
  if (why.empty()) why = WhyNotSparse(in, dot->a, dot->metadata);
  if (!why.empty()) return absl::InvalidArgumentError(why);
  if (in.sparse()) dot->metadata = StoredMetadata(in.shape, *dot);
  return dot;
}

std::span<const VectorFile> EmbeddedVectors() {
  static const std::vector<VectorFile>& all = *new std::vector<VectorFile>(ParseAll());
  return all;
}

const Vector* FindVector(absl::string_view name) {
  for (const VectorFile& file : EmbeddedVectors()) {
    for (const Vector& v : file.vectors) {
      if (v.name == name) return &v;
    }
  }
  return nullptr;
}

}  // namespace mmadiff

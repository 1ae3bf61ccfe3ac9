#include "device/cuda/ptx_file.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "device/status_macros.h"

namespace mmadiff {
namespace {

constexpr size_t kMaxElements = 32;  // of an operand; names of overlaps have two digits
constexpr size_t kMaxTokens = 1024;  // of all operands

// "line 3: WHAT"
absl::Status Malformed(int line, absl::string_view what) {
  return absl::DataLossError(absl::StrCat("line ", line, ": ", what));
}

// A word with its dots and double colons (".reg", "%r1", "kind::f8f6f4"), or one other character.
struct Token {
  absl::string_view text;
  int line;
};

bool IsWordCharacter(char c) {
  return absl::ascii_isalnum(c) || c == '_' || c == '$' || c == '%' || c == '.';
}

class Tokens {
 public:
  explicit Tokens(absl::string_view text) : text_(text) {}

  // The content of the last string that Next() skipped.
  absl::string_view skipped() const { return skipped_; }

  // An empty token at the end. Skips blanks, comments and strings.
  absl::StatusOr<Token> Next() {
    for (;;) {
      SkipBlanks();
      if (StartsWith("//")) {
        SkipTo("\n");
      } else if (StartsWith("/*")) {
        const int line = line_;
        at_ += 2;
        if (!SkipTo("*/")) return Malformed(line, "a comment that does not end");
        at_ += 2;
      } else if (StartsWith("\"")) {
        SkipString();
      } else {
        break;
      }
    }
    const size_t begin = at_;
    while (at_ < text_.size() && (IsWordCharacter(text_[at_]) || StartsWith("::"))) {
      at_ += text_[at_] == ':' ? 2 : 1;
    }
    if (at_ == begin && at_ < text_.size()) ++at_;
    return Token{text_.substr(begin, at_ - begin), line_};
  }

 private:
  bool StartsWith(absl::string_view what) const {
    return absl::StartsWith(text_.substr(at_), what);
  }
  void SkipBlanks() {
    for (; at_ < text_.size() && absl::ascii_isspace(text_[at_]); ++at_)
      line_ += text_[at_] == '\n';
  }
  // False: the text ends before.
  bool SkipTo(absl::string_view what) {
    const size_t end = std::min(text_.find(what, at_), text_.size());
    for (; at_ < end; ++at_) line_ += text_[at_] == '\n';
    return at_ < text_.size();
  }
  // A string ends with its line at the latest.
  void SkipString() {
    const size_t begin = ++at_;
    for (; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == '"') {
        skipped_ = text_.substr(begin, at_++ - begin);
        return;
      }
      if (StartsWith("\\\"") || StartsWith("\\\\")) ++at_;
    }
  }

  const absl::string_view text_;
  absl::string_view skipped_;
  size_t at_ = 0;
  int line_ = 1;
};

// A register may be named "mma", and a vector register "mma.x".
bool IsMatrixMnemonic(absl::string_view word) {
  return (absl::StartsWith(word, "mma.") || absl::StartsWith(word, "wmma.mma.")) &&
         absl::StrContains(word, ".sync");
}

bool IsRegister(absl::string_view element) {
  return !element.empty() && element != "_" &&
         (absl::ascii_isalpha(element[0]) || element[0] == '%' || element[0] == '_' ||
          element[0] == '$');
}

using Elements = std::vector<std::string>;

// "{%f1, %f2}, %r3, ..." from the tokens behind the mnemonic.
absl::StatusOr<std::vector<Elements>> Operands(const std::vector<Token>& tokens) {
  std::vector<Elements> operands = {{""}};
  bool open = false, closed = false;  // a brace of the current operand
  for (const Token& token : tokens) {
    const bool brace = token.text == "{" || token.text == "}";
    const bool start = operands.back() == Elements{""} && !closed;
    if (token.text == "{"   ? open || !start
        : token.text == "}" ? !open
                            : closed && token.text != ",") {
      return Malformed(token.line, absl::StrCat("no operand: '", token.text, "'"));
    }
    if (brace) {
      open = token.text == "{";
      closed = !open;
    } else if (token.text != ",") {
      absl::StrAppend(&operands.back().back(), token.text);
    } else if (open) {
      operands.back().emplace_back();
    } else {
      operands.push_back({""});
      closed = false;
    }
  }
  return operands;
}

// "%v.x" for "%v.r": the components of a vector have two names (PTX ISA 9.0, 6.4.2).
std::string WithOneName(const std::string& element) {
  constexpr std::pair<const char*, const char*> kNames[] = {
      {".r", ".x"}, {".g", ".y"}, {".b", ".z"}, {".a", ".w"}};
  for (const auto& [other, name] : kNames) {
    if (absl::EndsWith(element, other)) {
      return element.substr(0, element.size() - 2) + name;
    }
  }
  return element;
}

void AddShared(char operand, const Elements& elements, const Elements& d,
               std::vector<SharedRegister>& shared) {
  for (size_t word = 0; word < elements.size(); ++word) {
    for (size_t i = 0; i < d.size(); ++i) {
      if (WithOneName(elements[word]) == WithOneName(d[i]) && IsRegister(d[i])) {
        shared.push_back({operand, static_cast<int>(word), static_cast<int>(i)});
      }
    }
  }
}

class PtxReader {
 public:
  explicit PtxReader(absl::string_view text) : tokens_(text) {}

  absl::StatusOr<PtxFile> Read() {
    const absl::Status read = ReadAll();
    if (!versioned_) return absl::DataLossError("not PTX: it has no .version directive");
    RETURN_IF_ERROR(read);
    EndModule();
    return PtxFile{std::move(found_), wgmma_};
  }

 private:
  absl::Status ReadAll() {
    for (;;) {
      ASSIGN_OR_RETURN(const Token token, tokens_.Next());
      if (token.text.empty()) break;
      RETURN_IF_ERROR(in_matrix_ ? InMatrix(token) : Elsewhere(token));
    }
    if (in_matrix_) return Unfinished();
    return depth_ == 0 ? absl::OkStatus() : Malformed(opened_, "a '{' without '}'");
  }

  absl::Status Unfinished() const {
    return Malformed(found_.back().line, absl::StrCat(found_.back().mnemonic, " without ';'"));
  }

  absl::Status InMatrix(const Token& token) {
    if (token.text != ";") {
      if (IsMatrixMnemonic(token.text) || operands_.size() >= kMaxTokens) return Unfinished();
      operands_.push_back(token);
      return absl::OkStatus();
    }
    in_matrix_ = false;
    return Finish(found_.back());
  }

  absl::Status Finish(PtxMatrixInstruction& m) {
    ASSIGN_OR_RETURN(std::vector<Elements> operands, Operands(operands_));
    operands_.clear();
    bool whole = operands.size() >= 4;
    for (size_t i = 0; whole && i < 4; ++i) {
      whole = operands[i].size() <= kMaxElements;
      for (const std::string& element : operands[i]) whole = whole && !element.empty();
    }
    if (!whole) {
      return Malformed(m.line, absl::StrCat(m.mnemonic, " needs four operands of 1 to ",
                                            kMaxElements, " elements"));
    }
    m.d = std::move(operands[0]);
    m.a = std::move(operands[1]);
    m.b = std::move(operands[2]);
    m.c = std::move(operands[3]);
    AddShared('a', m.a, m.d, m.shared);
    AddShared('b', m.b, m.d, m.shared);
    AddShared('c', m.c, m.d, m.shared);
    return absl::OkStatus();
  }

  absl::Status Elsewhere(const Token& token) {
    const absl::string_view word = token.text;
    lines_.Read(word, token.line, tokens_.skipped());
    wgmma_ += absl::StartsWith(word, "wgmma.mma_async.");
    const bool named = std::exchange(target_next_, false);
    const std::string last = std::exchange(last_, std::string(word));
    if ((last == "mma" || last == "wmma" || last == "wmma.mma") && absl::StartsWith(word, ".")) {
      return absl::DataLossError(
          absl::StrCat("line ", token.line, ": write ", last, word, " without blanks or comments"));
    }
    if (IsMatrixMnemonic(word)) {
      in_matrix_ = true;
      places_.push_back(lines_.Here());
      found_.push_back({.line = token.line,
                        .target = target_,
                        .function = function_,
                        .mnemonic = std::string(word)});
    } else if (named) {
      target_ = std::string(word);
    } else if (depth_ == 0 && word == ".version") {
      versioned_ = true;
      target_.clear();
      EndModule();
    } else if (depth_ == 0 && word == ".target") {
      target_next_ = true;
    } else if (depth_ == 0 && (word == ".entry" || word == ".func")) {
      header_ = true;
      name_.clear();
      parentheses_ = 0;
    } else if (word == "{" || word == "}") {
      return Brace(token);
    } else if (header_) {
      InHeader(word);
    }
    return absl::OkStatus();
  }

  // Bodies, nested scopes, initializers and vectors of other instructions alike.
  absl::Status Brace(const Token& token) {
    if (token.text == "{") {
      if (depth_++ == 0) opened_ = token.line;
      if (std::exchange(header_, false)) function_ = name_;
      return absl::OkStatus();
    }
    if (depth_ == 0) return Malformed(token.line, "a '}' without '{'");
    if (--depth_ == 0) {
      function_.clear();
      lines_.EndFunction();
    }
    return absl::OkStatus();
  }

  // ".func (.param .b32 result) name(.param .b64 x)"
  void InHeader(absl::string_view word) {
    parentheses_ += (word == "(") - (word == ")");
    if (word == ";") header_ = false;
    if (parentheses_ == 0 && name_.empty() && IsRegister(word)) name_ = std::string(word);
  }

  // The end of a module names its files.
  void EndModule() {
    lines_.Read("", 0, tokens_.skipped());
    const size_t first = found_.size() - places_.size();
    for (size_t i = 0; i < places_.size(); ++i) found_[first + i].source = lines_.Named(places_[i]);
    places_.clear();
    lines_ = {};
  }

  Tokens tokens_;
  PtxLines lines_;                                       // of the current module
  std::vector<std::vector<PtxLines::Location>> places_;  // of its instructions
  std::vector<PtxMatrixInstruction> found_;  // the last one is incomplete while in_matrix_
  size_t wgmma_ = 0;
  bool in_matrix_ = false;
  std::vector<Token> operands_;
  std::string last_;  // word outside of matrix instructions
  bool versioned_ = false, target_next_ = false;
  std::string target_, function_;
  bool header_ = false;  // behind .entry or .func
  std::string name_;     // in it
  int parentheses_ = 0;
  int depth_ = 0, opened_ = 0;  // braces; line of the outermost
};

}  // namespace

std::string Name(const SharedRegister& shared) {
  return absl::StrCat(std::string(1, shared.operand), shared.word, "d", shared.d);
}

std::string Name(const std::vector<SharedRegister>& shared) {
  return absl::StrJoin(shared, "+", [](std::string* out, const SharedRegister& one) {
    absl::StrAppend(out, Name(one));
  });
}

std::vector<SharedRegister> PtxMatrixInstruction::displaced() const {
  std::vector<SharedRegister> displaced;
  for (const SharedRegister& one : shared) {
    if (!one.in_place()) displaced.push_back(one);
  }
  return displaced;
}

std::vector<SharedRegister> PtxMatrixInstruction::suspects() const {
  std::vector<SharedRegister> suspects = displaced();
  return suspects.empty() ? shared : suspects;
}

absl::StatusOr<PtxFile> ReadPtx(absl::string_view text) {
  if (text.size() > kMaxPtxBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("more than ", kMaxPtxBytes >> 20, " MiB of PTX"));
  }
  if (absl::StrContains(text, '\0')) {
    return absl::DataLossError(
        "not text; for a program, object or library, scan what `cuobjdump -ptx FILE` prints");
  }
  return PtxReader(text).Read();
}

}  // namespace mmadiff

#include "corpus/regression_case.h"

#include <algorithm>
#include <filesystem>
#include <span>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "corpus/old_text.h"
#include "corpus/text_proto.h"
#include "device/line_protocol.h"
#include "device/little_endian.h"
#include "device/status_macros.h"
#include "proto/case.pb.h"
#include "sim/sparsity.h"

namespace mmadiff {
namespace {

static_assert(proto::Clue::Kind_ARRAYSIZE == kClueKinds);

using TextRows = google::protobuf::RepeatedPtrField<std::string>;

constexpr size_t kIdDigits = 12;
// Values of RegressionCase.state_by.
constexpr char kRunName[] = "run", kModelName[] = "model:";

bool IsSlug(absl::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '_';
  });
}

// The slug of a file name SLUG-ID12.txtpb; "case" for any other name.
std::string SlugOfFileName(absl::string_view where) {
  const std::string name = std::filesystem::path(std::string(where)).filename().string();
  const absl::string_view slug = absl::string_view(name).substr(0, name.rfind('-'));
  return slug.size() < name.size() && IsSlug(slug) ? std::string(slug) : "case";
}

// A row of words in the text: the number of words and the format of each.
struct RowLayout {
  int words;
  const Format* format;  // format of the first `elements`
  int elements;
  const Format* scale;  // format of the others

  const Format& FormatOf(int word) const { return word < elements ? *format : *scale; }
};

struct Layouts {
  RowLayout a, b, c, d, metadata;
};

Layouts LayoutsOf(const Instruction& i, const Shape& s) {
  return {{s.row_words(), i.a, s.k, i.scale},
          {s.row_words(), i.b, s.k, i.scale},
          {s.n, i.c, s.n, nullptr},
          {s.n, i.d, s.n, nullptr},
          {s.groups, &kMetadataFormat, s.groups, nullptr}};
}

// An absent operand has no rows.
void FormatRows(const RowLayout& layout, std::span<const uint64_t> words, TextRows& rows) {
  if (IsAbsent(*layout.format)) return;
  for (size_t start = 0; start < words.size(); start += layout.words) {
    std::string& row = *rows.Add();
    for (size_t i = 0; i < std::min<size_t>(layout.words, words.size() - start); ++i) {
      absl::StrAppend(&row, i == 0 ? "" : " ",
                      HexWord(layout.FormatOf(static_cast<int>(i)), words[start + i]));
    }
  }
}

// "4 of tf32", "64 of e2m1 and 4 of ue4m3".
std::string Describe(const RowLayout& layout) {
  const int scales = layout.words - layout.elements;
  return absl::StrCat(layout.elements, " of ", layout.format->name,
                      scales == 0 ? "" : absl::StrCat(" and ", scales, " of ", layout.scale->name));
}

// Reads one case. Every failure is kDataLoss that starts with the file name and the field.
class Parser {
 public:
  Parser(const proto::RegressionCase& message, absl::string_view where)
      : message_(message), where_(where) {}

  absl::StatusOr<RegressionCase> Parse(bool question) {
    absl::Status s = ParseOperation();
    if (s.ok()) s = ParseTexts();
    if (s.ok()) s = ParsePosition();
    if (s.ok()) s = ParseInputs();
    if (s.ok() && message_.answers_size() == 0 && !message_.has_no_word() && !question) {
      s = Error("answers: none; expected at least one");
    }
    if (s.ok()) s = ParseAnswers();
    if (s.ok()) s = ParseNoWord();
    RETURN_IF_ERROR(s);
    return std::move(case_);
  }

 private:
  template <typename... Parts>
  absl::Status Error(const Parts&... parts) const {
    return absl::DataLossError(absl::StrCat(where_, ": ", parts...));
  }

  absl::Status ParseOperation() {
    case_.op = FindOperation(message_.instruction());
    if (case_.op != nullptr) return absl::OkStatus();
    // The search for similar names is quadratic in their length. No name is nearly this long.
    const std::string name = message_.instruction().substr(0, 100);
    return Error("instruction: ", WhyNoOperation(absl::CHexEscape(name)));
  }

  absl::Status ParseTexts() {
    case_.why = message_.why();
    case_.shared = message_.shared();
    case_.reason = message_.reason();
    for (const proto::Clue& clue : message_.clue()) {
      if (!proto::Clue::Kind_IsValid(clue.kind())) return Error("clue: kind ", clue.kind());
      case_.clues.push_back({clue.question(), static_cast<Clue::Kind>(clue.kind()), clue.text()});
    }
    case_.bucket = ParseBucket(case_.op->model.algorithm.family, message_.signature());
    case_.source = message_.source();
    case_.role = static_cast<CaseRole>(message_.role());
    case_.slug = message_.slug().empty() ? SlugOfFileName(where_) : message_.slug();
    if (IsSlug(case_.slug)) return ParseState();
    return Error("slug: \"", absl::CHexEscape(case_.slug), "\", expected [a-z0-9_]+");
  }

  absl::Status ParseState() {
    case_.moved_by = ParseMovedBy(message_.state_by());
    const std::string& name = message_.state();
    const auto named = std::ranges::find(kFindingStates, name);
    if (named == std::end(kFindingStates) && !name.empty()) {
      return Error("state: \"", absl::CHexEscape(name), "\", expected one of ",
                   absl::StrJoin(kFindingStates, ", "));
    }
    if (!name.empty()) case_.state = static_cast<FindingState>(named - kFindingStates);
    return absl::OkStatus();
  }

  absl::Status ParsePosition() {
    const proto::Position& p = message_.position();
    const Shape& s = case_.op->shape();
    const auto below = [](uint32_t value, int limit) {
      return value < static_cast<uint32_t>(limit);
    };
    if (!below(p.block(), s.blocks) || !below(p.i(), s.m) || !below(p.j(), s.n)) {
      return Error("position: block ", p.block(), ", i ", p.i(), ", j ", p.j(), "; ",
                   case_.op->name, " has ", s.blocks, " blocks of ", s.m, " x ", s.n);
    }
    case_.position = {static_cast<int>(p.block()), static_cast<int>(p.i()),
                      static_cast<int>(p.j())};
    return absl::OkStatus();
  }

  int RowsOfB(const Shape& s) const {
    return IsAbsent(*case_.op->instruction->b) ? 0 : s.blocks * s.n;
  }
  int RowsOfC(const Shape& s) const {
    return IsAbsent(*case_.op->instruction->c) ? 0 : s.blocks * s.m;
  }
  bool HasOperationsOf(const Shape& s) const {
    return message_.a_size() == s.blocks * s.m && message_.b_size() == RowsOfB(s) &&
           message_.c_size() == RowsOfC(s);
  }

  absl::Status ParseInputs() {
    const Instruction& instruction = *case_.op->instruction;
    const Shape& own = instruction.shape;
    case_.inputs.count = 1;
    case_.inputs.shape = HasOperationsOf(own) ? own : DotProductShape(own);
    const Shape& shape = case_.inputs.shape;
    if (!HasOperationsOf(shape)) {
      return Error("a, b, c: ", message_.a_size(), ", ", message_.b_size(), " and ",
                   message_.c_size(), " rows; expected ", own.blocks * own.m, ", ", RowsOfB(own),
                   " and ", RowsOfC(own), " (an execution of ", instruction.name, ") or 1, ",
                   RowsOfB({1, 1, 1, 1}), " and ", RowsOfC({1, 1, 1, 1}), " (one dot product)");
    }
    const Layouts layouts = LayoutsOf(instruction, shape);
    absl::Status s = ParseWords("a", layouts.a, message_.a(), case_.inputs.a);
    if (s.ok()) s = ParseWords("b", layouts.b, message_.b(), case_.inputs.b);
    if (s.ok()) s = ParseWords("c", layouts.c, message_.c(), case_.inputs.c);
    case_.inputs.b.resize(shape.b_words());  // the words of absent operands
    case_.inputs.c.resize(shape.d_words());
    return s.ok() && instruction.sparse() ? ParseMetadata(layouts) : s;
  }

  // Without metadata, those that A's zeros give.
  absl::Status ParseMetadata(const Layouts& layouts) {
    const Shape& shape = case_.inputs.shape;
    std::vector<uint64_t>& metadata = case_.inputs.metadata;
    if (message_.metadata_size() != 0 && message_.metadata_size() != message_.a_size()) {
      return Error("metadata: ", message_.metadata_size(), " rows, expected ", message_.a_size(),
                   " like a");
    }
    RETURN_IF_ERROR(ParseWords("metadata", layouts.metadata, message_.metadata(), metadata));
    const Instruction& instruction = *case_.op->instruction;
    std::string why = WhyUndefined(instruction, metadata);
    if (why.empty()) why = WhyNotSparse(instruction, case_.inputs.a, metadata);
    if (!why.empty()) return Error("metadata: ", why);
    metadata.resize(shape.metadata_words());
    metadata = StoredMetadata(case_.inputs);
    return absl::OkStatus();
  }

  absl::Status ParseAnswers() {
    for (int i = 0; i < message_.answers_size(); ++i) {
      const proto::Answer& in = message_.answers(i);
      const std::string field = absl::StrCat("answers[", i, "]");
      RETURN_IF_ERROR(CheckWho(field, in));
      const Shape& shape = case_.inputs.shape;
      if (in.d_size() != shape.blocks * shape.m) {
        return Error(field, ".d: ", in.d_size(), " rows, expected ", shape.blocks * shape.m,
                     " like c");
      }
      Answer answer = {in.device(), in.identity(), in.date(), {}, in.age()};
      RETURN_IF_ERROR(
          ParseWords(field + ".d", LayoutsOf(*case_.op->instruction, shape).d, in.d(), answer.d));
      if (answer.age > 0 && shape != DotProductShape(shape)) {
        return Error(field, ".age: with an execution; expected one dot product");
      }
      case_.answers.push_back(std::move(answer));
    }
    return absl::OkStatus();
  }

  absl::Status CheckWho(absl::string_view field, const auto& in) const {
    std::string error;
    absl::Time ignored;
    if (in.device().empty()) return Error(field, ".device: empty; expected a device");
    if (in.date().empty() || absl::ParseTime(absl::RFC3339_full, in.date(), &ignored, &error)) {
      return absl::OkStatus();
    }
    return Error(field, ".date: \"", absl::CHexEscape(in.date()),
                 "\", expected RFC 3339 like 2025-11-20T15:04:05Z: ", error);
  }

  absl::Status ParseNoWord() {
    if (!message_.has_no_word()) return absl::OkStatus();
    const proto::NoWord& in = message_.no_word();
    RETURN_IF_ERROR(CheckWho("no_word", in));
    std::optional<InputFailure> failure = ParseFailure(in.failure());
    if (!failure.has_value()) {
      return Error("no_word.failure: \"", absl::CHexEscape(in.failure()),
                   "\", expected unknown_bits, width, text, early_end, crash_... or hang");
    }
    if (case_.inputs.shape != DotProductShape(case_.inputs.shape)) {
      return Error("no_word: with an execution; expected one dot product");
    }
    failure->age = in.age();
    failure->text = in.text();
    case_.no_word = {in.device(), in.identity(), in.date(), *std::move(failure)};
    return absl::OkStatus();
  }

  absl::Status ParseWords(absl::string_view field, const RowLayout& layout, const TextRows& rows,
                          std::vector<uint64_t>& words) const {
    for (int i = 0; i < rows.size(); ++i) {
      const std::vector<absl::string_view> texts =
          absl::StrSplit(rows[i], absl::ByAnyChar(" \t"), absl::SkipEmpty());
      if (texts.size() != static_cast<size_t>(layout.words)) {
        return Error(field, "[", i, "]: ", texts.size(), " words, expected ", Describe(layout));
      }
      for (int k = 0; k < layout.words; ++k) {
        const Format& format = layout.FormatOf(k);
        const absl::StatusOr<uint64_t> word = ParseHexWord(format, texts[k]);
        if (!word.ok()) return Error(field, "[", i, "] word ", k, ": ", word.status().message());
        // A word with a missing digit would be a different number.
        if (texts[k].size() != static_cast<size_t>(HexDigits(format))) {
          return Error(field, "[", i, "] word ", k, ": '", texts[k], "', expected ",
                       HexDigits(format), " digits of ", format.name);
        }
        words.push_back(*word);
      }
    }
    return absl::OkStatus();
  }

  const proto::RegressionCase& message_;
  const absl::string_view where_;
  RegressionCase case_;
};

// Operation name and a zero byte; m n k blocks in 4 bytes each; the words of a, b and c in 8 bytes
// each, all little-endian; scales are words of a and b, their number follows from the operation;
// metadata follow c.
// Changing this renames every stored case.
std::string CanonicalInputs(const RegressionCase& c) {
  std::string bytes = c.op->name + '\0';
  const Shape& s = c.inputs.shape;
  for (int size : {s.m, s.n, s.k, s.blocks}) AppendLittleEndian(size, 4, bytes);
  const std::vector<uint64_t> metadata = StoredMetadata(c.inputs);
  for (const std::vector<uint64_t>* words : {&c.inputs.a, &c.inputs.b, &c.inputs.c, &metadata}) {
    for (uint64_t word : *words) AppendLittleEndian(word, 8, bytes);
  }
  return bytes;
}

// Hashes the whole case: its inputs; its texts, each after its length in 8 bytes; its position in 4
// bytes each; the texts and words of every answer; name and origin of a state that is not open; its
// role in a byte, if it has one. A nonzero age is 8 bytes after the words of its answer. A device
// failure adds its texts and its age in 8 bytes. `shared` is added as a text if it is not empty, and
// with `reason` also if it is. A clue is its kind in a byte and two texts.
std::string ChecksumOf(const RegressionCase& c) {
  std::string bytes = CanonicalInputs(c);
  const auto put_text = [&bytes](absl::string_view text) {
    AppendLittleEndian(text.size(), 8, bytes);
    absl::StrAppend(&bytes, text);
  };
  put_text(c.slug.empty() ? "case" : c.slug);
  for (const std::string& text : {c.why, Name(c.bucket), c.source}) put_text(text);
  for (int at : {c.position.block, c.position.i, c.position.j}) AppendLittleEndian(at, 4, bytes);
  for (const Answer& answer : c.answers) {
    for (const std::string* text : {&answer.device, &answer.identity, &answer.date})
      put_text(*text);
    for (uint64_t word : answer.d) AppendLittleEndian(word, 8, bytes);
    if (answer.age != 0) AppendLittleEndian(answer.age, 8, bytes);
  }
  if (c.state != FindingState::kOpen || c.moved_by.kind != MovedBy::kNobody) {
    put_text(Name(c.state));
    put_text(Name(c.moved_by));
  }
  if (c.role != CaseRole::kUnknown) AppendLittleEndian(static_cast<uint64_t>(c.role), 1, bytes);
  if (const auto& n = c.no_word) {
    for (const std::string& text :
         {n->device, n->identity, n->date, Name(n->failure), n->failure.text}) {
      put_text(text);
    }
    AppendLittleEndian(n->failure.age, 8, bytes);
  }
  if (!c.shared.empty() || !c.reason.empty()) put_text(c.shared);
  if (!c.reason.empty()) put_text(c.reason);
  for (const Clue& clue : c.clues) {
    AppendLittleEndian(clue.kind, 1, bytes);
    put_text(clue.question);
    put_text(clue.text);
  }
  return Xxh3Hex(bytes);
}

}  // namespace

MovedBy MovedBy::ThisModel() { return {kModel, kModelVersion, ""}; }

MovedBy MovedBy::Device(std::string specification) {
  return {kDevice, 0, std::move(specification)};
}

std::string Name(const MovedBy& by) {
  switch (by.kind) {
    case MovedBy::kNobody:
      return "";
    case MovedBy::kRun:
      return kRunName;
    case MovedBy::kModel:
      return absl::StrCat(kModelName, by.model_version);
    case MovedBy::kDevice:
      return by.device;
  }
  return "";
}

MovedBy ParseMovedBy(absl::string_view name) {
  MovedBy by;
  if (name.empty()) return by;
  by.kind = MovedBy::kModel;
  absl::string_view version = name;
  if (absl::ConsumePrefix(&version, kModelName) && absl::SimpleAtoi(version, &by.model_version) &&
      Name(by) == name) {
    return by;
  }
  if (name == kRunName) return {MovedBy::kRun, 0, ""};
  return MovedBy::Device(std::string(name));
}

std::string RegressionCase::device() const {
  if (no_word) return no_word->device;
  const auto answer = std::ranges::find_if_not(answers, &Answer::IsPrediction);
  return answer == answers.end() ? "" : answer->device;
}

uint64_t RegressionCase::age() const {
  if (no_word) return no_word->failure.age;
  return answers.empty() ? 0 : answers.front().age;
}

bool RegressionCase::IsOf(absl::string_view device) const {
  return (no_word && no_word->device == device) ||
         std::ranges::find(answers, device, &Answer::device) != answers.end();
}

CaseRole RoleOf(const RegressionCase& c) {
  return c.role == CaseRole::kUnknown ? RoleOfOld(c.why) : c.role;
}

std::string CaseId(const RegressionCase& c) {
  return Xxh3Hex(CanonicalInputs(c)).substr(0, kIdDigits);
}

std::string CaseFileName(const RegressionCase& c) {
  return absl::StrCat(std::string(c.op->arch()), "/", c.slug.empty() ? "case" : c.slug, "-",
                      CaseId(c), ".txtpb");
}

std::string FormatCase(const RegressionCase& c, absl::string_view folder) {
  proto::RegressionCase message;
  message.set_instruction(c.op->name);
  message.set_slug(c.slug.empty() ? "case" : c.slug);
  message.set_why(c.why);
  message.set_shared(c.shared);
  message.set_reason(c.reason);
  for (const Clue& clue : c.clues) {
    proto::Clue& stored = *message.add_clue();
    stored.set_question(clue.question);
    stored.set_kind(static_cast<proto::Clue::Kind>(clue.kind));
    stored.set_text(clue.text);
  }
  message.set_signature(Name(c.bucket));
  message.set_source(c.source);
  if (c.position != Position()) {
    message.mutable_position()->set_block(c.position.block);
    message.mutable_position()->set_i(c.position.i);
    message.mutable_position()->set_j(c.position.j);
  }
  const Layouts layouts = LayoutsOf(*c.op->instruction, c.inputs.shape);
  FormatRows(layouts.a, c.inputs.a, *message.mutable_a());
  FormatRows(layouts.b, c.inputs.b, *message.mutable_b());
  FormatRows(layouts.c, c.inputs.c, *message.mutable_c());
  FormatRows(layouts.metadata, StoredMetadata(c.inputs), *message.mutable_metadata());
  for (const Answer& answer : c.answers) {
    proto::Answer& added = *message.add_answers();
    added.set_device(answer.device);
    added.set_identity(answer.identity);
    added.set_date(answer.date);
    added.set_age(answer.age);
    FormatRows(layouts.d, answer.d, *added.mutable_d());
  }
  if (const auto& n = c.no_word) {
    proto::NoWord& added = *message.mutable_no_word();
    added.set_device(n->device);
    added.set_identity(n->identity);
    added.set_date(n->date);
    added.set_failure(Name(n->failure));
    added.set_age(n->failure.age);
    added.set_text(n->failure.text);
  }
  if (c.state != FindingState::kOpen) message.set_state(Name(c.state));
  message.set_state_by(Name(c.moved_by));
  message.set_role(static_cast<proto::CaseRole>(c.role));
  message.set_checksum(ChecksumOf(c));
  return absl::StrCat("# ./mmadiff replay ", absl::StripSuffix(folder, "/"), "/", CaseFileName(c),
                      "\n# proto-file: proto/case.proto\n",
                      "# proto-message: mmadiff.proto.RegressionCase\n\n",
                      FormatTextProto(message));
}

absl::StatusOr<RegressionCase> ParseCase(absl::string_view text, absl::string_view where,
                                         bool sealed, bool question) {
  proto::RegressionCase message;
  RETURN_IF_ERROR(ParseTextProto(text, where, message));
  if (!proto::CaseRole_IsValid(message.role())) {
    return absl::DataLossError(absl::StrCat(where, ": role: a number from a later version"));
  }
  absl::StatusOr<RegressionCase> c = Parser(message, where).Parse(question);
  if (!c.ok() || (message.checksum().empty() && !sealed)) return c;
  if (message.checksum() == ChecksumOf(*c)) return c;
  return absl::DataLossError(absl::StrCat(
      where, ": checksum: ", message.checksum().empty() ? "none" : "does not match the contents",
      "; the contents were changed or damaged: restore them"));
}

}  // namespace mmadiff

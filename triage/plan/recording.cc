#include "triage/plan/recording.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "corpus/arrays/array.h"
#include "corpus/durable_file.h"
#include "device/plain_text.h"
#include "device/status_macros.h"
#include "sim/plan/plan.h"

namespace mmadiff {
namespace {

using RecordedJson = nlohmann::json;

constexpr int kMaxRecordingDepth = 8;  // of lists and objects in each other; more are not stored
constexpr size_t kMaxRecordingMessage = 300;

absl::Status BadRecording(absl::string_view where, absl::string_view what) {
  const std::string message = absl::StrCat(where, where.empty() ? "" : ": ", what);
  return absl::DataLossError(PlainLine(message.substr(0, kMaxRecordingMessage)));
}

absl::StatusOr<std::string> TextIn(const RecordedJson& object, const char* name,
                                   absl::string_view where) {
  const auto found = object.find(name);
  if (found != object.end() && found->is_string()) return found->get<std::string>();
  return BadRecording(where, absl::StrCat("has no text '", name, "'"));
}

absl::StatusOr<uint64_t> NumberIn(const RecordedJson& object, const char* name, uint64_t most,
                                  absl::string_view where) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_unsigned()) {
    return BadRecording(where, absl::StrCat("has no number '", name, "' from 0"));
  }
  const auto number = found->get<uint64_t>();
  if (number <= most) return number;
  return BadRecording(where, absl::StrCat("'", name, "' is ", number, ", more than ", most));
}

// A list of objects.
absl::StatusOr<const RecordedJson*> ListIn(const RecordedJson& object, const char* name,
                                           absl::string_view where) {
  const auto found = object.find(name);
  const auto is_object = [](const RecordedJson& one) { return one.is_object(); };
  if (found != object.end() && found->is_array() && std::ranges::all_of(*found, is_object)) {
    return &*found;
  }
  return BadRecording(where, absl::StrCat("has no list '", name, "' of objects"));
}

absl::StatusOr<MatrixShape> ShapeIn(const RecordedJson& object, absl::string_view where) {
  MatrixShape shape;
  for (const auto& [name, side] :
       {std::pair("m", &shape.m), std::pair("n", &shape.n), std::pair("k", &shape.k)}) {
    ASSIGN_OR_RETURN(*side, NumberIn(object, name, kMaxRecordedElements, where));
    if (*side == 0) return BadRecording(where, absl::StrCat("'", name, "' is 0"));
  }
  if (std::max({shape.m * shape.k, shape.k * shape.n, shape.m * shape.n}) > kMaxRecordedElements) {
    return BadRecording(where, absl::StrCat(ShapeText(shape), " has a matrix of more than ",
                                            kMaxRecordedElements, " elements"));
  }
  return shape;
}

// The plan's text.
absl::StatusOr<std::string> PlanIn(const RecordedJson& object, const Format& format,
                                   absl::string_view where) {
  ASSIGN_OR_RETURN(std::string text, TextIn(object, "plan", where));
  std::string error;
  const std::optional<Plan> plan = ParsePlan(text, &error);
  if (!plan) return BadRecording(where, error);
  if (format.name == std::string_view(plan->epilogue.format->name)) return text;
  return BadRecording(where, absl::StrCat("a plan for ", plan->epilogue.format->name,
                                          ", not for D in ", format.name));
}

absl::StatusOr<RecordedShape> RecordedShapeIn(const RecordedJson& object, const Format& format,
                                              absl::string_view where) {
  RecordedShape recorded;
  ASSIGN_OR_RETURN(recorded.shape, ShapeIn(object, where));
  ASSIGN_OR_RETURN(recorded.differing, NumberIn(object, "differing", kMaxRecordedElements, where));
  ASSIGN_OR_RETURN(recorded.seed,
                   NumberIn(object, "seed", std::numeric_limits<uint64_t>::max(), where));
  ASSIGN_OR_RETURN(recorded.digest, TextIn(object, "digest", where));
  const auto is_digit = [](char c) { return absl::ascii_isxdigit(c) && !absl::ascii_isupper(c); };
  if (!recorded.digest.empty() &&
      (recorded.digest.size() != 16 || !std::ranges::all_of(recorded.digest, is_digit))) {
    return BadRecording(where, "'digest' is not 16 hexadecimal digits");
  }
  ASSIGN_OR_RETURN(const RecordedJson* const plans, ListIn(object, "plans", where));
  for (const RecordedJson& plan : *plans) {
    ASSIGN_OR_RETURN(std::string text, PlanIn(plan, format, where));
    ASSIGN_OR_RETURN(std::string elements, TextIn(plan, "where", where));
    recorded.plans.emplace_back(std::move(text), std::move(elements));
  }
  return recorded;
}

absl::StatusOr<double> FactorIn(const RecordedJson& object, const char* name) {
  const auto found = object.find(name);
  if (found != object.end() && found->is_number()) return found->get<double>();
  return BadRecording("", absl::StrCat("has no number '", name, "'"));
}

absl::StatusOr<ProductKind> KindIn(const RecordedJson& object) {
  ProductKind kind;
  ASSIGN_OR_RETURN(const std::string text, TextIn(object, "formats", ""));
  const std::vector<std::string> names = absl::StrSplit(text, ',');
  const Format** const formats[] = {&kind.formats.a, &kind.formats.b, &kind.formats.d};
  if (names.size() != 3) return BadRecording("'formats'", "are not those of A, B and D");
  for (size_t i = 0; i < names.size(); ++i) {
    const std::optional<ElementType> type = FindElementType(names[i]);
    if (!type || type->format == nullptr) {
      return BadRecording("'formats'", absl::StrCat("no format '", names[i], "'"));
    }
    *formats[i] = type->format;
  }
  ASSIGN_OR_RETURN(kind.factors.alpha, FactorIn(object, "alpha"));
  ASSIGN_OR_RETURN(kind.factors.beta, FactorIn(object, "beta"));
  return kind;
}

absl::StatusOr<Identity> IdentityIn(const RecordedJson& object) {
  ASSIGN_OR_RETURN(std::string name, TextIn(object, "device_identity", ""));
  ASSIGN_OR_RETURN(const RecordedJson* const facts, ListIn(object, "facts", ""));
  Identity identity;
  for (const RecordedJson& fact : *facts) {
    ASSIGN_OR_RETURN(const std::string text, TextIn(fact, "fact", "'facts'"));
    ASSIGN_OR_RETURN(const std::string value, TextIn(fact, "value", "'facts'"));
    const IdentityKey* const key = FindIdentityKey(text);
    if (key == nullptr) return BadRecording("'facts'", absl::StrCat("unknown fact '", text, "'"));
    identity.facts.push_back({key, PlainLine(value)});
  }
  if (Name(identity) == name) return identity;
  return BadRecording("", "'device_identity' is not that of 'facts'");
}

}  // namespace

absl::StatusOr<PlanRecording> ParsePlanRecording(absl::string_view text) {
  const auto not_deep = [](int depth, RecordedJson::parse_event_t, RecordedJson&) {
    return depth <= kMaxRecordingDepth;
  };
  if (text.size() > kMaxRecordingBytes) {
    return BadRecording("", absl::StrCat("has more than ", kMaxRecordingBytes, " bytes"));
  }
  const RecordedJson json = RecordedJson::parse(text.begin(), text.end(), not_deep, false);
  if (!json.is_object()) return BadRecording("", "is not a JSON object");
  PlanRecording recording;
  ASSIGN_OR_RETURN(recording.device, TextIn(json, "device", ""));
  recording.device = PlainLine(recording.device);
  ASSIGN_OR_RETURN(recording.identity, IdentityIn(json));
  ASSIGN_OR_RETURN(recording.kind, KindIn(json));
  ASSIGN_OR_RETURN(const RecordedJson* const shapes, ListIn(json, "shapes", ""));
  if (shapes->empty()) return BadRecording("'shapes'", "is empty");
  for (const RecordedJson& shape : *shapes) {
    const std::string where = absl::StrCat("shapes[", recording.shapes.size(), "]");
    ASSIGN_OR_RETURN(RecordedShape recorded,
                     RecordedShapeIn(shape, *recording.kind.formats.d, where));
    recording.shapes.push_back(std::move(recorded));
  }
  return recording;
}

absl::StatusOr<PlanRecording> ReadPlanRecording(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path, kMaxRecordingBytes);
  if (absl::IsNotFound(text.status())) return absl::InvalidArgumentError(text.status().message());
  RETURN_IF_ERROR(text.status());
  absl::StatusOr<PlanRecording> recording = ParsePlanRecording(*text);
  if (recording.ok()) return recording;
  return absl::DataLossError(absl::StrCat(path, ": ", recording.status().message()));
}

}  // namespace mmadiff

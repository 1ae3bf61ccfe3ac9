// mmadiff explain: one mismatch stage by stage, beside the changes of the model that reproduce it;
// or all filed cases of a folder together.
#include "triage/explain.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "corpus/case_folder.h"
#include "fuzz/cli/cli.h"
#include "fuzz/cli/subject.h"
#include "fuzz/findings.h"
#include "fuzz/json_text.h"
#include "triage/explain_text.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

constexpr int kMostNamed = 12;  // refuted changes

std::string NameOf(const Answer& a) {
  return absl::StrCat(a.device, a.identity.empty() ? "" : ", ", a.identity);
}

// What each device answered in a case, predictions left out.
std::map<std::string, std::vector<Observed>> AnswersIn(const RegressionCase& c) {
  std::map<std::string, std::vector<Observed>> answers;
  for (const Answer& a : c.answers) {
    if (absl::StartsWith(a.device, "model")) continue;
    std::vector<Observed>& of_device = answers[NameOf(a)];
    for (int64_t i = 0; i < c.inputs.dot_products(); ++i) {
      of_device.push_back({Extract(c.inputs, i), a.d[i]});
    }
  }
  return answers;
}

// The algorithm that a bucket's name says, "STAGE:NAME=VALUE NAME=VALUE"; the operation's own if it
// says none.
Algorithm Named(const Operation& op, absl::string_view bucket) {
  Algorithm algorithm = op.model.algorithm;
  const std::pair<std::string, std::string> parts = absl::StrSplit(bucket, absl::MaxSplits(':', 1));
  for (const absl::string_view change : absl::StrSplit(parts.second, ' ', absl::SkipEmpty())) {
    const std::pair<std::string, std::string> name_value = absl::StrSplit(change, '=');
    const Parameter* p = FindParameter(algorithm.family, name_value.first);
    int value;
    if (p != nullptr && ParseValue(*p, name_value.second, &value)) p->set(algorithm, value);
  }
  return algorithm;
}

// The diagnosis of stored answers, with the change that the bucket names first if it gives them
// all. They are fewer than were asked for: a change that gives them may have been refuted by
// others.
Diagnosis OfStored(const Operation& op, const std::vector<Observed>& answers,
                   const std::string& bucket) {
  Diagnosis d = FindChange(op, answers);
  const Model named = WithAlgorithm(op, Named(op, bucket));
  if (SameModel(named, op.model) || !Explains(op, named, answers)) return d;
  std::erase_if(d.changes, [&](const Neighbour& n) { return n.algorithm == named.algorithm; });
  d.changes.insert(d.changes.begin(),
                   {NameOfChanges(op.model.algorithm, named.algorithm), named.algorithm});
  return d;
}

// Cases of one operation and one device.
struct Group {
  const Operation* op = nullptr;
  std::string device;
  size_t cases = 0;
  std::vector<Observed> answers;
  std::map<std::string, std::vector<Observed>> buckets;  // the same answers by bucket

  void Add(const RegressionCase& c, const std::vector<Observed>& of_case) {
    ++cases;
    if (Repeats(c.signature)) answers.insert(answers.end(), of_case.begin(), of_case.end());
    std::vector<Observed>& bucket = buckets[c.signature.empty() ? "no bucket" : c.signature];
    bucket.insert(bucket.end(), of_case.begin(), of_case.end());
  }
};

// Answers that the change which a bucket names does not give; of the operation's model if it names
// none.
int64_t Missed(const Operation& op, const std::string& bucket,
               const std::vector<Observed>& answers) {
  const Model model = WithAlgorithm(op, Named(op, bucket));
  return std::count_if(answers.begin(), answers.end(),
                       [&](const Observed& o) { return !Gives(op, model, o.dot, o.d); });
}

std::string BucketLine(const Operation& op, const std::string& bucket,
                       const std::vector<Observed>& answers) {
  const bool names = !SameModel(WithAlgorithm(op, Named(op, bucket)), op.model);
  return absl::StrCat("  ", bucket, ": ", answers.size(), " answers, of which ",
                      names ? "the change that it names" : "the model", " misses ",
                      Missed(op, bucket, answers), "\n");
}

nlohmann::ordered_json Json(const Operation& op, const std::string& device, const Diagnosis& d) {
  std::vector<std::string> changes;
  for (const Neighbour& n : d.changes) changes.push_back(n.name);
  return {{"instruction", op.name},
          {"device", device},
          {"answers", d.observed.size()},
          {"changes", changes},
          {"nearest", d.nearest.name},
          {"nearest_misses", d.missed},
          {"single_changes_tried", d.singles},
          {"pairs_tried", d.pairs}};
}

int ExplainFolder(const std::string& folder, const Globals& globals) {
  Console console = globals.MakeConsole();
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  const absl::StatusOr<std::vector<std::string>> paths = ListCases(folder);
  if (!paths.ok()) return Fail(paths.status());
  std::map<std::pair<std::string, std::string>, Group> groups;
  bool damaged = false, differs = false;
  for (const std::string& path : *paths) {
    const absl::StatusOr<RegressionCase> c = ReadCase(path);
    if (!c.ok()) {
      console.Warn(std::string(c.status().message()));
      damaged = true;
      continue;
    }
    for (const auto& [device, answers] : AnswersIn(*c)) {
      Group& group = groups[{c->op->name, device}];
      group.op = c->op;
      group.device = device;
      group.Add(*c, answers);
    }
  }
  for (const auto& [key, group] : groups) {
    const Operation& op = *group.op;
    Diagnosis diagnosis;
    diagnosis.observed = group.answers;
    std::string text =
        absl::StrCat(op.name, "\ndevice ", group.device, ", ", group.cases, " cases\n");
    if (group.answers.empty()) {
      differs = true;
      absl::StrAppend(&text, "no answers that repeat\n");
    } else if (Explains(op, op.model, group.answers)) {
      absl::StrAppend(&text, "the model gives all ", group.answers.size(), " answers\n");
    } else {
      differs = true;
      diagnosis = OfStored(op, group.answers, group.buckets.begin()->first);
      absl::StrAppend(&text, "of the stored answers alone: ", diagnosis.Text(), "\n");
    }
    nlohmann::ordered_json buckets = nlohmann::ordered_json::array();
    for (const auto& [bucket, answers] : group.buckets) {
      absl::StrAppend(&text, BucketLine(op, bucket, answers));
      buckets.push_back({{"bucket", bucket},
                         {"answers", answers.size()},
                         {"missed", Missed(op, bucket, answers)}});
    }
    json.push_back(Json(op, group.device, diagnosis));
    json.back().update({{"cases", group.cases}, {"buckets", buckets}});
    if (!globals.json) console.Print(text);
  }
  if (globals.json) console.Print(JsonText(json, 1) + "\n");
  if (damaged) return kDamaged;
  if (groups.empty()) console.Warn(absl::StrCat(folder, ": no case with an answer of a device"));
  return differs ? kMismatch : groups.empty() ? kInternal : kClean;
}

// Answers of the other cases of the same finding: of the same operation, device and bucket beside
// it.
absl::StatusOr<std::vector<Observed>> OfSameFinding(const std::string& path, const Subject& s,
                                                    Console& console, std::string& bucket,
                                                    bool& damaged) {
  std::vector<Observed> all;
  const absl::StatusOr<RegressionCase> own = ReadCase(path);
  if (!own.ok()) return own.status();
  if (own->signature.empty()) return all;
  bucket = own->signature;
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const auto paths = ListCases(folder.empty() ? "." : folder);
  if (!paths.ok()) return paths.status();
  for (const std::string& other : *paths) {
    const std::string prefix = absl::StrCat(own->slug, "-");
    if (!absl::StartsWith(std::filesystem::path(other).filename().string(), prefix)) continue;
    std::error_code error;
    if (std::filesystem::equivalent(path, other, error)) continue;
    const absl::StatusOr<RegressionCase> c = ReadCase(other);
    if (!c.ok()) {
      console.Warn(std::string(c.status().message()));
      damaged = true;
      continue;
    }
    if (c->op != s.mismatch.op || c->signature != own->signature) continue;
    const std::vector<Observed> answers = AnswersIn(*c)[s.device_name];
    all.insert(all.end(), answers.begin(), answers.end());
  }
  return all;
}

// The changes that give this answer, those that give all answers of its finding first.
Diagnosis DiagnosisOf(const Operation& op, const Observed& observed, const Diagnosis& finding) {
  Diagnosis d = DiagnosisOfAnswer(op, observed);
  const auto in_finding = [&](const Neighbour& n) {
    return std::any_of(finding.changes.begin(), finding.changes.end(),
                       [&](const Neighbour& f) { return f.algorithm == n.algorithm; });
  };
  std::stable_partition(d.changes.begin(), d.changes.end(), in_finding);
  if (!finding.changes.empty() && (d.changes.empty() || !in_finding(d.changes.front()))) {
    d.changes.insert(d.changes.begin(), finding.changes.front());
  }
  return d;
}

// Which changes give this answer and not all of the finding's.
std::string RefutedText(const Operation& op, const Diagnosis& of_answer,
                        const std::vector<Observed>& answers) {
  std::string text;
  int more = -kMostNamed;
  for (const Neighbour& n : of_answer.changes) {
    if (Explains(op, WithAlgorithm(op, n.algorithm), answers)) continue;
    if (++more > 0) continue;
    absl::StrAppend(&text, text.empty() ? "Refuted by other answers of this finding: " : ", ",
                    n.name);
  }
  if (more > 0) absl::StrAppend(&text, " and ", more, " more");
  return text.empty() ? text : text + ".\n";
}

int RunExplain(const std::string& argument, const std::string& device_spec,
               const Globals& globals) {
  Console console = globals.MakeConsole();
  std::error_code error;
  if (std::filesystem::is_directory(argument, error)) {
    if (device_spec.empty()) return ExplainFolder(argument, globals);
    return Fail(absl::InvalidArgumentError(absl::StrCat(
        argument, ": a folder is explained from its stored answers; --device takes one case")));
  }
  std::unique_ptr<Device> device;
  if (!device_spec.empty() || LooksLikeCaseName(argument)) {
    DeviceOr opened = OpenDeviceAndWarn(device_spec.empty() ? "auto" : device_spec, console);
    if (!opened.ok()) return Fail(opened.status());
    device = *std::move(opened);
  }
  const absl::StatusOr<Subject> s = LoadSubject(argument, device.get());
  if (!s.ok()) return Fail(s.status());
  const Operation& op = *s->mismatch.op;
  std::vector<Observed> observed = ObservedResults(s->mismatch);
  std::string text =
      absl::StrCat(op.name, "  ", Describe(op.model.algorithm), "\ndevice ", s->device_name, ", ",
                   s->differing.size(), " of ", observed.size(), " results differ\n");
  std::vector<Observed> answers = observed;
  std::string stored;  // bucket
  bool damaged = false;
  if (!LooksLikeCaseName(argument) && device == nullptr) {
    const auto others = OfSameFinding(argument, *s, console, stored, damaged);
    if (!others.ok()) return Fail(others.status());
    answers.insert(answers.end(), others->begin(), others->end());
  }
  if (s->differing.empty() && Explains(op, op.model, answers)) {
    Diagnosis none;
    none.observed = answers;
    console.Print(globals.json ? JsonText(Json(op, s->device_name, none), 1) + "\n"
                               : absl::StrCat(text, ExplainText(op, observed[0], Diagnosis{},
                                                                console.color())));
    return damaged ? kDamaged : kClean;
  }
  const int code = damaged ? kDamaged : s->differing.empty() ? kClean : kMismatch;
  const Diagnosis finding = OfStored(op, answers, stored);
  const std::string bucket = stored.empty() ? finding.Bucket(op) : stored;
  if (globals.json) {
    nlohmann::ordered_json json = Json(op, s->device_name, finding);
    json.update({{"bucket", bucket}, {"results", observed.size()}, {"differing", s->differing}});
    console.Print(JsonText(json, 1) + "\n");
    return code;
  }
  const int64_t element = ElementInBucket(op, observed, bucket);
  if (!s->differing.empty()) {
    absl::StrAppend(&text, DescribeDifference(*op.instruction->d, s->mismatch.model[element],
                                              s->mismatch.device[element], console.color()));
  }
  absl::StrAppend(&text, "bucket ", bucket, "\n",
                  stored.empty() ? "" : "of the stored answers alone: ", finding.Text(), "\n");
  const Diagnosis of_answer = DiagnosisOf(op, observed[element], finding);
  absl::StrAppend(&text, ExplainText(op, observed[element], of_answer, console.color()),
                  RefutedText(op, of_answer, answers));
  console.Print(text);
  return code;
}

}  // namespace

std::function<int()> AddExplain(CLI::App& command, const Globals& globals) {
  struct Flags {
    std::string subject, device;
  };
  const auto flags = std::make_shared<Flags>();
  command
      .add_option("case", flags->subject,
                  "a filed case (*.txtpb), with those of the same finding beside it; a folder of "
                  "them; a case name")
      ->required();
  command.add_option("--device", flags->device,
                     "ask this device instead of the answer in the file [auto for a case name]");
  return [flags, &globals] { return RunExplain(flags->subject, flags->device, globals); };
}

}  // namespace mmadiff

// mmadiff explain: one mismatch stage by stage, beside the changes of the model that reproduce it;
// or all filed cases of a folder together.
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "device/line_protocol.h"
#include "fuzz/case_json.h"
#include "fuzz/cases/case_name.h"
#include "fuzz/cli/cli.h"
#include "fuzz/explainer.h"
#include "fuzz/json_text.h"
#include "fuzz/next_command.h"
#include "triage/case_text.h"
#include "triage/explain_text.h"
#include "triage/stage_table.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

constexpr size_t kMostNamed = 12;  // refuted changes

std::string BucketLine(const ExplainedBucket& b) {
  return absl::StrCat("  ", b.name, ": ", b.answers, " answers, of which ",
                      b.named ? "the change that it names" : "the model", " misses ", b.missed,
                      "\n");
}

nlohmann::ordered_json Json(const Operation& op, const std::string& device, const Diagnosis& d) {
  nlohmann::ordered_json changes = nlohmann::ordered_json::array();
  for (const Neighbour& n : d.changes) changes.push_back(ChangeJson(n.name));
  return {
      {"instruction", op.name},     {"parameters", ParametersJson(Describe(op.model.algorithm))},
      {"device", device},           {"answers", d.observed.size()},
      {"changes", changes},         {"nearest", ChangeJson(d.nearest.name)},
      {"nearest_misses", d.missed}, {"single_changes_tried", d.singles},
      {"pairs_tried", d.pairs}};
}

nlohmann::ordered_json StagesJson(const StageTable& table) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const StageTable::Row& row : table.rows) {
    rows.push_back({{"stage", row.name}, {"values", row.values}, {"differs_first", row.parts}});
  }
  return {{"columns", table.columns}, {"rows", rows}};
}

std::string GroupText(const ExplainedGroup& group) {
  const size_t answers = group.diagnosis.observed.size();
  std::string text =
      absl::StrCat(group.op->name, "\ndevice ", group.device, ", ", group.cases, " cases\n");
  if (answers == 0) {
    absl::StrAppend(&text, "no answers that repeat\n");
  } else if (group.agrees) {
    absl::StrAppend(&text, "the model gives all ", answers, " answers\n");
  } else {
    absl::StrAppend(&text, "of the stored answers alone: ", group.diagnosis.Text(), "\n");
  }
  for (const ExplainedBucket& bucket : group.buckets) absl::StrAppend(&text, BucketLine(bucket));
  return text;
}

int RunFolder(const std::string& folder, const Globals& globals) {
  Console console = globals.MakeConsole();
  const absl::StatusOr<ExplainedFolder> explained = ExplainFolder(folder, console);
  if (!explained.ok()) return Fail(explained.status());
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  bool differs = false;
  for (const ExplainedGroup& group : explained->groups) {
    differs |= !group.agrees;
    nlohmann::ordered_json buckets = nlohmann::ordered_json::array();
    for (const ExplainedBucket& b : group.buckets) {
      buckets.push_back({{"bucket", b.name}, {"answers", b.answers}, {"missed", b.missed}});
    }
    json.push_back(Json(*group.op, group.device, group.diagnosis));
    json.back().update({{"cases", group.cases}, {"buckets", buckets}});
    if (!globals.json) console.Print(Wrap(GroupText(group), console.style().width, 2));
  }
  if (globals.json) console.Print(JsonText(json, 1) + "\n");
  if (explained->damaged) return kDamaged;
  if (differs) return kMismatch;
  if (!explained->groups.empty()) return kClean;
  if (explained->recordings) {
    return Fail(absl::InvalidArgumentError(
        absl::StrCat(folder, ": recorded answers, no filed cases; `", Program(), " replay ",
                     ShellWord(folder), "` holds them against the model")));
  }
  console.Warn(absl::StrCat(folder, ": no case with an answer of a device"));
  return kInternal;
}

std::string RefutedText(const std::vector<std::string>& refuted) {
  std::string text;
  for (size_t i = 0; i < std::min(kMostNamed, refuted.size()); ++i) {
    absl::StrAppend(&text, i == 0 ? "Refuted by other answers of this finding: " : ", ",
                    refuted[i]);
  }
  if (refuted.size() > kMostNamed) {
    absl::StrAppend(&text, " and ", refuted.size() - kMostNamed, " more");
  }
  return text.empty() ? text : text + ".\n";
}

std::string ExplainedText(const ExplainedCase& e, const TextStyle& style) {
  const Mismatch& m = e.subject.mismatch;
  const Operation& op = *m.op;
  const Observed& observed = e.observed[e.element];
  std::string text =
      absl::StrCat(Wrap(absl::StrCat(op.name, "  ", Describe(op.model.algorithm), "\ndevice ",
                                     e.subject.device_name, ", ", e.subject.differing.size(),
                                     " of ", e.observed.size(), " results differ\n"),
                        style.width, 2),
                   CaseText(op, observed.dot, 2, style.width));
  if (!e.subject.differing.empty()) {
    absl::StrAppend(&text, DescribeDifference(*op.instruction->d, m.model[e.element],
                                              m.device[e.element], style));
  }
  if (!e.agrees) {
    absl::StrAppend(&text, Wrap(absl::StrCat("bucket ", e.bucket, "\n",
                                             e.stored ? "of the stored answers alone: " : "",
                                             e.diagnosis.Text(), "\n"),
                                style.width, 2));
  }
  return absl::StrCat(text, ExplainText(op, observed, e.of_answer, style),
                      Wrap(RefutedText(e.refuted), style.width, 2));
}

std::string CaseJson(const ExplainedCase& e) {
  const Operation& op = *e.subject.mismatch.op;
  const Observed& observed = e.observed[e.element];
  const StageTable stages = MakeStageTable(op, e.of_answer.changes, observed.dot);
  nlohmann::ordered_json json = Json(op, e.subject.device_name, e.diagnosis);
  json.update({{"agrees", e.agrees},
               {"bucket", e.bucket},
               {"results", e.observed.size()},
               {"differing", e.subject.differing},
               {"element", e.element},
               {"dot_product", DotProductJson(*op.instruction, observed.dot, observed.d)},
               {"model", HexWord(*op.instruction->d, stages.results.front())},
               {"stages", StagesJson(stages)},
               {"refuted", e.refuted}});
  return JsonText(json, 1) + "\n";
}

int RunExplain(const std::string& argument, const std::string& device_spec,
               const Globals& globals) {
  Console console = globals.MakeConsole();
  std::error_code error;
  if (std::filesystem::is_directory(argument, error)) {
    if (device_spec.empty()) return RunFolder(argument, globals);
    return Fail(absl::InvalidArgumentError(absl::StrCat(
        argument, ": a folder is explained from its stored answers; --device takes one case")));
  }
  std::unique_ptr<Device> device;
  if (!device_spec.empty() || LooksLikeCaseName(argument)) {
    DeviceOr opened = OpenDeviceAndWarn(device_spec.empty() ? "auto" : device_spec, console);
    if (!opened.ok()) return Fail(opened.status());
    device = *std::move(opened);
  }
  const absl::StatusOr<ExplainedCase> e = ExplainCase(argument, device.get(), console);
  if (!e.ok()) return Fail(e.status());
  console.Print(globals.json ? CaseJson(*e) : ExplainedText(*e, console.style()));
  if (e->damaged) return kDamaged;
  return e->subject.differing.empty() ? kClean : kMismatch;
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
  AddDevice(command, flags->device,
            "ask this device instead of the answer in the file [auto for a case name]");
  return [flags, &globals] { return RunExplain(flags->subject, flags->device, globals); };
}

}  // namespace mmadiff

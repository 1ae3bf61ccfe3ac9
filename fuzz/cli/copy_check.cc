#include "fuzz/cli/copy_check.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "fuzz/output/progress.h"
#include "sim/pattern.h"

namespace mmadiff {
namespace {

struct CheckResult {
  std::string device;
  std::vector<CopyRow> rows;
  int64_t cases = 0, bytes = 0, mismatches = 0;
};

struct ShownRow {
  const CopyRow& row;
};

Fields<ShownRow> FieldsOf(const ShownRow*) {
  using R = ShownRow;
  const auto first = [](auto member) {
    return [member](const R& r) {
      using T = std::remove_cvref_t<decltype(std::declval<CopyFinding>().*member)>;
      return r.row.first.has_value() ? std::optional<T>(*r.row.first.*member) : std::nullopt;
    };
  };
  return {
      {"form", [](const R& r) { return r.row.form; }, "architecture and form"},
      {"cases", [](const R& r) { return r.row.cases; }},
      {"bytes", [](const R& r) { return r.row.bytes; }, "promised and compared bytes"},
      {"mismatches", [](const R& r) { return r.row.mismatches; }, "number of differing cases"},
      {"case", first(&CopyFinding::name), Absent({.what = "first differing case"})},
      {"minimized", first(&CopyFinding::minimized),
       Absent({.what = "fields of the simplest copy on which the device differs"})},
      {"where", first(&CopyFinding::where), Absent(Prose("the mismatch of that copy"))},
      {"explanations", first(&CopyFinding::explanations),
       Absent({.what = "changes of the model that reproduce the device's bytes in all cases"})},
  };
}

Fields<CheckResult> FieldsOf(const CheckResult*) {
  using R = CheckResult;
  return {
      {"device", &R::device},
      {"forms",
       [](const R& r) {
         std::vector<ShownRow> rows;
         for (const CopyRow& row : r.rows) rows.push_back({row});
         return rows;
       }},
      {"cases", &R::cases},
      {"bytes", &R::bytes, "promised and compared bytes"},
      {"mismatches", &R::mismatches, "number of differing cases"},
  };
}

std::string Text(const CheckResult& r) {
  std::string text;
  for (const CopyRow& row : r.rows) {
    if (!row.first.has_value()) continue;
    const CopyFinding& f = *row.first;
    absl::StrAppend(&text, row.form, ": mismatches in ", row.mismatches, " of ",
                    CountText(row.cases, "case"), "\n");
    if (!f.name.empty()) absl::StrAppend(&text, "  first      ", f.name, "\n");
    absl::StrAppend(&text, "  minimized  mmadiff copy ", row.form);
    for (const std::string& field : SplitWords(f.minimized)) absl::StrAppend(&text, " --", field);
    absl::StrAppend(
        &text, "\n  mismatch   ", f.where, "\n  as with    ",
        f.explanations.empty() ? "no change of the model" : absl::StrJoin(f.explanations, ", "),
        "\n");
  }
  absl::StrAppend(&text, r.cases - r.mismatches, " of ", CountText(r.cases, "case"), " of ",
                  CountText(r.rows.size(), "form"), " equal the model's; bytes compared: ", r.bytes,
                  "\n");
  return text;
}

}  // namespace

absl::StatusOr<std::vector<CopyTask>> TasksOf(const std::string& globs, uint64_t seed,
                                              int64_t cases) {
  std::vector<CopyTask> tasks;
  for (const char* arch : CopyArchitectures()) {
    for (const CopyForm& form : CopyForms()) {
      if (!MatchesAny(globs, absl::StrCat(arch, "/", form.name))) continue;
      for (const std::string& native : SplitWords(form.native_on)) {
        if (native == arch) tasks.push_back({arch, &form, seed, cases, std::nullopt});
      }
    }
  }
  if (tasks.empty()) {
    return absl::NotFoundError(absl::StrCat("no form of a tensor copy matches ", globs));
  }
  return tasks;
}

void RunCopyCheck(const std::string& specification, const std::vector<CopyTask>& tasks,
                  Call& call) {
  const CopyDeviceOr device = OpenCopyDevice(specification);
  if (!device.ok()) return call.Say(device.status());
  CheckResult result = {.device = (*device)->name(), .rows = {}};
  for (const CopyTask& task : tasks) {
    const auto row = CheckCopies(**device, task);
    if (!row.ok()) return call.Say(row.status());
    result.rows.push_back(*row);
    result.cases += row->cases;
    result.bytes += row->bytes;
    result.mismatches += row->mismatches;
  }
  if (result.bytes == 0) call.Say(Verdict::kNothing, "no byte was compared");
  if (result.mismatches > 0) call.Say(Verdict::kDiffers);
  call.Print(result, [&] { return Text(result); });
}

Schema CopyCheckSchema() { return SchemaOf<CheckResult>(); }

}  // namespace mmadiff

#include "fuzz/replay/replay_unmodelled.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "corpus/cases/case_name.h"
#include "corpus/hex.h"
#include "device/line_protocol.h"
#include "device/plain_text.h"
#include "device/status_macros.h"

namespace mmadiff {

absl::Status UnmodelledReplay::Compare(const Recording& recording) {
  const Operation& op = *recording.op;
  outcome_.unmodelled += recording.d.size();
  outcome_.unmodelled_ops.insert(op.name);
  if (device_ == nullptr || device_->Dropped(op)) return absl::OkStatus();
  if (device_->Lacks(op)) {
    ++outcome_.unsupported;
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const Batch inputs, InputsOf(recording));
  const auto d = device_->device().Run(op, inputs);
  if (device_->Drops(op, d.status())) return absl::OkStatus();
  if (!d.ok()) return d.status();
  outcome_.repeated += d->size();
  std::optional<ReplayReport> first;
  for (size_t i = 0; i < d->size(); ++i) {
    if ((*d)[i] == recording.d[i]) continue;
    ++outcome_.changed;
    if (first.has_value()) continue;
    const auto element = static_cast<int64_t>(i);
    const Format& f = *op.instruction->d;
    const std::string recorded = HexWord(f, recording.d[i]);
    const std::string by = PlainLine(recording.identity), now = device_->device().name();
    const size_t width = style_.width;
    first = ReportCase(
        {.kind = "changed",
         .op = &op,
         .where = WhereOf(recording, element),
         .device = now,
         .dot = Extract(inputs, element),
         .d = (*d)[i],
         .recorded = recorded,
         .recorded_by = by},
        Labelled("  recorded   ", absl::StrCat(recorded, "  ", by), width) +
            Labelled("  now        ", absl::StrCat(HexWord(f, (*d)[i]), "  ", now), width),
        style_);
  }
  Add(Name(recording.where), first);
  return absl::OkStatus();
}

absl::Status UnmodelledReplay::Compare(const RecomputedUnit& unit) {
  const Operation& op = *unit.stream.op;
  ++outcome_.unmodelled_units;
  outcome_.unmodelled_ops.insert(op.name);
  if (device_ == nullptr || device_->Dropped(op)) return absl::OkStatus();
  if (device_->Lacks(op)) {
    ++outcome_.unsupported_units;
    return absl::OkStatus();
  }
  const absl::StatusOr<Digest> digest = device_->DigestOf(unit).front();
  if (device_->Drops(op, digest.status())) return absl::OkStatus();
  if (!digest.ok()) return digest.status();
  ++outcome_.repeated_units;
  const std::string cases =
      absl::StrCat(FormatCaseName({unit.stream, unit.first}), " to ", unit.first + unit.cases - 1);
  if (*digest == unit.recorded) {
    Add(cases, std::nullopt);
    return absl::OkStatus();
  }
  ++outcome_.changed_units;
  const std::string by = PlainLine(unit.identity), now = device_->device().name();
  Add(cases,
      ReplayReport{Wrap(absl::StrCat("CHANGED DIGEST ", cases, "\n  recorded  ", Hex(unit.recorded),
                                     "  ", by, "\n  now       ", Hex(*digest), "  ", now, "\n"),
                        style_.width, 2),
                   {.kind = "changed",
                    .op = &op,
                    .where = cases,
                    .device = now,
                    .digest = Hex(*digest),
                    .recorded = Hex(unit.recorded),
                    .recorded_by = by}});
  return absl::OkStatus();
}

// `difference`: the first, if there is one.
void UnmodelledReplay::Add(const std::string& where,
                           const std::optional<ReplayReport>& difference) {
  if (difference.has_value()) reports_.Add(*difference);
  if (!test_results_) return;
  outcome_.test_results.push_back({absl::StrCat(where, " again by ", device_->device().name()),
                                   difference.has_value() ? difference->text : ""});
}

}  // namespace mmadiff

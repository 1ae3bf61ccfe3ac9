#include "fuzz/replay_unmodelled.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "device/line_protocol.h"
#include "device/plain_text.h"
#include "fuzz/cases/case_name.h"
#include "fuzz/report.h"

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
  const absl::StatusOr<Batch> inputs = InputsOf(recording);
  if (!inputs.ok()) return inputs.status();
  const auto d = device_->device().Run(op, *inputs);
  if (device_->Drops(op, d.status())) return absl::OkStatus();
  if (!d.ok()) return d.status();
  outcome_.repeated += d->size();
  std::string first;
  for (size_t i = 0; i < d->size(); ++i) {
    if ((*d)[i] == recording.d[i]) continue;
    ++outcome_.changed;
    if (!first.empty()) continue;
    const auto element = static_cast<int64_t>(i);
    const Format& f = *op.instruction->d;
    first =
        absl::StrCat(op.name, "  ", WhereOf(recording, element), "\n  operands   ",
                     FormatLine(*op.instruction, Extract(*inputs, element)), "\n  recorded   ",
                     HexWord(f, recording.d[i]), "  ", PlainLine(recording.identity),
                     "\n  now        ", HexWord(f, (*d)[i]), "  ", device_->device().name(), "\n");
  }
  Add(recording.where, first);
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
  const auto digest = device_->engine().AnswerDigest(unit.stream, unit.first, unit.cases);
  if (device_->Drops(op, digest.status())) return absl::OkStatus();
  if (!digest.ok()) return digest.status();
  ++outcome_.repeated_units;
  const bool equal = *digest == unit.recorded;
  outcome_.changed_units += !equal;
  const std::string cases =
      absl::StrCat(FormatCaseName({unit.stream, unit.first}), " to ", unit.first + unit.cases - 1);
  Add(cases, equal ? ""
                   : absl::StrCat("DIGEST ", cases, "\n  recorded  ", Hex(unit.recorded), "  ",
                                  PlainLine(unit.identity), "\n  now       ", Hex(*digest), "  ",
                                  device_->device().name(), "\n"));
  return absl::OkStatus();
}

// `difference`: the first; "" if there is none.
void UnmodelledReplay::Add(const std::string& where, const std::string& difference) {
  if (!difference.empty()) reports_.Add("CHANGED " + difference);
  if (!test_results_) return;
  outcome_.test_results.push_back(
      {absl::StrCat(where, " again by ", device_->device().name()), difference});
}

}  // namespace mmadiff

#include "fuzz/ask/inferrer.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "corpus/recordings/recording.h"
#include "corpus/utc_time.h"
#include "device/status_macros.h"
#include "fuzz/ask/answer_file.h"
#include "sim/described_format.h"
#include "sim/format.h"
#include "sim/quoted_name.h"
#include "sim/unlisted.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

constexpr size_t kMaxRecorded = 20000;    // dot products in the first search, spread over all
constexpr size_t kAddedOfRecording = 64;  // mismatches added for the next search
constexpr int kRounds = 20;

// The name of a format, which need not have a sign if it is `any`. `where` is the flag and the
// column in it at which `typed` begins.
struct Where {
  const char* flag;
  size_t column = 1;
};
absl::StatusOr<std::string> FormatOf(const std::string& typed, bool any, Where where) {
  const auto error = [&](size_t column, const auto&... what) {
    return absl::InvalidArgumentError(
        absl::StrCat(where.flag, ", column ", where.column + column - 1, ": ", what...));
  };
  std::vector<std::string> meant = QuotedFormats(typed);
  if (meant.empty()) {
    FormatError wrong;
    const Format* const described = DescribedFormat(typed, &wrong);
    if (described == nullptr) {
      return error(wrong.column, "'", absl::CHexEscape(typed), "' is not a format: ", wrong.what,
                   "; `mmadiff list formats` lists the formats that have names");
    }
    meant = {described->name};
  }
  if (meant.size() > 1) {
    return error(1, "'", typed, "' may mean ", absl::StrJoin(meant, ", "), "; write one of them");
  }
  const Format* const format = FindFormat(meant[0]);
  if (any || IsInteger(*format) || format->is_signed) return meant[0];
  return error(1, meant[0], " has no sign and is only for scales (--scale)");
}

// Calls `visit` with each recorded dot product of the operation and its number.
absl::Status ForEachRecorded(
    const std::string& path, const Operation& op,
    absl::FunctionRef<void(const Batch&, const std::vector<uint64_t>&)> visit) {
  const auto stats = ReadRecordings(path, op.name, [&](const Recording& r) -> absl::Status {
    if (r.op->name != op.name) return absl::OkStatus();
    ASSIGN_OR_RETURN(const Batch inputs, InputsOf(r));
    visit(inputs, r.d);
    return absl::OkStatus();
  });
  return stats.ok() ? CheckWhole(path, *stats) : stats.status();
}

}  // namespace

absl::StatusOr<const Operation*> UnlistedOperation(const std::string& formats, int k,
                                                   const std::string& scale) {
  std::vector<std::string> of = absl::StrSplit(formats, ',');
  if (of.size() != 4) {
    return absl::InvalidArgumentError(
        "--formats takes the formats of a, b, c and d, such as f16,f16,f32,f32; f16,f16,-,f32 has "
        "no "
        "addend, and f32,-,-,e4m3 is a conversion");
  }
  if (k < 1 || k > kMaxK) {
    return absl::InvalidArgumentError(absl::StrCat("--formats needs --k, 1 to ", kMaxK));
  }
  const bool absent = std::ranges::count(of, kAbsent.name) > 0;
  const bool conversion = std::ranges::count(of, kAbsent.name) > 1;
  size_t column = 1;
  for (std::string& name : of) {
    const Where where = {"--formats", column};
    column += name.size() + 1;
    if (name == kAbsent.name) continue;
    ASSIGN_OR_RETURN(name, FormatOf(name, conversion, where));
  }
  std::string name = absl::StrCat("unlisted/k", k, ".", of[3], ".", of[0], ".", of[1], ".", of[2]);
  if (FindUnlisted(name) == nullptr) {
    return absl::InvalidArgumentError(
        absent ? "only c can be absent, as in --formats=A,B,-,D, or both b and c of a conversion "
                 "between floating-point formats: --formats=A,-,-,D --k=1"
               : "--formats cannot mix integers and floating point");
  }
  if (!scale.empty()) {
    const std::pair<std::string, std::string> parts = absl::StrSplit(scale, ':');
    ASSIGN_OR_RETURN(const std::string format, FormatOf(parts.first, true, {"--scale"}));
    absl::StrAppend(&name, ".", format, ".", parts.second);
  }
  if (const Operation* op = FindUnlisted(name)) return op;
  return absl::InvalidArgumentError(
      "--scale takes FORMAT:BLOCK, such as ue8m0:32; BLOCK divides k; integers have no scales");
}

absl::StatusOr<Inference> InferFromRecording(const std::string& path, Device& device,
                                             const Operation& op) {
  uint64_t all = 0;
  absl::Status s = ForEachRecorded(
      path, op, [&](const Batch& inputs, const auto&) { all += inputs.dot_products(); });
  RETURN_IF_ERROR(s);
  if (all == 0) return absl::NotFoundError(absl::StrCat(path, " has no answers for ", op.name));
  const uint64_t every = all / kMaxRecorded + 1;
  std::vector<ExperimentAnswer> answers;
  uint64_t number = 0;
  s = ForEachRecorded(path, op, [&](const Batch& inputs, const std::vector<uint64_t>& d) {
    for (int64_t i = 0; i < inputs.dot_products(); ++i, ++number) {
      if (number % every == 0) answers.push_back({{Extract(inputs, i), d[i]}, "recorded"});
    }
  });
  RETURN_IF_ERROR(s);
  for (int round = 0;; ++round) {
    Inference inference = InferFrom(device, op, answers);
    if (!inference.algorithm || every == 1) return inference;
    const Model model = WithAlgorithm(op, *inference.algorithm);
    size_t added = 0;
    Comparison compared;
    s = ForEachRecorded(path, op, [&](const Batch& inputs, const std::vector<uint64_t>& d) {
      Compare(op, model, inputs, d, compared);
      for (const int64_t i : compared.differing) {
        if (added++ < kAddedOfRecording)
          answers.push_back({{Extract(inputs, i), d[i]}, "recorded"});
      }
    });
    RETURN_IF_ERROR(s);
    inference.validated = all;
    if (added == 0) return inference;
    if (round >= kRounds) {
      inference.nearest = {*inference.algorithm, added};
      inference.algorithm.reset();
      return inference;
    }
  }
}

InferAgenda::InferAgenda(std::vector<const Operation*> ops, std::string recording,
                         InferOptions options, Console& console, Found found)
    : ops_(std::move(ops)),
      recording_(std::move(recording)),
      options_(std::move(options)),
      console_(console),
      found_(std::move(found)) {}

std::optional<Task> InferAgenda::Next(absl::Duration) {
  if (next_ == ops_.size()) return std::nullopt;
  const Operation* op = ops_[next_];
  console_.Status(absl::StrCat("inferring ", op->name), false);
  InferTask task = {op, options_, recording_};
  task.options.progress = [this, op](const std::string& what) {
    console_.Status(absl::StrCat(op->name, ": ", what), false);
  };
  return Task{next_++, std::move(task)};
}

absl::StatusOr<std::vector<Task>> InferAgenda::Take(TaskResult result) {
  const auto& inference = std::get<Inference>(result.answer);
  cancelled_ |= absl::IsCancelled(result.status);
  if (inference.status == result.status) {  // else it has no recording
    RETURN_IF_ERROR(found_(result.task.op(), inference));
  }
  return std::vector<Task>();
}

absl::Status FileInference(const std::string& folder, Device& device, const Operation& op,
                           const Inference& inference) {
  AnswerFile file(op, device, UtcNow());
  std::vector<ExperimentAnswer> answers = inference.answers;
  if (inference.refuting) answers.push_back({*inference.refuting, "refuting"});
  for (size_t first = 0; first < answers.size();) {
    const std::string& experiment = answers[first].experiment;
    std::vector<Observed> observed;
    for (; first < answers.size() && answers[first].experiment == experiment; ++first) {
      observed.push_back(answers[first].observed);
    }
    file.Add(experiment, "", observed);
  }
  for (const DotProductCase& dot : inference.flaky_cases) file.AddNotRepeated(dot);
  RETURN_IF_ERROR(file.Write(folder));
  if (inference.algorithm) {
    RETURN_IF_ERROR(file.WriteModel(folder, WithAlgorithm(op, *inference.algorithm)));
  }
  if (!inference.refuting) return absl::OkStatus();
  return file.WriteRefuting(
      folder, *inference.refuting, "infer",
      "no algorithm of any family reproduces all answers; the nearest does not reproduce this one",
      "mmadiff infer");
}

}  // namespace mmadiff

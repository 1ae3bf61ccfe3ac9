#include "fuzz/unit/unit_runner.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "device/clock.h"
#include "device/status_macros.h"
#include "fuzz/unit/digest.h"
#include "fuzz/unit/digest_sum.h"
#include "fuzz/unit/events.h"
#include "sim/simulate.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

// Small enough for a core's cache, large enough to amortize the cost of a batch.
constexpr uint64_t kBatchDotProducts = 8192;
constexpr int64_t kDigestDotProducts = 1 << 16;  // a launch of a GPU costs more

// Whether the device's answers before this error can be trusted.
bool KeepsAnswers(const absl::Status& status) {
  return absl::IsCancelled(status) || absl::IsUnavailable(status) ||
         absl::IsDeadlineExceeded(status);
}

Batch DotProductsOf(const Batch& batch, int64_t begin, int64_t end) {
  std::vector<DotProductCase> dots;
  for (int64_t i = begin; i < end; ++i) dots.push_back(Extract(batch, i));
  return MakeDotProductBatch(batch.shape, dots);
}

// `first`: the number of the first word among those of all cases.
Digest DigestOfWords(const Operation& op, uint64_t first, std::span<const uint64_t> d) {
  const bool any_nan = op.numerics->nan_verdict == NanVerdict::kAnyNan;
  return SumOfHashes(d, first, any_nan ? NanTest(op.model.d) : NanTest());
}

}  // namespace

Digest DigestOf(const Operation& op, const Batch& batch, std::span<const uint64_t> d) {
  return DigestOfWords(op, batch.first * batch.shape.d_words(), d);
}

absl::Status AskAll(Device& device, const Operation& op, const Batch& batch, Answers& answers) {
  absl::Status s = device.Ask(op, batch, answers);
  while (s.ok() && answers.size() < batch.dot_products()) {
    Answers rest;
    s = device.Ask(op, DotProductsOf(batch, answers.size(), batch.dot_products()), rest);
    answers.Append(std::move(rest));
  }
  CountFailures(op, batch, answers);
  return s;
}

absl::StatusOr<Digest> AnswerDigest(const CaseStream& stream, uint64_t first, uint64_t count,
                                    Device* device) {
  const Operation& op = *stream.op;
  const uint64_t per_batch =
      std::max(1, static_cast<int>(kDigestDotProducts) / op.shape().d_words());
  Digest digest = 0;
  Batch batch;
  for (uint64_t done = 0; done < count; done += batch.count) {
    Generate(stream, first + done, std::min(per_batch, count - done), batch);
    Answers answers;
    absl::Status s;
    if (device == nullptr) {
      answers.d.resize(batch.dot_products());
      Simulate(op.model, batch, answers.d);
    } else {
      s = IsModelled(op) ? AskAll(*device, op, batch, answers) : device->Run(op, batch, answers.d);
    }
    RETURN_IF_ERROR(s);
    digest += DigestOf(op, batch, answers.d);
  }
  return digest;
}

void CountClasses(const CaseStream& stream, uint64_t first, uint64_t count, UnitResult& result) {
  const uint64_t period = stream.class_period();
  for (uint64_t i = 0; i < std::min(period, count); ++i) {
    result.counts[absl::StrCat("class.", stream.class_of(first + i).name)] +=
        (count - i + period - 1) / period;
  }
}

uint64_t UnitRunner::BatchCases(const Operation& op) {
  return std::max<uint64_t>(1, kBatchDotProducts / op.shape().d_words());
}

void Pace::Add(int64_t dot_products, absl::Duration time) {
  constexpr int64_t kGrowth = 128;
  const double in_part = static_cast<double>(dot_products) * absl::FDivDuration(kPart, time);
  most_ = static_cast<int64_t>(
      std::clamp<double>(in_part, 1, kGrowth * std::max<int64_t>(1, dot_products)));
  most_ = std::min<int64_t>(most_, kBatchDotProducts);
}

absl::StatusOr<uint64_t> UnitRunner::Run(uint64_t first, uint64_t count, UnitResult& result,
                                         OnMismatch found) {
  const uint64_t per_batch = BatchCases(*stream_.op), end = first + count;
  Next next = Next::kGoOn;
  const auto note = [&](const CaseName& name, const Mismatch& mismatch) {
    return next = std::max(next, found(name, mismatch));
  };
  const auto begun = MonotonicNow();
  const auto part_ends = [&] { return pace_ != nullptr && MonotonicNow() - begun >= Pace::kPart; };
  const uint64_t answered = result.dot_products;
  uint64_t at = first;
  while (at < end && next == Next::kGoOn && !(result.dot_products > answered && part_ends())) {
    if (device_.StopRequested()) return absl::CancelledError("stopped");
    const uint64_t before = result.cases;
    const auto n = static_cast<int64_t>(std::min(per_batch, end - at));
    RETURN_IF_ERROR(RunBatch(at, n, result, note));
    at += result.cases - before;
  }
  return at;
}

absl::Status UnitRunner::RunBatch(uint64_t first, int64_t count, UnitResult& result,
                                  OnMismatch found) {
  const int64_t words = stream_.op->shape().d_words();
  const auto offset = static_cast<int64_t>(result.dot_products % words);
  if (pace_ != nullptr) count = std::min(count, (pace_->most() + words - 1) / words);
  Generate(stream_, first, offset > 0 ? 1 : count, batch_);
  const absl::Status status = Ask(offset);
  if (!status.ok() && !KeepsAnswers(status)) return status;
  const int64_t answered = std::ssize(device_words_);
  const int64_t whole = offset > 0 ? 0 : answered / words;
  absl::Status counted;
  if (whole > 0) counted = Count(first, whole, result, found);
  if (counted.ok() && answered > std::max(offset, whole * words)) {
    counted = CountSome(first, std::max(offset, whole * words), result, found);
  }
  return counted.ok() ? status : counted;
}

absl::Status UnitRunner::Ask(int64_t offset) {
  const Operation& op = *stream_.op;
  Answers answers;
  answers.d = std::move(device_words_);  // reuses its memory
  const auto begun = MonotonicNow();
  const int64_t all = batch_.dot_products();
  const int64_t end = pace_ == nullptr ? all : std::min(all, offset + pace_->most());
  const bool whole = offset == 0 && end == all;
  const Batch some = whole ? Batch() : DotProductsOf(batch_, offset, end);
  const Batch& asked = whole ? batch_ : some;
  const absl::Status status = device_.Ask(op, asked, answers);
  if (pace_ != nullptr) {
    pace_->Add(answers.size(), MonotonicNow() - begun);
    pace_->AddProcess(answers.of_one_process);
  }
  if (status.ok() && answers.size() > 0 && !answers.failures.contains(answers.size() - 1)) {
    if (auto failure = device_.LookBehind(op)) answers.failures[answers.size() - 1] = *failure;
  }
  CountFailures(op, asked, answers);
  answers.d.insert(answers.d.begin(), offset, 0);
  device_words_ = std::move(answers.d);
  age_ = answers.age;
  failures_.clear();
  for (auto& [index, failure] : answers.failures) failures_[offset + index] = std::move(failure);
  return status;
}

std::optional<Mismatch> UnitRunner::FailureIn(int64_t begin, int64_t end) const {
  const auto failed = failures_.lower_bound(begin);
  if (failed == failures_.end() || failed->first >= end) return std::nullopt;
  const Operation& op = *stream_.op;
  const DotProductCase dot = Extract(batch_, failed->first);
  return Mismatch{&op,
                  MakeDotProductBatch(op.shape(), {dot}),
                  0,
                  {},
                  {Simulate(op.model, dot)},
                  failed->second,
                  failed->second.age};
}

absl::Status UnitRunner::AddWords(uint64_t first_word, std::span<const uint64_t> device,
                                  UnitResult& result) {
  const Operation& op = *stream_.op;
  const std::vector<uint64_t>& model = compared_.model;
  const Digest model_digest = DigestOfWords(op, first_word, model);
  const Digest device_digest =
      std::ranges::equal(model, device) ? model_digest : DigestOfWords(op, first_word, device);
  if (compared_.differing.empty() != (model_digest == device_digest)) {
    return absl::InternalError(absl::StrCat(
        op.name, ": comparison and digests contradict each other, starting at word ", first_word));
  }
  result.dot_products += device.size();
  result.mismatches += compared_.differing.size();
  result.model_digest += model_digest;
  result.device_digest += device_digest;
  return absl::OkStatus();
}

void UnitRunner::AddCases(uint64_t first, int64_t count, UnitResult& result) {
  const Operation& op = *stream_.op;
  const int64_t words = batch_.shape.d_words();
  result.cases += count;
  CountClasses(stream_, first, count, result);
  EventCounter events;
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t index = first + i;
    if (!IsTraced(index)) continue;
    events.Count(op.model, Extract(batch_, i * words + TracedElement(index, words)));
  }
  events.AddTo(op.model, result.counts);
}

absl::Status UnitRunner::Count(uint64_t first, int64_t count, UnitResult& result,
                               OnMismatch found) {
  const Operation& op = *stream_.op;
  const int64_t words = batch_.shape.d_words();
  const std::span<const uint64_t> device(device_words_.data(), count * words);
  const Batch* whole = &batch_;
  Batch begun;
  if (count < batch_.count) {
    Generate(stream_, first, count, begun);
    whole = &begun;
  }
  Compare(op, op.model, *whole, device, compared_);
  RETURN_IF_ERROR(AddWords(first * words, device, result));
  AddCases(first, count, result);
  const std::vector<uint64_t>& model = compared_.model;
  const auto& differing = compared_.differing;
  for (auto at = differing.begin(); at != differing.end();) {
    const int64_t i = *at / words, element = *at % words;
    const auto next = std::lower_bound(at, differing.end(), (i + 1) * words);
    const uint64_t *m = &model[i * words], *d = &device[i * words];
    Mismatch mismatch = {&op, Slice(batch_, i), element, {d, d + words}, {m, m + words}};
    mismatch.most_age = age_ + *at;
    result.List(first + i);
    const std::optional<Mismatch> failed = FailureIn(i * words, (i + 1) * words);
    if (found({stream_, first + i}, failed.value_or(mismatch)) == Next::kStop) break;
    at = next;
  }
  return absl::OkStatus();
}

absl::Status UnitRunner::CountSome(uint64_t first, int64_t begin, UnitResult& result,
                                   OnMismatch found) {
  const Operation& op = *stream_.op;
  const int64_t words = batch_.shape.d_words(), end = std::ssize(device_words_);
  const uint64_t index = first + begin / words;
  const Batch dots = DotProductsOf(batch_, begin, end);
  const std::span<const uint64_t> device(device_words_.data() + begin, end - begin);
  Compare(op, op.model, dots, device, compared_);
  RETURN_IF_ERROR(AddWords(first * words + begin, device, result));
  if (end % words == 0) AddCases(index, 1, result);
  if (compared_.differing.empty()) return absl::OkStatus();
  const int64_t differs = compared_.differing.front();
  Mismatch mismatch = {&op, Slice(dots, differs), 0, {device[differs]}, {compared_.model[differs]}};
  mismatch.most_age = age_ + begin + differs;
  result.List(index);
  found({stream_, index}, FailureIn(begin, end).value_or(mismatch));
  return absl::OkStatus();
}

}  // namespace mmadiff

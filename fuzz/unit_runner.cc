#include "fuzz/unit_runner.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "fuzz/digest.h"
#include "fuzz/digest_sum.h"
#include "fuzz/events.h"
#include "sim/simulate.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

// Small enough for a core's cache, large enough for what a batch costs.
constexpr uint64_t kBatchDotProducts = 8192;
constexpr int64_t kDigestDotProducts = 1 << 16;  // a launch of a GPU costs more

// Whether what a device answered before this error is to be believed.
bool KeepsAnswers(const absl::Status& status) {
  return absl::IsCancelled(status) || absl::IsUnavailable(status) ||
         absl::IsDeadlineExceeded(status);
}

}  // namespace

Digest DigestOf(const Operation& op, const Batch& batch, std::span<const uint64_t> d) {
  const uint64_t first = batch.first * batch.shape.d_words();
  const bool any_nan = op.numerics->nan_verdict == NanVerdict::kAnyNan;
  return SumOfHashes(d, first, any_nan ? NanTest(op.model.d) : NanTest());
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
    absl::StatusOr<std::vector<uint64_t>> d = std::vector<uint64_t>(batch.dot_products());
    if (device == nullptr) {
      Simulate(op.model, batch, *d);
    } else {
      d = device->Run(op, batch);
    }
    if (!d.ok()) return d.status();
    digest += DigestOf(op, batch, *d);
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

absl::StatusOr<uint64_t> UnitRunner::Run(uint64_t first, uint64_t count, UnitResult& result,
                                         OnMismatch found) {
  const uint64_t per_batch = BatchCases(*stream_.op);
  Next next = Next::kGoOn;
  const auto note = [&](const CaseName& name, const Mismatch& mismatch) {
    return next = std::max(next, found(name, mismatch));
  };
  uint64_t done = 0;
  while (done < count && next == Next::kGoOn) {
    if (device_.StopRequested()) return absl::CancelledError("stopped");
    const int64_t n = static_cast<int64_t>(std::min(per_batch, count - done));
    if (absl::Status s = RunBatch(first + done, n, result, note); !s.ok()) return s;
    done += n;
  }
  return first + done;
}

absl::Status UnitRunner::RunBatch(uint64_t first, int64_t count, UnitResult& result,
                                  OnMismatch found) {
  Generate(stream_, first, count, batch_);
  const absl::Status status = device_.Run(*stream_.op, batch_, device_words_);
  if (!status.ok() && !KeepsAnswers(status)) return status;
  const int64_t words = batch_.shape.d_words(), answered = device_words_.size();
  const int64_t whole = answered / words;
  std::vector<DotProductCase> rest;
  for (int64_t i = whole * words; i < answered; ++i) rest.push_back(Extract(batch_, i));
  batch_.Resize(batch_.shape, whole);
  const absl::Status counted = Count(first, result, found);
  if (counted.ok() && !rest.empty()) {
    const std::span<const uint64_t> answers(device_words_);
    CountRest(first + whole, rest, answers.subspan(whole * words), result, found);
  }
  return counted.ok() ? status : counted;
}

absl::Status UnitRunner::Count(uint64_t first, UnitResult& result, OnMismatch found) {
  const Operation& op = *stream_.op;
  const int64_t count = batch_.count, words = batch_.shape.d_words();
  const std::span<const uint64_t> device(device_words_.data(), batch_.dot_products());
  Compare(op, op.model, batch_, device, compared_);
  const std::vector<uint64_t>& model = compared_.model;
  const Digest model_digest = DigestOf(op, batch_, model);
  const Digest device_digest =
      std::ranges::equal(model, device) ? model_digest : DigestOf(op, batch_, device);
  if (compared_.differing.empty() != (model_digest == device_digest)) {
    return absl::InternalError(absl::StrCat(
        op.name, ": comparison and digests contradict each other in the cases from ", first));
  }
  result.cases += count;
  result.dot_products += batch_.dot_products();
  result.mismatches += compared_.differing.size();
  result.model_digest += model_digest;
  result.device_digest += device_digest;
  CountClasses(stream_, first, count, result);
  EventCounter events;
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t index = first + i;
    if (!IsTraced(index)) continue;
    events.Count(op.model, Extract(batch_, i * words + TracedElement(index, words)));
  }
  events.AddTo(op.model, result.counts);

  const auto& differing = compared_.differing;
  for (auto at = differing.begin(); at != differing.end();) {
    const int64_t i = *at / words, element = *at % words;
    const auto next = std::lower_bound(at, differing.end(), (i + 1) * words);
    const uint64_t *m = &model[i * words], *d = &device[i * words];
    const Mismatch mismatch = {&op, Slice(batch_, i), element, {d, d + words}, {m, m + words}};
    result.List(first + i);
    if (found({stream_, first + i}, mismatch) == Next::kStop) break;
    at = next;
  }
  return absl::OkStatus();
}

void UnitRunner::CountRest(uint64_t index, const std::vector<DotProductCase>& dots,
                           std::span<const uint64_t> device, UnitResult& result, OnMismatch found) {
  const Operation& op = *stream_.op;
  const Comparison compared = Compare(op, MakeDotProductBatch(op.shape(), dots), device);
  result.dot_products += dots.size();
  result.mismatches += compared.differing.size();
  if (compared.differing.empty()) return;
  const int64_t first = compared.differing.front();
  result.List(index);
  found({stream_, index}, {&op,
                           MakeDotProductBatch(op.shape(), {dots[first]}),
                           0,
                           {device[first]},
                           {compared.model[first]}});
}

}  // namespace mmadiff

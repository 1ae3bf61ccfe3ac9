#include "fuzz/unit_runner.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "fuzz/digest.h"
#include "fuzz/events.h"
#include "sim/simulate.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

// Small enough for a core's cache, large enough for what a batch costs.
constexpr int64_t kBatchDotProducts = 8192;
constexpr int64_t kDigestDotProducts = 1 << 16;  // a launch of a GPU costs more

}  // namespace

std::vector<Observed> ObservedResults(const MismatchingCase& found) {
  std::vector<Observed> observed;
  for (size_t i = 0; i < found.device.size(); ++i) {
    observed.push_back({Extract(found.mismatch.inputs, static_cast<int64_t>(i)), found.device[i]});
  }
  return observed;
}

Digest DigestOf(const Row& row, const Batch& batch, const std::vector<uint64_t>& d) {
  Digest sum = 0;
  const bool any_nan = row.numerics->nan_verdict == NanVerdict::kAnyNan;
  const uint64_t first = batch.first * batch.shape.d_words();
  for (size_t i = 0; i < d.size(); ++i) {
    sum += HashOfResult(ComparedWord(row.model.d, any_nan, d[i]), first + i);
  }
  return sum;
}

absl::StatusOr<Digest> AnswerDigest(const CaseStream& stream, uint64_t first, uint64_t count,
                                    Device* device) {
  const Row& row = *stream.row;
  const uint64_t per_batch =
      std::max(1, static_cast<int>(kDigestDotProducts) / row.shape().d_words());
  Digest digest = 0;
  Batch batch;
  for (uint64_t done = 0; done < count; done += batch.count) {
    Generate(stream, first + done, std::min(per_batch, count - done), batch);
    absl::StatusOr<std::vector<uint64_t>> d = std::vector<uint64_t>(batch.dot_products());
    if (device == nullptr) {
      Simulate(row.model, batch, *d);
    } else {
      d = device->Run(row, batch);
    }
    if (!d.ok()) return d.status();
    if (static_cast<int64_t>(d->size()) != batch.dot_products()) {
      return absl::DataLossError(absl::StrCat(device->name(), " gave ", d->size(), " results for ",
                                              batch.dot_products(), " dot products"));
    }
    digest += DigestOf(row, batch, *d);
  }
  return digest;
}

absl::Status UnitRunner::Run(uint64_t first, uint64_t count, UnitResult& result,
                             const OnMismatch& found) {
  const int64_t per_batch =
      std::max<int64_t>(1, kBatchDotProducts / stream_.row->shape().d_words());
  for (uint64_t done = 0; done < count;) {
    const int64_t n = static_cast<int64_t>(std::min<uint64_t>(per_batch, count - done));
    if (absl::Status s = RunBatch(first + done, n, result, found); !s.ok()) return s;
    done += n;
  }
  return absl::OkStatus();
}

absl::Status UnitRunner::RunBatch(uint64_t first, int64_t count, UnitResult& result,
                                  const OnMismatch& found) {
  const Row& row = *stream_.row;
  Generate(stream_, first, count, batch_);
  absl::StatusOr<std::vector<uint64_t>> device = device_.Run(row, batch_);
  if (!device.ok()) return device.status();
  model_.resize(batch_.dot_products());
  if (device->size() != model_.size()) {
    return absl::DataLossError(absl::StrCat(device_.name(), " gave ", device->size(),
                                            " results for ", model_.size(), " dot products"));
  }
  Simulate(row.model, batch_, model_);

  result.cases += count;
  result.dot_products += batch_.dot_products();
  result.model_digest += DigestOf(row, batch_, model_);
  result.device_digest += DigestOf(row, batch_, *device);
  EventCounter events;
  std::map<const InputClass*, uint64_t> classes;
  const size_t words = batch_.shape.d_words();
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t index = first + i;
    ++classes[&stream_.class_of(index)];
    if (IsTraced(index)) {
      events.Count(row.model, Extract(batch_, i * words + TracedElement(index, words)));
    }
  }
  for (const auto& [input_class, n] : classes) {
    result.counts[absl::StrCat("class.", input_class->name)] += n;
  }
  events.AddTo(row.model, result.counts);

  if (std::memcmp(model_.data(), device->data(), 8 * model_.size()) == 0) return absl::OkStatus();
  for (int64_t i = 0; i < count; ++i) {
    const std::span<const uint64_t> m(&model_[i * words], words), d(&(*device)[i * words], words);
    const std::vector<int64_t> differences = Differences(row, m, d);
    if (differences.empty()) continue;
    MismatchingCase mismatching = {{stream_, first + i},
                                   {&row, Slice(batch_, i), differences.front()},
                                   {m.begin(), m.end()},
                                   {d.begin(), d.end()},
                                   differences.size()};
    result.mismatches += differences.size();
    if (result.mismatching_cases.size() < 100) result.mismatching_cases.push_back(first + i);
    if (absl::Status s = found(mismatching); !s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace mmadiff

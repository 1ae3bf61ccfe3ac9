#include "device/cuda/any_variant.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "device/cuda/overlap.h"
#include "device/cuda/surroundings.h"
#include "device/status_macros.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

bool HasModel(const Operation& op) { return op.model.algorithm.family != Family::kNone; }

// The model's results; without a model, words that differ from `other`.
std::vector<uint64_t> ModelWords(const Operation& op, const Batch& batch,
                                 const std::vector<uint64_t>& other) {
  std::vector<uint64_t> words(other.size());
  if (HasModel(op)) {
    Simulate(op.model, batch, words);
  } else {
    std::ranges::transform(other, words.begin(), std::bit_not());
  }
  return words;
}

class AnyVariant : public Device {
 public:
  AnyVariant(std::string name, AnyVariants variants, OpenVariant open,
             std::unique_ptr<Device> apart)
      : name_(std::move(name)),
        variants_(std::move(variants)),
        open_(std::move(open)),
        apart_(std::move(apart)) {
    for (const std::string& suffix : variants_.suffixes) others_.push_back({suffix, nullptr});
    apart_->StopWhen([this] { return StopRequested(); });
  }

  std::string name() const override { return name_; }
  Identity identity() const override { return apart_->identity().Add("variants", variants_.any); }
  Hardware hardware() const override { return apart_->hardware(); }
  std::string ContentsHash() const override { return apart_->ContentsHash(); }
  std::string IdentityNote(const Operation& op) const override { return apart_->IdentityNote(op); }
  bool IsSlow() const override { return apart_->IsSlow(); }
  bool Emulates(const Operation& op) const override { return apart_->Emulates(op); }
  absl::Status Supports(const Operation& op) const override {
    if (!HasFragments(*op.instruction)) {
      return absl::NotFoundError(absl::StrCat(variants_.any, " is a variant of mma and wmma only"));
    }
    return apart_->Supports(op);
  }

  // That of the first variant that changes the answer.
  absl::StatusOr<std::string> Reason(const Operation& op, const Batch& batch,
                                     int64_t element) override {
    ASSIGN_OR_RETURN(const std::vector<uint64_t> d, apart_->Run(op, batch));
    for (Other& other : others_) {
      RETURN_IF_ERROR(Open(other));
      if (!other.device->Supports(op).ok()) continue;
      const auto own = other.device->Run(op, batch);
      if (!own.ok() && !IsOfOperation(own.status())) return own.status();
      if (own.ok() && (*own)[element] != d[element]) {
        return other.device->Reason(op, batch, element);
      }
    }
    return apart_->Reason(op, batch, element);
  }

 private:
  struct Other {
    std::string suffix;
    std::unique_ptr<Device> device;  // opened on first use
  };

  absl::Status Open(Other& other) {
    if (other.device != nullptr) return absl::OkStatus();
    ASSIGN_OR_RETURN(other.device, open_(variants_.rest + other.suffix));
    other.device->StopWhen([this] { return StopRequested(); });
    return absl::OkStatus();
  }

  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    ASSIGN_OR_RETURN(const std::vector<uint64_t> apart, apart_->Run(op, batch));
    std::vector<uint64_t> all = apart, model;
    absl::Status failed;
    for (Other& other : others_) {
      RETURN_IF_ERROR(Open(other));
      if (!other.device->Supports(op).ok()) continue;
      const auto own = other.device->Run(op, batch);
      if (!own.ok()) {
        if (!IsOfOperation(own.status())) return own.status();
        failed.Update(own.status());
        continue;
      }
      for (size_t i = 0; i < all.size(); ++i) {
        if ((*own)[i] == apart[i] || all[i] != apart[i]) continue;
        // If this variant is right, the one without is wrong, and must not hide behind it.
        if (model.empty()) model = ModelWords(op, batch, *own);
        if ((*own)[i] != model[i]) all[i] = (*own)[i];
      }
    }
    // A mismatch says more than an error, and its minimization needs answers.
    if (HasModel(op) && all != ModelWords(op, batch, all)) mismatches_.insert(&op);
    if (batch.shape == op.shape() && !mismatches_.contains(&op)) RETURN_IF_ERROR(failed);
    d = std::move(all);
    return absl::OkStatus();
  }

  const std::string name_;
  const AnyVariants variants_;
  const OpenVariant open_;
  const std::unique_ptr<Device> apart_;
  std::vector<Other> others_;
  std::set<const Operation*> mismatches_;  // operations that had some
};

// The suffixes with each value of a property, and without it.
std::vector<std::string> Suffixes(absl::string_view name,
                                  std::span<const absl::string_view> values) {
  std::vector<std::string> suffixes = {""};
  for (const absl::string_view value : values) {
    suffixes.push_back(absl::StrCat(",", name, "=", value));
  }
  return suffixes;
}

}  // namespace

AnyVariants AnyVariantsOf(absl::string_view argument, std::span<const absl::string_view> overlaps) {
  std::vector<absl::string_view> any, rest;
  for (const absl::string_view part : absl::StrSplit(argument, ',')) {
    (part == "overlap=any" || part == "around=any" ? any : rest).push_back(part);
  }
  std::vector<std::string> all = {""};
  for (const absl::string_view part : any) {
    const bool overlap = part == "overlap=any";
    std::vector<std::string> combined;
    for (const std::string& x : all) {
      for (const std::string& y :
           Suffixes(overlap ? "overlap" : "around", overlap ? overlaps : NamedSurroundings())) {
        combined.push_back(x + y);
      }
    }
    all = std::move(combined);
  }
  all.erase(all.begin());
  return {absl::StrJoin(any, ", "), absl::StrJoin(rest, ","), std::move(all)};
}

absl::StatusOr<std::unique_ptr<Device>> OpenAnyVariant(std::string name, AnyVariants variants,
                                                       OpenVariant open) {
  ASSIGN_OR_RETURN(std::unique_ptr<Device> apart, open(variants.rest));
  return std::make_unique<AnyVariant>(std::move(name), std::move(variants), std::move(open),
                                      std::move(apart));
}

}  // namespace mmadiff

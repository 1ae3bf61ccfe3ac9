#include "device/cuda/any_variant.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "device/cuda/overlap.h"
#include "sim/operation.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

// The model, with a wrong bit in all answers of one variant, or an error instead of those of another.
class WrongIn : public Device {
 public:
  WrongIn(absl::string_view argument, absl::string_view wrong, absl::string_view failing)
      : wrong_(argument == wrong), fails_(argument == failing) {}
  std::string name() const override { return "test"; }
  Identity identity() const override { return Identity().Add("command", "test"); }
  absl::Status Supports(const Operation&) const override { return absl::OkStatus(); }

 private:
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    if (fails_) return absl::InternalError("it fails");
    d.resize(batch.dot_products());
    Simulate(op.model, batch, d);
    for (uint64_t& word : d) word ^= uint64_t{wrong_};
    return absl::OkStatus();
  }
  const bool wrong_, fails_;
};

std::unique_ptr<Device> OpenAny(const std::string& wrong, const std::string& failing) {
  return *OpenAnyVariant("test:x,overlap=any", AnyVariantsOf("x,overlap=any", NamedOverlaps()),
                         [=](absl::string_view one) -> absl::StatusOr<std::unique_ptr<Device>> {
                           return std::make_unique<WrongIn>(one, wrong, failing);
                         });
}

// Whether the device with `overlap=any` is wrong if only `wrong` is, and only `failing` fails.
absl::StatusOr<bool> IsWrong(const std::string& wrong, const std::string& failing = "",
                             bool single = false) {
  const Operation& op = *FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32");
  Batch batch;
  batch.Resize(single ? DotProductShape(op.shape()) : op.shape(), 1);
  std::vector<uint64_t> model(batch.dot_products());
  Simulate(op.model, batch, model);
  const auto d = OpenAny(wrong, failing)->Run(op, batch);
  if (!d.ok()) return d.status();
  return *d != model;
}

TEST(AnyVariant, IsWrongIfAnyOneIs) {
  EXPECT_FALSE(*IsWrong("none"));
  for (const char* one : {"x", "x,overlap=c", "x,overlap=c_reversed", "x,overlap=b_reversed"}) {
    EXPECT_TRUE(*IsWrong(one)) << one;
  }
}

TEST(AnyVariant, FailsIfOneFailsAndNoneIsWrong) {
  EXPECT_EQ(IsWrong("none", "x,overlap=a").status().message(), "it fails");
  EXPECT_TRUE(*IsWrong("x,overlap=b", "x,overlap=a"));
  EXPECT_TRUE(*IsWrong("x", "x,overlap=a"));
  EXPECT_FALSE(*IsWrong("none", "x,overlap=a", true));
}

TEST(AnyVariant, CombinesBoth) {
  const AnyVariants both = AnyVariantsOf("x,overlap=any,y,around=any", NamedOverlaps());
  EXPECT_EQ(both.rest, "x,y");
  EXPECT_EQ(both.any, "overlap=any, around=any");
  EXPECT_EQ(both.suffixes.size(), 47);  // 8 overlaps with none, 6 surroundings with none, less both
  EXPECT_EQ(AnyVariantsOf("x,overlap=c", NamedOverlaps()).any, "");
}

}  // namespace
}  // namespace mmadiff

#include "triage/clues.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "corpus/cases/case_name.h"
#include "triage/model_device.h"

namespace mmadiff {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;

std::vector<Clue> CluesOf(ModelDevice& device, const Operation& op,
                          absl::Duration most = absl::Minutes(2)) {
  Batch batch;
  Generate({&op, &Strategies().front()}, 0, 1, batch);
  std::vector<uint64_t> d;
  EXPECT_TRUE(device.Execute(op, batch, d).ok());
  std::vector<Observed> observed;
  for (int64_t i = 0; i < batch.dot_products(); ++i) observed.push_back({Extract(batch, i), d[i]});
  return AskForClues(device, op, observed, most);
}

Model Changed(const Operation& op, const char* text) {
  const auto changes = ParseChanges(op.model.algorithm.family, text);
  EXPECT_TRUE(changes.has_value()) << text;
  return WithAlgorithm(op, WithChanges(op.model.algorithm, *changes));
}

// Two faults at once: the one that is read is named, and how much it explains.
TEST(Clues, SayHowMuchTheReadingExplains) {
  const Operation& op = *FindOperation("sm_89/mma.m16n8k32.f32.e4m3.e4m3.f32");
  ModelDevice device(Changed(op, "fraction_bits=11 terms=8 operand_reading=nan_largest"));
  EXPECT_THAT(
      CluesOf(device, op),
      Contains(AllOf(Field(&Clue::question, "decoding"), Field(&Clue::kind, Clue::kFound),
                     Field(&Clue::text, AllOf(HasSubstr("NaNs as the largest number"),
                                              HasSubstr("with this the model reproduces "))))));
}

TEST(Clues, AskAboutTheSumLast) {
  const Operation& op = *FindOperation("sm_80/mma.m16n8k8.f32.f16.f16.f32");
  ModelDevice device(Changed(op, "output_rounding=up product_exponent=normalized terms=2"));
  const std::vector<Clue> clues = CluesOf(device, op);
  EXPECT_THAT(clues, Contains(Clue{"layout", Clue::kNothing}));
  EXPECT_THAT(clues, Contains(Clue{"decoding", Clue::kNothing}));
  ASSERT_EQ(clues.back().question, "infer");
  EXPECT_THAT(clues.back().text,
              AllOf(HasSubstr("the sum is (((c + k0 + k1) + k2 + k3) + k4 + k5) + k6 + k7"),
                    HasSubstr("product_exponent=normalized")));
}

TEST(Clues, SayWhatWasNotAsked) {
  const Operation& op = *FindOperation("sm_80/mma.m16n8k8.f32.f16.f16.f32");
  ModelDevice device(Changed(op, "fraction_bits=20 output_rounding=up"));
  for (const Clue& clue : CluesOf(device, op, absl::ZeroDuration())) {
    EXPECT_EQ(clue.kind, Clue::kNotAsked) << clue.question;
    EXPECT_EQ(clue.text, "it takes longer") << clue.question;
  }
}

// A question to which the device fails does not take the others with it.
TEST(Clues, SayWhyAQuestionFailed) {
  class NoInfinities : public ModelDevice {
   public:
    using ModelDevice::ModelDevice;
    absl::Status Execute(const Operation& op, const Batch& batch,
                         std::vector<uint64_t>& d) override {
      if (std::ranges::count(batch.a, 0x7c00) > 0) return absl::UnavailableError("an infinity");
      return ModelDevice::Execute(op, batch, d);
    }
  };
  const Operation& op = *FindOperation("sm_80/mma.m16n8k8.f32.f16.f16.f32");
  NoInfinities device(Changed(op, "fraction_bits=20 output_rounding=up terms=4"));
  const std::vector<Observed> observed;
  const std::vector<Clue> clues = AskForClues(device, op, observed, absl::Minutes(2));
  EXPECT_THAT(clues, AllOf(Contains(Clue{"layout", Clue::kNothing}),
                           Contains(Clue{"decoding", Clue::kNotAsked, "an infinity"})));
  EXPECT_EQ(clues.back().question, "infer");
}

}  // namespace
}  // namespace mmadiff

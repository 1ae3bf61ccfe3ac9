// A command that is kept alive for one request after another, and how it ends.
#include "device/child_process.h"

#include <gmock/gmock.h>

namespace mmadiff {
namespace {

using testing::HasSubstr;

bool GoOn() { return false; }

class KeptChildTest : public testing::Test {
 protected:
  void Start(const std::string& command, absl::Duration timeout = absl::Minutes(10)) {
    auto child = StartKeptChild({command, {}, timeout});
    ASSERT_TRUE(child.ok()) << child.status();
    child_ = *std::move(child);
  }
  // The answer is a line.
  absl::Status Ask(const std::string& request, StopRequest stop = GoOn) {
    answer_.clear();
    const auto hear = [this](absl::string_view bytes) -> absl::StatusOr<Heard> {
      answer_.append(bytes.data(), bytes.size());
      return answer_.back() == '\n' ? Heard::kAnswer : Heard::kProgress;
    };
    return child_->Ask(request, hear, stop);
  }

  std::unique_ptr<KeptChild> child_;
  std::string answer_;
};

TEST_F(KeptChildTest, OneRequestAfterAnother) {
  Start("n=0; while read -r line; do n=$((n + 1)); echo $n $line; done");
  for (const char* expected : {"1 a\n", "2 a\n", "3 a\n"}) {
    ASSERT_TRUE(Ask("a\n").ok());
    EXPECT_EQ(answer_, expected);
  }
  const std::string large(1 << 20, 'x');  // more than a pipe holds
  ASSERT_TRUE(Ask(large + "\n").ok());
  EXPECT_EQ(answer_, "4 " + large + "\n");
}

TEST_F(KeptChildTest, WhatDiesSaysHow) {
  Start("read -r line; echo help >&2; kill -SEGV $$");
  const absl::Status died = Ask("a\n");
  EXPECT_TRUE(absl::IsUnavailable(died)) << died;
  EXPECT_THAT(std::string(died.message()), HasSubstr("killed by signal 11"));
  EXPECT_THAT(std::string(died.message()), HasSubstr("its stderr ends with: help"));
  Start("read -r line");
  const absl::Status ended = Ask("a\n");
  EXPECT_TRUE(absl::IsUnavailable(ended)) << ended;
  EXPECT_THAT(std::string(ended.message()), HasSubstr("it exited without an answer"));
  EXPECT_EQ(EndOf(ended)->exit_code, 0);
  Start("read -r line; exit 7");
  const absl::Status failed = Ask("a\n");
  EXPECT_TRUE(absl::IsInternal(failed)) << failed;
  EXPECT_THAT(std::string(failed.message()), HasSubstr("failed with exit code 7"));
  EXPECT_EQ(EndOf(failed)->exit_code, 7);
}

TEST_F(KeptChildTest, WhatHangsOrIsNotWantedAnyMoreIsKilled) {
  Start("sleep 1000", absl::Milliseconds(10));
  EXPECT_TRUE(absl::IsDeadlineExceeded(Ask("a\n")));
  Start("sleep 1000");
  EXPECT_TRUE(absl::IsCancelled(Ask("a\n", [] { return true; })));
}

}  // namespace
}  // namespace mmadiff

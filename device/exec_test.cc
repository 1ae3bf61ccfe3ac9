#include "device/exec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <random>
#include <thread>

#include "absl/functional/function_ref.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "device/line_protocol.h"
#include "device/status_macros.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const Operation& TestOperation() { return *FindOperation("x86/vdpbf16ps"); }

std::string Helper(absl::string_view mode) { return absl::StrCat(MMADIFF_EXEC_HELPER, " ", mode); }

Batch RandomDots(const Operation& op, int64_t count) {
  std::mt19937_64 random(1);
  Batch batch;
  batch.Resize(DotProductShape(op.shape()), count);
  for (uint64_t& w : batch.a) w = random() & LowBits(op.model.a.bits);
  for (uint64_t& w : batch.b) w = random() & LowBits(op.model.b.bits);
  for (uint64_t& w : batch.c) w = random() & LowBits(op.model.c.bits);
  return batch;
}

// For commands that do not hang: no machine is so slow.
constexpr absl::Duration kLong = absl::Hours(10);

absl::StatusOr<std::vector<uint64_t>> AnswersOf(absl::string_view command, int64_t count,
                                                absl::Duration timeout = kLong) {
  ASSIGN_OR_RETURN(std::unique_ptr<Device> device, OpenExec(command, timeout));
  return device->Run(TestOperation(), RandomDots(TestOperation(), count));
}

std::string Error(absl::StatusCode code, absl::string_view command, int64_t count = 3,
                  absl::Duration timeout = kLong) {
  const auto d = AnswersOf(command, count, timeout);
  EXPECT_EQ(d.status().code(), code) << command << ": " << d.status();
  return std::string(d.status().message());
}

// Tries longer and longer timeouts: how far a command gets in one depends on the machine.
bool HoldsForSomeTimeout(absl::FunctionRef<bool(absl::Duration)> holds) {
  for (absl::Duration t = absl::Milliseconds(300); t < absl::Minutes(3); t *= 2) {
    if (holds(t)) return true;
  }
  return false;
}

std::vector<uint64_t> Simulated(int64_t count) {
  std::vector<uint64_t> d(count);
  Simulate(TestOperation().model, RandomDots(TestOperation(), count), d);
  return d;
}

int OpenFiles() {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    count += !entry.path().empty();
  }
  return count;
}

// No test may leave a child, not even a dead one, nor an open file.
class Exec : public ::testing::Test {
 protected:
  void SetUp() override { files_ = OpenFiles(); }
  void TearDown() override {
    EXPECT_EQ(OpenFiles(), files_);
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
  }

  int files_;
};

TEST_F(Exec, AnswersOfEveryForm) {
  for (const char* mode : {"line", "bare", "verbose"}) {
    for (const int count : {1, 2, 1000}) {
      const auto d = AnswersOf(Helper(mode), count);
      ASSERT_TRUE(d.ok()) << d.status();
      EXPECT_EQ(*d, Simulated(count)) << mode << " " << count;
    }
  }
}

TEST_F(Exec, LastLineMayLackItsEndIfItHasAllDigits) {
  const auto d = AnswersOf("cat >/dev/null; printf '1\\n2\\n00000003'", 3);
  ASSERT_TRUE(d.ok()) << d.status();
  EXPECT_THAT(*d, ::testing::ElementsAre(1, 2, 3));
  for (const char* last : {"00000003\\r", "00000003\\n# done"}) {
    EXPECT_TRUE(AnswersOf(absl::StrCat("cat >/dev/null; printf '1\\n2\\n", last, "'"), 3).ok())
        << last;
  }
  for (const char* end : {"", "; exit 3"}) {  // 3f800000
    const std::string cut = absl::StrCat("cat >/dev/null; printf '1\\n2\\n3f8'", end);
    const absl::Status s = AnswersOf(cut, 3).status();
    EXPECT_THAT(s.message(),
                HasSubstr(*end == 0 ? "its last line is incomplete: '3f8'" : "exit code 3"));
  }
}

// Megabytes each way, many times what the pipes hold.
TEST_F(Exec, LargeBatchThroughProgramsThatAnswerAtOnce) {
  const auto d = AnswersOf(Helper("line"), 200000);
  ASSERT_TRUE(d.ok()) << d.status();
  EXPECT_EQ(*d, Simulated(200000));
}

TEST_F(Exec, LargeBatchThroughProgramsThatReadEverythingFirst) {
  const auto d = AnswersOf("input=$(cat); printf '%s\\n' \"$input\" | " + Helper("line"), 50000);
  ASSERT_TRUE(d.ok()) << d.status();
  EXPECT_EQ(*d, Simulated(50000));
}

TEST_F(Exec, LargeBatchThroughProgramsThatAnswerBeforeTheyRead) {
  const auto d = AnswersOf("yes 7 | head -n 200000; cat >/dev/null", 200000);
  ASSERT_TRUE(d.ok()) << d.status();
  EXPECT_EQ(*d, std::vector<uint64_t>(200000, 7));
}

TEST_F(Exec, ProgramsThatNeverReadGetNoSigpipe) {
  const auto d = AnswersOf("exec <&-; yes 7 | head -n 100000", 100000);
  ASSERT_TRUE(d.ok()) << d.status();
  EXPECT_EQ(d->size(), 100000u);
  // Not even later: nothing may be pending, and the signal mask is as before.
  sigset_t pending, mask;
  sigpending(&pending);
  EXPECT_FALSE(sigismember(&pending, SIGPIPE));
  pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  EXPECT_FALSE(sigismember(&mask, SIGPIPE));
}

// Whatever this process does with SIGPIPE: a filter whose reader has gone must end by it.
TEST_F(Exec, ChildHasOrdinarySignals) {
  for (const auto action : {SIG_DFL, SIG_IGN}) {
    signal(SIGPIPE, action);
    EXPECT_THAT(Error(absl::StatusCode::kInternal, "kill -PIPE $$; exit 1"),
                HasSubstr("killed by signal 13"));
  }
  signal(SIGPIPE, SIG_DFL);
}

TEST_F(Exec, EnvironmentNamesTheOperation) {
  setenv("MMADIFF_INSTRUCTION", "another", 1);
  EXPECT_THAT(Error(absl::StatusCode::kInternal, "env | grep MMADIFF >&2; exit 3"),
              AllOf(HasSubstr("MMADIFF_INSTRUCTION=x86/vdpbf16ps"), Not(HasSubstr("another"))));
  unsetenv("MMADIFF_INSTRUCTION");
  EXPECT_THAT(Error(absl::StatusCode::kInternal, "env | grep MMADIFF >&2; exit 3"),
              HasSubstr("MMADIFF_INSTRUCTION=x86/vdpbf16ps"));
}

TEST_F(Exec, CannotStart) {
  EXPECT_THAT(Error(absl::StatusCode::kNotFound, "/nonexistent/program --x"),
              AllOf(HasSubstr("`/nonexistent/program --x`"), HasSubstr("cannot start"),
                    HasSubstr("127"), HasSubstr("check the path")));
  EXPECT_THAT(Error(absl::StatusCode::kNotFound, "/etc/passwd"),
              AllOf(HasSubstr("not executable"), HasSubstr("126")));
  EXPECT_EQ(OpenExec(" ", absl::Seconds(1)).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(OpenExec("x", absl::ZeroDuration()).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(Exec, ExitCodeAndSignal) {
  EXPECT_THAT(Error(absl::StatusCode::kInternal, "echo oops >&2; exit 3"),
              AllOf(HasSubstr("failed with exit code 3"), HasSubstr("its stderr ends with: oops")));
  // All the answers, and yet a failure.
  EXPECT_THAT(Error(absl::StatusCode::kInternal, Helper("line") + "; exit 5"),
              HasSubstr("failed with exit code 5"));
  EXPECT_THAT(Error(absl::StatusCode::kInternal, "kill -SEGV $$"),
              HasSubstr("killed by signal 11"));
  EXPECT_THAT(Error(absl::StatusCode::kInternal, "sh -c 'kill -KILL $$'; exit $?"),
              AllOf(HasSubstr("exit code 137"), HasSubstr("signal 9")));
}

// It is lost then; the others of a program that never knew an operation can still be asked.
TEST_F(Exec, ExitCodeOfACommandThatHasAnsweredBefore) {
  const std::string first = testing::TempDir() + "/answered_once";
  const DeviceOr device = OpenExec("mkdir " + first + " && " + Helper("line"), absl::Seconds(20));
  const Batch batch = RandomDots(TestOperation(), 3);
  EXPECT_TRUE((*device)->Run(TestOperation(), batch).ok());
  EXPECT_EQ((*device)->Run(TestOperation(), batch).status().code(), absl::StatusCode::kUnavailable);
  rmdir(first.c_str());
}

// The watcher is not of the group that a command signals as its own.
TEST_F(Exec, SignalsToTheGroup) {
  EXPECT_THAT(Error(absl::StatusCode::kInternal, "kill -TERM 0"), HasSubstr("killed by signal 15"));
  EXPECT_THAT(Error(absl::StatusCode::kInternal, "kill -KILL 0"), HasSubstr("killed by signal 9"));
}

TEST_F(Exec, ExitCodeThoughThisProcessIgnoresItsChildren) {
  signal(SIGCHLD, SIG_IGN);
  EXPECT_THAT(Error(absl::StatusCode::kInternal, "exit 3"), HasSubstr("exit code 3"));
  signal(SIGCHLD, SIG_DFL);
}

TEST_F(Exec, NoControlCharactersInMessages) {
  const std::string message =
      Error(absl::StatusCode::kInternal, "printf '\\033[2J\\a\\377' >&2; : '\x1b[2J\n'; exit 1");
  EXPECT_THAT(message, HasSubstr("ends with: \\x1b[2J\\x07\\xff"));
  EXPECT_THAT(message, HasSubstr("'\\x1b[2J\\x0a'"));
  EXPECT_THAT(Name((*OpenExec("rtl '\x1b[2J'", absl::Seconds(1)))->identity()),
              HasSubstr("`rtl '\\x1b[2J'`"));
}

TEST_F(Exec, OnlyTheEndOfStderrIsKept) {
  const std::string message =
      Error(absl::StatusCode::kInternal, "yes aaaaaaa | head -c 300000 >&2; echo END >&2; exit 1");
  EXPECT_THAT(message, HasSubstr("END"));
  EXPECT_LT(message.size(), 2400u);
  EXPECT_GT(message.size(), 2000u);
}

// State of a process: "gone" or "Z" once it is dead, whoever is to reap it.
std::string ProcessState(const std::string& pid) {
  std::ifstream stat("/proc/" + pid + "/stat");
  std::string number, name, state;
  return stat >> number >> name >> state ? state : "gone";
}

// Waits for the end of a process that nobody here can wait for.
void ExpectGone(const std::string& pid) {
  ASSERT_FALSE(pid.empty());
  while (ProcessState(pid) != "gone" && ProcessState(pid) != "Z") {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

// Words of a file that a command writes; deletes it.
std::vector<std::string> TakeWords(const std::string& file) {
  std::ifstream in(file);
  const std::vector<std::string> words(std::istream_iterator<std::string>(in), {});
  std::filesystem::remove(file);
  return words;
}

std::string TemporaryFile(absl::string_view name) {
  return absl::StrCat(::testing::TempDir(), "exec_test_", name, ".", getpid());
}

TEST_F(Exec, HangingCommandIsKilledWithItsChildren) {
  const std::string file = TemporaryFile("hang");
  std::vector<std::string> pids;
  ASSERT_TRUE(HoldsForSomeTimeout([&](absl::Duration timeout) {
    const std::string command = absl::StrCat("sleep 1000 & echo $! >", file, "; wait");
    EXPECT_THAT(Error(absl::StatusCode::kInternal, command, 3, timeout),
                AllOf(HasSubstr(absl::StrCat("no answer for ", absl::FormatDuration(timeout))),
                      HasSubstr("killed")));
    pids = TakeWords(file);
    return pids.size() == 1;
  }));
  EXPECT_EQ(ProcessState(pids[0]), "gone");
}

// What a command leaves behind ends with it, and is reaped.
TEST_F(Exec, NothingIsLeftAfterSuccess) {
  const std::string file = TemporaryFile("left");
  const auto d = AnswersOf(
      absl::StrCat("(sleep 1000 & echo $! >", file, ") >/dev/null 2>&1; ", Helper("line")), 3);
  EXPECT_TRUE(d.ok()) << d.status();
  const std::vector<std::string> pids = TakeWords(file);
  ASSERT_EQ(pids.size(), 1u);
  EXPECT_EQ(ProcessState(pids[0]), "gone");
}

// Who has left the group too.
TEST_F(Exec, DaemonsEndWithTheCommand) {
  const std::string file = TemporaryFile("daemon");
  const auto d =
      AnswersOf(absl::StrCat("setsid sh -c 'setsid sleep 1000 & echo $! $$ >", file, ".new; mv ",
                             file, ".new ", file, "; exec sleep 1000' >/dev/null 2>&1 & ",
                             "while [ ! -e ", file, " ]; do sleep 0.01; done; ", Helper("line")),
                3);
  EXPECT_TRUE(d.ok()) << d.status();
  const std::vector<std::string> pids = TakeWords(file);
  ASSERT_EQ(pids.size(), 2u);
  for (const std::string& pid : pids) EXPECT_EQ(ProcessState(pid), "gone");
}

// SIGKILL leaves this process no time to kill anything.
TEST_F(Exec, EverythingDiesWithThisProcess) {
  const std::string file = TemporaryFile("orphans");
  const pid_t runner = fork();
  if (runner == 0) {
    (void)AnswersOf(absl::StrCat("sleep 1000 & echo $! $$ $PPID >", file, ".new; mv ", file,
                                 ".new ", file, "; wait"),
                    3);
    _exit(0);
  }
  while (!std::filesystem::exists(file)) {
    ASSERT_EQ(waitpid(runner, nullptr, WNOHANG), 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const std::vector<std::string> pids = TakeWords(file);
  EXPECT_EQ(pids.size(), 3u);  // grandchild, command, watcher
  kill(runner, SIGKILL);
  waitpid(runner, nullptr, 0);
  for (const std::string& pid : pids) ExpectGone(pid);
}

// Whoever stops the watcher does not stop this process.
TEST_F(Exec, AWatcherThatIsStopped) {
  alarm(600);  // else a hang here would be one
  const auto d = AnswersOf("kill -STOP $PPID; kill -CONT $PPID; " + Helper("line"), 3);
  EXPECT_TRUE(d.ok()) << d.status();
  EXPECT_TRUE(HoldsForSomeTimeout([](absl::Duration timeout) {
    const std::string command = "kill -STOP $PPID; " + Helper("line");
    return absl::StrContains(Error(absl::StatusCode::kInternal, command, 3, timeout),
                             "closed its output but did not exit for ");
  }));
  EXPECT_THAT(
      Error(absl::StatusCode::kInternal, "kill -STOP $PPID; sleep 1000", 3, absl::Seconds(1)),
      HasSubstr("; the process that watches it was stopped; killed"));
  alarm(0);
}

TEST_F(Exec, ManyAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int n = 0; n < 10; ++n) {
        const auto d = AnswersOf(Helper("line") + " | sort -s -k 99", 100);
        EXPECT_TRUE(d.ok()) << d.status();
      }
    });
  }
  for (std::thread& t : threads) t.join();
}

// A stop is seen while the command answers nothing; complete lines are kept.
TEST_F(Exec, StopLeavesTheAnswersBefore) {
  const std::string file = TemporaryFile("stop");
  const DeviceOr device = OpenExec(
      absl::StrCat("cat >/dev/null; printf '1\\n2\\n3'; touch ", file, "; sleep 1000"), kLong);
  int seen = 0;  // by the second time all that was printed has been read
  (*device)->StopWhen([&] { return std::filesystem::exists(file) && ++seen == 2; });
  std::vector<uint64_t> d;
  const absl::Status status = (*device)->Run(TestOperation(), RandomDots(TestOperation(), 4), d);
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled) << status;
  EXPECT_THAT(d, ::testing::ElementsAre(1, 2));
  std::filesystem::remove(file);
}

TEST_F(Exec, StopIsSeenByCommandsThatWriteForEver) {
  for (const char* command : {"yes '#'", "exec >&-; sleep 1000"}) {
    const DeviceOr device = OpenExec(command, kLong);
    int asked = 0;
    (*device)->StopWhen([&] { return ++asked == 3; });
    EXPECT_EQ((*device)->Run(TestOperation(), RandomDots(TestOperation(), 4)).status().code(),
              absl::StatusCode::kCancelled);
  }
}

TEST_F(Exec, HangsOfOtherKinds) {
  const auto hangs = [](const char* command, int64_t count, const char* message) {
    EXPECT_TRUE(HoldsForSomeTimeout([&](absl::Duration timeout) {
      return absl::StrContains(Error(absl::StatusCode::kInternal, command, count, timeout),
                               message);
    })) << command;
  };
  hangs("sleep 1000", 100000, "neither read its input nor answered");
  hangs("cat >/dev/null; echo 1; while :; do echo x >&2; sleep 0.01; done", 3, "x\nx");
  hangs("cat >/dev/null; echo 1; exec >&- 2>&-; sleep 1000", 1,
        "closed its output but did not exit");
}

// Neither blank lines nor comments are answers.
TEST_F(Exec, TalkIsNoProgress) {
  for (const char* talk : {"yes ''", "yes '# still busy'", "while :; do echo '#'; done"}) {
    EXPECT_THAT(Error(absl::StatusCode::kInternal, absl::StrCat("cat >/dev/null; ", talk), 3,
                      absl::Milliseconds(300)),
                HasSubstr("no answer for 300ms"));
  }
}

// Slow is not hanging: every answer starts the time again.
TEST_F(Exec, SlowProgressIsNoTimeout) {
  EXPECT_TRUE(HoldsForSomeTimeout([](absl::Duration timeout) {
    const double pause = absl::ToDoubleSeconds(timeout / 4);
    return AnswersOf(absl::StrCat("cat >/dev/null; for i in 1 2 3 4 5 6 7 8; do echo $i; sleep ",
                                  pause, "; done"),
                     8, timeout)
        .ok();
  }));
}

TEST_F(Exec, WrongNumberOfLines) {
  const auto kDataLoss = absl::StatusCode::kDataLoss;
  EXPECT_THAT(Error(kDataLoss, Helper("few")),
              HasSubstr("answered with 2 lines for 3 dot products"));
  EXPECT_THAT(Error(kDataLoss, Helper("many")),
              HasSubstr("answered with 4 lines for 3 dot products"));
  EXPECT_THAT(
      Error(kDataLoss, "echo why >&2"),
      AllOf(HasSubstr("answered with 0 lines for 3 dot products"), HasSubstr("ends with: why")));
  EXPECT_THAT(Error(kDataLoss, "yes 0"), HasSubstr("answered with at least 1004 lines for 3"));
}

TEST_F(Exec, LinesThatCannotBeRead) {
  const auto kDataLoss = absl::StatusCode::kDataLoss;
  EXPECT_THAT(Error(kDataLoss, "echo 00000000; echo '# x'; echo 0.5 >&1; echo why >&2"),
              AllOf(HasSubstr("output line 3, '0.5'"), HasSubstr("is not a hex digit")));
  EXPECT_THAT(Error(kDataLoss, "echo 123456789"), HasSubstr("f32 has 8"));
  EXPECT_THAT(Error(kDataLoss, "echo 1 2 3"), HasSubstr("3 words, but vdpbf16ps has 5"));
  EXPECT_THAT(Error(kDataLoss, Helper("no_result")),
              HasSubstr("append the result d in hexadecimal"));
  const std::string shortened = Error(kDataLoss, "printf '%1000d\\n' 1 | tr ' ' z");
  EXPECT_THAT(shortened, HasSubstr("'" + std::string(200, 'z') + "...'"));
  EXPECT_LT(shortened.size(), 400u);
  EXPECT_THAT(Error(kDataLoss, "printf '\\001\\377\\n'"), HasSubstr("'\\x01\\xff'"));
}

TEST_F(Exec, RepeatedOperandsAreVerified) {
  const auto kInternal = absl::StatusCode::kInternal;
  EXPECT_THAT(Error(kInternal, Helper("wrong_echo")),
              AllOf(HasSubstr("output line 2"), HasSubstr("differ from those of dot product 2"),
                    HasSubstr("after 1 answers")));
  // Repeated metadata may be those that were not given.
  const Operation& sparse = *FindOperation("sm_80/mma.sp.m16n8k16.f32.f16.f16.f32");
  Batch batch;
  batch.Resize(DotProductShape(sparse.shape()), 3);
  const auto device =
      OpenExec(absl::StrCat("MMADIFF_INSTRUCTION=", sparse.name, " ", Helper("line")), kLong);
  EXPECT_THAT(*(*device)->Run(sparse, batch), ElementsAre(0, 0, 0));
  // Out of order.
  EXPECT_THAT(Error(absl::StatusCode::kDataLoss, Helper("line") + " | tac"),
              HasSubstr("output line 1"));
}

TEST_F(Exec, EndlessLine) {
  EXPECT_THAT(Error(absl::StatusCode::kDataLoss, "tr '\\0' 0 </dev/zero"),
              HasSubstr("output line 1 is longer than 65536 characters: '0000"));
}

TEST_F(Exec, NothingToAskStartsNothing) {
  const auto d = AnswersOf("exit 3", 0);
  ASSERT_TRUE(d.ok()) << d.status();
  EXPECT_TRUE(d->empty());
}

TEST_F(Exec, NameOpensTheSameDeviceAgain) {
  const DeviceOr device = OpenExec("./model --fast", absl::Seconds(1));
  EXPECT_EQ((*device)->name(), "exec:./model --fast");
  EXPECT_THAT(Name((*device)->identity()), HasSubstr("./model --fast` (no file of it is hashed)"));
}

// A program that is not what it was is another device, whatever it answers.
TEST_F(Exec, ChangedProgramIsAnError) {
  const std::string script = TemporaryFile("script");
  std::ofstream(script) << "exec " << Helper("line") << "\n";
  const DeviceOr device = OpenExec("sh " + script, kLong);
  EXPECT_THAT(Name((*device)->identity()), HasSubstr(" xxh3 "));
  std::vector<uint64_t> d;
  EXPECT_TRUE((*device)->Run(TestOperation(), RandomDots(TestOperation(), 3), d).ok());
  std::ofstream(script, std::ios::app) << "# another\n";
  const absl::Status status = (*device)->Run(TestOperation(), RandomDots(TestOperation(), 3), d);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(status.message(), HasSubstr("changed during the run"));
  EXPECT_TRUE(d.empty());
  EXPECT_NE(Name((*OpenExec("sh " + script, absl::Seconds(1)))->identity()),
            Name((*device)->identity()));
  std::filesystem::remove(script);
}

// ---- Inputs that fail, and processes that are kept

std::string Never(absl::string_view modes) { return Helper(absl::StrCat(modes, ",restart=never")); }

// The failures of all dot products, as a caller meets them who goes on behind each.
std::map<int64_t, InputFailure> Failures(Device& device, const Batch& batch) {
  std::map<int64_t, InputFailure> failures;
  const int64_t all = batch.dot_products();
  std::vector<uint64_t> d;
  for (int64_t done = 0; done < all;) {
    std::vector<DotProductCase> rest;
    for (int64_t i = done; i < all; ++i) rest.push_back(Extract(batch, i));
    Answers answers;
    const absl::Status s =
        device.Ask(TestOperation(), MakeDotProductBatch(batch.shape, rest), answers);
    EXPECT_TRUE(s.ok()) << s;
    if (!s.ok() || answers.size() == 0) return failures;
    for (const auto& [index, failure] : answers.failures) failures[done + index] = failure;
    d.insert(d.end(), answers.d.begin(), answers.d.end());
    done += answers.size();
  }
  const std::vector<uint64_t> model = Simulated(all);
  for (int64_t i = 0; i < all; ++i) {
    if (failures.contains(i)) continue;
    EXPECT_EQ(d[i], model[i]) << i;
  }
  return failures;
}

std::vector<int64_t> Chosen(const Batch& batch) {
  std::vector<int64_t> chosen;
  for (int64_t i = 0; i < batch.dot_products(); ++i) {
    if ((Extract(batch, i).a[0] & 0xff) == 7) chosen.push_back(i);
  }
  return chosen;
}

// Every failing input is found and no other, all others are answered.
TEST_F(Exec, InputsThatFail) {
  const Batch batch = RandomDots(TestOperation(), 300);
  const std::vector<int64_t> chosen = Chosen(batch);
  ASSERT_GE(chosen.size(), 1u);
  for (const auto& [mode, name] : std::map<std::string, std::string>{{"x", "unknown_bits"},
                                                                     {"wide", "width"},
                                                                     {"warn", "text"},
                                                                     {"exit", "crash_exit_3"},
                                                                     {"abort", "crash_signal_6"},
                                                                     {"end", "early_end"}}) {
    for (const std::string form : {"line ", "bare "}) {
      for (const std::string flush : {"", "flush ", "never"}) {
        const std::string modes = form + (flush == "never" ? "flush " : flush) + mode;
        const std::string command = flush == "never" ? Never(modes) : Helper(modes);
        const DeviceOr device = OpenExec(command, kLong);
        ASSERT_TRUE(device.ok()) << device.status();
        std::vector<int64_t> found;
        for (const auto& [index, failure] : Failures(**device, batch)) {
          found.push_back(index);
          EXPECT_EQ(Name(failure), name) << command << failure.text;
        }
        EXPECT_EQ(found, chosen) << command;
      }
    }
  }
}

// The answer before the text is that to the input which is the reason, in whatever requests it is asked.
TEST_F(Exec, TextBehindAnAnswer) {
  const Batch batch = RandomDots(TestOperation(), 300);
  for (const std::string& command :
       {Helper("bare mutter"), Helper("line flush mutter,batch=7"), Never("line flush mutter"),
        Never("bare flush mutter,batch=1"), Never("line flush mutter,batch=2")}) {
    const DeviceOr device = OpenExec(command, kLong);
    std::vector<int64_t> found;
    for (const auto& [index, failure] : Failures(**device, batch)) {
      found.push_back(index);
      EXPECT_EQ(failure.kind, FailureKind::kText);
    }
    EXPECT_EQ(found, Chosen(batch)) << command;
  }
}

// Of no input.
TEST_F(Exec, Greeting) {
  for (const std::string& command : {Helper("line greet"), Never("line flush greet")}) {
    EXPECT_THAT(Error(absl::StatusCode::kDataLoss, command),
                AllOf(HasSubstr("'Good morning'"), HasSubstr("skip=REGEX")));
    EXPECT_TRUE(AnswersOf(absl::StrCat(command, ",skip=^Good"), 100).ok());
  }
}

// Its text is in the message.
TEST_F(Exec, TextAndNeverAnAnswer) {
  EXPECT_TRUE(HoldsForSomeTimeout([](absl::Duration timeout) {
    const DeviceOr device = OpenExec("echo ready; sleep 60,restart=never", timeout);
    Answers answers;
    const absl::Status s =
        (*device)->Ask(TestOperation(), RandomDots(TestOperation(), 600), answers);
    return absl::IsInternal(s) && absl::StrContains(s.message(), "no answer for") &&
           absl::StrContains(s.message(), "'ready'") &&
           absl::StrContains(s.message(), "skip=REGEX");
  }));
}

TEST_F(Exec, TextInPlaceOfAnAnswer) {
  const Batch batch = RandomDots(TestOperation(), 1500);
  const DeviceOr device = OpenExec(Helper("bare talk"), kLong);
  std::vector<int64_t> found;
  for (const auto& [index, failure] : Failures(**device, batch)) {
    found.push_back(index);
    EXPECT_EQ(failure.kind, FailureKind::kText);
    EXPECT_THAT(failure.text, HasSubstr("%Error: none"));
  }
  EXPECT_EQ(found, Chosen(batch));
}

TEST_F(Exec, HangOnOneInput) {
  const Batch batch = RandomDots(TestOperation(), 600);
  const std::vector<int64_t> chosen = Chosen(batch);
  EXPECT_TRUE(HoldsForSomeTimeout([&](absl::Duration timeout) {
    for (const std::string& command : {Helper("line hang"), Never("line flush hang")}) {
      const DeviceOr device = OpenExec(command, timeout);
      Answers answers;
      const absl::Status s = (*device)->Ask(TestOperation(), batch, answers);
      if (!s.ok() || answers.size() != chosen[0] + 1) return false;
      EXPECT_EQ(Name(answers.failures.at(chosen[0])), "hang");
    }
    return true;
  }));
}

// Some errors of a Status are an input's, and Run() says which.
TEST_F(Exec, RunNamesTheInputThatFails) {
  const Batch batch = RandomDots(TestOperation(), 1500);
  const int64_t first = Chosen(batch).front();
  const DeviceOr device = OpenExec(Helper("line exit"), kLong);
  std::vector<uint64_t> d;
  const absl::Status s = (*device)->Run(TestOperation(), batch, d);
  EXPECT_EQ(s.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(s.message(),
              HasSubstr(FormatLine(*TestOperation().instruction, Extract(batch, first))));
  ASSERT_TRUE(FailureOf(s).has_value());
  EXPECT_EQ(FailureOf(s)->exit_code, 3);
  EXPECT_EQ(static_cast<int64_t>(d.size()), first);
}

// It fails after so many answers, whatever it is asked; then no process is asked for more.
TEST_F(Exec, FailuresOfAge) {
  const Batch batch = RandomDots(TestOperation(), 1000);
  for (const std::string& command : {Helper("line exit at=101"), Helper("line flush exit at=101"),
                                     Helper("bare end at=101"), Never("line flush abort at=101")}) {
    const DeviceOr device = OpenExec(command, kLong);
    const std::map<int64_t, InputFailure> failures = Failures(**device, batch);
    ASSERT_EQ(failures.size(), 1u) << command;
    EXPECT_EQ(failures.begin()->second.age, 100u) << command;
  }
}

// Nobody asks behind the last answer of a run but LookBehind().
TEST_F(Exec, LookBehind) {
  const Operation& op = TestOperation();
  for (const int answers : {49, 50}) {
    const DeviceOr device = OpenExec(Never("line flush exit at=51"), kLong);
    EXPECT_FALSE((*device)->LookBehind(op)) << "it was asked nothing";
    ASSERT_TRUE((*device)->Run(op, RandomDots(op, answers)).ok());
    const std::optional<InputFailure> failure = (*device)->LookBehind(op);
    ASSERT_EQ(failure.has_value(), answers == 50);
    if (failure) {
      EXPECT_EQ(failure->age, 50u);
      EXPECT_EQ(failure->exit_code, 3);
    }
  }
  // A line that it answers last kills it, here any with the first operand of the second one.
  const Batch batch = RandomDots(op, 2);
  const std::string killer = FormatLine(*op.instruction, Extract(batch, 1)).substr(0, 4);
  const std::string dies =
      absl::StrCat("while read -r line; do echo \"$line 00000000\"; case $line in ", killer,
                   "*) exit 3;; esac; done");
  const DeviceOr device = OpenExec(absl::StrCat(dies, ",restart=never"), kLong);
  ASSERT_TRUE((*device)->Run(op, batch).ok());
  ASSERT_TRUE((*device)->LookBehind(op).has_value());
  ASSERT_TRUE((*device)->Run(op, MakeDotProductBatch(op.shape(), {Extract(batch, 0)})).ok());
  EXPECT_FALSE((*device)->LookBehind(op).has_value());
}

TEST_F(Exec, KeptProcess) {
  const Batch batch = RandomDots(TestOperation(), 1000);
  for (const char* command : {"line flush", "bare flush", "line flush verbose"}) {
    const DeviceOr device = OpenExec(Never(command), kLong);
    for (int i = 0; i < 3; ++i) {
      const auto d = (*device)->Run(TestOperation(), batch);
      ASSERT_TRUE(d.ok()) << d.status();
      EXPECT_EQ(*d, Simulated(1000));
    }
  }
  // One life, until it is begun again.
  const DeviceOr device = OpenExec(Never("line flush late=1500"), kLong);
  EXPECT_EQ(*(*device)->Run(TestOperation(), batch), Simulated(1000));
  EXPECT_NE(*(*device)->Run(TestOperation(), batch), Simulated(1000));
  EXPECT_TRUE((*device)->Restart());
  EXPECT_EQ(*(*device)->Run(TestOperation(), batch), Simulated(1000));
}

// Two starts of three fail, as those that want a license; no input is to blame, and nothing is lost.
TEST_F(Exec, KeptProcessThatCannotStartAtTimes) {
  const std::string starts = TemporaryFile("starts");
  const DeviceOr device =
      OpenExec(absl::StrCat("echo >>", starts, "; [ $(($(wc -l <", starts,
                            ") % 3)) = 0 ] || exit 9; ", "exec ", Never("line flush")),
               kLong);
  for (int i = 0; i < 3; ++i) {
    Answers answers;
    const absl::Status s =
        (*device)->Ask(TestOperation(), RandomDots(TestOperation(), 50), answers);
    EXPECT_TRUE(s.ok()) << s;
    EXPECT_EQ(answers.d, Simulated(50));
    EXPECT_TRUE(answers.failures.empty());
    (*device)->Restart();
  }
  std::filesystem::remove(starts);
}

// In whatever pieces it is asked.
TEST_F(Exec, BinaryProtocol) {
  const Batch batch = RandomDots(TestOperation(), 700);
  for (const char* options : {",protocol=binary", ",protocol=binary,restart=never",
                              ",protocol=binary,batch=7,restart=never"}) {
    for (const char* modes : {"binary", "binary frame_each"}) {
      const DeviceOr device = OpenExec(Helper(absl::StrCat(modes, options)), kLong);
      ASSERT_TRUE(device.ok()) << device.status();
      const auto d = (*device)->Run(TestOperation(), batch);
      ASSERT_TRUE(d.ok()) << d.status();
      EXPECT_EQ(*d, Simulated(700));
    }
    const DeviceOr device = OpenExec(Helper(absl::StrCat("binary exit", options)), kLong);
    std::vector<int64_t> found;
    for (const auto& [index, failure] : Failures(**device, batch)) found.push_back(index);
    EXPECT_EQ(found, Chosen(batch)) << options;
  }
}

TEST_F(Exec, LinesThatAreSkipped) {
  const auto d = AnswersOf(Helper("bare warn,skip=^%Warn(ing)?:"), 1500);
  ASSERT_TRUE(d.ok()) << d.status();
  EXPECT_EQ(*d, Simulated(1500));
}

// What fails whatever it is asked is no finding.
TEST_F(Exec, ProgramsThatAlwaysFail) {
  EXPECT_THAT(Error(absl::StatusCode::kInternal, "kill -SEGV $$"),
              AllOf(HasSubstr("signal 11"), HasSubstr("it does so for every input")));
  EXPECT_THAT(Error(absl::StatusCode::kInternal, "sleep 1000", 3, absl::Milliseconds(300)),
              HasSubstr("it does so for every input"));
  EXPECT_THAT(Error(absl::StatusCode::kDataLoss, "sed s/.*/xxxxxxxx/"),
              AllOf(HasSubstr("'xxxxxxxx'"), HasSubstr("it answers every input this way")));
}

TEST_F(Exec, Options) {
  const auto error = [](absl::string_view text) {
    const auto options = ParseExecOptions(text, absl::Seconds(1));
    return options.ok() ? "" : std::string(options.status().message());
  };
  EXPECT_THAT(error("./m,timeout=0"), HasSubstr("timeout must be a duration above 0"));
  EXPECT_THAT(error("./m,batch=0"), HasSubstr("from 1 to"));
  EXPECT_THAT(error("./m,restart=maybe"), HasSubstr("each or never"));
  EXPECT_THAT(error("./m,restrat=never"), HasSubstr("did you mean restart?"));
  EXPECT_THAT(error("./m, restart=never"), HasSubstr("without a space"));
  EXPECT_THAT(error("./m,protocol=json"), HasSubstr("lines or binary"));
  EXPECT_THAT(error("./m,skip=("), HasSubstr("regular expression"));
  EXPECT_THAT(error("./m,batch=1,batch=2"), HasSubstr("twice"));
  EXPECT_THAT(error("./m,protocol=binary,skip=a"), HasSubstr("line protocol"));
  const auto options =
      ParseExecOptions("X=1,Y ./m,batch=3 -a,batch=64,timeout=5m", absl::Seconds(1));
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->command, "X=1,Y ./m,batch=3 -a");
  EXPECT_EQ(options->batch, 64);
  EXPECT_EQ(options->timeout, absl::Minutes(5));
}

TEST_F(Exec, InheritedDescriptors) {
  int to[2], from[2];
  ASSERT_EQ(pipe(to), 0);
  ASSERT_EQ(pipe(from), 0);
  const pid_t peer = fork();
  if (peer == 0) {
    setenv("MMADIFF_INSTRUCTION", TestOperation().name.c_str(), 1);
    dup2(to[0], 0);
    dup2(from[1], 1);
    for (const int fd : {to[0], to[1], from[0], from[1]}) close(fd);
    execl(MMADIFF_EXEC_HELPER, MMADIFF_EXEC_HELPER, "line", "flush", "x", nullptr);
    _exit(127);
  }
  close(to[0]);
  close(from[1]);
  {
    const std::string spec = absl::StrCat(from[0], ",", to[1]);
    const DeviceOr device = OpenDescriptors(spec, kLong), other = OpenDescriptors(spec, kLong);
    ASSERT_TRUE(device.ok()) << device.status();
    EXPECT_EQ(Name((*device)->identity()), "descriptors " + spec);
    const Batch batch = RandomDots(TestOperation(), 1500);
    for (const DeviceOr& one : {std::cref(device), std::cref(other)}) {
      std::vector<int64_t> found;
      for (const auto& [index, failure] : Failures(**one, batch)) found.push_back(index);
      EXPECT_EQ(found, Chosen(batch));
    }
    const Operation same = TestOperation();  // as `infer` makes it with the nearest model
    EXPECT_NE((*device)->Run(same, batch).status().code(), absl::StatusCode::kNotFound);
    const Operation& another = *FindOperation("x86/vfmadd231ss");
    EXPECT_EQ((*device)->Run(another, RandomDots(another, 1)).status().code(),
              absl::StatusCode::kNotFound);
    kill(peer, SIGKILL);
    waitpid(peer, nullptr, 0);
    EXPECT_EQ((*device)->Run(TestOperation(), batch).status().code(),
              absl::StatusCode::kUnavailable);
  }
  EXPECT_EQ(OpenDescriptors("1", kLong).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(OpenDescriptors("998,999", kLong).status().code(), absl::StatusCode::kInvalidArgument);
  close(to[1]);
  close(from[0]);
}

}  // namespace
}  // namespace mmadiff

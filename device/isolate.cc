#include "device/isolate.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace mmadiff {
namespace {

constexpr uint64_t kMaxAge = 1 << 20;
constexpr int kRoundsInTheDark = 3;
constexpr size_t kMaxSuspects = 8;
constexpr int64_t kMaxBeside = 6;

// Searches among the dot products without an answer.
class Isolator {
 public:
  Isolator(FreshAsker& asker, const Batch& batch, int64_t first, int64_t count, uint64_t age,
           Asked failed)
      : asker_(asker),
        batch_(batch),
        first_(first),
        end_(first + count),
        age_(age),
        failed_(std::move(failed)),
        next_(first) {
    // A program that fails after it has answered everything may do so because of any input.
    if (failed_.trusted && failed_.answers.size() < count) Keep(failed_.answers);
  }

  Asked Search() && {
    Blame();
    result_.status = blamed_ ? absl::OkStatus() : Stopped() ? stopped_ : failed_.status;
    if (everything_) result_.failure = failed_.failure;
    if (!blamed_ && failed_.trusted && result_.answers.size() < failed_.answers.size()) {
      result_.answers = failed_.answers;
    }
    return std::move(result_);
  }

 private:
  void Blame() {
    // Missing or surplus answers shift the others to other inputs.
    if (!failed_.echoed && next_ > first_ && !Fails(Ask(batch_, next_, 1))) {
      result_.answers = {};
      next_ = first_;
      failed_.trusted = false;
    }
    if (BlameHere() || Stopped()) return;
    const uint64_t age = age_ + result_.answers.size();
    if (Stopped() || (age > 0 && BlameAge(next_, age))) return;
    const int64_t begin = next_;
    if (!FindNextFailing()) return;
    if (!BlameHere() && !Stopped()) BlameAge(next_, next_ - begin);
  }

  // Whether the search is over: the dot product fails alone, or the last one answered ended the
  // process.
  bool BlameHere() {
    const Asked alone = Ask(batch_, next_, 1);
    if (!Fails(alone)) return !Stopped() && BlameLastAnswered();
    // An input that ends a process after its answer does not end it before.
    if (alone.answers.size() == 0 || !BlameLastAnswered()) BlameIfAlone();
    return true;
  }

  // Whether the dot product fails alone; then `alone_` has the failure. (Or the caller asked to
  // stop.)
  bool Fails(const Asked& asked) {
    alone_ = asked.failure;
    if (!asked.answers.failures.empty()) alone_ = asked.answers.failures.begin()->second;
    return alone_.has_value();
  }

  Asked Ask(const Batch& batch, int64_t first, int64_t count, bool singly = false) {
    Asked asked = asker_.AskFresh(batch, first, count, singly);
    if (absl::IsCancelled(asked.status)) stopped_ = asked.status;
    return asked;
  }
  bool Stopped() const { return !stopped_.ok(); }

  void Keep(Answers answers) {
    next_ += answers.size();
    result_.answers.Append(std::move(answers));
  }

  // Blames the input if the program answers a different one.
  void BlameIfAlone() {
    const InputFailure failure = *alone_;
    const bool hangs = failure.kind == FailureKind::kHang;  // each repetition takes the time limit
    const Batch others = hangs ? asker_.Neighbours() : Others();
    for (int64_t i = 0; i < others.dot_products() && !Stopped(); ++i) {
      const DotProductCase other = Extract(others, i), suspect = Extract(batch_, next_);
      if (other == suspect) continue;
      if (Fails(Ask(others, i, 1)) || Stopped()) continue;
      // A hang takes too long to repeat.
      if (hangs) return Blame(failure);
      if (std::optional<InputFailure> behind = FailureBehind(other, suspect)) Blame(*behind);
      return;
    }
    everything_ = !Stopped();
  }

  // The neighbors, and some of the other dot products of the request.
  Batch Others() const {
    const Batch neighbours = asker_.Neighbours();
    std::vector<DotProductCase> others;
    for (int64_t i = 0; i < neighbours.dot_products(); ++i)
      others.push_back(Extract(neighbours, i));
    const int64_t step = std::max<int64_t>(1, (end_ - first_) / kMaxBeside);
    for (int64_t i = first_; i < end_; i += step) others.push_back(Extract(batch_, i));
    return MakeDotProductBatch(batch_.shape, others);
  }

  // A program that fails intermittently, or that cannot start at times, failed by chance.
  std::optional<InputFailure> FailureBehind(const DotProductCase& other,
                                            const DotProductCase& suspect) {
    for (int round = 0; round < kRoundsInTheDark; ++round) {
      const Asked asked = AskPair(other, suspect);
      if (!Fails(asked) || Stopped()) return std::nullopt;
      if (asked.trusted && asked.answers.size() > 0) break;  // the program had started
    }
    return alone_;
  }

  bool BlameLastAnswered() {
    const int64_t last = result_.answers.size() - 1;
    if (last < 0 || result_.answers.failures.contains(last)) return false;
    std::optional<EndBehind> end = FindEndBehind(asker_, Extract(batch_, next_ - 1));
    if (!end) return false;
    result_.answers.Truncate(last);
    --next_;
    Blame(std::move(end->failure));
    return true;
  }

  Asked AskPair(const DotProductCase& first, const DotProductCase& second) {
    const Batch pair = MakeDotProductBatch(batch_.shape, {first, second});
    return Ask(pair, 0, 2, asker_.AnswersSingly());
  }

  void Blame(InputFailure failure) {
    result_.answers.Fail(std::move(failure));
    blamed_ = true;
  }

  // Whether the process fails after a certain number of answers, for any input: here the same input
  // is repeated.
  bool BlameAge(int64_t index, uint64_t age) {
    const DotProductCase dot = Extract(batch_, index);
    if (FindEndBehind(asker_, dot)) return false;
    const std::vector<DotProductCase> same(std::min(age, kMaxAge) + 1, dot);
    const Batch repeated = MakeDotProductBatch(batch_.shape, same);
    Asked asked = Ask(repeated, 0, repeated.dot_products());
    if (!asked.failure.has_value()) return false;
    asked.failure->age = age;
    if (asked.trusted && asked.answers.size() > 0) asked.failure->age = asked.answers.size();
    // It may end after the last answer that it gives.
    if (!FailsAtAge(dot, *asked.failure) &&
        (--asked.failure->age == 0 || !FailsAtAge(dot, *asked.failure))) {
      return false;
    }
    Blame(*std::move(asked.failure));
    return true;
  }

  // Whether the failure repeats at that age, and not before it; otherwise it is random. Tries more
  // often if no answer shows when it failed.
  bool FailsAtAge(const DotProductCase& dot, const InputFailure& failure) {
    const std::vector<DotProductCase> same(failure.age + 1, dot);
    const Batch repeated = MakeDotProductBatch(batch_.shape, same);
    const auto before = static_cast<int64_t>(failure.age);
    for (int round = 0; round < kRoundsInTheDark; ++round) {
      if (Ask(repeated, 0, before).failure || Stopped()) return false;
      const Asked again = Ask(repeated, 0, before + 1);
      if (!again.failure || Stopped()) return false;
      if (again.trusted && again.answers.size() > 0) return again.answers.size() >= before;
    }
    return true;
  }

  // Moves to the first dot product that fails after others. False: none does, or the caller asked
  // to stop.
  bool FindNextFailing() {
    const int64_t rest = end_ - next_;
    if (asker_.AnswersSingly()) {
      Asked all = Ask(batch_, next_, rest, /*singly=*/true);
      Keep(std::move(all.answers));
      return all.failure.has_value();
    }
    Asked answered = Ask(batch_, next_, rest);
    if (!answered.failure.has_value()) {
      if (!Stopped()) Keep(std::move(answered.answers));
      return false;
    }
    // [next_, next_ + good) is answered, and [next_, next_ + bad) is not. If the program answers at
    // once, the number of answers before it ended suggests where to look first.
    int64_t good = 0, bad = rest, hint = answered.trusted ? answered.answers.size() : 0;
    answered = {};
    while (bad - good > 1) {
      const bool near = hint > good && hint < bad;
      const int64_t middle = near ? hint : good + (bad - good) / 2;
      Asked part = Ask(batch_, next_, middle);
      if (Stopped()) return false;
      if (part.failure.has_value()) {
        bad = middle;
      } else {
        good = middle;
        hint = near ? good + 1 : hint;
        answered = std::move(part);
      }
    }
    Keep(std::move(answered.answers));
    return true;
  }

  FreshAsker& asker_;
  const Batch& batch_;
  const int64_t first_, end_;
  const uint64_t age_;
  Asked failed_;
  int64_t next_;  // the first dot product without an answer
  std::optional<InputFailure> alone_;
  absl::Status stopped_;
  bool blamed_ = false, everything_ = false;
  Asked result_;
};

uint64_t OneOf(const Format& f) {
  if (IsAbsent(f)) return 0;
  return IsInteger(f) ? 1 : uint64_t(1 - f.min_exponent) << (f.fraction_bits + f.ignored_bits);
}

}  // namespace

std::vector<DotProductCase> PlainDotProducts(const Operation& op) {
  const Instruction& i = *op.instruction;
  DotProductCase zeros;
  zeros.a.resize(op.shape().row_words());
  zeros.b = zeros.a;
  DotProductCase ones = zeros;
  ones.a.front() = OneOf(*i.a);
  ones.b.front() = OneOf(*i.b);
  ones.c = OneOf(*i.c);
  return {zeros, ones};
}

Asked Isolate(FreshAsker& asker, const Batch& batch, int64_t first, int64_t count, uint64_t age,
              Asked failed) {
  if (!failed.failure.has_value()) return failed;
  return Isolator(asker, batch, first, count, age, std::move(failed)).Search();
}

std::optional<EndBehind> FindEndBehind(FreshAsker& asker, const DotProductCase& suspect) {
  const Batch others = asker.Neighbours();
  const auto failure = [&](const DotProductCase& dot, const DotProductCase& behind) {
    const Batch pair = MakeDotProductBatch(others.shape, {dot, behind});
    return asker.AskFresh(pair, 0, 2, asker.AnswersSingly()).failure;
  };
  for (int64_t i = 0; i < others.dot_products(); ++i) {
    const DotProductCase other = Extract(others, i);
    if (suspect == other || failure(other, other) || !failure(suspect, other)) continue;
    const std::optional<InputFailure> again = failure(suspect, other);
    if (!again || ScopeOf(again->kind) != FailureScope::kProcess) return std::nullopt;
    return EndBehind{*again, other};
  }
  return std::nullopt;
}

void PlaceTexts(const OtherTexts& texts, TextPlace place, Answers& answers) {
  if (answers.size() == 0) return;
  for (const auto& [before, text] : texts) {
    const int64_t index = place == TextPlace::kBehind ? before - 1 : before;
    answers.failures[std::clamp<int64_t>(index, 0, answers.size() - 1)] = {
        .kind = FailureKind::kText, .text = text};
  }
}

absl::StatusOr<TextHabit> FindTextHabit(FreshAsker& asker, const Batch& batch, int64_t first,
                                        const OtherTexts& texts) {
  const auto ask_pair = [&](const DotProductCase& dot, const DotProductCase& behind) {
    return asker.AskFresh(MakeDotProductBatch(batch.shape, {dot, behind}), 0, 2, false);
  };
  TextHabit habit;
  const Batch others = asker.Neighbours();
  for (int64_t i = 0; habit.quiet.a.empty(); ++i) {
    if (i == others.dot_products()) {
      return absl::DataLossError(absl::StrCat(texts.begin()->second,
                                              "; it prints such a line for every input. If the "
                                              "line is harmless, add skip=REGEX"));
    }
    const DotProductCase other = Extract(others, i);
    const Asked asked = ask_pair(other, other);
    if (absl::IsCancelled(asked.status)) return asked.status;
    if (asked.well() && asked.texts.empty()) habit.quiet = other;
  }
  std::vector<DotProductCase> suspects;
  for (auto text = texts.begin(); text != texts.end() && suspects.size() < kMaxSuspects; ++text) {
    const int64_t next = first + text->first;
    if (next < batch.dot_products()) suspects.push_back(Extract(batch, next));
    suspects.push_back(next > 0 ? Extract(batch, next - 1) : Extract(others, 0));
  }
  for (const DotProductCase& suspect : suspects) {
    const Asked asked = ask_pair(suspect, habit.quiet);
    if (absl::IsCancelled(asked.status)) return asked.status;
    if (asked.texts.empty() || !asked.status.ok()) continue;
    habit.place = asked.texts.begin()->first == 0 ? TextPlace::kBefore : TextPlace::kBehind;
    break;
  }
  return habit;
}

Asked CheckOthers(FreshAsker& asker, Asked asked) {
  if (std::ssize(asked.answers.failures) < asked.answers.size()) return asked;
  const Batch others = asker.Neighbours();
  for (int64_t i = 0; i < others.dot_products(); ++i) {
    Asked other = asker.AskFresh(others, i, 1, false);
    if (other.well()) return asked;
    if (absl::IsCancelled(other.status)) return other;
  }
  const InputFailure& first = asked.answers.failures.begin()->second;
  return {
      .answers = {},
      .status = absl::DataLossError(absl::StrCat(first.text, "; it answers every input this way")),
      .failure = first};
}

}  // namespace mmadiff

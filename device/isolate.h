// Of a program that failed among many dot products: on which of them it fails again, asked alone in
// a fresh process, where it answers another one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "device/answer_reader.h"
#include "device/answers.h"
#include "sim/batch.h"
#include "sim/operation.h"

namespace mmadiff {

// The result of a request for several dot products.
struct Asked {
  Answers answers;      // to the first so many
  absl::Status status;  // OK: to all
  // What the status is if it repeats on the input. Nothing where nobody is to ask again: all is
  // well, the caller wants no more, or no process can be had.
  std::optional<InputFailure> failure;
  bool trusted = true;  // whether `answers` are those to these dot products, though it failed
  bool echoed = true;   // whether each named its dot product: else one that is missing went unseen
  OtherTexts texts = {};  // that came among the answers, or before them or behind

  bool well() const { return status.ok() && answers.failures.empty(); }
};

// A program that can be started again.
class FreshAsker {
 public:
  virtual ~FreshAsker() = default;

  // Asks dot products [first, first + count) of the batch in a fresh process. `singly`: each once
  // the one before is answered, if the program answers at once; the one that fails has no answer.
  virtual Asked AskFresh(const Batch& batch, int64_t first, int64_t count, bool singly) = 0;
  // Whether it can be asked singly: then no more than the first that has no answer is to blame.
  virtual bool AnswersSingly() const = 0;
  // A batch of dot products: one that it has answered before, if there is one, and PlainDotProducts().
  virtual Batch Neighbours() const = 0;
};

// Which are nothing special: of zeros, and 1.0 x 1.0 + 1.0.
std::vector<DotProductCase> PlainDotProducts(const Operation& op);

// `failed` came of asking [first, first + count) of the batch, of a process that had given `age` answers before.
// Returns the answers from `first` on, with the failure as the last of them; OK status. Otherwise the
// status: that of `failed` if it did not repeat, or repeats whatever is asked; kCancelled.
Asked Isolate(FreshAsker& asker, const Batch& batch, int64_t first, int64_t count, uint64_t age,
              Asked failed);

struct EndBehind {
  InputFailure failure;
  DotProductCase other;  // that was asked behind it, and is answered behind itself
};
// How a fresh process ends when it has answered the suspect and is asked another one.
std::optional<EndBehind> FindEndBehind(FreshAsker& asker, const DotProductCase& suspect);

// Where a program prints other text.
enum class TextPlace : uint8_t {
  kBefore,  // the answer to the input that is the reason
  kBehind,  // this answer, or the last one
};

// Failures of the inputs that are the reasons.
void PlaceTexts(const OtherTexts& texts, TextPlace place, Answers& answers);

struct TextHabit {
  std::optional<TextPlace> place;  // none: the texts did not come again
  DotProductCase quiet;            // without other text
};
// `texts` came when dot products from `first` on were asked. kDataLoss: they come whatever is asked.
absl::StatusOr<TextHabit> FindTextHabit(FreshAsker& asker, const Batch& batch, int64_t first,
                                        const OtherTexts& texts);

// `asked` went well, of a program that has not answered before: kDataLoss if nothing in it is an answer,
// and nothing else that it is asked gets one.
Asked CheckOthers(FreshAsker& asker, Asked asked);

}  // namespace mmadiff

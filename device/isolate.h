// After a program failed among many dot products: finds the ones on which it fails again when each
// is sent alone to a fresh process that answers a different dot product.
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
  Answers answers;      // to the first ones
  absl::Status status;  // OK: all were answered
  // The failure that the status becomes if it repeats on the input. nullopt if repeating the
  // request is pointless: no failure, the caller asked to stop, or no process could be started.
  std::optional<InputFailure> failure;
  bool trusted = true;  // whether `answers` belong to these dot products, despite the failure
  bool echoed = true;   // whether each repeated its operands: if not, a missing one went unnoticed
  OtherTexts texts = {};  // before, among or after the answers

  bool well() const { return status.ok() && answers.failures.empty(); }
};

// A program that can be restarted.
class FreshAsker {
 public:
  virtual ~FreshAsker() = default;

  // Sends dot products [first, first + count) of the batch to a fresh process. `singly`: sends each
  // only after the previous one is answered, if the program answers at once; the one that fails has
  // no answer.
  virtual Asked AskFresh(const Batch& batch, int64_t first, int64_t count, bool singly) = 0;
  // Whether dot products can be sent singly: then only the first one without an answer can be to
  // blame.
  virtual bool AnswersSingly() const = 0;
  // A batch of dot products: one that the program has answered before, if any, and
  // PlainDotProducts().
  virtual Batch Neighbours() const = 0;
};

// Dot products without special cases: zeros, and 1.0 x 1.0 + 1.0.
std::vector<DotProductCase> PlainDotProducts(const Operation& op);

// `failed` is the result of a request for [first, first + count) of the batch, to a process that
// had given `age` answers before. Returns the answers from `first` on, with the failure as the last
// of them; OK status. Otherwise the status: that of `failed` if it did not repeat, or repeats for
// every input; or kCancelled.
Asked Isolate(FreshAsker& asker, const Batch& batch, int64_t first, int64_t count, uint64_t age,
              Asked failed);

struct EndBehind {
  InputFailure failure;
  DotProductCase other;  // the dot product sent next; it is answered when sent after itself
};
// How a fresh process ends after it has answered the suspect and receives one more dot product.
std::optional<EndBehind> FindEndBehind(FreshAsker& asker, const DotProductCase& suspect);

// Where a program prints other text.
enum class TextPlace : uint8_t {
  kBefore,  // the answer to the input that causes it
  kBehind,  // that answer, or the last one
};

// Adds the failures of the inputs that caused the texts.
void PlaceTexts(const OtherTexts& texts, TextPlace place, Answers& answers);

struct TextHabit {
  std::optional<TextPlace> place;  // nullopt: the texts did not appear again
  DotProductCase quiet;            // without other text
};
// `texts` appeared during a request for dot products from `first` on. kDataLoss: they appear for
// every input.
absl::StatusOr<TextHabit> FindTextHabit(FreshAsker& asker, const Batch& batch, int64_t first,
                                        const OtherTexts& texts);

// `asked` succeeded, for a program that has not answered before: kDataLoss if it contains failures
// only, and every other input tried fails too.
Asked CheckOthers(FreshAsker& asker, Asked asked);

}  // namespace mmadiff

// How a device reads the words of each operand: every word of a narrow format, and words of every
// kind of a wide one, times one, for k = 0; and a few for every other k.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "device/device.h"
#include "sim/reading.h"
#include "triage/explain.h"
#include "triage/probe/probe.h"

namespace mmadiff {

// A word that the device takes for a different value.
struct Misread {
  uint64_t word;
  Observed observed;
  std::optional<uint64_t> as;  // the word of which the model gives the device's answer
  int k = 0;
};

struct OperandDecoding {
  ReadOperand operand;
  const Format* format;            // the operation's
  size_t words = 0, of = 0;        // asked for k = 0, out of
  std::vector<Misread> misread;    // for k = 0, ascending words
  std::vector<Misread> elsewhere;  // for other k
  std::string all_of = {};         // "every NaN", if these are the class and have one image
  bool ignored = false;  // a is sparse, and for each k with misread words all results are zeros
  // The changes of how it is read, each alone, with which the model reproduces all answers; without one
  // the words are a map, which is not a cause.
  std::vector<Change> rules = {};

  bool AsTheModel() const { return misread.empty() && elsewhere.empty(); }
  void Clear() {  // another operand is misread
    misread.clear();
    elsewhere.clear();
    ignored = false;
    rules.clear();
  }
};

struct Decoding {
  std::vector<OperandDecoding> operands;
  // Changes of one parameter with which the model reproduces the answers to all operands.
  std::vector<Change> changes;
  // A form of the result that reproduces all answers, "the low half of an f32"; or its value for zeros
  // if that is not zero; or empty.
  std::string result;
  // Several operands seem to misread the one that the words of others meet.
  bool relative = false;
  bool refuted = false;  // rules gave all answers, but not the results of other products
  std::vector<Observed> observed;
  const Format* d = nullptr;

  bool AsTheModel() const;
};

// `op` is `asked` with a model. Bits of NaNs and signs of zeros do not count. A slow device gets fewer
// words. Rules must also give the results of other products in which they make a difference. Errors are the device's.
absl::StatusOr<Decoding> AskDecoding(Device& device, const Operation& asked, const Operation& op);
// The same from the one of the models that leaves the fewest words misread; rules hold for single words
// alone. The models must outlive the result.
absl::StatusOr<Decoding> AskDecoding(Device& device, const Operation& asked,
                                     std::span<const Operation> models);

// The operation's model with the rules that were found.
Algorithm WithRules(const Operation& op, const Decoding& decoding);

// The answer to Method::kDecoding.
ProbeAnswer DecodingAnswer(const Operation& op, const Question& question, Decoding decoding);

}  // namespace mmadiff

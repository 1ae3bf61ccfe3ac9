// Devices for the tests of triage: the simulator with a neighbour's algorithm and planted faults.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "device/device.h"
#include "device/testing/operations.h"
#include "sim/parameter.h"
#include "sim/simulate.h"
#include "sim/word.h"
#include "triage/model_device.h"

namespace mmadiff {

// The simulator with one parameter changed, "NAME=VALUE"; the model itself for an empty change.
class ChangedDevice : public Device {
 public:
  explicit ChangedDevice(std::string change) : change_(std::move(change)) {}

  std::string name() const override { return "faulty:" + change_; }
  Identity identity() const override { return Identity::Named("test"); }
  absl::Status Supports(const Operation&) const override { return absl::OkStatus(); }
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    executions += batch.count;
    Model model = op.model;
    for (const Neighbour& n : AllNeighbours(op.model)) {
      if (Name(n) == change_) model.algorithm = n.algorithm;
    }
    if (!change_.empty() && model.algorithm == op.model.algorithm) {
      return absl::NotFoundError(op.name + " has no neighbour " + change_);
    }
    d.resize(batch.dot_products());
    Simulate(model, batch, d);
    return absl::OkStatus();
  }

  int64_t executions = 0;

 private:
  std::string change_;
};

// The model of an operation, whose dot products are changed before it reads them.
class ChangedOperands : public ModelDevice {
 public:
  ChangedOperands(const Operation& op, std::function<void(DotProductCase&)> change)
      : ModelDevice(op.model), op_(op), change_(std::move(change)) {}

  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    std::vector<DotProductCase> dots;
    for (int64_t i = 0; i < batch.dot_products(); ++i)
      change_(dots.emplace_back(Extract(batch, i)));
    return ModelDevice::Execute(op, MakeDotProductBatch(op_.shape(), dots), d);
  }

 private:
  const Operation& op_;
  const std::function<void(DotProductCase&)> change_;
};

// Exchanges results 3 and 20 of every whole tile; right for single dot products.
class SwappedLanesDevice : public ChangedDevice {
 public:
  SwappedLanesDevice() : ChangedDevice("") {}
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    const absl::Status status = ChangedDevice::Execute(op, batch, d);
    const int64_t words = batch.shape.d_words();
    for (int64_t i = 0; words > 20 && i < batch.count; ++i) {
      std::swap(d[i * words + 3], d[i * words + 20]);
    }
    return status;
  }
};

// Result 3 of a tile has result 20 as its addend, as in machine code that overwrites a register.
class OtherAddendDevice : public ChangedDevice {
 public:
  OtherAddendDevice() : ChangedDevice("") {}
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    const absl::Status status = ChangedDevice::Execute(op, batch, d);
    const int64_t words = batch.shape.d_words();
    for (int64_t i = 0; words > 20 && i < batch.count; ++i) {
      DotProductCase dot = Extract(batch, i * words + 3);
      dot.c = d[i * words + 20];
      d[i * words + 3] = Simulate(op.model, dot);
    }
    return status;
  }
};

// Flips the lowest bit of element 0 when row 5 of A has more than one word that is not zero.
class NeighbourOperationDevice : public ChangedDevice {
 public:
  NeighbourOperationDevice() : ChangedDevice("") {}
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    const absl::Status status = ChangedDevice::Execute(op, batch, d);
    const Shape& s = batch.shape;
    for (int64_t i = 0; s.m > 5 && i < batch.count; ++i) {
      const auto row5 = batch.a.begin() + i * s.a_words() + 5 * s.row_words();
      if (s.k - std::count(row5, row5 + s.k, 0u) > 1) d[i * s.d_words()] ^= 1;
    }
    return status;
  }
};

// Flips bit 2 of every result of two or more products that are not zero: no parameter explains
// that.
class CountingDevice : public ChangedDevice {
 public:
  CountingDevice() : ChangedDevice("") {}
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    const absl::Status status = ChangedDevice::Execute(op, batch, d);
    for (int64_t i = 0; i < batch.dot_products(); ++i) {
      const DotProductCase dot = Extract(batch, i);
      int products = 0;
      for (int k = 0; k < op.model.k; ++k) {
        products += Decode(op.model.a, dot.a[k]).significand != 0 &&
                    Decode(op.model.b, dot.b[k]).significand != 0;
      }
      if (products >= 2) d[i] ^= 4;
    }
    return status;
  }
};

// Flips the lowest result bits in every second call.
class FlakyDevice : public ChangedDevice {
 public:
  FlakyDevice() : ChangedDevice("") {}
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    const absl::Status status = ChangedDevice::Execute(op, batch, d);
    if (++calls_ % 2 == 0) return status;
    for (uint64_t& word : d) word ^= 1;
    return status;
  }

 private:
  int calls_ = 0;
};

// Has no word for dot products with this addend; what is more than a word ends what it answers.
class FailingDevice : public ChangedDevice {
 public:
  FailingDevice(InputFailure failure, uint64_t c)
      : ChangedDevice(""), failure_(std::move(failure)), c_(c) {}

 private:
  absl::Status ExecuteFallible(const Operation& op, const Batch& batch, Answers& answers) override {
    const absl::Status status = ChangedDevice::Execute(op, batch, answers.d);
    for (int64_t i = 0; i < answers.size(); ++i) {
      if (batch.c[i] != c_) continue;
      answers.failures[i] = failure_;
      if (ScopeOf(failure_.kind) != FailureScope::kWord) answers.Truncate(i + 1);
    }
    return status;
  }

  const InputFailure failure_;
  const uint64_t c_;
};

// Answers every second large batch a little later, so that several threads overtake each other.
class UnevenDevice : public ChangedDevice {
 public:
  using ChangedDevice::ChangedDevice;
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    static std::atomic<int> calls = 0;  // of all devices together
    const bool large = batch.dot_products() > 4096;
    if (large && calls++ % 2 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return ChangedDevice::Execute(op, batch, d);
  }
};

// Dies after a number of calls.
class DyingDevice : public ChangedDevice {
 public:
  DyingDevice(std::string change, int calls) : ChangedDevice(std::move(change)), calls_(calls) {}
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    if (calls_-- <= 0) return absl::UnavailableError("the device is gone");
    return ChangedDevice::Execute(op, batch, d);
  }
  int calls() const { return calls_; }  // left

 private:
  int calls_;
};

inline uint64_t RandomInteger(const Format& f, uint64_t bits, uint64_t kind) {
  if (kind == 1) return LowBits(f.bits - 1);
  if (kind == 2) return f.is_signed ? 1ull << (f.bits - 1) : LowBits(f.bits);
  return kind < 8 || f.bits < 4 ? bits : bits & LowBits(f.bits / 2);
}

// Near 1.0 with few bits, a small one, a zero, a special.
inline uint64_t RandomFloat(const Format& f, uint64_t bits, uint64_t kind,
                            std::mt19937_64& random) {
  const uint64_t sign = f.is_signed ? (random() & 1) << SignBit(f) : 0;
  if (kind == 1) return sign;
  if (kind == 2) return sign | (bits & LowBits(f.fraction_bits)) << f.ignored_bits;
  if (kind == 3) return bits;
  const int bias = 1 - f.min_exponent;
  const int spread = kind < 9 ? 3 : kind < 13 ? bias / 3 + 2 : bias;
  const int field = bias - spread + static_cast<int>(random() % (2 * spread));
  uint64_t fraction = random() & LowBits(f.fraction_bits);
  if (random() % 3 == 0) {
    fraction &= random();
    fraction &= random();
  }
  const uint64_t finite = std::clamp(field, 0, MaxExponentField(f) - 1);
  return sign | (finite << f.fraction_bits | fraction) << f.ignored_bits;
}

// A word for a test: any bits, an operand of the above, a zero. std::mt19937_64 gives the same
// numbers everywhere; distributions would not.
inline uint64_t RandomWord(const Format& f, std::mt19937_64& random) {
  const uint64_t bits = random() & LowBits(f.bits);
  const uint64_t kind = random() % 16;
  if (kind == 0) return 0;
  return IsInteger(f) ? RandomInteger(f, bits, kind) : RandomFloat(f, bits, kind, random);
}

// Scales near 1.0, mostly: those of random exponents would leave one group of products standing.
inline uint64_t RandomScale(const Format& f, std::mt19937_64& random) {
  if (random() % 16 == 0) return RandomWord(f, random);
  uint64_t one = 0;
  EncodePowerOfTwo(f, false, static_cast<int>(random() % 9) - 4, &one);
  return one | (random() % 2 == 0 ? 0 : random() & LowBits(f.fraction_bits));
}

// A whole execution of random words; a third of the products cancel their predecessor.
inline Batch RandomTile(const Operation& op, const Shape& shape, std::mt19937_64& random) {
  const Format* scale = op.instruction->scale;
  const int scheme = random() % 4;
  Batch batch = FillBatch(op, shape, 1, [&](const Format& f) {
    return &f == scale ? RandomScale(f, random) : RandomWord(f, random);
  });
  if (scheme == 0) std::ranges::fill(batch.c, 0);
  const size_t words = shape.row_words();
  const auto copies = [&](size_t i) {
    return scheme >= 2 && i % words % 3 == 1 && i % words < static_cast<size_t>(shape.k);
  };
  for (size_t i = 1; !IsInteger(op.model.a) && i < batch.a.size(); ++i) {
    if (copies(i)) batch.a[i] = batch.a[i - 1] ^ 1ull << SignBit(op.model.a);
  }
  for (size_t i = 1; i < batch.b.size(); ++i) {
    if (copies(i)) batch.b[i] = batch.b[i - 1];
  }
  return batch;
}

}  // namespace mmadiff

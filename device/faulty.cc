#include "device/faulty.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "device/status_macros.h"
#include "sim/change_text.h"
#include "sim/parameter.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

std::string_view StdView(absl::string_view s) { return {s.data(), s.size()}; }

// The common part of all faults: a name, a number and a simulator. Without an override of Spoil()
// it is the device `none`.
class Faulty : public Device {
 public:
  explicit Faulty(absl::string_view name_values, int64_t number = 0)
      : name_values_(name_values), number_(number) {}

  std::string name() const override { return absl::StrCat("faulty:", name_values_); }
  Identity identity() const override {
    return Identity().Add("model_version", absl::StrCat(kModelVersion)).Add("fault", name_values_);
  }
  absl::Status Supports(const Operation& op) const override {
    if (IsModelled(op)) return absl::OkStatus();
    return absl::NotFoundError(absl::StrCat(op.name, " has no model, so it cannot have a fault"));
  }
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) final {
    d.resize(batch.dot_products());
    Simulate(ModelOf(op), batch, d);
    ++runs_;
    return Spoil(batch, d);
  }

 protected:
  const std::string name_values_;
  const int64_t number_;
  int64_t runs_ = 0;  // including the current one

 private:
  virtual Model ModelOf(const Operation& op) const { return op.model; }
  // Turns right answers into wrong ones.
  virtual absl::Status Spoil(const Batch&, std::vector<uint64_t>&) { return absl::OkStatus(); }
};

class WrongParameters : public Faulty {
 public:
  WrongParameters(absl::string_view name_values, std::vector<Change> changes)
      : Faulty(name_values), changes_(std::move(changes)) {}

  absl::Status Supports(const Operation& op) const override {
    const Algorithm& algorithm = op.model.algorithm;
    for (const auto& [parameter, value] : changes_) {
      if (FindParameter(algorithm.family, parameter->name) == nullptr ||
          !Reads(algorithm, *parameter)) {
        return absl::NotFoundError(absl::StrCat(op.name, " has no parameter ", parameter->name,
                                                ": ", Describe(algorithm)));
      }
      if (parameter->get(algorithm) == value) {
        return absl::FailedPreconditionError(absl::StrCat(parameter->name, " is already ",
                                                          ValueText(*parameter, value), " in ",
                                                          op.name, ": this is not a fault"));
      }
    }
    const std::string invalid = WhyInvalid(ModelOf(op));
    if (invalid.empty()) return absl::OkStatus();
    return absl::NotFoundError(absl::StrCat(op.name, " cannot have ", name_values_, ": ", invalid));
  }

 private:
  Model ModelOf(const Operation& op) const override {
    return WithAlgorithm(op, WithChanges(op.model.algorithm, changes_));
  }

  const std::vector<Change> changes_;
};

class WrongLane : public Faulty {
 public:
  using Faulty::Faulty;
  absl::Status Supports(const Operation& op) const override {
    if (number_ + 1 < op.shape().d_words()) return Faulty::Supports(op);
    return absl::NotFoundError(absl::StrCat(op.name, " has ", op.shape().d_words(),
                                            " results per execution: no lanes ", number_, " and ",
                                            number_ + 1, " to swap"));
  }

 private:
  absl::Status Spoil(const Batch& batch, std::vector<uint64_t>& d) override {
    const int64_t words = batch.shape.d_words();
    for (int64_t i = 0; number_ + 1 < words && i < batch.count; ++i) {
      std::swap(d[i * words + number_], d[i * words + number_ + 1]);
    }
    return absl::OkStatus();
  }
};

class LostBatch : public Faulty {
 public:
  using Faulty::Faulty;

 private:
  absl::Status Spoil(const Batch& batch, std::vector<uint64_t>& d) override {
    if (runs_ % number_ != 0) last_ = d;
    d = last_;
    d.resize(batch.dot_products());
    return absl::OkStatus();
  }

  std::vector<uint64_t> last_;
};

// Finalizer of SplitMix64 (Steele, Lea, Flood 2014): neighboring counters give unrelated bits.
uint64_t Mix(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

class FlakyBit : public Faulty {
 public:
  using Faulty::Faulty;

 private:
  absl::Status Spoil(const Batch&, std::vector<uint64_t>& d) override {
    // Counts the results of the whole process, so that a second device does not repeat the first
    // one's answers.
    static std::atomic<uint64_t> results = 0;
    uint64_t counter = results.fetch_add(d.size());
    for (uint64_t& word : d) {
      if (Mix(++counter) % number_ == 0) word ^= 1;
    }
    return absl::OkStatus();
  }
};

class Dead : public Faulty {
 public:
  using Faulty::Faulty;

 private:
  absl::Status Spoil(const Batch&, std::vector<uint64_t>& d) override {
    if (runs_ < number_) return absl::OkStatus();
    d.clear();
    return absl::UnavailableError(
        absl::StrCat("device ", name(), " failed at call ", number_, ", as requested"));
  }
};

// A fault that is not a parameter of the arithmetic, its value a number.
struct TransportFault {
  const char* name;
  int64_t min, max;
  std::unique_ptr<Device> (*open)(absl::string_view name_values, int64_t number);
  const char* what;
};

template <class Fault>
std::unique_ptr<Device> Open(absl::string_view name_values, int64_t number) {
  return std::make_unique<Fault>(name_values, number);
}

constexpr int64_t kMax = 1'000'000'000'000;
constexpr TransportFault kTransportFaults[] = {
    {"wrong_lane", 0, kMax, Open<WrongLane>, "results N and N + 1 of each execution are swapped"},
    {"lost_batch", 1, kMax, Open<LostBatch>,
     "every N-th call returns the answers of an earlier one"},
    {"flaky_bit", 1, kMax, Open<FlakyBit>, "the lowest bit of about one result in N is flipped"},
    {"dead", 1, kMax, Open<Dead>, "the device fails from its N-th call on"},
    {"none", 0, 0, Open<Faulty>, "the unchanged simulator"},
};

absl::Status BadValue(absl::string_view name, absl::string_view value, absl::string_view allowed) {
  return absl::InvalidArgumentError(absl::StrCat(
      "faulty:", name, ": '", value, "' is not a value of ", name, "; allowed: ", allowed));
}

std::string AllowedValues(const TransportFault& f) {
  return f.max == 0 ? "0" : absl::StrCat("a number ", f.min, "..", f.max);
}

absl::Status UnknownName(absl::string_view name) {
  std::vector<std::string> names;
  for (const FaultUsage& usage : FaultUsages()) names.push_back(usage.name);
  return absl::InvalidArgumentError(absl::StrCat(
      "faulty:", name, ": no such fault", NearestText("; nearest: ", StdView(name), names, 3),
      "; all: ", absl::StrJoin(names, ", ")));
}

const TransportFault* FindTransportFault(absl::string_view name) {
  const auto fault = std::ranges::find(kTransportFaults, name, &TransportFault::name);
  return fault == std::end(kTransportFaults) ? nullptr : fault;
}

absl::StatusOr<std::vector<Change>> ParseFault(absl::string_view name_values) {
  std::vector<Change> changes;
  for (const absl::string_view one : absl::StrSplit(name_values, ',')) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(one, absl::MaxSplits('=', 1));
    const auto& [name, value] = parts;
    const auto error = [&](absl::string_view what) {
      return absl::InvalidArgumentError(
          absl::StrCat("faulty:", name_values, ": ", parts.first, what));
    };
    if (FindTransportFault(name) != nullptr) return error(" cannot be combined with other faults");
    const auto shared = std::ranges::find(Parameters(), name, &Parameter::name);
    const Parameter* const parameter =
        shared != Parameters().end() ? &*shared : FindParameter(Family::kTree, StdView(name));
    if (parameter == nullptr) return UnknownName(name);
    Change change = {parameter};
    if (!ParseValue(*parameter, StdView(value), &change.value)) {
      return BadValue(name, value, AllowedValues(*parameter));
    }
    if (std::ranges::count(changes, change.parameter, &Change::parameter) > 0) {
      return error(" is given twice");
    }
    changes.push_back(change);
  }
  return changes;
}

}  // namespace

std::vector<FaultUsage> FaultUsages() {
  std::vector<FaultUsage> usages;
  for (const Parameter& p : Parameters()) usages.push_back({p.name, AllowedValues(p)});
  for (const TransportFault& f : kTransportFaults) {
    usages.push_back({f.name, absl::StrCat(AllowedValues(f), ": ", f.what)});
  }
  return usages;
}

DeviceOr OpenFaulty(absl::string_view name_values) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(name_values, absl::MaxSplits('=', 1));
  const auto& [name, value] = parts;
  const TransportFault* fault = FindTransportFault(name);
  if (fault != nullptr && !absl::StrContains(value, ',')) {
    int64_t number;
    if (!absl::SimpleAtoi(value, &number) || number < fault->min || number > fault->max) {
      return BadValue(name, value, AllowedValues(*fault));
    }
    return fault->open(name_values, number);
  }
  ASSIGN_OR_RETURN(std::vector<Change> changes, ParseFault(name_values));
  return std::make_unique<WrongParameters>(name_values, std::move(changes));
}

std::vector<Change> FaultOf(absl::string_view specification) {
  if (!absl::ConsumePrefix(&specification, "faulty:")) return {};
  return ParseFault(specification).value_or(std::vector<Change>());
}

}  // namespace mmadiff

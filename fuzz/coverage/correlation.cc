#include "fuzz/coverage/correlation.h"

#include <sched.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "device/clock.h"
#include "device/status_macros.h"
#include "fuzz/coverage/coverage_counter.h"
#include "fuzz/unit/unit_runner.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

// A property must be this many times rarer than the set that it is a part of.
constexpr uint64_t kRarer = 2;
// With fewer mismatches, one of the hundreds of properties is shared by chance.
constexpr uint64_t kMinDiffering = 20;
constexpr int64_t kAtOnce = kCorrelated / 64;  // dot products, on one core
constexpr uint64_t kMinBefore = 1024;

std::string Grouped(uint64_t n) {
  std::string digits = absl::StrCat(n);
  for (auto at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) digits.insert(at, ",");
  return digits;
}

// Groups of bins for the kind of an operand's word, and the operand's name in text.
constexpr struct {
  const char *group, *operand;
} kOperands[] = {{"a", "a"}, {"b", "b"}, {"addend", "c"}, {"result", "the result"}};

// Groups whose rows are numbers of bits, "2" or "4..7", and their names in text.
constexpr struct {
  const char *group, *what;
} kBits[] = {{"carry", "a carry"}, {"cancellation", "a cancellation"}};

absl::string_view FirstNumber(absl::string_view row) {
  return row.substr(0, row.find_first_not_of("0123456789"));
}

std::string Article(const std::string& word) {
  return absl::StrCat(word.front() == 'i' ? "an " : "a ", word);
}

// Numbers properties in the order of first occurrence.
class Names {
 public:
  uint16_t Number(const std::string& name) {
    const auto [at, added] = numbers_.try_emplace(name, static_cast<uint16_t>(names_.size()));
    if (added) names_.push_back(name);
    return at->second;
  }
  const std::string& Name(uint16_t number) const { return names_[number]; }

 private:
  std::map<std::string, uint16_t> numbers_;
  std::vector<std::string> names_;
};

// The properties of the dot products of an operation, ascending.
class Features {
 public:
  Features(const Operation& op, Names& names)
      : op_(op), names_(names), counter_(op.model), of_bin_(counter_.bins().size()) {
    for (int64_t e = 0; e < op.shape().d_words(); ++e) AddPlace(PositionOf(op.shape(), e));
    AddSign("a", op.model.a, op.shape().k);
    AddSign("b", op.model.b, op.shape().k);
    AddSign("c", op.model.c, 1);
  }

  // The properties of element `element` of an execution.
  std::vector<uint16_t> Of(const DotProductCase& dot, int64_t element) {
    std::vector<uint16_t> has = of_place_[element];
    counter_.Count(dot);
    for (const uint16_t reached : counter_.reached()) {
      std::vector<uint16_t>& of_bin = of_bin_[reached];
      if (of_bin.empty()) AddBin(counter_.bins()[reached], of_bin);
      has.insert(has.end(), of_bin.begin(), of_bin.end());
    }
    const std::vector<uint64_t>* const operands[] = {&dot.a, &dot.b};
    for (const Sign& sign : signs_) {
      const uint64_t* const words = sign.operand == 2 ? &dot.c : operands[sign.operand]->data();
      if (std::any_of(words, words + sign.words, [&](uint64_t w) { return w >> sign.bit & 1; })) {
        has.push_back(sign.number);
      }
    }
    std::ranges::sort(has);
    const auto same = std::ranges::unique(has);
    has.erase(same.begin(), same.end());
    return has;
  }

 private:
  struct Sign {
    size_t operand;  // a, b, c
    int words, bit;
    uint16_t number;
  };

  void AddBin(const Bin& bin, std::vector<uint16_t>& numbers) {
    const absl::string_view group = bin.group;
    const auto* const of = std::ranges::find_if(
        kOperands, [group](const auto& operand) { return operand.group == group; });
    if (of == std::end(kOperands)) {
      AddAtLeast(bin, numbers);
      return numbers.push_back(names_.Number(bin.name()));
    }
    const std::string what = absl::StrCat(Article(bin.row), " in ", of->operand);
    numbers.push_back(names_.Number(what));
    if (!bin.column.empty()) {
      numbers.push_back(names_.Number(absl::StrCat(what, " at ", bin.column)));
    }
  }

  void AddAtLeast(const Bin& bin, std::vector<uint16_t>& numbers) {
    const absl::string_view group = bin.group;
    const auto* const counts = std::ranges::find_if(
        kBits, [group](const auto& counted) { return counted.group == group; });
    int bits = 0;
    if (counts == std::end(kBits) || !absl::SimpleAtoi(FirstNumber(bin.row), &bits)) return;
    for (int least = 1; least <= bits; ++least) {
      numbers.push_back(names_.Number(absl::StrCat(counts->what, " of at least ", least, " bits")));
    }
  }

  void AddPlace(const Position& p) {
    const Shape& shape = op_.shape();
    std::vector<uint16_t>& numbers = of_place_.emplace_back();
    if (shape.m > 1) numbers.push_back(names_.Number(absl::StrCat("row ", p.i)));
    if (shape.n > 1) numbers.push_back(names_.Number(absl::StrCat("column ", p.j)));
    if (shape.blocks > 1) numbers.push_back(names_.Number(absl::StrCat("block ", p.block)));
  }

  void AddSign(const char* operand, const Format& f, int words) {
    const auto number = names_.Number(absl::StrCat("a sign in ", operand));
    const size_t place = operand[0] - 'a';
    if (f.is_signed) signs_.push_back({place, words, SignBit(f), number});
  }

  const Operation& op_;
  Names& names_;
  CoverageCounter counter_;
  std::vector<std::vector<uint16_t>> of_bin_, of_place_;  // properties of the place, by element
  std::vector<Sign> signs_;
};

// Moves the thread from core to core.
class Cores {
 public:
  Cores() : some_(sched_getaffinity(0, sizeof all_, &all_) == 0 && CPU_COUNT(&all_) > 1) {}
  ~Cores() {
    if (some_) sched_setaffinity(0, sizeof all_, &all_);
  }
  Cores(const Cores&) = delete;
  Cores& operator=(const Cores&) = delete;

  // Moves the thread to the next core and returns it; nullopt if there is only one core or it
  // cannot be selected.
  std::optional<int> Next() {
    if (!some_) return std::nullopt;
    do {
      core_ = (core_ + 1) % CPU_SETSIZE;
    } while (!CPU_ISSET(core_, &all_));
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core_, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0) return std::nullopt;
    return core_;
  }

 private:
  cpu_set_t all_;
  const bool some_;
  int core_ = -1;
};

// Properties "at least N earlier queries", N a power of two.
void AddBefore(uint64_t before, Names& names, std::vector<uint16_t>& numbers) {
  for (uint64_t n = kMinBefore; n <= before; n *= 2) {
    numbers.push_back(names.Number(absl::StrCat("at least ", Grouped(n), " asked before")));
  }
}

struct Sample {
  std::vector<std::vector<uint16_t>> features;  // features of each dot product, ascending
  std::vector<bool> differs;
  Names names;
};

// Samples dot products on which the device did not fail.
absl::StatusOr<Sample> TakeSample(Device& device, const CaseStream& stream, uint64_t first,
                                  absl::Duration end) {
  const Operation& op = *stream.op;
  const auto words = op.shape().d_words();
  Sample sample;
  Features features(op, sample.names);
  Cores cores;
  const bool has_process = device.Restart();
  Pace pace;
  Batch batch;
  uint64_t asked = 0;
  while (asked < kCorrelated && (!device.IsSlow() || MonotonicNow() < end)) {
    const int64_t at_once = device.IsSlow() ? std::min(pace.most(), kAtOnce) : kAtOnce;
    Generate(stream, first, std::max<uint64_t>(1, at_once / words), batch);
    first += batch.count;
    std::vector<DotProductCase> dots;
    const int64_t most = device.IsSlow() ? at_once : batch.dot_products();
    for (int64_t i = 0; i < std::min(most, batch.dot_products()); ++i)
      dots.push_back(Extract(batch, i));
    const std::optional<int> core = has_process ? std::nullopt : cores.Next();
    std::vector<uint16_t> of_batch;
    if (core) of_batch.push_back(sample.names.Number(absl::StrCat("core ", *core)));
    AddBefore(asked, sample.names, of_batch);
    const absl::Duration begun = MonotonicNow();
    Answers answers;
    const Batch part = MakeDotProductBatch(op.shape(), dots);
    const bool whole = part.count == batch.dot_products();
    RETURN_IF_ERROR(device.Ask(op, whole ? batch : part, answers));
    pace.Add(answers.size(), MonotonicNow() - begun);
    Comparison compared;
    dots.resize(answers.size());
    Compare(op, op.model, MakeDotProductBatch(op.shape(), dots), answers.d, compared);
    for (int64_t i = 0; i < answers.size(); ++i, ++asked) {
      if (answers.failures.contains(i)) continue;
      std::vector<uint16_t>& has = sample.features.emplace_back();
      has = features.Of(dots[i], i % words);
      has.insert(has.end(), of_batch.begin(), of_batch.end());
      std::ranges::sort(has);
      sample.differs.push_back(std::ranges::binary_search(compared.differing, i));
    }
  }
  return sample;
}

// Among the dot products with all `given` features: the rarest further feature that all differing
// ones share.
std::optional<uint16_t> RarestShared(const Sample& sample, const std::vector<uint16_t>& given,
                                     uint64_t& having) {
  std::map<uint16_t, std::pair<uint64_t, uint64_t>> counts;  // differing, all
  uint64_t differing = 0, all = 0;
  for (size_t i = 0; i < sample.differs.size(); ++i) {
    const std::vector<uint16_t>& has = sample.features[i];
    const bool inside =
        std::ranges::all_of(given, [&](uint16_t f) { return std::ranges::binary_search(has, f); });
    if (!inside) continue;
    ++all;
    differing += sample.differs[i];
    for (const uint16_t f : has) {
      ++counts[f].second;
      counts[f].first += sample.differs[i];
    }
  }
  std::optional<uint16_t> rarest;
  having = all / kRarer;
  for (const auto& [feature, count] : counts) {
    if (count.first < differing || count.second > having) continue;
    if (rarest && count.second == having) continue;
    rarest = feature;
    having = count.second;
  }
  return rarest;
}

}  // namespace

std::string Correlation::Text() const {
  return absl::StrCat(absl::StrJoin(features, " and "), ": ", Grouped(differing), " of ",
                      Grouped(having), " differ, and 0 of the other ", Grouped(others));
}

absl::StatusOr<std::optional<Correlation>> Correlate(Device& device, const CaseStream& stream,
                                                     uint64_t first, absl::Duration most) {
  ASSIGN_OR_RETURN(const Sample taken, TakeSample(device, stream, first, MonotonicNow() + most));
  const Sample& sample = taken;
  Correlation found;
  found.differing = std::ranges::count(sample.differs, true);
  std::vector<uint16_t> given;
  for (int i = 0; i < 2 && found.differing >= kMinDiffering; ++i) {
    uint64_t having = 0;
    const std::optional<uint16_t> next = RarestShared(sample, given, having);
    if (!next) break;
    given.push_back(*next);
    found.having = having;
  }
  if (given.empty()) return std::nullopt;
  found.others = sample.differs.size() - found.having;
  for (const uint16_t feature : given) found.features.push_back(sample.names.Name(feature));
  return found;
}

}  // namespace mmadiff

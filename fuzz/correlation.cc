#include "fuzz/correlation.h"

#include <sched.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "fuzz/coverage/counter.h"
#include "fuzz/unit_runner.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

// A property has to be this much rarer than what it is a part of.
constexpr uint64_t kRarer = 2;
// Of fewer, hundreds of properties have one in common by chance.
constexpr uint64_t kFewestDiffering = 20;
constexpr int64_t kAtOnce = kCorrelated / 64;  // dot products, on one core
constexpr uint64_t kFewestBefore = 1024;

std::string Grouped(uint64_t n) {
  std::string digits = absl::StrCat(n);
  for (auto at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) digits.insert(at, ",");
  return digits;
}

// Groups of bins that say what kind of word an operand is, and what people call it.
constexpr struct {
  const char *group, *operand;
} kOperands[] = {{"a", "a"}, {"b", "b"}, {"addend", "c"}, {"result", "the result"}};

std::string Article(const std::string& word) {
  return absl::StrCat(word.front() == 'i' ? "an " : "a ", word);
}

// What is looked at: whether each property is there, by its name.
class Features {
 public:
  explicit Features(const Operation& op) : op_(op), counter_(op.model) {}

  // Of element `element` of an execution.
  const std::vector<std::string>& Of(const DotProductCase& dot, int64_t element) {
    names_.clear();
    counter_.Count(dot);
    for (const uint16_t reached : counter_.reached()) AddBin(counter_.bins()[reached]);
    AddSign("a", op_.model.a, dot.a);
    AddSign("b", op_.model.b, dot.b);
    AddSign("c", op_.model.c, {dot.c});
    const Shape& shape = op_.shape();
    const Position p = PositionOf(shape, element);
    if (shape.m > 1) names_.push_back(absl::StrCat("row ", p.i));
    if (shape.n > 1) names_.push_back(absl::StrCat("column ", p.j));
    if (shape.blocks > 1) names_.push_back(absl::StrCat("block ", p.block));
    std::ranges::sort(names_);
    const auto same = std::ranges::unique(names_);
    names_.erase(same.begin(), same.end());
    return names_;
  }

 private:
  void AddBin(const Bin& bin) {
    const absl::string_view group = bin.group;
    const auto* const of = std::ranges::find_if(
        kOperands, [group](const auto& operand) { return operand.group == group; });
    if (of == std::end(kOperands)) return names_.push_back(bin.name());
    const std::string what = absl::StrCat(Article(bin.row), " in ", of->operand);
    names_.push_back(what);
    if (!bin.column.empty()) names_.push_back(absl::StrCat(what, " at ", bin.column));
  }

  void AddSign(const char* operand, const Format& f, const std::vector<uint64_t>& words) {
    if (!f.is_signed) return;
    const size_t k = words.size() > 1 ? op_.shape().k : 1;
    for (size_t i = 0; i < k; ++i) {
      if (words[i] >> SignBit(f) & 1) return names_.push_back(absl::StrCat("a sign in ", operand));
    }
  }

  const Operation& op_;
  CoverageCounter counter_;
  std::vector<std::string> names_;
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

  // The core that the thread is on from now on; nothing if there is but one, or it may not be chosen.
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

// How many were asked before, as features: at least so many, in powers of two.
void AddBefore(uint64_t before, std::vector<std::string>& names) {
  for (uint64_t n = kFewestBefore; n <= before; n *= 2) {
    names.push_back(absl::StrCat("at least ", Grouped(n), " asked before"));
  }
}

struct Sample {
  std::vector<std::vector<uint16_t>> features;  // of each dot product, ascending
  std::vector<bool> differs;
  std::map<std::string, uint16_t> numbers;  // of the features

  void Add(const std::vector<std::string>& names, bool differs_here) {
    std::vector<uint16_t>& has = features.emplace_back();
    for (const std::string& name : names) {
      has.push_back(numbers.try_emplace(name, static_cast<uint16_t>(numbers.size())).first->second);
    }
    std::ranges::sort(has);
    differs.push_back(differs_here);
  }
};

// Of dot products that the device did not fail on.
absl::StatusOr<Sample> TakeSample(Device& device, const CaseStream& stream, uint64_t first,
                                  absl::Time end) {
  const Operation& op = *stream.op;
  const auto words = op.shape().d_words();
  Features features(op);
  Cores cores;
  const bool has_process = device.Restart();
  Sample sample;
  Pace pace;
  Batch batch;
  uint64_t asked = 0;
  while (asked < kCorrelated && absl::Now() < end) {
    const int64_t at_once = device.IsSlow() ? std::min(pace.most(), kAtOnce) : kAtOnce;
    Generate(stream, first, std::max<uint64_t>(1, at_once / words), batch);
    first += batch.count;
    std::vector<DotProductCase> dots;
    const int64_t most = device.IsSlow() ? at_once : batch.dot_products();
    for (int64_t i = 0; i < std::min(most, batch.dot_products()); ++i)
      dots.push_back(Extract(batch, i));
    const std::optional<int> core = has_process ? std::nullopt : cores.Next();
    const absl::Time begun = absl::Now();
    Answers answers;
    const Batch part = MakeDotProductBatch(op.shape(), dots);
    const bool whole = part.count == batch.dot_products();
    if (absl::Status s = device.Ask(op, whole ? batch : part, answers); !s.ok()) return s;
    pace.Add(answers.size(), absl::ToChronoNanoseconds(absl::Now() - begun));
    Comparison compared;
    dots.resize(answers.size());
    Compare(op, op.model, MakeDotProductBatch(op.shape(), dots), answers.d, compared);
    for (int64_t i = 0; i < answers.size(); ++i, ++asked) {
      if (answers.failures.contains(i)) continue;
      std::vector<std::string> names = features.Of(dots[i], i % words);
      if (core) names.push_back(absl::StrCat("core ", *core));
      AddBefore(asked, names);
      sample.Add(names, std::ranges::binary_search(compared.differing, i));
    }
  }
  return sample;
}

// Of the dot products that have all `given` features: the rarest other one that all differing have.
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
                      Grouped(having), " differ, else 0 of ", Grouped(others));
}

absl::StatusOr<std::optional<Correlation>> Correlate(Device& device, const CaseStream& stream,
                                                     uint64_t first, absl::Duration most) {
  const absl::StatusOr<Sample> taken = TakeSample(device, stream, first, absl::Now() + most);
  if (!taken.ok()) return taken.status();
  const Sample& sample = *taken;
  Correlation found;
  found.differing = std::ranges::count(sample.differs, true);
  std::vector<uint16_t> given;
  for (int i = 0; i < 2 && found.differing >= kFewestDiffering; ++i) {
    uint64_t having = 0;
    const std::optional<uint16_t> next = RarestShared(sample, given, having);
    if (!next) break;
    given.push_back(*next);
    found.having = having;
  }
  if (given.empty()) return std::nullopt;
  found.others = sample.differs.size() - found.having;
  for (const uint16_t feature : given) {
    const auto named =
        std::ranges::find(sample.numbers, feature, [](const auto& n) { return n.second; });
    found.features.push_back(named->first);
  }
  return found;
}

}  // namespace mmadiff

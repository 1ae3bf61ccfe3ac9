#include "corpus/recordings/recorded_device.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "corpus/recordings/packed_words.h"
#include "corpus/recordings/recording.h"
#include "device/absence.h"
#include "device/line_protocol.h"
#include "device/status_macros.h"
#include "sim/sparsity.h"
#include "xxhash.h"

namespace mmadiff {
namespace {

// XXH3-128 of operand words. Among n different inputs, the probability that two collide is below
// n^2 / 2^129.
struct OperandKey {
  uint64_t low, high;

  friend bool operator==(const OperandKey&, const OperandKey&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const OperandKey& k) {
    return H::combine(std::move(h), k.low);
  }
};

OperandKey HashWords(std::span<const uint64_t> words) {
  const XXH128_hash_t hash = XXH3_128bits(words.data(), words.size_bytes());
  return {hash.low64, hash.high64};
}

OperandKey KeyOf(const Shape& shape, const DotProductCase& dot) {
  std::vector<uint64_t> words = dot.a;
  words.insert(words.end(), dot.b.begin(), dot.b.end());
  words.push_back(dot.c);
  const std::vector<uint64_t> metadata = StoredMetadata(shape, dot);
  words.insert(words.end(), metadata.begin(), metadata.end());
  return HashWords(words);
}

// The key of all operands of execution number `execution`.
OperandKey KeyOf(const Batch& batch, int64_t execution) {
  const Shape& s = batch.shape;
  std::vector<uint64_t> words;
  const auto add = [&](const std::vector<uint64_t>& from, int count) {
    words.insert(words.end(), &from[execution * count], &from[execution * count] + count);
  };
  add(batch.a, s.a_words());
  add(batch.b, s.b_words());
  add(batch.c, s.d_words());
  if (s.groups > 0) {
    const std::vector<uint64_t> metadata = StoredMetadata(Slice(batch, execution));
    words.insert(words.end(), metadata.begin(), metadata.end());
  }
  return HashWords(words);
}

// The place of an answer. Without a line, the file is the whole place.
struct Place {
  uint32_t file = 0;  // index of a name
  uint32_t line = 0;
};

struct DotAnswer {
  uint64_t d = 0;
  Place place;
};

struct ExecutionAnswer {
  std::vector<uint64_t> d;
  Place place;
};

// Answers to consecutive generated cases.
struct Range {
  uint64_t count;
  std::string packed;  // PackWords()
  Place place;
};

using Ranges = std::map<uint64_t, Range>;  // by first case; ranges do not overlap

// The range that contains case `at`, or the end.
template <typename R>
auto Containing(R& ranges, uint64_t at) {
  auto it = ranges.upper_bound(at);
  if (it == ranges.begin()) return ranges.end();
  --it;
  return at - it->first < it->second.count ? it : ranges.end();
}

// All recorded answers for one operation.
struct Table {
  absl::flat_hash_map<OperandKey, DotAnswer> dots;
  absl::flat_hash_map<OperandKey, ExecutionAnswer> executions;
  // Dot products inside `executions`; nullopt if two places gave different answers.
  absl::flat_hash_map<OperandKey, std::optional<uint64_t>> parts;
  std::map<std::pair<bool, std::string>, Ranges> streams;  // by (dot products?, stream)
};

bool IsDotProduct(const Shape& s) { return s == DotProductShape(s); }

// All recorded answers in a path.
class RecordedAnswers {
 public:
  explicit RecordedAnswers(std::string path) : path_(std::move(path)) {}

  absl::Status Load() {
    const auto stats =
        ReadRecordings(path_, "", [this](const Recording& recording) { return Add(recording); });
    RETURN_IF_ERROR(stats.status());
    return CheckWhole(path_, *stats);
  }

  std::string name() const { return absl::StrCat("recorded:", path_); }

  Identity identity() const {
    return identities_.empty() ? Identity().Add("recorded_in", path_)
                               : Identity().Add("recorded", absl::StrJoin(identities_, "; "));
  }

  // Hash of the operations, inputs and answers; independent of their order and portions.
  std::string ContentsHash() const {
    return absl::StrFormat("%016x%016x", contents_.high, contents_.low);
  }

  absl::Status Supports(const Operation& op) const {
    if (tables_.contains(&op)) return absl::OkStatus();
    std::vector<std::string> names;
    for (const auto& [other, table] : tables_) names.push_back(other->name);
    std::ranges::sort(names);
    return NotFound(Absence::kAnswer, absl::StrCat(name(), " has no answers for ", op.name,
                                                   ", only for ", absl::StrJoin(names, ", ")));
  }

  // Appends the answers to executions of a supported operation.
  absl::Status Answer(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) const {
    const Table& table = *tables_.at(&op);
    const auto stream = table.streams.find({IsDotProduct(batch.shape), batch.stream});
    d.reserve(batch.dot_products());
    for (int64_t i = 0; i < batch.count;) {
      const int64_t found =
          stream == table.streams.end() ? 0 : FindCases(op, stream->second, batch, i, d);
      i += found;
      if (found > 0) continue;
      if (!FindExecution(table, batch, i, d)) {
        RETURN_IF_ERROR(FindDotProducts(op, table, batch, i, d));
      }
      ++i;
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Add(const Recording& r) {
    std::unique_ptr<Table>& table = tables_[r.op];
    if (table == nullptr) table = std::make_unique<Table>();
    if (!r.identity.empty()) identities_.insert(r.identity);
    if (!r.inputs.stream.empty()) return AddRange(r, *table);
    return IsDotProduct(r.inputs.shape) ? AddDotProducts(r, *table) : AddExecutions(r, *table);
  }

  // Call once per input.
  void AddToContents(const Operation& op, absl::string_view input, std::span<const uint64_t> d) {
    std::string bytes = absl::StrCat(op.name, "\n", input, "\n");
    bytes.append(reinterpret_cast<const char*>(d.data()), d.size_bytes());
    const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
    contents_.low ^= hash.low64;
    contents_.high ^= hash.high64;
  }

  absl::Status AddDotProducts(const Recording& r, Table& table) {
    for (int64_t i = 0; i < r.inputs.count; ++i) {
      const DotAnswer answer = {r.d[i], PlaceOf(r, i)};
      const OperandKey key = KeyOf(r.inputs.shape, Extract(r.inputs, i));
      const auto [it, added] = table.dots.try_emplace(key, answer);
      if (added) AddToContents(*r.op, Text("dot product", key), {&answer.d, 1});
      if (!added && it->second.d != answer.d) {
        return Conflict(*r.op, it->second.place, it->second.d, answer.place, answer.d);
      }
    }
    return absl::OkStatus();
  }

  absl::Status AddExecutions(const Recording& r, Table& table) {
    const int words = r.inputs.shape.d_words();
    for (int64_t e = 0; e < r.inputs.count; ++e) {
      const auto begin = r.d.begin() + e * words;
      const ExecutionAnswer answer = {{begin, begin + words}, PlaceOf(r, e * words)};
      const OperandKey key = KeyOf(r.inputs, e);
      const auto [it, added] = table.executions.try_emplace(key, answer);
      if (added) AddToContents(*r.op, Text("execution", key), answer.d);
      const auto differ = std::mismatch(it->second.d.begin(), it->second.d.end(), answer.d.begin());
      if (differ.first != it->second.d.end()) {
        return Conflict(*r.op, it->second.place, *differ.first, answer.place, *differ.second);
      }
      for (int64_t i = e * words; i < (e + 1) * words; ++i) {
        const OperandKey of_part = KeyOf(r.inputs.shape, Extract(r.inputs, i));
        const auto [part, fresh] = table.parts.try_emplace(of_part, r.d[i]);
        if (!fresh && part->second != r.d[i]) part->second.reset();
      }
    }
    return absl::OkStatus();
  }

  // Adds the cases that are new and compares the others.
  absl::Status AddRange(const Recording& r, Table& table) {
    const Format& format = *r.op->instruction->d;
    const int words = r.inputs.shape.d_words();
    Ranges& ranges = table.streams[{IsDotProduct(r.inputs.shape), r.inputs.stream}];
    const Place place = PlaceOf(r, 0);
    for (int64_t i = 0; i < r.inputs.count;) {
      const uint64_t at = r.inputs.first + i;
      Ranges::iterator next = ranges.upper_bound(at);
      const uint64_t left = r.inputs.count - i;
      if (const auto known = Containing(ranges, at); known != ranges.end()) {
        const uint64_t skipped = at - known->first;
        const int64_t count = std::min(left, known->second.count - skipped);
        for (int64_t w = 0; w < count * words; ++w) {
          const uint64_t stored = UnpackWord(format, known->second.packed, skipped * words + w);
          const uint64_t added = r.d[i * words + w];
          if (stored != added) return Conflict(*r.op, known->second.place, stored, place, added);
        }
        i += count;
        continue;
      }
      const int64_t count = next == ranges.end() ? left : std::min(left, next->first - at);
      const std::span<const uint64_t> fresh(&r.d[i * words], count * words);
      for (int64_t c = 0; c < count; ++c) {
        AddToContents(*r.op, absl::StrCat(words, " words ", r.inputs.stream, ":", at + c),
                      fresh.subspan(c * words, words));
      }
      ranges.emplace_hint(next, at,
                          Range{static_cast<uint64_t>(count), PackWords(format, fresh), place});
      i += count;
    }
    return absl::OkStatus();
  }

  // Copies the adjacent cases from execution `i` on and returns their number.
  static int64_t FindCases(const Operation& op, const Ranges& ranges, const Batch& batch, int64_t i,
                           std::vector<uint64_t>& d) {
    const uint64_t at = batch.first + i;
    const auto range = Containing(ranges, at);
    if (range == ranges.end()) return 0;
    const Format& format = *op.instruction->d;
    const uint64_t skipped = at - range->first, words = batch.shape.d_words();
    const uint64_t count = std::min<uint64_t>(batch.count - i, range->second.count - skipped);
    const size_t had = d.size();
    d.resize(had + count * words);
    const absl::string_view packed = range->second.packed;
    UnpackWords(format, packed.substr(skipped * words * WordBytes(format)),
                std::span(d).subspan(had));
    return count;
  }

  static bool FindExecution(const Table& table, const Batch& batch, int64_t i,
                            std::vector<uint64_t>& d) {
    if (table.executions.empty() || IsDotProduct(batch.shape)) return false;
    const auto it = table.executions.find(KeyOf(batch, i));
    if (it == table.executions.end()) return false;
    d.insert(d.end(), it->second.d.begin(), it->second.d.end());
    return true;
  }

  absl::Status FindDotProducts(const Operation& op, const Table& table, const Batch& batch,
                               int64_t i, std::vector<uint64_t>& d) const {
    const int words = batch.shape.d_words();
    for (int64_t index = i * words; index < (i + 1) * words; ++index) {
      const DotProductCase dot = Extract(batch, index);
      const OperandKey key = KeyOf(batch.shape, dot);
      if (const auto it = table.dots.find(key); it != table.dots.end()) {
        d.push_back(it->second.d);
        continue;
      }
      const auto part = table.parts.find(key);
      if (part != table.parts.end() && part->second.has_value()) {
        d.push_back(*part->second);
        continue;
      }
      const std::string which =
          batch.stream.empty() ? ""
                               : absl::StrCat("case ", batch.stream, ":", batch.first + i, ", ");
      return NotFound(Absence::kAnswer,
                      absl::StrCat(name(),
                                   part == table.parts.end() ? " has no answer for "
                                                             : " has several answers for ",
                                   op.name, " (a recording answers only the cases in it; `replay` ",
                                   "uses them): ", which, FormatLine(*op.instruction, dot)));
    }
    return absl::OkStatus();
  }

  static std::string Text(const char* kind, const OperandKey& key) {
    return absl::StrFormat("%s %016x%016x", kind, key.high, key.low);
  }

  Place PlaceOf(const Recording& r, int64_t index) {
    const StoredAt at = r.where + index;
    if (files_.empty() || files_.back() != at.file) files_.push_back(at.file);
    return {static_cast<uint32_t>(files_.size() - 1), static_cast<uint32_t>(at.line)};
  }

  std::string Text(const Place& place) const {
    return Name(StoredAt{files_[place.file], place.line});
  }

  absl::Status Conflict(const Operation& op, const Place& x, uint64_t dx, const Place& y,
                        uint64_t dy) const {
    const Format& format = *op.instruction->d;
    return absl::DataLossError(
        absl::StrCat(op.name, ": two answers for one input: ", HexWord(format, dx), " in ", Text(x),
                     ", ", HexWord(format, dy), " in ", Text(y),
                     "; a recording must come from one device; remove one"));
  }

  std::string path_;
  OperandKey contents_ = {0, 0};
  std::vector<std::string> files_;
  std::set<std::string> identities_;
  absl::flat_hash_map<const Operation*, std::unique_ptr<Table>> tables_;
};

class RecordedDevice : public Device {
 public:
  explicit RecordedDevice(std::shared_ptr<const RecordedAnswers> answers)
      : answers_(std::move(answers)) {}
  std::string name() const override { return answers_->name(); }
  Identity identity() const override { return answers_->identity(); }
  std::string ContentsHash() const override { return answers_->ContentsHash(); }
  absl::Status Supports(const Operation& op) const override { return answers_->Supports(op); }
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    return answers_->Answer(op, batch, d);
  }

 private:
  const std::shared_ptr<const RecordedAnswers> answers_;
};

}  // namespace

DeviceOr OpenRecorded(const std::string& path) {
  static absl::Mutex mutex(absl::kConstInit);
  static std::map<std::string, std::weak_ptr<const RecordedAnswers>> opened;
  absl::MutexLock lock(&mutex);
  std::shared_ptr<const RecordedAnswers> answers = opened[path].lock();
  if (answers == nullptr) {
    const auto loaded = std::make_shared<RecordedAnswers>(path);
    RETURN_IF_ERROR(loaded->Load());
    opened[path] = answers = loaded;
  }
  return std::make_unique<RecordedDevice>(answers);
}

}  // namespace mmadiff

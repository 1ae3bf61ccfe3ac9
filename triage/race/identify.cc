#include "triage/race/identify.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "device/line_protocol.h"
#include "device/status_macros.h"
#include "sim/parameter.h"
#include "sim/simulate.h"
#include "triage/race/cover.h"
#include "triage/race/race.h"
#include "triage/race/same.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

constexpr uint64_t kGeneratedOfRow = 256;  // dot products per row
constexpr size_t kMaxRaces = 16;           // for pairs that no generated dot product distinguishes
constexpr size_t kMaxChecked = 4;          // rows whose changes are to be refuted
constexpr size_t kMaxPool = 512;           // dot products for each of them

// An architecture's instruction with the same name and formats.
struct Row {
  const Operation* op = nullptr;  // nullptr: no such instruction
  bool modelled() const { return op != nullptr && IsModelled(*op); }
};

class Identifier {
 public:
  Identifier(Device& device, const std::vector<const Operation*>& ops, std::vector<PoolCase> pool,
             size_t most)
      : device_(device), ops_(ops), pool_(std::move(pool)), most_(most), live_(pool_.empty()) {
    for (const Architecture& a : Architectures()) AddArchitecture(a.name);
  }

  absl::StatusOr<Identification> Run() {
    absl::Status s = TellArchitectures();
    if (s.ok()) s = RefuteChanges();
    RETURN_IF_ERROR(s);
    if (result_.asked.empty()) {
      return absl::OutOfRangeError(
          absl::StrCat(device_.name(),
                       ": no case was run: no architecture has a model of an instruction that it "
                       "answers"));
    }
    for (size_t a = 0; a < archs_.size(); ++a) {
      if (Knows(a)) result_.archs.push_back(VerdictOf(a));
    }
    CountMissed();
    Compare();
    return std::move(result_);
  }

 private:
  void AddArchitecture(const std::string& name) {
    std::vector<Row> rows;
    for (const Operation* op : ops_) {
      const Operation* own =
          FindOperation(absl::StrCat(name, "/", op->instruction->name), Models::kOptional);
      if (own != nullptr && !WhyNotComparable(op->model, own->model).empty()) own = nullptr;
      rows.push_back({own});
    }
    if (std::ranges::none_of(rows, [](const Row& row) { return row.op != nullptr; })) return;
    archs_.push_back(name);
    rows_.push_back(std::move(rows));
  }

  size_t IndexOf(const Operation* op) const { return std::ranges::find(ops_, op) - ops_.begin(); }

  // ---- Which architecture

  // Whether an answer to the instruction may distinguish the architectures.
  bool MayTell(size_t op, size_t x, size_t y) const {
    const Row &r = rows_[x][op], &s = rows_[y][op];
    if (r.op == nullptr || s.op == nullptr) return r.modelled() || s.modelled();
    return r.modelled() && s.modelled() && !SameModel(r.op->model, s.op->model);
  }

  // The pairs that an answer distinguishes, in the order (0, 1), (0, 2), ..., (1, 2), ...
  std::vector<bool> Told(size_t op, const DotProductCase& dot) const {
    std::vector<uint64_t> words(archs_.size());
    for (size_t a = 0; a < archs_.size(); ++a) {
      if (!rows_[a][op].modelled()) continue;
      size_t same = 0;
      while (same < a && !(rows_[same][op].modelled() && !MayTell(op, same, a))) ++same;
      words[a] = same < a ? words[same] : Simulate(rows_[a][op].op->model, dot);
    }
    std::vector<bool> told;
    for (size_t x = 0; x < archs_.size(); ++x) {
      for (size_t y = x + 1; y < archs_.size(); ++y) {
        const Row &r = rows_[x][op], &s = rows_[y][op];
        told.push_back(MayTell(op, x, y) &&
                       (r.op == nullptr || s.op == nullptr ||
                        Tell(RacerOf(*r.op), words[x], RacerOf(*s.op), words[y])));
      }
    }
    return told;
  }

  void Consider(const PoolCase& c) {
    std::vector<bool> told = Told(IndexOf(c.op), c.dot);
    if (std::ranges::find(told, true) == told.end()) return;
    for (size_t i = 0; i < told.size(); ++i) open_[i] = open_[i] && !told[i];
    telling_.try_emplace(std::move(told), c);
  }

  template <typename F>  // called with x and y
  void ForOpenPairs(size_t op, const F& f) const {
    for (size_t x = 0, i = 0; x < archs_.size(); ++x) {
      for (size_t y = x + 1; y < archs_.size(); ++y, ++i) {
        if (open_[i] && MayTell(op, x, y)) f(x, y);
      }
    }
  }

  // Considers generated cases, then races for the pairs that these do not distinguish.
  absl::Status Generate() {
    for (size_t op = 0; op < ops_.size(); ++op) {
      bool useful = false;
      ForOpenPairs(op, [&](size_t, size_t) { useful = true; });
      if (!useful) continue;
      ForEachGenerated(*ops_[op], kGeneratedOfRow, [&](const DotProductCase& dot) {
        Consider({ops_[op], dot, {}});
        return false;
      });
    }
    size_t races = 0;
    absl::Status status;
    for (size_t op = 0; op < ops_.size(); ++op) {
      ForOpenPairs(op, [&](size_t x, size_t y) {
        const Row &r = rows_[x][op], &s = rows_[y][op];
        if (races == kMaxRaces || r.op == nullptr || s.op == nullptr ||
            WhySame(r.op->model, s.op->model)) {
          return;
        }
        ++races;
        const absl::StatusOr<RaceResult> race = FindSmallest(RacerOf(*r.op), RacerOf(*s.op));
        if (!race.ok()) status = race.status();
        if (race.ok() && race->found) Consider({ops_[op], race->found->dot, {}});
      });
    }
    return status;
  }

  absl::Status TellArchitectures() {
    open_.assign(archs_.size() * (archs_.size() - 1) / 2, true);
    for (const PoolCase& c : pool_) Consider(c);
    if (live_) {
      RETURN_IF_ERROR(Generate());
    }
    std::vector<std::vector<bool>> sets;
    std::vector<const PoolCase*> cases;
    for (const auto& [told, c] : telling_) {
      sets.push_back(told);
      cases.push_back(&c);
    }
    return AskChosen(sets, cases);
  }

  // ---- Whether the answers fit a model at all

  // A change of one parameter that reproduces the answers so far.
  struct ChangedModel {
    size_t op;
    const Operation* row;
    std::string name;
    Model model;
  };

  // Changes the models that reproduce all answers, for a few rows; rows in `asked` come first.
  void FindChanges() {
    std::vector<size_t> checked;
    for (const AskedCase& c : result_.asked) checked.push_back(IndexOf(c.op));
    for (size_t op = 0; op < ops_.size(); ++op) checked.push_back(op);
    std::vector<size_t> seen;
    std::vector<Model> models;
    for (const size_t op : checked) {
      if (std::ranges::count(seen, op) > 0 || seen.size() == kMaxChecked) continue;
      seen.push_back(op);
      for (size_t a = 0; a < archs_.size(); ++a) {
        const Row& row = rows_[a][op];
        if (!row.modelled() || VerdictOf(a).kind != ArchVerdict::kGives) continue;
        const auto same = [&](const Model& m) { return SameModel(m, row.op->model); };
        if (std::ranges::any_of(models, same)) continue;
        models.push_back(row.op->model);
        for (const Neighbour& n : Neighbours(row.op->model)) {
          changes_.push_back({op, row.op, absl::StrCat(row.op->name, ":", Name(n)),
                              WithAlgorithm(*row.op, n.algorithm)});
        }
      }
    }
    result_.changes = changes_.size();
  }

  void EraseRefuted() {
    std::erase_if(changes_, [&](const ChangedModel& change) {
      return std::ranges::any_of(result_.asked, [&](const AskedCase& c) {
        return c.op == ops_[change.op] && !Gives(*change.row, change.model, c.dot, c.d);
      });
    });
  }

  std::vector<PoolCase> PoolOf(size_t op) const {
    std::vector<PoolCase> cases;
    if (live_) {
      ForEachGenerated(*ops_[op], kMaxPool, [&](const DotProductCase& dot) {
        cases.push_back({ops_[op], dot, {}});
        return false;
      });
      return cases;
    }
    for (const PoolCase& c : pool_) {
      if (c.op == ops_[op] && cases.size() < kMaxPool) cases.push_back(c);
    }
    return cases;
  }

  bool Refutes(const PoolCase& c, const ChangedModel& change) const {
    return c.op == ops_[change.op] && !SameResult(*change.row, Simulate(change.row->model, c.dot),
                                                  Simulate(change.model, c.dot));
  }

  // First refutes the changes that reproduced all answers so far, then all changes again with other
  // cases.
  absl::Status RefuteChanges() {
    FindChanges();
    std::vector<ChangedModel> all = changes_;
    EraseRefuted();
    std::vector<size_t> ops;
    for (const ChangedModel& change : all) {
      if (std::ranges::count(ops, change.op) == 0) ops.push_back(change.op);
    }
    std::vector<PoolCase> pool;
    for (const size_t op : ops) {
      for (PoolCase& c : PoolOf(op)) pool.push_back(std::move(c));
    }
    for (size_t before = most_; result_.asked.size() < most_;) {
      const std::vector<ChangedModel>& open = before == most_ ? changes_ : all;
      before = result_.asked.size();
      std::vector<std::vector<bool>> sets;
      for (const PoolCase& c : pool) {
        std::vector<bool>& refuted = sets.emplace_back();
        for (const ChangedModel& change : open)
          refuted.push_back(!WasAsked(c) && Refutes(c, change));
      }
      std::vector<const PoolCase*> cases;
      for (const PoolCase& c : pool) cases.push_back(&c);
      RETURN_IF_ERROR(AskChosen(sets, cases));
      if (&open == &all && result_.asked.size() == before) break;
    }
    EraseRefuted();
    for (const ChangedModel& change : changes_) result_.unrefuted.push_back(change.name);
    return absl::OkStatus();
  }

  // ---- Asking

  absl::Status AskChosen(const std::vector<std::vector<bool>>& sets,
                         const std::vector<const PoolCase*>& cases) {
    for (const size_t i : LeastCover(sets, most_ - result_.asked.size()).chosen) {
      RETURN_IF_ERROR(Ask(*cases[i]));
    }
    return absl::OkStatus();
  }

  bool WasAsked(const PoolCase& c) const {
    return std::ranges::any_of(result_.asked,
                               [&](const AskedCase& a) { return a.op == c.op && a.dot == c.dot; });
  }

  absl::Status Ask(const PoolCase& c) {
    if (c.answer) {
      result_.asked.push_back({c.op, c.dot, *c.answer});
      return absl::OkStatus();
    }
    const Batch batch = MakeDotProductBatch(c.op->shape(), {c.dot});
    uint64_t words[2];
    for (uint64_t& word : words) {
      ASSIGN_OR_RETURN(const std::vector<uint64_t> d, device_.Run(*c.op, batch));
      word = d[0];
    }
    const Format& format = *c.op->instruction->d;
    if (words[0] != words[1]) {
      return absl::DataLossError(
          absl::StrCat(device_.name(), " is flaky and cannot be identified: ", c.op->name, " ",
                       FormatLine(*c.op->instruction, c.dot), " gave ", HexWord(format, words[0]),
                       ", then ", HexWord(format, words[1])));
    }
    result_.asked.push_back({c.op, c.dot, words[0]});
    return absl::OkStatus();
  }

  // ---- Results

  // Whether the architecture has one of the instructions in `asked`.
  bool Knows(size_t arch) const {
    return std::ranges::any_of(result_.asked, [&](const AskedCase& c) {
      return rows_[arch][IndexOf(c.op)].op != nullptr;
    });
  }

  ArchVerdict VerdictOf(size_t arch) const {
    ArchVerdict v = {archs_[arch]};
    for (size_t i = 0; i < result_.asked.size(); ++i) {
      const AskedCase& c = result_.asked[i];
      const Row& row = rows_[arch][IndexOf(c.op)];
      const uint64_t word = row.modelled() ? Simulate(row.op->model, c.dot) : 0;
      if (row.modelled() && SameResult(*row.op, word, c.d)) {
        ++v.given;
        continue;
      }
      const ArchVerdict::Kind kind = row.op == nullptr ? ArchVerdict::kLacks
                                     : !row.modelled() ? ArchVerdict::kNoModel
                                                       : ArchVerdict::kRefuted;
      if (v.kind == ArchVerdict::kRefuted || v.kind == ArchVerdict::kLacks) continue;
      if (kind == ArchVerdict::kNoModel && v.kind == kind) continue;
      v.kind = kind;
      v.asked = i;
      v.word = word;
    }
    return v;
  }

  // Compares two architectures, by index, that both reproduce all answers.
  Indistinct Both(size_t x, size_t y) const {
    Indistinct both = {x, y, "the same model", true};
    for (size_t op = 0; op < ops_.size(); ++op) {
      if (!MayTell(op, x, y)) continue;
      const Row &r = rows_[x][op], &s = rows_[y][op];
      if (r.op != nullptr && s.op != nullptr) {
        if (const auto same = WhySame(r.op->model, s.op->model)) {
          both = {x, y, ProofText(*same)};
          continue;
        }
      }
      const bool told = std::ranges::any_of(
          telling_, [&](const auto& entry) { return entry.first[PairOf(x, y)]; });
      return {x, y,
              told    ? "a higher --most may distinguish them"
              : live_ ? "no case that distinguishes them was found"
                      : "no recorded case distinguishes them"};
    }
    return both;
  }

  size_t PairOf(size_t x, size_t y) const {
    return x * archs_.size() - x * (x + 1) / 2 + y - x - 1;
  }

  void Compare() {
    for (size_t x = 0; x < result_.archs.size(); ++x) {
      for (size_t y = x + 1; y < result_.archs.size(); ++y) {
        const ArchVerdict &v = result_.archs[x], &w = result_.archs[y];
        if (v.kind != ArchVerdict::kGives || w.kind != ArchVerdict::kGives) continue;
        const size_t i = std::ranges::find(archs_, v.arch) - archs_.begin();
        const size_t j = std::ranges::find(archs_, w.arch) - archs_.begin();
        Indistinct both = Both(i, j);
        both.x = x, both.y = y;
        result_.indistinct.push_back(std::move(both));
      }
    }
  }

  // A recording has more answers than were chosen; none of them may contradict.
  void CountMissed() {
    if (live_) return;
    result_.recorded = pool_.size();
    for (ArchVerdict& v : result_.archs) {
      if (v.kind != ArchVerdict::kGives) continue;
      const std::vector<Row>& rows = rows_[std::ranges::find(archs_, v.arch) - archs_.begin()];
      for (const PoolCase& c : pool_) {
        const Row& row = rows[IndexOf(c.op)];
        v.missed += row.modelled() && !Gives(*row.op, row.op->model, c.dot, *c.answer);
      }
      if (v.missed > 0) v.kind = ArchVerdict::kContradicted;
    }
  }

  Device& device_;
  const std::vector<const Operation*>& ops_;
  const std::vector<PoolCase> pool_;
  const size_t most_;
  const bool live_;
  std::vector<std::string> archs_;
  std::vector<std::vector<Row>> rows_;             // for each architecture and each of ops_
  std::vector<bool> open_;                         // pairs that no case of the pool distinguishes
  std::map<std::vector<bool>, PoolCase> telling_;  // a case for each set of pairs
  std::vector<ChangedModel> changes_;
  Identification result_;
};

}  // namespace

std::vector<std::string> Identification::Named(ArchVerdict::Kind kind) const {
  std::vector<std::string> names;
  for (const ArchVerdict& v : archs) {
    if (v.kind == kind) names.push_back(v.arch);
  }
  return names;
}

absl::StatusOr<Identification> Identify(Device& device, const std::vector<const Operation*>& ops,
                                        std::vector<PoolCase> pool, size_t most) {
  return Identifier(device, ops, std::move(pool), most).Run();
}

}  // namespace mmadiff

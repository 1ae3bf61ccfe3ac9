#include "triage/infer/infer.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "corpus/cases/case_name.h"
#include "device/status_macros.h"
#include "sim/equivalence.h"
#include "sim/lanes/lanes.h"
#include "sim/reading.h"
#include "sim/simulate.h"
#include "sim/sparsity.h"
#include "triage/diagnosis/chooser.h"
#include "triage/infer/experiments.h"
#include "triage/infer/tree_finder.h"
#include "triage/minimize/minimize.h"
#include "triage/minimize/simplicity.h"
#include "triage/model_words.h"
#include "triage/probe/decoding.h"
#include "triage/probe/decoding_text.h"
#include "triage/probe/pairing.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

constexpr int kOfClass = 48;                     // dot products of each class of the generator
constexpr int kRounds = 10;                      // each searches, then distinguishes rivals
constexpr int kPool = 1 << 16;                   // dot products to choose these from
constexpr int64_t kWidePool = 1 << 25;           // simulations to find more, at one in a million
constexpr int64_t kWidePoolOfScalars = 1 << 19;  // if the model has no SIMD lanes
constexpr int64_t kOfBatch = 4096;               // dot products, about
constexpr size_t kClose = 50;       // a family that misses one in so many is searched first
constexpr int kAttempts = 4;        // searches, each without flaky answers
constexpr int kDistinguishing = 2;  // cases that distinguish a rival from the model
constexpr size_t kMaxRivals = 400;
constexpr uint64_t kFirstTile = 1 << 20;     // start of generated cases that nothing else uses
constexpr uint64_t kFirstWide = 1ull << 32;  // start of those that questions are chosen from
constexpr size_t kMaxDiffering = 32;         // generated cases per batch that become answers
constexpr size_t kMaxAgain = 256;            // answers to ask for again
constexpr int64_t kMaxToShrink = 2000;       // questions for shrinking a refuting case
constexpr int64_t kMaxOfSlow = 300;          // on a slow device
constexpr int64_t kShareOfNodes = 20;        // nodes get 1/N of the budget left
constexpr int64_t kShareOfRounding = 2;      // stochastic rounding gets 1/N of the budget left
constexpr int64_t kShareOfExponents = 4;     // shared exponents get 1/N of the budget left
constexpr int64_t kShareOfExperiments = 2;   // experiments get 1/N of the budget left

// Answers of one experiment; "" means all.
std::vector<Observed> ObservedOf(const std::vector<ExperimentAnswer>& answers,
                                 absl::string_view experiment = "") {
  std::vector<Observed> observed;
  for (const ExperimentAnswer& a : answers) {
    if (experiment.empty() || a.experiment == experiment) observed.push_back(a.observed);
  }
  return observed;
}

class Inferrer {
 public:
  Inferrer(Device& device, const Operation& op, const InferOptions& options)
      : bits_(*op.numerics), op_(op), options_(options), asker_(device, op, options.budget) {
    bits_.nan_verdict = NanVerdict::kBits;
    op_.numerics = &bits_;
  }

  Inference Ask() {
    absl::Status s = AskExperiments();
    if (s.ok() && !IsOutsideFamilies()) s = Search();
    for (int round = 0; s.ok() && round < kRounds && !found_.empty() && found_[0].missed == 0;
         ++round) {
      s = TellApart();
      if (!s.ok() || found_[0].missed > 0) break;
      const absl::StatusOr<bool> holds = Validate();
      s = holds.status();
      if (!s.ok() || *holds) break;
      s = Search();
    }
    result_.spent = absl::IsResourceExhausted(s);
    asks_ = false;
    if (!s.ok() && !IsOutsideFamilies() && !Stop())
      (void)Search();  // without asking, so it cannot fail
    if (!result_.spent) result_.status = s;
    if (result_.status.ok() && Stop()) result_.status = absl::CancelledError("stopped");
    Inference result = Result();
    if (result.status.ok() && !result.spent && result.refuting) result.status = Shrink(result);
    return result;
  }

  Inference From(const std::vector<ExperimentAnswer>& answers) {
    asks_ = false;
    for (const ExperimentAnswer& a : answers)
      asker_.Add(a.experiment, a.observed.dot, a.observed.d);
    (void)Search();  // without asking, so it cannot fail
    return Result();
  }

 private:
  bool Stop() { return asker_.device().StopRequested(); }
  void Tell(const std::string& what) {
    if (options_.progress) options_.progress(what);
  }

  // The structure, then a few cases of every experiment and class; all of them if the budget
  // allows.
  absl::Status AskExperiments() {
    Tell("finding the summation tree");
    ASSIGN_OR_RETURN(const Structure structure, FindStructure(asker_));
    result_.structure = structure;
    if (structure.tree) {
      Tell("measuring the nodes of the tree");
      ASSIGN_OR_RETURN(auto nodes, MeasureNodes(asker_, structure, asker_.left() / kShareOfNodes));
      result_.nodes = std::move(nodes);
      if (std::ranges::any_of(result_.nodes, &NodeWidth::unknown_rounding)) {
        RETURN_IF_ERROR(AskOutsideFamilies());
      }
      if (IsOutsideFamilies()) return absl::OkStatus();
    }
    std::vector<std::pair<const char*, std::vector<DotProductCase>>> all;
    size_t count = 0;
    for (const Experiment& e : Experiments()) {
      all.push_back({e.name, ExperimentCases(e, op_)});
      count += all.back().second.size();
    }
    for (const char* name : ClassNames(op_)) {
      all.push_back({name, ClassCases(op_, name, 0, kOfClass)});
      count += all.back().second.size();
    }
    const size_t most = asker_.left() / kShareOfExperiments;
    const size_t every = count <= most ? 1 : count / std::max<size_t>(1, most) + 1;
    for (auto& [name, dots] : all) {
      std::vector<DotProductCase> some;
      for (size_t i = 0; i < dots.size(); i += every) some.push_back(std::move(dots[i]));
      Tell(absl::StrCat("running experiment ", name));
      ASSIGN_OR_RETURN(const auto words, asker_.Ask(name, some));
    }
    return absl::OkStatus();
  }

  // Arithmetic that no family has, and that has no model either.
  bool IsOutsideFamilies() const {
    return !result_.stochastic.empty() || !result_.shared_exponents.empty();
  }

  // Asks once about arithmetic that no family has.
  absl::Status AskOutsideFamilies() {
    if (!asks_ || std::exchange(asked_outside_, true)) return absl::OkStatus();
    Tell("asking whether the rounding is stochastic");
    ASSIGN_OR_RETURN(auto stochastic,
                     AskStochasticRounding(asker_, asker_.left() / kShareOfRounding));
    result_.stochastic = std::move(stochastic);
    if (!result_.stochastic.empty()) {
      for (NodeWidth& node : result_.nodes) node.rounding.clear();  // of few answers, by chance
      return absl::OkStatus();
    }
    Tell("asking whether elements share exponents");
    ASSIGN_OR_RETURN(auto shared, AskSharedExponents(asker_, asker_.left() / kShareOfExponents));
    result_.shared_exponents = std::move(shared);
    if (!result_.shared_exponents.empty())
      result_.nodes.clear();  // bits were lost before the nodes
    return absl::OkStatus();
  }

  // Searches. If nothing reproduces all answers and a device is present, it first repeats the
  // answers that the nearest misses.
  absl::Status Search() {
    const auto stop = [this] { return Stop(); };
    if (asker_.answers().empty()) found_.clear();
    for (int attempt = 0; attempt < kAttempts && !asker_.answers().empty(); ++attempt) {
      Tell(absl::StrCat("searching for a model that reproduces ", asker_.answers().size(),
                        " answers"));
      const std::vector<Observed> observed = ObservedOf(asker_.answers());
      const std::vector<Observed> masks = ObservedOf(asker_.answers(), "masks");
      if (tree_finder_) return FindTree();
      if (!found_.empty()) found_[0] = Improve(op_, observed, found_[0], stop);  // it was close
      if (found_.empty() || found_[0].missed > 0) {
        const bool tree = result_.structure && result_.structure->tree;
        found_ = FindCandidates(op_, observed, tree ? &*result_.structure : nullptr, masks, stop);
      }
      if (found_.empty() || found_[0].missed == 0) return absl::OkStatus();
      RETURN_IF_ERROR(AskOutsideFamilies());
      if (IsOutsideFamilies()) return absl::OkStatus();
      ASSIGN_OR_RETURN(const size_t other, asks_ ? AskMissedAgain(observed) : size_t{0});
      if (other > 0) continue;
      ASSIGN_OR_RETURN(const bool changed, asks_ ? HasChanged(observed) : false);
      if (changed) continue;
      if (bits_.nan_verdict == NanVerdict::kBits && MissesNansAlone(observed)) {
        bits_.nan_verdict = NanVerdict::kAnyNan;
        result_.nan_unknown = true;
        continue;
      }
      ASSIGN_OR_RETURN(const bool reads, asks_ ? AdoptReadings() : false);
      if (reads) continue;
      const bool close = found_[0].missed <= observed.size() / kClose;
      if (close) SearchAgain(op_, observed, found_, stop);
      if (found_[0].missed == 0) return absl::OkStatus();
      RETURN_IF_ERROR(FindTree());
      if (!close && found_[0].missed > 0) SearchAgain(op_, observed, found_, stop);
      return absl::OkStatus();
    }
    return absl::OkStatus();
  }

  // Puts a tree that reproduces all answers first, if there is one.
  absl::Status FindTree() {
    const bool tree = result_.structure && result_.structure->tree;
    if (!asks_ || !tree || HasReadings(op_.model)) return absl::OkStatus();
    Tell("searching for a tree of sums");
    if (!tree_finder_) tree_finder_.emplace(asker_, op_, *result_.structure);
    ASSIGN_OR_RETURN(const bool found, tree_finder_->Find([this] { return Stop(); }));
    if (!found) {
      if (std::exchange(found_tree_, false)) found_.erase(found_.begin());
      tree_finder_.reset();
      return absl::OkStatus();
    }
    if (std::exchange(found_tree_, true)) found_.erase(found_.begin());
    found_.insert(found_.begin(), {WithNanRule(tree_finder_->algorithm()), 0});
    return absl::OkStatus();
  }

  // The tree with the rule of NaNs that reproduces all answers; the tree itself if none does: then the
  // bits of NaNs are unknown.
  Algorithm WithNanRule(const Algorithm& algorithm) {
    const std::vector<Observed> observed = ObservedOf(asker_.answers());
    for (int rule = 0; rule < static_cast<int>(NodeNan::kConstants); ++rule) {
      Tree tree = *algorithm.tree;
      for (Node& node : tree.nodes) node.nan_rule = static_cast<NodeNan>(rule);
      Algorithm changed = algorithm;
      changed.tree = InternTree(std::move(tree));
      if (Explains(op_, WithAlgorithm(op_, changed), observed)) return changed;
    }
    bits_.nan_verdict = NanVerdict::kAnyNan;
    result_.nan_unknown = true;
    return algorithm;
  }

  // Whether the device reads operands by rules. They hold from now on. Otherwise notes what is wrong with
  // the operands.
  absl::StatusOr<bool> AdoptReadings() {
    if (std::exchange(asked_readings_, true)) return false;
    Tell("asking how operands are paired and read");
    ASSIGN_OR_RETURN(const Pairing pairing, AskPairing(asker_.device(), asker_.op()));
    result_.operands = pairing.IsOwn() ? "" : pairing.Text();
    const std::vector<Operation> sums = PlainSums();
    if (!result_.operands.empty() || sums.empty()) return false;
    ASSIGN_OR_RETURN(const Decoding decoding, AskDecoding(asker_.device(), asker_.op(), sums));
    if (decoding.AsTheModel()) return false;
    result_.operands = absl::StrCat("single words, times one: ", DecodingText(decoding));
    const Algorithm before = op_.model.algorithm;
    for (const OperandDecoding& o : decoding.operands) {
      if (o.rules.empty() || !IsReading(*o.rules[0].parameter)) continue;
      op_.model.algorithm = WithChanges(op_.model.algorithm, {o.rules.data(), 1});
    }
    if (op_.model.algorithm == before) return false;
    found_.clear();
    return true;
  }

  // Sums that give single words alike if they keep the same bits: exact ones that keep subnormals, as they
  // are and with fewer bits of the result.
  std::vector<Operation> PlainSums() const {
    std::vector<Algorithm> starts = StartsOf(op_);
    std::stable_partition(starts.begin(), starts.end(),
                          [](const Algorithm& a) { return a.family == Family::kExactSum; });
    std::vector<Operation> sums;
    for (Algorithm a : starts) {
      a.input_subnormals = a.addend_subnormals = a.output_subnormals = Subnormals::kKeep;
      Operation sum = WithAlgorithmOf(a);
      if (!WhyInvalid(sum.model).empty()) continue;
      sums.push_back(sum);
      const bool fewer = FindParameter(a.family, "output_fraction_bits") != nullptr;
      for (int bits = sum.model.d.fraction_bits - 1; bits > 0 && fewer; --bits) {
        for (const Rounding rounding : {Rounding::kTowardZero, Rounding::kNearestEven}) {
          a.output_fraction_bits = bits;
          a.output_rounding = rounding;
          if (sum = WithAlgorithmOf(a); WhyInvalid(sum.model).empty()) sums.push_back(sum);
        }
      }
      break;
    }
    return sums;
  }

  Operation WithAlgorithmOf(const Algorithm& algorithm) const {
    Operation op = op_;
    op.model.algorithm = algorithm;
    return op;
  }

  // Whether the nearest gives a NaN, with other bits, wherever it misses an answer.
  bool MissesNansAlone(const std::vector<Observed>& observed) const {
    const Model nearest = WithAlgorithm(op_, found_[0].algorithm);
    return std::ranges::all_of(observed, [&](const Observed& o) {
      return Fits(op_, nearest, o) ||
             (IsNan(nearest.d, o.d) && IsNan(nearest.d, Simulate(nearest, o.dot)));
    });
  }

  // The number of answers missed by the nearest that are different now.
  absl::StatusOr<size_t> AskMissedAgain(const std::vector<Observed>& observed) {
    std::vector<DotProductCase> missed;
    const Model nearest = WithAlgorithm(op_, found_[0].algorithm);
    for (const Observed& o : observed) {
      if (missed.size() < kMaxAgain && !Fits(op_, nearest, o)) missed.push_back(o.dot);
    }
    return asker_.AskAgain(missed);
  }

  // Whether the device has changed: then answers that it would not give now are removed. The
  // nearest may reproduce the older answers, so this repeats some of all answers.
  absl::StatusOr<bool> HasChanged(const std::vector<Observed>& observed) {
    bool changed = false;
    for (const size_t most : {kMaxAgain, observed.size()}) {
      const size_t count = std::min<size_t>(most, std::max<int64_t>(1, asker_.left()));
      const size_t every = (observed.size() + count - 1) / count;
      std::vector<DotProductCase> dots;
      for (size_t i = 0; i < observed.size(); i += every) dots.push_back(observed[i].dot);
      ASSIGN_OR_RETURN(const size_t other, asker_.AskAgain(dots));
      changed |= other > 0;
      if (!changed) break;
    }
    return changed;
  }

  // Asks questions that distinguish the believed model from every rival, until no more are found or
  // the model is refuted.
  absl::Status TellApart() {
    for (int round = 0; round < kRounds && !Stop(); ++round) {
      Tell("distinguishing rivals");
      const Model believed = WithAlgorithm(op_, found_[0].algorithm);
      const std::vector<Observed> observed = ObservedOf(asker_.answers());
      FindRivals(observed, believed.algorithm);
      std::vector<CaseChooser::Chain> chains = Chains(believed);
      for (const Candidate& c : found_) {  // other families
        const Model other = WithAlgorithm(op_, c.algorithm);
        const bool same = c.algorithm.family == believed.algorithm.family;
        if (!same && Explains(op_, other, observed)) chains.push_back({other});
      }
      const std::vector<DotProductCase> dots = Choose(believed, chains);
      if (dots.empty()) return absl::OkStatus();
      ASSIGN_OR_RETURN(const auto words, asker_.Ask("rivals", dots));
      bool holds = true;
      for (size_t i = 0; i < dots.size() && holds; ++i) {
        holds = Fits(op_, believed, {dots[i], words[i]});
      }
      if (holds) continue;
      RETURN_IF_ERROR(Search());
      if (found_[0].missed > 0) return absl::OkStatus();
    }
    return absl::OkStatus();
  }

  // Sets rivals_. Rivals that reproduced the answers still do, unless answers were added or removed
  // since.
  void FindRivals(const std::vector<Observed>& observed, const Algorithm& believed) {
    const RivalsOf now = {believed, observed.size(), asker_.flaky(), bits_.nan_verdict};
    if (rivals_of_ == now) return;
    rivals_ = Rivals(op_, observed, believed);
    rivals_of_ = now;
  }

  // The rivals; changes of a number in one direction form a chain.
  std::vector<CaseChooser::Chain> Chains(const Model& believed) const {
    std::vector<CaseChooser::Chain> chains;
    std::map<std::pair<const Parameter*, bool>, size_t> of_number;
    for (size_t i = 0; i < std::min(rivals_.size(), kMaxRivals); ++i) {
      const Model rival = WithAlgorithm(op_, rivals_[i].algorithm);
      const Change* change = rivals_[i].single();
      if (change && change->parameter->values.empty() && change->value != kNoFloor) {
        const Parameter* p = change->parameter;
        const bool above = change->value > p->get(believed.algorithm);
        const auto [at, first] = of_number.try_emplace({p, above}, chains.size());
        if (!first) {
          chains[at->second].push_back(rival);
          continue;
        }
      }
      chains.push_back({rival});
    }
    return chains;
  }

  std::vector<DotProductCase> Choose(const Model& believed,
                                     const std::vector<CaseChooser::Chain>& chains) {
    CaseChooser chooser(op_, believed, chains, kDistinguishing);
    if (chains.empty()) return {};
    const std::vector<const char*> names = ClassNames(op_);
    for (int tried = 0; tried < kPool && !chooser.done() && !Stop(); ++pool_) {
      std::vector<DotProductCase> dots;
      for (const char* name : names) {
        std::ranges::move(ClassCases(op_, name, 1000 + pool_, 8), std::back_inserter(dots));
      }
      chooser.ConsiderEach(MakeDotProductBatch(op_.shape(), dots));
      tried += static_cast<int>(dots.size());
    }
    if (!Stop()) chooser.ConsiderRelatives();
    ConsiderMany(believed, chooser);
    return std::move(chooser.chosen());
  }

  void ConsiderMany(const Model& believed, CaseChooser& chooser) {
    int64_t left = HasLanes(believed) ? kWidePool : kWidePoolOfScalars;
    const int64_t tiles = std::max<int64_t>(1, kOfBatch / op_.shape().d_words());
    Batch batch;
    while (left > 0 && !chooser.done() && !Stop()) {
      for (const char* name : ClassNames(op_)) {
        Generate({&op_, FindStrategy(name)}, kFirstWide + wide_, tiles, batch);
        left -= batch.dot_products() * static_cast<int64_t>(chooser.open() + 1);
        chooser.ConsiderTelling(batch);
      }
      wide_ += tiles;
    }
  }

  // Whether generated cases of every class agree. Cases that do not agree become answers.
  absl::StatusOr<bool> Validate() {
    const std::vector<const char*> names = ClassNames(op_);
    const int64_t words = op_.shape().d_words();
    const int64_t of_class = options_.validation / static_cast<int64_t>(names.size());
    int64_t tried = 0, validated = 0;  // without flaky answers
    result_.validated = 0;
    for (uint64_t first = kFirstTile; tried < options_.validation && !Stop();) {
      const int64_t left = (options_.validation - tried) / static_cast<int64_t>(names.size());
      const int64_t tiles =
          std::clamp<int64_t>(left / words, 1, std::max<int64_t>(1, 4096 / words));
      for (const char* name : names) {
        Tell(absl::StrCat("validating: ", tried, " of ", options_.validation));
        Batch batch;
        if (of_class < words) {  // few of its dot products, on their own
          batch = MakeDotProductBatch(op_.shape(),
                                      ClassCases(op_, name, first, std::max<int64_t>(1, of_class)));
        } else {
          Generate({&op_, FindStrategy(name)}, first, tiles, batch);
        }
        const int64_t before = compared_;
        const absl::StatusOr<bool> agrees = Agrees(name, batch);
        if (!agrees.ok() || !*agrees) return agrees;
        validated += compared_ - before;
        tried += batch.dot_products();
      }
      first += of_class < words ? of_class + 1 : tiles;
    }
    result_.validated = validated;
    return true;
  }

  absl::StatusOr<bool> Agrees(const char* name, const Batch& batch) {
    ASSIGN_OR_RETURN(const auto d, asker_.device().Run(asker_.op(), batch));
    compared_ += batch.dot_products();
    Comparison compared;
    Compare(op_, WithAlgorithm(op_, found_[0].algorithm), batch, d, compared);
    if (compared.differing.empty()) return true;
    ASSIGN_OR_RETURN(const bool added, AddDiffering(name, batch, compared));
    return !added;
  }

  // Whether some of the differences repeat; these become answers.
  absl::StatusOr<bool> AddDiffering(const char* name, const Batch& batch,
                                    const Comparison& compared) {
    std::vector<DotProductCase> dots;
    for (size_t i = 0; i < std::min(kMaxDiffering, compared.differing.size()); ++i) {
      dots.push_back(Extract(batch, compared.differing[i]));
    }
    ASSIGN_OR_RETURN(const auto words, asker_.Ask(name, dots));
    std::vector<DotProductCase> flaky;
    for (size_t i = 0; i < dots.size(); ++i) {
      if (words[i] == compared.model[compared.differing[i]]) flaky.push_back(dots[i]);
    }
    asker_.AddFlaky(flaky);
    compared_ -= flaky.size();  // they do not count as answers
    return flaky.size() < dots.size();
  }

  bool IgnoresMetadata(const Model& nearest, std::vector<Observed> observed) const {
    for (Observed& o : observed) o.dot.metadata.clear();
    return IsSparse(nearest) && Explains(op_, nearest, observed);
  }

  Inference Result() {
    result_.asked = asker_.asked();
    result_.abandoned = compared_ - result_.validated;
    result_.flaky = asker_.flaky();
    result_.flaky_cases = asker_.flaky_cases();
    result_.answers = asker_.answers();
    if (IsOutsideFamilies()) found_.clear();
    if (found_.empty()) return std::move(result_);
    const std::vector<Observed> observed = ObservedOf(result_.answers);
    result_.nearest = found_[0];
    const Model nearest = WithAlgorithm(op_, found_[0].algorithm);
    const auto repeats = [&](const Observed& o) {
      return asker_.Repeats(o.dot) && !Fits(op_, nearest, o);
    };
    result_.missed_repeat = static_cast<size_t>(std::ranges::count_if(observed, repeats)) >=
                            std::min(kMaxAgain, found_[0].missed);
    if (Explains(op_, nearest, observed)) {
      result_.algorithm = found_[0].algorithm;
      for (const Candidate& c : found_) {
        const bool other = c.algorithm.family != found_[0].algorithm.family;
        const auto known = [&](const Algorithm& a) { return a.family == c.algorithm.family; };
        if (other && std::ranges::none_of(result_.also, known) &&
            Explains(op_, WithAlgorithm(op_, c.algorithm), observed)) {
          result_.also.push_back(c.algorithm);
        }
      }
      AddFixed(observed);
      AddUndetermined(observed);
      KeepFixed();
    } else if (result_.operands.empty() && IgnoresMetadata(nearest, observed)) {
      result_.operands =
          "metadata are ignored: the nearest model reproduces all answers with the metadata that "
          "the "
          "zeros of A give";
    }
    for (const Candidate& c : found_) AddRefuted(c, observed);
    if (result_.nan_unknown) DropNanRule();
    return std::move(result_);
  }

  // Makes the refuting answer smaller, as long as the device's answer differs from the nearest
  // model's.
  absl::Status Shrink(Inference& result) {
    Tell("shrinking the refuting case");
    const Operation nearest = {op_.instruction, op_.numerics,
                               WithAlgorithm(op_, result.nearest.algorithm), op_.name};
    Mismatch mismatch = {&nearest, MakeDotProductBatch(op_.shape(), {result.refuting->dot}), 0};
    Runner runner(asker_.device(), nearest, std::min(asker_.left(), kMaxToShrink),
                  std::min(asker_.left(), kMaxOfSlow), &asker_.op());
    ASSIGN_OR_RETURN(const auto small,
                     mmadiff::Shrink(runner, Target(nearest, {}, {nearest.model}), mismatch));
    ASSIGN_OR_RETURN(const auto d, runner.Run(small.inputs));
    result.asked = asker_.asked() + runner.executions();
    const Observed last = {Extract(small.inputs, small.element), d[small.element]};
    if (!Fits(op_, nearest.model, last)) result.refuting = last;  // else it does not repeat
    return absl::OkStatus();
  }

  // The neighbors of each parameter, and the experiment of the first answer that each one misses.
  void AddFixed(const std::vector<Observed>& observed) {
    const Model model = WithAlgorithm(op_, *result_.algorithm);
    const std::vector<Change> fields = ReportedFields(model);
    for (const Neighbour& n : AllNeighbours(model)) {
      const Parameter* p = n.single()->parameter;
      const Change value = {p, p->get(model.algorithm)};
      if (std::ranges::count(fields, value) == 0) continue;
      const Model other = WithAlgorithm(op_, n.algorithm);
      for (size_t i = 0; i < observed.size(); ++i) {
        if (Fits(op_, other, observed[i])) continue;
        if (result_.fixed.empty() || result_.fixed.back().value != value) {
          result_.fixed.push_back({value, {}});
        }
        std::vector<std::string>& experiments = result_.fixed.back().experiments;
        const std::string& experiment = result_.answers[i].experiment;
        if (std::ranges::find(experiments, experiment) == experiments.end()) {
          experiments.push_back(experiment);
        }
        break;
      }
    }
  }

  void AddUndetermined(const std::vector<Observed>& observed) {
    const Model model = WithAlgorithm(op_, *result_.algorithm);
    for (const auto& [p, own] : ReportedFields(model)) {
      if (IsReading(*p) || p->field != nullptr) continue;
      for (const int value : OtherValues(*p, own)) {
        Model other = model;
        p->set(other.algorithm, value);
        if (!WhyInvalid(other).empty()) continue;
        const std::string proof = WhyEquivalent(model, other.algorithm);
        if (!proof.empty()) result_.undetermined.push_back({{{p, value}}, proof});
      }
    }
    if (model.algorithm.family == Family::kTree) {
      for (const EquivalentNeighbour& n : EquivalentNeighbours(model)) {
        const bool of_node = n.change.parameter->field != nullptr;
        if (of_node) result_.undetermined.push_back({{n.change}, n.reason});
      }
    }
    FindRivals(observed, model.algorithm);
    for (const Neighbour& n : rivals_) result_.undetermined.push_back({n.changes, ""});
  }

  // A parameter is not fixed if it has another value that nothing distinguishes.
  void KeepFixed() {
    if (!result_.also.empty()) result_.fixed.clear();  // other families have other parameters
    std::erase_if(result_.fixed, [&](const Fixed& f) {
      return std::ranges::any_of(result_.undetermined, [&](const Undetermined& u) {
        return u.proof.empty() &&
               std::ranges::count(u.changes, f.value.parameter, &Change::parameter) > 0;
      });
    });
  }

  // If no rule reproduces the bits of NaNs, nothing is reported about the rule.
  void DropNanRule() {
    const Parameter* nan_rule = FindParameter(result_.nearest.algorithm.family, "nan_rule");
    std::erase_if(result_.fixed, [&](const Fixed& f) { return f.value.parameter == nan_rule; });
    std::erase_if(result_.undetermined,
                  [&](const Undetermined& u) { return u.changes.front().parameter == nan_rule; });
  }

  // The best of each family except the family of the algorithm found.
  void AddRefuted(const Candidate& c, const std::vector<Observed>& observed) {
    if (result_.algorithm && result_.algorithm->family == c.algorithm.family) return;
    const auto fits = [&](const Algorithm& a) { return a.family == c.algorithm.family; };
    if (std::ranges::any_of(result_.also, fits)) return;
    const auto same = [&](const Refuted& r) { return r.family == c.algorithm.family; };
    if (std::ranges::any_of(result_.refuted, same)) return;
    Refuted refuted = {c.algorithm.family, c.algorithm, 0, ""};
    const Model model = WithAlgorithm(op_, c.algorithm);
    std::optional<Complexity> least;
    for (size_t i = 0; i < observed.size(); ++i) {
      if (Fits(op_, model, observed[i])) continue;
      if (refuted.missed++ == 0) refuted.experiment = result_.answers[i].experiment;
      const Complexity complexity = ComplexityOf(model, observed[i].dot);
      const bool nearest = c.algorithm == result_.nearest.algorithm && !result_.algorithm;
      if (nearest && (!least || complexity < *least)) {
        least = complexity;
        result_.refuting = observed[i];
      }
    }
    // Without an algorithm, the fault may be in the operands. Without misses, see Inference::also.
    const bool excluded = result_.algorithm || (result_.operands.empty() && !IsOutsideFamilies());
    if (excluded && refuted.missed > 0) result_.refuted.push_back(std::move(refuted));
  }

  Numerics bits_;  // for op_: NaNs are distinguished
  Operation op_;   // the model side of comparisons; the device gets the asker's operation
  const InferOptions options_;
  Asker asker_;
  Inference result_;
  std::vector<Candidate> found_;
  struct RivalsOf {
    Algorithm believed;
    size_t answers, flaky;  // a removed answer is flaky
    NanVerdict nan_verdict;
    bool operator==(const RivalsOf&) const = default;
  };
  std::optional<RivalsOf> rivals_of_;
  std::vector<Neighbour> rivals_;
  uint64_t pool_ = 0;     // tiles of each class that questions were chosen from
  uint64_t wide_ = 0;     // more of them, starting at kFirstWide
  int64_t compared_ = 0;  // in validations
  bool asks_ = true, asked_readings_ = false, asked_outside_ = false;
  std::optional<TreeFinder> tree_finder_;
  bool found_tree_ = false;  // found_[0] is its tree
};

}  // namespace

Inference Infer(Device& device, const Operation& op, const InferOptions& options) {
  return Inferrer(device, op, options).Ask();
}

Inference InferFrom(Device& device, const Operation& op,
                    const std::vector<ExperimentAnswer>& answers) {
  return Inferrer(device, op, {}).From(answers);
}

}  // namespace mmadiff

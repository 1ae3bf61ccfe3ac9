#include "sim/plan/execute.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "sim/chain.h"
#include "sim/lanes/tile_model.h"
#include "sim/plan/convert.h"
#include "sim/plan/order.h"
#include "sim/plan/pack.h"
#include "sim/word.h"

namespace mmadiff {
namespace {

constexpr int64_t kTileRows = 256, kTileColumns = 256;
constexpr int kChunk = 128;       // products at a time, so that decoded operands stay in the cache
constexpr int64_t kPadding = 64;  // sums of a tile are a multiple, for lanes of every width

int64_t RoundUp(int64_t x, int64_t unit) { return (x + unit - 1) / unit * unit; }

bool HasUnfused(const Plan& plan) {
  return plan.unfused ||
         std::ranges::any_of(plan.stages, [](const PlanStage& s) { return s.tail_unfused; });
}

// Shared by all tiles.
struct Recipe {
  Recipe(const Plan& p, const Matrices& q, bool lanes) : Recipe(p, q, p.operation->model, lanes) {}

  const Plan& plan;
  const Matrices& matrices;
  const Model one;  // an execution
  const Format sum_format;
  const TileModel row, unfused;  // with equal lanes; `unfused` only if the plan needs it
  const TileModel multiply_add;
  const Widening widen_a, widen_b;
  const NanRule nan_rule;
  int chunk = one.k;  // products at a time

 private:
  Recipe(const Plan& p, const Matrices& q, const Model& model, bool lanes)
      : Recipe(p, q, model, HasUnfused(p) ? UnfusedOf(model) : model, lanes) {}
  Recipe(const Plan& p, const Matrices& q, const Model& model, const Model& other, bool lanes)
      : plan(p),
        matrices(q),
        one(model),
        sum_format(one.d),
        row(one, lanes && AgreeOnLanes(one, other)),
        unfused(other, lanes && AgreeOnLanes(one, other)),
        multiply_add(MultiplyAddOf(*p.operation), lanes),
        widen_a(*q.a_format, one.a),
        widen_b(*q.b_format, one.b),
        nan_rule(multiply_add.model().algorithm.nan_rule) {
    // As many executions at a time as the simulator takes as one.
    const int executions = std::max(1, kChunk / one.k);
    if (AsOneExecution(Chain(one, executions))) chunk = executions * one.k;
  }

  static bool AgreeOnLanes(const Model& x, const Model& y) {
    const TileModel of_x(x, true), of_y(y, true);
    return of_x.lanes() == of_y.lanes() && of_x.bits() == of_y.bits();
  }
};

// Some rows and columns of the result. Sums are in the order of LaneTile, padded.
class Tile {
 public:
  Tile(const Recipe& recipe, std::span<const int64_t> rows, std::span<const int64_t> columns)
      : r_(recipe),
        rows_(rows),
        columns_(columns),
        panels_(RoundUp(std::ssize(rows), recipe.row.lanes()) / recipe.row.lanes()),
        adder_(recipe.multiply_add, sum_count()) {}

  // Also keeps the ranges of the first element.
  void Trace(TracedElement* trace) { trace_ = trace; }
  // Also polls while it adds.
  void Ask(const Poll* poll) { poll_ = poll; }

  // store(row, column, word of the plan's result), indices into rows and columns.
  template <class Store>
  void Run(const Store& store) {
    const int64_t k = r_.matrices.k;
    const int64_t kept = r_.plan.cut == 0 ? k : k / r_.plan.cut * r_.plan.cut;
    LaneArray sums = Sum(r_.plan.stages.size(), Slice({{0, k}}, 0, kept));
    if (trace_ != nullptr) trace_->sum = sums.at(0);
    Finish(sums);
    const Format& format = *r_.plan.epilogue.format;
    const bool same = std::string_view(format.name) == r_.sum_format.name;
    ForEach([&](int64_t at, int64_t i, int64_t j) {
      const uint64_t word = sums.at(at);
      store(i, j, same ? word : Convert(r_.sum_format, format, r_.nan_rule, word));
    });
  }

 private:
  struct Chunk {
    int k = 0, words = 0;  // words of a row: products, then block scales
    bool unfused = false;
    LaneArray a, b;
    std::unique_ptr<LaneTiles> tiles;
  };

  // each(position in sums, row, column).
  template <class Each>
  void ForEach(const Each& each) const {
    const int lanes = r_.row.lanes();
    const int64_t columns = std::ssize(columns_);
    for (int64_t i = 0; i < std::ssize(rows_); ++i) {
      const int64_t first = i / lanes * columns * lanes + i % lanes;
      for (int64_t j = 0; j < columns; ++j) each(first + j * lanes, i, j);
    }
  }

  int64_t sum_count() const {
    return RoundUp(panels_ * r_.row.lanes() * std::ssize(columns_), kPadding);
  }
  LaneArray Sums(uint64_t word, int bits) const {
    LaneArray sums(sum_count(), bits);
    sums.Fill(word);
    return sums;
  }
  LaneArray JoinSums(uint64_t word) const { return Sums(word, r_.multiply_add.bits()); }

  uint64_t MinusZero() const { return 1ull << SignBit(r_.sum_format); }
  uint64_t One() const {
    return static_cast<uint64_t>(-r_.sum_format.min_exponent + 1) << r_.sum_format.fraction_bits;
  }

  LaneArray Sum(size_t stages, const Pieces& ks) {
    if (stages == 0) return ForJoins(ChainOf(ks));
    const PlanStage& stage = r_.plan.stages[stages - 1];
    if (stage.tail != 0) return WithTail(stages, ks);
    const std::vector<Pieces> parts = PartsOf(stage.range, ks);
    const auto part = [&](int64_t i) {
      LaneArray sum = Sum(stages - 1, parts[i]);
      Round(stage.join.as, sum);
      if (trace_ != nullptr) {
        trace_->ranges.push_back({stages - 1, parts[i], sum.at(0), sum.at(0)});
      }
      return sum;
    };
    if (parts.empty()) return BeginsWithC(stage.join) ? Start(stage.join) : ForJoins(ChainOf(ks));
    if (IsInteger(r_.sum_format)) return IntegerSum(parts, part);
    if (stage.join.kind == PlanJoin::Kind::kTree || stage.join.kind == PlanJoin::Kind::kPairs) {
      const int64_t count = std::ssize(parts);
      const bool strided = stage.range.kind == PlanRange::Kind::kStrided;
      return Tree(stage.join, part, strided ? stage.range.count : count, count);
    }
    return InOrder(stage.join, parts, part);
  }

  LaneArray WithTail(size_t stages, const Pieces& ks) {
    const PlanStage& stage = r_.plan.stages[stages - 1];
    const int64_t count = CountOf(ks), first = count - count % stage.tail;
    LaneArray sums = WithBits(r_.row.bits(), Sum(stages - 1, Slice(ks, 0, first)));
    AddAll(Slice(ks, first, count), r_.plan.unfused || stage.tail_unfused, sums);
    return ForJoins(std::move(sums));
  }

  template <class Part>
  LaneArray IntegerSum(const std::vector<Pieces>& parts, const Part& part) const {
    const uint64_t word = LowBits(r_.sum_format.bits);
    LaneArray total = part(0);
    for (size_t i = 1; i < parts.size(); ++i) {
      const LaneArray next = part(i);
      for (int64_t at = 0; at < total.count(); ++at) {
        total.set(at, (total.at(at) + next.at(at)) & word);
      }
      if (trace_ != nullptr) trace_->ranges.back().joined = total.at(0);
    }
    return total;
  }

  template <class Part>
  LaneArray InOrder(const PlanJoin& join, const std::vector<Pieces>& parts,
                    const Part& part) const {
    const bool from_first =
        join.kind == PlanJoin::Kind::kAdd && join.start == PlanJoin::Start::kDefault;
    LaneArray total = Start(join);
    for (size_t i = 0; i < parts.size(); ++i) {
      LaneArray next = part(i);
      if (join.kind == PlanJoin::Kind::kAlpha) next = Times(next, r_.matrices.alpha);
      if (i == 0 && from_first) {
        total = std::move(next);
      } else if (i == 0 && join.start == PlanJoin::Start::kFusedBetaC) {
        adder_.Add(C(), r_.matrices.beta, next);
        total = std::move(next);
      } else {
        Join(join, parts[i].front().first, next, total);
      }
      Round(join.held, total);
      if (trace_ != nullptr) trace_->ranges.back().joined = total.at(0);
    }
    return total;
  }

  // The sum of no parts.
  LaneArray Start(const PlanJoin& join) const {
    using enum PlanJoin::Start;
    if (!BeginsWithC(join)) return JoinSums(0);
    LaneArray sums = join.start == kC ? C() : Times(C(), r_.matrices.beta);
    Round(join.held, sums);
    return sums;
  }

  void Join(const PlanJoin& join, int64_t k, const LaneArray& part, LaneArray& total) const {
    switch (join.kind) {
      case PlanJoin::Kind::kScaled:
      case PlanJoin::Kind::kScaledInTurns:
        return AddScaled(join, k, part, total);
      case PlanJoin::Kind::kFusedAlpha:
        return adder_.Add(part, r_.matrices.alpha, total);
      default:
        return adder_.Add(part, One(), total);
    }
  }

  LaneArray Times(const LaneArray& x, uint64_t factor) const {
    LaneArray product = JoinSums(MinusZero());
    adder_.Add(x, factor, product);
    return product;
  }

  // In the format of sums.
  LaneArray C() const {
    LaneArray c = JoinSums(0);
    ForEach([&](int64_t at, int64_t i, int64_t j) {
      c.set(at, Load(r_.matrices.c, rows_[i], columns_[j]));
    });
    return c;
  }

  // Those of A and of B at k.
  std::pair<LaneArray, LaneArray> ScalesAt(int64_t k) const {
    std::pair<LaneArray, LaneArray> scales = {JoinSums(0), JoinSums(0)};
    const auto scale = [k](const ScaleMatrix& s, int64_t i) {
      return Load(s.words, i / s.rows_each, k / s.k_each);
    };
    ForEach([&](int64_t at, int64_t i, int64_t j) {
      scales.first.set(at, scale(r_.matrices.scale_a, rows_[i]));
      scales.second.set(at, scale(r_.matrices.scale_b, columns_[j]));
    });
    return scales;
  }

  void AddScaled(const PlanJoin& join, int64_t k, const LaneArray& part, LaneArray& total) const {
    const auto [a, b] = ScalesAt(k);
    LaneArray product = JoinSums(MinusZero());
    const bool at_once = join.kind == PlanJoin::Kind::kScaled;
    adder_.Add(a, at_once ? b : part, product);
    adder_.Add(product, at_once ? part : b, total);
  }

  // The sums times the scales, plus `addend`.
  LaneArray ScaledSums(const LaneArray& sums, LaneArray addend) const {
    using enum Epilogue::Scales;
    const Epilogue::Scales order = r_.plan.epilogue.scales;
    const auto [a, b] = ScalesAt(0);
    LaneArray product = JoinSums(MinusZero());
    if (order == kTogether) adder_.Add(b, a, product);
    if (order == kAThenB) adder_.Add(sums, a, product);
    if (order == kBThenA) adder_.Add(sums, b, product);
    const LaneArray& last = order == kTogether ? product : order == kAThenB ? b : a;
    adder_.Add(order == kTogether ? sums : product, last, addend);
    return addend;
  }

  LaneArray Bias() const {
    LaneArray bias = JoinSums(0);
    ForEach([&](int64_t at, int64_t, int64_t j) {
      bias.set(at, Load(r_.matrices.bias, 0, columns_[j]));
    });
    return bias;
  }

  // The first `count` places have parts.
  template <class Part>
  LaneArray Tree(const PlanJoin& join, const Part& part, int64_t places, int64_t count) const {
    const std::vector<TreeStep> steps = TreeStepsOf(join, places);
    const auto node = [&](const auto& self, size_t level, int64_t i) -> LaneArray {
      if (level == 0) return part(i);
      LaneArray sum = self(self, level - 1, i);
      const int64_t right = i + steps[level - 1].distance;
      if (right >= std::min(steps[level - 1].places, count)) return sum;
      LaneArray other = self(self, level - 1, right);
      adder_.Add(sum, One(), other);
      Round(join.held, other);
      return other;
    };
    return node(node, steps.size(), 0);
  }

  // Words of the width that joins use.
  LaneArray ForJoins(LaneArray sums) const {
    return WithBits(r_.multiply_add.bits(), std::move(sums));
  }
  LaneArray WithBits(int bits, LaneArray sums) const {
    if (sums.bits() == bits) return sums;
    LaneArray copy = Sums(0, bits);
    for (int64_t i = 0; i < sums.count(); ++i) copy.set(i, sums.at(i));
    return copy;
  }

  void Round(const Format* format, LaneArray& sums) const {
    if (format == nullptr) return;
    const Format& f = r_.sum_format;
    for (int64_t i = 0; i < sums.count(); ++i) {
      const uint64_t rounded = Convert(f, *format, r_.nan_rule, sums.at(i));
      sums.set(i, Convert(*format, f, r_.nan_rule, rounded));
    }
  }

  // The operation's executions, one after the other.
  LaneArray ChainOf(const Pieces& ks) {
    LaneArray sums = Sums(0, r_.row.bits());
    if (r_.plan.from_c) {
      ForEach([&](int64_t at, int64_t i, int64_t j) {
        sums.set(at, Load(r_.matrices.c, rows_[i], columns_[j]));
      });
    }
    const int64_t count = CountOf(ks), residue = r_.plan.residue;
    int64_t first = 0;
    if (residue != 0) {
      first = std::min(count % residue == 0 ? residue : count % residue, count);
      AddAll(Slice(ks, 0, first), r_.plan.unfused, sums);
    }
    AddAll(Slice(ks, first, count), r_.plan.unfused, sums);
    return sums;
  }

  void AddAll(const Pieces& ks, bool unfused, LaneArray& sums) {
    std::vector<int64_t> chunk;
    for (const Piece& piece : ks) {
      for (int64_t k = piece.first; k < piece.end; ++k) {
        chunk.push_back(k);
        if (std::ssize(chunk) < r_.chunk) continue;
        AddChunk(chunk, unfused, sums);
        chunk.clear();
      }
    }
    if (!chunk.empty()) AddChunk(chunk, unfused, sums);
  }

  // sums += the products with these k, at most r_.chunk.
  void AddChunk(std::span<const int64_t> ks, bool unfused, LaneArray& sums) {
    if (poll_ != nullptr) (*poll_)();
    Chunk& chunk = ChunkOf(static_cast<int>(RoundUp(std::ssize(ks), r_.one.k)), unfused);
    const PackedLayout a_layout = {r_.row.lanes(), chunk.words}, b_layout = {1, chunk.words};
    Pack(r_.matrices.a, r_.widen_a, rows_, ks, a_layout, chunk.a);
    Pack(r_.matrices.b.Transposed(), r_.widen_b, columns_, ks, b_layout, chunk.b);
    if (r_.one.scale_block != 0) {
      AddScales(r_.matrices.block_scale_a, rows_, ks, a_layout, chunk.a);
      AddScales(r_.matrices.block_scale_b, columns_, ks, b_layout, chunk.b);
    }
    chunk.tiles->Add({.a = chunk.a.data(), .b = chunk.b.data(), .sums = sums.data()});
  }

  // Buffers for `k` products at a time; the last two are kept.
  Chunk& ChunkOf(int k, bool unfused) {
    const auto is_it = [&](const Chunk& c) { return c.k == k && c.unfused == unfused; };
    if (!is_it(chunks_[0])) std::swap(chunks_[0], chunks_[1]);
    Chunk& chunk = chunks_[0];
    if (is_it(chunk)) return chunk;
    const int panels = static_cast<int>(panels_), columns = static_cast<int>(columns_.size());
    Model m = r_.one;
    m.k = k;
    chunk.k = k;
    chunk.unfused = unfused;
    chunk.words = k + m.scales();
    chunk.a = LaneArray(int64_t{panels} * r_.row.lanes() * chunk.words, r_.row.bits());
    chunk.b = LaneArray(int64_t{columns} * chunk.words, r_.row.bits());
    chunk.tiles = (unfused ? r_.unfused : r_.row).Tiles(k, panels, columns, false);
    return chunk;
  }

  // Each block has the scale of its first k; blocks without any have 1.
  void AddScales(const ScaleMatrix& scales, std::span<const int64_t> rows,
                 std::span<const int64_t> ks, const PackedLayout& layout, LaneArray& out) const {
    const int64_t block = r_.one.scale_block, elements = layout.words * block / (block + 1);
    for (int64_t s = 0; s < layout.words - elements; ++s) {
      for (int64_t i = 0; i < std::ssize(rows); ++i) {
        const uint64_t word =
            s * block < std::ssize(ks)
                ? Load(scales.words, rows[i] / scales.rows_each, ks[s * block] / scales.k_each)
                : NeutralWord(r_.one, r_.one.k);
        out.set(layout.At(i, elements + s), word);
      }
    }
  }

  // The sums become results.
  void Finish(LaneArray& sums) const {
    using enum Epilogue::Fused;
    const Epilogue& e = r_.plan.epilogue;
    if (e.fused == kScales) {
      sums = ScaledSums(sums, Bias());
      return;
    }
    if (e.scales != Epilogue::Scales::kNone) sums = ScaledSums(sums, JoinSums(MinusZero()));
    if (e.alpha && e.fused != kAlpha) sums = Times(sums, r_.matrices.alpha);
    if (e.beta && e.fused == kBeta) {
      adder_.Add(C(), r_.matrices.beta, sums);
    } else if (e.beta) {
      LaneArray addend = Times(C(), r_.matrices.beta);
      adder_.Add(sums, e.fused == kAlpha ? r_.matrices.alpha : One(), addend);
      sums = std::move(addend);
    }
    if (e.bias) adder_.Add(Bias(), One(), sums);
  }

  const Recipe& r_;
  const std::span<const int64_t> rows_, columns_;
  const int64_t panels_;
  mutable MultiplyAdder adder_;
  Chunk chunks_[2];
  TracedElement* trace_ = nullptr;
  const Poll* poll_ = nullptr;
};

std::vector<int64_t> Indices(int64_t first, int64_t count) {
  std::vector<int64_t> indices(count);
  std::iota(indices.begin(), indices.end(), first);
  return indices;
}

}  // namespace

void Execute(const Plan& plan, const Matrices& matrices, const MutableWords& d,
             const Execution& execution) {
  const Recipe recipe(plan, matrices, execution.lanes);
  const int64_t tile_rows = execution.tile_rows > 0 ? execution.tile_rows : kTileRows;
  const int64_t tile_columns = execution.tile_columns > 0 ? execution.tile_columns : kTileColumns;
  const int64_t across = (matrices.n + tile_columns - 1) / tile_columns;
  const int64_t tiles = (matrices.m + tile_rows - 1) / tile_rows * across;
  ForEachPart(tiles, execution.threads, [&](int64_t number, const Poll& poll) {
    const int64_t i0 = number / across * tile_rows, j0 = number % across * tile_columns;
    const std::vector<int64_t> rows = Indices(i0, std::min(tile_rows, matrices.m - i0));
    const std::vector<int64_t> columns = Indices(j0, std::min(tile_columns, matrices.n - j0));
    Tile tile(recipe, rows, columns);
    tile.Ask(&poll);
    tile.Run([&](int64_t i, int64_t j, uint64_t word) { Store(d, i0 + i, j0 + j, word); });
  });
}

TracedElement TraceAt(const Plan& plan, const Matrices& matrices, int64_t row, int64_t column,
                      const Poll* poll) {
  const Recipe recipe(plan, matrices, true);
  TracedElement trace;
  Tile tile(recipe, {&row, 1}, {&column, 1});
  tile.Trace(&trace);
  tile.Ask(poll);
  tile.Run([&](int64_t, int64_t, uint64_t word) { trace.result = word; });
  return trace;
}

std::vector<uint64_t> ExecuteAll(const Plan& plan, const Matrices& matrices) {
  std::vector<int64_t> rows(matrices.m), columns(matrices.n);
  std::iota(rows.begin(), rows.end(), 0);
  std::iota(columns.begin(), columns.end(), 0);
  return ExecuteAt(plan, matrices, rows, columns);
}

std::vector<uint64_t> ExecuteAt(const Plan& plan, const Matrices& matrices,
                                std::span<const int64_t> rows, std::span<const int64_t> columns,
                                const Poll* poll) {
  const Recipe recipe(plan, matrices, true);
  std::vector<uint64_t> words(rows.size() * columns.size());
  Tile tile(recipe, rows, columns);
  tile.Ask(poll);
  tile.Run([&](int64_t i, int64_t j, uint64_t word) { words[i * columns.size() + j] = word; });
  return words;
}

}  // namespace mmadiff

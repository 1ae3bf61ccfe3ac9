#include "sim/lanes/tile_model.h"

#include <algorithm>

#include "sim/batch.h"
#include "sim/reading.h"
#include "sim/simulate.h"
#include "sim/sparsity.h"

namespace mmadiff {
namespace {

// Without lanes: panels of one row.
class ScalarTiles : public LaneTiles {
 public:
  ScalarTiles(const Model& m, int panels, int columns, bool own) : m_(m) {
    batch_.Resize({own ? 1 : panels, columns, m.k, 1, m.scales()}, own ? panels : 1);
  }
  void Add(const LaneTile& tile) override {
    const auto copy = [](const void* from, std::vector<uint64_t>& to) {
      std::copy_n(static_cast<const uint64_t*>(from), to.size(), to.begin());
    };
    copy(tile.a, batch_.a);
    copy(tile.own_b != nullptr ? tile.own_b : tile.b, batch_.b);
    copy(tile.sums, batch_.c);
    Simulate(m_, batch_, {static_cast<uint64_t*>(tile.sums), batch_.c.size()});
  }

 private:
  const Model m_;
  Batch batch_;
};

}  // namespace

void LaneArray::Fill(uint64_t word) {
  if (bits_ == 32) return std::fill_n(As<uint32_t>(), count_, static_cast<uint32_t>(word)), void();
  std::fill_n(As<uint64_t>(), count_, word);
}

TileModel::TileModel(const Model& m, bool lanes) : m_(m) {
  if (!lanes || LaneTargets().empty()) return;
  if (m.executions > 1 || HasReadings(m) || IsSparse(m)) return;
  const LaneTarget& target = LaneTargets()[0];
  const int count = target.LanesFor(target.WidthFor(m));
  if (count == 0) return;
  target_ = &target;
  lanes_ = count;
  bits_ = target.WidthFor(m) == LaneWidth::k64 ? 64 : 32;
}

void TileModel::Turn(const Words& rows, int count, int64_t step, void* to) const {
  if (target_ != nullptr) {
    return (bits_ == 64 ? target_->turn_wide : target_->turn_narrow)(rows, count, step, to);
  }
  for (int i = 0; i < count; ++i) static_cast<uint64_t*>(to)[i * step] = Load(rows, 0, i);
}

void TileModel::TurnBack(const void* from, int count, const MutableWords& rows) const {
  if (target_ != nullptr) {
    return (bits_ == 64 ? target_->turn_back_wide : target_->turn_back_narrow)(from, count, rows);
  }
  for (int i = 0; i < count; ++i) Store(rows, 0, i, static_cast<const uint64_t*>(from)[i]);
}

std::unique_ptr<LaneTiles> TileModel::Tiles(int k, int panels, int columns, bool own) const {
  Model m = m_;
  m.k = k;
  if (target_ != nullptr) return target_->Tiles(m, panels, columns, own);
  return std::make_unique<ScalarTiles>(m, panels, columns, own);
}

void MultiplyAdder::Add(const LaneArray& a, const LaneArray& b, LaneArray& d) {
  if (own_ == nullptr) own_ = model_.Tiles(1, panels_, 1, true);
  own_->Add({.a = a.data(), .own_b = b.data(), .sums = d.data()});
}

void MultiplyAdder::Add(const LaneArray& a, uint64_t b, LaneArray& d) {
  if (shared_ == nullptr) shared_ = model_.Tiles(1, panels_, 1, false);
  LaneArray one(1, model_.bits());
  one.set(0, b);
  shared_->Add({.a = a.data(), .b = one.data(), .sums = d.data()});
}

}  // namespace mmadiff

#include "triage/copies/minimize_copy.h"

#include <functional>
#include <vector>

#include "sim/copy/legal.h"

namespace mmadiff {
namespace {

using Step = std::function<void(TensorCopy&)>;

// Values nearer to `least`, the simplest first.
template <class T>
std::vector<T> Nearer(T value, T least) {
  std::vector<T> values;
  if (value == least) return values;
  values.push_back(least);
  for (const T next : {static_cast<T>(least + (value - least) / 2),
                       static_cast<T>(value > least ? value - 1 : value + 1)}) {
    if (next != values.back() && next != value) values.push_back(next);
  }
  return values;
}

class Steps {
 public:
  explicit Steps(const TensorCopy& copy) : copy_(copy) {
    const TensorMap& map = copy.map;
    Field(
        copy.shared, 0U, [](TensorCopy & c) -> auto& { return c.shared; });
    Field(
        map.base, uint64_t{0}, [](TensorCopy & c) -> auto& { return c.map.base; });
    Simplest(
        map.swizzle, Swizzle::kNone, [](TensorCopy & c) -> auto& { return c.map.swizzle; });
    Simplest(
        map.interleave, Interleave::kNone,
        [](TensorCopy & c) -> auto& { return c.map.interleave; });
    Simplest(
        map.fill, FillMode::kZero, [](TensorCopy & c) -> auto& { return c.map.fill; });
    Simplest(
        copy.reduction, Reduction::kAdd, [](TensorCopy & c) -> auto& { return c.reduction; });
    for (int d = 0; d < map.rank; ++d) {
      Field(
          map.traversal[d], 1U, [d](TensorCopy & c) -> auto& { return c.map.traversal[d]; });
      Multiples(
          map.box[d], [d](TensorCopy & c) -> auto& { return c.map.box[d]; });
      Multiples(
          map.dim[d], [d](TensorCopy & c) -> auto& { return c.map.dim[d]; });
      if (d > 0)
        Multiples(
            map.stride[d], [d](TensorCopy & c) -> auto& { return c.map.stride[d]; });
    }
    Multiples(
        map.channels, [](TensorCopy & c) -> auto& { return c.map.channels; });
    Field(
        map.pixels, 1U, [](TensorCopy & c) -> auto& { return c.map.pixels; });
    for (int d = 0; d < kMaxRank; ++d) {
      Field(
          copy.x[d], 0, [d](TensorCopy & c) -> auto& { return c.x[d]; });
    }
    for (int s = 0; s < kMaxSpatial; ++s) {
      Field(
          map.lower[s], 0, [s](TensorCopy & c) -> auto& { return c.map.lower[s]; });
      Field(
          map.upper[s], 0, [s](TensorCopy & c) -> auto& { return c.map.upper[s]; });
      Field(
          copy.offset[s], uint16_t{0}, [s](TensorCopy & c) -> auto& { return c.offset[s]; });
    }
  }

  const std::vector<Step>& all() const { return steps_; }

 private:
  template <class T, class Get>
  void Field(T value, T least, Get get) {
    for (const T v : Nearer(value, least)) steps_.push_back([=](TensorCopy& c) { get(c) = v; });
  }
  template <class T, class Get>
  void Simplest(T value, T simplest, Get get) {
    if (value != simplest) steps_.push_back([=](TensorCopy& c) { get(c) = simplest; });
  }
  // Sizes whose limits are multiples of powers of two.
  template <class T, class Get>
  void Multiples(T value, Get get) {
    std::vector<T> values = {1, static_cast<T>(value / 2), static_cast<T>(value - 1)};
    for (T part = 1; part <= 256 && part < value; part *= 2) {
      values.push_back(part);
      values.push_back(static_cast<T>((value - 1) / part * part));
    }
    for (const T v : values) {
      if (v > 0 && v < value) steps_.push_back([=](TensorCopy& c) { get(c) = v; });
    }
  }

  const TensorCopy& copy_;
  std::vector<Step> steps_;
};

}  // namespace

TensorCopy MinimizedCopy(const TensorCopy& copy, std::string_view arch, uint64_t window,
                         absl::FunctionRef<bool(const TensorCopy&)> differs) {
  TensorCopy best = copy;
  for (bool simpler = true; simpler;) {
    simpler = false;
    const Steps steps(best);
    for (const Step& step : steps.all()) {
      TensorCopy next = best;
      step(next);
      if (next == best || BrokenLimit(next, arch) != nullptr) continue;
      const GlobalRange range = TouchedRange(next);
      if (range.last > window || range.first > range.last || !differs(next)) continue;
      best = next;
      simpler = true;
      break;
    }
  }
  return best;
}

}  // namespace mmadiff

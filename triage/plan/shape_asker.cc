#include "triage/plan/shape_asker.h"

#include <algorithm>
#include <bit>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "device/status_macros.h"
#include "sim/plan/convert.h"
#include "sim/plan/random_matrix.h"
#include "xxhash.h"

namespace mmadiff {
namespace {

constexpr int64_t kMinElements = 512, kMaxProducts = 32;  // of a small D

std::vector<unsigned char> StoredRandom(const Format& format, uint64_t seed, int64_t count) {
  return RandomMatrix(format, StoredBits(format), seed, count);
}

Words RowsOf(const std::vector<unsigned char>& words, int64_t columns, const Format& format) {
  return {words.data(), columns, 1, StoredBits(format)};
}

// Elements of D that the regions' plans do not give.
int64_t Missed(const Regions& regions, const AskedProduct& asked, const Format& format,
               const Execution& execution) {
  const Matrices m = asked.matrices();
  int64_t missed = 0;
  for (size_t p = 0; p < regions.plans.size(); ++p) {
    std::vector<unsigned char> bytes(m.m * m.n * 8);
    const Words words = {bytes.data(), m.n, 1, 64};
    Execute(regions.plans[p], m, {bytes.data(), m.n, 1, 64}, execution);
    for (int64_t i = 0; i < m.m; ++i) {
      for (int64_t j = 0; j < m.n; ++j) {
        missed += regions.PlanAt(i, j) == static_cast<int>(p) &&
                  !SameResult(format, Load(words, i, j), Load(asked.d(), i, j));
      }
    }
  }
  return missed;
}

}  // namespace

std::string DigestOf(const std::vector<unsigned char>& words) {
  return absl::StrFormat("%016x", XXH3_64bits(words.data(), words.size()));
}

AskedProduct::AskedProduct(const MatrixShape& shape, const ProductKind& kind, uint64_t seed)
    : shape_(shape),
      kind_(kind),
      a_(StoredRandom(*kind.formats.a, 2 * seed, shape.m * shape.k)),
      b_(StoredRandom(*kind.formats.b, 2 * seed + 1, shape.k * shape.n)),
      c_(StoredRandom(*kind.formats.d, ~seed, kind.factors.beta == 0 ? 0 : shape.m * shape.n)),
      d_(shape.m * shape.n * (StoredBits(*kind.formats.d) / 8)) {}

absl::Status AskedProduct::Ask(MatrixDevice& device) {
  const Matrices m = matrices();
  return device.Multiply({m.m, m.n, m.k, m.a, m.b, {d_.data(), m.n, 1, d().bits}, m.c});
}

Matrices AskedProduct::matrices() const {
  const auto word = [&](double number) {
    return Convert(kF64, *kind_.formats.d, NanRule::kAllOnes, std::bit_cast<uint64_t>(number));
  };
  Matrices m;
  m.m = shape_.m, m.n = shape_.n, m.k = shape_.k;
  m.a_format = kind_.formats.a, m.b_format = kind_.formats.b;
  m.a = RowsOf(a_, m.k, *m.a_format), m.b = RowsOf(b_, m.n, *m.b_format);
  m.c = RowsOf(c_, m.n, *kind_.formats.d);
  m.alpha = word(kind_.factors.alpha), m.beta = word(kind_.factors.beta);
  return m;
}

Words AskedProduct::d() const { return RowsOf(d_, shape_.n, *kind_.formats.d); }

std::string AskedProduct::digest() const { return DigestOf(d_); }

ShapeAsker::ShapeAsker(MatrixDevice& device, const MatrixShape& shape,
                       std::span<const Plan> candidates, uint64_t seed, const Execution& execution)
    : device_(device),
      shape_(shape),
      seed_(seed),
      execution_(execution),
      finder_(shape.m, shape.n, *device.formats().d, candidates, execution) {}

absl::Status ShapeAsker::Ask(int products) {
  const int64_t elements = std::max<int64_t>(shape_.m * shape_.n, 1);
  const int64_t count =
      std::max<int64_t>(products, std::min(kMinElements / elements, kMaxProducts));
  for (bool explained = true; explained && std::ssize(asked_) < count;) {
    RETURN_IF_ERROR(AskOne());
    explained = finder_.Add(asked_.back()->matrices(), asked_.back()->d());
  }
  return absl::OkStatus();
}

absl::StatusOr<ShapePlans> ShapeAsker::Predict() {
  ShapePlans result = {shape_, finder_.Find(), finder_.unexplained()};
  if (result.regions) {
    result.seed = seed_ + asked_.size();
    RETURN_IF_ERROR(AskOne());
    result.digest = asked_.back()->digest();
    result.differing = Missed(*result.regions, *asked_.back(), *device_.formats().d, execution_);
  }
  result.products = std::ssize(asked_);
  if (!result.regions || result.differing > 0) RETURN_IF_ERROR(CheckRepeats());
  return result;
}

// Asks for the last product again.
absl::Status ShapeAsker::CheckRepeats() {
  AskedProduct again(shape_, KindOf(device_), seed_ + asked_.size() - 1);
  RETURN_IF_ERROR(again.Ask(device_));
  if (again.digest() == asked_.back()->digest()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(
      device_.name(), " gives two results for one product of ", ShapeText(shape_),
      ": a kernel whose order changes from call to call, as with atomics, has no plan"));
}

absl::Status ShapeAsker::AskOne() {
  asked_.push_back(std::make_unique<AskedProduct>(shape_, KindOf(device_), seed_ + asked_.size()));
  return asked_.back()->Ask(device_);
}

}  // namespace mmadiff

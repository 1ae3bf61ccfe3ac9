#include "corpus/copies/copy_case.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "corpus/cases/random.h"
#include "sim/copy/element.h"
#include "sim/copy/legal.h"

namespace mmadiff {
namespace {

enum Class { kMixed, kInside, kEdges, kOutside, kTraversal, kLimits, kFar, kOverlap, kImages };
constexpr const char* kClasses[] = {"mixed",  "inside", "edges",   "outside", "traversal",
                                    "limits", "far",    "overlap", "images"};
constexpr const char* kArchitectures[] = {"sm_90", "sm_100", "sm_103", "sm_120"};

constexpr uint32_t kStream = 0x7c0b;  // of random bits; no operation's
constexpr int kTries = 64;

class Drawer {
 public:
  Drawer(const CopyCaseName& name, Random& random, Class input_class, int attempt)
      : random_(random),
        arch_(name.arch),
        class_(input_class),
        small_(attempt / 8),
        form_(*name.form) {
    copy_.form = name.form;
    map_.rank = form_.rank;
  }

  TensorCopy Draw() {
    DrawKind();
    IsTiled(form_.mode) ? DrawBox() : DrawColumn();
    DrawTensor();
    DrawStart();
    copy_.shared = 1024 * random_.Below(4) + (random_.OneIn(4) ? 128 * random_.Below(8) : 0);
    return copy_;
  }

 private:
  bool Holds(const char* rule) const {
    const auto limit = std::ranges::find_if(
        CopyLimits(), [&](const CopyRule& r) { return std::string_view(r.name) == rule; });
    return limit->holds(copy_, arch_);
  }
  // Draws a value below n until the named limits hold.
  template <class T>
  void Choose(T& field, int n, std::initializer_list<const char*> rules) {
    do {
      field = static_cast<T>(random_.Below(n));
    } while (!std::ranges::all_of(rules, [&](const char* rule) { return Holds(rule); }));
  }
  // 1 to `most`, mostly small.
  uint32_t Size(int most) {
    const int few = std::max(1, std::min(most, 12 >> small_));
    return random_.Between(1, random_.OneIn(8) ? std::min(most, 4 * few) : few);
  }

  void DrawKind() {
    Choose(map_.type, static_cast<int>(TensorTypes().size()),
           {"packed_target", "packed_direction"});
    if (form_.direction == CopyDirection::kReduce) {
      constexpr TensorType kReduced[] = {TensorType::kU32, TensorType::kS32,   TensorType::kU64,
                                         TensorType::kS64, TensorType::kF16,   TensorType::kBf16,
                                         TensorType::kF32, TensorType::kF32Ftz};
      map_.type = kReduced[random_.Below(std::size(kReduced))];
      Choose(copy_.reduction, static_cast<int>(Reduction::kXor) + 1, {"reduction"});
    }
    map_.fill =
        Info(map_.type).is_float ? static_cast<FillMode>(random_.Below(2)) : FillMode::kZero;
    if (random_.OneIn(8)) {
      Choose(map_.interleave, 3, {"interleave_form"});
      if (!IsTiled(form_.mode) || form_.mode != CopyMode::kTile)
        map_.interleave = Interleave::kNone;
    }
    Choose(map_.swizzle, static_cast<int>(Swizzles().size()),
           {"swizzle_target", "interleave_swizzle", "packed_swizzle", "wide_swizzle"});
    element_ = Info(map_.type);
    map_.stride[0] = element_.global_bytes / element_.elements;
    map_.traversal.fill(1);
    for (int d = 1; d < map_.rank; ++d) {
      if (class_ == kTraversal || random_.OneIn(6)) map_.traversal[d] = random_.Between(1, 8);
    }
  }

  // Elements of a row of the box, or of a pixel.
  uint32_t DrawInner() {
    if (IsPadded(map_.type)) return 128;
    const int per16 = 16 * element_.elements / element_.shared_bytes;
    if (map_.interleave != Interleave::kNone) return random_.Between(1, 4 * per16);
    const int span = Info(map_.swizzle).span;
    const int most = std::min(256 / per16, span == 0 ? 256 : span / 16);
    const bool full = class_ == kLimits || random_.OneIn(3);
    return per16 * (full ? most : random_.Between(1, std::min(most, 16 >> small_)));
  }

  // Rows that fit into a tile.
  int MostRows() const {
    const int bytes = static_cast<int>(inner_) * element_.shared_bytes / element_.elements;
    const int pitch = std::max({bytes, Info(map_.swizzle).span, 16});
    const bool large = class_ == kLimits || form_.mode == CopyMode::kIm2colW128;
    return static_cast<int>(large ? kMaxTileBytes : kMaxTileBytes / 8) / pitch;
  }

  void DrawBox() {
    inner_ = map_.box[0] = DrawInner();
    int rows = MostRows();
    const int large = class_ == kLimits && map_.rank > 1 ? random_.Between(1, map_.rank - 1) : 0;
    for (int d = 1; d < map_.rank; ++d) {
      const auto e = static_cast<int>(map_.traversal[d]);
      if (form_.mode != CopyMode::kTile) {
        map_.box[d] = 1;
        continue;
      }
      const int most = std::clamp(rows * e, 1, 256);
      int box = d == large ? 256 - random_.Below(2)
                           : static_cast<int>(Size(most)) * (random_.Coin() ? e : 1);
      box = std::min(most, box);
      if (random_.OneIn(3)) box -= random_.Below(e);
      map_.box[d] = std::max(1, box);
      rows = std::max(1, rows / ((static_cast<int>(map_.box[d]) + e - 1) / e));
    }
  }

  void DrawColumn() {
    inner_ = map_.channels = DrawInner();
    const int most = std::max(1, MostRows());
    if (IsWide(form_.mode)) {
      const int halo = form_.mode == CopyMode::kIm2colW ? 511 : 31;
      const int groups = form_.mode == CopyMode::kIm2colW ? 1 : 4;
      const int room =
          form_.mode == CopyMode::kIm2colW ? most / 2 : std::max(0, most - 128) / groups;
      copy_.offset[0] =
          std::min(room, class_ == kLimits ? halo : random_.Below(std::min(halo + 1, 12)));
      copy_.offset[1] =
          class_ == kLimits ? 31 - random_.Below(2) : random_.Below(random_.Coin() ? 3 : 32);
    }
    map_.pixels = class_ == kLimits                       ? std::min(most - copy_.offset[0], 1024)
                  : class_ == kImages || random_.OneIn(3) ? random_.Between(1, std::min(most, 256))
                                                          : Size(most);
    map_.pixels = std::clamp<int>(map_.pixels, 1, std::min(1024, most));
  }

  // Sizes and strides whose elements near the box are below the window.
  void DrawTensor() {
    const int align = AlignmentOf(map_);
    map_.base = align * random_.Below(random_.Coin() ? 1 : 32);
    const int step = IsPadded(map_.type) ? 128 : element_.elements;
    const int longer = step == 128 ? 128 * random_.Below(2) : step * random_.Between(-8, 24);
    map_.dim[0] = std::max<int64_t>(step, int64_t{inner_} / step * step + longer);
    uint64_t stride = map_.dim[0] * element_.global_bytes / element_.elements;
    if (map_.interleave != Interleave::kNone)
      stride = map_.interleave == Interleave::k16B ? 16 : 32;
    for (int d = 1; d < map_.rank; ++d) {
      stride = (stride + align - 1) / align * align;
      if (random_.OneIn(3)) stride += align * random_.Below(4);
      if (class_ == kOverlap && random_.Coin()) stride = align * random_.Between(1, 4);
      map_.stride[d] = stride;
      const bool image = !IsTiled(form_.mode) && d == map_.rank - 1;
      map_.dim[d] = image ? random_.Between(1, 3) : Size(std::max(2, 24 >> small_));
      if (IsTiled(form_.mode) && random_.Coin())
        map_.dim[d] = std::max<int64_t>(1, int64_t{map_.box[d]} + random_.Between(-2, 2));
      if (class_ == kImages && !image) map_.dim[d] = random_.Between(1, 5);
      stride *= map_.dim[d];
      if (map_.interleave != Interleave::kNone && d == map_.rank - 2)
        stride *= (map_.dim[0] * element_.global_bytes + 31) / 16;
    }
    if (!IsTiled(form_.mode)) DrawCorners();
    if (class_ == kFar && random_.Coin())
      map_.dim[random_.Between(map_.rank > 1 ? 1 : 0, map_.rank - 1)] = uint64_t{1} << 32;
    if (map_.rank > 1 && random_.OneIn(64))
      map_.dim[map_.rank - 1] = (uint64_t{1} << 32) - random_.Below(2);
  }

  void DrawCorners() {
    constexpr int kBits[] = {16, 8, 5};
    const int end = 1 << (kBits[map_.spatial() - 1] - 1);
    const bool store = form_.mode == CopyMode::kIm2colNoOffs;
    for (int s = 0; s < map_.spatial(); ++s) {
      if (IsWide(form_.mode) && s > 0) continue;
      const auto dim = static_cast<int>(std::min<uint64_t>(map_.dim[s + 1], 64));
      const int reach = random_.OneIn(8) ? end : 3;
      int low = random_.Between(store ? 0 : -std::min(reach, 2048), std::min(reach - 1, dim - 1));
      int high = random_.Between(-std::min(reach, dim - 1), store ? 0 : std::min(reach - 1, 2047));
      if (class_ == kLimits && !store && random_.Coin()) low = -end;
      if (class_ == kLimits && !store && random_.Coin()) high = end - 1;
      if (low > dim - 1 + high) high = low - (dim - 1);
      if (store) high = std::min(high, 0);
      if (high < -end || high >= end || low > dim - 1 + high) low = high = 0;
      map_.lower[s] = low;
      map_.upper[s] = high;
      if (form_.mode == CopyMode::kIm2col) {
        const int most = (1 << kBits[map_.spatial() - 1]) - 1;
        copy_.offset[s] = class_ == kLimits && random_.Coin()
                              ? most - random_.Below(2)
                              : random_.Below(std::min(most + 1, random_.OneIn(4) ? 64 : 5));
      }
    }
  }

  // A start in dimension d at which `length` elements are where the class wants them.
  int64_t Start(int d, int64_t length) {
    const auto dim = static_cast<int64_t>(std::min<uint64_t>(map_.dim[d], 4000));
    const int64_t room = std::max<int64_t>(0, dim - length);
    if (class_ == kInside) return random_.Below(static_cast<int>(room) + 1);
    if (class_ == kFar && random_.OneIn(3)) {
      return random_.Coin()
                 ? std::numeric_limits<int32_t>::min() + int64_t{128} * random_.Below(3)
                 : std::numeric_limits<int32_t>::max() - 127 - int64_t{128} * random_.Below(3);
    }
    if (class_ == kOutside && random_.Coin())
      return random_.Coin() ? -length - random_.Below(2) : dim + random_.Below(2);
    if (class_ == kEdges || random_.OneIn(2))
      return random_.Coin() ? -random_.Below(static_cast<int>(length) + 1)
                            : dim - random_.Below(static_cast<int>(length) + 1);
    return random_.Below(static_cast<int>(room) + 1);
  }

  void DrawStart() {
    const int bytes = map_.interleave == Interleave::k32B ? 32 : 16;
    const bool padded = IsPadded(map_.type);
    const int step = padded ? 128 : bytes * element_.elements / element_.global_bytes;
    const bool store = form_.mode == CopyMode::kIm2colNoOffs;
    const int64_t c = Start(0, inner_);
    copy_.x[0] = static_cast<int32_t>((c < 0 ? -((-c) / step) : c / step) * step);
    if (store) copy_.x[0] = std::max(copy_.x[0], 0);
    if (form_.mode == CopyMode::kGather4 || form_.mode == CopyMode::kScatter4) {
      for (int i = 1; i <= 4; ++i) {
        copy_.x[i] = static_cast<int32_t>(Start(1, 1));
        if (i > 1 && random_.OneIn(8)) copy_.x[i] = copy_.x[i - 1];
      }
      return;
    }
    for (int d = 1; d < map_.rank; ++d) {
      if (IsTiled(form_.mode)) {
        copy_.x[d] = static_cast<int32_t>(Start(d, map_.box[d]));
        continue;
      }
      if (d == map_.rank - 1) {
        copy_.x[d] = static_cast<int32_t>(class_ == kInside ? 0 : Start(d, 1));
        if (store) copy_.x[d] = std::max(copy_.x[d], 0);
        continue;
      }
      const int s = d - 1;
      const int64_t high = std::min<int64_t>(static_cast<int64_t>(map_.dim[d]) - 1 + map_.upper[s],
                                             std::numeric_limits<int32_t>::max());
      const int64_t low =
          map_.lower[s] - (IsWide(form_.mode) && s == 0 && random_.OneIn(4) ? 3 : 0);
      const int64_t width = std::min<int64_t>(high - low, 4000);
      int64_t start = random_.OneIn(4)   ? low
                      : random_.OneIn(4) ? high
                                         : low + random_.Below(static_cast<int>(width) + 1);
      if (random_.Coin()) start = std::clamp<int64_t>(random_.Below(8), low, high);
      if (store) start = std::max<int64_t>(start, 0);
      copy_.x[d] = static_cast<int32_t>(std::min(start, high));
    }
  }

  Random& random_;
  const std::string& arch_;
  const Class class_;
  const int small_;  // sizes are divided by 2^small
  const CopyForm& form_;
  TensorCopy copy_;
  TensorMap& map_ = copy_.map;
  TensorTypeInfo element_ = {};
  uint32_t inner_ = 0;
};

bool Fits(const TensorCopy& copy, std::string_view arch) {
  if (BrokenLimit(copy, arch) != nullptr || TileBytes(copy) > kMaxTileBytes) return false;
  const GlobalRange range = TouchedRange(copy);
  return range.last <= kCopyWindow && range.first <= range.last;
}

}  // namespace

std::span<const char* const> CopyClasses() { return kClasses; }
std::span<const char* const> CopyArchitectures() { return kArchitectures; }

CopyCase GenerateCopy(const CopyCaseName& name) {
  const auto form = static_cast<uint32_t>(name.form - CopyForms().data());
  Random random(name.seed, kStream + form, name.index);
  CopyCase result;
  result.memory.seed = random.Bits(64);
  result.memory.words = static_cast<CopyMemory::Words>(random.Below(3));
  const auto input_class = static_cast<Class>(name.index % std::size(kClasses));
  for (int attempt = 0; attempt < kTries; ++attempt) {
    result.copy = Drawer(name, random, attempt < kTries / 2 ? input_class : kMixed, attempt).Draw();
    if (Fits(result.copy, name.arch)) break;
  }
  return result;
}

std::string FormatCopyCase(const CopyCaseName& name) {
  return absl::StrCat(name.arch, "/", name.form->name, "@g", kCopyGeneratorVersion, ":", name.seed,
                      ":", name.index);
}

absl::StatusOr<CopyCaseName> ParseCopyCase(absl::string_view text) {
  const auto wrong = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat("'", text, "': ", what,
                                                   "; a case of a copy is ARCH/FORM@g",
                                                   kCopyGeneratorVersion, ":SEED:INDEX"));
  };
  const std::pair<absl::string_view, absl::string_view> halves =
      absl::StrSplit(text, absl::MaxSplits('@', 1));
  const std::pair<absl::string_view, absl::string_view> names =
      absl::StrSplit(halves.first, absl::MaxSplits('/', 1));
  CopyCaseName name;
  name.arch = std::string(names.first);
  if (std::ranges::find(kArchitectures, name.arch) == std::end(kArchitectures))
    return wrong(absl::StrCat("no architecture '", names.first, "' has copies"));
  name.form = FindCopyForm({names.second.data(), names.second.size()});
  if (name.form == nullptr) return wrong(absl::StrCat("no form '", names.second, "'"));
  const auto number = [](absl::string_view digits, uint64_t& value) {
    return std::ranges::all_of(digits, absl::ascii_isdigit) && absl::SimpleAtoi(digits, &value);
  };
  const std::vector<absl::string_view> parts = absl::StrSplit(halves.second, ':');
  uint64_t version = 0;
  const bool is_case = parts.size() == 3 && parts[0].size() > 1 && parts[0][0] == 'g' &&
                       number(parts[0].substr(1), version);
  if (!is_case || version != kCopyGeneratorVersion) {
    return wrong("not a case of this version of the generator");
  }
  if (!number(parts[1], name.seed) || !number(parts[2], name.index)) {
    return wrong("seed and index are numbers");
  }
  return name;
}

}  // namespace mmadiff

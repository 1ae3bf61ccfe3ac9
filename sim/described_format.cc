#include "sim/described_format.h"

#include <cctype>
#include <charconv>
#include <map>
#include <memory>
#include <mutex>

namespace mmadiff {
namespace {

struct KindName {
  const char* name;
  Nonfinite kind;
};
constexpr KindName kKindNames[] = {{"ieee", Nonfinite::kIeee},
                                   {"ieeeall", Nonfinite::kIeeeAllBits},
                                   {"fn", Nonfinite::kNanAllOnes},
                                   {"fnuz", Nonfinite::kNanMinusZero},
                                   {"finite", Nonfinite::kNone}};
constexpr char kForm[] =
    "write [u]eEmF[bBIAS][iBITS][KIND], such as e5m10 or e4m3b11fnuz; KIND is ieee, ieeeall, fn, "
    "fnuz or finite";

int DefaultBias(const Format& f) {
  return (1 << (f.exponent_bits - 1)) - (f.nonfinite == Nonfinite::kNanMinusZero ? 0 : 1);
}

std::string_view NameOf(Nonfinite kind) {
  for (const KindName& k : kKindNames) {
    if (k.kind == kind) return k.name;
  }
  return "";
}

// "e4m3", "ue5m3".
std::string Letters(const Format& f) {
  return std::string(f.is_signed ? "e" : "ue") + std::to_string(f.exponent_bits) + "m" +
         std::to_string(f.fraction_bits);
}

// Whether a description must have a kind. "e4m3" alone is the table's, and no kind of scale is
// the usual one.
bool NeedsKind(const Format& f) {
  if (!f.is_signed) return true;
  for (const Format* own : kFormats) {
    if (Letters(f) == own->name && own->nonfinite != Nonfinite::kIeee) return true;
  }
  return false;
}

// The description without what has its default value.
std::string Canonical(const Format& f, int bias) {
  std::string name = Letters(f);
  if (bias != DefaultBias(f)) name += "b" + std::to_string(bias);
  if (f.ignored_bits > 0) name += "i" + std::to_string(f.ignored_bits);
  const bool usual = f.nonfinite == Nonfinite::kIeee && !NeedsKind(f);
  return name + (usual ? "" : std::string(NameOf(f.nonfinite)));
}

bool SameNumbers(const Format& x, const Format& y) {
  return x.bits == y.bits && x.exponent_bits == y.exponent_bits &&
         x.fraction_bits == y.fraction_bits && x.min_exponent == y.min_exponent &&
         x.ignored_bits == y.ignored_bits && x.nonfinite == y.nonfinite &&
         x.is_signed == y.is_signed && x.has_zero == y.has_zero;
}

const Format* OfTable(const Format& described) {
  for (const Format* f : kFormats) {
    if (!IsInteger(*f) && SameNumbers(*f, described)) return f;
  }
  return nullptr;
}

class Reader {
 public:
  Reader(std::string_view text, FormatError& error) : error_(error) {
    for (const char c : text) text_ += static_cast<char>(std::tolower(static_cast<uint8_t>(c)));
  }

  // False with the error.
  bool Read(Format& f, int& bias) {
    int width = 0;
    if (!Prefix(width)) return false;
    start_ = at_;
    f.is_signed = !Take("u");
    if (!Number("e", 2, 8, "exponent bits", f.exponent_bits)) return false;
    if (!Number("m", 0, 23, "fraction bits", f.fraction_bits)) return false;
    const size_t bias_at = at_;
    const bool biased = text_.substr(at_, 1) == "b";
    if (biased && !Number("b", 0, 382, "", bias)) return false;
    const bool ignores = text_.substr(at_, 1) == "i" && !text_.substr(at_).starts_with("ieee");
    if (ignores && !Number("i", 1, 31, "ignored bits", f.ignored_bits)) return false;
    const size_t kind_at = at_;
    if (!Kind(f)) return false;
    if (!biased) bias = DefaultBias(f);
    f.min_exponent = 1 - bias;
    f.bits = f.is_signed + f.exponent_bits + f.fraction_bits + f.ignored_bits;
    return Fits(f, biased ? bias_at : kind_at, kind_at) &&
           (width == 0 || width == f.bits || Fail(start_, "the format has " + Bits(f.bits)));
  }

 private:
  static std::string Bits(int n) { return std::to_string(n) + (n == 1 ? " bit" : " bits"); }

  bool Fail(size_t at, const std::string& what) {
    error_ = {what, static_cast<int>(at) + 1};
    return false;
  }
  bool Take(std::string_view word) {
    if (!std::string_view(text_).substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  // "float8_", "fp8_", "f8": the width of the format in bits.
  bool Prefix(int& width) {
    if (!Take("float") && !Take("fp") && !Take("f")) return true;
    if (!Number("", 1, 32, "bits", width)) return false;
    Take("_");
    return true;
  }

  bool Number(std::string_view letter, int least, int most, const std::string& what, int& number) {
    if (!Take(letter)) return Fail(at_, "'" + std::string(letter) + "' is missing; " + kForm);
    const char* const begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), number);
    if (error != std::errc()) return Fail(at_, std::string("a number is missing; ") + kForm);
    if (number < least || number > most) {
      return Fail(at_, (what.empty() ? "the bias" : "the number of " + what) + " must be " +
                           std::to_string(least) + " to " + std::to_string(most));
    }
    at_ += end - begin;
    return true;
  }

  bool Kind(Format& f) {
    const std::string_view rest = std::string_view(text_).substr(at_);
    for (const KindName& k : kKindNames) {
      if (rest != k.name) continue;
      f.nonfinite = k.kind;
      return true;
    }
    if (!rest.empty()) return Fail(at_, "'" + std::string(rest) + "' is not a kind; " + kForm);
    if (NeedsKind(f))
      return Fail(at_,
                  "the kind is missing, because " + Letters(f) + " alone is not ieee; " + kForm);
    f.nonfinite = Nonfinite::kIeee;
    return true;
  }

  bool Fits(const Format& f, size_t bias_at, size_t kind_at) {
    if (f.bits > 32) return Fail(0, "the format has " + Bits(f.bits) + ", at most 32 are possible");
    if (f.min_exponent < kF32.min_exponent || MaxExponent(f) > MaxExponent(kF32)) {
      return Fail(bias_at, "its exponents, " + std::to_string(f.min_exponent) + " to " +
                               std::to_string(MaxExponent(f)) + ", exceed those of f32");
    }
    if (f.min_exponent > 0 || MaxExponent(f) < 0) {
      return Fail(bias_at, "with this bias 1 is not among its numbers");
    }
    if (HasInfinity(f) && f.fraction_bits == 0) {
      return Fail(kind_at, "without fraction bits it has no NaN: it cannot be ieee");
    }
    if (f.nonfinite == Nonfinite::kIeeeAllBits && f.ignored_bits == 0) {
      return Fail(kind_at, "ieeeall is for formats with ignored bits");
    }
    if (!f.is_signed && (f.nonfinite == Nonfinite::kNanMinusZero || f.fraction_bits == 0)) {
      return Fail(kind_at, "a format without a sign must have fraction bits and not be fnuz");
    }
    return true;
  }

  std::string text_;
  size_t start_ = 0, at_ = 0;  // where the letters and the unread text begin
  FormatError& error_;
};

// The format points to the name.
struct Named {
  std::string name;
  Format format;
};

}  // namespace

const Format* DescribedFormat(std::string_view text, FormatError* error) {
  FormatError ignored;
  Format f = {};
  f.has_zero = true;
  int bias = 0;
  if (!Reader(text, error == nullptr ? ignored : *error).Read(f, bias)) return nullptr;
  if (const Format* own = OfTable(f)) return own;
  static std::mutex& mutex = *new std::mutex;
  static auto& known = *new std::map<std::string, std::unique_ptr<Named>>;
  const std::string name = Canonical(f, bias);
  const std::lock_guard lock(mutex);
  std::unique_ptr<Named>& named = known[name];
  if (named == nullptr) {
    named = std::make_unique<Named>(Named{name, f});
    named->format.name = named->name.c_str();
  }
  return &named->format;
}

}  // namespace mmadiff

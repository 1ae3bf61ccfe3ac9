#include "sim/quoted_name.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <optional>
#include <set>

#include "sim/operation.h"
#include "sim/pattern.h"
#include "sim/product.h"

namespace mmadiff {
namespace {

using Words = std::vector<std::string>;

// The syntax of the formats and modifiers after a verb.
enum class Dialect : uint8_t {
  kPtx,      // d a b c [scale]
  kTcgen05,  // kind::...
  kSass,     // shape without letters; d a b, or a b, or formats that the verb implies
  kAtom,     // CUTLASS: the architecture determines the verb
  kAmd,      // d a [b]
  kWhole,    // the name has no parts
};

struct Verb {
  const char* prefix;  // beginning of the quoted name, in lower case
  Dialect dialect;
  const char* verb;          // in the tables' name
  const char* formats = "";  // kSass: how the formats in the name map to d a b c, see Pattern()
  const char* modifiers = "";
};

constexpr char kHalf[] = "d i i c", kHalfGroup[] = "d i i", kTyped[] = "1 2 3 1 4",
               kTypedGroup[] = "1 2 3";
constexpr char kInteger[] = "s32 1 2 s32", kIntegerGroup[] = "s32 1 2";
constexpr char kAnyHalf[] = "* f16|bf16|tf32 f16|bf16|tf32";
constexpr char kAnyNarrow[] = "* e4m3|e5m2|e3m2|e2m3|e2m1 e4m3|e5m2|e3m2|e2m3|e2m1";

// The longest prefix wins.
constexpr Verb kVerbs[] = {
    {"mma.sync.", Dialect::kPtx, "mma"},
    {"mma.sp.", Dialect::kPtx, "mma.sp"},
    {"mma.sp::ordered_metadata.", Dialect::kPtx, "mma.sp"},
    {"mma.", Dialect::kPtx, "mma"},
    {"llvm.nvvm.mma.", Dialect::kPtx, "mma"},
    {"wmma.mma.sync.", Dialect::kPtx, "wmma"},
    {"wmma.", Dialect::kPtx, "wmma"},
    {"llvm.nvvm.wmma.", Dialect::kPtx, "wmma"},
    {"__hmma_", Dialect::kPtx, "wmma"},
    {"wgmma.mma_async.sp.", Dialect::kPtx, "wgmma.sp"},
    {"wgmma.mma_async.", Dialect::kPtx, "wgmma"},
    {"wgmma.sp.", Dialect::kPtx, "wgmma.sp"},
    {"wgmma.", Dialect::kPtx, "wgmma"},
    {"tcgen05.mma.sp.", Dialect::kTcgen05, "tcgen05.mma.sp"},
    {"tcgen05.mma.", Dialect::kTcgen05, "tcgen05.mma"},
    {"fma.", Dialect::kPtx, "fma"},

    {"hmma.sp.", Dialect::kSass, "mma.sp", kHalf},
    {"hmma.", Dialect::kSass, "mma", kHalf},
    {"dmma.", Dialect::kSass, "mma", "f64 f64 f64 f64"},
    {"imma.sp.", Dialect::kSass, "mma.sp", kInteger},
    {"imma.", Dialect::kSass, "mma", kInteger},
    {"bmma.", Dialect::kSass, "mma", "s32 b1 b1 s32"},
    {"qmma.sf.", Dialect::kSass, "mma", kTyped, "mxf8f6f4"},
    {"qmma.sp.", Dialect::kSass, "mma.sp", kTyped},
    {"qmma.", Dialect::kSass, "mma", kTyped},
    {"omma.sf.", Dialect::kSass, "mma", kTyped},
    {"hgmma.sp.", Dialect::kSass, "wgmma.sp", kHalfGroup},
    {"hgmma.", Dialect::kSass, "wgmma", kHalfGroup},
    {"igmma.", Dialect::kSass, "wgmma", kIntegerGroup},
    {"qgmma.sp.", Dialect::kSass, "wgmma.sp", kTypedGroup},
    {"qgmma.", Dialect::kSass, "wgmma", kTypedGroup},
    {"bgmma.", Dialect::kSass, "wgmma", "s32 b1 b1"},
    {"utchmma", Dialect::kSass, "tcgen05.mma", kAnyHalf},
    {"utcqmma", Dialect::kSass, "tcgen05.mma", kAnyNarrow},
    {"utcimma", Dialect::kSass, "tcgen05.mma", "s32 s8|u8 s8|u8"},
    {"utcomma", Dialect::kSass, "tcgen05.mma", "* e2m1 e2m1 *"},
    {"ffma", Dialect::kSass, "fma", "f32"},
    {"dfma", Dialect::kSass, "fma", "f64"},

    {"sm", Dialect::kAtom, ""},

    {"mfma_", Dialect::kAmd, "v_mfma"},
    {"v_mfma_scale_", Dialect::kAmd, "v_mfma_scale"},
    {"v_mfma_", Dialect::kAmd, "v_mfma"},
    {"v_smfmac_", Dialect::kAmd, "v_smfmac"},
    {"v_wmma_", Dialect::kAmd, "v_wmma"},
    {"v_swmmac_", Dialect::kAmd, "v_swmmac"},
    {"__builtin_amdgcn_mfma_scale_", Dialect::kAmd, "v_mfma_scale"},
    {"__builtin_amdgcn_mfma_", Dialect::kAmd, "v_mfma"},
    {"__builtin_amdgcn_smfmac_", Dialect::kAmd, "v_smfmac"},
    {"__builtin_amdgcn_wmma_", Dialect::kAmd, "v_wmma"},
    {"__builtin_amdgcn_swmmac_", Dialect::kAmd, "v_swmmac"},
    {"llvm.amdgcn.mfma.scale.", Dialect::kAmd, "v_mfma_scale"},
    {"llvm.amdgcn.mfma.", Dialect::kAmd, "v_mfma"},
    {"llvm.amdgcn.smfmac.", Dialect::kAmd, "v_smfmac"},
    {"llvm.amdgcn.wmma.", Dialect::kAmd, "v_wmma"},
    {"llvm.amdgcn.swmmac.", Dialect::kAmd, "v_swmmac"},
    {"rocdl.mfma.", Dialect::kAmd, "v_mfma"},
    {"rocdl.wmma.", Dialect::kAmd, "v_wmma"},
};

// Complete names. The vector width and the operand order of an FMA change no bits.
struct Synonym {
  const char *name, *meaning;
};
constexpr Synonym kSynonyms[] = {
    {"{_mm,_mm256,_mm512}{,_mask,_maskz}_dpbf16_ps", "x86/vdpbf16ps"},
    {"{_mm,_mm256,_mm512}{,_mask,_maskz}_{dpbusd,dpbusds,dpwssd,dpwssds}{,_avx}_epi32", "x86/vp$3"},
    {"{_mm,_mm256,_mm512}{,_mask,_mask3,_maskz}_fmadd_p{s,d}", "x86/vfmadd231s$3"},
    {"_mm{,_mask,_mask3,_maskz}_fmadd_s{s,d}", "x86/vfmadd231s$2"},
    {"vfmadd{132,213,231}{s,p}{s,d}", "x86/vfmadd231s$3"},
    {"_tile_{dpbf16ps,dpfp16ps,mmultf32ps,dpbssd,dpbsud,dpbusd,dpbuud}", "x86/t$1"},
    {"__tile_{dpbf16ps,dpfp16ps,mmultf32ps,dpbssd,dpbsud,dpbusd,dpbuud}", "x86/t$1"},
    {"vbfdot{,q}{,_lane,_laneq}_f32", "arm/bfdot"},
    {"svbfdot{,_lane}{,_f32}", "arm/bfdot"},
    {"vbfmmlaq_f32", "arm/bfmmla"},
    {"svbfmmla{,_f32}", "arm/bfmmla"},
    {"v{dot,mmla}{,q}{,_lane,_laneq}_{s,u}32", "arm/$4$1"},
    {"vus{dot,mmla}{,q}{,_lane,_laneq}_s32", "arm/us$1"},
};

// Words in a name that change no bits or repeat information.
constexpr const char* kNoise[] = {
    "sync",  "aligned", "row",   "col",     "mma",    "mma_async", "async",   "kind",
    "block", "scale",   "vec",   "cta",     "group",  "1",         "noftz",   "reuse",
    "tn",    "nt",      "nn",    "tt",      "ss",     "rs",        "ts",      "step0",
    "step1", "step2",   "step3", "block",   "dense",  "metadata",  "ordered", "collector",
    "a",     "fill",    "use",   "lastuse", "discard"};
// Optional modifiers: names that differ only in these match if no name matches exactly.
constexpr const char* kSoft[] = {"2x", "2b", "4b", "16b", "w32", "w64", "e64", "rn", "block32"};
constexpr Synonym kModifiers[] = {{"sat", "satfinite"},    {"saturate", "satfinite"},
                                  {"xorpopc", "xor popc"}, {"andpopc", "and popc"},
                                  {"block16", "4x"},       {"1x", ""}};

// Common names of formats and their meanings; both are lists separated by blanks.
constexpr Synonym kFormatNames[] = {
    {"half half_t fp16 float16", "f16"},
    {"bfloat16 bfloat16_t bfloat bf16_t", "bf16"},
    {"float fp32 float32 single", "f32"},
    {"double fp64 float64", "f64"},
    {"tensorfloat32 tfloat32 xf32", "tf32"},
    {"fp8 float8 f8", "e4m3 e5m2 e4m3fnuz e5m2fnuz"},
    {"bf8", "e5m2 e5m2fnuz"},
    {"e4m3fn float8_e4m3fn float8_e4m3 fp8_e4m3 float_e4m3_t hf8", "e4m3"},
    {"float_e5m2_t float8_e5m2 fp8_e5m2", "e5m2"},
    {"float_e2m1_t fp4 float4 float4_e2m1fn e2m1fn", "e2m1"},
    {"float_e3m2_t float6_e3m2fn", "e3m2"},
    {"float_e2m3_t float6_e2m3fn", "e2m3"},
    {"float8_e4m3fnuz", "e4m3fnuz"},
    {"float8_e5m2fnuz", "e5m2fnuz"},
    {"fp6", "e3m2 e2m3"},
    {"e8m0 float_ue8m0_t e8 float8_e8m0fnu", "ue8m0"},
    {"float_ue4m3_t", "ue4m3"},
    {"int32 i32 int", "s32"},
    {"int16 i16", "s16"},
    {"int8 i8", "s8"},
    {"uint8 ui8", "u8"},
    {"int4 i4", "s4"},
    {"uint4", "u4"},
    {"u1 bit b1", "b1"},
};

bool Has(const auto& list, std::string_view word) {
  return std::ranges::find(list, word) != std::end(list);
}

std::string Lower(std::string_view text) {
  std::string lower;
  for (const char c : text) lower += static_cast<char>(std::tolower(static_cast<uint8_t>(c)));
  return lower;
}

Words Split(std::string_view text, const char* separators) {
  Words words;
  for (size_t from = 0; from <= text.size();) {
    const size_t end = std::min(text.find_first_of(separators, from), text.size());
    if (end > from) words.emplace_back(text.substr(from, end - from));
    from = end + 1;
  }
  return words;
}

using Choice = std::set<std::string>;  // empty: any

// The parts of a name.
struct Parts {
  std::string verb;
  int m = 0, n = 0, k = 0;  // 0: not given
  std::vector<Choice> formats;
  std::set<std::string> modifiers;
  bool native = false;  // machine code: no emulation
  std::string arch;     // architecture of an atom, or a prefix of the architecture
};

// "m16n8k16", "16x8x16", or "16816" in SASS, where the first digits are m = 8 or 16, then n = 8.
bool ReadShape(std::string_view word, Dialect dialect, Parts& parts, size_t* read) {
  const std::string text(word);
  const auto reads = [&](const char* form) {
    int m = 0, n = 0, k = 0, length = 0;
    const bool whole = std::sscanf(text.c_str(), form, &m, &n, &k, &length) == 3 && length > 0;
    if (!whole || (length < static_cast<int>(text.size()) && dialect == Dialect::kSass))
      return false;
    parts.m = m;
    parts.n = n;
    parts.k = k;
    *read = length;
    return true;
  };
  if (reads("m%3dn%3dk%4d%n") || reads("%3dx%3dx%4d%n")) return true;
  return dialect == Dialect::kSass &&
         (text.starts_with("16") ? reads("%2d%1d%3d%n") : reads("%1d%1d%3d%n"));
}

// Formats written without separators: "f32f16f16f32". AMD's formats keep their names.
bool ReadFormats(std::string_view word, Dialect dialect, std::vector<Choice>& formats) {
  static const auto& names = *[] {
    auto* all = new Words;
    for (const Format* f : kFormats) all->push_back(f->name);
    for (const Synonym& s : kFormatNames) {
      for (const std::string& name : SplitWords(s.name)) all->push_back(name);
    }
    std::ranges::sort(*all, [](const auto& x, const auto& y) { return x.size() > y.size(); });
    return all;
  }();
  std::vector<Choice> found;
  while (!word.empty()) {
    const auto name =
        std::ranges::find_if(names, [&](const auto& n) { return word.starts_with(n); });
    if (name == names.end()) return false;
    const Words meant = dialect == Dialect::kAmd ? Words{*name} : QuotedFormats(*name);
    found.emplace_back(meant.begin(), meant.end());
    word.remove_prefix(name->size());
  }
  formats.insert(formats.end(), found.begin(), found.end());
  return true;
}

void AddModifier(const std::string& word, Parts& parts) {
  for (const Synonym& s : kModifiers) {
    if (word != s.name) continue;
    for (const std::string& one : SplitWords(s.meaning)) parts.modifiers.insert(one);
    return;
  }
  parts.modifiers.insert(word);
}

std::vector<Choice> Pattern(const char* pattern, const std::vector<Choice>& given) {
  std::vector<Choice> formats;
  const auto at = [&](size_t i) { return i < given.size() ? given[i] : Choice(); };
  const auto is_input = [&](size_t i) {
    return i < given.size() && (given[i].contains("bf16") || given[i].contains("tf32"));
  };
  for (const std::string& word : SplitWords(pattern)) {
    if (word == "d") {
      formats.push_back(at(0));
    } else if (word == "i") {  // the input type of HMMA and HGMMA, f16 if the name has none
      formats.push_back(is_input(1) ? given[1] : Choice{"f16"});
    } else if (word == "c") {  // in Volta's names, the second type is that of c
      formats.push_back(given.size() > 1 && !is_input(1) ? given[1] : at(0));
    } else if (word == "*") {
      formats.emplace_back();
    } else if (word.size() == 1 && word[0] >= '1' && word[0] <= '9') {
      const size_t index = word[0] - '1';
      if (index == 3 && given.size() < 4) continue;  // scales
      formats.push_back(at(index));
    } else {
      const Words choice = Split(word, "|");
      formats.emplace_back(choice.begin(), choice.end());
    }
  }
  return formats;
}

// Formats of a tcgen05 kind that is not in the tables' names. CUTLASS renames two of the kinds.
struct KindFormats {
  const char *kind, *formats;
};
constexpr KindFormats kKinds[] = {
    {"f16", "* f16|bf16 f16|bf16"}, {"f16bf16", "* f16|bf16 f16|bf16"}, {"tf32", "* tf32 tf32"},
    {"f8f6f4", kAnyNarrow},         {"i8", "s32 s8|u8 s8|u8"},          {"s8", "s32 s8|u8 s8|u8"}};

// PTX omits formats that follow from others: wmma and LLVM's names give d and c, or only the input
// format.
void CompletePtx(Parts& parts) {
  std::vector<Choice>& f = parts.formats;
  if (parts.verb == "wmma" || parts.verb == "mma") {
    const auto is_input = [&](size_t i) {
      return std::ranges::any_of(Words{"s8", "u8", "s4", "u4", "b1"},
                                 [&](const std::string& name) { return f[i].contains(name); });
    };
    if (f.size() == 2) {
      f = is_input(0) ? std::vector<Choice>{{"s32"}, f[0], f[1], {"s32"}}
                      : std::vector<Choice>{f[0], {"f16"}, {"f16"}, f[1]};
    }
    if (f.size() == 1) {
      const Choice wide = f[0].contains("f64") ? f[0] : Choice{is_input(0) ? "s32" : "f32"};
      f = {wide, f[0], f[0], wide};
    }
  }
}

// An atom's architecture and shape determine the verb.
bool ReadAtom(std::string_view name, Parts& parts) {
  const size_t end = std::min(name.find('_'), name.size());
  parts.arch = ArchitectureOf(name.substr(0, end));
  if (parts.arch.empty() || end == name.size()) return false;
  parts.verb = parts.arch == "sm_100"                                         ? "tcgen05.mma"
               : parts.arch == "sm_90" && name.substr(end).starts_with("_64") ? "wgmma"
                                                                              : "mma";
  return true;
}

bool ReadWords(std::string_view rest, const Verb& verb, Parts& parts) {
  std::vector<Choice> formats;
  const bool atom = verb.dialect == Dialect::kAtom && parts.verb == "tcgen05.mma";
  bool kind = atom;
  for (const std::string& word : Split(rest, "._:")) {
    size_t read = 0;
    const auto is_kind = [&](const KindFormats& k) { return word == k.kind; };
    const auto* known = std::ranges::find_if(kKinds, is_kind);
    if (kind && known != std::end(kKinds) && (atom || verb.dialect == Dialect::kTcgen05)) {
      formats = Pattern(known->formats, {});
    } else if (!kind && parts.m == 0 && ReadShape(word, verb.dialect, parts, &read)) {
      if (!ReadFormats(std::string_view(word).substr(read), verb.dialect, formats)) return false;
    } else if (!Has(kNoise, word) && (kind || !ReadFormats(word, verb.dialect, formats))) {
      AddModifier(word, parts);
    }
    kind = atom || word == "kind";
  }
  parts.formats = verb.dialect == Dialect::kSass ? Pattern(verb.formats, formats) : formats;
  return true;
}

// Template arguments of an atom whose name does not have all types: a, b, c, scales, m, n.
void ReadArguments(std::string_view arguments, Parts& parts) {
  std::vector<Choice> given;
  std::vector<int> sizes;
  for (const std::string& argument : Split(arguments, "<>, :")) {
    int size = 0, length = 0;
    const bool is_size = std::sscanf(argument.c_str(), "%4d%n", &size, &length) == 1 &&
                         length == static_cast<int>(argument.size());
    if (is_size) sizes.push_back(size);
    if (!is_size) ReadFormats(argument, Dialect::kAtom, given);
  }
  if (given.size() < 3) return;
  const bool group = parts.verb == "tcgen05.mma";
  parts.formats = {given[2], given[0], given[1]};
  if (!group) parts.formats.push_back(given[2]);
  if (given.size() > 3) parts.formats.push_back(given[3]);
  if (group && parts.m == 0 && sizes.size() >= 2) {
    parts.m = sizes[0];
    parts.n = sizes[1];
  }
}

// "SM90_64x64x16_..." for "SM90::GMMA::MMA_64x64x16_..."; the last component of other names.
std::string WithoutNamespaces(const std::string& name) {
  const size_t last = name.rfind("::");
  if (last == name.npos || !(name.starts_with("sm") || name.starts_with("cute::"))) return name;
  const std::string own = name.substr(last + 2);
  if (!own.starts_with("mma_")) return own;
  for (const std::string& space : Split(name, ":")) {
    if (!ArchitectureOf(space).empty()) return space + own.substr(3);
  }
  return own;
}

// `arguments` are template arguments.
bool Read(std::string_view name, std::string_view arguments, Parts& parts) {
  const Verb* verb = nullptr;
  for (const Verb& v : kVerbs) {
    const size_t length = verb == nullptr ? 0 : std::string_view(verb->prefix).size();
    if (name.starts_with(v.prefix) && std::string_view(v.prefix).size() > length) verb = &v;
  }
  if (verb == nullptr) return false;
  std::string_view rest = name.substr(std::string_view(verb->prefix).size());
  parts.verb = verb->verb;
  if (verb->dialect == Dialect::kAtom) {
    if (!ReadAtom(name, parts)) return false;
    rest = name.substr(name.find('_'));
  }
  if (!ReadWords(rest, *verb, parts)) return false;
  if (verb->dialect == Dialect::kAtom) {
    const bool untyped = parts.formats.empty();
    ReadArguments(arguments, parts);
    if (parts.arch == "sm_120" && untyped) {  // atoms with types in their names are sm_80's
      if (parts.modifiers.erase("vs") == 0) parts.modifiers.insert("f8f6f4");
    }
  }
  if (verb->dialect == Dialect::kAmd && parts.modifiers.erase("gfx12") > 0) parts.arch = "gfx12";
  for (const std::string& m : SplitWords(verb->modifiers)) parts.modifiers.insert(m);
  if (verb->dialect == Dialect::kPtx) CompletePtx(parts);
  if (parts.verb == "fma" && verb->dialect == Dialect::kSass && parts.modifiers.empty())
    parts.modifiers = {"rn"};
  parts.native = verb->dialect == Dialect::kSass;
  return true;
}

// An operation, or a name of AllUnknown().
struct Own {
  std::string arch, name;  // architecture and instruction
  const Operation* op;     // nullptr: not even the formats are known
  Parts parts;
};

const std::vector<Own>& AllOwn() {
  static const auto& all = *[] {
    auto* own = new std::vector<Own>;
    const auto add = [own](std::string_view arch, const std::string& name, const Operation* op) {
      Parts parts;
      if (!Read(name, "", parts)) parts.verb = name;
      own->push_back({std::string(arch), name, op, std::move(parts)});
    };
    for (const Operation& op : Operations()) add(op.arch(), op.instruction->name, &op);
    for (const Operation& op : UnmodelledOperations()) add(op.arch(), op.instruction->name, &op);
    for (const UnknownNumerics& u : AllUnknown()) {
      if (FindUnmodelled(u.arch + ("/" + u.instruction)) == nullptr)
        add(u.arch, u.instruction, nullptr);
    }
    // Successors of gfx90a's "1k" instructions have the same name without that suffix.
    for (Own& later : *own) {
      if (later.parts.verb != "v_mfma" || later.arch == "gfx90a") continue;
      const bool replaces = std::ranges::any_of(*own, [&](const Own& old) {
        return old.arch == "gfx90a" && old.parts.modifiers.contains("1k") &&
               old.parts.m == later.parts.m && old.parts.n == later.parts.n &&
               old.parts.k == later.parts.k && old.parts.formats == later.parts.formats;
      });
      if (replaces && later.arch != "gfx908") later.parts.modifiers.insert("1k");
    }
    return own;
  }();
  return all;
}

bool Agree(const std::vector<Choice>& quoted, const std::vector<Choice>& own) {
  if (quoted.size() > own.size()) return false;
  for (size_t i = 0; i < quoted.size(); ++i) {
    const auto in_own = [&](const std::string& f) { return own[i].contains(f); };
    if (!quoted[i].empty() && std::ranges::none_of(quoted[i], in_own)) return false;
  }
  return true;
}

// How well the modifiers agree, from 0 (the best) to 3 (they do not agree).
int Distance(const std::set<std::string>& quoted, const std::set<std::string>& own) {
  if (quoted == own) return 0;
  const auto hard = [](const std::set<std::string>& all) {
    std::set<std::string> kept;
    std::ranges::copy_if(all, std::inserter(kept, kept.end()),
                         [](const auto& m) { return !Has(kSoft, m); });
    return kept;
  };
  const std::set<std::string> q = hard(quoted), o = hard(own);
  return q == o ? 1 : std::ranges::includes(o, q) ? 2 : 3;
}

// The name of `own` with the quoted m and n; empty if it has no such size.
std::string Sized(const Own& own, const Parts& q) {
  const std::string name = own.arch + "/" + own.name;
  const bool same_k = q.k == 0 || q.k == own.parts.k;
  if (q.m == 0 || (q.m == own.parts.m && q.n == own.parts.n && same_k)) return name;
  if (!same_k || own.op == nullptr || own.op->instruction->sizes.empty()) return "";
  const std::string sized = own.arch + "/" + WithSize(*own.op->instruction, q.m, q.n).name;
  return FindOperation(sized) == nullptr ? "" : sized;
}

std::vector<std::string> Matching(const Parts& quoted, const std::string& arch) {
  std::array<std::vector<std::string>, 3> found;  // by Distance()
  bool named_elsewhere = false;  // a different architecture has it without further modifiers
  for (const Own& own : AllOwn()) {
    if (own.parts.verb != quoted.verb) continue;
    if (quoted.native && own.op != nullptr && !IsNative(*own.op)) continue;
    const int distance = Distance(quoted.modifiers, own.parts.modifiers);
    if (distance == 3 || !Agree(quoted.formats, own.parts.formats)) continue;
    const std::string name = Sized(own, quoted);
    if (name.empty()) continue;
    const bool here = arch.empty() || own.arch == arch;
    if (here && own.arch.starts_with(quoted.arch)) found[distance].push_back(name);
    named_elsewhere |= !here && distance < 2;
  }
  if (named_elsewhere) found[2].clear();
  const auto best = std::ranges::find_if(found, [](const auto& names) { return !names.empty(); });
  return best == found.end() ? std::vector<std::string>() : *best;
}

// Matches names of kSynonyms, and names of the tables without an architecture.
std::vector<std::string> MatchingWhole(const std::string& name, const std::string& arch) {
  std::vector<std::string> found;
  const auto add = [&](const std::string& operation) {
    if (arch.empty() || operation.starts_with(arch + "/")) found.push_back(operation);
  };
  const std::string_view plain =
      name.ends_with("_e64") ? std::string_view(name).substr(0, name.size() - 4) : name;
  for (const Own& own : AllOwn()) {
    if (own.name == plain) add(own.arch + "/" + own.name);
  }
  if (!found.empty()) return found;
  for (const Synonym& s : kSynonyms) {
    for (const Expansion& e : Expand(s.name)) {
      if (e.text == name) add(Substitute(s.meaning, e.choices));
    }
  }
  return found;
}

struct Quote {
  std::string arch;  // "" if not given
  std::string name;  // without arguments, in lower case
  Parts parts;       // no verb if the name begins with an unknown one
};

// nullopt if the text before the slash is not an architecture.
std::optional<Quote> ReadQuote(std::string_view text) {
  Quote quote;
  if (const size_t slash = text.find('/'); slash != text.npos) {
    quote.arch = ArchitectureOf(text.substr(0, slash));
    if (quote.arch.empty()) return std::nullopt;
    text.remove_prefix(slash + 1);
  }
  for (const std::string_view prefix : {"cute::", "MMA_Atom<"}) {
    if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
  }
  const size_t end = std::min(text.find_first_of(" \t{<>(;"), text.size());
  quote.name = WithoutNamespaces(Lower(text.substr(0, end)));
  if (!Read(quote.name, Lower(text.substr(end)), quote.parts)) quote.parts = {};
  return quote;
}

}  // namespace

std::vector<std::string> QuotedOperations(std::string_view text) {
  const std::optional<Quote> quote = ReadQuote(text);
  if (!quote) return {};
  if (auto found = MatchingWhole(quote->name, quote->arch); !found.empty()) return found;
  const Parts& parts = quote->parts;
  if (parts.verb.empty()) return {};
  if (parts.m == 0 && parts.formats.empty() && parts.modifiers.empty()) return {};  // a verb alone
  return Matching(parts, quote->arch);
}

std::string NotUnderstood(std::string_view text) {
  std::optional<Quote> quote = ReadQuote(text);
  constexpr size_t kMax = 8;  // modifiers; no name has more
  if (!quote || quote->parts.modifiers.size() > kMax || !QuotedOperations(text).empty()) return "";
  for (const std::string& modifier : quote->parts.modifiers) {
    Parts without = quote->parts;
    without.modifiers.erase(modifier);
    const bool says = without.m != 0 || !without.formats.empty();
    if (!says || Matching(without, quote->arch).empty()) continue;
    for (const std::string& part :
         Split(quote->name, quote->name.find('.') != std::string::npos ? "." : "_")) {
      if (Has(Split(part, "._:"), modifier)) return part;
    }
  }
  return "";
}

std::vector<std::string> QuotedFormats(std::string_view name) {
  const std::string lower = Lower(name);
  for (const Format* f : kFormats) {
    if (lower == f->name) return {lower};
  }
  for (const Synonym& s : kFormatNames) {
    if (Has(SplitWords(s.name), lower)) return SplitWords(s.meaning);
  }
  return {};
}

}  // namespace mmadiff

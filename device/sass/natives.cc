#include "device/sass/natives.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "sim/batch.h"
#include "sim/layout_shared.h"
#include "sim/simulate.h"
#include "sim/sparsity.h"

namespace mmadiff::sass {
namespace {

using Matrix = mmadiff::Operand;

// "RZ" of "mma.m8n8k4.rz.f64..."; "" for rounding to nearest.
std::string RoundingOf(absl::string_view name) {
  for (const char* mode : {"rz", "rm", "rp"}) {
    if (absl::StrContains(name, absl::StrCat(".", mode, "."))) {
      return absl::StrCat(".", absl::AsciiStrToUpper(mode));
    }
  }
  return "";
}

std::string Upper(const Format& format) { return absl::AsciiStrToUpper(format.name); }

std::string GroupFormOf(const mmadiff::Instruction& i) {
  const Shape& s = i.shape;
  const std::string shape =
      absl::StrCat(i.sparse() ? "GMMA.SP." : "GMMA.", s.m, "x", s.n, "x", s.k, ".");
  const std::string types = absl::StrCat(Upper(*i.a), ".", Upper(*i.b));
  if (i.a->bits == 1) return absl::StrCat("B", shape, "AND.POPC");
  if (IsInteger(*i.a)) {
    return absl::StrCat("I", shape, types, absl::StrContains(i.name, ".satfinite.") ? ".SAT" : "");
  }
  if (i.a->bits == 8) return absl::StrCat("Q", shape, Upper(*i.d), ".", types);
  const bool half = i.a->bits == 16 && i.a->exponent_bits == 5;
  return absl::StrCat("H", shape, Upper(*i.d), half ? "" : "." + Upper(*i.a));
}

// The place of the columns of D in "HGMMA.64x40x16.F32" or "HGMMA.SP.64x40x32.F32"; npos for other forms.
size_t ColumnsAt(std::string_view form) {
  for (const std::string_view rows : {"GMMA.64x", "GMMA.SP.64x"}) {  // behind a letter
    if (form.find(rows) == 1) return 1 + rows.size();
  }
  return form.npos;
}

// Replaces the columns of D in "HGMMA.64x40x16.F32" by 8, the least. Returns them, or 0 if the form has
// no valid number.
int ReplaceColumns(std::string& form) {
  constexpr int kLeast = 8, kMost = 256;  // PTX ISA 9.0, 9.7.15
  int columns = 0;
  const size_t at = ColumnsAt(form);
  const size_t end = std::min(form.find('x', at), form.size());
  const bool number = absl::SimpleAtoi(form.substr(at, end - at), &columns) &&
                      absl::StrCat(columns) == form.substr(at, end - at);
  if (!number || columns % kLeast != 0 || columns < kLeast || columns > kMost) return 0;
  form.replace(at, end - at, absl::StrCat(kLeast));
  return columns;
}

}  // namespace

std::string FormOf(const mmadiff::Instruction& i, std::string_view arch) {
  const Shape& s = i.shape;
  const absl::string_view name = i.name;
  if (i.layout == Layout::kVectorLanes) {
    return absl::StrCat(i.d->bits == 64 ? "DFMA" : "FFMA", RoundingOf(name));
  }
  if (i.layout == Layout::kNvidiaWgmma) return GroupFormOf(i);
  const bool fragments = i.layout == Layout::kNvidiaMma || i.layout == Layout::kNvidiaMmaBytes;
  if (!fragments || s.blocks != 1) return "";
  const std::string shape = absl::StrCat(i.sparse() ? ".SP." : ".", s.m, s.n, s.k);
  const std::string types = absl::StrCat(".", Upper(*i.a), ".", Upper(*i.b));
  if (i.scale != nullptr) {  // ".E8", ".UE4M3.4X"
    const bool e8 = absl::string_view(i.scale->name) == "ue8m0";
    return absl::StrCat(i.a->bits + i.b->bits == 8 && s.k == 64 ? "OMMA" : "QMMA", ".SF", shape,
                        ".", Upper(*i.d), types, e8 ? ".E8" : "." + Upper(*i.scale),
                        s.scales == 4 ? ".4X" : "");
  }
  if (i.d->bits == 64) {
    const bool old = arch.starts_with("sm_8");
    return absl::StrCat("DMMA", old ? shape : absl::StrCat(".", s.m, "x", s.n, "x", s.k),
                        RoundingOf(name));
  }
  if (i.a->bits == 1) {
    return absl::StrCat("BMMA", shape, absl::StrContains(name, ".xor.") ? ".XOR" : ".AND", ".POPC");
  }
  if (IsInteger(*i.a)) {
    return absl::StrCat("IMMA", shape, types, absl::StrContains(name, ".satfinite.") ? ".SAT" : "");
  }
  if (i.a->bits <= 8) return absl::StrCat("QMMA", shape, ".", Upper(*i.d), types);
  return absl::StrCat("HMMA", shape, ".", Upper(*i.d),
                      i.a->bits == 16 && i.a->exponent_bits == 5 ? "" : "." + Upper(*i.a));
}

bool HasMatrixNatives(std::string_view arch) {
  return absl::c_any_of(Operations(), [&](const Operation& op) {
    return op.arch() == arch && IsNative(op) && op.instruction->layout != Layout::kVectorLanes &&
           !FormOf(*op.instruction, arch).empty();
  });
}

Natives::Natives(std::string_view arch) {
  for (const Operation& op : Operations()) {
    if (op.arch() != arch || !IsNative(op)) continue;
    const mmadiff::Instruction& i = *op.instruction;
    const std::string form = FormOf(i, arch);
    if (form.empty() || natives_.contains(form)) continue;
    if (i.layout == Layout::kNvidiaWgmma) {
      groups_.emplace(form, &op);
      continue;
    }
    Native native = {.op = &op, .lanes = i.layout == Layout::kVectorLanes};
    if (!native.lanes) {
      native.a = WordsOf(i, Matrix::kA);
      native.b = WordsOf(i, Matrix::kB);
      native.c = WordsOf(i, Matrix::kC);
      native.d = WordsOf(i, Matrix::kD);
      const OperandWords* const all[] = {&native.a, &native.b, &native.c, &native.d};
      for (int o = 0; o < 4; ++o) {
        // A register more, after all others: scales, or the metadata of A.
        const bool more = (i.scale != nullptr && o < 2) || (i.sparse() && o == 0);
        native.registers[o] = all[o]->words / 32 - (more ? 1 : 0);
      }
    }
    natives_.emplace(form, std::move(native));
  }
}

std::optional<GroupMatrix> Natives::GroupMatrixOf(const std::string& form) const {
  if (ColumnsAt(form) == form.npos) return std::nullopt;
  std::string least = form;
  const int columns = ReplaceColumns(least);
  const auto found = groups_.find(least);
  if (columns == 0 || found == groups_.end()) return std::nullopt;
  return GroupMatrix(*found->second, columns);
}

std::optional<Natives::Registers> Natives::RegistersOf(const std::string& form) const {
  if (const std::optional<GroupMatrix> group = GroupMatrixOf(form); group.has_value()) {
    const int d = group->RegistersOfD();
    return Registers{
        .lanes = false, .a = group->RegistersOfA(), .b = 0, .c = d, .d = d, .c_as_d = true};
  }
  const auto found = natives_.find(form);
  if (found == natives_.end()) return std::nullopt;
  const Native& native = found->second;
  const mmadiff::Instruction& i = *native.op->instruction;
  if (native.lanes) {
    const int words = i.d->bits / 32;
    return Registers{true, words, words, words, words, true};
  }
  const int* r = native.registers;
  const int more = i.scale != nullptr ? 2 : i.sparse() ? 1 : 0;
  return Registers{false, r[0], r[1], r[2], r[3], i.c->bits == i.d->bits, more};
}

absl::Status Natives::Execute(const Instruction& in, uint32_t lanes, Lanes& warp) const {
  const auto error = [&in](absl::string_view why) {
    return absl::UnimplementedError(
        absl::StrCat(in.form, " at 0x", absl::Hex(in.address), ": ", why));
  };
  if (const std::optional<GroupMatrix> group = GroupMatrixOf(in.form); group.has_value()) {
    return group->Execute(in, warp);
  }
  const auto found = natives_.find(in.form);
  if (found == natives_.end()) return error("no row of the architecture is this instruction");
  const Native& native = found->second;
  const mmadiff::Instruction& i = *native.op->instruction;
  if (in.sources.size() != (i.scale != nullptr ? 6 : i.sparse() ? 5 : 3)) {
    return error("its operands are not known");
  }
  for (const sass::Operand& o : in.sources) {
    if (i.sparse() && &o - in.sources.data() == 4) {
      if (o.kind != sass::Operand::kImmediate || o.offset < 0 || o.offset > 3) {
        return error("a sparsity selector");
      }
      continue;
    }
    if (&o - in.sources.data() == 5) {  // which bytes of which lanes are scales
      if (o.kind != sass::Operand::kUniform || o.index != kZeroUniform) return error("a selector");
      continue;
    }
    const bool plain = o.kind == sass::Operand::kRegister && o.part == sass::Operand::kWhole &&
                       !o.inverted && (native.lanes || !o.negative);
    if (!plain) return error("an operand is not a register");
  }
  const sass::Operand* const wide[] = {&in.sources[0], &in.sources[1], &in.sources[2],
                                       &in.results[0]};
  for (int o = 0; o < 4 && !native.lanes; ++o) {
    if (native.registers[o] > 1 && wide[o]->index != kZeroRegister && wide[o]->index % 2 != 0) {
      return error("an operand of several registers begins with an odd one");
    }
  }
  Batch batch;
  batch.Resize(i.shape, 1);
  std::vector<uint64_t> d(i.shape.d_words());
  if (native.lanes) {
    const bool pair = i.d->bits == 64;
    std::vector<uint64_t>* const to[] = {&batch.a, &batch.b, &batch.c};
    for (const int lane : LanesIn(lanes)) {
      for (int o = 0; o < 3; ++o) {
        const uint64_t sign = in.sources[o].negative ? 1ull << (i.d->bits - 1) : 0;
        (*to[o])[lane] = (pair ? warp.Source(in.sources[o], lane, true)
                               : uint32_t(warp.Source(in.sources[o], lane, false))) ^
                         sign;
      }
    }
    Simulate(native.op->model, batch, d);
    for (const int lane : LanesIn(lanes)) {
      warp.Set(in.results[0], lane, static_cast<uint32_t>(d[lane]));
      if (pair) warp.Set(WordOf(in.results[0], 1), lane, static_cast<uint32_t>(d[lane] >> 32));
    }
    return absl::OkStatus();
  }
  if (lanes != ~0u) return error("not all lanes take part");
  const auto load = [&](int operand, const OperandWords& words, const Format& format,
                        std::vector<uint64_t>& to) {
    const int registers = native.registers[operand];
    const auto word = [&](int at) {
      if (at >= 32 * registers) {  // scales
        return uint64_t{warp.Register(in.sources[3 + operand].index, at - 32 * registers)};
      }
      return uint64_t{
          warp.Register(WordOf(in.sources[operand], at % registers).index, at / registers)};
    };
    for (size_t e = 0; e < words.slots.size(); ++e) {
      const Slot& slot = words.slots[e];
      const bool scale = slot.word >= 32 * registers;
      const int width = scale ? i.scale->bits : format.bits;
      uint64_t bits = word(slot.word);
      if (slot.bit + width > 32) bits |= word(slot.word + 1) << 32;
      to[e] = bits >> slot.bit & LowBits(width);
    }
  };
  if (i.sparse()) {
    std::vector<uint64_t> stored(native.a.slots.size());
    load(0, native.a, *i.a, stored);
    const int shift = static_cast<int>(in.sources[4].offset) * LanesOfSelector(i);
    for (size_t e = 0; e < native.a.metadata.size(); ++e) {
      const Slot& slot = native.a.metadata[e];
      const int lane = slot.word - 32 * native.registers[0] + shift;
      if (lane / 4 != (lane - shift) / 4) return error("a sparsity selector");
      batch.metadata[e] = warp.Register(in.sources[3].index, lane) >> slot.bit & 15;
    }
    if (const std::string why = WhyUndefined(i, batch.metadata); !why.empty()) return error(why);
    PutStored(stored, batch);
  } else {
    load(0, native.a, *i.a, batch.a);
  }
  load(1, native.b, *i.b, batch.b);
  load(2, native.c, *i.c, batch.c);
  Simulate(native.op->model, batch, d);
  std::vector<uint32_t> out(native.d.words);
  for (size_t e = 0; e < native.d.slots.size(); ++e) {
    const Slot& slot = native.d.slots[e];
    out[slot.word] |= static_cast<uint32_t>(d[e] << slot.bit);
    if (slot.bit + i.d->bits > 32) out[slot.word + 1] |= static_cast<uint32_t>(d[e] >> 32);
  }
  const int registers = native.registers[3];
  for (int w = 0; w < native.d.words; ++w) {
    warp.Set(WordOf(in.results[0], w % registers), w / registers, out[w]);
  }
  return absl::OkStatus();
}

}  // namespace mmadiff::sass

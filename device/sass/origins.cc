#include "device/sass/origins.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "device/sass/compute.h"
#include "device/sass/memory.h"
#include "device/sass/opcodes.h"
#include "device/sass/warp.h"
#include "device/status_macros.h"

namespace mmadiff::sass {
namespace {

constexpr uint64_t kSharedSpace = 1ull << 63;  // of addresses in Origins::memory_

absl::Status NotFollowed(const Instruction& in, absl::string_view why) {
  return absl::UnimplementedError(absl::StrCat(in.text, " at 0x", absl::Hex(in.address),
                                               " cannot be stated as an expression: ", why));
}

bool IsOneLane(const Instruction& in, Op op) { return in.uniform() || op == Op::kToUniform; }

}  // namespace

Origins::Origins(Expressions& pool, const Natives& natives, std::vector<NamedMemory> inputs)
    : pool_(pool), natives_(natives), inputs_(std::move(inputs)) {}

Origins::WarpState& Origins::StateOf(const Lanes& warp) {
  const auto [at, first] = warps_.try_emplace(&warp);
  if (first) {
    std::ranges::fill(at->second.flags[kTrue], pool_.Constant(1));
    at->second.uniform_flags[kTrue] = pool_.Constant(1);
  }
  return at->second;
}

int Origins::StoredAt(const void* address) const {
  const auto at = memory_.find(reinterpret_cast<uint64_t>(address));
  return at == memory_.end() ? -1 : at->second;
}

const Instruction* Origins::MakerOf(int expression) const {
  const auto at = makers_.find(expression);
  return at == makers_.end() ? nullptr : at->second;
}

std::optional<uint32_t> Origins::ValueOf(int expression) const {
  if (pool_.IsConstant(expression)) return pool_[expression].number;
  const auto value = values_.find(expression);
  return value == values_.end() ? std::nullopt : std::optional(value->second);
}

int& Origins::At(const Operand& o, int lane) {
  switch (o.kind) {
    case Operand::kUniform:
      return now_->uniform[o.index];
    case Operand::kPredicate:
      return now_->flags[o.index][lane];
    case Operand::kUniformPredicate:
      return now_->uniform_flags[o.index];
    default:
      return now_->registers[o.index][lane];
  }
}

int Origins::Plain(const Operand& o, int word, int lane, Lanes& warp) {
  const Operand at = WordOf(o, word);
  if (o.kind == Operand::kRegister) return at.index == kZeroRegister ? kZero : At(at, lane);
  if (o.kind == Operand::kUniform) return at.index == kZeroUniform ? kZero : At(at, lane);
  Operand plain = o;
  plain.inverted = false;
  return pool_.Constant(static_cast<uint32_t>(warp.Source(plain, lane, true) >> 32 * word));
}

int Origins::Source(const Operand& o, int word, int lane, Lanes& warp) {
  int e = Plain(o, word, lane, warp);
  const auto mark = [&](bool has, const char* name) {
    if (has) e = pool_.Computed(name, 0, {e});
  };
  mark(o.inverted, "~");
  mark(o.negative, "-");
  mark(o.part == Operand::kLowHalf, "low");
  mark(o.part == Operand::kHighHalf, "high");
  return e;
}

int Origins::Condition(const Operand& o, int lane, const Lanes& warp) {
  const int e = At(o, lane);
  if (pool_.IsConstant(e)) return pool_.Constant(warp.Condition(o, lane));
  const int sign = o.part == Operand::kSign ? pool_.Computed("sign", 0, {e}) : e;
  return o.inverted ? pool_.Computed("!", 0, {sign}) : sign;
}

int Origins::Loaded(uint64_t address) {
  const auto stored = memory_.find(address);
  if (stored != memory_.end()) return stored->second;
  for (const NamedMemory& input : inputs_) {
    const uint64_t offset = address - reinterpret_cast<uint64_t>(input.memory.begin);
    if (offset < input.memory.bytes) {
      return pool_.Input(input.name, static_cast<uint32_t>(offset / 4));
    }
  }
  return pool_.Input("unwritten", 0);
}

std::vector<int> Origins::AllLanes(const Operand& o, int words) {
  std::vector<int> all;
  for (int lane = 0; lane < 32; ++lane) {
    for (int w = 0; w < words; ++w) {
      const Operand at = WordOf(o, w);
      all.push_back(at.index == kZeroRegister ? kZero : At(at, lane));
    }
  }
  return all;
}

std::vector<int> Origins::Read(const Instruction& in, int lane, Lanes& warp) {
  const std::optional<Natives::Registers> native = natives_.RegistersOf(in.form);
  std::vector<int> of;
  for (size_t i = 0; i < in.sources.size(); ++i) {
    const int words = native.has_value() ? native->a : 1 + ReadsPair(in, static_cast<int>(i));
    for (int w = 0; w < words; ++w) of.push_back(Source(in.sources[i], w, lane, warp));
  }
  for (const Operand& o : in.conditions) of.push_back(Condition(o, lane, warp));
  return of;
}

void Origins::Add(const Operand& to, int lane, int expression, bool constant) {
  const int nothing = to.kind == Operand::kRegister  ? kZeroRegister
                      : to.kind == Operand::kUniform ? kZeroUniform
                                                     : kTrue;
  if (to.index != nothing) writes_.push_back({to, lane, 0, expression, constant});
}

// The words and flags that the instruction computes from these expressions.
void Origins::Compute(const Instruction& in, const std::string& name, int words, int lane,
                      const std::vector<int>& of) {
  const bool constant = std::ranges::all_of(of, [&](int e) { return pool_.IsConstant(e); });
  for (int w = 0; !in.results.empty() && w < words; ++w) {
    Add(WordOf(in.results[0], w), lane, pool_.Computed(name, w, of), constant);
  }
  for (size_t f = 0; f < in.flags.size(); ++f) {
    Add(in.flags[f], lane, pool_.Computed(name, kFirstFlag + static_cast<uint32_t>(f), of),
        constant);
  }
}

// Whether the instruction only moves a word, as far as is known without its values.
bool Origins::Move(const Instruction& in, int lane, Lanes& warp) {
  const auto source = [&](size_t i) { return Source(in.sources[i], 0, lane, warp); };
  switch (Opcodes()[in.opcode].op) {
    case Op::kMove:
    case Op::kToUniform:
      Add(in.results[0], lane, source(0));
      return true;
    case Op::kSelect: {
      const int chosen = Condition(in.conditions[0], lane, warp);
      if (!pool_.IsConstant(chosen)) return false;
      Add(in.results[0], lane, source(pool_[chosen].number != 0 ? 0 : 1));
      return true;
    }
    case Op::kMultiplyAdd:  // 0 x + y
      if ((in.has & (kX | kHi | kWide)) != 0 || in.sources[2].negative ||
          (source(0) != kZero && source(1) != kZero)) {
        return false;
      }
      Add(in.results[0], lane, source(2));
      return true;
    default:
      return false;
  }
}

// Instructions that use other lanes, predicates as bits, or the position of the lane.
absl::Status Origins::Exchange(const Instruction& in, uint32_t lanes, Lanes& warp) {
  const Op op = Opcodes()[in.opcode].op;
  std::vector<int> all;  // over the lanes
  for (const int lane : LanesIn(lanes)) {
    if (op == Op::kVote) all.push_back(Condition(in.conditions[0], lane, warp));
    if (op == Op::kReduceWarp) all.push_back(Source(in.sources[0], 0, lane, warp));
  }
  const uint32_t writers = in.uniform() || op == Op::kReduceWarp ? lanes & -lanes : lanes;
  for (const int lane : LanesIn(writers)) {
    std::vector<int> of = all;
    if (op == Op::kShuffle) {
      if (!pool_.IsConstant(Source(in.sources[1], 0, lane, warp))) {
        return NotFollowed(in, "the lane depends on data");
      }
      const std::optional<int> from = ShuffledFrom(in, lane, warp);
      Add(in.results[0], lane, Source(in.sources[0], 0, from.value_or(lane), warp));
      for (const Operand& flag : in.flags) Add(flag, lane, pool_.Constant(from.has_value()));
      continue;
    }
    if (op == Op::kPredicatesToRegister || op == Op::kRegisterToPredicates) {
      of = Read(in, lane, warp);
    }
    if (op == Op::kPredicatesToRegister) {
      for (int p = 0; p < kTrue; ++p) of.push_back(now_->flags[p][lane]);
    }
    Compute(in, in.form, 1 + WritesPair(in), lane, of);
    if (op != Op::kRegisterToPredicates) continue;
    const uint64_t mask = warp.Source(in.sources[1], lane, false);
    for (int p = 0; p < kTrue; ++p) {
      if ((mask >> p & 1) == 0) continue;
      const bool constant = std::ranges::all_of(of, [&](int e) { return pool_.IsConstant(e); });
      Add({.kind = Operand::kPredicate, .index = p}, lane,
          pool_.Computed(in.form, kFirstFlag + p, of), constant);
    }
  }
  return absl::OkStatus();
}

void Origins::Matrix(const Instruction& in, const Natives::Registers& registers) {
  const int a = pool_.Computed("", 0, AllLanes(in.sources[0], registers.a)),
            b = pool_.Computed("", 0, AllLanes(in.sources[1], registers.b));
  const std::vector<int> c = AllLanes(in.sources[2], registers.c);
  std::vector<int> of = {a, b, registers.c_as_d ? kZero : pool_.Computed("", 0, c)};
  for (int more = 3; more < 3 + registers.more; ++more) {
    of.push_back(pool_.Computed("", 0, AllLanes(in.sources[more], 1)));
  }
  for (int at = 0; at < 32 * registers.d; ++at) {
    const int lane = at / registers.d;
    if (registers.c_as_d) of[2] = c[at];
    Add(WordOf(in.results[0], at % registers.d), lane, pool_.Computed(in.form, at, of));
  }
}

// As Matrix(), with the words of A and B in the order of their rows and columns.
absl::Status Origins::MatrixOfGroup(const Instruction& in, const GroupMatrix& matrix, Lanes& warp) {
  bool constant = true;
  for (const Operand& o : in.sources) {
    if (o.kind != Operand::kDescriptor) continue;
    constant &= pool_.IsConstant(now_->uniform[o.index]);
    constant &= pool_.IsConstant(now_->uniform[o.index + 1]);
  }
  for (const Operand& o : in.conditions) constant &= pool_.IsConstant(Condition(o, 0, warp));
  if (!constant || !guard_.empty()) {
    return NotFollowed(in, "its descriptors or condition depend on data");
  }
  ASSIGN_OR_RETURN(const GroupMatrix::Words words, matrix.SharedWords(in, warp));
  const auto all = [&](const std::vector<uint32_t>& numbers) {
    std::vector<int> of;
    for (const uint32_t number : numbers) of.push_back(Loaded(kSharedSpace + 4 * number));
    return pool_.Computed("", 0, of);
  };
  const bool a_in_registers = in.sources[0].kind == Operand::kRegister;
  std::vector<int> of = {a_in_registers
                             ? pool_.Computed("", 0, AllLanes(in.sources[0], matrix.RegistersOfA()))
                             : all(words.a),
                         all(words.b), kZero};
  if (matrix.sparse()) of.push_back(pool_.Computed("", 0, AllLanes(in.sources[3], 1)));
  const bool accumulates = in.conditions.empty() || warp.Condition(in.conditions[0], 0);
  const int d = matrix.RegistersOfD();
  const std::vector<int> c = AllLanes(in.sources[2], d);
  for (int at = 0; at < 32 * d; ++at) {
    if (accumulates) of[2] = c[at];
    Add(WordOf(in.results[0], at % d), at / d, pool_.Computed(in.form, at, of));
  }
  return absl::OkStatus();
}

bool Origins::IsAddressConstant(const Operand& o, int lane) {
  bool constant = true;
  for (int w = 0; w < 1 + o.pair && o.base != kZeroRegister; ++w) {
    constant &= pool_.IsConstant(now_->registers[o.base + w][lane]);
  }
  for (int w = 0; w < 1 + o.wide && o.uniform != kZeroUniform; ++w) {
    constant &= pool_.IsConstant(now_->uniform[o.uniform + w]);
  }
  return constant;
}

absl::Status Origins::Access(const Instruction& in, uint32_t lanes, Lanes& warp) {
  const Op op = Opcodes()[in.opcode].op;
  bool constant = guard_.empty();
  for (const int lane : LanesIn(lanes)) constant &= IsAddressConstant(in.sources[0], lane);
  if (!constant) return NotFollowed(in, "whether or where it accesses memory depends on data");
  const int bytes = AccessedBytes(in), words = (bytes + 3) / 4;
  const bool stores = op == Op::kStore || op == Op::kStoreShared || op == Op::kStoreLocal;
  if (op == Op::kReduce || op == Op::kAtomic || (stores && bytes < 4)) {
    return NotFollowed(in, "it changes parts of words or reduces");
  }
  for (const int lane : LanesIn(lanes)) {
    uint64_t address = warp.Address(in.sources[0], lane);
    if (op == Op::kLoadShared || op == Op::kStoreShared) address += kSharedSpace;
    if (op == Op::kLoadLocal || op == Op::kStoreLocal) address += kLocalWindow;
    if (address - kLocalWindow < kLocalBytes)
      address += uint64_t{kLocalBytes} * (32 * warp.number() + lane);
    for (int w = 0; w < words; ++w) {
      if (stores) {
        writes_.push_back({{.kind = Operand::kMemory},
                           lane,
                           address + 4 * w,
                           Plain(in.sources[1], w, lane, warp)});
        continue;
      }
      const int part = static_cast<int>(address % 4);
      const int word = op == Op::kLoadConstant ? kZero : Loaded(address - part + 4 * w);
      Add(WordOf(in.results[0], w), lane, bytes < 4 ? pool_.Computed(in.form, part, {word}) : word,
          op == Op::kLoadConstant);
    }
  }
  return absl::OkStatus();
}

absl::Status Origins::Before(const Instruction& in, uint32_t active, uint32_t guarded,
                             Lanes& warp) {
  writes_.clear();
  guard_.clear();
  now_ = &StateOf(warp);
  const Op op = Opcodes()[in.opcode].op;
  uint32_t lanes = guarded;
  if (in.guard != kTrue) {
    const Operand guard = {
        .kind = in.guard_uniform ? Operand::kUniformPredicate : Operand::kPredicate,
        .index = in.guard,
        .inverted = in.guard_inverted};
    for (const int lane : LanesIn(active)) guard_[lane] = Condition(guard, lane, warp);
    std::erase_if(guard_, [&](const auto& g) { return pool_.IsConstant(g.second); });
    for (const auto& [lane, condition] : guard_) lanes |= 1u << lane;
  }
  if (IsControl(op)) {
    branches_on_data_ |= !guard_.empty();
    for (const Operand& o : in.conditions) {
      for (const int lane : LanesIn(active)) {
        branches_on_data_ |= !pool_.IsConstant(Condition(o, lane, warp));
      }
    }
    return absl::OkStatus();
  }
  if (lanes == 0) return absl::OkStatus();
  if (IsMemory(op)) return Access(in, in.uniform() ? guarded & -guarded : guarded, warp);
  const std::optional<GroupMatrix> group = natives_.GroupMatrixOf(in.form);
  if (group.has_value()) return MatrixOfGroup(in, *group, warp);
  const std::optional<Natives::Registers> native = natives_.RegistersOf(in.form);
  if (native.has_value() && !native->lanes) {
    Matrix(in, *native);
  } else if (op == Op::kMoveMatrix) {
    const int all = pool_.Computed("", 0, AllLanes(in.sources[0], 1));
    for (int at = 0; at < 64; ++at) {
      if (at % 2 == 1 && (in.has & kNibbles) == 0) continue;
      Add(WordOf(in.results[0], at % 2), at / 2, pool_.Computed(in.form, at, {all}));
    }
  } else if (op >= Op::kPredicatesToRegister && op <= Op::kShuffle) {
    RETURN_IF_ERROR(Exchange(in, lanes, warp));
  } else {
    if (IsOneLane(in, op)) lanes &= -lanes;
    for (const int lane : LanesIn(lanes)) {
      if (Move(in, lane, warp)) continue;
      std::vector<int> of = Read(in, lane, warp);
      // VIADD x, y and IADD3 x, RZ, y are one computation.
      const bool sum = op == Op::kAdd3 && in.has == 0;
      if (sum) std::erase(of, kZero);
      Compute(in, sum ? "IADD" : in.form, native.has_value() ? native->d : 1 + WritesPair(in), lane,
              of);
    }
  }
  return absl::OkStatus();
}

absl::Status Origins::After(const Instruction& in, Lanes& warp) {
  for (const Write& write : writes_) {
    int e = write.expression;
    if (write.to.kind == Operand::kMemory) {
      memory_[write.address] = e;
      continue;
    }
    const bool flag =
        write.to.kind == Operand::kPredicate || write.to.kind == Operand::kUniformPredicate;
    const auto guard = guard_.find(write.lane);
    if (guard != guard_.end()) {
      e = pool_.Computed("?", 0, {guard->second, e, At(write.to, write.lane)});
    } else if (write.constant) {
      e = pool_.Constant(flag ? warp.Condition(write.to, write.lane)
                              : static_cast<uint32_t>(warp.Source(write.to, write.lane, false)));
    }
    At(write.to, write.lane) = e;
    makers_.try_emplace(write.expression, &in);
    if (!flag && guard == guard_.end()) {
      values_.try_emplace(e, static_cast<uint32_t>(warp.Source(write.to, write.lane, false)));
    }
  }
  return absl::OkStatus();
}

}  // namespace mmadiff::sass

// Collects how machine code computes each word (device/sass/expressions.h) while it executes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "device/sass/expressions.h"
#include "device/sass/lanes.h"
#include "device/sass/machine.h"
#include "device/sass/natives.h"
#include "device/sass/program.h"

namespace mmadiff::sass {

// An array in memory that the code loads from.
struct NamedMemory {
  std::string name;
  MemoryRange memory;
};

// Follows the warps of a block. Branches are followed as executed; selections and guards are
// expressions.
// kUnimplemented: addresses, stores, lanes of shuffles or matrix descriptors that depend on data.
class Origins : public Observer {
 public:
  // Both must outlive this. `inputs` have words of 32 bits.
  Origins(Expressions& pool, const Natives& natives, std::vector<NamedMemory> inputs);

  absl::Status Before(const Instruction& in, uint32_t active, uint32_t guarded,
                      Lanes& warp) override;
  absl::Status After(const Instruction& in, Lanes& warp) override;

  // The expression of the word that was stored there; -1 if none was.
  int StoredAt(const void* address) const;
  // Whether a branch depended on an operand's value.
  bool branches_on_data() const { return branches_on_data_; }
  // The first instruction that computed the expression; nullptr if none did.
  const Instruction* MakerOf(int expression) const;
  // Its value in this execution, if it is a constant or a register held it.
  std::optional<uint32_t> ValueOf(int expression) const;

 private:
  // A register, flag or word of memory that the current instruction writes.
  struct Write {
    Operand to;
    int lane;
    uint64_t address;  // for kMemory
    int expression;
    bool constant = false;  // made of constants only
  };

  // Also for operands that reach beyond the last register.
  struct WarpState {
    int registers[256 + 16][32] = {};
    int uniform[64 + 16] = {};
    int flags[8][32] = {}, uniform_flags[8] = {};
  };

  WarpState& StateOf(const Lanes& warp);
  int& At(const Operand& o, int lane);  // a register or flag
  int Plain(const Operand& o, int word, int lane, Lanes& warp);
  int Source(const Operand& o, int word, int lane, Lanes& warp);  // with its sign, part and order
  int Condition(const Operand& o, int lane, const Lanes& warp);
  int Loaded(uint64_t address);
  std::vector<int> AllLanes(const Operand& o, int words);
  // The expressions that the instruction reads in a lane.
  std::vector<int> Read(const Instruction& in, int lane, Lanes& warp);
  void Add(const Operand& to, int lane, int expression, bool constant = false);
  void Compute(const Instruction& in, const std::string& name, int words, int lane,
               const std::vector<int>& of);
  bool Move(const Instruction& in, int lane, Lanes& warp);
  absl::Status Exchange(const Instruction& in, uint32_t lanes, Lanes& warp);
  bool IsAddressConstant(const Operand& o, int lane);
  void Matrix(const Instruction& in, const Natives::Registers& registers);
  absl::Status MatrixOfGroup(const Instruction& in, const GroupMatrix& matrix, Lanes& warp);
  absl::Status Access(const Instruction& in, uint32_t lanes, Lanes& warp);

  Expressions& pool_;
  const Natives& natives_;
  const std::vector<NamedMemory> inputs_;
  std::vector<Write> writes_;  // of the current instruction
  std::map<int, int> guard_;   // by lane: its condition, if that is not a constant
  std::map<const Lanes*, WarpState> warps_;
  WarpState* now_ = nullptr;        // of the current instruction
  std::map<uint64_t, int> memory_;  // by address
  std::unordered_map<int, const Instruction*> makers_;
  std::unordered_map<int, uint32_t> values_;
  bool branches_on_data_ = false;
};

}  // namespace mmadiff::sass

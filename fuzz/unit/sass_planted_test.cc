// Faults planted in the machine code of emulated and composed instructions, one at a time: executed
// in a few cases, almost all differ from the model or are refused. The others are listed, each with
// the reason. Skipped without nvdisasm and the machine code of ptxas 13.0.88, for which the list is.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "corpus/cases/case_name.h"
#include "device/cuda/kernel.h"
#include "device/sass/nvdisasm.h"
#include "device/sass/sass_device.h"
#include "sim/operation.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

constexpr uint64_t kSeed = 1;   // of the choice of faults
constexpr size_t kOfAKind = 5;  // at most, in a kernel
constexpr int64_t kCases = 8;   // of each strategy

struct Range {
  int first = 0, last = -1;  // addresses
};

struct Subject {
  const char* target;
  const char* row;
  // The instructions between the loads and the stores, and of functions, but those that compute
  // addresses.
  Range ranges[2];
  const char* variant = "";  // a suffix of device names
};

constexpr char kS4[] = "sm_90/mma.m16n8k32.satfinite.s32.s4.s4.s32",
               kBits[] = "sm_100/mma.m16n8k256.s32.b1.b1.s32.xor.popc",
               kSmall[] = "sm_90/mma.m8n8k4.f32.f16.f16.f32",
               kBytes[] = "sm_90/wmma.m16n16k16.s32.s8.s8.s32";
constexpr Subject kSubjects[] = {
    {"sm_90a", "sm_90/mma.m16n8k32.f32.e4m3.e4m3.f32", {{0x220, 0x300}, {0x360, 0x390}}},
    {"sm_90a", "sm_90/mma.m16n8k16.f16.e5m2.e4m3.f16", {{0x220, 0x250}, {0x270, 0x2e0}}},
    {"sm_90a", kS4, {{0x360, 0xac0}}},
    {"sm_120a", "sm_120/mma.m16n8k32.satfinite.s32.s4.s4.s32", {{0x940, 0x9e0}}},
    {"sm_90a", "sm_90/mma.m16n8k256.s32.b1.b1.s32.xor.popc", {{0x350, 0x430}}},
    {"sm_100a", kBits, {{0x350, 0xbf0}}},
    {"sm_90a", kSmall, {{0x3b0, 0x910}}},
    {"sm_100a", "sm_100/mma.m16n8k8.f64.f64.f64.f64", {{0x2c0, 0x310}, {0x330, 0x330}}},
    {"sm_90a", "sm_90/wmma.m16n16k16.f32.f16.f16.f32", {{0x2e0, 0x370}}, ",layout=col.row"},
    {"sm_90a", kBytes, {{0x350, 0x350}, {0x370, 0x430}}, ",layout=col.row"},
};

// The faults that no case shows; none of them changes a result, whatever the operands.
struct Unnoticed {
  const char *row, *fault, *reason;
};
constexpr Unnoticed kUnnoticed[] = {
    {kS4, "0x380 table: LOP3.LUT R10, R5.reuse, 0xf00, RZ, 0xc1, !PT",
     "a shift and a mask remove the bits that it sets"},
    {kS4, "0x660 table: LOP3.LUT R11, R11, 0xff00, R18, 0x78, !PT",
     "differs only for ones of R11 in the mask, which has none there"},
    {kS4, "0x730 constant: LOP3.LUT R17, R6, 0xf100000, RZ, 0xc0, !PT",
     "a mask removes the bit that it keeps"},
    {kS4, "0x770 constant: LOP3.LUT R18, R5, 0x2f00000, RZ, 0xc0, !PT",
     "a shift removes the bit that it keeps"},
    {kS4, "0x8c0 table: LOP3.LUT R5, R9, 0xff000000, R18, 0x78, !PT",
     "differs only for ones of R9 in the mask, which has none there"},
    {kBits, "0x440 no accumulator: IMMA.16832.U8.U8 R8, R12.ROW, R34.COL, RZ",
     "R8 to R11 are zero before the first step"},
    {kSmall, "0x420 constant: IADD3 R29, R17, 0x4000002, RZ",
     "the number of a lane, of which SHFL.IDX reads five bits"},
    {kSmall, "0x430 constant: SHFL.IDX PT, R5, R0, R17, 0x41f",
     "segments by bit 2 of a lane, which is that of the lane in R17"},
    {kBytes, "0x390 constant: PRMT R12, R25, 0x4005410, R20", "PRMT reads 16 bits of it"},
    {kBytes, "0x410 constant: PRMT R15, R16, 0x8005410, R15", "PRMT reads 16 bits of it"},
};

// "FADD R15, R15, R4" in pieces.
struct Code {
  int address = -1;
  std::string form;
  std::vector<std::string> operands;

  std::string text() const {
    return absl::StrCat(form, operands.empty() ? "" : " ", absl::StrJoin(operands, ", "));
  }
};

struct Fault {
  size_t at;  // number of the instruction
  const char* kind;
  std::vector<std::string> texts;  // instead of it, and of the next one if there are two
};

// The register that an operand names, "R12"; "" for any other operand.
std::string RegisterIn(absl::string_view operand) {
  absl::ConsumePrefix(&operand, "-");
  const absl::string_view name = operand.substr(0, operand.find('.'));
  int number;
  const bool numbered = absl::StartsWith(name, "R") && absl::SimpleAtoi(name.substr(1), &number);
  return numbered || name == "RZ" ? std::string(name) : "";
}

std::string Renamed(const std::string& operand, const std::string& name) {
  const std::string old = RegisterIn(operand);
  std::string result = operand;
  return result.replace(result.find(old), old.size(), name);
}

std::string Beside(const std::string& name) {
  int number = 0;
  EXPECT_TRUE(absl::SimpleAtoi(name.substr(1), &number));
  return absl::StrCat("R", number + 1);
}

bool IsPredicate(absl::string_view operand) {
  absl::ConsumePrefix(&operand, "!");
  return operand.size() == 2 && operand[0] == 'P' && operand[1] != 'T';
}

bool IsMatrix(const Code& code) { return absl::StrContains(code.form, "MMA."); }

// The place of the register that is written; for PLOP3, of the predicate.
size_t Destination(const Code& code) { return absl::StartsWith(code.form, "SHFL") ? 1 : 0; }

// Pairs of operands whose order matters.
std::vector<std::pair<size_t, size_t>> Ordered(const Code& code) {
  const auto is = [&code](const char* name) { return absl::StartsWith(code.form, name); };
  if (IsMatrix(code)) return {{1, 2}, {2, 3}};
  if (is("SEL") || is("F2FP.F16.F32")) return {{1, 2}};
  if (is("SHFL")) return {{2, 3}};
  if (is("PLOP3")) return {{2, 4}, {3, 4}};
  if (is("LOP3") || is("SHF") || is("PRMT") || is("FFMA") || code.form == "IMAD") return {{1, 3}};
  return {};
}

constexpr std::pair<const char*, const char*> kModifiers[] = {
    {".E4M3", ".E5M2"},
    {".E5M2", ".E4M3"},
    {".U8.U8", ".S8.S8"},
    {".S8.S8", ".U8.U8"},
    {"R.S32", "R.U32"},
    {"R.U32", "R.S32"},
    {".AND", ".XOR"},
    {".ISAT", ""},
    {".S32.ISAT", ""},
    {"FFMA", "FFMA.RZ"},
    {"8x8x4", "8x8x4.RZ"},
    {"HADD2.F32", "HADD2"},
    {".MT88", ".M832"},
    {"16.MT88", "U4TO8.M832"},
    {"U4TO8.M832", "16.MT88"},
    {".IDX", ".BFLY"},
    {".IDX", ".UP"},
    {"16816.F32", "16816.F16"},
    {"16816.F32", "16816.F32.BF16"},
    {"1688.F16", "1688.F32"},
    {"LDC.64", "LDC"},
    {"IADD3.X", "IADD3"},
    {".HI", ""},
};

class Planter {
 public:
  Planter(const std::vector<Code>& codes, uint64_t seed) : codes_(codes), random_(seed) {
    std::set<std::string> registers, predicates;
    for (const Code& code : codes) {
      for (const std::string& operand : code.operands) {
        if (const std::string name = RegisterIn(operand); !name.empty() && name != "RZ") {
          registers.insert(name);
        }
        if (IsPredicate(operand)) predicates.insert(std::string(absl::StripPrefix(operand, "!")));
      }
    }
    registers_.assign(registers.begin(), registers.end());
    predicates_.assign(predicates.begin(), predicates.end());
    for (size_t at = 0; at < codes.size(); ++at) {
      Plant(at);
      if (at + 1 < codes.size()) Pair(at);
    }
  }

  // At most `most` of each kind.
  std::vector<Fault> Some(size_t most) {
    std::vector<Fault> some;
    for (auto& [kind, faults] : faults_) {
      for (size_t i = 0; i < std::min(most, faults.size()); ++i) {
        std::swap(faults[i], faults[i + random_() % (faults.size() - i)]);
        some.push_back(faults[i]);
      }
    }
    return some;
  }

 private:
  void Add(const char* kind, size_t at, std::vector<std::string> texts) {
    faults_[kind].push_back({at, kind, std::move(texts)});
  }
  void Add(const char* kind, size_t at, size_t operand, const std::string& to) {
    Code code = codes_[at];
    code.operands[operand] = to;
    if (code.text() != codes_[at].text()) Add(kind, at, {code.text()});
  }
  std::string Other(const std::vector<std::string>& names, const std::string& than) {
    std::string name = than;
    while (names.size() > 1 && name == than) name = names[random_() % names.size()];
    return name;
  }

  void Plant(size_t at) {
    const Code& code = codes_[at];
    Add("left out", at, {"NOP"});
    Add("guarded", at, {absl::StrCat("@P0 ", code.text())});
    for (const auto& [from, to] : kModifiers) {
      const std::string form = absl::StrReplaceAll(code.form, {{from, to}});
      if (form != code.form) {
        Add("modifier", at, {absl::StrCat(form, " ", absl::StrJoin(code.operands, ", "))});
      }
    }
    for (const auto& [i, j] : Ordered(code)) {
      Code exchanged = code;
      std::swap(exchanged.operands[i], exchanged.operands[j]);
      const bool registers =
          !RegisterIn(code.operands[i]).empty() && !RegisterIn(code.operands[j]).empty();
      if (registers && exchanged.text() != code.text()) Add("exchanged", at, {exchanged.text()});
    }
    for (size_t k = 0; k < code.operands.size(); ++k) {
      if (k == Destination(code)) {
        PlantDestination(at, k);
      } else if (!RegisterIn(code.operands[k]).empty()) {
        PlantSource(at, k);
      } else if (absl::StartsWith(code.operands[k], "0x")) {
        PlantNumber(at, k);
      } else {
        PlantOther(at, k);
      }
    }
  }

  void PlantDestination(size_t at, size_t k) {
    const std::string& operand = codes_[at].operands[k];
    if (IsPredicate(operand)) Add("destination", at, k, Other(predicates_, operand));
    if (!RegisterIn(operand).empty()) Add("destination", at, k, Other(registers_, operand));
  }

  void PlantSource(size_t at, size_t k) {
    const std::string& operand = codes_[at].operands[k];
    const std::string name = RegisterIn(operand);
    const bool matrix = IsMatrix(codes_[at]);
    if (name != "RZ") {
      Add("register", at, k, Renamed(operand, Other(registers_, name)));
      Add(matrix && k == 3 ? "no accumulator" : "zero", at, k, Renamed(operand, "RZ"));
      if (matrix) Add("next register", at, k, Renamed(operand, Beside(name)));
    } else if (matrix) {
      Add("accumulator", at, k, Renamed(operand, Other(registers_, name)));
    }
    Add("half", at, k,
        absl::StrReplaceAll(operand, {{".H0_H0", ".H1_H1"}, {".H1_H1", ".H0_H0"}, {".H1", ""}}));
    if (absl::StrContains(codes_[at].form, "UNPACK_B") && !absl::StrContains(operand, ".H1")) {
      Add("half", at, k, absl::StrCat(operand, ".H1"));
    }
    const bool adds =
        absl::StrContains(codes_[at].form, "ADD") || absl::StartsWith(codes_[at].form, "FFMA");
    const bool nothing = name == "RZ" && absl::StartsWith(codes_[at].form, "IADD");
    if (adds && !nothing) {
      Add("negated", at, k,
          absl::StartsWith(operand, "-") ? operand.substr(1) : absl::StrCat("-", operand));
    }
  }

  void PlantNumber(size_t at, size_t k) {
    const Code& code = codes_[at];
    uint32_t number = 0;
    EXPECT_TRUE(absl::SimpleHexAtoi(code.operands[k], &number)) << code.text();
    const auto hex = [](uint32_t value) { return absl::StrCat("0x", absl::Hex(value)); };
    const bool logic = absl::StartsWith(code.form, "LOP3") && k == 4;
    const bool shift = absl::StartsWith(code.form, "SHF.");
    if (logic || absl::StartsWith(code.form, "PLOP3")) {
      uint32_t entry = random_() % 8;  // by bits of the three sources; RZ has none
      for (size_t source = 1; source < 4 && logic; ++source) {
        if (code.operands[source] == "RZ") entry &= ~(8u >> source);
      }
      Add("table", at, k, hex(number ^ 1u << entry));
    } else if (shift || absl::StartsWith(code.form, "IMAD.SHL") ||
               absl::StartsWith(code.form, "IMAD.U32")) {
      Add("shift", at, k, hex(shift ? number - 1 : number * 2));
    } else {
      Add("constant", at, k, hex(number ^ 1u << random_() % 32));
    }
  }

  void PlantOther(size_t at, size_t k) {
    const std::string& operand = codes_[at].operands[k];
    if (IsPredicate(operand)) {
      const std::string name(absl::StripPrefix(operand, "!"));
      Add("inverted", at, k, name == operand ? absl::StrCat("!", name) : name);
      Add("predicate", at, k, absl::StrReplaceAll(operand, {{name, Other(predicates_, name)}}));
    }
    Add("constant word", at, k,
        absl::StrReplaceAll(operand, {{"0x398]", "0x390]"}, {"0x228]", "0x220]"}}));
  }

  // Two instructions, of which the second reads what the first writes.
  void Pair(size_t at) {
    const Code &first = codes_[at], &second = codes_[at + 1];
    if (first.operands.empty() || second.address != first.address + 16) return;
    const std::string written = first.operands[Destination(first)];
    for (size_t k = 0; k < second.operands.size(); ++k) {
      const std::string& operand = second.operands[k];
      const bool reads =
          RegisterIn(operand) == written || absl::StripPrefix(operand, "!") == written;
      if (k == Destination(second) || !reads) continue;
      Add("order", at, {second.text(), first.text()});
      Add("repeated", at, {first.text(), first.text()});
      return;
    }
  }

  const std::vector<Code>& codes_;
  std::mt19937_64 random_;
  std::vector<std::string> registers_, predicates_;
  std::map<std::string, std::vector<Fault>> faults_;
};

// The text of one kernel, line by line.
std::vector<std::string> KernelIn(absl::string_view text, absl::string_view entry) {
  std::vector<std::string> lines;
  bool inside = false;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::StartsWith(absl::StripAsciiWhitespace(line), ".section")) {
      inside = absl::StrContains(line, absl::StrCat(".text.", entry, ","));
    }
    if (inside || absl::StrContains(line, ".target")) lines.emplace_back(line);
  }
  return lines;
}

// The instruction of a line; an address of -1 for other lines.
Code CodeIn(absl::string_view line) {
  Code code;
  line = absl::StripAsciiWhitespace(line);
  if (!absl::ConsumePrefix(&line, "/*") || !absl::SimpleHexAtoi(line.substr(0, 4), &code.address)) {
    return code;
  }
  line = absl::StripAsciiWhitespace(line.substr(6, line.find(';') - 6));
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(line, absl::MaxSplits(' ', 1));
  code.form = std::string(parts.first);
  code.operands = absl::StrSplit(parts.second, ", ", absl::SkipEmpty());
  return code;
}

struct Case {
  Batch batch;
  std::vector<uint64_t> model;
};

// Whether the text computes what the model does in all cases; an error if it is refused.
absl::StatusOr<bool> Agrees(const Operation& op, const Variant& variant,
                            const std::vector<std::string>& lines, const std::vector<Case>& cases) {
  auto device = SassOfText(absl::StrJoin(lines, "\n"), variant);
  if (!device.ok()) return device.status();
  for (const Case& c : cases) {
    std::vector<uint64_t> d;
    if (const absl::Status s = (*device)->Run(op, c.batch, d); !s.ok()) return s;
    if (d != c.model) return false;
  }
  return true;
}

std::string Line(int address, const std::string& text) {
  return absl::StrCat("        /*", absl::Hex(address, absl::kZeroPad4), "*/  ", text, " ;");
}

std::vector<Case> CasesOf(const Operation& op) {
  std::vector<Case> cases;
  for (const Strategy& strategy : Strategies()) {
    Case& c = cases.emplace_back();
    Generate({&op, &strategy, 1}, 0, kCases, c.batch);
    c.model.resize(c.batch.dot_products());
    Simulate(op.model, c.batch, c.model);
  }
  return cases;
}

struct Found {
  size_t planted = 0;
  std::set<std::string> unnoticed;  // "ROW FAULT"
};

void PlantAll(const Subject& subject, const std::string& text, Found& found) {
  const Operation& op = *FindOperation(subject.row);
  const Variant variant = *VariantWithSuffix(subject.variant);
  const std::vector<std::string> lines = KernelIn(text, KernelName(*op.instruction, variant));
  std::vector<Code> codes;
  std::vector<size_t> line_of;
  for (size_t i = 0; i < lines.size(); ++i) {
    const Code code = CodeIn(lines[i]);
    for (const Range& range : subject.ranges) {
      if (code.form == "NOP" || code.address < range.first || code.address > range.last) continue;
      codes.push_back(code);
      line_of.push_back(i);
    }
  }
  const std::vector<Case> cases = CasesOf(op);
  const auto agrees = Agrees(op, variant, lines, cases);
  ASSERT_TRUE(agrees.ok() && *agrees) << subject.row << ": " << agrees.status();
  int planted = 0, refused = 0, unnoticed = 0;
  for (const Fault& fault : Planter(codes, kSeed).Some(kOfAKind)) {
    std::vector<std::string> changed = lines;
    for (size_t i = 0; i < fault.texts.size(); ++i) {
      changed[line_of[fault.at + i]] = Line(codes[fault.at + i].address, fault.texts[i]);
    }
    const auto same = Agrees(op, variant, changed, cases);
    ++planted;
    refused += !same.ok();
    if (!same.ok() || !*same) continue;
    ++unnoticed;
    found.unnoticed.insert(absl::StrCat(subject.row, " 0x", absl::Hex(codes[fault.at].address), " ",
                                        fault.kind, ": ", absl::StrJoin(fault.texts, "; ")));
  }
  found.planted += planted;
  std::printf("%s: %d planted, %d refused, %d not noticed\n", subject.row, planted, refused,
              unnoticed);
}

TEST(Planted, AlmostAllAreNoticed) {
  const auto nvdisasm = sass::FindDisassembler();
  if (!nvdisasm.ok()) GTEST_SKIP() << "no nvdisasm";
  Found found;
  std::map<std::string, std::string> texts;  // by target
  for (const Subject& subject : kSubjects) {
    std::string& text = texts[subject.target];
    if (text.empty()) {
      const std::string cubin = absl::StrCat(MMADIFF_CUBINS "/kernels.", subject.target, ".cubin");
      std::ifstream file(cubin, std::ios::binary);
      const std::string bytes((std::istreambuf_iterator<char>(file)), {});
      if (!absl::StrContains(bytes, "V13.0.88")) {
        GTEST_SKIP() << cubin << " is not of ptxas 13.0.88";
      }
      const auto disassembled = sass::DisassembledText(*nvdisasm, cubin);
      ASSERT_TRUE(disassembled.ok()) << disassembled.status();
      text = *disassembled;
    }
    PlantAll(subject, text, found);
  }
  EXPECT_GE(found.planted, 200);
  EXPECT_LE(found.unnoticed.size() * 20, found.planted);
  std::set<std::string> expected;
  for (const Unnoticed& u : kUnnoticed) expected.insert(absl::StrCat(u.row, " ", u.fault));
  EXPECT_EQ(found.unnoticed, expected);
}

}  // namespace
}  // namespace mmadiff

#include "sim/resolve.h"

#include <fnmatch.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "sim/pattern.h"

namespace mmadiff {
namespace {

bool Lists(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

// One choice of one pattern in a line.
struct Choice {
  const NumericsEntry* entry;
  std::string pattern, glob;
  size_t literal;  // characters of the glob before its first wildcard
  std::vector<std::string> archs;
  std::set<std::string_view>
      unused;  // architectures on which it has not given an instruction its operation yet

  bool Matches(const std::string& name) const {
    // Checks the last literal character first: most names differ there, few in the first one.
    const bool may =
        literal == 0 || (literal <= name.size() && name[literal - 1] == glob[literal - 1]);
    return may && name.compare(0, literal, glob, 0, literal) == 0 &&
           fnmatch(glob.c_str(), name.c_str(), 0) == 0;
  }
};

// The ids of both, each once, separated by spaces; never freed.
const char* Joined(const char* ids, const char* others) {
  static auto& all = *new std::set<std::string>;
  std::vector<std::string> joined = SplitWords(ids);
  for (std::string& id : SplitWords(others)) {
    if (!Lists(joined, id)) joined.push_back(std::move(id));
  }
  std::string text;
  for (const std::string& id : joined) text += (text.empty() ? "" : " ") + id;
  return all.insert(text).first->c_str();
}

bool IsExceptionTo(const Choice& x, const Choice& y) { return y.pattern == x.entry->except_from; }

class Resolver {
 public:
  Resolver(std::span<const NumericsEntry> entries, std::span<const Architecture> architectures)
      : architectures_(architectures) {
    for (const NumericsEntry& entry : entries) AddChoices(entry);
    for (Choice& c : choices_) {
      c.unused.insert(c.archs.begin(), c.archs.end());
      for (const std::string& arch : c.archs) {
        if (!IsKnown(arch)) RequireKnown(arch, "pattern '" + c.pattern + "'");
      }
    }
    const std::span<const Instruction> instructions = Instructions();
    for (const UnknownNumerics& u : AllUnknown()) {
      unknown_.emplace(u.arch, FindInstruction(u.instruction, u.arch));
    }
    for (const Instruction& i : instructions) {
      std::vector<Choice*>& matching = matching_.emplace_back();
      for (Choice& c : choices_) {
        if (c.Matches(i.name)) matching.push_back(&c);
      }
      native_on_.push_back(SplitWords(i.native_on));
      for (const std::string& arch : native_on_.back()) RequireKnown(arch, i.name);
    }
    for (const Architecture& arch : architectures_) {
      const size_t before = table_.numerics.size();
      for (size_t i = 0; i < instructions.size(); ++i) AddOperation(arch, instructions[i], i);
      if (*arch.like == '\0') continue;
      RequireKnown(arch.like, arch.name);
      if (table_.numerics.size() > before) continue;
      Error(std::string(arch.name) + ": like '" + arch.like +
            "', but no instruction has numerics there");
    }
    std::set<const Instruction*> listed;
    for (const Numerics& n : table_.numerics) listed.insert(n.instruction);
    for (const auto& [arch, instruction] : unknown_) listed.insert(instruction);
    for (const Instruction& i : instructions) {
      if (*i.native_on != '\0' || listed.contains(&i)) continue;
      Error(i.name + ": no architecture has numerics for it");
    }
    for (const Choice& c : choices_) {
      for (const std::string_view arch : c.unused) {
        Error(std::string(arch) + ": pattern '" + c.glob + "' of '" + c.pattern +
              "' gives no instruction its numerics");
      }
    }
  }

  void Measure(const Measurement& m) {
    size_t measured = 0;
    const std::vector<std::string> archs = SplitWords(m.archs);
    std::vector<Expansion> globs;
    for (const std::string& pattern : SplitWords(m.instructions)) {
      for (Expansion& e : Expand(pattern)) globs.push_back(std::move(e));
    }
    for (size_t i = 0; i < table_.numerics.size(); ++i) {
      Numerics& n = table_.numerics[i];
      const char* name = n.instruction->name.c_str();
      const auto matches = [name](const Expansion& e) {
        return fnmatch(e.text.c_str(), name, 0) == 0;
      };
      if (!Lists(archs, n.arch) || std::ranges::none_of(globs, matches)) continue;
      ++measured;
      const std::string op = std::string(n.arch) + "/" + n.instruction->name;
      if (n.evidence.grade == Grade::kMeasured) Error(op + ": measured twice");
      const bool own = m.evidence.grade == Grade::kMeasured;
      if (!own && n.evidence.grade != Grade::kAssumed) {
        Error(op + ": machine code replaces evidence that is not assumed");
      }
      n.evidence = m.evidence;
      if (*evidence_[i]->file != '\0') n.evidence.others = evidence_[i];
      if (own) n.nan_verdict = NanVerdict::kBits;
    }
    if (measured == 0) {
      Error(std::string(m.archs) + ": the measurement's pattern matches nothing: '" +
            m.instructions + "'");
    }
  }

  NumericsTable Take() { return std::move(table_); }

 private:
  void Error(const std::string& text) {
    if (!Lists(table_.errors, text)) table_.errors.push_back(text);
  }

  bool IsKnown(const std::string& arch) const {
    return std::ranges::any_of(architectures_, [&](const auto& a) { return a.name == arch; });
  }
  void RequireKnown(const std::string& arch, const std::string& where) {
    if (!IsKnown(arch)) Error(where + ": no table has the architecture '" + arch + "'");
  }

  void AddChoices(const NumericsEntry& entry) {
    for (const std::string& pattern : SplitWords(entry.instructions)) {
      for (const Expansion& e : Expand(pattern)) {
        const size_t literal = std::min(e.text.find_first_of("*?["), e.text.size());
        choices_.push_back({&entry, pattern, e.text, literal, SplitWords(entry.archs), {}});
      }
    }
  }

  // The choices for the architecture itself, or else those for its relative.
  std::vector<Choice*> Candidates(const Architecture& arch, size_t instruction) {
    for (const std::string_view name : {arch.name, arch.like}) {
      std::vector<Choice*> candidates;
      for (Choice* c : matching_[instruction]) {
        if (Lists(c->archs, name)) candidates.push_back(c);
      }
      if (!candidates.empty()) return candidates;
    }
    return {};
  }

  bool Exists(const Architecture& arch, const Instruction& i, size_t instruction) const {
    if (Lists(native_on_[instruction], arch.name)) return true;
    // tcgen05's kind::i8 ends with sm_100 (PTX ISA 9.0); sm_100's relative does not emulate it.
    return arch.emulates && i.native_on != std::string_view("sm_100");
  }

  void AddOperation(const Architecture& arch, const Instruction& i, size_t instruction) {
    if (!Exists(arch, i, instruction)) return;
    const std::string name = std::string(arch.name) + "/" + i.name;
    const std::vector<Choice*> candidates = Candidates(arch, instruction);
    if (candidates.empty()) {
      const bool refused = unknown_.contains({arch.name, &i});
      if (Lists(native_on_[instruction], arch.name) && !refused) {
        Error(name + ": native, but without numerics");
      }
      return;
    }
    const auto winner = std::ranges::find_if(candidates, [&](const Choice* x) {
      return std::ranges::all_of(candidates,
                                 [x](const Choice* y) { return x == y || IsExceptionTo(*x, *y); });
    });
    if (winner == candidates.end()) {
      return Error(name + ": matched by '" + candidates[0]->pattern + "' and by '" +
                   candidates[1]->pattern + "', neither an exception to the other");
    }
    const NumericsEntry& entry = *(*winner)->entry;
    if (*entry.except_from != '\0' && candidates.size() == 1) {
      Error(name + ": '" + (*winner)->pattern + "' is an exception to '" + entry.except_from +
            "', which does not match it");
    }
    const bool own = Lists((*winner)->archs, arch.name);
    (*winner)->unused.erase(own ? arch.name : arch.like);
    evidence_.push_back(own ? &entry.evidence : &arch.evidence);
    Evidence evidence = *evidence_.back();
    if (!own) {
      evidence.sources = Joined(evidence.sources, entry.evidence.sources);
      if (*evidence.open == '\0') evidence.open = entry.evidence.open;
    }
    table_.numerics.push_back({arch.name, &i, entry.algorithm(i), evidence, entry.nan_verdict});
  }

  const std::span<const Architecture> architectures_;
  std::vector<Choice> choices_;
  std::vector<std::vector<Choice*>> matching_;       // by instruction
  std::vector<std::vector<std::string>> native_on_;  // by instruction
  std::set<std::pair<std::string_view, const Instruction*>> unknown_;
  NumericsTable table_;
  std::vector<const Evidence*> evidence_;  // of the lines that gave table_.numerics
};

}  // namespace

NumericsTable Resolve(std::span<const NumericsEntry> entries,
                      std::span<const Architecture> architectures,
                      std::span<const Measurement> measurements) {
  Resolver resolver(entries, architectures);
  for (const Measurement& m : measurements) resolver.Measure(m);
  return resolver.Take();
}

}  // namespace mmadiff

// mmadiff gen: prints cases in the line protocol.
#include "corpus/cases/case_name.h"
#include "corpus/line_checksum.h"
#include "device/line_protocol.h"
#include "fuzz/cli/cli.h"
#include "fuzz/cli/json_rows.h"
#include "fuzz/cli/protocol.h"

namespace mmadiff {
namespace {

struct GenFlags {
  std::string op, strategy = "mixed";
  uint64_t cases = 1000, first = 0, seed = 1;
};

// Runs until `print` returns false.
template <class Print>
void ForEachDotProduct(const CaseStream& stream, const GenFlags& flags, Print print) {
  Batch batch;
  for (uint64_t i = 0; i < flags.cases; ++i) {
    Generate(stream, flags.first + i, 1, batch);
    for (int64_t element = 0; element < batch.dot_products(); ++element) {
      if (!print(Extract(batch, element))) return;
    }
  }
}

void PrintCaseLines(const CaseStream& stream, const GenFlags& flags, uint64_t lines) {
  std::fputs(StreamHeader(*stream.op, lines).c_str(), stdout);
  TextHash hash;
  ForEachDotProduct(stream, flags, [&](const DotProductCase& dot) {
    const std::string line = FormatLine(*stream.op->instruction, dot) + "\n";
    hash.Add(line);
    return std::fwrite(line.data(), 1, line.size(), stdout) == line.size();
  });
  std::printf("# operands: %s\n", hash.Take().c_str());
}

struct GenResult {
  const CaseStream& stream;
  const GenFlags& flags;
  uint64_t lines;
};

Fields<GenResult> FieldsOf(const GenResult*) {
  using R = GenResult;
  return {
      {"instruction", [](const R& r) { return r.stream.op->name; }, InstructionName()},
      {"strategy", [](const R& r) { return r.flags.strategy; }},
      {"generator_version", [](const R&) { return kGeneratorVersion; }},
      {"seed", [](const R& r) { return r.flags.seed; }},
      {"first", [](const R& r) { return r.flags.first; }, "index of the first case"},
      {"cases", [](const R& r) { return r.flags.cases; }},
      {"dot_products", [](const R&) { return std::vector<DotProductWords>(); }},
      {"count", &R::lines, "number of dot products"},
  };
}

void PrintCaseJson(const CaseStream& stream, const GenFlags& flags, uint64_t lines) {
  const GenResult result = {stream, flags, lines};
  JsonRows rows(JsonOf(result), "dot_products");
  ForEachDotProduct(stream, flags, [&](const DotProductCase& dot) {
    rows.Add(JsonOf(DotProductWords{*stream.op->instruction, dot}));
    return std::ferror(stdout) == 0;
  });
  rows.Finish(JsonOf(result));
}

void RunGen(const GenFlags& flags, Call& call) {
  const absl::StatusOr<const Operation*> op = OneOperation(flags.op);
  if (!op.ok()) return call.Say(op.status());
  const CaseStream stream = {*op, FindStrategy(flags.strategy), flags.seed};
  uint64_t lines;
  if (__builtin_mul_overflow(flags.cases, (*op)->shape().d_words(), &lines)) {
    return call.Say(Verdict::kUsage, "--cases: more lines than 2^64");
  }
  (call.globals.json ? PrintCaseJson : PrintCaseLines)(stream, flags, lines);
}

}  // namespace

Action AddGen(CLI::App& command) {
  const auto flags = std::make_shared<GenFlags>();
  AddInstruction(command, flags->op);
  AddOption(command, "--cases", flags->cases,
            "number of executions; each prints all its dot products")
      .Count();
  AddOption(command, "--first", flags->first, "index of the first case").Count();
  AddSeed(command, flags->seed);
  AddStrategy(command, flags->strategy);
  return {RunGen, flags, {SchemaOf<GenResult>}};
}

}  // namespace mmadiff

// mmadiff gen: cases out, in the line protocol.
#include "corpus/line_checksum.h"
#include "device/line_protocol.h"
#include "fuzz/cases/case_name.h"
#include "fuzz/cli/cli.h"
#include "fuzz/cli/protocol.h"

namespace mmadiff {
namespace {

struct GenFlags {
  std::string op, strategy = "mixed";
  uint64_t cases = 1000, first = 0, seed = 1;
};

int RunGen(const GenFlags& flags) {
  const absl::StatusOr<const Operation*> op = OneOperation(flags.op);
  if (!op.ok()) return Fail(op.status());
  const CaseStream stream = {*op, FindStrategy(flags.strategy), flags.seed};
  uint64_t lines;
  if (__builtin_mul_overflow(flags.cases, (*op)->shape().d_words(), &lines)) {
    return Fail(absl::InvalidArgumentError("--cases: more lines than 2^64"));
  }
  std::fputs(StreamHeader(**op, lines).c_str(), stdout);
  TextHash hash;
  Batch batch;
  for (uint64_t i = 0; i < flags.cases; ++i) {
    Generate(stream, flags.first + i, 1, batch);
    for (int64_t element = 0; element < batch.dot_products(); ++element) {
      const std::string line = FormatLine(*(*op)->instruction, Extract(batch, element)) + "\n";
      hash.Add(line);
      if (std::fwrite(line.data(), 1, line.size(), stdout) != line.size()) return kNotDurable;
    }
  }
  std::printf("# operands: %s\n", hash.Take().c_str());
  return kClean;
}

}  // namespace

std::function<int()> AddGen(CLI::App& command, const Globals&) {
  const auto flags = std::make_shared<GenFlags>();
  AddInstruction(command, flags->op);
  command.add_option("--cases", flags->cases, "executions; each prints all its dot products")
      ->transform(Count())
      ->type_name("COUNT");
  command.add_option("--first", flags->first, "index of the first case")
      ->transform(Count())
      ->type_name("COUNT");
  AddSeed(command, flags->seed);
  AddStrategy(command, flags->strategy);
  return [flags] { return RunGen(*flags); };
}

}  // namespace mmadiff

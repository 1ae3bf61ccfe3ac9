#include "fuzz/gpu/resident.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "device/line_protocol.h"
#include "fuzz/events.h"
#include "sim/parameter.h"

namespace mmadiff {
namespace {

constexpr size_t kScratchBytes = size_t{1} << 30;          // of the cases of one launch
constexpr int64_t kMostCases = 1 << 18;                    // of one launch
constexpr uint64_t kTestCases = 64, kPlantedCases = 4096;  // of the self-test
constexpr uint64_t kFarCase = (uint64_t{1} << 40) + 5;
// Counted together: bounds the time until a stop is seen, and the flags.
constexpr uint64_t kPortionCases = 1 << 22, kPortionDotProducts = 1 << 26;

const char* CompareKernel(Family family) {
  switch (family) {
    case Family::kFmaChain:
      return "compare_fma_chain";
    case Family::kFusedSum:
      return "compare_fused_sum";
    case Family::kScaledSum:
      return "compare_scaled_sum";
    case Family::kIntegerDot:
      return "compare_integer_dot";
    default:
      return nullptr;
  }
}

// Which elements make up each word of an operand: the inverse of its slots.
void AppendGathers(const OperandWords& operand, int bits, std::vector<int>& starts,
                   std::vector<Gather>& parts) {
  std::vector<std::vector<Gather>> by_word(operand.words);
  for (size_t e = 0; e < operand.slots.size(); ++e) {
    const auto [word, bit] = operand.slots[e];
    by_word[word].push_back({static_cast<int>(e), bit});
    if (bit + bits > 32) by_word[word + 1].push_back({static_cast<int>(e), bit - 32});
  }
  for (const std::vector<Gather>& word : by_word) {
    starts.push_back(static_cast<int>(parts.size()));
    parts.insert(parts.end(), word.begin(), word.end());
  }
  starts.push_back(static_cast<int>(parts.size()));
}

Digest DigestOfLimbs(const uint64_t (&limbs)[4]) {
  Digest digest = 0;
  for (int i = 0; i < 4; ++i) digest += static_cast<Digest>(limbs[i]) << 32 * i;
  return digest;
}

uint64_t PortionOf(const Row& row) {
  return std::clamp<uint64_t>(kPortionDotProducts / row.shape().d_words(), 1, kPortionCases);
}

size_t FlagWords(uint64_t cases) { return (cases + 31) / 32; }

// Cases of each class among first .. first+count-1.
void CountClasses(const CaseStream& stream, uint64_t first, uint64_t count, UnitResult& result) {
  const Instruction& in = *stream.row->instruction;
  const uint64_t period = ClassPeriod(stream.strategy->kind, BoundaryClassCount(in));
  for (uint64_t i = 0; i < std::min(period, count); ++i) {
    const InputClass& input_class = stream.class_of(first + i);
    result.counts[absl::StrCat("class.", input_class.name)] += (count - i + period - 1) / period;
  }
}

}  // namespace

bool ResidentRunner::Supports(const CaseStream& stream) {
  return stream.version == kGeneratorVersion &&
         CompareKernel(stream.row->model.algorithm.family) != nullptr;
}

absl::StatusOr<std::unique_ptr<ResidentRunner>> ResidentRunner::Create(CudaDevice& device,
                                                                       absl::string_view image) {
  if (image.empty()) {
    return absl::FailedPreconditionError(
        "cases are made and compared on the host, which is slow: this build has no kernels for "
        "runs on the GPU, for the CUDA Toolkit was not there when it was configured");
  }
  if (absl::Status s = device.MakeCurrent(); !s.ok()) return s;
  const CudaDriver& driver = device.driver();
  void* module = nullptr;
  absl::Status s = driver.Check(driver.load_module(&module, image.data(), 0, nullptr, nullptr),
                                "loading the kernels of a run on the GPU");
  if (!s.ok()) return s;
  return std::unique_ptr<ResidentRunner>(
      new ResidentRunner(device, module, std::max(1, device.multiprocessors())));
}

absl::StatusOr<uint64_t> ResidentRunner::Reserve(Buffers which, size_t bytes) {
  Buffer& buffer = buffers_[which];
  if (buffer.memory == nullptr || buffer.bytes < bytes) {
    buffer = {};  // frees what there was, and is nothing if there is no room for more
    auto memory = std::make_unique<DeviceMemory>(device_.driver());
    if (absl::Status s = memory->Allocate(bytes); !s.ok()) return s;
    buffer = {std::move(memory), bytes};
  }
  return *buffer.memory->address();
}

absl::StatusOr<void*> ResidentRunner::Function(const std::string& name) {
  void*& function = functions_[name];
  if (function != nullptr) return function;
  const CudaDriver& driver = device_.driver();
  absl::Status s = driver.Check(driver.get_function(&function, module_, name.c_str()),
                                absl::StrCat("finding the kernel ", name));
  if (!s.ok()) return s;
  return function;
}

absl::Status ResidentRunner::Launch(const std::string& kernel, int64_t blocks, int threads,
                                    size_t shared, ResidentJob& job) {
  const absl::StatusOr<void*> function = Function(kernel);
  if (!function.ok()) return function.status();
  void* arguments[] = {&job};
  const CudaDriver& driver = device_.driver();
  return driver.Check(driver.launch(*function, static_cast<unsigned>(blocks), 1, 1, threads, 1, 1,
                                    static_cast<unsigned>(shared), nullptr, arguments, nullptr),
                      absl::StrCat("launching the kernel ", kernel));
}

absl::Status ResidentRunner::Prepare(const CaseStream& stream, const Model& model, int64_t cases,
                                     uint64_t counted, ResidentJob& job) {
  const Instruction& in = *stream.row->instruction;
  const absl::StatusOr<const LoadedKernel*> loaded = device_.Load(*stream.row);
  if (!loaded.ok()) return loaded.status();
  const Kernel& kernel = (*loaded)->kernel;
  job.model = model;
  job.any_nan = stream.row->numerics->nan_verdict == NanVerdict::kAnyNan;
  job.shape = in.shape;
  job.seed = stream.seed;
  job.stream = StreamId(stream);
  job.strategy = stream.strategy->kind;
  job.d_words = kernel.d.words;

  const OperandWords* const operands[3] = {&kernel.a, &kernel.b, &kernel.c};
  const int bits[3] = {in.a->bits, in.b->bits, in.c->bits};
  std::vector<int> starts;
  std::vector<Gather> parts;
  for (int o = 0; o < 3; ++o) AppendGathers(*operands[o], bits[o], starts, parts);
  // One table: starts of A, B and C, then the parts, then the slots of D; all of whole ints.
  std::vector<uint32_t> table(starts.size() + 2 * (parts.size() + kernel.d.slots.size()));
  const size_t parts_at = starts.size(), slots_at = parts_at + 2 * parts.size();
  std::memcpy(&table[0], starts.data(), 4 * starts.size());
  std::memcpy(&table[parts_at], parts.data(), 8 * parts.size());
  std::memcpy(&table[slots_at], kernel.d.slots.data(), 8 * kernel.d.slots.size());

  const size_t sizes[kBuffers] = {8ull * cases * in.shape.a_words(),
                                  8ull * cases * in.shape.b_words(),
                                  8ull * cases * in.shape.d_words(),
                                  4ull * cases * kernel.a.words,
                                  4ull * cases * kernel.b.words,
                                  4ull * cases * kernel.c.words,
                                  4ull * cases * kernel.d.words,
                                  4ull * cases,
                                  4 * FlagWords(counted),
                                  4 * table.size(),
                                  sizeof(ResidentCounters)};
  uint64_t at[kBuffers];
  for (int b = 0; b < kBuffers; ++b) {
    const absl::StatusOr<uint64_t> address = Reserve(static_cast<Buffers>(b), sizes[b]);
    if (!address.ok()) return address.status();
    at[b] = *address;
  }
  job.a = reinterpret_cast<uint64_t*>(at[kA]);
  job.b = reinterpret_cast<uint64_t*>(at[kB]);
  job.c = reinterpret_cast<uint64_t*>(at[kC]);
  job.d = reinterpret_cast<const uint32_t*>(at[kD]);
  job.where = reinterpret_cast<const uint32_t*>(at[kWhere]);
  job.flags = reinterpret_cast<uint32_t*>(at[kFlags]);
  job.counters = reinterpret_cast<ResidentCounters*>(at[kCounters]);
  const int* starts_at = reinterpret_cast<const int*>(at[kTables]);
  for (int o = 0; o < 3; ++o) {
    job.packed[o] = {reinterpret_cast<uint32_t*>(at[kPackedA + o]), starts_at,
                     reinterpret_cast<const Gather*>(at[kTables] + 4 * parts_at),
                     operands[o]->words};
    starts_at += operands[o]->words + 1;
  }
  job.d_slots = reinterpret_cast<const Slot*>(at[kTables] + 4 * slots_at);
  const CudaDriver& driver = device_.driver();
  return driver.Check(driver.to_device(at[kTables], table.data(), 4 * table.size()),
                      "copying tables to the GPU");
}

absl::Status ResidentRunner::Count(const CaseStream& stream, const Model& model, uint64_t first,
                                   uint64_t count, int64_t most_at_once, Counted& counted) {
  if (absl::Status s = device_.MakeCurrent(); !s.ok()) return s;
  const absl::StatusOr<const LoadedKernel*> loaded = device_.Load(*stream.row);
  if (!loaded.ok()) return loaded.status();
  const Kernel& kernel = (*loaded)->kernel;
  const Shape& shape = stream.row->shape();
  const size_t bytes = 8 * (shape.a_words() + shape.b_words() + shape.d_words()) +
                       4 * (kernel.a.words + kernel.b.words + kernel.c.words + kernel.d.words);
  const int64_t at_once = std::clamp<int64_t>(
      static_cast<int64_t>(std::min<uint64_t>(count, kScratchBytes / bytes)), 1, most_at_once);
  ResidentJob job = {};
  if (absl::Status s = Prepare(stream, model, at_once, count, job); !s.ok()) return s;
  job.counted_from = first;
  absl::Status s = Clear(count, job);
  for (uint64_t done = 0; s.ok() && done < count; done += job.count) {
    job.first = first + done;
    job.count = static_cast<int64_t>(std::min<uint64_t>(at_once, count - done));
    s = Execute(**loaded, job);
    if (s.ok()) s = CheckOperands(stream, job);
  }
  const CudaDriver& driver = device_.driver();
  if (s.ok()) s = driver.Check(driver.synchronize(), "running on the GPU");
  if (s.ok()) s = Collect(stream, first, count, job, counted);
  return s;
}

absl::Status ResidentRunner::Clear(uint64_t count, const ResidentJob& job) {
  const CudaDriver& driver = device_.driver();
  const ResidentCounters zeros = {};
  absl::Status s = driver.Check(
      driver.to_device(reinterpret_cast<uint64_t>(job.counters), &zeros, sizeof(zeros)),
      "clearing counters");
  if (!s.ok()) return s;
  return driver.Check(driver.fill(reinterpret_cast<uint64_t>(job.flags), 0, FlagWords(count)),
                      "clearing flags");
}

absl::Status ResidentRunner::Execute(const LoadedKernel& loaded, ResidentJob& job) {
  const CudaDriver& driver = device_.driver();
  const uint64_t d = reinterpret_cast<uint64_t>(job.d),
                 where = reinterpret_cast<uint64_t>(job.where);
  const Family family = job.model.algorithm.family;
  const size_t shared = (kPatchRows + kPatchColumns) * job.shape.row_words() *
                        (family == Family::kIntegerDot ? sizeof(uint64_t) : sizeof(Unpacked));
  absl::Status s = Launch("generate", (job.count + 127) / 128, 128, 0, job);
  if (s.ok()) s = Launch("pack", multiprocessors_ * 8, 256, 0, job);
  if (s.ok()) {
    s = driver.Check(driver.fill(d, FillPattern(), job.count * job.d_words), "filling results");
  }
  if (s.ok()) s = driver.Check(driver.fill(where, kNowhere, job.count), "filling numbers");
  void* arguments[] = {&job.packed[0].words, &job.packed[1].words, &job.packed[2].words, &job.d,
                       &job.where};
  if (s.ok()) {
    s = driver.Check(driver.launch(loaded.function, static_cast<unsigned>(job.count), 1, 1,
                                   loaded.kernel.threads, 1, 1, 0, nullptr, arguments, nullptr),
                     "launching the instruction");
  }
  if (!s.ok()) return s;
  return Launch(CompareKernel(family), std::min<int64_t>(PatchCount(job), multiprocessors_ * 16),
                kPatchThreads, shared, job);
}

absl::Status ResidentRunner::CheckOperands(const CaseStream& stream, const ResidentJob& job) {
  const CudaDriver& driver = device_.driver();
  const Shape& shape = job.shape;
  Batch right;
  // The last case, and one that no pattern of launches leaves out for ever.
  const uint64_t some = (job.first + 1) * 0x9e3779b97f4a7c15 >> 20;
  for (const int64_t x : {job.count - 1, static_cast<int64_t>(some % job.count)}) {
    Generate(stream, job.first + x, 1, right);
    std::vector<uint64_t> words;
    const std::tuple<const uint64_t*, const std::vector<uint64_t>*> operands[] = {
        {job.a + x * shape.a_words(), &right.a},
        {job.b + x * shape.b_words(), &right.b},
        {job.c + x * shape.d_words(), &right.c}};
    for (const auto& [at, expected] : operands) {
      words.assign(expected->size(), 0);
      absl::Status s = driver.Check(
          driver.to_host(words.data(), reinterpret_cast<uint64_t>(at), 8 * words.size()),
          "reading operands");
      if (!s.ok()) return s;
      if (words == *expected) continue;
      return absl::DataLossError(absl::StrCat(FormatCaseName({stream, job.first + x}),
                                              ": its operands on the GPU are other than its name "
                                              "says; nothing that it finds can be trusted"));
    }
  }
  return absl::OkStatus();
}

absl::Status ResidentRunner::Collect(const CaseStream& stream, uint64_t first, uint64_t count,
                                     const ResidentJob& job, Counted& counted) {
  const CudaDriver& driver = device_.driver();
  ResidentCounters& c = counted.counters;
  absl::Status s = driver.Check(
      driver.to_host(&c, reinterpret_cast<uint64_t>(job.counters), sizeof(c)), "reading counters");
  counted.device = DigestOfLimbs(c.device_digest);
  counted.model = DigestOfLimbs(c.model_digest);
  counted.flagged.clear();
  if (s.ok() && c.flagged + c.differing > 0) {
    std::vector<uint32_t> flags(FlagWords(count));
    s = driver.Check(
        driver.to_host(flags.data(), reinterpret_cast<uint64_t>(job.flags), 4 * flags.size()),
        "reading flags");
    for (uint64_t i = 0; i < count; ++i) {
      if (flags[i / 32] >> i % 32 & 1) counted.flagged.push_back(first + i);
    }
  }
  if (!s.ok()) return s;
  const uint64_t words = count * stream.row->shape().d_words();
  if (c.generated != count || c.compared != words) {
    return absl::DataLossError(absl::StrCat(
        FormatCaseName({stream, first}), " and the ", count - 1, " cases after it: the GPU made ",
        c.generated, " cases and compared ", c.compared, " words, not ", words));
  }
  const bool clean = c.differing == 0;
  if (clean != (counted.device == counted.model) || clean != counted.flagged.empty() ||
      c.flagged != counted.flagged.size() || c.nowhere != 0) {
    return absl::DataLossError(absl::StrCat(
        FormatCaseName({stream, first}), " and the ", count - 1, " cases after it: the GPU says ",
        c.differing, " words differ, of ", c.flagged, " cases (", counted.flagged.size(),
        " marked), digests ", counted.device == counted.model ? "equal" : "different", ", ",
        c.nowhere, " executions without a trace; it contradicts itself"));
  }
  for (size_t m = 0; m < 64 * kMultiprocessorWords; ++m) {
    if (c.multiprocessors[m / 64] >> m % 64 & 1) device_.answered().set(m);
  }
  return absl::OkStatus();
}

absl::Status ResidentRunner::SelfTest(const CaseStream& stream) {
  const auto [tested, first] = tested_.try_emplace(stream.name(), absl::OkStatus());
  if (!first) return tested->second;
  const absl::Status s = TestAgainstHost(stream);
  tested->second = s;
  if (!s.ok() && !IsOfRow(s)) tested_.erase(tested);  // the device's failure, not the test's
  return s;
}

// Counts of the GPU against the host's for the same cases, by a model that may be wrong.
absl::Status ResidentRunner::TestCases(const CaseStream& stream, const Model& model, uint64_t first,
                                       uint64_t count, int64_t most_at_once, bool& found) {
  Row row = *stream.row;
  row.model = model;
  const CaseStream planted = {&row, stream.strategy, stream.seed, stream.version};
  Counted gpu;
  if (absl::Status s = Count(stream, model, first, count, most_at_once, gpu); !s.ok()) return s;
  found = gpu.counters.differing > 0;
  if (!found && !SameModel(model, stream.row->model)) return absl::OkStatus();
  UnitResult host;
  std::vector<uint64_t> cases;
  const auto note = [&](const MismatchingCase& m) {
    cases.push_back(m.name.index);
    return absl::OkStatus();
  };
  absl::Status s = UnitRunner(device_, planted).Run(first, count, host, note);
  if (!s.ok()) return s;
  const char* other = gpu.model != host.model_digest              ? "simulated bits"
                      : gpu.device != host.device_digest          ? "device bits"
                      : gpu.flagged != cases                      ? "mismatching cases"
                      : gpu.counters.differing != host.mismatches ? "counts of mismatches"
                                                                  : nullptr;
  if (other == nullptr) return s;
  return absl::InternalError(absl::StrCat(
      stream.row->name, ": the GPU-resident run gives other ", other, " than the host for the ",
      count, " cases from ", FormatCaseName({stream, first}), " in launches of at most ",
      most_at_once, "; nothing that it finds can be trusted"));
}

absl::Status ResidentRunner::TestAgainstHost(const CaseStream& stream) {
  const Model& model = stream.row->model;
  bool found = false;
  absl::Status s = TestCases(stream, model, 0, kTestCases, kMostCases, found);
  // Several launches, the last of them shorter, of cases that no run begins with.
  if (s.ok()) s = TestCases(stream, model, kFarCase, kTestCases, kTestCases / 3, found);
  for (const uint64_t cases : {kTestCases, kPlantedCases}) {
    for (const Neighbour& fault : Neighbours(model)) {
      if (!s.ok()) return s;
      const Model faulty = WithAlgorithm(*stream.row, fault.algorithm);
      if (cases == kTestCases) {
        s = TestCases(stream, faulty, 0, cases, kTestCases / 3, found);
      } else {
        Counted counted;
        s = Count(stream, faulty, 0, cases, kMostCases, counted);
        found = counted.counters.differing > 0;
      }
      if (s.ok() && found) return s;
    }
  }
  if (!s.ok()) return s;
  return absl::InternalError(
      absl::StrCat(stream.row->name, ": no planted fault was found on the GPU in ", kPlantedCases,
                   " cases, so a real one would not be either"));
}

absl::Status ResidentRunner::Confirm(const CaseStream& stream, const Counted& counted,
                                     const UnitRunner::OnMismatch& found) {
  std::map<uint64_t, FlaggedCase> details;
  const uint64_t listed = std::min<uint64_t>(counted.counters.flagged, kFlaggedCases);
  for (uint64_t i = 0; i < listed; ++i) {
    details[counted.counters.cases[i].index] = counted.counters.cases[i];
  }
  UnitRunner one_by_one(device_, stream);
  for (const uint64_t index : counted.flagged) {
    const auto detail = details.find(index);
    const FlaggedCase* flagged = detail == details.end() ? nullptr : &detail->second;
    bool same = false;
    UnitResult one;
    const absl::Status s = one_by_one.Run(index, 1, one, [&](const MismatchingCase& m) {
      same = flagged == nullptr || m.device()[flagged->element] == flagged->device;
      return same ? found(m) : absl::OkStatus();
    });
    if (!s.ok()) return s;
    if (!same) return Unconfirmed(stream, counted, index, flagged);
  }
  return absl::OkStatus();
}

absl::Status ResidentRunner::Unconfirmed(const CaseStream& stream, const Counted& counted,
                                         uint64_t index, const FlaggedCase* flagged) const {
  std::set<uint32_t> where;
  const uint64_t listed = std::min<uint64_t>(counted.counters.flagged, kFlaggedCases);
  for (uint64_t i = 0; i < listed; ++i) where.insert(counted.counters.cases[i].multiprocessor);
  const std::vector<uint32_t> some(where.begin(),
                                   std::next(where.begin(), std::min<size_t>(where.size(), 8)));
  std::string what;
  if (flagged != nullptr) {
    const Position p = PositionOf(stream.row->shape(), flagged->element);
    what = absl::StrCat(" (block ", p.block, ", row ", p.i, ", column ", p.j, " was ",
                        HexWord(*stream.row->instruction->d, flagged->device),
                        " on multiprocessor ", flagged->multiprocessor, ")");
  }
  return absl::DataLossError(
      absl::StrCat(FormatCaseName({stream, index}), ": differed on the GPU once", what,
                   ", and not so when it was asked again: the GPU or its memory may be faulty; ",
                   counted.counters.flagged, " cases were flagged, on multiprocessors ",
                   absl::StrJoin(some, " "), where.size() > some.size() ? " ..." : ""));
}

absl::Status ResidentRunner::Run(const CaseStream& stream, uint64_t first, uint64_t count,
                                 UnitResult& result, const UnitRunner::OnMismatch& found) {
  if (absl::Status s = SelfTest(stream); !s.ok()) return s;
  const uint64_t portion = PortionOf(*stream.row);
  for (uint64_t done = 0; done < count; done += portion) {
    const uint64_t n = std::min(portion, count - done);
    if (absl::Status s = RunPortion(stream, first + done, n, result, found); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status ResidentRunner::RunPortion(const CaseStream& stream, uint64_t first, uint64_t count,
                                        UnitResult& result, const UnitRunner::OnMismatch& found) {
  if (device_.StopRequested()) return absl::CancelledError("stopped");
  Counted counted;
  const Model& model = stream.row->model;
  absl::Status s = Count(stream, model, first, count, kMostCases, counted);
  if (!s.ok()) return s;
  result.cases += count;
  result.dot_products += count * stream.row->shape().d_words();
  result.mismatches += counted.counters.differing;
  result.device_digest += counted.device;
  result.model_digest += counted.model;
  for (const uint64_t index : counted.flagged) {
    if (result.mismatching_cases.size() < 100) result.mismatching_cases.push_back(index);
  }
  CountClasses(stream, first, count, result);
  EventCounter(counted.counters.events, counted.counters.traced).AddTo(model, result.counts);
  return Confirm(stream, counted, found);
}

absl::StatusOr<Digest> ResidentRunner::AnswerDigest(const CaseStream& stream, uint64_t first,
                                                    uint64_t count) {
  UnitResult result;
  const auto ignore = [](const MismatchingCase&) { return absl::OkStatus(); };
  if (absl::Status s = Run(stream, first, count, result, ignore); !s.ok()) return s;
  return result.device_digest;
}

}  // namespace mmadiff

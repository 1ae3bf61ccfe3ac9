#include "fuzz/resident.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "fuzz/events.h"
#include "sim/parameter.h"

namespace mmadiff {
namespace {

constexpr size_t kScratchBytes = size_t{1} << 30;          // of the cases of one launch
constexpr int64_t kMostCases = 1 << 18;                    // of one launch
constexpr uint64_t kTestCases = 64, kPlantedCases = 4096;  // of the self-test

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

const StrategyKind* KindOf(const Strategy& strategy) {
  static constexpr StrategyKind kKinds[] = {StrategyKind::kMixed, StrategyKind::kBoundary,
                                            StrategyKind::kBits};
  const std::span<const Strategy> all = Strategies();
  for (size_t i = 0; i < all.size(); ++i) {
    if (&all[i] == &strategy) return &kKinds[i];
  }
  return nullptr;
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

// Cases of each class among first .. first+count-1.
void CountClasses(const CaseStream& stream, uint64_t first, uint64_t count, UnitResult& result) {
  const Instruction& in = *stream.row->instruction;
  const uint64_t period = ClassPeriod(*KindOf(*stream.strategy), BoundaryClassCount(in));
  for (uint64_t i = 0; i < std::min(period, count); ++i) {
    const InputClass& input_class = stream.class_of(first + i);
    result.counts[absl::StrCat("class.", input_class.name)] += (count - i + period - 1) / period;
  }
}

}  // namespace

bool ResidentRunner::Supports(const CaseStream& stream) {
  return KindOf(*stream.strategy) != nullptr && stream.version == kGeneratorVersion &&
         CompareKernel(stream.row->model.algorithm.family) != nullptr;
}

absl::StatusOr<std::unique_ptr<ResidentRunner>> ResidentRunner::Create(Device& device,
                                                                       absl::string_view image) {
  CudaDevice* const cuda = dynamic_cast<CudaDevice*>(&device);
  if (cuda == nullptr) return absl::NotFoundError(absl::StrCat(device.name(), " is no GPU"));
  if (image.empty()) {
    return absl::NotFoundError(
        "this build has no kernels for runs on the GPU: the CUDA Toolkit "
        "was not there when it was configured");
  }
  if (absl::Status s = cuda->MakeCurrent(); !s.ok()) return s;
  const CudaDriver& driver = cuda->driver();
  void* module = nullptr;
  absl::Status s = driver.Check(driver.load_module(&module, image.data(), 0, nullptr, nullptr),
                                "loading the kernels of a run on the GPU");
  if (!s.ok()) return s;
  return std::unique_ptr<ResidentRunner>(
      new ResidentRunner(*cuda, module, std::max(1, cuda->multiprocessors())));
}

absl::StatusOr<uint64_t> ResidentRunner::Reserve(Buffers which, size_t bytes) {
  Buffer& buffer = buffers_[which];
  if (buffer.memory == nullptr || buffer.bytes < bytes) {
    buffer.memory = std::make_unique<DeviceMemory>(device_.driver());
    if (absl::Status s = buffer.memory->Allocate(bytes); !s.ok()) return s;
    buffer.bytes = bytes;
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
                                     ResidentJob& job) {
  const Instruction& in = *stream.row->instruction;
  const absl::StatusOr<const LoadedKernel*> loaded = device_.Load(*stream.row);
  if (!loaded.ok()) return loaded.status();
  const Kernel& kernel = (*loaded)->kernel;
  job.model = model;
  job.any_nan = stream.row->numerics->nan_verdict == NanVerdict::kAnyNan;
  job.shape = in.shape;
  job.seed = stream.seed;
  job.stream = StreamId(stream);
  job.strategy = *KindOf(*stream.strategy);
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

  const size_t sizes[kBuffers] = {
      8ull * cases * in.shape.a_words(), 8ull * cases * in.shape.b_words(),
      8ull * cases * in.shape.d_words(), 4ull * cases * kernel.a.words,
      4ull * cases * kernel.b.words,     4ull * cases * kernel.c.words,
      4ull * cases * kernel.d.words,     4 * table.size(),
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
                                   uint64_t count, ResidentCounters& counters) {
  if (absl::Status s = device_.MakeCurrent(); !s.ok()) return s;
  const absl::StatusOr<const LoadedKernel*> loaded = device_.Load(*stream.row);
  if (!loaded.ok()) return loaded.status();
  const Kernel& kernel = (*loaded)->kernel;
  const Shape& shape = stream.row->shape();
  const size_t bytes = 8 * (shape.a_words() + shape.b_words() + shape.d_words()) +
                       4 * (kernel.a.words + kernel.b.words + kernel.c.words + kernel.d.words);
  const int64_t at_once = std::clamp<int64_t>(
      static_cast<int64_t>(std::min<uint64_t>(count, kScratchBytes / bytes)), 1, kMostCases);
  ResidentJob job = {};
  if (absl::Status s = Prepare(stream, model, at_once, job); !s.ok()) return s;
  const CudaDriver& driver = device_.driver();
  const uint64_t counters_at = reinterpret_cast<uint64_t>(job.counters);
  counters = {};
  absl::Status s =
      driver.Check(driver.to_device(counters_at, &counters, sizeof(counters)), "clearing counters");
  const bool integers = model.algorithm.family == Family::kIntegerDot;
  const size_t shared = (kPatchRows + kPatchColumns) * shape.row_words() *
                        (integers ? sizeof(uint64_t) : sizeof(Unpacked));
  for (uint64_t done = 0; s.ok() && done < count; done += job.count) {
    job.first = first + done;
    job.count = static_cast<int64_t>(std::min<uint64_t>(at_once, count - done));
    s = Launch("generate", (job.count + 127) / 128, 128, 0, job);
    if (s.ok()) s = Launch("pack", multiprocessors_ * 8, 256, 0, job);
    void* arguments[] = {&job.packed[0].words, &job.packed[1].words, &job.packed[2].words, &job.d};
    if (s.ok()) {
      s = driver.Check(driver.launch((*loaded)->function, static_cast<unsigned>(job.count), 1, 1,
                                     kernel.threads, 1, 1, 0, nullptr, arguments, nullptr),
                       "launching the instruction");
    }
    if (s.ok()) {
      s = Launch(CompareKernel(model.algorithm.family),
                 std::min<int64_t>(PatchCount(job), multiprocessors_ * 16), kPatchThreads, shared,
                 job);
    }
  }
  if (s.ok()) s = driver.Check(driver.synchronize(), "running on the GPU");
  if (!s.ok()) return s;
  return driver.Check(driver.to_host(&counters, counters_at, sizeof(counters)), "reading counters");
}

absl::Status ResidentRunner::SelfTest(const CaseStream& stream) {
  if (tested_.count(stream.name()) != 0) return absl::OkStatus();
  const Row& row = *stream.row;
  const uint64_t few = kTestCases;
  UnitResult host;
  const auto ignore = [](const MismatchingCase&) { return absl::OkStatus(); };
  if (absl::Status s = UnitRunner(device_, stream).Run(0, few, host, ignore); !s.ok()) return s;
  ResidentCounters counters;
  if (absl::Status s = Count(stream, row.model, 0, few, counters); !s.ok()) return s;
  if (DigestOfLimbs(counters.model_digest) != host.model_digest ||
      DigestOfLimbs(counters.device_digest) != host.device_digest) {
    return absl::InternalError(absl::StrCat(
        row.name, ": the GPU-resident run gives other ",
        DigestOfLimbs(counters.model_digest) != host.model_digest ? "simulated" : "device",
        " bits than the host for the same ", few, " cases; nothing that it finds can be trusted"));
  }
  for (const uint64_t cases : {kTestCases, kPlantedCases}) {
    for (const Neighbour& fault : Neighbours(row.model)) {
      Model faulty = row.model;
      faulty.algorithm = fault.algorithm;
      if (absl::Status s = Count(stream, faulty, 0, cases, counters); !s.ok()) return s;
      if (counters.differing == 0) continue;
      tested_.insert(stream.name());
      return absl::OkStatus();
    }
  }
  return absl::InternalError(absl::StrCat(row.name, ": no planted fault was found on the GPU in ",
                                          kPlantedCases,
                                          " cases, so a real one would not be either"));
}

absl::Status ResidentRunner::Report(const CaseStream& stream, uint64_t first, uint64_t count,
                                    const ResidentCounters& counters, UnitResult& result,
                                    const UnitRunner::OnMismatch& found) {
  UnitRunner one_by_one(device_, stream);
  UnitResult again;
  absl::Status status;
  if (counters.flagged > kFlaggedCases) {
    status = one_by_one.Run(first, count, again, found);
  } else {
    const std::set<uint64_t> cases(counters.cases, counters.cases + counters.flagged);
    for (const uint64_t index : cases) {
      UnitResult one;
      status = one_by_one.Run(index, 1, one, found);
      if (status.ok() && one.mismatches == 0) {
        status = absl::DataLossError(
            absl::StrCat(FormatCaseName({stream, index}),
                         ": differed on the GPU once, and not when it was run again; the GPU or "
                         "its memory may be faulty"));
      }
      again.mismatches += one.mismatches;
      if (one.mismatches != 0 && again.mismatching_cases.size() < 100) {
        again.mismatching_cases.push_back(index);
      }
      if (!status.ok()) break;
    }
  }
  result.mismatches += again.mismatches;
  result.mismatching_cases.insert(result.mismatching_cases.end(), again.mismatching_cases.begin(),
                                  again.mismatching_cases.end());
  return status;
}

absl::Status ResidentRunner::Run(const CaseStream& stream, uint64_t first, uint64_t count,
                                 UnitResult& result, const UnitRunner::OnMismatch& found) {
  if (absl::Status s = SelfTest(stream); !s.ok()) return s;
  ResidentCounters counters;
  const Model& model = stream.row->model;
  if (absl::Status s = Count(stream, model, first, count, counters); !s.ok()) return s;
  result.cases += count;
  result.dot_products += count * stream.row->shape().d_words();
  result.device_digest += DigestOfLimbs(counters.device_digest);
  result.model_digest += DigestOfLimbs(counters.model_digest);
  CountClasses(stream, first, count, result);
  EventCounter(counters.events, counters.traced).AddTo(model, result.counts);
  return counters.differing == 0 ? absl::OkStatus()
                                 : Report(stream, first, count, counters, result, found);
}

absl::StatusOr<Digest> ResidentRunner::AnswerDigest(const CaseStream& stream, uint64_t first,
                                                    uint64_t count) {
  if (absl::Status s = SelfTest(stream); !s.ok()) return s;
  ResidentCounters counters;
  absl::Status s = Count(stream, stream.row->model, first, count, counters);
  if (!s.ok()) return s;
  return DigestOfLimbs(counters.device_digest);
}

}  // namespace mmadiff

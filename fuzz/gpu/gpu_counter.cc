#include "fuzz/gpu/gpu_counter.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "device/clock.h"
#include "device/status_macros.h"
#include "fuzz/gpu/resident_image.h"
#include "sim/parameter.h"

namespace mmadiff {
namespace {

// Maximum memory for the cases of one launch, and maximum share of the free memory. A launch ends
// with its slowest cases: the larger the launch, the less they matter.
constexpr size_t kScratchBytes = size_t{8} << 30, kScratchPart = 4;
// Other processes use memory too: if an allocation fails, half the size is tried, down to this.
constexpr size_t kMinScratchBytes = 1 << 20;
constexpr size_t kAlignment = 256;  // alignment of a buffer

struct CompareKernel {
  Path path;
  const char* name;
  size_t (*shared_bytes)(const Shape&);
};
constexpr CompareKernel kCompareKernels[] = {
    {Path::kFmaChain, "compare_fma_chain", SharedBytes<Path::kFmaChain>},
    {Path::kFusedSum, "compare_fused_sum", SharedBytes<Path::kFusedSum>},
    {Path::kScaledSum, "compare_scaled_sum", SharedBytes<Path::kScaledSum>},
    {Path::kTwoStageSum, "compare_two_stage_sum", SharedBytes<Path::kTwoStageSum>},
    {Path::kPairwiseSum, "compare_pairwise_sum", SharedBytes<Path::kPairwiseSum>},
    {Path::kExactSum, "compare_exact_sum", SharedBytes<Path::kExactSum>},
    {Path::kNarrowSum, "compare_narrow_sum", SharedBytes<Path::kNarrowSum>},
    {Path::kNarrowF32, "compare_narrow_f32", SharedBytes<Path::kNarrowF32>},
    {Path::kNarrowF16, "compare_narrow_f16", SharedBytes<Path::kNarrowF16>},
    {Path::kGroupSum, "compare_group_sum", SharedBytes<Path::kGroupSum>},
    {Path::kInteger, "compare_integer_dot", SharedBytes<Path::kInteger>},
};

const CompareKernel& CompareKernelOf(const Model& model) {
  static_assert(std::size(kCompareKernels) == static_cast<size_t>(Path::kInteger) + 1);
  return *std::ranges::find(kCompareKernels, PathOf(model), &CompareKernel::path);
}

template <Path kPath>
bool IsKnown(const Model& m) {
  Model known = m;
  SetKnown<kPath>(known);
  known.c.name = known.d.name = (kPath == Path::kNarrowF16 ? kF16 : kF32).name;
  return SameModel(known, m);
}

// The elements that make up each word of an operand: the inverse of its slots.
std::vector<Gathers> GathersOf(const OperandWords& operand, int bits, int& parts_per_word) {
  const int groups = (operand.words + kPackedWords - 1) / kPackedWords;
  std::vector<std::vector<Gather>> by_word(groups * kPackedWords);
  for (size_t e = 0; e < operand.slots.size(); ++e) {
    const auto [word, bit] = operand.slots[e];
    const uint16_t element = static_cast<uint16_t>(e);
    by_word[word].push_back({element, static_cast<int16_t>(bit)});
    if (bit + bits > 32) by_word[word + 1].push_back({element, static_cast<int16_t>(bit - 32)});
  }
  for (const OperandWords::Copy& copy : operand.copies) by_word[copy.to] = by_word[copy.from];
  size_t parts = 0;
  for (const std::vector<Gather>& word : by_word) parts = std::max(parts, word.size());
  std::vector<Gathers> gathers(groups * parts);
  for (size_t i = 0; i < gathers.size() * kPackedWords; ++i) {
    const size_t group = i / (parts * kPackedWords), part = i / kPackedWords % parts;
    const std::vector<Gather>& word = by_word[group * kPackedWords + i % kPackedWords];
    gathers[i / kPackedWords].of[i % kPackedWords] = part < word.size() ? word[part] : kNoPart;
  }
  parts_per_word = static_cast<int>(parts);
  return gathers;
}

Digest DigestOfLimbs(const uint64_t (&limbs)[4]) {
  Digest digest = 0;
  for (int i = 0; i < 4; ++i) digest += static_cast<Digest>(limbs[i]) << 32 * i;
  return digest;
}

size_t FlagWords(uint64_t cases) { return (cases + 31) / 32; }

}  // namespace

Path PathOf(const Model& model) {
  if (HasNarrowRows(model)) {
    return IsKnown<Path::kNarrowF32>(model)   ? Path::kNarrowF32
           : IsKnown<Path::kNarrowF16>(model) ? Path::kNarrowF16
                                              : Path::kNarrowSum;
  }
  if (HasNarrowGroups(model)) return Path::kGroupSum;
  switch (model.algorithm.family) {
    case Family::kFusedSum:
      return Path::kFusedSum;
    case Family::kScaledSum:
      return Path::kScaledSum;
    case Family::kTwoStageSum:
      return Path::kTwoStageSum;
    case Family::kPairwiseSum:
      return Path::kPairwiseSum;
    case Family::kExactSum:
      return Path::kExactSum;
    case Family::kIntegerDot:
      return Path::kInteger;
    default:
      return Path::kFmaChain;
  }
}

std::vector<const char*> ResidentKernels(const Model& model) {
  return {"generate", CompareKernelOf(model).name, "trace"};
}

bool GpuCounter::Supports(const CaseStream& stream) {
  const Model& model = stream.op->model;
  const Shape& shape = stream.op->shape();
  const Family family = model.algorithm.family;
  return stream.version == kGeneratorVersion && !stream.op->instruction->sparse() &&
         std::max({shape.a_words(), shape.b_words(), shape.d_words()}) <= kMaxPacked &&
         (family == Family::kFmaChain || PathOf(model) != Path::kFmaChain) &&
         (family != Family::kIntegerDot || HasNarrowIntegers(model));
}

absl::StatusOr<std::unique_ptr<GpuCounter>> GpuCounter::Create(GpuDevice& device,
                                                               absl::string_view image) {
  if (image.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("cases are generated and compared on the host, which is slow: this build has "
                     "no kernels for runs on the GPU, because ",
                     WhyNoResidentImage(device.target())));
  }
  RETURN_IF_ERROR(device.MakeCurrent());
  const GpuDriver& driver = device.driver();
  void* module = nullptr;
  RETURN_IF_ERROR(driver.Check(driver.LoadModule(&module, image.data()),
                               "loading the kernels of a run on the GPU"));
  return std::unique_ptr<GpuCounter>(new GpuCounter(device, module));
}

absl::StatusOr<uint64_t> GpuCounter::Reserve(size_t bytes) {
  if (memory_ == nullptr || reserved_ < bytes) {
    memory_ = nullptr;  // frees the old memory first
    auto memory = std::make_unique<DeviceMemory>(driver_);
    RETURN_IF_ERROR(memory->Allocate(bytes));
    memory_ = std::move(memory);
    reserved_ = bytes;
  }
  return *memory_->address();
}

absl::StatusOr<size_t> GpuCounter::ScratchBytes() {
  if (scratch_ != 0) return scratch_;
  size_t free = 0, total = 0;
  RETURN_IF_ERROR(driver_.Check(driver_.memory(&free, &total), "querying free memory"));
  return scratch_ = std::clamp<size_t>(free / kScratchPart, 1, kScratchBytes);
}

absl::StatusOr<void*> GpuCounter::Function(const std::string& name) {
  void*& function = functions_[name];
  if (function != nullptr) return function;
  RETURN_IF_ERROR(driver_.Check(driver_.get_function(&function, module_, name.c_str()),
                                absl::StrCat("finding the kernel ", name)));
  return function;
}

LaunchShape LaunchShapeOf(absl::string_view kernel, const ResidentJob& job,
                          int64_t blocks_at_once) {
  if (kernel == "generate") {
    return {(job.count + kGenerateThreads - 1) / kGenerateThreads, kGenerateThreads, 0};
  }
  constexpr int64_t kTracedByBlock = 32 * kTraceEvery;
  if (kernel == "trace") return {job.count / kTracedByBlock + 1, 32, 0};
  const CompareKernel& compare = CompareKernelOf(job.model);
  const int64_t groups = (job.count + kInterleaved - 1) / kInterleaved;
  return {std::min<int64_t>(groups, blocks_at_once), kPatchThreads,
          compare.shared_bytes(job.shape)};
}

absl::Status GpuCounter::Launch(const std::string& kernel, ResidentJob& job) {
  ASSIGN_OR_RETURN(void* function, Function(kernel));
  LaunchShape shape = LaunchShapeOf(kernel, job, 1);
  int blocks = 0;
  RETURN_IF_ERROR(
      driver_.Check(driver_.blocks_at_once(&blocks, function, shape.threads, shape.shared_bytes),
                    absl::StrCat("querying how many blocks of the kernel ", kernel, " fit")));
  shape =
      LaunchShapeOf(kernel, job, int64_t{std::max(1, device_.processors())} * std::max(1, blocks));
  void* arguments[] = {&job};
  RETURN_IF_ERROR(driver_.Check(
      driver_.launch(function, static_cast<unsigned>(shape.blocks), 1, 1, shape.threads, 1, 1,
                     static_cast<unsigned>(shape.shared_bytes), nullptr, arguments, nullptr),
      absl::StrCat("launching the kernel ", kernel)));
  return Timed(kernel);
}

absl::Status GpuCounter::Timed(const std::string& kernel) {
  if (seconds_ == nullptr) return absl::OkStatus();
  const absl::Status s = Wait();
  const auto now = MonotonicNow();
  (*seconds_)[kernel] += absl::ToDoubleSeconds(now - timed_);
  timed_ = now;
  return s;
}

absl::Status GpuCounter::Prepare(const CaseStream& stream, const Model& model, int64_t cases,
                                 uint64_t counted, ResidentJob& job) {
  const Instruction& in = *stream.op->instruction;
  ASSIGN_OR_RETURN(const LoadedKernel* loaded, device_.Load(*stream.op));
  const Kernel& kernel = loaded->kernel;
  job.model = model;
  if (HasNarrowRows(model)) {
    job.narrow_a = NarrowFormatOf(model.a, NarrowUp(model), model.algorithm.product_exponent);
    job.narrow_b = NarrowFormatOf(model.b, 0, model.algorithm.product_exponent);
    job.narrow_scale = NarrowFormatOf(model.scale, 0);
  }
  job.any_nan = stream.op->numerics->nan_verdict == NanVerdict::kAnyNan;
  job.shape = in.shape;
  job.seed = stream.seed;
  job.stream = StreamId(stream);
  job.strategy = KindOn(*stream.strategy, in);
  job.d_words = kernel.d.words;

  const OperandWords* const operands[3] = {&kernel.a, &kernel.b, &kernel.c};
  const int bits[3] = {in.a->bits, in.b->bits, in.c->bits};
  // One table: the parts of A, B and C, then the slots of D.
  std::vector<Gathers> parts;
  size_t parts_at[3];
  for (int o = 0; o < 3; ++o) {
    parts_at[o] = parts.size();
    const std::vector<Gathers> more =
        GathersOf(*operands[o], bits[o], job.packed[o].parts_per_word);
    parts.insert(parts.end(), more.begin(), more.end());
  }
  const size_t slots_at = sizeof(Gathers) * parts.size();
  std::vector<char> table(slots_at + sizeof(Slot) * kernel.d.slots.size());
  std::memcpy(table.data(), parts.data(), slots_at);
  std::memcpy(&table[slots_at], kernel.d.slots.data(), table.size() - slots_at);

  const int64_t tiles = (cases + kInterleaved - 1) / kInterleaved * kInterleaved;
  const size_t sizes[kBuffers] = {8ull * tiles * in.shape.a_words(),
                                  8ull * tiles * in.shape.b_words(),
                                  8ull * tiles * in.shape.d_words(),
                                  4ull * cases * kernel.a.words,
                                  4ull * cases * kernel.b.words,
                                  4ull * cases * kernel.c.words,
                                  4ull * cases * kernel.d.words,
                                  4ull * cases,
                                  4 * FlagWords(counted),
                                  table.size(),
                                  sizeof(ResidentCounters)};
  uint64_t at[kBuffers];
  size_t end = 0;
  for (int b = 0; b < kBuffers; ++b) {
    at[b] = end;
    end += (sizes[b] + kAlignment - 1) / kAlignment * kAlignment;
  }
  ASSIGN_OR_RETURN(const uint64_t begin, Reserve(end));
  for (uint64_t& address : at) address += begin;
  job.a = reinterpret_cast<uint64_t*>(at[kA]);
  job.b = reinterpret_cast<uint64_t*>(at[kB]);
  job.c = reinterpret_cast<uint64_t*>(at[kC]);
  job.d = reinterpret_cast<const uint32_t*>(at[kD]);
  job.where = reinterpret_cast<const uint32_t*>(at[kWhere]);
  job.flags = reinterpret_cast<uint32_t*>(at[kFlags]);
  job.counters = reinterpret_cast<ResidentCounters*>(at[kCounters]);
  for (int o = 0; o < 3; ++o) {
    job.packed[o].words = reinterpret_cast<uint32_t*>(at[kPackedA + o]);
    job.packed[o].parts = reinterpret_cast<const Gathers*>(at[kTables]) + parts_at[o];
    job.packed[o].words_per_case = operands[o]->words;
  }
  job.d_slots = reinterpret_cast<const Slot*>(at[kTables] + slots_at);
  return driver_.Check(driver_.to_device(at[kTables], table.data(), table.size()),
                       "copying tables to the GPU");
}

absl::Status GpuCounter::Count(const CaseStream& stream, const Model& model, uint64_t first,
                               uint64_t count, int64_t most_at_once, Counted& counted) {
  if (HasUnusual(model.algorithm)) {
    return absl::UnimplementedError("this model is simulated on the host alone");
  }
  RETURN_IF_ERROR(device_.MakeCurrent());
  ASSIGN_OR_RETURN(const LoadedKernel* loaded, device_.Load(*stream.op));
  const Kernel& kernel = loaded->kernel;
  const Shape& shape = stream.op->shape();
  const size_t bytes = 8 * (shape.a_words() + shape.b_words() + shape.d_words()) +
                       4 * (kernel.a.words + kernel.b.words + kernel.c.words + kernel.d.words);
  RETURN_IF_ERROR(ScratchBytes().status());
  ResidentJob job = {};
  int64_t at_once = 0;
  for (;; scratch_ /= 2) {
    const uint64_t most =
        std::clamp<uint64_t>(scratch_ / bytes, 1, static_cast<uint64_t>(most_at_once));
    const uint64_t launches =
        std::max<uint64_t>(1, (count + most - 1) / most);  // launches of about equal size
    at_once = static_cast<int64_t>((count + launches - 1) / launches);
    const absl::Status s = Prepare(stream, model, at_once, count, job);
    if (s.ok()) break;
    if (IsNoRoom(s) && scratch_ >= 2 * kMinScratchBytes) continue;
    scratch_ = 0;  // more memory may be free later
    return s;
  }
  job.counted_from = first;
  RETURN_IF_ERROR(Clear(count, job));
  for (uint64_t done = 0; done < count; done += job.count) {
    job.first = first + done;
    job.count = static_cast<int64_t>(std::min<uint64_t>(at_once, count - done));
    job.places = PlacesOf(job.count, ClassPeriod(job.strategy, BoundaryClassCount(job.kind())));
    RETURN_IF_ERROR(Execute(*loaded, job));
    RETURN_IF_ERROR(Wait());
    RETURN_IF_ERROR(CheckOperands(stream, job));
  }
  return Collect(stream, first, count, job, counted);
}

// Call it before reading anything: a copy would wait for a kernel that never ends.
absl::Status GpuCounter::Wait() {
  return driver_.Wait("running on the GPU", [this] { return device_.StopRequested(); });
}

absl::Status GpuCounter::Clear(uint64_t count, const ResidentJob& job) {
  const ResidentCounters zeros = {};
  RETURN_IF_ERROR(driver_.Check(
      driver_.to_device(reinterpret_cast<uint64_t>(job.counters), &zeros, sizeof(zeros)),
      "clearing counters"));
  return driver_.Check(driver_.fill(reinterpret_cast<uint64_t>(job.flags), 0, FlagWords(count)),
                       "clearing flags");
}

absl::Status GpuCounter::Execute(const LoadedKernel& loaded, ResidentJob& job) {
  const uint64_t d = reinterpret_cast<uint64_t>(job.d),
                 where = reinterpret_cast<uint64_t>(job.where);
  RETURN_IF_ERROR(Timed("before"));
  RETURN_IF_ERROR(Launch("generate", job));
  RETURN_IF_ERROR(
      driver_.Check(driver_.fill(d, FillPattern(), job.count * job.d_words), "filling results"));
  RETURN_IF_ERROR(driver_.Check(driver_.fill(where, kNowhere, job.count), "filling numbers"));
  RETURN_IF_ERROR(Timed("fill"));
  void* arguments[] = {&job.packed[0].words, &job.packed[1].words,  &job.packed[2].words, &job.d,
                       &job.where,           device_.LastArgument()};
  RETURN_IF_ERROR(
      driver_.Check(driver_.launch(loaded.function, static_cast<unsigned>(job.count), 1, 1,
                                   loaded.kernel.threads, 1, 1, 0, nullptr, arguments, nullptr),
                    "launching the instruction"));
  RETURN_IF_ERROR(Timed("instruction"));
  RETURN_IF_ERROR(Launch(CompareKernelOf(job.model).name, job));
  return Launch("trace", job);
}

absl::Status GpuCounter::CheckOperands(const CaseStream& stream, const ResidentJob& job) {
  const Shape& shape = job.shape;
  Batch right;
  // The last case, and a case that no pattern of launches always skips.
  const uint64_t some = (job.first + 1) * 0x9e3779b97f4a7c15 >> 20;
  for (const int64_t place : {job.count - 1, static_cast<int64_t>(some % job.count)}) {
    const uint64_t index = job.first + CaseAt(job.places, static_cast<uint32_t>(place));
    Generate(stream, index, 1, right);
    std::vector<uint64_t> tiles, words;
    const std::tuple<const uint64_t*, int, const std::vector<uint64_t>*> operands[] = {
        {job.a, shape.a_words(), &right.a},
        {job.b, shape.b_words(), &right.b},
        {job.c, shape.d_words(), &right.c}};
    for (const auto& [at, count, expected] : operands) {
      // The tiles interleaved with this one.
      const int64_t first = place / kInterleaved * kInterleaved;
      tiles.resize(int64_t{count} * kInterleaved);
      RETURN_IF_ERROR(driver_.Check(
          driver_.to_host(tiles.data(), reinterpret_cast<uint64_t>(at + first * count),
                          8 * tiles.size()),
          "reading operands"));
      words.clear();
      for (int i = 0; i < count; ++i) words.push_back(WordAt(&tiles[place - first], i));
      if (words == *expected) continue;
      return absl::DataLossError(absl::StrCat(FormatCaseName({stream, index}),
                                              ": its operands on the GPU differ from those of its "
                                              "name; none of the GPU's findings can be trusted"));
    }
  }
  return absl::OkStatus();
}

absl::Status GpuCounter::Collect(const CaseStream& stream, uint64_t first, uint64_t count,
                                 const ResidentJob& job, Counted& counted) {
  ResidentCounters& c = counted.counters;
  RETURN_IF_ERROR(
      driver_.Check(driver_.to_host(&c, reinterpret_cast<uint64_t>(job.counters), sizeof(c)),
                    "reading counters"));
  counted.device = DigestOfLimbs(c.device_digest);
  counted.model = DigestOfLimbs(c.model_digest);
  counted.flagged.clear();
  if (c.flagged + c.differing > 0) {
    std::vector<uint32_t> flags(FlagWords(count));
    RETURN_IF_ERROR(driver_.Check(
        driver_.to_host(flags.data(), reinterpret_cast<uint64_t>(job.flags), 4 * flags.size()),
        "reading flags"));
    for (uint64_t i = 0; i < count; ++i) {
      if (flags[i / 32] >> i % 32 & 1) counted.flagged.push_back(first + i);
    }
  }
  const uint64_t words = count * stream.op->shape().d_words();
  if (c.generated != count || c.compared != words) {
    return absl::DataLossError(absl::StrCat(FormatCaseName({stream, first}), " and the ", count - 1,
                                            " cases after it: the GPU generated ", c.generated,
                                            " cases and compared ", c.compared, " words, not ",
                                            words));
  }
  const bool clean = c.differing == 0;
  if (clean != (counted.device == counted.model) || clean != counted.flagged.empty() ||
      c.flagged != counted.flagged.size() || c.nowhere != 0) {
    return absl::DataLossError(
        absl::StrCat(FormatCaseName({stream, first}), " and the ", count - 1,
                     " cases after it: the GPU reports that ", c.differing, " words differ in ",
                     c.flagged, " cases (", counted.flagged.size(), " marked), digests ",
                     counted.device == counted.model ? "equal" : "different", ", ", c.nowhere,
                     " executions without a trace, which is contradictory"));
  }
  for (size_t m = 0; m < 64 * kMultiprocessorWords; ++m) {
    if (c.multiprocessors[m / 64] >> m % 64 & 1) device_.answered().set(m);
  }
  return absl::OkStatus();
}

}  // namespace mmadiff

#include "device/blas/library.h"

#include <dlfcn.h>
#include <link.h>

#include <filesystem>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "device/blas/control.h"
#include "device/blas/environment.h"
#include "device/blas/multiply.h"
#include "device/blas/options.h"
#include "device/blas/routine.h"
#include "device/blas/trial.h"
#include "device/host_instruction.h"
#include "device/plain_text.h"
#include "device/program_files.h"
#include "device/status_macros.h"

namespace mmadiff {
namespace {

using blas::Control, blas::Maker, blas::Options, blas::Routine;

constexpr int64_t kTrialSize = 64;  // m, n and k of the first product: enough for the large kernels

struct Opened {
  void* library;
  Routine routine;
  Control control;
  int integer_bits;
  std::string environment;  // while it was opened
};

// The names to give dlopen(), in this order.
std::vector<std::string> FileNames(const std::string& library) {
  if (absl::StrContains(library, '/') || absl::StrContains(library, ".so")) return {library};
  const std::string base = absl::StrCat("lib", library, ".so");
  std::vector<std::string> names = {absl::StrCat(base, ".0"), base};
  for (int version = 9; version > 0; --version) names.push_back(absl::StrCat(base, ".", version));
  return names;
}

absl::StatusOr<void*> OpenFirst(const std::string& library) {
  std::string first;
  for (const std::string& name : FileNames(library)) {
    void* const opened = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (opened != nullptr) return opened;
    const std::string why = dlerror();
    if (first.empty()) first = why;
  }
  return absl::NotFoundError(
      absl::StrCat("no library '", PlainLine(library), "' can be opened: ", PlainLine(first),
                   "; give the name of one that is installed, such as openblas, or its path"));
}

absl::Status UseCoreType(const Control& control, const std::string& wanted,
                         blas::TemporaryEnvironment& environment) {
  if (control.maker() == Maker::kMkl || control.maker() == Maker::kOther) {
    return absl::InvalidArgumentError(
        "device 'blas:': coretype is for OpenBLAS and BLIS; for MKL set MKL_ENABLE_INSTRUCTIONS");
  }
  RETURN_IF_ERROR(control.ChooseCoreType(wanted, environment));
  const std::string used = control.CoreType();
  if (absl::EqualsIgnoreCase(used, wanted)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("device 'blas:': coretype is ", wanted, ", but the library uses ", used,
                   "; it does not have the other, or this process has loaded it before"));
}

absl::Status UseThreads(const Control& control, int threads) {
  control.SetThreads(threads);
  const int used = control.Threads();
  if (used == 0 || used == threads) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("device 'blas:': threads is ", threads, ", but the library uses ", used));
}

// Libraries read the environment while they are loaded, or at their first call, in IntegerBits().
absl::StatusOr<Opened> Load(const Options& options) {
  constexpr char kOpenBlasCoreType[] = "OPENBLAS_CORETYPE";
  blas::TemporaryEnvironment environment;
  if (options.threads > 0) environment.SetThreads(options.threads);
  if (!options.core_type.empty()) environment.Set(kOpenBlasCoreType, options.core_type);
  ASSIGN_OR_RETURN(void* const library, OpenFirst(options.library));
  ASSIGN_OR_RETURN(const Routine routine,
                   blas::FindRoutine(library, options.library, options.is_double));
  const Control control(library, routine);
  if (control.maker() != Maker::kOpenBlas) environment.Restore(kOpenBlasCoreType);
  if (!options.core_type.empty()) {
    RETURN_IF_ERROR(UseCoreType(control, options.core_type, environment));
  }
  const int integer_bits = blas::IntegerBits(library, routine);
  if (options.threads > 0) RETURN_IF_ERROR(UseThreads(control, options.threads));
  return Opened{library, routine, control, integer_bits, blas::Environment()};
}

// The file that the loader found.
std::string PathOf(void* library) {
  link_map* map = nullptr;
  return dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 ? map->l_name : "";
}

std::string StorageText(const Options& options) {
  std::string text = options.by_columns ? "by columns" : "by rows";
  if (options.transpose_a) text += ", A transposed";
  if (options.transpose_b) text += ", B transposed";
  return text;
}

Identity IdentityOf(const Opened& opened, const Options& options) {
  const std::string path = PathOf(opened.library);
  const int threads = opened.control.Threads();
  Identity identity = HostIdentity();
  identity.Add("library", std::filesystem::path(path).filename().string());
  identity.Add("files", ProgramFiles(absl::StrCat("'", path, "'")).Describe());
  identity.Add("library_version", opened.control.Version());
  identity.Add("core_type", opened.control.CoreType());
  identity.Add("threads", threads == 0 ? "" : absl::StrCat(threads));
  identity.Add("integers", absl::StrCat(opened.integer_bits));
  identity.Add("routine", opened.routine.symbol);
  identity.Add("storage", StorageText(options));
  const ProductFactors& factors = options.factors;
  identity.Add("alpha", factors.alpha == 1 ? "" : FactorText(factors.alpha));
  identity.Add("beta", factors.beta == 0 ? "" : FactorText(factors.beta));
  return identity.Add("environment", opened.environment);
}

class BlasDevice : public MatrixDevice {
 public:
  BlasDevice(absl::string_view specification, Options options, const Opened& opened)
      : name_(absl::StrCat("blas:", specification)),
        options_(std::move(options)),
        opened_(opened),
        identity_(IdentityOf(opened_, options_)) {}

  std::string name() const override { return name_; }
  Identity identity() const override { return identity_; }
  MatrixFormats formats() const override {
    const Format* const format = options_.is_double ? &kF64 : &kF32;
    return {format, format, format};
  }
  ProductFactors factors() const override { return options_.factors; }

 private:
  absl::Status Execute(const MatrixProduct& product) override {
    // Another device of the same library may have changed it.
    if (options_.threads > 0) opened_.control.SetThreads(options_.threads);
    return blas::Multiply(opened_.routine, opened_.integer_bits, options_, product);
  }

  const std::string name_;
  const Options options_;
  const Opened opened_;
  const Identity identity_;
};

// One product of zeros.
void UseOnce(const Options& options) {
  const absl::StatusOr<Opened> opened = Load(options);
  if (!opened.ok()) return;
  const uint64_t zero = 0;
  const int bits = options.is_double ? 64 : 32;
  const Words words = {reinterpret_cast<const unsigned char*>(&zero), 0, 0, bits};
  std::vector<uint64_t> d(kTrialSize * kTrialSize);
  const MutableWords out = {reinterpret_cast<unsigned char*>(d.data()), kTrialSize, 1, bits};
  (void)blas::Multiply(opened->routine, opened->integer_bits, options,
                       {kTrialSize, kTrialSize, kTrialSize, words, words, out, words});
}

}  // namespace

absl::StatusOr<std::unique_ptr<MatrixDevice>> OpenBlas(absl::string_view specification) {
  ASSIGN_OR_RETURN(const Options options, blas::ParseOptions(specification));
  const absl::Status tried = blas::TryInChild([&] { UseOnce(options); });
  if (!tried.ok()) {
    return absl::Status(tried.code(),
                        absl::StrCat(PlainLine(options.library), ": ", tried.message()));
  }
  ASSIGN_OR_RETURN(const Opened opened, Load(options));
  return std::make_unique<BlasDevice>(specification, options, opened);
}

}  // namespace mmadiff

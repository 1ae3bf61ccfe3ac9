// The identity of the device that really answers, as facts for provenance. Devices with equal
// identities give the same answers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mmadiff {

// A kind of fact. Keys are stored; `before` and `after` surround the value in the names of
// identities.
struct IdentityKey {
  const char* key;
  const char* before;
  const char* after = "";
};

// In the order of names. Never change a row: see Name().
inline constexpr IdentityKey kIdentityKeys[] = {
    {"name", ""},
    {"hardware", ""},  // a CPU or GPU, by its own name or its driver's
    {"mig_multiprocessors", ", MIG instance with ", " multiprocessors"},
    {"multiprocessors", ", ", " multiprocessors"},
    {"compute_units", ", ", " compute units"},
    {"clock_mhz", ", ", " MHz"},
    {"family", ", family "},  // x86 CPUs: CPUID leaf 1
    {"model", " model "},
    {"stepping", " stepping "},
    {"hypervisor", ", ", " machine"},  // "virtual"
    {"microcode", ", microcode "},
    {"target", ", "},  // the architecture of the kernels
    {"driver", ", driver "},
    {"driver_of_cuda", ", driver of CUDA "},  // if its release is not known
    {"cuda", " of CUDA "},
    {"amdgpu", ", amdgpu "},  // release of the kernel module
    {"linux", ", amdgpu of Linux "},
    {"kernel_driver", ", "},
    {"hip", ", HIP "},
    {"ptx", ", PTX ", " assembled by the driver"},
    {"assembler", ", machine code of "},
    {"assembled_by", ", kernels assembled by "},
    {"mode", ", with "},
    {"model_version", "simulator, model version "},
    {"fault", ", with "},
    {"command", "external program `", "`"},
    {"files", " (", ")"},              // name and hash of each, comma separated
    {"recorded", ""},                  // the device that a recording names
    {"recorded_in", "recorded in "},   // the folder of a recording that names no device
    {"contents", ", contents xxh3 "},  // hash of a recording
    {"descriptors", "descriptors "},   // numbers of a peer's descriptors
    {"interpreted", "machine code of ", " executed on the host"},  // of an assembler or a file
    {"variants", ", with "},
    {"native_model", ", native instructions of model version "},
    {"library", ", "},  // the file of a library that multiplies matrices
    {"library_version", ", "},
    {"core_type", ", core type "},  // whose kernels the library uses
    {"threads", ", threads "},
    {"integers", ", integers of ", " bits"},
    {"routine", ", "},
    {"storage", ", matrices "},  // how the routine gets them
    {"alpha", ", alpha "},       // if it is not 1
    {"beta", ", beta "},         // if it is not 0
    {"environment", ", "},       // variables that the library reads
    {"formats", ", formats "},   // of A, B and D
    {"machine", ", on "},        // on which the program runs
};

// nullptr if no key has this name.
constexpr const IdentityKey* FindIdentityKey(std::string_view key) {
  for (const IdentityKey& k : kIdentityKeys) {
    if (k.key == key) return &k;
  }
  return nullptr;
}

// A name in kIdentityKeys; any other name does not compile.
struct KnownKey {
  consteval KnownKey(const char* name)  // NOLINT: so that it is a name
      : key(FindIdentityKey(name)) {
    if (key == nullptr) throw "no key";
  }
  const IdentityKey* const key;
};

struct Identity {
  struct Fact {
    const IdentityKey* key;
    std::string value;
  };
  std::vector<Fact> facts;

  // Appends a fact, as one line of printable text, unless its value is empty.
  Identity& Add(KnownKey key, std::string value);
  // An identity whose facts are not known: for test devices, and for files from before facts were
  // stored.
  static Identity Named(std::string name);

  bool empty() const { return facts.empty(); }
};

// "simulator, model version 4, with fraction_bits=24". Files from before facts were stored contain
// only this name, so no name may ever change.
std::string Name(const Identity& identity);

// The part of the name that differs from the other identity: facts that differ, and of the fact
// "files" only the files that differ. The whole name if that is empty.
std::string NameBeside(const Identity& identity, const Identity& other);

// Equal facts in the same order; equal names where one is Named().
bool operator==(const Identity& a, const Identity& b);

}  // namespace mmadiff

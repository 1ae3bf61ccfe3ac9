// What really answers, as facts for provenance. A device of an equal identity gives the same answers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mmadiff {

// A kind of fact. Keys are stored; before and after surround the value in names of identities.
struct IdentityKey {
  const char* key;
  const char* before;
  const char* after = "";
};

// In the order of names. Never change a row: see Name().
inline constexpr IdentityKey kIdentityKeys[] = {
    {"name", ""},
    {"hardware", ""},  // a CPU or GPU, as it or its driver says
    {"mig_multiprocessors", ", MIG instance with ", " multiprocessors"},
    {"multiprocessors", ", ", " multiprocessors"},
    {"compute_units", ", ", " compute units"},
    {"clock_mhz", ", ", " MHz"},
    {"family", ", family "},  // of an x86 CPU, CPUID leaf 1
    {"model", " model "},
    {"stepping", " stepping "},
    {"hypervisor", ", ", " machine"},  // "virtual"
    {"microcode", ", microcode "},
    {"target", ", "},  // the architecture of the kernels
    {"driver", ", driver "},
    {"driver_of_cuda", ", driver of CUDA "},  // where its release is not known
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
    {"recorded", ""},                  // who answered, says a recording
    {"recorded_in", "recorded in "},   // a recording that does not say who answered
    {"contents", ", contents xxh3 "},  // of a recording
    {"descriptors", "descriptors "},   // of whoever is at their other ends
};

// nullptr: none has this name.
constexpr const IdentityKey* FindIdentityKey(std::string_view key) {
  for (const IdentityKey& k : kIdentityKeys) {
    if (k.key == key) return &k;
  }
  return nullptr;
}

// A name of kIdentityKeys, or it does not compile.
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
  // One whose facts are not known: of test devices and of files from before facts were stored.
  static Identity Named(std::string name);

  bool empty() const { return facts.empty(); }
};

// "simulator, model version 4, with fraction_bits=24". Files from before facts were stored have nothing else, so none may
// ever change.
std::string Name(const Identity& identity);

// What of the name the other identity has not: facts that differ, and of files those alone. The whole name where that
// is nothing.
std::string NameBeside(const Identity& identity, const Identity& other);

// Equal facts in the same order; equal names where one is Named().
bool operator==(const Identity& a, const Identity& b);

}  // namespace mmadiff

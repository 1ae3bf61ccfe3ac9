#include "device/identity.h"

#include <algorithm>
#include <cstdlib>

#include "device/plain_text.h"

namespace mmadiff {
namespace {

// In the order of names. Never change a row: see Name().
constexpr IdentityKey kKeys[] = {
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
};

}  // namespace

std::span<const IdentityKey> IdentityKeys() { return kKeys; }

const IdentityKey* FindIdentityKey(std::string_view key) {
  const auto found =
      std::ranges::find(kKeys, key, [](const IdentityKey& k) { return std::string_view(k.key); });
  return found == std::end(kKeys) ? nullptr : found;
}

Identity& Identity::Add(std::string_view key, std::string value) {
  const IdentityKey* const known = FindIdentityKey(key);
  if (known == nullptr) std::abort();
  if (!value.empty()) facts.push_back({known, PlainLine(value)});
  return *this;
}

Identity Identity::Named(std::string name) {
  Identity identity;
  if (!name.empty()) identity.facts.push_back({&kKeys[0], std::move(name)});
  return identity;
}

std::string Name(const Identity& identity) {
  std::string name;
  for (const auto& [key, value] : identity.facts) name += key->before + value + key->after;
  return name;
}

bool operator==(const Identity& a, const Identity& b) {
  const auto named = [](const Identity& i) { return i.empty() || i.facts[0].key == &kKeys[0]; };
  if (named(a) || named(b)) return Name(a) == Name(b);
  return std::ranges::equal(a.facts, b.facts, [](const Identity::Fact& x, const Identity::Fact& y) {
    return x.key == y.key && x.value == y.value;
  });
}

}  // namespace mmadiff

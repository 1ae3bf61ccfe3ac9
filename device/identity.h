// What really answers, as facts for provenance. A device of an equal identity gives the same answers.
#pragma once

#include <span>
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

struct Identity {
  struct Fact {
    const IdentityKey* key;
    std::string value;
  };
  std::vector<Fact> facts;

  // Appends a fact, as one line of printable text, unless its value is empty. `key` must be one of IdentityKeys().
  Identity& Add(std::string_view key, std::string value);
  // One whose facts are not known: of test devices and of files from before facts were stored.
  static Identity Named(std::string name);

  bool empty() const { return facts.empty(); }
};

std::span<const IdentityKey> IdentityKeys();
// nullptr: none has this name.
const IdentityKey* FindIdentityKey(std::string_view key);

// "simulator, model version 4, with fraction_bits=24". Files from before facts were stored have nothing else, so none may
// ever change.
std::string Name(const Identity& identity);

// Equal facts in the same order; equal names where one is Named().
bool operator==(const Identity& a, const Identity& b);

}  // namespace mmadiff

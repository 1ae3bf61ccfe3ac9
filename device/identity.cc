#include "device/identity.h"

#include <algorithm>

#include "device/plain_text.h"

namespace mmadiff {
Identity& Identity::Add(KnownKey key, std::string value) {
  if (!value.empty()) facts.push_back({key.key, PlainLine(value)});
  return *this;
}

Identity Identity::Named(std::string name) {
  Identity identity;
  if (!name.empty()) identity.facts.push_back({&kIdentityKeys[0], std::move(name)});
  return identity;
}

std::string Name(const Identity& identity) {
  std::string name;
  for (const auto& [key, value] : identity.facts) name += key->before + value + key->after;
  return name;
}

bool operator==(const Identity& a, const Identity& b) {
  const auto named = [](const Identity& i) {
    return i.empty() || i.facts[0].key == &kIdentityKeys[0];
  };
  if (named(a) || named(b)) return Name(a) == Name(b);
  return std::ranges::equal(a.facts, b.facts, [](const Identity::Fact& x, const Identity::Fact& y) {
    return x.key == y.key && x.value == y.value;
  });
}

}  // namespace mmadiff

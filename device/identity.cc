#include "device/identity.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
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

std::string NameBeside(const Identity& identity, const Identity& other) {
  std::vector<std::string> parts;
  for (const Identity::Fact& fact : identity.facts) {
    const auto same = std::ranges::find(other.facts, fact.key, &Identity::Fact::key);
    const bool both = same != other.facts.end();
    if (both && same->value == fact.value) continue;
    if (fact.key == KnownKey("files").key) {
      const std::vector<std::string> files =
          both ? absl::StrSplit(same->value, ", ") : std::vector<std::string>();
      for (const absl::string_view file : absl::StrSplit(fact.value, ", ")) {
        if (std::ranges::count(files, file) == 0) parts.emplace_back(file);
      }
    } else {
      const std::string part = fact.key->before + fact.value + fact.key->after;
      parts.push_back(part.substr(part.find_first_not_of(", ")));
    }
  }
  return parts.empty() ? Name(identity) : absl::StrJoin(parts, ", ");
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

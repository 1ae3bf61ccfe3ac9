#include "device/identity.h"

#include <algorithm>

#include "device/plain_text.h"

namespace mmadiff {
namespace {

std::vector<std::string> Files(const std::string& list) {
  std::vector<std::string> files;
  for (size_t begin = 0; begin < list.size();) {
    const size_t end = std::min(list.find(", ", begin), list.size());
    files.push_back(list.substr(begin, end - begin));
    begin = end + 2;
  }
  return files;
}

}  // namespace

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
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  for (const auto& [key, value] : identity.facts) {
    const auto same = std::ranges::find(other.facts, key, &Identity::Fact::key);
    const std::string beside = same == other.facts.end() ? "" : same->value;
    if (value == beside) continue;
    if (key == KnownKey("files").key) {
      for (const std::string& file : Files(value)) {
        if (std::ranges::count(Files(beside), file) == 0) add(file);
      }
    } else {
      const std::string part = key->before + value + key->after;
      add(part.substr(part.find_first_not_of(", ")));
    }
  }
  return text.empty() ? Name(identity) : text;
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

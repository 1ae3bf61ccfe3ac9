#include "sim/own_model.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "sim/change_text.h"
#include "sim/parameter.h"
#include "sim/unlisted.h"

namespace mmadiff {
namespace {

constexpr std::string_view kOwn = "own/";

struct Own {
  Numerics numerics;
  Operation op;
};

// By name.
struct OwnModels {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<Own>, std::less<>> made;
  std::map<std::string, std::string, std::less<>> last;  // full names, by "own/NAME"
};
OwnModels& AllModels() {
  static OwnModels& models = *new OwnModels;
  return models;
}

const Operation* Made(std::string_view name) {
  OwnModels& models = AllModels();
  const std::lock_guard lock(models.mutex);
  const auto last = models.last.find(name);
  const auto found = models.made.find(last == models.last.end() ? name : last->second);
  return found == models.made.end() ? nullptr : &found->second->op;
}

const Operation* Add(std::string_view name, const Operation& base, const char* arch,
                     const Model& model, const char* text) {
  auto own = std::make_unique<Own>();
  own->numerics = *base.numerics;
  own->numerics.arch = arch;
  own->numerics.algorithm = model.algorithm;
  own->numerics.evidence = {Grade::kOwn, "", text};
  own->op = {base.instruction, &own->numerics, model, std::string(name)};
  OwnModels& models = AllModels();
  const std::lock_guard lock(models.mutex);
  return &models.made.try_emplace(std::string(name), std::move(own)).first->second->op;
}

// Takes "FAMILY" or "FAMILY," from the changes.
bool TakeFamily(std::string_view& changes, Model& model) {
  const std::string_view word = changes.substr(0, changes.find(','));
  const std::optional<Family> family = FindFamily(word);
  if (!family) return false;
  model.algorithm = {.family = *family};
  model.algorithm.output_fraction_bits = model.d.fraction_bits;
  changes.remove_prefix(std::min(changes.size(), word.size() + 1));
  return true;
}

std::string Families() {
  std::string names;
  for (int family = 0; family < kFamilyCount; ++family) {
    names += (family == 0 ? "" : ", ") + std::string(Name(static_cast<Family>(family)));
  }
  return names;
}

}  // namespace

size_t ChangesAt(std::string_view name) {
  size_t colon = name.find(':');
  while (colon != name.npos && name.substr(colon).starts_with("::")) {
    colon = name.find(':', colon + 2);
  }
  return colon;
}

const Operation* FindOwn(std::string_view name, std::string* why) {
  std::string ignored;
  std::string& reason = why == nullptr ? ignored : *why;
  if (const Operation* made = Made(name)) return made;
  const size_t colon = ChangesAt(name);
  if (name.starts_with(kOwn) && colon == name.npos) {
    const Operation* const other = Made(name.substr(0, name.rfind('~')));
    reason = "no model '" + std::string(name) + "' was given; " +
             (other == nullptr ? "--model=FILE reads FILE.model as own/FILE"
                               : "the model given is " + other->name + ", of a different text");
    return nullptr;
  }
  if (colon == name.npos) return nullptr;
  const Operation* const base = FindOperation(name.substr(0, colon), Models::kOptional);
  if (base == nullptr) {
    reason = WhyNoOperation(name.substr(0, colon));
    return nullptr;
  }
  const std::string full = base->name + std::string(name.substr(colon));
  if (const Operation* made = Made(full)) return made;
  Model model = base->model;
  std::string_view changes = name.substr(colon + 1);
  const bool given = TakeFamily(changes, model);
  if (!given && !IsModelled(*base)) {
    reason = base->name + " has no model; write " + base->name + ":FAMILY,NAME=VALUE,... (" +
             Families() + ")";
    return nullptr;
  }
  reason = given && changes.empty() ? WhyInvalid(model) : ApplyChanges(changes, model);
  if (!reason.empty()) {
    reason = base->name + ": " + reason;
    return nullptr;
  }
  return Add(full, *base, base->numerics->arch, model, "your own: a row with changed parameters");
}

const Operation* AddOwnModel(std::string_view name, std::string_view version, const Model& m) {
  std::string like = "unlisted/k" + std::to_string(m.k) + "." + m.d.name + "." + m.a.name + "." +
                     m.b.name + "." + m.c.name;
  if (m.scale_block > 0) {
    like += "." + std::string(m.scale.name) + "." + std::to_string(m.scale_block);
  }
  if (m.sparse_group > 0) like += ".sparse" + std::to_string(m.sparse_group);
  const Operation* const base = FindUnlisted(like);
  if (base == nullptr) return nullptr;
  const std::string short_name = std::string(kOwn) + std::string(name);
  const std::string full = short_name + "~" + std::string(version);
  const Operation* const op = Add(full, *base, "own", m, "your own model");
  OwnModels& models = AllModels();
  const std::lock_guard lock(models.mutex);
  models.last[short_name] = full;
  return op;
}

}  // namespace mmadiff

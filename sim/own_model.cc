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
  std::vector<std::unique_ptr<Own>> replaced;  // operations live forever
};
OwnModels& AllModels() {
  static OwnModels& models = *new OwnModels;
  return models;
}

const Operation* Made(std::string_view name) {
  OwnModels& models = AllModels();
  const std::lock_guard lock(models.mutex);
  const auto found = models.made.find(name);
  return found == models.made.end() ? nullptr : &found->second->op;
}

const Operation* Add(std::string_view name, const Operation& base, const char* arch,
                     const Model& model, const char* text) {
  auto own = std::make_unique<Own>();
  own->numerics = *base.numerics;
  own->numerics.arch = arch;
  own->numerics.algorithm = model.algorithm;
  own->numerics.evidence = {Grade::kOwn, text};
  own->op = {base.instruction, &own->numerics, model, std::string(name)};
  OwnModels& models = AllModels();
  const std::lock_guard lock(models.mutex);
  std::unique_ptr<Own>& at = models.made[std::string(name)];
  if (at != nullptr) models.replaced.push_back(std::move(at));
  at = std::move(own);
  return &at->op;
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
  if (name.starts_with(kOwn)) {
    reason =
        "no model '" + std::string(name) + "' was given; --model=FILE reads FILE.model as own/FILE";
    return nullptr;
  }
  const size_t colon = ChangesAt(name);
  if (colon == name.npos) return nullptr;
  const Operation* const base = FindOperation(name.substr(0, colon), Models::kOptional);
  if (base == nullptr) {
    reason = WhyNoOperation(name.substr(0, colon));
    return nullptr;
  }
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
  return Add(name, *base, base->numerics->arch, model, "your own: a row with changed parameters");
}

const Operation* AddOwnModel(std::string_view name, const Model& m) {
  std::string like = "unlisted/k" + std::to_string(m.k) + "." + m.d.name + "." + m.a.name + "." +
                     m.b.name + "." + m.c.name;
  if (m.scale_block > 0) {
    like += "." + std::string(m.scale.name) + "." + std::to_string(m.scale_block);
  }
  const Operation* const base = FindUnlisted(like);
  return base == nullptr
             ? nullptr
             : Add(std::string(kOwn) + std::string(name), *base, "own", m, "your own model");
}

}  // namespace mmadiff

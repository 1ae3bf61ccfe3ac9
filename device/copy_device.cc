#include "device/copy_device.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "sim/copy/copy_parameter.h"

namespace mmadiff {
namespace {

class FaultyCopyDevice : public CopyDevice {
 public:
  FaultyCopyDevice(std::string name, const CopyRules& rules)
      : name_(std::move(name)), rules_(rules) {}

  std::string name() const override { return name_; }
  absl::Status Run(const TensorCopy& copy, const CopyMemory& memory, CopyResult& result) override {
    Execute(copy, rules_, memory, result);
    return absl::OkStatus();
  }

 private:
  const std::string name_;
  const CopyRules rules_;
};

struct Fault {
  std::string name;
  CopyRules rules;
};

std::vector<Fault> Faults() {
  std::vector<Fault> faults = {{"none=0", {}}};
  for (const CopyChange& change : CopyNeighbors())
    faults.push_back({Name(change), With({}, change)});
  return faults;
}

CopyDeviceOr OpenFaultyCopies(absl::string_view name) {
  const std::vector<Fault> faults = Faults();
  const auto fault = std::ranges::find(faults, std::string(name), &Fault::name);
  if (fault != faults.end()) {
    return std::make_unique<FaultyCopyDevice>(absl::StrCat("faulty:", name), fault->rules);
  }
  const auto append = [](std::string* out, const Fault& f) { absl::StrAppend(out, f.name); };
  return absl::InvalidArgumentError(absl::StrCat("no fault '", name,
                                                 "' of tensor copies; the faults are ",
                                                 absl::StrJoin(faults, ", ", append)));
}

constexpr struct {
  const char* kind;
  CopyDeviceOr (*open)(absl::string_view argument);
} kKinds[] = {{"faulty", OpenFaultyCopies}};

}  // namespace

CopyDeviceOr OpenCopyDevice(absl::string_view specification) {
  const size_t colon = std::min(specification.find(':'), specification.size());
  for (const auto& kind : kKinds) {
    if (specification.substr(0, colon) != kind.kind) continue;
    return kind.open(specification.substr(std::min(colon + 1, specification.size())));
  }
  return absl::NotFoundError(
      absl::StrCat(specification, ": only faulty: devices execute tensor copies in this version"));
}

}  // namespace mmadiff

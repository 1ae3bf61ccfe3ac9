#include "device/host.h"

#include <memory>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "device/host_instruction.h"

namespace mmadiff {
namespace {

class Host : public Device {
 public:
  std::string name() const override { return "host"; }
  std::string identity() const override { return HostIdentity(); }

  absl::Status Supports(const Operation& op) const override { return Find(op).status(); }

  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    const absl::StatusOr<const HostInstruction*> instruction = Find(op);
    if (!instruction.ok()) return instruction.status();
    d.resize(batch.dot_products());
    (*instruction)->run(batch, d.data());
    return absl::OkStatus();
  }

 private:
  static absl::StatusOr<const HostInstruction*> Find(const Operation& op) {
    for (const HostInstruction& i : HostInstructions()) {
      if (std::string_view(i.name) != op.instruction->name) continue;
      if (i.supported()) return &i;
      return absl::NotFoundError(absl::StrCat(op.name, " needs the CPU feature ", i.feature,
                                              ", which this CPU (or its operating system) lacks"));
    }
    return absl::NotFoundError(
        absl::StrCat(op.name, " is none of the instructions that host runs"));
  }
};

}  // namespace

DeviceOr OpenHost() { return std::make_unique<Host>(); }

}  // namespace mmadiff

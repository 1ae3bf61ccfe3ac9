#include "device/host.h"

#include <memory>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "device/host_instruction.h"
#include "device/status_macros.h"

namespace mmadiff {
namespace {

// Sets the calling thread's register for the lifetime of the object.
class Control {
 public:
  explicit Control(uint32_t bits) : saved_(FloatingPointControl()) {
    SetFloatingPointControl(bits);
  }
  ~Control() { SetFloatingPointControl(saved_); }
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

 private:
  const uint32_t saved_;
};

class Host : public Device {
 public:
  std::string name() const override { return "host"; }
  Identity identity() const override { return HostIdentity(); }

  absl::Status Supports(const Operation& op) const override { return Find(op).status(); }
  std::vector<std::string> Modes() const override {
    return ModesBeside(HostModes(), DefaultFloatingPointControl());
  }
  void SetMode(absl::string_view mode) override {
    const Mode* const m = FindMode(HostModes(), mode);
    control_ = DefaultFloatingPointControl();
    if (m != nullptr) control_ = m->In(control_);
  }

  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    ASSIGN_OR_RETURN(const HostInstruction* instruction, Find(op));
    d.resize(batch.dot_products());
    const Control control(control_);
    instruction->run(batch, d.data());
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
    return absl::NotFoundError(absl::StrCat("host is this CPU, which cannot run ", op.name,
                                            "; use a device that can (`mmadiff help devices`), or "
                                            "print the model's results with `mmadiff eval`"));
  }

  uint32_t control_ = DefaultFloatingPointControl();
};

}  // namespace

DeviceOr OpenHost() { return std::make_unique<Host>(); }

}  // namespace mmadiff

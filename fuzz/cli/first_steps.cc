#include "fuzz/cli/first_steps.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "device/device.h"
#include "device/identity.h"
#include "device/plain_text.h"
#include "fuzz/cli/cli.h"
#include "fuzz/output/next_command.h"
#include "sim/operation.h"

namespace mmadiff {
namespace {

// Answers of an H100, recorded by Khattak and Mikaitis; `infer` finds fraction_bits=13.
constexpr char kRecording[] =
    "corpus/observations/khattak_mikaitis/sm_90.H100.wgmma.m64n8k32.f32.e4m3.e4m3.txt.gz";
constexpr char kRecorded[] = "sm_90/wgmma.m64n8k32.f32.e4m3.e4m3";
constexpr char kSimulated[] = "x86/vdpbf16ps";

std::string Line(const std::string& arguments, absl::string_view phrase) {
  return absl::StrCat(Program(), " ", arguments, "  # ", phrase, "\n");
}

// Empty if the device has no instruction with a model.
std::string TestThisMachine(Console& console) {
  const DeviceOr device = OpenDeviceAndWarn("auto", console);
  if (!device.ok()) return "";
  const auto supported = [&](const Operation& op) { return (*device)->Supports(op).ok(); };
  if (std::ranges::none_of(Operations(), supported)) return "";
  const std::string name = (*device)->name(), identity = PlainLine(Name((*device)->identity()));
  return Line("run", absl::StrCat(name == "host" ? "test this CPU in seconds ("
                                                 : "test this GPU in about a minute (",
                                  name, ", ", identity.substr(0, identity.find(',')), ")"));
}

// kRecording below the current directory, in the data of an installed program, or in a folder above
// the program, such as the source root above its build folder; empty if it is in none of them.
std::string RecordingHere() {
  std::error_code error;
  if (const std::string path = DataPath(kRecording); std::filesystem::exists(path, error)) {
    return path;
  }
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  for (std::filesystem::path at = program.parent_path(); at.has_relative_path();
       at = at.parent_path()) {
    const std::filesystem::path path = at / kRecording;
    if (std::filesystem::exists(path, error)) return path.string();
  }
  return "";
}

}  // namespace

std::string FirstSteps(Console& console) {
  std::string lines = TestThisMachine(console);
  if (const std::string path = RecordingHere(); !path.empty()) {
    absl::StrAppend(&lines, Line(absl::StrCat("infer ", ShellWord("--device=recorded:" + path),
                                              " --instr=", kRecorded),
                                 "infer the arithmetic of an H100 from recorded answers"));
  }
  const std::string program = absl::StrCat("exec:", Program(), " eval ", kSimulated);
  absl::StrAppend(&lines,
                  Line(absl::StrCat("run ", ShellWord("--device=" + program),
                                    " --instr=", kSimulated, " --cases=1000"),
                       "test your RTL or any other program; this example tests `mmadiff eval`"),
                  Line("help", "show all verbs"));
  return lines;
}

}  // namespace mmadiff

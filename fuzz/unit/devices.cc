#include "fuzz/unit/devices.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "corpus/path_kind.h"
#include "corpus/recordings/recorded_device.h"
#include "corpus/recordings/recording.h"
#include "corpus/stored_files.h"
#include "device/gpu/driver.h"
#include "device/status_macros.h"

namespace mmadiff {
namespace {

constexpr absl::string_view kBest = "auto";

// The first GPU of the first vendor with a GPU, else the host.
absl::StatusOr<OpenedDevice> OpenBest() {
  std::string warning;
  for (const DeviceKind& kind : BasicDevices()) {
    if (!kind.is_gpu) continue;
    DeviceOr gpu = kind.open("0");
    if (gpu.ok()) return OpenedDevice{*std::move(gpu)};
    if (IsNoLibrary(gpu.status())) continue;
    absl::StrAppend(&warning, warning.empty() ? "no GPU is used; the device is host: " : "; ",
                    gpu.status().message());
  }
  ASSIGN_OR_RETURN(std::unique_ptr<Device> host, OpenBasicDevice("host"));
  return OpenedDevice{std::move(host), std::move(warning)};
}

DeviceOr OpenBestDevice(absl::string_view) {
  ASSIGN_OR_RETURN(OpenedDevice best, OpenBest());
  return std::move(best.device);
}

constexpr DeviceKind kKinds[] = {
    {"auto", "auto", "the best device of this machine: cuda:0 or hip:0 if one opens, else host",
     OpenBestDevice},
    {"recorded", "recorded:PATH",
     "answers recorded earlier: a folder, a .log, filed cases (*.txtpb), or lines of operands and "
     "result (plain or gzip)",
     [](absl::string_view path) { return OpenRecorded(std::string(path)); }},
};

}  // namespace

std::span<const DeviceKind> Devices() {
  static const std::vector<DeviceKind>& all = *new std::vector<DeviceKind>([] {
    std::vector<DeviceKind> kinds(std::begin(kKinds), std::end(kKinds));
    kinds.insert(kinds.end(), BasicDevices().begin(), BasicDevices().end());
    return kinds;
  }());
  return all;
}

namespace {

// For `recorded:FOLDER`: the files without recorded answers; "" if every file has some.
std::string LeftOutOf(absl::string_view spec) {
  StoredFolders folders;
  Ledger ledger;
  const std::string path(absl::StripPrefix(spec, "recorded:"));
  if (path == spec || KindOf(path) != PathKind::kFolder) return "";
  auto files = StoredFilesBelow(path, folders, IsRecorded);
  if (files.ok()) ledger.Keep(*std::move(files));
  std::vector<std::string> texts;
  for (const LeftOutLine& line : ledger.lines()) texts.push_back(Text(line));
  return absl::StrJoin(texts, "; ");
}

}  // namespace

absl::StatusOr<OpenedDevice> OpenAnyDevice(absl::string_view spec) {
  if (spec == kBest) return OpenBest();
  ASSIGN_OR_RETURN(std::unique_ptr<Device> device, OpenDevice(spec));
  return OpenedDevice{std::move(device), LeftOutOf(spec)};
}

}  // namespace mmadiff

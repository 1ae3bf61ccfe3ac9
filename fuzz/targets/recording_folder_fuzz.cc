// The readers of a recording's folder survive any bytes. The first byte selects the kind of the
// rest: the text of the manifest, or a record (RecordedDigests) of digests.log.
#include "corpus/recordings/recording_folder.h"
#include "corpus/text_proto.h"
#include "fuzz/targets/input_folder.h"

using namespace mmadiff::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const bool manifest = data[0] % 2 == 0;
  const absl::string_view rest = Text(data + 1, size - 1);
  Write("recording.txtpb", manifest ? mmadiff::Seal(std::string(rest)) : "");
  Write("digests.log", manifest ? "" : LogOf(rest));
  Check(mmadiff::IsRecordingFolder(Folder()));
  mmadiff::ReadRecordingManifest(Folder()).IgnoreError();
  const auto check = [](const mmadiff::RecordedDigests& digests) {
    Check(digests.op != nullptr && digests.unit_cases > 0 && !digests.stream.empty());
    return absl::OkStatus();
  };
  mmadiff::ReadDigests(Folder(), check).IgnoreError();
  mmadiff::RecordingStats stats;
  const auto none = [](const mmadiff::Recording&) { return absl::OkStatus(); };
  mmadiff::ReadRecordingFolder(Folder(), none, stats).IgnoreError();
  return 0;
}

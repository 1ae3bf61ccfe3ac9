// ReadRecordings() of lines, including the output of `probe --out` and `record`, survives any
// bytes. The first byte selects the kind of the rest: text, which must read the same when
// compressed, or a gzip file.
#include <zlib.h>

#include "absl/strings/match.h"
#include "corpus/recordings/recording.h"
#include "fuzz/targets/input.h"

using namespace mmadiff::fuzz;

namespace {

std::string Compressed(absl::string_view text) {
  std::string out(compressBound(text.size()) + 32, '\0');
  z_stream z = {};
  Check(deflateInit2(&z, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) == Z_OK);  // 31: gzip
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = text.size();
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = out.size();
  Check(deflate(&z, Z_FINISH) == Z_STREAM_END && deflateEnd(&z) == Z_OK);
  return out.substr(0, z.total_out);
}

// The answers, or the message.
std::string Read(absl::string_view bytes) {
  std::string all;
  const auto add = [&all](const mmadiff::Recording& r) {
    Check(static_cast<int64_t>(r.d.size()) == r.inputs.dot_products() && r.where.line > 0);
    for (uint64_t d : r.d) absl::StrAppend(&all, r.op->name, " ", d, " of ", r.identity, "\n");
    return absl::OkStatus();
  };
  const auto stats = mmadiff::ReadRecordings(FileOf(bytes), "x86/vfmadd231ss", add);
  return stats.ok() ? all : std::string(stats.status().message());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const absl::string_view rest = Text(data + 1, size - 1);
  const std::string read = Read(rest);
  const bool is_gzip = rest.substr(0, 1) == "\x1f", is_log = absl::StrContains(rest, "\x93mmalog");
  if (data[0] % 2 == 0 && !is_gzip && !is_log) Check(Read(Compressed(rest)) == read);
  return 0;
}

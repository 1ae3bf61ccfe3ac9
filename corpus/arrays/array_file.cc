#include "corpus/arrays/array_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "corpus/durable_file.h"
#include "corpus/path_kind.h"
#include "device/plain_text.h"
#include "device/status_macros.h"

namespace mmadiff {
namespace {

// Strides in elements of an array without gaps.
std::vector<int64_t> DenseStrides(std::span<const int64_t> shape, bool fortran_order) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    const size_t dimension = fortran_order ? i : shape.size() - 1 - i;
    strides[dimension] = stride;
    stride *= std::max<int64_t>(shape[dimension], 1);
  }
  return strides;
}

void SwapBytes(std::vector<unsigned char>& bytes, size_t word) {
  for (auto at = bytes.begin(); at != bytes.end(); at += word) std::reverse(at, at + word);
}

}  // namespace

absl::StatusOr<ArrayFile> ArrayFile::Open(const std::string& path) {
  const auto invalid = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat(PlainLine(path), ": ", what));
  };
  const PathKind kind = KindOf(path);
  if (kind == PathKind::kOther) return invalid("not a regular file; save it to a file first");
  if (IsFolder(kind)) return invalid("is a folder; give one file");
  absl::StatusOr<Fd> file = OpenStored(path);
  if (absl::IsNotFound(file.status())) return invalid("no such file");
  RETURN_IF_ERROR(file.status());
  struct stat s;
  if (fstat(file->get(), &s) != 0) return CannotOpen(path, errno);
  return ArrayFile(path, *std::move(file), s.st_size);
}

absl::Status ArrayFile::Read(uint64_t offset, std::span<unsigned char> into) const {
  while (!into.empty()) {
    const ssize_t got = pread(file_.get(), into.data(), into.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Damaged(absl::StrCat("cannot be read: ", std::strerror(errno)));
    if (got == 0) return Damaged(absl::StrCat("ends at byte ", offset, " while it is read"));
    into = into.subspan(got);
    offset += got;
  }
  return absl::OkStatus();
}

absl::Status ArrayFile::Damaged(absl::string_view what) const {
  return absl::DataLossError(absl::StrCat(PlainLine(path_), ": ", what));
}

absl::Status ArrayFile::NotRead(absl::string_view what) const {
  return absl::InvalidArgumentError(absl::StrCat(PlainLine(path_), ": ", what));
}

absl::StatusOr<Array> ReadWords(const ArrayFile& file, std::string name,
                                const StoredArray& stored) {
  if (stored.shape.size() > kMaxDimensions) {
    return file.NotRead(absl::StrCat("has ", stored.shape.size(), " dimensions; at most ",
                                     kMaxDimensions, " are read"));
  }
  const uint64_t bytes = *BytesOf(stored.type, stored.shape);
  if (bytes > kMaxArrayBytes) {
    return file.NotRead(
        absl::StrCat("has an array of ", bytes, " bytes; at most ", kMaxArrayBytes, " are read"));
  }
  Array array = {std::move(name),
                 stored.type.name,
                 stored.type.format,
                 stored.type.bits,
                 stored.shape,
                 DenseStrides(stored.shape, stored.fortran_order),
                 std::vector<unsigned char>(bytes)};
  RETURN_IF_ERROR(file.Read(stored.offset, array.bytes));
  if (stored.swapped) SwapBytes(array.bytes, array.bits / 8);
  return array;
}

}  // namespace mmadiff

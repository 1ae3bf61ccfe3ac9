// A file that holds arrays: opened once, so its size is that of the bytes that are read.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "corpus/arrays/array.h"
#include "device/watcher.h"

namespace mmadiff {

class ArrayFile {
 public:
  // kInvalidArgument: no such file, or not a regular file. kDataLoss as OpenStored().
  static absl::StatusOr<ArrayFile> Open(const std::string& path);

  const std::string& path() const { return path_; }
  uint64_t bytes() const { return bytes_; }
  // kDataLoss: the file ends before that, or cannot be read.
  absl::Status Read(uint64_t offset, std::span<unsigned char> into) const;
  // kDataLoss with the file's name.
  absl::Status Damaged(absl::string_view what) const;
  // kInvalidArgument with the file's name.
  absl::Status NotRead(absl::string_view what) const;

 private:
  ArrayFile(std::string path, Fd file, uint64_t bytes)
      : path_(std::move(path)), file_(std::move(file)), bytes_(bytes) {}

  std::string path_;
  Fd file_;
  uint64_t bytes_;
};

// An array in a file.
struct StoredArray {
  ElementType type;
  std::vector<int64_t> shape;
  bool fortran_order;  // the first index changes fastest
  bool swapped;        // the bytes of a word are in the order that this machine does not have
  uint64_t offset;     // of the first element
};
// Requires that all bytes of the array are in the file. kInvalidArgument: more than kMaxArrayBytes
// or kMaxDimensions. kDataLoss: it cannot be read.
absl::StatusOr<Array> ReadWords(const ArrayFile& file, std::string name, const StoredArray& stored);

}  // namespace mmadiff

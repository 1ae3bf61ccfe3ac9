// Runs a fuzz target without libFuzzer: on the given files and folders, and on a fixed set of
// mutations of each file, made by the target's own mutator if it has one. A failure aborts; its
// input is kept in the working directory as PROGRAM.crash.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" __attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size,
                                                                size_t max_size, unsigned seed);

namespace {

namespace fs = std::filesystem;

constexpr int kMutationsPerFile = 1000;
constexpr size_t kMaxSize = 4096;  // maximum bytes from the target's own mutator

std::string ReadAll(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string crash_file;
const std::string* current = nullptr;  // the current input

// Only calls that are safe in a signal handler.
extern "C" void KeepInput(int signal) {
  const int fd = open(crash_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  const ssize_t written = write(fd, current->data(), current->size());
  _exit(written < 0 ? 1 : 128 + signal);
}

void RunOne(const std::string& input) {
  current = &input;
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
}

// One to four small changes: a bit, a byte, a removed piece, a repeated piece, a new end.
std::string Mutate(std::string input, std::mt19937_64& random) {
  for (uint64_t changes = 1 + random() % 4; changes > 0 && !input.empty(); --changes) {
    const size_t at = random() % input.size();
    const size_t length = 1 + random() % std::min<size_t>(input.size() - at, 64);
    switch (random() % 5) {
      case 0:
        input[at] = static_cast<char>(input[at] ^ 1 << random() % 8);
        break;
      case 1:
        input[at] = static_cast<char>(random());
        break;
      case 2:
        input.erase(at, length);
        break;
      case 3:
        input.insert(random() % input.size(), input.substr(at, length));
        break;
      case 4:
        input.resize(at);
        break;
    }
  }
  return input;
}

std::string Next(const std::string& input, std::mt19937_64& random) {
  if (LLVMFuzzerCustomMutator == nullptr) return Mutate(input, random);
  std::vector<uint8_t> bytes(input.begin(), input.end());
  bytes.resize(std::max(kMaxSize, input.size()));
  const size_t size = LLVMFuzzerCustomMutator(bytes.data(), input.size(), bytes.size(),
                                              static_cast<unsigned>(random()));
  return {bytes.begin(), bytes.begin() + static_cast<int64_t>(size)};
}

std::vector<fs::path> FilesOf(const fs::path& path) {
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

// The function that libFuzzer provides for a target's own mutator.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size) {
  static std::mt19937_64 random(2);
  const std::string made = Mutate({data, data + size}, random).substr(0, max_size);
  std::ranges::copy(made, data);
  return made.size();
}

int main(int argc, char** argv) {
  crash_file = fs::path(argv[0]).filename().string() + ".crash";
  for (int s : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) signal(s, KeepInput);
  int64_t files = 0, inputs = 0;
  std::mt19937_64 random(1);  // the same mutations on every machine
  for (int i = 1; i < argc; ++i) {
    for (const fs::path& path : FilesOf(argv[i])) {
      const std::string input = ReadAll(path);
      RunOne(input);
      for (int m = 0; m < kMutationsPerFile; ++m) RunOne(Next(input, random));
      ++files;
      inputs += 1 + kMutationsPerFile;
    }
  }
  std::printf("%lld inputs from %lld files\n", static_cast<long long>(inputs),
              static_cast<long long>(files));
  return files > 0 ? 0 : 2;
}

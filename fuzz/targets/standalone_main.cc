// Runs a fuzz target without libFuzzer: over the files and folders given, and over a fixed set of
// mutations of each file. A failure is an abort; the input that led to it stays in the working
// directory as PROGRAM.crash.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

namespace fs = std::filesystem;

constexpr int kMutationsPerFile = 1000;

std::string ReadAll(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void RunOne(const std::string& input, const std::string& crash_file) {
  // Written first: an abort leaves no time for it.
  std::ofstream(crash_file, std::ios::binary) << input;
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
}

// One to four small changes: a bit, a byte, a piece cut out, a piece said twice, a new end.
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

std::vector<fs::path> FilesOf(const fs::path& path) {
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string crash_file = fs::path(argv[0]).filename().string() + ".crash";
  int64_t files = 0, inputs = 0;
  std::mt19937_64 random(1);  // the same mutations on every machine
  for (int i = 1; i < argc; ++i) {
    for (const fs::path& path : FilesOf(argv[i])) {
      const std::string input = ReadAll(path);
      RunOne(input, crash_file);
      for (int m = 0; m < kMutationsPerFile; ++m) RunOne(Mutate(input, random), crash_file);
      ++files;
      inputs += 1 + kMutationsPerFile;
    }
  }
  fs::remove(crash_file);
  std::printf("%lld inputs from %lld files\n", static_cast<long long>(inputs),
              static_cast<long long>(files));
  return files > 0 ? 0 : 2;
}

// Runs a fuzz target without libFuzzer: on prefixes of the files of a folder, and on inputs made of the files.
//   fuzz_NAME FOLDER PREFIXES MUTATIONS       (at most PREFIXES prefixes of each file, and MUTATIONS inputs made of all files)
// Files are taken in the order of their names, so that a number always means the same input. If an input ends the program, its
// number is printed.

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/fuzz/mutator.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

constexpr const char* kFound = "fuzz_finding";  // in the current folder: the input that ended the program
const std::string* running = nullptr;

void keep_input(int signal) {
  std::ofstream(kFound, std::ios::binary) << *running;
  constexpr std::string_view text = "the input is in ./fuzz_finding\n";
  (void)!write(STDERR_FILENO, text.data(), text.size());
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

double seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Runs inputs and remembers which took longest, in processor time.
class Runs {
 public:
  void run(const std::string& input, const std::string& name) {
    running = &input;
    const double begin = seconds();
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
    const double took = seconds() - begin;
    ++count_;
    if (took <= longest_) return;
    longest_ = took;
    slowest_ = name;
    slowest_input_ = input;
  }

  // The exit code: inputs that take too long are findings.
  int finish() const {
    constexpr double kLongest = 20;  // seconds; sanitizers make twenty times of one
    std::cout << count_ << " inputs, the slowest " << longest_ << " s: " << slowest_ << '\n';
    if (longest_ > kLongest) std::ofstream(kFound, std::ios::binary) << slowest_input_;
    return count_ == 0 || longest_ > kLongest ? 1 : 0;
  }

 private:
  size_t count_ = 0;
  double longest_ = -1;
  std::string slowest_;
  std::string slowest_input_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const size_t prefixes = std::stoul(argv[2]);
  const size_t mutations = std::stoul(argv[3]);
  for (const int signal : {SIGABRT, SIGILL, SIGSEGV, SIGFPE}) std::signal(signal, keep_input);
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<std::string> files;
  for (const auto& path : paths) files.push_back(read(path));
  Runs runs;
  for (size_t f = 0; f < files.size(); ++f) {
    const std::string& file = files[f];
    const std::string name = paths[f].filename().string();
    const size_t step = 1 + file.size() / prefixes;
    for (size_t size = 0; size < file.size(); size += step)
      runs.run(file.substr(0, size), name + " to byte " + std::to_string(size));
    runs.run(file, name);
  }
  warpfold::fuzz::Mutator mutator(files, 1);
  for (size_t mutation = 0; mutation < mutations && !files.empty(); ++mutation)
    runs.run(mutator.next(), "mutation " + std::to_string(mutation));
  return runs.finish();
}

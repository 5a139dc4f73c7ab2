// Runs a fuzz target on the files of folders and on every prefix of them, where libFuzzer is not linked.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int main(int argc, char** argv) {
  size_t runs = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      std::ifstream file(entry.path(), std::ios::binary);
      const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
      for (size_t size = 0; size <= text.size(); ++size, ++runs) {
        LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(text.data()), size);
      }
    }
  }
  std::cout << runs << " inputs\n";
  return runs == 0 ? 1 : 0;
}

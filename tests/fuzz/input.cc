#include "tests/fuzz/input.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>

namespace warpfold::fuzz {

std::vector<std::string> parts_of(std::string_view text, size_t count) {
  std::vector<std::string> parts;
  constexpr std::string_view kBetween = "\n%%\n";
  while (parts.size() + 1 < count) {
    const size_t end = text.find(kBetween);
    if (end == std::string_view::npos) break;
    parts.emplace_back(text.substr(0, end + 1));
    text.remove_prefix(end + kBetween.size());
  }
  parts.emplace_back(text);
  parts.resize(count);
  return parts;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

void require(bool condition, std::string_view what) {
  if (condition) return;
  std::cerr << "fuzz target: " << what << std::endl;
  std::abort();
}

void require_message(const Diagnostic& diagnostic) { require(!diagnostic.message.empty(), "refused without a message"); }

Scratch::Scratch() {
  const std::filesystem::path memory = "/dev/shm";
  const auto parent = std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path();
  std::string name = (parent / "warpfold-fuzz-XXXXXX").string();
  require(mkdtemp(name.data()) != nullptr, "no folder for the files of inputs");
  folder_ = name;
}

Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string Scratch::write(std::string_view name, std::string_view bytes) const {
  std::string file = path(name);
  std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return file;
}

}  // namespace warpfold::fuzz

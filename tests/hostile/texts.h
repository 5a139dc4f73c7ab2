#pragma once

#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/source_dir.h"

namespace warpfold {

// The lines of tests/hostile/texts.
inline std::vector<std::string> hostile_texts() {
  std::ifstream file(WARPFOLD_SOURCE_DIR "/tests/hostile/texts", std::ios::binary);
  std::vector<std::string> texts;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("# ")) continue;
    std::string text;
    for (size_t i = 0; i < line.size(); ++i) {
      if (line[i] != '\\') {
        text += line[i];
        continue;
      }
      const char kind = line.at(++i);
      switch (kind) {
        case 'x':
          text += static_cast<char>(std::stoi(line.substr(i + 1, 2), nullptr, 16));
          i += 2;
          break;
        case 'n':
          text += '\n';
          break;
        case 'r':
          text += '\r';
          break;
        case 't':
          text += '\t';
          break;
        default:
          text += kind;
      }
    }
    texts.push_back(std::move(text));
  }
  if (texts.empty()) throw std::runtime_error("no hostile texts");
  return texts;
}

}  // namespace warpfold

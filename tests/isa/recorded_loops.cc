#include "recorded_loops.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "isa/assembler.h"
#include "tests/source_dir.h"

namespace warpfold::isa {

namespace {

int number_after(const std::string& line, const std::string& key) { return std::stoi(line.substr(line.find(key) + key.size())); }

void read_file(const std::string& name, const std::string& architecture_name, std::vector<RecordedLoop>& loops) {
  const std::string path = std::string(WARPFOLD_SOURCE_DIR) + "/tests/isa/data/" + name + "_" + architecture_name + ".sass";
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path);
  const Architecture* architecture = Architecture::find(architecture_name).value();
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.starts_with("# loop ")) {
      std::istringstream words(line.substr(7));
      RecordedLoop loop;
      words >> loop.name;
      loop.architecture = architecture;
      loop.words_read = number_after(line, "read=");
      loop.words_written = number_after(line, "written=");
      loops.push_back(std::move(loop));
    }
    if (line.empty() || line.front() == '#') continue;
    auto instruction = parse_instruction(*architecture, line, path, number);
    if (!instruction) throw std::runtime_error(instruction.error().text());
    loops.back().lines.push_back(line);
    loops.back().code.push_back(*std::move(instruction));
  }
}

}  // namespace

const std::vector<RecordedLoop>& recorded_loops() {
  static const std::vector<RecordedLoop> loops = [] {
    std::vector<RecordedLoop> all;
    for (const char* architecture : {"sm_80", "sm_90"}) {
      for (const char* family : {"philox", "softmax", "mma_gemm"}) read_file(family, architecture, all);
    }
    return all;
  }();
  return loops;
}

}  // namespace warpfold::isa

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "configs/read_file.h"
#include "isa/architecture.h"
#include "tests/source_dir.h"

namespace warpfold::isa {
namespace {

struct OpcodeList {
  std::string file;                        // tests/isa/data/opcodes_FILE.txt
  std::vector<std::string> architectures;  // that it is the list of
};

const std::vector<OpcodeList>& opcode_lists() {
  static const std::vector<OpcodeList> kLists{{"volta", {"sm_70"}},
                                              {"turing", {"sm_75"}},
                                              {"ampere_ada", {"sm_80", "sm_86", "sm_87", "sm_89"}},
                                              {"hopper", {"sm_90"}},
                                              {"blackwell", {"sm_100", "sm_103", "sm_110", "sm_120", "sm_121"}}};
  return kLists;
}

// Listed for a family, and not of this chip, or of an unknown rate: refused.
const std::set<std::pair<std::string, std::string>>& without_a_row() {
  static const std::set<std::pair<std::string, std::string>> kOpcodes{
      {"sm_70", "IMMA"},                                                                                // sm_72 has it
      {"sm_86", "DMMA"}, {"sm_87", "DMMA"}, {"sm_89", "DMMA"}, {"sm_120", "DMMA"}, {"sm_121", "DMMA"},  // no rate is published
  };
  return kOpcodes;
}

std::vector<std::string> names_in(const std::string& file) {
  const std::string text = read_file(std::string(WARPFOLD_SOURCE_DIR) + "/tests/isa/data/opcodes_" + file + ".txt").value();
  std::vector<std::string> names;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.starts_with('#') ? std::string() : line);
    for (std::string word; words >> word;) names.push_back(word);
  }
  return names;
}

bool has_row(const Architecture& architecture, const std::string& opcode) {
  return std::ranges::any_of(architecture.opcodes(), [&opcode](const OpcodeInfo& info) {
    return info.name == opcode || info.name.starts_with(opcode + ".");
  });
}

TEST(OpcodeLists, EveryOpcodeOfEveryArchitectureHasARow) {
  std::vector<std::string> walked;
  for (const OpcodeList& list : opcode_lists()) {
    const std::vector<std::string> names = names_in(list.file);
    EXPECT_GT(names.size(), 100U) << list.file;
    for (const std::string& name : list.architectures) {
      walked.push_back(name);
      const Architecture& architecture = **Architecture::find(name);
      for (const std::string& opcode : names)
        EXPECT_NE(has_row(architecture, opcode), without_a_row().contains({name, opcode})) << name << " " << opcode;
    }
  }
  EXPECT_THAT(walked, testing::UnorderedElementsAreArray(Architecture::known()));
}

// A row that is there for one family alone does not leak into the others.
TEST(OpcodeLists, OpcodesOfOtherArchitecturesAreUnknown) {
  const std::vector<std::pair<std::string, std::string>> foreign{
      {"sm_70", "LDSM"}, {"sm_70", "MOVM"},    {"sm_75", "REDUX"},  {"sm_75", "I2FP"},  {"sm_80", "VIADDMNMX"}, {"sm_89", "LDCU"},
      {"sm_90", "LDCU"}, {"sm_90", "UTCHMMA"}, {"sm_100", "HGMMA"}, {"sm_100", "BMMA"}, {"sm_120", "WARPGROUP"}};
  for (const auto& [name, opcode] : foreign) EXPECT_FALSE(has_row(**Architecture::find(name), opcode)) << name << " " << opcode;
}

}  // namespace
}  // namespace warpfold::isa

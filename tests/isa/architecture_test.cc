#include "isa/architecture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warpfold::isa {

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const OpcodeInfo& row(const Architecture& architecture, const std::string& mnemonic) {
  return architecture.opcodes()[architecture.resolve(mnemonic).value()];
}

std::string parse_error(const std::string& text) {
  auto parsed = Architecture::parse("mine.textproto", text);
  return parsed ? "parsed" : parsed.error().text();
}

}  // namespace

TEST(Architecture, KnownTablesLoad) {
  EXPECT_THAT(Architecture::known(), ElementsAre("sm_70", "sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_100", "sm_103",
                                                 "sm_110", "sm_120", "sm_121"));
  for (const std::string& name : Architecture::known()) EXPECT_EQ(Architecture::find(name).value()->name(), name);
}

TEST(Architecture, UnknownNameListsOrSuggests) {
  EXPECT_THAT(Architecture::find("sm_91").error().message, HasSubstr("did you mean"));
  EXPECT_THAT(Architecture::find("gfx90a").error().message, HasSubstr("sm_80"));
}

TEST(Architecture, RowWithTheMostModifiersNames) {
  const Architecture& hopper = *Architecture::find("sm_90").value();
  EXPECT_EQ(row(hopper, "IMAD.WIDE.U32").name, "IMAD.WIDE");
  EXPECT_EQ(row(hopper, "IMAD.MOV.U32").name, "IMAD");
  EXPECT_EQ(row(hopper, "MUFU.SIN").name, "MUFU.SIN");
  EXPECT_EQ(row(hopper, "MUFU.RCP").name, "MUFU");
  EXPECT_EQ(row(hopper, "HMMA.16816.F32.BF16").name, "HMMA.16816.F32");
  EXPECT_THAT(hopper.resolve("FFMAD.WIDE").error().message, HasSubstr("did you mean \"FFMA\"?"));
}

TEST(Architecture, ModifiersCountWhereverTheyStand) {
  const Architecture& small = *Architecture::find("sm_86").value();
  EXPECT_EQ(row(small, "F2I.U32.TRUNC.NTZ").name, "F2I");
  EXPECT_EQ(row(small, "F2I.U32.F64.TRUNC").name, "F2I.F64");
  EXPECT_EQ(row(small, "F2I.U64.F64.TRUNC").name, "F2I.U64.F64");
  EXPECT_EQ(row(small, "F2I.F64").issue_interval, 64);
  EXPECT_EQ(row(*Architecture::find("sm_80").value(), "F2I.F64").issue_interval, 8);
}

// Cycles of one product a sub-core, of 16 x 8 x 16 FP16 products in `half`, from peak rates: TF32 half of FP16, INT8 twice, INT4
// four times, binary sixteen times (NVIDIA A100 whitepaper).
TEST(Architecture, ShapesAndTypesOfProductsHaveRatesOfTheirOwn) {
  const Architecture& ampere = *Architecture::find("sm_80").value();
  const std::vector<std::pair<std::string, int>> cycles{{"HMMA.16816.F32", 8},       {"HMMA.16816.F32.BF16", 8},
                                                        {"HMMA.1688.F32", 4},        {"HMMA.1688.F32.TF32", 8},
                                                        {"HMMA.1684.F32.TF32", 4},   {"HMMA.SP.16832.F32", 8},
                                                        {"IMMA.16832.S8.S8", 8},     {"IMMA.16816.U8.S8.SAT", 4},
                                                        {"IMMA.8816.S8.S8", 2},      {"IMMA.16864.S4.S4", 8},
                                                        {"IMMA.16832.S4.S4", 4},     {"IMMA.8832.U4.U4", 2},
                                                        {"BMMA.168256.XOR.POPC", 8}, {"DMMA.884", 16}};
  for (const auto& [mnemonic, expected] : cycles) EXPECT_EQ(row(ampere, mnemonic).issue_interval, expected) << mnemonic;
  EXPECT_EQ(row(*Architecture::find("sm_86").value(), "HMMA.1688.F32.TF32").issue_interval, 16);
  EXPECT_EQ(row(*Architecture::find("sm_75").value(), "IMMA.8816.S8.S8").issue_interval, 4);
  EXPECT_EQ(row(*Architecture::find("sm_120").value(), "OMMA.SF.16864.F32.E2M1.E2M1.UE4M3.4X").issue_interval, 16);
  EXPECT_EQ(row(*Architecture::find("sm_70").value(), "HMMA.884.F32.F32.STEP3").issue_interval, 2);
}

TEST(Architecture, ShapesAndTypesWithoutARowAreUnknown) {
  const std::vector<std::pair<std::string, std::string>> unknown{{"sm_80", "HMMA"},
                                                                 {"sm_80", "HMMA.884.F32.F32.STEP0"},
                                                                 {"sm_80", "HMMA.16816.F32.E4M3"},
                                                                 {"sm_75", "HMMA.1688.F32.TF32"},
                                                                 {"sm_80", "IMMA.16832.S4.S8"},
                                                                 {"sm_90", "IMMA.16864.S4.S4"},
                                                                 {"sm_100", "LDTM.16dp128bit.x2.PACK"},
                                                                 {"sm_89", "QMMA.SF.16832.F32.E4M3.E4M3.E8"}};
  for (const auto& [name, mnemonic] : unknown) EXPECT_FALSE(Architecture::find(name).value()->resolve(mnemonic)) << mnemonic;
  EXPECT_EQ(Architecture::find("sm_70").value()->resolve("HMMA.16816.F32").error().message,
            "unknown modifiers of \"HMMA.16816.F32\"; sm_70 has HMMA.884.F32, HMMA.884.F16; modifiers that do not change the cost: "
            "BF16, F32, F16, STEP0, STEP1, STEP2, STEP3");
}

TEST(Architecture, FunctionsOfMufuAreKnown) {
  for (const std::string& name : Architecture::known()) {
    const Architecture& architecture = *Architecture::find(name).value();
    for (const char* mnemonic : {"MUFU.RCP", "MUFU.EX2", "MUFU.EX2.F16", "MUFU.TANH.BF16", "MUFU.RSQ64H"})
      EXPECT_TRUE(architecture.resolve(mnemonic)) << name << " " << mnemonic;
    for (const char* mnemonic : {"MUFU.FOO", "MUFU.EX", "MUFU.EX2.F61"}) EXPECT_FALSE(architecture.resolve(mnemonic)) << name;
  }
  EXPECT_EQ(
      Architecture::find("sm_80").value()->resolve("MUFU.FOO").error().message,
      "unknown modifiers of \"MUFU.FOO\"; sm_80 has MUFU; modifiers that do not change the cost: COS, SIN, EX2, LG2, RCP, RSQ, "
      "RCP64H, RSQ64H, SQRT, TANH, F16, F16x2, BF16, BF16x2, BF16_V2");
}

// Interval of the input latch by chip: hardware_facts' measured pipe occupancy.
TEST(Architecture, PipesDifferByChip) {
  const Architecture& ampere = *Architecture::find("sm_80").value();
  const Architecture& small = *Architecture::find("sm_86").value();
  const Architecture& hopper = *Architecture::find("sm_90").value();
  EXPECT_EQ(row(ampere, "FFMA").pipe, Pipe::kFmaHeavy);
  EXPECT_EQ(row(ampere, "FFMA").issue_interval, 2);
  EXPECT_EQ(row(small, "FFMA").issue_interval, 1);
  EXPECT_EQ(row(hopper, "FFMA").pipe, Pipe::kFmaLite);
  EXPECT_EQ(row(ampere, "HSET2").pipe, Pipe::kFp16);
  EXPECT_EQ(row(hopper, "HSET2").pipe, Pipe::kAlu);
  EXPECT_TRUE(row(hopper, "HFMA2").also_blocks_fma_lite);
  EXPECT_EQ(row(ampere, "HMMA.16816.F32").issue_interval, 8);
  EXPECT_EQ(row(hopper, "HMMA.16816.F32").issue_interval, 6);
  EXPECT_EQ(row(small, "HMMA.16816.F32").issue_interval, 16);
  EXPECT_EQ(row(hopper, "IMAD.WIDE.U32").issue_interval, 4);
}

TEST(Architecture, Latencies) {
  const Architecture& hopper = *Architecture::find("sm_90").value();
  EXPECT_EQ(hopper.register_latency(row(hopper, "LOP3.LUT"), row(hopper, "LOP3.LUT")), 4);
  EXPECT_EQ(hopper.register_latency(row(hopper, "LOP3.LUT"), row(hopper, "IMAD.WIDE")), 5);
  EXPECT_EQ(hopper.register_latency(row(hopper, "FFMA"), row(hopper, "STG.E")), 5);
  EXPECT_EQ(hopper.guard_latency(row(hopper, "ISETP.GE.AND")), 13);
  EXPECT_EQ(hopper.write_latency(row(hopper, "HMMA.16816.F32")), 24);
}

// Published RAW and WAR cycles of the RTX A6000 by access width and kind of address (Huerta et al., MICRO 2025).
TEST(Architecture, MemoryLatenciesOfSm86) {
  const Architecture& small = *Architecture::find("sm_86").value();
  EXPECT_THAT(row(small, "LDG.E").result_cycles, ElementsAre(32, 34, 38));
  EXPECT_THAT(row(small, "LDG.E").result_cycles_uniform, ElementsAre(29, 31, 35));
  EXPECT_THAT(row(small, "LDG.E").source_release_cycles, ElementsAre(11, 11, 11));
  EXPECT_THAT(row(small, "LDG.E").source_release_cycles_uniform, ElementsAre(9, 9, 9));
  EXPECT_THAT(row(small, "STG.E").source_release_cycles, ElementsAre(14, 16, 20));
  EXPECT_THAT(row(small, "STG.E").source_release_cycles_uniform, ElementsAre(10, 12, 16));
  EXPECT_THAT(row(small, "LDS").result_cycles, ElementsAre(24, 24, 26));
  EXPECT_THAT(row(small, "LDS").result_cycles_uniform, ElementsAre(23, 23, 25));
  EXPECT_THAT(row(small, "STS").source_release_cycles, ElementsAre(12, 14, 18));
  EXPECT_THAT(row(small, "STS").source_release_cycles_uniform, ElementsAre(10, 12, 16));
  EXPECT_THAT(row(small, "LDC").result_cycles_uniform, ElementsAre(26, 26, 26));
  EXPECT_THAT(row(small, "LDC").result_cycles, ElementsAre(29, 29, 29));
  EXPECT_THAT(row(small, "LDGSTS.E").result_cycles, ElementsAre(39, 39, 39));
  EXPECT_THAT(row(small, "LDGSTS.E").source_release_cycles, ElementsAre(13, 13, 13));
}

TEST(Architecture, AccessWidth) {
  EXPECT_EQ(access_width_index("LDG.E"), 0);
  EXPECT_EQ(access_width_index("LDG.E.U8.CONSTANT"), 0);
  EXPECT_EQ(access_width_index("LDG.E.64"), 1);
  EXPECT_EQ(access_width_index("LDGSTS.E.BYPASS.LTC128B.128"), 2);
  EXPECT_EQ(access_width_index("LDSM.16.M88.4"), 2);
  EXPECT_EQ(access_width_index("LDSM.16.M88.2"), 1);
}

// A derived table states the differences; all other fields are its base's.
TEST(ArchitectureBase, DeltasReplaceFieldsOfARow) {
  const Architecture& base = *Architecture::find("sm_86").value();
  const Architecture& ada = *Architecture::find("sm_89").value();
  EXPECT_THAT(row(ada, "LDG.E").result_cycles, ElementsAre(43, 45, 49));
  EXPECT_THAT(row(ada, "LDG.E").source_release_cycles, ElementsAre(11, 11, 11));
  EXPECT_EQ(row(ada, "FFMA").issue_interval, row(base, "FFMA").issue_interval);
  EXPECT_EQ(ada.write_latency(row(ada, "HMMA.16816.F32")), 24);
  EXPECT_EQ(base.write_latency(row(base, "HMMA.16816.F32")), 33);
}

TEST(ArchitectureBase, AbsentOpcodesAreUnknown) {
  EXPECT_FALSE(Architecture::find("sm_100").value()->resolve("HGMMA.64x256x16.F32"));
  EXPECT_FALSE(Architecture::find("sm_70").value()->resolve("LDGSTS.E"));
  EXPECT_FALSE(Architecture::find("sm_75").value()->resolve("HMMA.16816.F32"));
  EXPECT_EQ(row(*Architecture::find("sm_103").value(), "MUFU.EX2").issue_interval, 4);
}

// IADD's row says that it is as IADD3; each chip has its own.
TEST(ArchitectureBase, RowsTakeWhatTheirKinHas) {
  for (const std::string& name : Architecture::known()) {
    const Architecture& architecture = *Architecture::find(name).value();
    EXPECT_EQ(row(architecture, "FADD32I").pipe, row(architecture, "FADD").pipe) << name;
    EXPECT_EQ(row(architecture, "IADD").issue_interval, row(architecture, "IADD3").issue_interval) << name;
    EXPECT_EQ(row(architecture, "FCHK").result_cycles, row(architecture, "MUFU").result_cycles) << name;
  }
  const Architecture& blackwell = *Architecture::find("sm_100").value();
  EXPECT_EQ(row(blackwell, "IADD.64").destination_registers, std::vector<uint8_t>{2});
  EXPECT_EQ(row(blackwell, "OMMA.SF.SP.168128.F32").latency_class, row(blackwell, "HMMA.16816.F32").latency_class);
}

TEST(ArchitectureBase, LatenciesAreReplacedByConsumer) {
  const Architecture& blackwell = *Architecture::find("sm_100").value();
  EXPECT_EQ(blackwell.register_latency(row(blackwell, "LOP3"), row(blackwell, "MUFU")), 4);
  EXPECT_EQ(blackwell.register_latency(row(blackwell, "LOP3"), row(blackwell, "FFMA")), 5);
  EXPECT_EQ(blackwell.register_latency(row(blackwell, "HMMA.16816.F32"), row(blackwell, "HMMA.16816.F32")), 20);
  EXPECT_EQ(blackwell.register_latency(row(blackwell, "HMMA.16816.F32"), row(blackwell, "FADD")), 19);
}

// NVIDIA's own latencies of sm_100, reader by writer, as Mesa's compiler has them (sm100 reg_raw, bminor/mesa-mesa@477533ee). One
// latency of IMAD.WIDE is kept for both halves, the longer one; the shorter latency of the low half is not modelled.
TEST(ArchitectureBase, RegisterLatenciesOfBlackwellAreNvidiasTable) {
  const Architecture& blackwell = *Architecture::find("sm_100").value();
  const std::array<std::string, 6> writers{"LOP3", "FFMA", "IMAD.WIDE.U32", "HFMA2", "DFMA", "HMMA.16816.F32"};
  const std::vector<std::pair<std::string, std::array<int, 6>>> readers{
      {"LOP3", {4, 5, 5, 5, 10, 19}}, {"FFMA", {5, 4, 4, 5, 10, 19}},           {"HFMA2", {5, 5, 5, 4, 10, 19}},
      {"DFMA", {6, 6, 6, 6, 8, 19}},  {"HMMA.16816.F32", {7, 7, 7, 7, 11, 20}}, {"MUFU.EX2", {4, 4, 4, 4, 6, 19}},
      {"LDG.E", {5, 5, 5, 5, 7, 19}}};
  for (const auto& [reader, cycles] : readers) {
    for (size_t w = 0; w < writers.size(); ++w)
      EXPECT_EQ(blackwell.register_latency(row(blackwell, writers[w]), row(blackwell, reader)), cycles[w])
          << writers[w] << " to " << reader;
  }
}

TEST(ArchitectureBase, Mistakes) {
  EXPECT_EQ(parse_error("architecture: \"mine\" base: \"sm_91\""),
            "mine.textproto: base: unknown architecture \"sm_91\"; did you mean \"sm_90\"?");
  EXPECT_EQ(parse_error("architecture: \"sm_86\" base: \"sm_89\""),
            "sm_89.textproto: base: tables form a cycle: sm_86 -> sm_89 -> sm_86");
  EXPECT_THAT(parse_error("architecture: \"mine\" base: \"sm_90\" absent: \"HGMA\""),
              HasSubstr("absent: the base has no opcode \"HGMA\"; did you mean"));
  EXPECT_THAT(parse_error("architecture: \"mine\" absent: \"MOV\""), HasSubstr("only a table with a base"));
  const std::string mine = "architecture: \"mine\" base: \"sm_90\" ";
  EXPECT_EQ(parse_error(mine + "opcode { name: \"A\" kin: \"B\" }"), "mine.textproto: opcode A: kin: no opcode \"B\"");
  EXPECT_THAT(parse_error(mine + "opcode { name: \"A\" kin: \"B\" } opcode { name: \"B\" kin: \"A\" }"),
              HasSubstr("kin: rows form a cycle"));
  EXPECT_THAT(parse_error("architecture: \"mine\" base: \"sm_90\" opcode { issue_interval_cycles: 1 }"), HasSubstr("has no name"));
}

TEST(ArchitectureDiagnostics, FaultyTables) {
  const std::string classes =
      "architecture: \"mine\" latency_class { name: \"alu\" register_result { consumer: \"*\" cycles: 4 } } ";
  EXPECT_EQ(parse_error(classes + "opcode { name: \"A\" issue_interval_cycles: 1 latency_class: \"alu\" }"), "parsed");
  EXPECT_THAT(parse_error(classes + "opcode { name: \"A\" issue_interval_cycles: 0 latency_class: \"alu\" }"),
              HasSubstr("expected 1 to 64"));
  EXPECT_THAT(parse_error(classes + "opcode { name: \"A\" issue_interval_cycles: 1 latency_class: \"al\" }"),
              HasSubstr("unknown latency class \"al\""));
  EXPECT_THAT(parse_error(classes + "opcode { name: \"A\" name: \"A\" issue_interval_cycles: 1 latency_class: \"alu\" }"),
              HasSubstr("opcode A has two rows"));
  EXPECT_THAT(parse_error(classes + "opcode { issue_interval_cycles: 1 latency_class: \"alu\" }"), HasSubstr("has no name"));
  EXPECT_THAT(
      parse_error(classes + "opcode { name: \"A\" issue_interval_cycles: 1 minimum_stall_cycles: 16 latency_class: \"alu\" }"),
      HasSubstr("at most 15"));
  EXPECT_THAT(parse_error("latency_class { name: \"alu\" register_result { consumer: \"fma\" cycles: 4 } }"),
              HasSubstr("unknown consumer \"fma\""));
  EXPECT_THAT(parse_error("architecture \"mine\" opcodes { }"), HasSubstr("mine.textproto:1"));
}

}  // namespace warpfold::isa

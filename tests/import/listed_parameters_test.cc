// The signature of a kernel from the attributes that nvdisasm prints.
#include "traces/import/listed_parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.h"

namespace warpfold::sass {
namespace {

using testing::HasSubstr;

std::string hexadecimal(uint32_t value) {
  constexpr const char* kDigits = "0123456789abcdef";
  return {kDigits[value >> 4 & 15], kDigits[value & 15]};
}

// As nvdisasm prints EIATTR_KPARAM_INFO, the last parameter first.
std::string attributes(const std::vector<ListedParameter>& parameters) {
  std::string text = "\t.section\t.nv.info.kernel,\"\",@\"SHT_CUDA_INFO\"\n\t.align\t4\n";
  for (size_t i = parameters.size(); i-- > 0;) {
    const uint32_t size = parameters[i].bytes << 18 | 0x1f000;
    text +=
        "\t//----- nvinfo : EIATTR_KPARAM_INFO\n\t.align\t\t4\n /*001c*/ \t.byte\t0x04, 0x17\n /*001e*/ \t.short\t(.L_1 - "
        ".L_0)\n.L_" +
        std::to_string(i) + ":\n /*0020*/ \t.word\t0x00000000\n /*0024*/ \t.short\t0x00" + hexadecimal(static_cast<uint32_t>(i)) +
        "\n /*0026*/ \t.short\t0x00" + hexadecimal(parameters[i].offset) + "\n /*0028*/ \t.byte\t0x" + hexadecimal(size) + ", 0x" +
        hexadecimal(size >> 8) + ", 0x" + hexadecimal(size >> 16) + ", 0x" + hexadecimal(size >> 24) + "\n\n";
  }
  return text;
}

// k(char, int, double, struct of 8 bytes) that stores the int, if the last field of the struct is 7.
const std::string kCode =
    ".section\t.text.kernel,\"ax\",@progbits\n.text.kernel:\nLDC.U8 R1, c[0x0][0x160] ;\nMOV R2, c[0x0][0x164] ;\n"
    "ISETP.EQ.AND P0, PT, R2, 0x9, PT ;\nMOV R3, c[0x0][0x174] ;\nISETP.EQ.AND P0, PT, R3, 0x7, P0 ;\n@!P0 EXIT ;\nNOP ;\nEXIT ;\n";
const std::vector<ListedParameter> kSignature = {{0, 1}, {4, 4}, {8, 8}, {16, 8}};

Expected<Imported> import_with(const std::string& parameters, const std::vector<ListedParameter>& signature = kSignature) {
  configs::KernelLaunch launch;
  const std::string text = "architecture: \"sm_80\" grid { x: 1 } block { x: 32 } " + parameters;
  if (auto parsed = configs::parse_text("launch.textproto", text, launch); !parsed) return std::unexpected(parsed.error());
  return import_listing("k.sass", attributes(signature) + kCode, launch, {});
}

TEST(ListedParameters, SayWhatTheDescriptionDoesNot) {
  const auto imported = import_with(
      "parameter { value: 1 } parameter { value: 9 } parameter { real: 2 } parameter { value: 5 bytes: 4 } parameter { value: 7 "
      "bytes: 4 }");
  ASSERT_TRUE(imported) << message_of(imported);
  EXPECT_EQ(traces::issued_instructions(imported->kernel), 8U);
}

TEST(ListedParameters, ThatAreMissingAreNamedByTheirPlace) {
  EXPECT_THAT(
      message_of(import_with("parameter { value: 1 } parameter { offset: 16 value: 5 bytes: 4 } parameter { value: 7 bytes: 4 }")),
      HasSubstr("c[0x0][0x164], parameter 2 of 4 at offset 4 that the launch description does not give: parameter { offset: 4 "
                "value: N }"));
  // The high word of a parameter of eight bytes, and a word of a struct.
  EXPECT_THAT(
      message_of(import_with("parameter { value: 1 } parameter { value: 9 }")),
      HasSubstr("c[0x0][0x174], parameter 4 of 4 at offset 16 that the launch description does not give: parameter { offset: "
                "16 value: N } (a pointer: array: \"NAME\")"));
  EXPECT_THAT(message_of(import_with("parameter { value: 1 } parameter { value: 9 }", {{0, 1}, {4, 4}, {8, 8}, {16, 16}})),
              HasSubstr("c[0x0][0x174], parameter 4 of 4 at offset 20 that"));
}

TEST(ListedParameters, ThatContradictTheDescriptionAreSaidWithIt) {
  EXPECT_THAT(
      message_of(import_with("parameter { value: 1 bytes: 4 } parameter { value: 9 }")),
      HasSubstr("the parameter has 4 bytes at offset 0, and the compiled code's signature one of 1 at offset 0; state bytes: 1"));
  EXPECT_THAT(message_of(import_with("parameter { value: 1 } parameter { value: 9 bytes: 8 }")),
              HasSubstr("the parameter has 8 bytes at offset 4, and the compiled code's signature one of 4 at offset 4"));
  EXPECT_THAT(message_of(import_with("parameter { value: 1 } parameter { value: 9 bytes: 2 }")),
              HasSubstr("the parameter has 2 bytes at offset 4, and the compiled code's signature one of 4 at offset 4"));
}

// A number that only sizes of arrays follow from stands behind the signature.
TEST(ListedParameters, MayBeFewerThanTheDescriptions) {
  const auto imported = import_with(
      "parameter { value: 1 } parameter { value: 9 } parameter { real: 2 } parameter { value: 7 bytes: 8 } parameter { value: 3 }");
  ASSERT_TRUE(imported) << message_of(imported);
}

TEST(ListedParameters, AreReadOrSkipped) {
  ParameterReader reader;
  ListedParameter parameter;
  const std::string text = attributes({{8, 12}});
  size_t found = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    std::string line = text.substr(at, end - at);
    line.erase(0, line.find_first_not_of(" \t"));
    found += reader.read(line, parameter) ? 1 : 0;
    at = end + 1;
  }
  EXPECT_EQ(found, 1U);
  EXPECT_EQ(parameter, (ListedParameter{8, 12}));
  for (const std::string line : {"/*0000*/ .byte 0x04, 0x17", "/*0002*/ .short (.L_1 - .L_0)", "/*0004*/ .byte 0x03, 0x1b"}) {
    EXPECT_FALSE(reader.read(line, parameter)) << line;
  }
  EXPECT_FALSE(reader.read("/*0006*/ .byte", parameter));
  EXPECT_FALSE(reader.read("/*0006*/ .byte 0xzz", parameter));
}

// A switch over 3 ways: its table is in bank 2, where it leads beside the BRX.
std::string switch_of(const std::string& selector, const std::string& table) {
  return "\t.section\t.nv.constant2.kernel,\"a\",@progbits\n\t.align 4\n.nv.constant2.kernel:\n /*0000*/ \t.byte " + table +
         "\n\t.section\t.nv.constant3,\"a\",@progbits\n.nv.constant3:\n /*0000*/ \t.word 0x00000002, 0x00000001\n"
         "\t.section\t.text.kernel,\"ax\",@progbits\n.text.kernel:\n" +
         selector +
         "SHF.L.U32 R0, R0, 0x2, RZ ;\nLDC R4, c[0x2][R0] ;\nBRX R4 -0x40 (*\"BRANCH_TARGETS .L_1,.L_2,.L_3\"*) ;\n"
         ".L_1:\nBRA `(.L_3) ;\n.L_2:\nNOP ;\nNOP ;\n.L_3:\nEXIT ;\n";
}

const std::string kTable = "0x40, 0x00, 0x00, 0x00, 0x50, 0x00, 0x00, 0x00, 0x70, 0x00, 0x00, 0x00";

Expected<Imported> import_switch(const std::string& selector, const std::string& more = "", const std::string& table = kTable) {
  configs::KernelLaunch launch;
  const std::string text =
      "architecture: \"sm_80\" grid { x: 1 } block { x: 32 } array { name: \"k\" bytes: 4 } parameter { array: \"k\" } ";
  if (auto parsed = configs::parse_text("launch.textproto", text + more, launch); !parsed) return std::unexpected(parsed.error());
  return import_listing("k.sass", switch_of(selector, table), launch, {});
}

uint64_t issued(const Expected<Imported>& imported) {
  EXPECT_TRUE(imported) << message_of(imported);
  return imported ? traces::issued_instructions(imported->kernel) : 0;
}

TEST(ConstantBanks, LeadASwitchToItsWay) {
  EXPECT_EQ(issued(import_switch("MOV R0, 0x0 ;\n")), 6U);
  EXPECT_EQ(issued(import_switch("MOV R0, 0x1 ;\n")), 7U);
  EXPECT_EQ(issued(import_switch("MOV R0, 0x2 ;\n")), 5U);
  EXPECT_EQ(issued(import_switch("MOV R0, c[0x3][0x4] ;\n")), 7U);
  // Half of the lanes go each of the first two ways. BRX lies 16 bytes further on, and so does all behind it.
  EXPECT_EQ(issued(import_switch("S2R R0, SR_LANEID ;\nLOP3.LUT R0, R0, 0x1, RZ, 0xc0, !PT ;\n")), 9U);
}

TEST(ConstantBanks, AskWhereASwitchHangsOnData) {
  const std::string load = "LDG.E R0, [R2.64] ;\n";
  const std::string message = message_of(import_switch(load, "answer { line: 10 sectors: 1 }"));
  EXPECT_THAT(message, HasSubstr("BRX: where it leads hangs on LDG.E in line 10"));
  EXPECT_THAT(message, HasSubstr("answer { line: 10 value: N }"));
  EXPECT_EQ(issued(import_switch(load, "answer { line: 10 sectors: 1 } answer { line: 10 value: 1 }")), 7U);
}

TEST(ConstantBanks, RefuseAWayThatIsNone) {
  EXPECT_THAT(message_of(import_switch("MOV R0, 0x0 ;\n", "", "0x44, 0x00, 0x00, 0x00")),
              HasSubstr("BRX: its target is none of those that the listing names"));
  EXPECT_THAT(message_of(import_switch("MOV R0, 0x9 ;\n")), HasSubstr("BRX: where it leads hangs on LDC"));
  EXPECT_THAT(message_of(import_lines("BRX R4 -0x10 ;\nEXIT ;\n", "architecture: \"sm_80\" grid { x: 1 } block { x: 32 }")),
              HasSubstr("nvdisasm -hex FILE, without -c, prints that and the table of the switch"));
}

}  // namespace
}  // namespace warpfold::sass

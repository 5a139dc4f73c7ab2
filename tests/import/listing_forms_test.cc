#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.h"
#include "traces/import/annotations.h"
#include "traces/import/listed_sections.h"
#include "traces/import/text_form.h"

// Forms of listings: dumps of several architectures, PTX between them, annotations, prefixes, and content that is not text.

namespace warpfold::sass {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using namespace std::string_view_literals;

std::string code_for(const std::string& architecture, const std::string& lines) {
  return "Fatbin elf code:\n================\narch = " + architecture + "\ncode version = [1,7]\n\n\tcode for " + architecture +
         "\n\t\tFunction : k\n" + lines + "\t\t..........\n\n";
}

const std::string kPtx =
    "Fatbin ptx code:\n================\narch = sm_90\n\n.version 8.7\n.target sm_90\n.visible .entry k(\n.param .u64 p\n)\n{\n"
    "ld.param.u64 %rd1, [p];\nret;\n}\n\n";

Expected<Imported> import_text(const std::string& text, const std::string& launch) {
  configs::KernelLaunch description;
  if (auto parsed = configs::parse_text("launch.textproto", launch + " grid { x: 1 } block { x: 32 }", description); !parsed)
    return std::unexpected(parsed.error());
  return import_listing("dump.sass", text, description, {});
}

TEST(ListingForms, DumpsOfSeveralArchitecturesAreReadByArchitecture) {
  const std::string dump = code_for("sm_80", "NOP ;\nEXIT ;\n") + kPtx + code_for("sm_90", "VIADD R1, R2, R3 ;\nNOP ;\nEXIT ;\n");
  EXPECT_THAT(architectures_of(dump), ElementsAre("sm_80", "sm_90"));
  const auto instructions = [&dump](const std::string& architecture) {
    const auto imported = import_text(dump, "function: \"k\" architecture: \"" + architecture + "\"");
    EXPECT_TRUE(imported) << message_of(imported);
    return imported ? traces::issued_instructions(imported->kernel) : 0;
  };
  EXPECT_EQ(instructions("sm_80"), 2U);
  EXPECT_EQ(instructions("sm_90a"), 3U);
  EXPECT_THAT(message_of(import_text(dump, "function: \"k\"")),
              HasSubstr("the listing has code for sm_80, sm_90; state one, as architecture: \"sm_80\""));
  EXPECT_THAT(message_of(import_text(dump, "architecture: \"sm_86\"")), HasSubstr("the listing has code for sm_80, sm_90"));
}

TEST(ListingForms, PtxIsSkipped) {
  const auto imported = import_text(code_for("sm_86", "NOP ;\nEXIT ;\n") + kPtx, "");
  ASSERT_TRUE(imported) << message_of(imported);
  EXPECT_EQ(traces::issued_instructions(imported->kernel), 2U);
  EXPECT_THAT(message_of(import_text(kPtx, "architecture: \"sm_90\"")), HasSubstr("no function"));
}

TEST(ListingForms, AnnotationsAreControlCodes) {
  std::string_view line = "LDC R0, c[0x0][0x360]  &req={1,0} &rd=0x2 &wr=0x3   ?WAIT5_END_GROUP;";
  EXPECT_EQ(take_annotations(line), (isa::ControlCode{5, true, 3, 2, 0b11}));
  EXPECT_EQ(line, "LDC R0, c[0x0][0x360]  ");
  line = "EXIT   ?trans12;";
  EXPECT_EQ(take_annotations(line), (isa::ControlCode{12, false, isa::kNoCounter, isa::kNoCounter, 0}));
  line = "EXIT ;";
  EXPECT_EQ(take_annotations(line), std::nullopt);
  const auto imported = import_text(
      "\t.target\tsm_120\n.text.k:\n/*0000*/ S2R R0, SR_TID.X &wr=0x1 ?trans7;\n"
      "/*0010*/ IADD3 R0, PT, PT, R0, 0x11, RZ &req={1} ?WAIT5_END_GROUP;\n/*0020*/ EXIT ?trans5;\n",
      "");
  ASSERT_TRUE(imported) << message_of(imported);
  EXPECT_TRUE(imported->report.control_codes);
  const auto& code = std::get<traces::Block>(imported->kernel.roles[0].body[0]).code;
  EXPECT_EQ(code[0].control.write_counter, 1);
  EXPECT_EQ(code[1].control.wait_mask, 2);
}

TEST(ListingForms, ControlCodesMayStandBeforeTheOffset) {
  const auto imported = import_text(
      "\tcode for sm_86\n\t.section  .text.k, \"ax\", @progbits\n  .text.k:\n    [B------:R-:W0:-:S02]  /*0000*/  S2R R0, SR_TID.X "
      ";\n"
      "    [B0-----:R-:W-:Y:S05]  /*0010*/  EXIT ;\n",
      "function: \"k\"");
  ASSERT_TRUE(imported) << message_of(imported);
  EXPECT_TRUE(imported->report.control_codes);
  const auto& code = std::get<traces::Block>(imported->kernel.roles[0].body[0]).code;
  EXPECT_EQ(code[0].control, (isa::ControlCode{2, false, 0, isa::kNoCounter, 0}));
  EXPECT_EQ(code[1].control, (isa::ControlCode{5, true, isa::kNoCounter, isa::kNoCounter, 1}));
}

TEST(ListingForms, LinesWithoutAnEndAreNoRemarks) {
  EXPECT_THAT(message_of(import_text("\tcode for sm_86\n\tFunction : k\nNOP ;\nFRABJOUS R1, R0\nEXIT ;\n", "")),
              StartsWith("dump.sass:4:1: the listing breaks off: expected ; at the end of an instruction"));
}

TEST(ListingForms, WhatIsNoTextIsNamed) {
  const auto message = [](std::string_view text) { return message_of(import_text(std::string(text), "")); };
  EXPECT_THAT(message("\n \n"), StartsWith("dump.sass:1:1: the file is empty"));
  EXPECT_THAT(message("\x7f"
                      "ELF\x02\x01"),
              StartsWith("dump.sass:1:1: this is a binary, no listing; disassemble it"));
  std::string wide;
  for (const char c : std::string("\tcode for sm_120\n\t\tFunction : k\n")) wide += std::string{c, '\0'};
  EXPECT_THAT(message(wide), StartsWith("dump.sass:1:1: the text is UTF-16"));
  EXPECT_THAT(message("\xff\xfe" + wide), StartsWith("dump.sass:1:1: the text is UTF-16"));
  EXPECT_THAT(message("NOP ;\0\0\0\0\0\0EXIT ;"sv), StartsWith("dump.sass:1:1: this is a binary"));
  EXPECT_THAT(message("int main() { return 0; }\n"), HasSubstr("no function; expected the text of cuobjdump -sass or nvdisasm"));
}

}  // namespace
}  // namespace warpfold::sass

#include <gtest/gtest.h>

#include "configs/read_file.h"
#include "isa/architecture.h"
#include "isa/assembler.h"
#include "support.h"
#include "traces/import/encoding.h"
#include "traces/import/flow.h"
#include "traces/import/listed_sections.h"
#include "traces/trace_file.h"

namespace warpfold::sass {
namespace {

Listing read(const std::string& name) {
  const std::string text = read_file(data_file(name)).value();
  return read_listing(name, text, **isa::Architecture::find("sm_80")).value();
}

TEST(Listing, BothDisassemblersGiveFunctionsWithTheirHeaders) {
  const Listing nvdisasm = read("philox_sm_80.sass");
  ASSERT_EQ(nvdisasm.functions.size(), 1U);
  EXPECT_EQ(nvdisasm.functions[0].name, "philox_7");
  EXPECT_EQ(nvdisasm.functions[0].registers, 27U);
  const Listing cuobjdump = read("configs/kernels/elementwise_sm_80.sass");
  ASSERT_EQ(cuobjdump.functions.size(), 2U);
  EXPECT_EQ(cuobjdump.functions[0].name, "row_sums");
  EXPECT_EQ(cuobjdump.functions[1].name, "scale_add");
  EXPECT_EQ(architectures_of("\tcode for sm_90a\n"), std::vector<std::string>{"sm_90"});
  EXPECT_EQ(architectures_of(".headerflags\t@\"EF_CUDA_SM80 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM80)\""),
            std::vector<std::string>{"sm_80"});
  EXPECT_TRUE(architectures_of("nothing").empty());
}

// cuobjdump -sass -res-usage and nvdisasm print different figures of the same kernel: on sm_90 with the system's 1024 bytes.
TEST(Listing, ResourcesAreThoseOfEitherDisassembler) {
  const std::string code = "\t\tFunction : tiles\n/*0000*/ LDS R2, [R0] ;\n/*0010*/ EXIT ;\n";
  const auto resources = [](const std::string& text, const char* architecture) {
    const Listing listing = read_listing("tiles", text, **isa::Architecture::find(architecture)).value();
    return std::pair(listing.functions.at(0).registers, listing.functions.at(0).shared_bytes);
  };
  const std::string usage =
      "Resource usage:\n Common:\n  GLOBAL:0\n Function other:\n  REG:8 STACK:0 SHARED:64 LOCAL:0\n"
      " Function tiles:\n  REG:10 STACK:0 SHARED:5120 LOCAL:0 CONSTANT[0]:540\n";
  EXPECT_EQ(resources(usage + code, "sm_80"), std::pair(10U, 5120U));
  EXPECT_EQ(resources(usage + "\tcode for sm_90a\n" + code, "sm_90"), std::pair(10U, 4096U));
  EXPECT_EQ(resources("\tcode for sm_80\n" + usage + code, "sm_90"), std::pair(10U, 5120U));  // on another machine
  const std::string section = "\t.section\t.nv.shared.tiles,\"aw\",@nobits\n\t.align\t4\n.nv.shared.tiles:\n\t.zero\t\t5120\n";
  EXPECT_EQ(resources(code + section, "sm_80"), std::pair(0U, 5120U));
  EXPECT_EQ(resources(section + code, "sm_90"), std::pair(0U, 4096U));
}

TEST(Listing, InstructionsKnowTheirLinesAndThoseOfTheSource) {
  const std::string name = "configs/kernels/elementwise_lines_sm_80.sass";
  const Listing listing = read(name);
  const auto place_of = [&](std::string_view mnemonic) {
    const auto& code = listing.functions.at(0).code;
    const auto found =
        std::ranges::find(code, mnemonic, [](const ListedInstruction& listed) { return listed.instruction.mnemonic; });
    EXPECT_EQ(found->instruction.place.line, name + ":" + std::to_string(found->line));
    return found->instruction.place.sources;
  };
  EXPECT_EQ(place_of("S2R"), std::vector<std::string>{"elementwise.cu:13"});
  EXPECT_EQ(place_of("LDG.E"), std::vector<std::string>{"elementwise.cu:19"});
  EXPECT_EQ(place_of("SHFL.BFLY"), (std::vector<std::string>{"sm_30_intrinsics.hpp:449", "elementwise.cu:21"}));
  EXPECT_TRUE(read("philox_sm_80.sass").functions.at(0).code.at(0).instruction.place.sources.empty());
}

TEST(Listing, PlacesAreNoPartOfWhatAKernelIs) {
  const auto one = import_lines("NOP ;\nEXIT ;\n", "architecture: \"sm_80\" grid { x: 4 } block { x: 64 }");
  const auto other = import_lines("// further down\n//## File \"k.cu\", line 7\nNOP ;\nEXIT ;\n",
                                  "architecture: \"sm_80\" grid { x: 4 } block { x: 64 }");
  ASSERT_TRUE(one);
  ASSERT_TRUE(other);
  const auto place = [](const Imported& imported) {
    return std::get<traces::Block>(imported.kernel.roles[0].body[0]).code[0].place;
  };
  EXPECT_EQ(place(*one).line, "kernel.sass:2");
  EXPECT_EQ(place(*other).line, "kernel.sass:4");
  EXPECT_EQ(place(*other).sources, std::vector<std::string>{"k.cu:7"});
  EXPECT_EQ(one->kernel, other->kernel);
  EXPECT_EQ(traces::format_kernels({one->kernel}), traces::format_kernels({other->kernel}));
}

TEST(Listing, BrokenSourceLinesAreRemarks) {
  for (const std::string remark : {"//## File \"k.cu", "//## File k.cu, line 7", "//## File \"k.cu\", line x", "//## File \""}) {
    const auto imported = import_lines(remark + "\nEXIT ;\n", "architecture: \"sm_80\" grid { x: 4 } block { x: 64 }");
    ASSERT_TRUE(imported) << remark;
    EXPECT_TRUE(std::get<traces::Block>(imported->kernel.roles[0].body[0]).code[0].place.sources.empty()) << remark;
  }
}

TEST(Listing, ControlCodesComeFromTheEncoding) {
  const isa::ControlCode load = decode_control(0x000ea2000c1e1900);  // LDG.E, whose reader waits for SB2
  EXPECT_EQ(isa::format_control(load), "[B------:R-:W2:-:S01]");
  EXPECT_EQ(isa::format_control(decode_control(0x004fd40000010000)), "[B--2---:R-:W-:Y:S10]");
  EXPECT_EQ(isa::format_control(decode_control(0x000fe40000000f00)), "[B------:R-:W-:-:S02]");
  EXPECT_EQ(isa::format_control(decode_control(0x000fca00000f1409)), "[B------:R-:W-:Y:S05]");
  const Listing gemm = read("gemm_sm_80.sass");
  for (const ListedInstruction& listed : gemm.functions[0].code) EXPECT_TRUE(listed.has_control);
}

TEST(Listing, OffsetsAndLabelsNameTheSamePlaces) {
  const isa::Architecture& architecture = **isa::Architecture::find("sm_80");
  const Listing offsets = read("configs/kernels/elementwise_sm_80.sass");
  const Listing labels = read("philox_sm_80.sass");
  for (const Listing* listing : {&offsets, &labels}) {
    const Function& function = listing->functions.front();
    const auto ops = decode(*listing, function, architecture).value();
    const Flow flow = make_flow("f", ops).value();
    EXPECT_EQ(flow.loops.size(), 1U) << function.name;  // the padding behind EXIT is never reached
  }
}

}  // namespace
}  // namespace warpfold::sass

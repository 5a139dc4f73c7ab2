#include <gtest/gtest.h>

#include "configs/read_file.h"
#include "isa/architecture.h"
#include "isa/assembler.h"
#include "support.h"
#include "traces/import/encoding.h"
#include "traces/import/flow.h"

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
  EXPECT_EQ(architecture_of("\tcode for sm_90a\n"), "sm_90");
  EXPECT_EQ(architecture_of(".headerflags\t@\"EF_CUDA_SM80 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM80)\""), "sm_80");
  EXPECT_EQ(architecture_of("nothing"), "");
}

TEST(Listing, ControlCodesComeFromTheEncoding) {
  const isa::ControlCode load = decode_control(0x000ea2000c1e1900);  // LDG.E, whose reader waits for SB2
  EXPECT_EQ(isa::format_control(load), "[B------:R-:W2:-:S01]");
  EXPECT_EQ(isa::format_control(decode_control(0x004fd40000010000)), "[B--2---:R-:W-:Y:S10]");
  EXPECT_EQ(isa::format_control(decode_control(0x000fe40000000f00)), "[B------:R-:W-:-:S02]");
  EXPECT_EQ(isa::format_control(decode_control(0x000fca00000f1409)), "[B------:R-:W-:Y:S05]");
  for (const ListedInstruction& listed : read("gemm_sm_80.sass").functions[0].code) EXPECT_TRUE(listed.has_control);
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

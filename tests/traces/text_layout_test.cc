// The layout of the text form: the parts that it changes, the parts that it leaves, and that the kernels stay.
#include "traces/text_layout.h"

#include <gtest/gtest.h>

#include "samples.h"
#include "traces/trace_file.h"

namespace warpfold::traces {
namespace {

const std::string kUntidy =
    "\n# Head.\nkernel  \"s  u m\" architecture = sm_90 source=\"a = \\\" b\"\n\tparameter n\n\n\n  class all n = 3\n"
    " grid all * 2\n  stream X read dram=1 / 1\n  role r warps=1\n # In the role.\n  loop n\n"
    "@ !PT   LDG.E R4,[R2.64 + 0x10] {bytes = 128  stream=X}\nFADD R20 , R4,R20;\n end\nblock\n\tEXIT\r\nend\nend\n# Foot.\n\n";
const std::string kTidy = R"(# Head.
kernel "s  u m" architecture=sm_90 source="a = \" b"
  parameter n

  class all n=3
  grid all*2
  stream X read dram=1/1
  role r warps=1
    # In the role.
    loop n
      @!PT LDG.E R4, [R2.64 + 0x10] ; {bytes=128 stream=X}
      FADD R20, R4, R20 ;
    end
    block
    EXIT ;
  end
end
# Foot.
)";

TEST(TextLayout, ChangesBlanksAndLeavesWordsAndComments) {
  const auto laid_out = lay_out_text("k.wfs", kUntidy);
  ASSERT_TRUE(laid_out) << laid_out.error().text();
  EXPECT_EQ(*laid_out, kTidy);
  EXPECT_EQ(parse_kernels("k.wfs", kTidy).value(), parse_kernels("k.wfs", kUntidy).value());
}

TEST(TextLayout, LeavesWhatIsLaidOutAlready) {
  EXPECT_EQ(lay_out_text("k.wfs", kTidy).value(), kTidy);
  EXPECT_EQ(lay_out_text("k.wfs", kSampleText).value(), kSampleText);
}

TEST(TextLayout, GivesBackThePrintedTextFromAnyBlanks) {
  std::string stretched;
  bool quoted = false;
  for (const char c : kSampleText) {
    if (c == '"') quoted = !quoted;
    stretched += c;
    if (!quoted && c == ' ') stretched += "\t ";
  }
  EXPECT_EQ(lay_out_text("k.wfs", stretched).value(), kSampleText);
}

TEST(TextLayout, IsRefusedToATextThatIsNoKernel) {
  EXPECT_EQ(lay_out_text("k.wfs", "kernel k architecture=sm_90\n  gird all*1\n").error().text(),
            "k.wfs:2:3: unknown statement \"gird\" in kernel k; did you mean \"grid\"?");
}

}  // namespace
}  // namespace warpfold::traces

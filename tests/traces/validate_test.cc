#include "traces/validate.h"
#include "isa/architecture.h"
#include "isa/assembler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <ostream>

#include "samples.h"

namespace warpfold::traces {
namespace {

using testing::HasSubstr;

// A change that makes the sample wrong, and the expected message of validate().
struct Case {
  std::string name;
  std::string message;
  std::function<void(Kernel&)> spoil;
};

void PrintTo(const Case& each, std::ostream* out) { *out << each.name; }

std::vector<isa::Instruction>& code(Kernel& kernel, size_t role, size_t node) {
  return std::get<Block>(kernel.roles[role].body[node]).code;
}
// The body of the producer's inner loop: the mbarrier wait, the arrival and the bulk load.
std::vector<isa::Instruction>& producer_step(Kernel& kernel) {
  Loop& tiles = std::get<Loop>(kernel.roles[0].body[1]);
  return std::get<Block>(std::get<Loop>(tiles.body[1]).body[0]).code;
}
// The body of the consumer's inner loop; instruction 2 is the wgmma.
std::vector<isa::Instruction>& consumer_step(Kernel& kernel) {
  Loop& tiles = std::get<Loop>(kernel.roles[1].body[2]);
  return std::get<Block>(std::get<Loop>(tiles.body[0]).body[0]).code;
}
// BAR, STG and IMAD after that loop.
std::vector<isa::Instruction>& consumer_tail(Kernel& kernel) {
  Loop& tiles = std::get<Loop>(kernel.roles[1].body[2]);
  return std::get<Block>(tiles.body[1]).code;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"Architecture", "kernel sample: ", [](Kernel& k) { k.architecture = "sm_99"; }},
      {"NoName", "a kernel without a name", [](Kernel& k) { k.name = ""; }},
      {"RoleName", "role \"two words\" is not a name: a letter, then letters, digits, underscores, dots and dashes",
       [](Kernel& k) { k.roles[0].name = "two words"; }},
      {"RingName", "ring \"\" is not a name", [](Kernel& k) { k.rings[0].name = ""; }},
      {"CursorName", "cursor \"1st\" is not a name", [](Kernel& k) { k.cursors[0].name = "1st"; }},
      {"StreamName", "stream \"a=b\" is not a name", [](Kernel& k) { k.streams[0].name = "a=b"; }},
      {"ClassName", "class \"a*b\" is not a name", [](Kernel& k) { k.cta_classes[0].name = "a*b"; }},
      {"ParameterName", "parameter \"\\xff\" is not a name", [](Kernel& k) { k.parameters[0] = "\xff"; }},
      {"SameName", "the ring full exists twice", [](Kernel& k) { k.rings[1].name = "full"; }},
      {"NoRegisters", "0 registers a thread; 1-255", [](Kernel& k) { k.registers_per_thread = 0; }},
      {"ManyRegisters", "256 registers a thread; 1-255", [](Kernel& k) { k.registers_per_thread = 256; }},
      {"RingDepth", "ring full: depth 0", [](Kernel& k) { k.rings[0].depth = 0; }},
      {"RingTooDeep", "ring full: depth 5000; a ring has 1-4096 stages", [](Kernel& k) { k.rings[0].depth = 5000; }},
      {"Cursors", "9 cursors; a warp has at most 8",
       [](Kernel& k) {
         for (int i = 0; k.cursors.size() < 9; ++i) k.cursors.push_back({"c" + std::to_string(i), 1, 0});
       }},
      {"Counter", "DEPBAR waits for one of SB0-SB5",
       [](Kernel& k) {
         const isa::Architecture& architecture = **isa::Architecture::find("sm_90");
         code(k, 1, 0)[0] = *isa::parse_instruction(architecture, "DEPBAR.LE SB9, 0x0 ;", "", 1);
       }},
      {"RingArrivals", "ring full: 0 arrivals", [](Kernel& k) { k.rings[0].arrivals = 0; }},
      {"RingArrivalsMany", "ring full: 1048576 arrivals; a phase takes 1-1048575",
       [](Kernel& k) { k.rings[0].arrivals = 1U << 20U; }},
      {"CursorDepth", "cursor load: depth 0", [](Kernel& k) { k.cursors[0].depth = 0; }},
      {"DramShare", "stream A: 9/8 of the bytes from DRAM", [](Kernel& k) { k.streams[0].dram_numerator = 9; }},
      {"DramDivision", "stream A: 1/0 of the bytes from DRAM", [](Kernel& k) { k.streams[0].dram_denominator = 0; }},
      {"NoRoles", "no roles", [](Kernel& k) { k.roles.clear(); }},
      {"NoWarps", "role producer: no warps", [](Kernel& k) { k.roles[0].warps = 0; }},
      {"ManyWarps", "36 warps in a CTA; it has at most 32", [](Kernel& k) { k.roles[0].warps = 32; }},
      {"OverflowingWarps", "4294967299 warps in a CTA", [](Kernel& k) { k.roles[0].warps = 0xffffffff; }},
      {"ClassValues", "class edge: 1 values for 2 parameters", [](Kernel& k) { k.cta_classes[1].values.pop_back(); }},
      {"ClassZero", "loop before instruction 3: class edge has steps=0; only a loop with code behind it can be skipped",
       [](Kernel& k) { k.cta_classes[1].values[1] = 0; }},
      {"EmptyGrid", "an empty grid", [](Kernel& k) { k.grid.clear(); }},
      {"GridClass", "grid: class 2; the kernel has 2", [](Kernel& k) { k.grid[0].cta_class = 2; }},
      {"GridCount", "grid: 0 CTAs of class full", [](Kernel& k) { k.grid[0].count = 0; }},
      {"NoCluster", "clusters of 0 CTAs", [](Kernel& k) { k.cluster_ctas = 0; }},
      {"LargeCluster", "clusters of 17 CTAs; 1-16", [](Kernel& k) { k.cluster_ctas = 17; }},
      {"PartCluster", "10 CTAs are not whole clusters of 4", [](Kernel& k) { k.cluster_ctas = 4; }},
      {"TooManyInstructions", "more instructions than 64 bits",
       [](Kernel& k) {
         k.cta_classes[0].values = {1ULL << 40U, 1ULL << 40U};
       }},
      {"EmptyRole", "role producer: no instructions", [](Kernel& k) { k.roles[0].body.clear(); }},
      {"NoExit", "role producer: does not end with EXIT", [](Kernel& k) { k.roles[0].body.pop_back(); }},
      {"EarlyExit", "role producer: instruction 1 (EXIT): EXIT before the end of the role",
       [](Kernel& k) { code(k, 0, 0)[0] = instruction("EXIT ;"); }},
      {"ExitInLoop", "role producer: instruction 5 (EXIT): EXIT before the end of the role",
       [](Kernel& k) {
         k.roles[0].body.pop_back();
         producer_step(k)[2] = instruction("EXIT ;");
       }},
      {"GuardedExit", "role producer: instruction 6 (EXIT): the EXIT that ends a role cannot have a guard",
       [](Kernel& k) { code(k, 0, 2)[0] = instruction("@P0 EXIT ;"); }},
      {"LastExitPassedBy", "role producer: instruction 6 (EXIT): the EXIT that ends a role cannot have a guard",
       [](Kernel& k) { code(k, 0, 2)[0] = instruction("@!PT EXIT ;"); }},
      {"ZeroTrips", "role producer: loop before instruction 2: 0 trips",
       [](Kernel& k) { std::get<Loop>(k.roles[0].body[1]).trips = {.literal = 0}; }},
      {"TripParameter", "loop before instruction 2: parameter 2 of 2",
       [](Kernel& k) { std::get<Loop>(k.roles[0].body[1]).trips = {.parameter = 2}; }},
      {"NegativeTripParameter", "loop before instruction 2: parameter -2 of 2",
       [](Kernel& k) { std::get<Loop>(k.roles[0].body[1]).trips = {.parameter = -2}; }},
      {"TripsTwice", "loop before instruction 2: both a parameter and a number",
       [](Kernel& k) { std::get<Loop>(k.roles[0].body[1]).trips = {.literal = 2, .parameter = 1}; }},
      {"EmptyLoop", "loop before instruction 2: no instructions inside",
       [](Kernel& k) { std::get<Loop>(k.roles[0].body[1]).body = {Block{}}; }},
      {"DeepLoops", "loop before instruction 1: more than 8 loops",
       [](Kernel& k) {
         Node inner = Block{{instruction("NOP ;")}};
         for (int depth = 0; depth < kDeepestLoops + 1; ++depth) inner = Loop{.trips = {}, .body = {inner}};
         k.roles[0].body.insert(k.roles[0].body.begin(), inner);
       }},
      {"Opcode", "role producer: instruction 2 (IADD4)",
       [](Kernel& k) { std::get<Block>(std::get<Loop>(k.roles[0].body[1]).body[0]).code[0].mnemonic = "IADD4"; }},
      {"OpcodeNumber", "instruction 1 (USETMAXREG.DEALLOC.CTAPOOL): opcode number 65535",
       [](Kernel& k) { code(k, 0, 0)[0].opcode = 65535; }},
      {"MnemonicText", "a character that the text form cannot show", [](Kernel& k) { code(k, 0, 0)[0].mnemonic += ".\n"; }},
      {"OperandText", "a character that the text form cannot show", [](Kernel& k) { code(k, 0, 0)[0].operands[0].text += '\x80'; }},
      {"Stall", "stall count 16", [](Kernel& k) { code(k, 0, 0)[0].control.stall = 16; }},
      {"WriteCounter", "a dependence counter beyond SB5", [](Kernel& k) { code(k, 0, 0)[0].control.write_counter = 6; }},
      {"ReadCounter", "a dependence counter beyond SB5", [](Kernel& k) { code(k, 0, 0)[0].control.read_counter = 8; }},
      {"WaitMask", "a dependence counter beyond SB5", [](Kernel& k) { code(k, 0, 0)[0].control.wait_mask = 64; }},
      {"WgmmaWarps", "role consumer: wgmma needs the four warps of a warpgroup; the last warpgroup of the CTA has 3",
       [](Kernel& k) { k.roles[1].warps = 3; }},
      {"WgmmaAlignment",
       "role consumer: the four warps of a warpgroup issue the same wgmma instructions in the same order; warp 2 issues others "
       "than "
       "warp 0, of role producer",
       [](Kernel& k) { k.roles[0].warps = 2; }},
      {"WgmmaShape", "(HGMMA.F32): no shape", [](Kernel& k) { consumer_step(k)[2].mnemonic = "HGMMA.F32"; }},
      {"WgmmaShapeEnd", "(HGMMA.64x128): no shape", [](Kernel& k) { consumer_step(k)[2].mnemonic = "HGMMA.64x128"; }},
      {"WgmmaColumns", "12 columns; wgmma has 8-256", [](Kernel& k) { consumer_step(k)[2].mnemonic = "HGMMA.64x12x16"; }},
      {"BytesElsewhere", "instruction 1 (LDS.128): bytes and stream belong to",
       [](Kernel& k) { code(k, 1, 0)[0].effect.bytes = 512; }},
      {"NoBytesLoaded", "role producer: instruction 5 (UTMALDG.2D.MULTICAST): no bytes: state bytes=N",
       [](Kernel& k) { producer_step(k)[2].effect.bytes = 0; }},
      {"NoBytesStored", "(STG.E.128): no bytes: state bytes=N", [](Kernel& k) { consumer_tail(k)[1].effect.bytes = 0; }},
      {"HitWithBytes", "(STG.E.128): l1_hit belongs to", [](Kernel& k) { consumer_tail(k)[1].effect.l1_hit = true; }},
      {"HitElsewhere", "(UTMALDG.2D.MULTICAST): l1_hit belongs to",
       [](Kernel& k) {
         producer_step(k)[2].effect.bytes = 0;
         producer_step(k)[2].effect.l1_hit = true;
       }},
      {"StreamElsewhere", "bytes and stream belong to", [](Kernel& k) { code(k, 1, 0)[0].effect.stream = 0; }},
      {"Stream", "stream 2; the kernel has 2 streams", [](Kernel& k) { producer_step(k)[2].effect.stream = 2; }},
      {"NegativeStream", "stream -2; the kernel has 2 streams", [](Kernel& k) { producer_step(k)[2].effect.stream = -2; }},
      {"NoStreams", "stream 0; the kernel has no streams", [](Kernel& k) { k.streams.clear(); }},
      {"Multicast", "multicast=4 in a cluster of 2", [](Kernel& k) { producer_step(k)[2].effect.multicast = 4; }},
      {"NoMulticast", "multicast=0 in a cluster of 2", [](Kernel& k) { producer_step(k)[2].effect.multicast = 0; }},
      {"MulticastElsewhere", "multicast belongs to bulk loads", [](Kernel& k) { code(k, 1, 0)[0].effect.multicast = 2; }},
      {"MulticastBytes", "32767 bytes cannot be divided by multicast=2",
       [](Kernel& k) { producer_step(k)[2].effect.bytes = 32767; }},
      {"NoRing", "no ring: state barrier=N", [](Kernel& k) { producer_step(k)[0].effect.barrier = -1; }},
      {"Ring", "ring 2; the kernel has 2 rings", [](Kernel& k) { producer_step(k)[0].effect.barrier = 2; }},
      {"NoBarrier", "no barrier: state barrier=N", [](Kernel& k) { consumer_tail(k)[0].effect.barrier = -1; }},
      {"Barrier", "named barrier 16; a CTA has 0-15", [](Kernel& k) { consumer_tail(k)[0].effect.barrier = 16; }},
      {"BarrierElsewhere", "barrier belongs to", [](Kernel& k) { code(k, 1, 0)[0].effect.barrier = 0; }},
      {"BarrierOfStores", "(STG.E): barrier belongs to",
       [](Kernel& k) { code(k, 1, 0).push_back(instruction("STG.E [R2.64], R4 ; {bytes=128 barrier=0}")); }},
      {"GridBarrier", "(LDG.E): grid's barrier 1; a launch has one, barrier=0",
       [](Kernel& k) { code(k, 1, 0).push_back(instruction("LDG.E R4, [R2.64] ; {bytes=32 barrier=1}")); }},
      {"GridArrivals", "4 warps of a CTA arrive at the grid's barrier; one may, for all of its CTA",
       [](Kernel& k) { code(k, 1, 0).push_back(instruction("REDG.E.ADD [R2.64], R4 ; {bytes=32 barrier=0}")); }},
      {"GridWaits", "role consumer waits at the grid's barrier, at which no warp arrives",
       [](Kernel& k) { code(k, 1, 0).push_back(instruction("LDG.E R4, [R2.64] ; {bytes=32 barrier=0}")); }},
      {"TransactionElsewhere", "tx_bytes belongs to mbarrier arrivals", [](Kernel& k) { producer_step(k)[2].effect.tx_bytes = 1; }},
      {"Transaction", "tx_bytes=1048576; an mbarrier expects at most 1048575",
       [](Kernel& k) { producer_step(k)[1].effect.tx_bytes = 1U << 20U; }},
      {"AdvanceAlone", "advance=1 without a cursor", [](Kernel& k) { producer_step(k)[2].effect.cursor = -1; }},
      {"Cursor", "cursor 2; the kernel has 2 cursors", [](Kernel& k) { producer_step(k)[2].effect.cursor = 2; }},
      {"CursorOfOtherDepth",
       "role consumer: instruction 2 (SYNCS.PHASECHK.TRANS64.TRYWAIT): cursor use of depth 3 used with ring full of depth 4",
       [](Kernel& k) { k.cursors[1].depth = 3; }},
      {"CountElsewhere", "count belongs to", [](Kernel& k) { code(k, 1, 0)[0].effect.count = 1; }},
      {"BarrierThreads", "barrier of 100 threads; whole warps of the CTA's 256",
       [](Kernel& k) { consumer_tail(k)[0].effect.count = 100; }},
      {"BarrierManyThreads", "barrier of 288 threads", [](Kernel& k) { consumer_tail(k)[0].effect.count = 288; }},
      {"ArriveWithoutCount", "an arrival without waiting needs count=N",
       [](Kernel& k) { consumer_tail(k)[0] = instruction("BAR.ARV 0x1, 0x80 ; {barrier=1}"); }},
      {"FewRegisters", "count=16; USETMAXREG takes 24-256", [](Kernel& k) { code(k, 0, 0)[0].effect.count = 16; }},
      {"RegistersTooMany", "count=264; USETMAXREG takes 24-256", [](Kernel& k) { code(k, 0, 0)[0].effect.count = 264; }},
      {"RegisterStep", "count=44; USETMAXREG takes 24-256", [](Kernel& k) { code(k, 0, 0)[0].effect.count = 44; }},
      {"CommitElsewhere", "commit belongs to wgmma and LDGDEPBAR", [](Kernel& k) { code(k, 1, 0)[0].effect.commit = true; }},
  };
  return all;
}

class RefusedKernel : public testing::TestWithParam<Case> {};

TEST_P(RefusedKernel, WithItsOwnMessage) {
  Kernel kernel = sample();
  GetParam().spoil(kernel);
  const Expected<void> valid = validate(kernel, "sample.wft");
  ASSERT_FALSE(valid);
  EXPECT_EQ(valid.error().file, "sample.wft");
  EXPECT_THAT(valid.error().message, HasSubstr("kernel " + kernel.name + ": "));
  EXPECT_THAT(valid.error().message, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(Validate, RefusedKernel, testing::ValuesIn(cases()), [](const auto& each) { return each.param.name; });

TEST(Validate, AcceptsTheSample) {
  const Expected<void> valid = validate(sample(), "sample.wft");
  EXPECT_TRUE(valid) << valid.error().text();
}

// A spill stays in L1; an instruction that is predicated off moves nothing.
TEST(Validate, AcceptsLocalAndUnexecutedLoadsWithoutBytes) {
  Kernel kernel = sample();
  for (const char* text : {"LDL R4, [R2] ;", "STL [R2], R4 ;", "@!PT LDG.E R4, desc[UR4][R2.64] ;"})
    code(kernel, 1, 0).push_back(instruction(text));
  const Expected<void> valid = validate(kernel, "");
  EXPECT_TRUE(valid) << valid.error().text();
  code(kernel, 1, 0).push_back(instruction("LDG.E R4, desc[UR4][R2.64] ; {l1_hit}"));
  EXPECT_TRUE(validate(kernel, ""));
  code(kernel, 1, 0).push_back(instruction("@!P0 LDG.E R4, desc[UR4][R2.64] ;"));
  EXPECT_FALSE(validate(kernel, ""));
}

TEST(Validate, AcceptsLoopsUpToTheDeepest) {
  Kernel kernel = sample();
  Node inner = Block{{instruction("NOP ;")}};
  for (int depth = 0; depth < kDeepestLoops; ++depth) inner = Loop{.trips = {}, .body = {inner}};
  kernel.roles[0].body.insert(kernel.roles[0].body.begin(), inner);
  EXPECT_TRUE(validate(kernel, ""));
}

TEST(Validate, AcceptsALoopThatAClassSkips) {
  Kernel kernel = sample();
  kernel.cta_classes[1].values[0] = 0;  // tiles: EXIT follows
  EXPECT_TRUE(validate(kernel, ""));
}

TEST(Names, AreWordsThatStartWithALetter) {
  EXPECT_TRUE(is_name("consumer0"));
  EXPECT_TRUE(is_name("_a.b-c"));
  EXPECT_FALSE(is_name(""));
  EXPECT_FALSE(is_name("0a"));
  EXPECT_FALSE(is_name("a b"));
}

}  // namespace
}  // namespace warpfold::traces

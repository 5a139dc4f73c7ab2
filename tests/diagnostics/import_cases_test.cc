// Diagnostics of listings and recorded traces that a changed word does not provoke: each has an input of its own.

#include <gtest/gtest.h>

#include <string>

#include "tests/source_dir.h"
#include "walk.h"

namespace warpfold::test {
namespace {

// ---- listings

constexpr const char* kPlain = "architecture: \"sm_80\" grid { x: 4 } block { x: 64 } shared_memory_bytes: 4096\n";
constexpr const char* kHopper = "architecture: \"sm_90\" grid { x: 4 } block { x: 64 } shared_memory_bytes: 4096\n";
constexpr const char* kClusters =
    "architecture: \"sm_90\" grid { x: 4 } block { x: 32 } cluster { x: 2 } shared_memory_bytes: 4096\n";

class ListingCases : public testing::Test {
 protected:
  void refused(const std::string& message, const std::string& lines, const std::string& launch) {
    whole(message, ".text.kernel:\n" + lines + "EXIT ;\n", launch);
  }
  void whole(const std::string& message, const std::string& listing, const std::string& launch) {
    walk_.write("launch.textproto", launch);
    walk_.ask_for(message, "kernel.sass", listing, {"import", "FILE", "--launch", "FOLDER/launch.textproto", "--output", "OUT"});
  }

  Walk walk_;
};

TEST_F(ListingCases, Forms) {
  whole("the file is empty; expected the text of cuobjdump -sass or nvdisasm", "\n", kPlain);
  whole("this is a binary, no listing; disassemble it", std::string("\x7f") + "ELF", kPlain);
  whole("this is a binary, no listing; expected the text", std::string("EXIT ;\n") + std::string(2, '\0') + "and more of it",
        kPlain);
  whole("this is CUDA source, no listing; compile and disassemble it", "__global__ void kernel(float* x) {\n  x[0] = 1;\n}\n",
        kPlain);
  whole("the text is UTF-16", "\xff\xfe" + std::string("E\0X\0I\0T\0", 8), kPlain);
  refused("the listing does not say how many columns of tensor memory a CTA allocates",
          "UTCHMMA gdesc[UR8], gdesc[UR10], tmem[UR4], tmem[UR14], idesc[UR15], UPT ;\n",
          "architecture: \"sm_100\" grid { x: 4 } block { x: 32 } shared_memory_bytes: 4096\n");
}

TEST_F(ListingCases, Launches) {
  refused("CTAs; a grid has at most 2147483647 each way", "",
          "architecture: \"sm_80\" block { x: 64 } parameter { name: \"n\" value: 99999999999 } grid_of { x { per: \"n\" } }\n");
  refused("a grid has at most 281474976710656 CTAs", "",
          "architecture: \"sm_80\" grid { x: 2147483647 y: 65535 z: 65535 } block { x: 64 }\n");
  refused("a CTA has 1 to 1024 threads", "", "architecture: \"sm_80\" grid { x: 4 } block { x: 2048 }\n");
  refused("warps give and take registers of the launch, of which the listing does not say the number",
          "USETMAXREG.DEALLOC.CTAPOOL 0x28 ;\n", kHopper);
  whole("a thread has at most 255 registers, not 300", ".text.kernel:\nEXIT ;\n Function kernel:\n  REG:300 STACK:0 SHARED:0\n",
        kPlain);
  whole("the listing has several functions; state one, as function: \"one\". It has: one, two",
        ".text.one:\nEXIT ;\n.text.two:\nEXIT ;\n", kPlain);
}

TEST_F(ListingCases, Lengths) {
  walk_.write("none.txt", "# no row\n");
  refused("no number; expected lengths, with white space between them", "",
          "architecture: \"sm_80\" grid { x: 4 } block { x: 64 } answer { line: 2 lengths: \"none.txt\" }\n");
}

TEST_F(ListingCases, Parameters) {
  const std::string launch = "architecture: \"sm_80\" grid { x: 4 } block { x: 32 } ";
  refused("300 does not fit into the parameter's 1 byte", "", launch + "parameter { value: 300 bytes: 1 }\n");
  refused("a parameter has 1, 2, 4 or 8 bytes", "", launch + "parameter { value: 3 bytes: 3 }\n");
  refused("a real parameter has 4 or 8 bytes", "", launch + "parameter { real: 3 bytes: 2 }\n");
  refused("a parameter of 2 bytes begins at a multiple of 2", "", launch + "parameter { value: 3 bytes: 2 offset: 1 }\n");
}

TEST_F(ListingCases, Arrays) {
  const std::string launch =
      "architecture: \"sm_80\" grid { x: 4 } block { x: 32 } array { name: \"x\" bytes: 4 } parameter { array: \"x\" }";
  const std::string points = "MOV R2, c[0x0][0x160] ;\nMOV R3, c[0x0][0x164] ;\n";
  refused("LDG.E: accesses array x up to offset 8, but the launch description states 4 bytes", points + "LDG.E R4, [R2.64+0x4] ;\n",
          launch + "\n");
  refused("LDG.E: accesses array x at offset -4, before its beginning", points + "LDG.E R4, [R2.64-0x4] ;\n", launch + "\n");
}

TEST_F(ListingCases, Control) {
  refused("an irreducible loop: control enters it here and elsewhere",
          "ISETP.GT.AND P0, PT, RZ, 0x0, PT ;\n@P0 BRA `(.L_2) ;\n.L_1:\nIADD3 R1, R1, 0x1, RZ ;\n.L_2:\n"
          "ISETP.GT.AND P0, PT, R1, 0x9, PT ;\n@!P0 BRA `(.L_1) ;\n",
          kPlain);
  whole("instructions of 128 bits begin at multiples of 16; this one begins at 0008, as before sm_70",
        ".text.kernel:\n/*0008*/ MOV R1, RZ ;\nEXIT ;\n", kPlain);
  whole("BRA leaves function kernel", ".text.kernel:\n/*0000*/ BRA 0x1000 ;\n/*0010*/ EXIT ;\n", kPlain);
  refused(
      "CALL.REL.NOINC: a recursion deeper than the importer follows; if its depth hangs on data, answer at the branch that ends it",
      "CALL.REL.NOINC `(.L_f) ;\nEXIT ;\n.L_f:\nMOV R1, RZ ;\nCALL.REL.NOINC `(.L_f) ;\nRET.REL.NODEC R8 `(kernel) ;\n", kPlain);
  // Each of 18 functions calls the next one twice.
  std::string doubling = "CALL.REL.NOINC `(.L_0) ;\nEXIT ;\n";
  for (int i = 0; i < 18; ++i) {
    const std::string next = i == 17 ? "MOV R1, RZ ;\n" : "CALL.REL.NOINC `(.L_" + std::to_string(i + 1) + ") ;\n";
    doubling += ".L_" + std::to_string(i) + ":\n" + next + next + "RET.REL.NODEC R8 `(kernel) ;\n";
  }
  refused("more than 200000 instructions with each called function in its place", doubling, kPlain);
}

// An mbarrier at 0x400 of the CTA's memory whose phase takes `arrivals`.
std::string initialised(int arrivals) {
  return "S2UR UR4, SR_CgaCtaId ;\nUMOV UR5, 0x400 ;\nULEA UR4, UR4, UR5, 0x18 ;\nUMOV UR6, " +
         std::to_string(2 * (0x100000 - arrivals)) + " ;\nSYNCS.EXCH.64 URZ, [UR4], UR6 ;\n";
}
constexpr const char* kArrives = "SYNCS.ARRIVE.TRANS64.A1T0 RZ, [UR4], RZ ;\n";
constexpr const char* kWaitsForEven = "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR4], RZ ;\n@!P0 EXIT ;\n";
constexpr const char* kWaitsForOdd = "MOV R4, 0x80000000 ;\nSYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR4], R4 ;\n@!P0 EXIT ;\n";

TEST_F(ListingCases, Mbarriers) {
  const std::string arrives = kArrives;
  refused("warps arrive at the mbarrier at 1024 in shared memory with different numbers of lanes",
          initialised(64) + "S2R R0, SR_TID.X ;\nISETP.LT.AND P1, PT, R0, 0x1, PT ;\n@P1 " + arrives + arrives + kWaitsForEven,
          kHopper);
  // The second warp completes three phases, in the second half of the CTAs five.
  refused("warp 0 waits for other phases of its mbarriers than another warp on the same path",
          initialised(32) + "S2R R0, SR_TID.X ;\nISETP.LT.AND P1, PT, R0, 0x20, PT ;\n@P1 BRA `(.L_1) ;\n" + arrives + arrives +
              arrives + "S2R R1, SR_CTAID.X ;\nISETP.LT.AND P2, PT, R1, 0x2, PT ;\n@P2 EXIT ;\n" + arrives + arrives +
              "EXIT ;\n.L_1:\n" + kWaitsForEven,
          kHopper);
  refused("the phases of its mbarrier are passed in no fixed order",
          initialised(64) + "MOV R2, RZ ;\n.L_1:\n" + kWaitsForEven + kWaitsForOdd +
              "VIADD R2, R2, 0x1 ;\nISETP.LT.AND P1, PT, R2, 0x64, PT ;\n@P1 BRA `(.L_1) ;\n" + kWaitsForOdd,
          kHopper);
}

// The first CTA of a cluster sends a box of `bytes` to both.
std::string sends_to_both(const std::string& expects) {
  return initialised(32) +
         "ULDC.64 UR8, c[0x0][0x198] ;\nUIADD3 UR8, UP0, UR8, 0x30, URZ ;\nUIADD3.X UR9, URZ, UR9, URZ, UP0, !UPT ;\n"
         "UMOV UR12, 0x800 ;\nUMOV UR13, 0x400 ;\nUMOV UR14, URZ ;\nUMOV UR15, URZ ;\nUMOV UR16, 0x30000 ;\n" +
         expects +
         "S2R R0, SR_CgaCtaId ;\nISETP.NE.AND P1, PT, R0, RZ, PT ;\n@P1 BRA `(.L_1) ;\n"
         "UTMALDG.2D.MULTICAST [UR12], [UR8], UR16 ;\n.L_1:\n" +
         kWaitsForEven;
}
std::string launch_with_box(int bytes) {
  return kClusters +
         std::string(
             "array { name: \"x\" bytes: 65536 }\nparameter { tensor_map { array: \"x\" element_bytes: 1 "
             "extent: 64 extent: 32 box: ") +
         std::to_string(bytes) + " box: 1 } }\n";
}

TEST_F(ListingCases, Clusters) {
  refused("the CTAs of a cluster take different paths, and not the same ones in all clusters",
          "S2R R0, SR_CTAID.X ;\nISETP.EQ.AND P0, PT, R0, 0x3, PT ;\n@P0 EXIT ;\nNOP ;\n", kClusters);
  refused("the CTAs of a cluster arrive at each other's mbarriers different numbers of times",
          initialised(64) + "MOV R3, UR4 ;\nPRMT R3, RZ, 0x654, R3 ;\nSYNCS.ARRIVE.TRANS64.RED.A1T0 RZ, [R3+URZ], RZ ;\n",
          kClusters);
  const std::string expects = "MOV R5, 0x3 ;\nSYNCS.ARRIVE.TRANS64 RZ, [UR4], R5 ;\n";
  refused("a box of 3 bytes, which some CTAs of the cluster send to 2 CTAs, does not divide evenly among its receivers",
          sends_to_both(expects), launch_with_box(3));
  refused("CTA 1 of a cluster receives 1 boxes at an mbarrier that expects bytes 0 times", sends_to_both(kArrives),
          launch_with_box(64));
}

// ---- recorded traces

std::string trace(const std::string& version, const std::string& grid, const std::string& block, const std::string& body) {
  return "-kernel name = loop\n-kernel id = 1\n-grid dim = " + grid + "\n-block dim = " + block +
         "\n-shmem = 0\n-nregs = 16\n-binary version = 90\n-cuda stream id = 0\n-accelsim tracer version = " + version +
         "\n-enable lineinfo = 0\n" + body;
}
// A thread block of one warp.
std::string warp(const std::string& lines, int count) {
  return "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = " + std::to_string(count) + "\n" + lines + "#END_TB\n";
}
constexpr const char* kExit = "0200 ffffffff 0 EXIT 0 0 0\n";

class TraceCases : public testing::Test {
 protected:
  void refused(const std::string& message, const std::string& text) {
    walk_.ask_for(message, "kernel.traceg", text, {"import-trace", "FILE", "--output", "OUT"});
  }
  void line_refused(const std::string& message, const std::string& line, const std::string& version = "6") {
    refused(message, trace(version, "(1,1,1)", "(32,1,1)", warp(line + "\n" + kExit, 2)));
  }

  Walk walk_;
};

TEST_F(TraceCases, Headers) {
  const std::string body = warp(kExit, 1);
  refused("in y and z; both are at most 65535. The header is damaged", trace("5", "(1,70000,1)", "(32,1,1)", body));
  refused("a block of too many threads; it has at most 1024. The header is damaged", trace("5", "(1,1,1)", "(4096,1,1)", body));
}

TEST_F(TraceCases, Raw) {
  const std::string format = "#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width imm\n";
  const std::string copy = " ffffffff 0 LDGSTS.E.BYPASS.128 2 R9 R10 16 1 0x400 16 0\n";
  refused("LDGSTS of a raw trace come in pairs of lines; the one before has no second line",
          trace("5", "(1,1,1)", "(32,1,1)", format + "0 0 0 0 0010" + copy + "0 0 0 0 0020" + copy));
}

TEST_F(TraceCases, Blocks) {
  refused("warp 0 has 1 instructions; its insts line says 3. The file is damaged",
          trace("5", "(1,1,1)", "(32,1,1)", warp(kExit, 3)));
  refused("an instruction in front of the first warp = N",
          trace("5", "(1,1,1)", "(32,1,1)", "#BEGIN_TB\nthread block = 0,0,0\n" + std::string(kExit) + "#END_TB\n"));
  refused("a line of more than 1 MiB: this is no trace", trace("5", "(1,1,1)", "(32,1,1)", warp(std::string(1 << 21, 'a'), 1)));
  walk_.ask_for("a list of kernels is text; this file is not", "kernelslist.g", std::string("kernel-1.traceg\nMemcpy\0", 23),
                {"import-trace", "FILE", "--output", "FOLDER/out"});
}

// Each loop has an instruction in front of the loop inside it and one behind.
TEST_F(TraceCases, LoopsInsideEachOther) {
  constexpr int kLoops = 9;
  const auto line = [](int place) { return "0" + std::to_string(100 + place) + " ffffffff 1 R2 MOV 1 R4 0 0\n"; };
  std::string lines;
  int count = 0;
  for (int loop = 0; loop < kLoops; ++loop) {
    const std::string pass = line(10 - loop) + lines + line(20 + loop);
    lines = pass + pass;
    count = 2 * (count + 2);
  }
  refused("9 loops inside each other; Warpfold has 8", trace("5", "(1,1,1)", "(32,1,1)", warp(lines + kExit, count + 1)));
}

TEST_F(TraceCases, Lines) {
  std::string with_source = trace("5", "(1,1,1)", "(32,1,1)", warp("x 0010 ffffffff 0 NOP 0 0 0\n", 1));
  refused("expected the source's line number", with_source.replace(with_source.find("lineinfo = 0"), 12, "lineinfo = 1"));
  line_refused("destination registers; an instruction has at most 16", "0010 ffffffff 99 R1 NOP 0 0 0");
  line_refused("expected wgmma's commit flag", "0010 ffffffff 1 R24 HGMMA.64x128x16.F32 2 R24 UR8 x");
  line_refused("SYNCS.ARRIVE.TRANS64: traces of kernels with mbarriers, bulk copies or wgmma are not imported",
               "0010 ffffffff 0 SYNCS.ARRIVE.TRANS64 1 R2 0 0", "5");
  const std::string load = "0010 00000001 0 UTMALDG.2D 2 UR8 UR4 16 ";
  line_refused("expected the mbarrier's address of a bulk copy", load + "x");
  line_refused("expected the multicast flag of a bulk copy, 0 or 1", load + "0x400 2");
  line_refused("expected the CTA mask of a multicast", load + "0x400 1 x");
  line_refused("expected the bytes of a bulk copy", load + "0x400 0 x");
  line_refused("expected address mode 3 or 4 of a bulk copy", load + "0x400 0 32768 0 1");
  line_refused("expected the base address of a bulk copy", load + "0x400 0 32768 0 4 x");
  line_refused("expected the number of addresses of a bulk copy", load + "0x400 0 32768 0 3 x");
  line_refused("fewer addresses of a bulk copy than its line says", load + "0x400 0 32768 0 3 2 0x7f0000000000");
}

}  // namespace
}  // namespace warpfold::test

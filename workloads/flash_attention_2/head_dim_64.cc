// Source: csrc/flash_attn/src/flash_fwd_kernel.h (Dao-AILab/flash-attention) for Flash_fwd_kernel_traits<64, 128, 128, 4, false,
// false, bfloat16>, compiled by CUDA 13.0 (nvcc -O3 --use_fast_math, 255 registers) and printed by nvdisasm 12.4, never run. The
// counts of sm_80 come from the same PTX. All counts: tests/workloads/data/flash_attention_2_counts.csv.
#include "workloads/flash_attention_2/head_dim_64.h"

#include <array>
#include <span>

namespace warpfold::workloads {
namespace {

// Columns: not causal, not causal and ragged, causal, causal and ragged. R0-R3 are scratch; only R0 and R1 are written.
using Columns = std::array<uint16_t, 4>;
struct CountedLine {
  std::string_view text;
  Columns sm_80, sm_90;
};
constexpr CountedLine kFirstLines[] = {
    {"BRA 0x0", {1, 1, 1, 0}, {1, 1, 1, 0}},
    {"IADD3 R0, P1, R3, 0x40, RZ", {26, 48, 63, 57}, {22, 14, 26, 19}},
    {"IADD3.X R0, RZ, R3, RZ, P1, !PT", {14, 3, 14, 1}, {14, 1, 14, 8}},
    {"IMAD R0, R3, 0x40, R2", {4, 12, 6, 13}, {4, 14, 6, 10}},
    {"IMAD.IADD R0, R2, 0x1, R3", {8, 12, 11, 10}, {8, 11, 10, 5}},
    {"IMAD.MOV.U32 R0, RZ, RZ, R3", {120, 140, 99, 96}, {73, 116, 168, 181}},
    {"IMAD.SHL.U32 R0, R3, 0x10, RZ", {5, 9, 6, 8}, {2, 9, 4, 5}},
    {"IMAD.U32 R0, RZ, RZ, UR4", {0, 0, 0, 9}, {0, 0, 0, 11}},
    {"IMAD.WIDE.U32 R0, R3, 0x2, RZ", {1, 4, 1, 6}, {1, 6, 1, 5}},
    {"IMAD.X R0, RZ, RZ, R3, P1", {0, 5, 0, 7}, {0, 7, 0, 0}},
    {"IMNMX R0, R3, R2, PT", {0, 0, 4, 4}, {0, 0, 0, 0}},
    {"ISETP.GE.AND P1, PT, R3, 0x1, PT", {1, 5, 0, 3}, {1, 3, 0, 3}},
    {"ISETP.NE.AND P1, PT, R3, 0x1, PT", {0, 0, 1, 0}, {0, 3, 1, 0}},
    {"LDC.64 R0, c[0x0][0x160]", {0, 0, 0, 0}, {0, 4, 0, 4}},
    {"LDL R0, [R2+0x10]", {4, 0, 0, 0}, {1, 0, 0, 0}},
    {"LDL.64 R0, [R2+0x18]", {1, 1, 1, 2}, {1, 1, 1, 2}},
    {"@!PT LDS RZ, [RZ]", {6, 27, 6, 27}, {6, 27, 6, 27}},
    {"LEA R0, P1, R3, R2, 0x1", {3, 12, 3, 14}, {7, 15, 6, 15}},
    {"LEA.HI R0, R3, R2, RZ, 0x5", {0, 4, 2, 3}, {0, 4, 1, 3}},
    {"LEA.HI.SX32 R0, R3, R2, 0x19", {2, 2, 0, 0}, {2, 2, 0, 0}},
    {"LEA.HI.X R0, R3, R2, R3, 0x1, P1", {3, 10, 3, 11}, {3, 12, 3, 11}},
    {"LOP3.LUT R0, R3, 0x7f, RZ, 0xc0, !PT", {12, 11, 13, 14}, {8, 11, 14, 13}},
    {"MOV R0, R3", {122, 141, 136, 113}, {159, 121, 87, 88}},
    {"NOP", {0, 0, 0, 0}, {0, 1, 1, 1}},
    {"P2R R0, PR, RZ, 0x1", {0, 0, 0, 0}, {0, 1, 0, 0}},
    {"PLOP3.LUT P0, PT, PT, PT, UP0, 0x80, 0x0", {0, 0, 0, 1}, {0, 0, 0, 1}},
    {"R2P PR, R3, 0x7e", {0, 2, 0, 1}, {0, 2, 0, 1}},
    {"S2R R0, SR_TID.X", {0, 0, 2, 0}, {0, 0, 0, 0}},
    {"SEL R0, R3, RZ, P0", {3, 3, 3, 3}, {3, 3, 3, 3}},
    {"SHF.L.U32 R0, R3, 0x1, RZ", {1, 1, 1, 0}, {0, 0, 0, 0}},
    {"SHF.L.U64.HI R0, R3, 0x1, R2", {0, 3, 0, 1}, {0, 2, 0, 0}},
    {"SHF.R.S32.HI R0, RZ, 0x1f, R3", {2, 4, 4, 3}, {2, 4, 3, 4}},
    {"SHF.R.U32.HI R0, RZ, 0x3, R3", {2, 2, 2, 2}, {1, 2, 2, 2}},
    {"STL [R3+0x10], R2", {0, 3, 5, 5}, {0, 6, 0, 5}},
    {"STL.64 [R3+0x10], R2", {2, 0, 0, 0}, {1, 0, 0, 0}},
    {"@!PT STS.128 [RZ], RZ", {0, 8, 0, 8}, {0, 8, 0, 8}},
    {"UIADD3 UR4, UR5, 0x1, URZ", {1, 0, 1, 2}, {0, 0, 0, 2}},
    {"UIMAD UR4, UR5, UR6, URZ", {0, 0, 0, 2}, {0, 0, 0, 6}},
    {"UISETP.GE.AND UP0, UPT, UR4, UR5, UPT", {0, 0, 0, 0}, {0, 0, 0, 1}},
    {"ULDC UR4, c[0x0][0x160]", {0, 0, 0, 0}, {2, 2, 2, 1}},
    {"ULDC.64 UR4, c[0x0][0x160]", {0, 0, 0, 0}, {4, 5, 4, 1}},
    {"UMOV UR4, 0x1", {0, 0, 0, 0}, {0, 0, 0, 1}},
    {"USHF.L.U32 UR4, UR5, 0x7, URZ", {0, 0, 0, 1}, {0, 1, 0, 1}},
    {"USHF.L.U64.HI UR4, UR5, 0x7, UR6", {0, 0, 0, 0}, {0, 1, 0, 1}},
    {"USHF.R.S32.HI UR4, URZ, 0x1f, UR5", {0, 0, 0, 1}, {0, 0, 0, 1}},
    {"VIADD R0, R3, 0x8", {0, 0, 0, 0}, {3, 36, 34, 39}},
    {"VIADDMNMX R0, R3, 0x1, R2, PT", {0, 0, 0, 0}, {0, 0, 3, 3}},
    {"VIMNMX R0, R3, R2, PT", {0, 0, 0, 0}, {0, 0, 1, 1}},
    {"VOTEU.ALL UP0, P0", {0, 0, 0, 0}, {0, 0, 0, 3}},
};
constexpr CountedLine kSecondLines[] = {
    {"BRA 0x0", {0, 0, 0, 2}, {0, 0, 0, 2}},
    {"FSEL R0, R3, RZ, P1", {0, 0, 0, 4}, {0, 0, 0, 4}},
    {"IADD3 R0, P1, R3, 0x40, RZ", {0, 0, 0, 46}, {0, 0, 0, 15}},
    {"IADD3.X R0, RZ, R3, RZ, P1, !PT", {0, 0, 0, 7}, {0, 0, 0, 14}},
    {"IMAD R0, R3, 0x40, R2", {0, 0, 0, 1}, {0, 0, 0, 1}},
    {"IMAD.MOV.U32 R0, RZ, RZ, R3", {0, 0, 0, 330}, {0, 0, 0, 292}},
    {"IMAD.SHL.U32 R0, R3, 0x10, RZ", {0, 0, 0, 1}, {0, 0, 0, 1}},
    {"IMAD.U32 R0, RZ, RZ, UR4", {0, 0, 0, 5}, {0, 0, 0, 5}},
    {"IMAD.WIDE.U32 R0, R3, 0x2, RZ", {0, 0, 0, 1}, {0, 0, 0, 1}},
    {"IMAD.X R0, RZ, RZ, R3, P1", {0, 0, 0, 7}, {0, 0, 0, 0}},
    {"ISETP.LE.AND P1, PT, R3, 0x1, PT", {0, 0, 0, 1}, {0, 0, 0, 1}},
    {"LDL R0, [R2+0x10]", {0, 0, 0, 1}, {0, 0, 0, 2}},
    {"LDL.64 R0, [R2+0x18]", {0, 0, 0, 4}, {0, 0, 0, 4}},
    {"@!PT LDS RZ, [RZ]", {0, 0, 0, 6}, {0, 0, 0, 6}},
    {"LEA R0, P1, R3, R2, 0x1", {0, 0, 0, 3}, {0, 0, 0, 3}},
    {"LEA.HI.X R0, R3, R2, R3, 0x1, P1", {0, 0, 0, 3}, {0, 0, 0, 3}},
    {"LOP3.LUT R0, R3, 0x7f, RZ, 0xc0, !PT", {0, 0, 0, 1}, {0, 0, 0, 1}},
    {"MOV R0, R3", {0, 0, 0, 203}, {0, 0, 0, 172}},
    {"NOP", {0, 0, 0, 0}, {0, 0, 0, 2}},
    {"PLOP3.LUT P0, PT, PT, PT, UP0, 0x80, 0x0", {0, 0, 0, 2}, {0, 0, 0, 2}},
    {"S2R R0, SR_TID.X", {0, 0, 0, 1}, {0, 0, 0, 1}},
    {"SHF.L.U64.HI R0, R3, 0x1, R2", {0, 0, 0, 1}, {0, 0, 0, 0}},
    {"STL.64 [R3+0x10], R2", {0, 0, 0, 1}, {0, 0, 0, 1}},
    {"UIADD3 UR4, UR5, 0x1, URZ", {0, 0, 0, 15}, {0, 0, 0, 5}},
    {"UIMAD UR4, UR5, UR6, URZ", {0, 0, 0, 4}, {0, 0, 0, 4}},
    {"UIMAD.WIDE.U32 UR4, UR6, 0x2, URZ", {0, 0, 0, 1}, {0, 0, 0, 1}},
    {"UISETP.GE.AND UP0, UPT, UR4, UR5, UPT", {0, 0, 0, 1}, {0, 0, 0, 1}},
    {"UISETP.NE.AND UP0, UPT, UR4, UR5, UPT", {0, 0, 0, 1}, {0, 0, 0, 1}},
    {"ULDC UR4, c[0x0][0x160]", {0, 0, 0, 0}, {0, 0, 0, 1}},
    {"ULDC.64 UR4, c[0x0][0x160]", {0, 0, 0, 3}, {0, 0, 0, 5}},
    {"USHF.L.U32 UR4, UR5, 0x7, URZ", {0, 0, 0, 4}, {0, 0, 0, 4}},
    {"USHF.L.U64.HI UR4, UR5, 0x7, UR6", {0, 0, 0, 3}, {0, 0, 0, 4}},
    {"USHF.R.S32.HI UR4, URZ, 0x1f, UR5", {0, 0, 0, 2}, {0, 0, 0, 2}},
    {"VIADD R0, R3, 0x8", {0, 0, 0, 0}, {0, 0, 0, 31}},
};
constexpr CountedLine kLoopLines[] = {
    {"BRA 0x0", {1, 1, 1, 1}, {1, 1, 1, 1}},
    {"IADD3 R0, P1, R3, 0x40, RZ", {16, 16, 16, 15}, {15, 15, 15, 14}},
    {"IADD3.X R0, RZ, R3, RZ, P1, !PT", {14, 9, 14, 14}, {14, 7, 14, 14}},
    {"IMAD R0, R3, 0x40, R2", {4, 4, 4, 0}, {4, 4, 4, 0}},
    {"IMAD.IADD R0, R2, 0x1, R3", {2, 2, 2, 0}, {2, 2, 2, 0}},
    {"IMAD.MOV.U32 R0, RZ, RZ, R3", {0, 48, 0, 0}, {0, 0, 0, 0}},
    {"IMAD.SHL.U32 R0, R3, 0x10, RZ", {0, 1, 0, 0}, {0, 0, 0, 0}},
    {"IMAD.U32 R0, RZ, RZ, UR4", {0, 0, 0, 4}, {0, 0, 0, 4}},
    {"IMAD.WIDE.U32 R0, R3, 0x2, RZ", {2, 2, 2, 1}, {2, 2, 2, 1}},
    {"IMAD.X R0, RZ, RZ, R3, P1", {0, 5, 0, 0}, {0, 7, 0, 0}},
    {"ISETP.GT.AND P1, PT, R3, 0x1, PT", {1, 1, 1, 0}, {1, 1, 1, 0}},
    {"ISETP.LT.AND P1, PT, R3, 0x1, PT", {0, 0, 0, 1}, {0, 0, 0, 1}},
    {"LDL R0, [R2+0x10]", {1, 1, 1, 0}, {1, 3, 1, 0}},
    {"LDL.64 R0, [R2+0x18]", {3, 3, 3, 3}, {3, 3, 3, 3}},
    {"@!PT LDS RZ, [RZ]", {6, 6, 6, 6}, {6, 6, 6, 6}},
    {"LEA R0, P1, R3, R2, 0x1", {4, 4, 4, 3}, {4, 4, 4, 3}},
    {"LEA.HI.X R0, R3, R2, R3, 0x1, P1", {4, 4, 4, 3}, {4, 4, 4, 3}},
    {"MOV R0, R3", {13, 164, 21, 86}, {10, 199, 9, 13}},
    {"SHF.L.U64.HI R0, R3, 0x1, R2", {0, 1, 0, 0}, {0, 0, 0, 0}},
    {"SHF.R.S32.HI R0, RZ, 0x1f, R3", {2, 2, 2, 0}, {2, 2, 2, 0}},
    {"UIADD3 UR4, UR5, 0x1, URZ", {0, 1, 0, 3}, {0, 0, 1, 4}},
    {"UIMAD UR4, UR5, UR6, URZ", {0, 0, 0, 4}, {0, 0, 0, 4}},
    {"UIMAD.WIDE.U32 UR4, UR6, 0x2, URZ", {0, 0, 0, 1}, {0, 0, 0, 1}},
    {"ULDC.64 UR4, c[0x0][0x160]", {0, 1, 0, 1}, {0, 0, 0, 0}},
    {"USHF.L.U32 UR4, UR5, 0x7, URZ", {0, 1, 0, 0}, {0, 0, 0, 0}},
    {"USHF.L.U64.HI UR4, UR5, 0x7, UR6", {0, 1, 0, 0}, {0, 0, 0, 0}},
    {"USHF.R.S32.HI UR4, URZ, 0x1f, UR5", {0, 0, 0, 2}, {0, 0, 0, 2}},
    {"VIADD R0, R3, 0x8", {0, 0, 0, 0}, {1, 1, 1, 1}},
};
constexpr CountedLine kPrologueLines[] = {
    {"BRA 0x0", {0, 5, 1, 5}, {0, 5, 1, 5}},
    {"@!PT EXIT", {1, 1, 1, 1}, {1, 1, 1, 1}},
    {"F2I.FTZ.U32.TRUNC.NTZ R0, R3", {1, 1, 1, 1}, {1, 1, 1, 1}},
    {"I2F.RP R0, R3", {1, 1, 1, 1}, {1, 1, 1, 1}},
    {"IABS R0, R3", {2, 2, 2, 2}, {2, 2, 2, 2}},
    {"IADD3 R0, P1, R3, 0x40, RZ", {19, 29, 21, 22}, {12, 18, 13, 7}},
    {"IADD3.X R0, RZ, R3, RZ, P1, !PT", {14, 3, 14, 4}, {14, 4, 14, 5}},
    {"IMAD R0, R3, 0x40, R2", {24, 51, 24, 30}, {24, 65, 24, 41}},
    {"IMAD.HI.U32 R0, R3, R2, RZ", {2, 2, 2, 2}, {2, 2, 2, 2}},
    {"IMAD.IADD R0, R2, 0x1, R3", {14, 23, 17, 16}, {17, 23, 17, 12}},
    {"IMAD.MOV R0, RZ, RZ, -R3", {3, 2, 3, 1}, {3, 2, 3, 3}},
    {"IMAD.MOV.U32 R0, RZ, RZ, R3", {8, 13, 8, 12}, {9, 26, 5, 17}},
    {"IMAD.SHL.U32 R0, R3, 0x10, RZ", {6, 9, 7, 7}, {6, 5, 5, 4}},
    {"IMAD.U32 R0, RZ, RZ, UR4", {0, 0, 0, 22}, {0, 0, 0, 24}},
    {"IMAD.WIDE R0, R3, 0x2, RZ", {3, 5, 3, 1}, {3, 5, 3, 1}},
    {"IMAD.WIDE.U32 R0, R3, 0x2, RZ", {9, 28, 9, 16}, {9, 26, 9, 17}},
    {"IMAD.X R0, RZ, RZ, R3, P1", {0, 8, 0, 7}, {0, 7, 0, 6}},
    {"IMNMX R0, R3, R2, PT", {0, 0, 1, 0}, {0, 0, 0, 0}},
    {"ISETP.EQ.OR.EX P1, PT, R3, 0x1, PT, P1", {0, 1, 0, 0}, {0, 1, 0, 0}},
    {"ISETP.EQ.U32.AND P1, PT, R3, 0x1, PT", {0, 1, 0, 0}, {0, 1, 0, 0}},
    {"ISETP.GE.AND P1, PT, R3, 0x1, PT", {2, 22, 3, 21}, {2, 24, 3, 22}},
    {"ISETP.GE.U32.AND P1, PT, R3, 0x1, PT", {1, 1, 1, 1}, {1, 1, 1, 1}},
    {"ISETP.GT.AND P1, PT, R3, 0x1, PT", {0, 1, 0, 0}, {0, 1, 0, 0}},
    {"ISETP.GT.U32.AND P1, PT, R3, 0x1, PT", {1, 1, 1, 1}, {1, 1, 1, 1}},
    {"ISETP.LE.AND P1, PT, R3, 0x1, PT", {0, 0, 0, 1}, {0, 0, 0, 0}},
    {"ISETP.NE.AND P1, PT, R3, 0x1, PT", {1, 4, 1, 1}, {1, 4, 1, 2}},
    {"ISETP.NE.AND.EX P1, PT, R3, 0x1, PT, P1", {3, 5, 3, 1}, {3, 5, 3, 1}},
    {"ISETP.NE.U32.AND P1, PT, R3, 0x1, PT", {3, 5, 3, 1}, {3, 5, 3, 1}},
    {"LDC R0, c[0x0][0x160]", {0, 0, 0, 0}, {2, 5, 2, 2}},
    {"LDC.64 R0, c[0x0][0x160]", {0, 0, 0, 0}, {6, 44, 6, 28}},
    {"LDC.U8 R0, c[0x0][0x160]", {0, 1, 0, 0}, {0, 1, 0, 0}},
    {"@!PT LDG.E R0, [R2.64]", {2, 7, 2, 7}, {2, 7, 2, 7}},
    {"@!PT LDS RZ, [RZ]", {0, 3, 0, 3}, {3, 3, 3, 6}},
    {"LEA R0, P1, R3, R2, 0x1", {3, 20, 3, 18}, {3, 35, 4, 35}},
    {"LEA.HI R0, R3, R2, RZ, 0x5", {7, 3, 8, 4}, {7, 3, 8, 4}},
    {"LEA.HI.SX32 R0, R3, R2, 0x19", {1, 1, 0, 0}, {1, 1, 0, 0}},
    {"LEA.HI.X R0, R3, R2, R3, 0x1, P1", {2, 20, 2, 18}, {2, 18, 2, 18}},
    {"LEA.HI.X.SX32 R0, R3, R2, 0x1, P1", {1, 0, 1, 0}, {1, 0, 1, 0}},
    {"LOP3.LUT R0, R3, 0x7f, RZ, 0xc0, !PT", {10, 7, 12, 6}, {14, 7, 10, 8}},
    {"MOV R0, R3", {1, 9, 1, 1}, {0, 18, 0, 16}},
    {"MUFU.RCP R0, R3", {1, 1, 1, 1}, {1, 1, 1, 1}},
    {"P2R R0, PR, RZ, 0x1", {0, 0, 0, 0}, {0, 0, 0, 1}},
    {"PLOP3.LUT P0, PT, PT, PT, UP0, 0x80, 0x0", {0, 0, 0, 8}, {0, 0, 0, 8}},
    {"R2UR UR4, R3", {0, 0, 0, 7}, {0, 0, 0, 7}},
    {"S2R R0, SR_TID.X", {4, 4, 4, 4}, {4, 19, 4, 18}},
    {"S2UR UR4, SR_CTAID.X", {0, 0, 0, 3}, {1, 1, 1, 4}},
    {"SEL R0, R3, RZ, P0", {1, 1, 1, 0}, {1, 1, 1, 0}},
    {"SHF.L.U32 R0, R3, 0x1, RZ", {0, 0, 0, 0}, {0, 1, 0, 0}},
    {"SHF.L.U64.HI R0, R3, 0x1, R2", {0, 1, 0, 0}, {0, 1, 0, 0}},
    {"SHF.R.S32.HI R0, RZ, 0x1f, R3", {11, 13, 15, 7}, {11, 13, 15, 6}},
    {"SHF.R.U32.HI R0, RZ, 0x3, R3", {1, 1, 1, 1}, {2, 1, 1, 1}},
    {"STL [R3+0x10], R2", {1, 10, 2, 6}, {0, 4, 1, 0}},
    {"STL.64 [R3+0x10], R2", {3, 5, 5, 6}, {3, 4, 3, 5}},
    {"UIADD3 UR4, UR5, 0x1, URZ", {0, 0, 0, 16}, {1, 0, 1, 18}},
    {"UIMAD UR4, UR5, UR6, URZ", {0, 0, 0, 20}, {0, 0, 0, 24}},
    {"UIMAD.WIDE UR4, UR6, 0x2, URZ", {0, 0, 0, 4}, {0, 0, 0, 4}},
    {"UIMAD.WIDE.U32 UR4, UR6, 0x2, URZ", {0, 0, 0, 10}, {0, 0, 0, 10}},
    {"UISETP.EQ.OR.EX UP0, UPT, UR4, UR5, UPT, UP0", {0, 0, 0, 1}, {0, 0, 0, 1}},
    {"UISETP.EQ.U32.AND UP0, UPT, UR4, UR5, UPT", {0, 0, 0, 1}, {0, 0, 0, 1}},
    {"UISETP.GE.AND UP0, UPT, UR4, UR5, UPT", {0, 0, 0, 2}, {0, 0, 0, 1}},
    {"UISETP.GT.AND UP0, UPT, UR4, UR5, UPT", {0, 0, 0, 1}, {0, 0, 0, 1}},
    {"UISETP.LT.AND UP0, UPT, UR4, UR5, UPT", {0, 0, 0, 1}, {0, 0, 0, 1}},
    {"UISETP.NE.AND UP0, UPT, UR4, UR5, UPT", {0, 0, 0, 3}, {0, 0, 0, 3}},
    {"UISETP.NE.AND.EX UP0, UPT, UR4, UR5, UPT, UP0", {0, 0, 0, 4}, {0, 0, 0, 4}},
    {"UISETP.NE.U32.AND UP0, UPT, UR4, UR5, UPT", {0, 0, 0, 4}, {0, 0, 0, 4}},
    {"ULDC UR4, c[0x0][0x160]", {0, 0, 0, 5}, {1, 0, 2, 4}},
    {"ULDC.64 UR4, c[0x0][0x160]", {4, 1, 4, 21}, {13, 5, 13, 21}},
    {"ULDC.U8 UR4, c[0x0][0x160]", {0, 0, 0, 1}, {0, 0, 0, 1}},
    {"ULEA UR4, UR5, UR6, 0x3", {0, 0, 0, 0}, {1, 1, 1, 1}},
    {"ULEA.HI UR4, UR5, UR6, URZ, 0x3", {0, 0, 0, 2}, {0, 0, 0, 2}},
    {"ULOP3.LUT UR4, UR5, UR6, URZ, 0x3c, !UPT", {0, 0, 0, 1}, {0, 0, 0, 0}},
    {"UMOV UR4, 0x1", {2, 0, 2, 9}, {1, 1, 1, 5}},
    {"USEL UR4, UR5, URZ, UP0", {0, 0, 0, 2}, {0, 0, 0, 2}},
    {"USHF.L.U32 UR4, UR5, 0x7, URZ", {4, 0, 4, 3}, {4, 0, 4, 5}},
    {"USHF.L.U64.HI UR4, UR5, 0x7, UR6", {4, 0, 4, 2}, {4, 0, 4, 2}},
    {"USHF.R.S32.HI UR4, URZ, 0x1f, UR5", {0, 0, 0, 11}, {0, 0, 0, 11}},
    {"VIADD R0, R3, 0x8", {0, 0, 0, 0}, {5, 12, 8, 18}},
    {"VIMNMX R0, R3, R2, PT", {0, 0, 0, 0}, {0, 0, 1, 0}},
    {"VOTEU.ALL UP0, P0", {0, 0, 0, 0}, {0, 0, 0, 5}},
};
constexpr CountedLine kEpilogueLines[] = {
    {"BRA 0x0", {1, 8, 1, 8}, {1, 10, 1, 10}},
    {"BSSY B0, 0x0", {1, 8, 1, 8}, {1, 8, 1, 8}},
    {"BSYNC B0", {1, 8, 1, 8}, {1, 8, 1, 8}},
    {"CS2R R0, SRZ", {1, 1, 1, 0}, {1, 1, 0, 1}},
    {"@!PT EXIT", {0, 1, 0, 1}, {0, 1, 0, 1}},
    {"FFMA.FTZ R0, R3, R2, R3", {4, 4, 4, 4}, {4, 4, 4, 4}},
    {"FMUL.FTZ R0, R3, c[0x0][0x190]", {4, 4, 4, 4}, {4, 4, 4, 4}},
    {"FSETP.NE.FTZ.AND P1, PT, R3, RZ, PT", {4, 4, 4, 4}, {4, 4, 4, 4}},
    {"IADD3 R0, P1, R3, 0x40, RZ", {25, 36, 27, 38}, {23, 37, 22, 30}},
    {"IADD3.X R0, RZ, R3, RZ, P1, !PT", {8, 1, 8, 1}, {8, 1, 7, 2}},
    {"IMAD R0, R3, 0x40, R2", {18, 32, 18, 21}, {18, 33, 11, 28}},
    {"IMAD.IADD R0, R2, 0x1, R3", {8, 5, 4, 1}, {6, 4, 7, 8}},
    {"IMAD.MOV.U32 R0, RZ, RZ, R3", {5, 11, 6, 7}, {4, 11, 0, 11}},
    {"IMAD.SHL.U32 R0, R3, 0x10, RZ", {1, 0, 0, 0}, {1, 1, 0, 0}},
    {"IMAD.U32 R0, RZ, RZ, UR4", {0, 0, 1, 0}, {1, 1, 0, 2}},
    {"IMAD.WIDE R0, R3, 0x2, RZ", {1, 0, 0, 0}, {1, 0, 1, 0}},
    {"IMAD.WIDE.U32 R0, R3, 0x2, RZ", {3, 11, 3, 9}, {3, 11, 3, 9}},
    {"IMAD.X R0, RZ, RZ, R3, P1", {0, 8, 0, 7}, {0, 8, 0, 7}},
    {"ISETP.GE.AND P1, PT, R3, 0x1, PT", {4, 12, 4, 12}, {4, 12, 4, 13}},
    {"ISETP.NE.AND P1, PT, R3, 0x1, PT", {2, 3, 2, 0}, {2, 3, 0, 4}},
    {"ISETP.NE.OR P1, PT, R3, 0x1, PT", {1, 1, 1, 0}, {1, 1, 0, 1}},
    {"ISETP.NE.U32.AND P1, PT, R3, 0x1, PT", {1, 1, 1, 1}, {1, 1, 1, 1}},
    {"LDC R0, c[0x0][0x160]", {0, 0, 0, 0}, {9, 9, 4, 8}},
    {"LDC.64 R0, c[0x0][0x160]", {0, 0, 0, 0}, {5, 7, 6, 5}},
    {"LDC.U8 R0, c[0x0][0x160]", {0, 2, 0, 0}, {0, 0, 0, 0}},
    {"LDL R0, [R2+0x10]", {0, 12, 6, 11}, {0, 6, 0, 5}},
    {"LDL.64 R0, [R2+0x18]", {0, 2, 2, 2}, {0, 1, 0, 1}},
    {"LEA R0, P1, R3, R2, 0x1", {7, 14, 6, 14}, {7, 13, 8, 14}},
    {"LEA.HI R0, R3, R2, RZ, 0x5", {8, 8, 4, 6}, {8, 8, 8, 6}},
    {"LEA.HI.X R0, R3, R2, R3, 0x1, P1", {5, 12, 5, 12}, {5, 12, 5, 12}},
    {"LEA.HI.X.SX32 R0, R3, R2, 0x1, P1", {4, 4, 4, 4}, {4, 4, 4, 4}},
    {"LOP3.LUT R0, R3, 0x7f, RZ, 0xc0, !PT", {8, 7, 6, 7}, {8, 8, 9, 8}},
    {"MOV R0, R3", {12, 22, 12, 18}, {9, 20, 10, 18}},
    {"MUFU.LG2 R0, R3", {4, 4, 4, 4}, {4, 4, 4, 4}},
    {"P2R R0, PR, RZ, 0x1", {0, 0, 0, 0}, {0, 0, 0, 2}},
    {"PLOP3.LUT P0, PT, PT, PT, UP0, 0x80, 0x0", {0, 0, 0, 0}, {0, 4, 0, 5}},
    {"R2P PR, R3, 0x7e", {1, 1, 1, 1}, {1, 1, 1, 1}},
    {"S2R R0, SR_TID.X", {5, 5, 4, 3}, {5, 6, 4, 4}},
    {"S2UR UR4, SR_CTAID.X", {0, 0, 0, 3}, {1, 2, 4, 4}},
    {"SEL R0, R3, RZ, P0", {4, 5, 4, 2}, {4, 4, 2, 3}},
    {"SHF.L.U32 R0, R3, 0x1, RZ", {3, 3, 3, 2}, {2, 2, 2, 3}},
    {"SHF.R.S32.HI R0, RZ, 0x1f, R3", {16, 14, 10, 7}, {16, 15, 13, 11}},
    {"STG.E [R2.64], R3", {4, 4, 4, 4}, {4, 4, 4, 4}},
    {"UIADD3 UR4, UR5, 0x1, URZ", {0, 0, 0, 2}, {0, 0, 1, 1}},
    {"UIADD3.X UR4, UR5, UR6, URZ, UP0, !UPT", {0, 0, 0, 1}, {0, 0, 1, 0}},
    {"UIMAD UR4, UR5, UR6, URZ", {0, 0, 0, 11}, {0, 0, 7, 4}},
    {"UIMAD.WIDE.U32 UR4, UR6, 0x2, URZ", {0, 0, 0, 2}, {0, 0, 0, 2}},
    {"UISETP.NE.AND UP0, UPT, UR4, UR5, UPT", {0, 0, 0, 3}, {0, 0, 2, 1}},
    {"UISETP.NE.OR UP0, UPT, UR4, UR5, UPT", {0, 0, 0, 1}, {0, 0, 1, 0}},
    {"ULDC UR4, c[0x0][0x160]", {0, 0, 0, 5}, {0, 0, 5, 1}},
    {"ULDC.64 UR4, c[0x0][0x160]", {1, 0, 1, 3}, {4, 17, 3, 19}},
    {"ULDC.U8 UR4, c[0x0][0x160]", {2, 0, 2, 2}, {2, 2, 2, 2}},
    {"ULEA UR4, UR5, UR6, 0x3", {0, 0, 0, 0}, {1, 1, 1, 1}},
    {"UMOV UR4, 0x1", {1, 0, 1, 6}, {1, 1, 6, 1}},
    {"USEL UR4, UR5, URZ, UP0", {0, 0, 0, 3}, {0, 0, 2, 1}},
    {"USHF.L.U32 UR4, UR5, 0x7, URZ", {1, 0, 1, 1}, {1, 0, 2, 0}},
    {"USHF.L.U64.HI UR4, UR5, 0x7, UR6", {1, 0, 1, 0}, {1, 0, 1, 0}},
    {"USHF.R.S32.HI UR4, URZ, 0x1f, UR5", {0, 0, 0, 5}, {0, 0, 5, 2}},
    {"VIADD R0, R3, 0x8", {0, 0, 0, 0}, {4, 7, 4, 9}},
};

struct Spills {
  Columns sm_80, sm_90;
};
constexpr Spills kSpills[] = {
    {{31, 22, 29, 18}, {25, 29, 20, 17}},  // first
    {{0, 0, 0, 66}, {0, 0, 0, 38}},        // second
    {{38, 16, 25, 4}, {35, 15, 38, 36}},   // loop
};

std::span<const CountedLine> lines_of(ForwardPart part) {
  switch (part) {
    case ForwardPart::kPrologue:
      return kPrologueLines;
    case ForwardPart::kFirst:
      return kFirstLines;
    case ForwardPart::kSecond:
      return kSecondLines;
    case ForwardPart::kLoop:
      return kLoopLines;
    default:
      return kEpilogueLines;
  }
}

template <typename Counts>
uint32_t times(const Counts& counts, const FlashAttention2Plan& plan) {
  const size_t column = (plan.tiles.causal() ? 2 : 0) + (is_ragged(plan) ? 1 : 0);
  return plan.hopper() ? counts.sm_90.at(column) : counts.sm_80.at(column);
}

bool is_branch(std::string_view text) {
  return text.starts_with("BRA") || text.starts_with("BSSY") || text.starts_with("BSYNC") || text.ends_with("EXIT");
}

isa::Effect effect_of(std::string_view text) {
  if (text.starts_with("STG")) return {.bytes = 32};          // logarithms of eight rows' sums
  if (text.starts_with("@!PT LDG")) return {.l1_hit = true};  // lengths of each sequence, only if the caller gives them
  return {};
}

}  // namespace

bool has_counted_parts(const FlashAttention2Plan& plan) {
  return plan.head_dim() == 64 && plan.shape.dropout() == configs::NONE && plan.tile_queries == 128 && plan.tile_keys == 128 &&
         plan.warps == 4 && plan.splits == 1 && plan.page_keys == 0 && plan.key_warps == 1 && plan.tiles.rows_of_query() == 1;
}

bool is_ragged(const FlashAttention2Plan& plan) {
  return plan.tiles.queries() % plan.tile_queries != 0 || plan.tiles.keys() % plan.tile_keys != 0;
}

Lines counted_lines(const FlashAttention2Plan& plan, ForwardPart part) {
  Lines lines;
  for (const CountedLine& one : lines_of(part)) {
    if (is_branch(one.text)) continue;
    for (uint32_t i = 0; i < times(one, plan); ++i) lines.push_back({std::string(one.text), effect_of(one.text)});
  }
  return lines;
}

uint32_t counted_branches(const FlashAttention2Plan& plan, ForwardPart part) {
  uint32_t count = 0;
  for (const CountedLine& one : lines_of(part)) {
    if (is_branch(one.text)) count += times(one, plan);
  }
  return count;
}

uint32_t spilled_registers(const FlashAttention2Plan& plan, ForwardPart part) {
  switch (part) {
    case ForwardPart::kFirst:
      return times(kSpills[0], plan);
    case ForwardPart::kSecond:
      return times(kSpills[1], plan);
    case ForwardPart::kLoop:
      return times(kSpills[2], plan);
    default:
      return 0;
  }
}

}  // namespace warpfold::workloads

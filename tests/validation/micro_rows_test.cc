#include <gmock/gmock.h>

#include "rows.h"

namespace warpfold::validation {
namespace {

using testing::HasSubstr;

const char* const kHeader = "id,category,gpu,kernel,impl,dtype,M,N,dims_other,value,unit";

std::string text_of(const Comparison& comparison) { return comparison.runs.front().scenario.kernel(0).trace().text(); }

TEST_F(Rows, AStreamOfProductsIsCommittedEveryDepthProducts) {
  const Comparison stream = map(kHeader,
                                "M1,GEMM,B200,\"tcgen05.mma stream, issue depth sweep\",PTX,E4M3,256,96,"
                                "operands=TS;cta_group=2;depth=8,40,clk");
  EXPECT_THAT(text_of(stream), HasSubstr("loop 8\nUTCQMMA.2CTA tmem[UR4]"));
  EXPECT_THAT(text_of(stream), HasSubstr("{rows=128 columns=96}"));
  const double clock_mhz = stream.runs.front().scenario.gpu().clock_mhz();
  EXPECT_NEAR(stream.measured, 40.0 * 8 * 1000 / clock_mhz, 1e-9);
}

TEST_F(Rows, ALatencyIsThatOfOneProductAtATime) {
  const Comparison single = map(kHeader, "M1,GEMM,B200,tcgen05.mma single latency,PTX,BF16,128,64,operands=SS;cta_group=1,168,clk");
  EXPECT_THAT(text_of(single), HasSubstr("loop 1\nUTCHMMA gdesc[UR4]"));
  EXPECT_EQ(single.family, "tcgen05 latency");
}

TEST_F(Rows, AsynchronousCopiesKeepStagesInFlight) {
  const Comparison copies = map(kHeader,
                                "M1,MEM,B200,LDGSTS streaming read from DRAM,CUDA,float2,,,"
                                "CTAs/SM=2;stages=4;threads=128;bytes per load=8,1000,GB/s");
  EXPECT_THAT(text_of(copies), HasSubstr("grid all*296\n"));
  EXPECT_THAT(text_of(copies), HasSubstr("DEPBAR.LE.LDGSTS SB0, 0x3 ; {count=3}\nLDGSTS.E.64 [R4], [R2.64] ; {bytes=256"));
  // Every fourth part of 2 GiB, in whole rounds.
  EXPECT_NEAR(copies.work, 2147483648.0 / 4, 296 * 128 * 8);
}

TEST_F(Rows, TilesThatCtasShareComeFromDramOnce) {
  const auto of_mode = [&](const std::string& mode) {
    return text_of(map(kHeader, "M1,NCU,B200,\"TMA 2D shared read, " + mode +
                                    "\",ncu,,,,cluster=2;sharing=2;box=64x8;tile bytes=2048;smem=8224,1.7,ms"));
  };
  EXPECT_THAT(of_mode("no_sharing"), HasSubstr("stream array read dram=1/1\n"));
  EXPECT_THAT(of_mode("implicit_l2_intra"), HasSubstr("stream array read dram=1/2\n"));
  const std::string multicast = of_mode("explicit_mcast");
  EXPECT_THAT(multicast, HasSubstr("stream array read dram=1/1\n"));
  EXPECT_THAT(multicast, HasSubstr("bytes=2048 multicast=2"));
  EXPECT_THAT(multicast, HasSubstr("role copier3 warps=1"));
  EXPECT_THAT(multicast, testing::Not(HasSubstr("copier4")));
}

TEST_F(Rows, ProductsOfAWarpFormOneChain) {
  const std::string header = "id,category,gpu,kernel,impl,dtype,M,N,K,dims_other,value,unit";
  const std::string row = "M1,GEMM,RTX 5090,mma.sync sparse packet (throughput),PTX,bf16xbf16,16,8,";
  const std::string rest = ",\"family=bf16;variant=ordered;warps=864;unroll=8;instructions per packet=1\",8,clk";
  const Comparison chain = map(header, row + "32" + rest);
  EXPECT_THAT(text_of(chain), HasSubstr("grid all*108\nrole multiplier warps=8\nloop 4096\nHMMA.SP.16832.F32.BF16 R4"));
  // Eight packets are counted, and one is run.
  EXPECT_NEAR(chain.measured, 8.0 * 8 * 4096 / chain.runs.front().scenario.gpu().clock_mhz(), 1e-9);
  EXPECT_EQ(mistake(header + "\n" + row + "64" + rest + "\n"), "reason: no instruction for ordered products of bf16, K 64");
  const auto reason = [&](const std::string& family, const std::string& variant, const std::string& warps) {
    return mistake(header + "\nM1,GEMM,RTX 5090,mma.sync packet,PTX,x,16,8,32,\"family=" + family + ";variant=" + variant +
                   ";warps=" + warps + ";unroll=8;instructions per packet=1\",8,clk\n");
  };
  EXPECT_EQ(reason("bf16", "ordered", "64"), "reason: dims_other: expected warps=864, unroll and instructions per packet");
  EXPECT_EQ(reason("int8", "sp", "864"), "reason: mma.sp without ordered metadata of int8 was not compiled");
}

// Products that ptxas replaces by calls: the function with as many packets, all of which are called.
TEST_F(Rows, ReplacedProductsAreCalled) {
  const std::string header = "id,category,gpu,kernel,impl,dtype,M,N,K,dims_other,value,unit";
  const auto row = [](const std::string& types, const std::string& k, const std::string& options) {
    return "M1,GEMM,RTX 5090,mma.sync packet,PTX," + types + ",16,8," + k + ",\"warps=864;" + options + "\",8,clk";
  };
  const auto function = [&](const std::string& types, const std::string& k, const std::string& options) {
    const Comparison chain = map(header, row(types, k, options));
    const configs::KernelLaunch& launch = chain.runs.front().scenario.kernel(0).listing().description();
    EXPECT_EQ(chain.family, "mma.sync by calls");
    EXPECT_EQ(launch.grid().x() * launch.block().x(), 864 * 32);
    return launch.function();
  };
  EXPECT_EQ(function("s4xu4", "64", "family=int4;variant=dense;unroll=8;instructions per packet=1"), "s4_u4_8x1");
  EXPECT_EQ(function("s4xs4", "128", "family=int4;variant=dense;unroll=8;instructions per packet=2"), "s4_s4_8x2");
  EXPECT_EQ(function("u4xu4", "64", "family=int4;variant=dense;unroll=1;instructions per packet=1"), "u4_u4_1x1");
  EXPECT_EQ(function("f16xf16", "32", "family=f16;variant=sp;unroll=8;instructions per packet=1"), "sparse_f16_k32_8x1");
  // ptxas compiles BF16 of k 32 and TF32 of k 8 to the single instruction of ordered metadata.
  EXPECT_THAT(text_of(map(header, row("bf16xbf16", "32", "family=bf16;variant=sp;unroll=8;instructions per packet=1"))),
              HasSubstr("HMMA.SP.16832.F32.BF16 R4"));
  EXPECT_EQ(mistake(header + "\n" + row("u4xu4", "64", "family=int4;variant=dense;unroll=4;instructions per packet=1") + "\n"),
            "reason: ptxas replaces these products by calls, which were compiled for other packets");
}

TEST_F(Rows, IntegerProductsOfAGeForceRunAtTheFullRate) {
  const std::string header = "id,category,gpu,kernel,impl,dtype,M,N,K,dims_other,value,unit";
  const auto scale = [&](const std::string& family, const std::string& k) {
    return map(header, "M1,GEMM,RTX 5090,mma.sync packet,PTX,x,16,8," + k + ",\"family=" + family +
                           ";variant=ordered;warps=864;unroll=8;instructions per packet=1\",8,clk")
        .runs.front()
        .scenario.gpu()
        .sm()
        .tensor()
        .scale();
  };
  EXPECT_EQ(scale("int8", "64"), 1);
  EXPECT_EQ(scale("fp8", "64"), 0.5);
}

TEST_F(Rows, AGreenContextHasSoManySms) {
  const std::string header = "id,category,gpu,kernel,impl,dims_other,value,unit";
  const std::string row = "M1,MEM,RTX A6000,streaming read on a green context of N SMs,__ldg,SMs=";
  const Comparison reads = map(header, row + "4,168,GB/s");
  EXPECT_EQ(reads.runs.front().scenario.gpu().sm_count(), 4);
  EXPECT_THAT(text_of(reads), HasSubstr("grid all*128\n"));
  EXPECT_EQ(reads.work, 536870912);
  EXPECT_EQ(mistake(header + "\n" + row + "85,168,GB/s\n"), "reason: dims_other: expected SMs=N, up to the GPU's");
}

TEST_F(Rows, SmallPassesHaveTheThreadsOfTheBestColumn) {
  const std::string row =
      "M1,MEM,H200,back-to-back small SCALE kernels,\"gpu-small-kernels, stream\",fp64,,,"
      "elements=53097;volume=829kB;columns=253/298/320/326/328/326,328,GB/s";
  const Comparison passes = map(kHeader, row);
  const configs::Elementwise& pass = passes.runs.front().scenario.kernel(0).elementwise();
  EXPECT_EQ(pass.threads_per_cta(), 512U);
  EXPECT_EQ(pass.elements(), 53097U);
  EXPECT_GT(passes.launches_us, 0);
  EXPECT_NEAR(passes.measured, 53097 * 16 / 328e3, 1e-9);
}

TEST_F(Rows, PassesOfOneLaunchMeetInTheGrid) {
  for (const std::string impl : {"grid sync", "persistent atomics"}) {
    const Comparison passes = map(kHeader, "M1,MEM,H200,back-to-back small SCALE kernels,\"gpu-small-kernels, " + impl +
                                               "\",fp64,,,elements=53097;volume=829kB;columns=253/298/320/326/328/326,328,GB/s");
    // 103 whole CTAs of 512 threads, of which the first takes the rest as well.
    EXPECT_THAT(text_of(passes), HasSubstr("class long rounds=2\nclass all rounds=1\ngrid long*1 all*102\n"));
    EXPECT_THAT(text_of(passes), HasSubstr("loop 64\n"));
    EXPECT_THAT(text_of(passes), HasSubstr("role others warps=15\n"));
    EXPECT_THAT(text_of(passes), HasSubstr("stream in read dram=0/1\n"));
    EXPECT_EQ(passes.kernel, "back-to-back small SCALE kernels, " + impl);
    EXPECT_EQ(passes.launches_us, 0);
    EXPECT_NEAR(passes.measured, 64 * 53097 * 16 / 328e3, 1e-6);
  }
  EXPECT_EQ(mistake(std::string(kHeader) + "\nM1,MEM,H200,back-to-back small SCALE kernels,\"gpu-small-kernels, HIP\",fp64,,,"
                                           "elements=53097;columns=253/298/320/326/328/326,328,GB/s\n"),
            "reason: impl: expected stream, CUDA graph, grid sync or persistent atomics");
}

TEST_F(Rows, LoadsOfL1TakeThePassesOfTheirLanes) {
  const auto of_lanes = [&](const std::string& kernel, const std::string& type, const std::string& lanes) {
    return map(kHeader, "M1,MEM,A100,\"L1 hit load, " + kernel + "\",gpu-strides," + type + ",,," + lanes + ",3.5,clk");
  };
  const Comparison strided = of_lanes("stride between lanes", "fp32", "stride=8 elements;1024 threads per CTA");
  EXPECT_THAT(text_of(strided), HasSubstr("LDG.E R8, [R2.64] ; {l1_hit wavefronts=8}")) << "eight lanes in a bank";
  EXPECT_NEAR(strided.measured, 3.5 * 1000 * 8 * 32 / 1410, 1e-6);
  EXPECT_THAT(text_of(of_lanes("stride between lanes", "fp64", "stride=33 elements")),
              HasSubstr("LDG.E.64 R8, [R2.64] ; {l1_hit wavefronts=8}"))
      << "32 lines";
  EXPECT_THAT(text_of(of_lanes("2-D block shape", "fp32", "blockDim.x=32;pitch=4098")), HasSubstr("{l1_hit wavefronts=1}"));
}

TEST_F(Rows, MicroKernelsThatAreNotKnown) {
  const std::string header = std::string(kHeader) + "\n";
  EXPECT_EQ(mistake(header + "M1,GEMM,H100,tcgen05.mma single latency,PTX,BF16,128,64,operands=SS;cta_group=1,168,clk\n"),
            "reason: tcgen05.mma needs a GPU of sm_100 or sm_103");
  EXPECT_EQ(mistake(header + "M1,GEMM,B200,tcgen05.mma single latency,PTX,F6,128,64,operands=SS;cta_group=1,168,clk\n"),
            "reason: tcgen05.mma of operands F6 is not known");
  EXPECT_EQ(mistake(header + "M1,GEMM,B200,tcgen05.mma stream,PTX,BF16,128,64,operands=SS;cta_group=1;depth=-3,168,clk\n"),
            "reason: dims_other: depth is missing, or no whole number from 1 to 1048576");
  const std::string loads = header + "M1,MEM,A100,\"L1 hit load, stride between lanes\",gpu-strides,";
  EXPECT_EQ(mistake(loads + "fp16,,,stride=8 elements,2,clk\n"), "reason: loads of fp16; expected fp32 or fp64");
  EXPECT_EQ(mistake(loads + "fp32,,,stride=8 elements;256 threads per CTA,2,clk\n"),
            "reason: these kernels have CTAs of 1024 threads");
  EXPECT_EQ(mistake(loads + "fp32,,,pitch=8,2,clk\n"), "reason: dims_other: neither stride nor blockDim.x and pitch are stated");
}

}  // namespace
}  // namespace warpfold::validation

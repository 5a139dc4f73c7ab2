#include <gtest/gtest.h>

#include "scratch.h"

namespace warpfold::configs {
namespace {

// Line 1 names the GPU; the text under test starts on line 2.
class CheckScenario : public InScratchFolder {
 protected:
  static std::string error(const std::string& text) {
    write("s.textproto", "gpu_file: \"" + gpu_path("h100_sxm.textproto") + "\"\n" + text);
    return scenario_error("s.textproto");
  }
  static std::string philox(const std::string& fields) { return error("kernel { name: \"rng\" philox {\n" + fields + "\n} }"); }
  static std::string hopper(const std::string& fields) {
    return error("kernel { name: \"gemm\" hopper_gemm { m: 512 n: 512 k: 512\n" + fields + "\n} }");
  }
  static std::string ampere(const std::string& fields) {
    return error("kernel { name: \"gemm\" ampere_gemm {\n" + fields + "\n} }");
  }
  static std::string two(const std::string& first, const std::string& second, const std::string& policy) {
    const std::string work = " philox { heads: 1 queries: 8 keys: 8 } }\n";
    return error("kernel { name: \"a\" " + first + work + "kernel { name: \"b\" " + second + work + "policy { " + policy + " }");
  }
};

TEST_F(CheckScenario, ATensorIsAStreamOfAKernelWrittenBefore) {
  const auto named = [](const std::string& tensor) { return two("", "\ntensor { " + tensor + " }\n", ""); };
  EXPECT_EQ(named(R"(stream: "mask" of: "a.mask")"), "no error");
  EXPECT_EQ(named(R"(of: "a.mask")"), "s.textproto:4:1: no stream: a tensor names one of the kernel's streams");
  EXPECT_EQ(named(R"(stream: "mask")"), "s.textproto:4:1: expected KERNEL.STREAM, not \"\"");
  EXPECT_EQ(named(R"(stream: "mask" of: "a")"), "s.textproto:4:25: expected KERNEL.STREAM, not \"a\"");
  EXPECT_EQ(named(R"(stream: "mask" of: "b.mask")"),
            "s.textproto:4:25: no kernel called \"b\" is written before this one; did you mean \"a\"?");
  EXPECT_EQ(named("stream: \"mask\" of: \"a.mask\" } tensor { stream: \"mask\" of: \"a.mask\""),
            "s.textproto:4:49: a second tensor for stream \"mask\"");
}

TEST_F(CheckScenario, TakesItsNameFromTheFileWhereItHasNone) {
  write("small.textproto", small_scenario());
  EXPECT_EQ(load_scenario("small.textproto", {}).value().name(), "small");
}

TEST_F(CheckScenario, ResolvedOnceStaysTheSame) {
  write("small.textproto", small_scenario());
  const Scenario resolved = load_scenario("small.textproto", {}).value();
  write("resolved.textproto", resolved.DebugString());
  EXPECT_EQ(load_scenario("resolved.textproto", {}).value().DebugString(), resolved.DebugString());
  EXPECT_TRUE(check_scenario(resolved, "resolved"));
}

TEST_F(CheckScenario, NeedsAGpu) {
  write("s.textproto", "kernel { name: \"rng\" philox { heads: 1 queries: 8 keys: 8 } }");
  EXPECT_EQ(scenario_error("s.textproto"), "s.textproto:1:1: gpu_file is missing");
  write("s.textproto", "\ngpu_file: \"none.textproto\"\nkernel { name: \"rng\" philox { heads: 1 queries: 8 keys: 8 } }");
  EXPECT_EQ(scenario_error("s.textproto"), "s.textproto:2:1: cannot read \"none.textproto\": No such file or directory");
  EXPECT_EQ(error("gpu { base: \"x\" }"), "s.textproto:2:7: a scenario's gpu has no base; name the file in gpu_file");
}

TEST_F(CheckScenario, ReportsTheGpusMistakesWhereTheyAre) {
  EXPECT_EQ(error("kernel { name: \"rng\" philox { heads: 1 queries: 8 keys: 8 } }\ngpu { sm {\n  cta_slots: 0 } }"),
            "s.textproto:4:3: gpu: sm.cta_slots must be from 1 to 256, not 0");
  write("g.textproto", "name: \"g\"\narchitecture: \"hopper\"\n");
  write("s.textproto", "gpu_file: \"g.textproto\"\nkernel { name: \"rng\" philox { heads: 1 queries: 8 keys: 8 } }");
  EXPECT_EQ(scenario_error("s.textproto"), "g.textproto:2:1: gpu: architecture must look like \"sm_90\", not \"hopper\"");
}

TEST_F(CheckScenario, FlashAttention4HasTwoHeadSizesAndNoDropout) {
  const auto of = [&](const std::string& shape, const std::string& options) {
    return error("kernel { name: \"a\" flash_attention_4 { shape { heads: 1 queries: 512 " + shape + " } " + options + " } }");
  };
  EXPECT_EQ(of("type: BF16 head_dim: 128", ""), "no error");
  EXPECT_EQ(of("type: BF16 head_dim: 256", ""), "s.textproto:2:81: head_dim must be one of 64, 128, not 256");
  EXPECT_EQ(of("head_dim: 64 type: FP8", ""), "s.textproto:2:83: type must be BF16 or FP16, not FP8");
  EXPECT_EQ(of("type: BF16 head_dim: 64", "rescale_share: 1.5"),
            "s.textproto:2:96: rescale_share must be from 0 to 1, not 1.500000");
  EXPECT_EQ(of("type: BF16 head_dim: 64", "emulated_exponential_share: -0.5"),
            "s.textproto:2:96: emulated_exponential_share must be from 0 to 1, not -0.500000");
}

TEST_F(CheckScenario, NeedsNamedKernelsWithWork) {
  EXPECT_EQ(error(""), "s.textproto:1:1: no kernel: a scenario has at least one");
  EXPECT_EQ(error("kernel { philox { heads: 1 queries: 8 keys: 8 } }"), "s.textproto:2:1: kernel has no name");
  EXPECT_EQ(error("kernel { name: \"a.b\" philox { heads: 1 queries: 8 keys: 8 } }"),
            "s.textproto:2:10: a kernel's name is made of letters, digits, _ and - and does not start with a digit, not \"a.b\"");
  EXPECT_EQ(error("kernel { name: \"a\" }"),
            "s.textproto:2:1: kernel \"a\" has no workload; expected one of philox, hopper_gemm, blackwell_gemm, ampere_gemm, "
            "flash_attention_2, "
            "flash_attention_3, flash_attention_4, elementwise, gemm_reduction, opaque, trace, listing");
  EXPECT_EQ(error("kernel { name: \"a\" trace {} }"), "s.textproto:2:20: path is missing");
  EXPECT_EQ(error(R"(kernel { name: "a" trace { path: "a.wfs" text: "kernel k\nend\n" } })"),
            "s.textproto:2:42: a trace is a file or a text: path is set as well");
  const std::string kernel = "kernel { name: \"a\" philox { heads: 1 queries: 8 keys: 8 } }\n";
  EXPECT_EQ(error(kernel + kernel), "s.textproto:3:10: a second kernel called \"a\"");
}

TEST_F(CheckScenario, ChecksOpaque) {
  const auto opaque = [&](const std::string& fields) { return error("kernel { name: \"a\" opaque { " + fields + " } }"); };
  EXPECT_EQ(opaque("amount: 1"), "s.textproto:2:20: ctas must be at least 1, not 0");
  EXPECT_EQ(opaque("ctas: 1"), "s.textproto:2:20: amount must be at least 1, not 0");
  EXPECT_EQ(opaque("ctas: 1 amount: 1 threads_per_cta: 48"),
            "s.textproto:2:47: threads_per_cta must be a multiple of 32 up to 1024, not 48");
  EXPECT_EQ(opaque("ctas: 1000000000 amount: 1000000000"), "s.textproto:2:20: more than 281474976710656 instructions");
}

TEST_F(CheckScenario, ChecksPhilox) {
  EXPECT_EQ(philox("heads: 1 queries: 8 keys: 8 rounds: 7 threshold_bits: 8 threads_per_cta: 256"), "no error");
  EXPECT_EQ(philox("queries: 8 keys: 8"), "s.textproto:2:22: heads must be at least 1, not 0");
  EXPECT_EQ(philox("heads: 1 queries: 0 keys: 8"), "s.textproto:3:10: queries must be at least 1, not 0");
  EXPECT_EQ(philox("heads: 1 queries: 8"), "s.textproto:2:22: keys must be at least 1, not 0");
  EXPECT_EQ(philox("heads: 1 queries: 8 keys: 8 batch: 0"), "s.textproto:3:29: batch must be at least 1, not 0");
  EXPECT_EQ(philox("heads: 1 queries: 8 keys: 8 rounds: 4"), "s.textproto:3:29: rounds must be one of 3, 5, 7, 10, not 4");
  EXPECT_EQ(philox("heads: 1 queries: 8 keys: 8 threshold_bits: 9"),
            "s.textproto:3:29: threshold_bits must be one of 8, 16, 32, not 9");
  EXPECT_EQ(philox("heads: 1 queries: 8 keys: 8 threads_per_cta: 100"),
            "s.textproto:3:29: threads_per_cta must be a multiple of 32 up to 1024, not 100");
  EXPECT_EQ(philox("heads: 1 queries: 8 keys: 8 threads_per_cta: 2048"),
            "s.textproto:3:29: threads_per_cta must be a multiple of 32 up to 1024, not 2048");
  EXPECT_EQ(philox("heads: 1 queries: 8 keys: 8 ctas_per_sm: 0"), "s.textproto:3:29: ctas_per_sm must be at least 1, not 0");
}

TEST_F(CheckScenario, ChecksHopperGemms) {
  EXPECT_EQ(hopper("tile_m: 128 tile_n: 256 tile_k: 64 type: BF16 stages: 4 cluster_m: 2 swizzle: 1"), "no error");
  EXPECT_EQ(error("kernel { name: \"g\" hopper_gemm { n: 1 k: 1 } }"), "s.textproto:2:20: m must be at least 1, not 0");
  EXPECT_EQ(error("kernel { name: \"g\" hopper_gemm { m: 1 k: 1 } }"), "s.textproto:2:20: n must be at least 1, not 0");
  EXPECT_EQ(error("kernel { name: \"g\" hopper_gemm { m: 1 n: 1 } }"), "s.textproto:2:20: k must be at least 1, not 0");
  EXPECT_EQ(hopper("tile_m: 96"), "s.textproto:3:1: tile_m must be a multiple of 64 up to 512, not 96");
  EXPECT_EQ(hopper("tile_n: 100"), "s.textproto:3:1: tile_n must be a multiple of 8 up to 512, not 100");
  EXPECT_EQ(hopper("type: FP8 tile_k: 48"), "s.textproto:3:11: tile_k must be a multiple of 32 up to 1024, not 48");
  EXPECT_EQ(hopper("type: BF16 tile_k: 40"), "s.textproto:3:12: tile_k must be a multiple of 16 up to 1024, not 40");
  EXPECT_EQ(hopper("tile_k: 1024"), "s.textproto:3:1: tile_k must not be larger than k (512), not 1024");
  EXPECT_EQ(error("kernel { name: \"g\" hopper_gemm { m: 64 n: 128 k: 64 tile_m: 128 } }"),
            "s.textproto:2:53: tile_m must not be larger than m (64), not 128");
  EXPECT_EQ(error("kernel { name: \"g\" hopper_gemm { m: 64 n: 128 k: 64 tile_n: 256 } }"),
            "s.textproto:2:53: tile_n must not be larger than n (128), not 256");
  EXPECT_EQ(hopper("stages: 0"), "no error");
  EXPECT_EQ(hopper("stages: 1"), "s.textproto:3:1: stages must be from 2 to 32, or 0: as many as fit, not 1");
  EXPECT_EQ(hopper("stages: 33"), "s.textproto:3:1: stages must be from 2 to 32, or 0: as many as fit, not 33");
  EXPECT_EQ(hopper("cluster_m: 3"), "s.textproto:3:1: cluster_m must be one of 1, 2, 4, 8, 16, not 3");
  EXPECT_EQ(hopper("cluster_n: 0"), "s.textproto:3:1: cluster_n must be one of 1, 2, 4, 8, 16, not 0");
  EXPECT_EQ(hopper("cluster_m: 8 cluster_n: 4"), "s.textproto:3:1: a cluster has at most 16 CTAs, not cluster_m x cluster_n = 32");
  EXPECT_EQ(hopper("swizzle: 0"), "s.textproto:3:1: swizzle must be at least 1, not 0");
  EXPECT_EQ(hopper("type: BF16 fp8_accumulation: FAST"), "s.textproto:3:12: fp8_accumulation is for type FP8, not BF16");
  EXPECT_EQ(hopper("registers_per_thread: 0"), "s.textproto:3:1: registers_per_thread must be at least 1, not 0");
  EXPECT_EQ(hopper("registers_per_thread: 256"), "s.textproto:3:1: registers_per_thread must be at most 255, not 256");
}

TEST_F(CheckScenario, ChecksTilesGroupsAndPartsOfGemms) {
  EXPECT_EQ(hopper("tile: AUTO library: \"cuBLAS\""), "no error");
  EXPECT_EQ(hopper("tile: AUTO library: \"tilelan\""),
            "s.textproto:3:12: tile AUTO needs the name of a library, not \"tilelan\"; did you mean \"TileLang\"?");
  EXPECT_EQ(hopper("library: \"cuBLAS\""), "s.textproto:3:1: library needs tile: AUTO");
  EXPECT_EQ(hopper("split_k: 65"), "s.textproto:3:1: split_k must be from 1 to 64, not 65");
  EXPECT_EQ(hopper("grouped { groups: 4 layout: MASKED rows: 1 rows: 2 rows: 3 rows: 4 }"), "no error");
  EXPECT_EQ(hopper("grouped { groups: 4 rows: 1 }"), "s.textproto:3:21: grouped.rows must be as many as groups, not 1");
  EXPECT_EQ(hopper("grouped { layout: MASKED }"), "s.textproto:3:1: grouped.groups must be at least 1, not 0");
  // One row in a tile of 64 or 128, as in every library for few rows.
  EXPECT_EQ(error("kernel { name: \"g\" hopper_gemm { m: 1 n: 128 k: 64 tile_m: 128 } }"), "no error");
  EXPECT_EQ(error("kernel { name: \"g\" gemm_reduction { m: 8 n: 8 parts: 1 } }"),
            "s.textproto:2:47: parts must be from 2 to 64, not 1");
}

TEST_F(CheckScenario, ChecksAmpereGemms) {
  EXPECT_EQ(ampere("m: 256 n: 256 k: 256 type: FP16 tile_k: 32 stages: 4"), "no error");
  EXPECT_EQ(ampere("m: 64 n: 256 k: 256"), "s.textproto:3:1: m must not be smaller than the tile's 128, not 64");
  EXPECT_EQ(ampere("m: 256 n: 64 k: 256"), "s.textproto:3:8: n must not be smaller than the tile's 128, not 64");
  EXPECT_EQ(ampere("m: 64 n: 256 k: 256 grouped { groups: 4 layout: BATCHED }"), "no error");
  EXPECT_EQ(ampere("m: 256 n: 256 k: 256 grouped { groups: 4 layout: CONTIGUOUS }"),
            "s.textproto:3:22: grouped must be BATCHED and without rows of its own");
  EXPECT_EQ(ampere("m: 256 n: 256 k: 256 a_repeats: 0"), "s.textproto:3:22: a_repeats must be at least 1, not 0");
  EXPECT_EQ(ampere("m: 256 n: 256 k: 256 b_repeats: 0"), "s.textproto:3:22: b_repeats must be at least 1, not 0");
  EXPECT_EQ(ampere("m: 256 n: 256 k: 256 copy_bytes: 2"), "s.textproto:3:22: copy_bytes must be one of 4, 8, 16, not 2");
  EXPECT_EQ(ampere("m: 256 n: 256 k: 256 type: FP32 copy_bytes: 8"), "s.textproto:3:33: copy_bytes must be 4 of type FP32, not 8");
  EXPECT_EQ(ampere("m: 256 n: 256"), "s.textproto:2:23: k must be at least 1, not 0");
  EXPECT_EQ(ampere("m: 256 n: 256 k: 256 type: FP4"),
            "s.textproto:3:22: type must be BF16, FP16, TF32, INT8, FP8 or FP32, not FP4");
  EXPECT_EQ(ampere("m: 256 n: 256 k: 256 type: TF32 tile_k: 16"), "no error");
  EXPECT_EQ(ampere("m: 256 n: 256 k: 256 type: INT8 tile_k: 32"), "s.textproto:3:33: tile_k must be one of 64, 128, not 32");
  for (const char* field : {"threads: 256", "k_slices: 2", "split_k: 2"})
    EXPECT_THAT(ampere("m: 256 n: 256 k: 256 type: BF16 " + std::string(field)), testing::HasSubstr(" needs type FP32")) << field;
  EXPECT_EQ(ampere("m: 256 n: 256 k: 256 tile_k: 16"), "s.textproto:3:22: tile_k must be one of 32, 64, not 16");
  EXPECT_EQ(ampere("m: 256 n: 256 k: 32 tile_k: 64"), "s.textproto:3:21: tile_k must not be larger than k (32), not 64");
  EXPECT_EQ(ampere("m: 256 n: 256 k: 256 stages: 5"), "s.textproto:3:22: stages must be one of 3, 4, 6, 10, not 5");
  EXPECT_EQ(ampere("m: 64 n: 64 k: 512 tile_m: 64 tile_n: 64"), "no error");
  EXPECT_EQ(ampere("m: 256 n: 256 k: 256 tile_n: 96"), "s.textproto:3:22: tile_n must be one of 64, 128, 256, not 96");
  EXPECT_EQ(ampere("m: 64 n: 64 k: 512 tile: AUTO library: \"cuBLAS\""), "no error");
  EXPECT_EQ(ampere("m: 256 n: 256 k: 256 library: \"cuBLAS\""), "s.textproto:3:22: library needs tile: AUTO");
  EXPECT_EQ(ampere("m: 256 n: 256 k: 256 swizzle: 0"), "s.textproto:3:22: swizzle must be at least 1, not 0");
}

TEST_F(CheckScenario, ChecksGemmsOfFp32) {
  const auto simt = [&](const std::string& fields) { return ampere("type: FP32 m: 100 n: 20 k: 3 " + fields); };
  EXPECT_EQ(simt(""), "no error");
  EXPECT_EQ(simt("tile_m: 96"), "s.textproto:3:30: tile_m must be one of 32, 64, 128, 256, not 96");
  EXPECT_EQ(simt("k_slices: 3"), "s.textproto:3:30: k_slices must be one of 1, 2, 4, not 3");
  EXPECT_EQ(simt("tile_k: 16"), "s.textproto:3:30: tile_k must be 8 for each of k_slices, not 16");
  EXPECT_EQ(simt("k_slices: 2 tile_k: 16"), "no error");
  EXPECT_EQ(simt("threads: 100"), "s.textproto:3:30: threads must be a multiple of 32 up to 1024, not 100");
  EXPECT_EQ(simt("stages: 9"), "s.textproto:3:30: stages must be from 2 to 6, not 9");
  EXPECT_EQ(simt("split_k: 4"), "s.textproto:3:30: split_k must not be larger than k (3), not 4");
  EXPECT_EQ(simt("grouped { groups: 65536 layout: BATCHED }"), "no error");
  EXPECT_EQ(simt("grouped { groups: 0 layout: BATCHED }"), "s.textproto:3:40: grouped.groups must be from 1 to 1048576, not 0");
  EXPECT_EQ(simt("grouped { groups: 8 layout: MASKED }"), "s.textproto:3:30: grouped must be BATCHED and without rows of its own");
}

// The default blocks, 176 and 80 keys, can also be stated.
TEST_F(CheckScenario, ChecksBlocksOfKeys) {
  const auto keys = [](const std::string& shape, uint32_t tile) {
    return error("kernel { name: \"a\" flash_attention_3 { shape { heads: 1 queries: 512 head_dim: 128 " + shape +
                 " }\ntile_keys: " + std::to_string(tile) + " } }");
  };
  EXPECT_EQ(keys("type: FP16", 176), "no error");
  EXPECT_EQ(keys("type: BF16", 80), "no error");
  EXPECT_EQ(keys("type: BF16", 72), "s.textproto:3:1: tile_keys must be a multiple of 16 up to 256, not 72");
  EXPECT_EQ(keys("type: FP8", 80), "s.textproto:3:1: tile_keys must be a multiple of 32 up to 256, not 80");
  EXPECT_EQ(keys("type: FP16 dropout: FUSED_PHILOX", 80), "s.textproto:3:1: tile_keys must be a multiple of 32 up to 256, not 80");
}

TEST_F(CheckScenario, ChecksSplitsAndPages) {
  for (const std::string family : {"flash_attention_2", "flash_attention_3"}) {
    const auto with = [&family](const std::string& field) {
      return error("kernel { name: \"a\" " + family + " { shape { heads: 1 queries: 1 keys: 512 head_dim: 128 type: FP16 }\n" +
                   field + " } }");
    };
    EXPECT_EQ(with("splits: 0 page_keys: 16"), "no error");
    EXPECT_EQ(with("splits: 257"), "s.textproto:3:1: splits must be at most 256, not 257");
    EXPECT_EQ(with("page_keys: 0"), "s.textproto:3:1: page_keys must be at least 1, not 0");
  }
}

TEST_F(CheckScenario, ChecksThatTheGpuHasTheKindOfLaunch) {
  EXPECT_EQ(error("launch: GRAPH\nkernel { name: \"g\" gemm_reduction { m: 8 n: 8 parts: 2 } }"), "no error");
  EXPECT_EQ(error("launch: PROGRAMMATIC\nkernel { name: \"g\" gemm_reduction { m: 8 n: 8 parts: 2 } }"), "no error");
  const auto on_a100 = [](const std::string& kind) {
    write("s.textproto", "gpu_file: \"" + gpu_path("a100_sxm.textproto") + "\"\n  launch: " + kind +
                             "\nkernel { name: \"rng\" philox { heads: 1 queries: 8 keys: 8 } }");
    return scenario_error("s.textproto");
  };
  EXPECT_EQ(on_a100("GRAPH"), "no error");
  EXPECT_EQ(on_a100("PROGRAMMATIC"),
            "s.textproto:2:3: launch PROGRAMMATIC needs a GPU that states programmatic_launch_cycles: sm_90 and later have it");
}

TEST_F(CheckScenario, ChecksDependences) {
  EXPECT_EQ(two("", "after: \"a\"", ""), "no error");
  EXPECT_EQ(two("", "after: \"c\"", ""), "s.textproto:3:20: no kernel called \"c\"; did you mean \"a\"?");
  EXPECT_EQ(two("stream: 0 after: \"b\"", "stream: 1 after: \"a\"", "kind: CONCURRENT"),
            "s.textproto:2:30: kernels wait for each other: a after b after a (kernels of one stream run in the order written)");
  EXPECT_EQ(two("after: \"b\"", "", "kind: CONCURRENT"),
            "s.textproto:2:20: kernels wait for each other: a after b after a (kernels of one stream run in the order written)");
  EXPECT_EQ(two("stream: 0 after: \"b\"", "stream: 1", "kind: CONCURRENT"), "no error");
  EXPECT_EQ(
      two("stream: 0 after: \"b\"", "stream: 1", "kind: SEQUENTIAL"),
      "s.textproto:2:30: kernels wait for each other: a after b after a (policy SEQUENTIAL runs kernels in the order written)");
}

TEST_F(CheckScenario, ChecksSmShares) {
  const auto share = [](const std::string& shares) { return two("", "", "\n" + shares); };
  EXPECT_EQ(share("sm_share { kernel: \"c\" sms: 1 }"), "s.textproto:5:12: no kernel called \"c\"; did you mean \"a\"?");
  EXPECT_EQ(share("sm_share { kernel: \"a\" }"), "s.textproto:5:1: an SM share is either sms or percent");
  EXPECT_EQ(share("sm_share { kernel: \"a\" sms: 1 percent: 5 }"), "s.textproto:5:1: an SM share is either sms or percent");
  EXPECT_EQ(share("sm_share { kernel: \"a\" sms: 0 }"), "s.textproto:5:24: sms must be above 0: a kernel needs an SM");
  EXPECT_EQ(share("sm_share { kernel: \"a\" percent: 0 }"), "s.textproto:5:24: percent must be above 0: a kernel needs an SM");
  EXPECT_EQ(share("sm_share { kernel: \"a\" percent: 101 }"), "s.textproto:5:24: percent must be from 0 to 100, not 101");
  EXPECT_EQ(share("sm_share { kernel: \"a\" sms: 1 }\nsm_share { kernel: \"a\" sms: 1 }"),
            "s.textproto:6:12: a second SM share for kernel \"a\"");
  // Kernels of one stream may have the same SMs.
  const std::string both = "\nsm_share { kernel: \"a\" percent: 60 }\nsm_share { kernel: \"b\" percent: 60 }";
  EXPECT_EQ(two("", "", both), "no error");
  EXPECT_EQ(two("", "stream: 1", both), "s.textproto:6:24: the streams' SM shares add up to 120 percent, more than 100");
}

TEST_F(CheckScenario, ChecksQuotas) {
  const auto quota = [](const std::string& fields) { return two("", "", "\nquota { kernel: \"a\" " + fields + " }"); };
  EXPECT_EQ(quota(""), "s.textproto:5:1: a quota bounds ctas, warps or registers");
  for (const std::string field : {"ctas", "warps", "registers"}) {
    EXPECT_EQ(quota(field + ": 0"),
              "s.textproto:5:21: " + field + " must be above 0: with a quota of 0 the kernel would wait for all others to end");
    EXPECT_EQ(quota(field + ": 1"), "no error");
  }
}

TEST_F(CheckScenario, ChecksWhatOtherPoliciesName) {
  const auto policy = [](const std::string& fields) { return two("", "", "\n" + fields); };
  EXPECT_EQ(policy("by_priority { order: \"a\" order: \"c\" }"), "s.textproto:5:26: no kernel called \"c\"; did you mean \"a\"?");
  EXPECT_EQ(policy("by_priority { order: \"a\" order: \"a\" }"), "s.textproto:5:26: a second place for kernel \"a\"");
  EXPECT_EQ(policy("warp_specialized { guest: \"c\" }"), "s.textproto:5:20: no kernel called \"c\"; did you mean \"a\"?");
  EXPECT_EQ(policy("warp_specialized { guest: \"a\" host: \"a\" }"), "s.textproto:5:31: a second part for kernel \"a\"");
  EXPECT_EQ(policy("warp_specialized { warps: 0 }"), "s.textproto:5:20: warps must be from 1 to 32, not 0");
  EXPECT_EQ(policy("pipelined { segments: 1 }"), "s.textproto:5:13: segments must be from 2 to 256, not 1");
  EXPECT_EQ(policy("pipelined { buffers: 0 }"), "s.textproto:5:13: buffers must be above 0");
}

TEST_F(CheckScenario, ChecksPoliciesThatJoinTwoKernels) {
  const auto policy = [](const std::string& fields) { return two("", "", "\n" + fields); };
  EXPECT_EQ(policy("cta_interleaved { kernel: \"a\" kernel: \"b\" tickets: 1 tickets: 2 }"), "no error");
  EXPECT_EQ(policy("warp_interleaved { kernel: \"a\" kernel: \"b\" }"), "no error");
  EXPECT_THAT(policy("cta_interleaved { kernel: \"a\" }"), testing::EndsWith("expected two kernels, not 1"));
  EXPECT_THAT(policy("warp_interleaved { kernel: \"a\" kernel: \"a\" }"), testing::EndsWith("a second part for kernel \"a\""));
  EXPECT_THAT(policy("warp_interleaved { kernel: \"a\" kernel: \"c\" }"),
              testing::EndsWith("no kernel called \"c\"; did you mean \"a\"?"));
  EXPECT_THAT(policy("cta_interleaved { tickets: 1 }"), testing::EndsWith("expected tickets of two kernels, not of 1"));
  EXPECT_THAT(policy("cta_interleaved { tickets: 1 tickets: 0 }"),
              testing::EndsWith("tickets must be above 0: both kernels have their turn"));
}

TEST_F(CheckScenario, ChecksTheTileOfFlashAttention2) {
  const auto with = [](const std::string& fields) {
    return error("kernel {\nname: \"a\"\nflash_attention_2 { shape { heads: 1 queries: 64 head_dim: 128 type: FP16 }\n" + fields +
                 " } }");
  };
  EXPECT_EQ(with("tile_queries: 64 tile_keys: 32 warps: 2"), "no error");
  EXPECT_THAT(with("tile_queries: 64"), testing::EndsWith("a tile is tile_queries, tile_keys and warps"));
  EXPECT_THAT(with("tile_queries: 64 tile_keys: 32 warps: 3"), testing::EndsWith("warps must be one of 1, 2, 4, 8, not 3"));
  EXPECT_THAT(with("tile_queries: 16 tile_keys: 32 warps: 2"),
              testing::EndsWith("tile_queries must be a multiple of 32 up to 64, not 16"));
  EXPECT_THAT(with("tile_queries: 16 tile_keys: 40 warps: 1"),
              testing::EndsWith("tile_keys must be a multiple of 32 up to 128, not 40"));
  EXPECT_THAT(with("warps_share_keys: true tile_queries: 16 tile_keys: 32 warps: 1"),
              testing::EndsWith("warps_share_keys has a tile of its own"));
  EXPECT_THAT(with("pass: BACKWARD tile_queries: 16 tile_keys: 32 warps: 1"),
              testing::EndsWith("only the forward pass takes a tile"));
}

TEST_F(CheckScenario, ChecksReservations) {
  const auto carve = [](const std::string& reserves) { return two("", "", "kind: CARVE_OUT\n" + reserves); };
  const std::string a = "reserve { kernel: \"a\" register_percent: 60 warp_slot_percent: 50 }\n";
  EXPECT_EQ(carve(a), "no error");
  EXPECT_EQ(carve("reserve { kernel: \"c\" }"), "s.textproto:5:11: no kernel called \"c\"; did you mean \"a\"?");
  EXPECT_EQ(carve(a + a), "s.textproto:6:11: a second reservation for kernel \"a\"");
  EXPECT_EQ(carve("reserve { kernel: \"a\" warp_slot_percent: 50 }"),
            "s.textproto:5:1: register_percent must be above 0: a reservation also bounds its kernel");
  EXPECT_EQ(carve("reserve { kernel: \"a\" register_percent: 50 warp_slot_percent: 0 }"),
            "s.textproto:5:44: warp_slot_percent must be above 0: a reservation also bounds its kernel");
  EXPECT_EQ(carve("reserve { kernel: \"a\" register_percent: -5 }"),
            "s.textproto:5:23: register_percent must be from 0 to 100, not -5");
  EXPECT_EQ(carve("reserve { kernel: \"a\" register_percent: 100.5 }"),
            "s.textproto:5:23: register_percent must be from 0 to 100, not 100.5");
  EXPECT_EQ(carve(a + "reserve { kernel: \"b\" register_percent: 50 warp_slot_percent: 50 }"),
            "s.textproto:6:23: the kernels' register_percent add up to 110, more than 100");
}

}  // namespace
}  // namespace warpfold::configs

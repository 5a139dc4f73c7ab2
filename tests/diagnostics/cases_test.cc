// Diagnostics of more than one wrong field or word: each is provoked by an input of its own, and has its place.

#include <gtest/gtest.h>

#include <string>

#include "tests/source_dir.h"
#include "walk.h"

namespace warpfold::test {
namespace {

const std::string kConfigs = WARPFOLD_SOURCE_DIR "/configs/";

std::string gpu_file(const std::string& gpu) { return "gpu_file: \"" + kConfigs + "gpus/" + gpu + ".textproto\"\n"; }
std::string base(const std::string& file) { return "base: \"" + kConfigs + file + ".textproto\"\n"; }

// A scenario of one kernel.
std::string kernel_on(const std::string& gpu, const std::string& kernel) {
  return gpu_file(gpu) + "kernel { name: \"k\" " + kernel + " }\n";
}

constexpr const char* kPhilox = "philox { heads: 8 queries: 512 keys: 512 rounds: 7 threshold_bits: 8 }";
constexpr const char* kShape = "shape { batch: 1 heads: 8 queries: 512 keys: 512 head_dim: 128 type: BF16 }";

std::string hopper_gemm(const std::string& options) {
  return "hopper_gemm { m: 512 n: 512 k: 512 type: BF16 tile_m: 128 tile_n: 128 tile_k: 64 " + options + " }";
}
std::string blackwell_gemm(const std::string& options) { return "blackwell_gemm { m: 512 n: 512 k: 512 " + options + " }"; }

TEST(Cases, Gpus) {
  Walk walk;
  const std::string h100 = base("gpus/h100_sxm");
  walk.ask_for("sm.tensor.latency_scale must make wgmma_completion_cycles at most 512, not 520", "gpu.textproto",
               h100 + "sm { tensor { latency_scale: 4 wgmma_completion_cycles: 130 } }");
  walk.ask_for("dram.bandwidth_gb_per_s: DRAM must move between 1 and 1,000,000 bytes a cycle", "gpu.textproto",
               h100 + "dram { bandwidth_gb_per_s: 1000000 scale: 8 }");
  walk.ask_for("dram.bandwidth_gb_per_s: DRAM must move between 1 and 1,000,000 bytes a cycle", "gpu.textproto",
               h100 + "dram { bandwidth_gb_per_s: 1 }");
  walk.ask_for("l2.read_bytes_per_clk: L2 must move between 1 and 1,000,000 bytes a cycle", "gpu.textproto",
               h100 + "l2 { read_bytes_per_clk: 1000000 scale: 8 }");
  walk.ask_for("l2.write_bytes_per_clk: L2 must move between 1 and 1,000,000 bytes a cycle", "gpu.textproto",
               h100 + "l2 { write_bytes_per_clk: 1 scale: 0.5 }");
}

TEST(Cases, Scenarios) {
  Walk walk;
  const std::string kernel = "kernel { name: \"k\" " + std::string(kPhilox) + " }\n";
  walk.ask_for("launch GRAPH needs a GPU that states graph_launch_cycles", "graph.textproto",
               gpu_file("h100_sxm") + "unset: \"gpu.graph_launch_cycles\" launch: GRAPH\n" + kernel);
  walk.ask_for("no field of this Kernel is called \"zz*\"", "field.textproto",
               gpu_file("h100_sxm") + "set: \"kernel.k.zz*.heads=3\"\n" + kernel);
  walk.ask_for("set block in the file or by --set", "parameter.textproto",
               gpu_file("h100_sxm") + "parameter { name: \"q\" value: 8 sets { path: \"block.heads\" } }\nblock {}\n");
  walk.ask_for("heads must be a multiple of the card's tensor_parallel (8), not 100", "parallel.textproto",
               gpu_file("h100_sxm") + "block { model: \"gpt3\" heads: 100 kv_heads: 100 head_dim: 128 }\n");
  walk.write("card.textproto", base("models/llama3_8b") + "context_parallel: 2 link_gb_per_s: 100\n");
  walk.ask_for(
      "the card's context_parallel (2) must divide seq and kv_heads of a GPU", "parts.textproto",
      gpu_file("h100_sxm") + "block { model: \"" + (walk.folder() / "card.textproto").string() + "\" seq: 8193 causal: false }\n");
}

TEST(Cases, Studies) {
  Walk walk;
  const std::string study =
      "layer { model: \"llama_block\" gpu: \"h200_sxm\" forward: true }\n"
      "axis { name: \"sequence\" value: \"2048\" value: \"4096\" }\n";
  const std::string quantity = "quantity { label: \"kernels\" layer {} } ";
  walk.ask_for("a ROOFLINE has no y", "study.textproto",
               study + "figure { name: \"f\" kind: ROOFLINE y: \"sequence\" " + quantity + "}");
  walk.ask_for("a ROOFLINE shows one quantity's kernels", "study.textproto",
               study + "figure { name: \"f\" kind: ROOFLINE series: \"sequence\" " + quantity + quantity + "}");
  walk.ask_for("a second axis labelled \"tokens\"", "study.textproto",
               "layer { model: \"llama_block\" }\naxis { name: \"sequence\" value: \"2048\" label: \"tokens\" }\n"
               "axis { name: \"batch\" value: \"1\"\n label: \"tokens\" }\n");
  walk.ask_for("a second quantity labelled \"kernels\"", "study.textproto",
               study + "figure { name: \"f\" x: \"sequence\" " + quantity + "\n" + quantity + "}");
  const std::string asked =
      "scenario_file: \"s.textproto\"\naxis { name: \"heads\" value: \"2\" }\n"
      "front { name: \"f\" minimize: \"heads\" minimize: \"total_time_us\" }\n";
  walk.ask_for("a front called \"f\", as another file of the study is", "study.textproto",
               asked + "front { name: \"f\" minimize: \"heads\" minimize: \"total_time_us\" }\n");
  walk.ask_for("a search called \"f\", as another file of the study is", "study.textproto",
               asked + "least { name: \"f\" axis: \"heads\" such_that: \"total_time_us < 1\" }\n");
}

TEST(Cases, Models) {
  Walk walk;
  const std::string llama = base("models/llama3_8b");
  walk.ask_for("a tensor of this model has more than 281474976710656 elements", "card.textproto",
               llama + "sequence: 100 batch: 10000000 feed_forward: 67108864");
  walk.ask_for("past must be up to 67108864, not 67108865", "card.textproto", llama + "past: 67108865");
  walk.ask_for("past and sequence make more than 281474976710656 scores or elements of keys", "card.textproto",
               llama + "past: 67108864 batch: 131072 sequence: 1");
  walk.ask_for("tensor_parallel must divide tokens of a GPU (8193), not 2", "card.textproto",
               llama + "sequence: 8193 tensor_parallel: 2 sequence_parallel: true link_gb_per_s: 100");
  const std::string listed = "name: \"one\" type: BF16 layers: 1 dimension { name: \"b\" size: 4 }\n";
  const std::string tensor = "tensor { name: \"x\" dimension: \"b\" given: true }\n";
  const std::string silu =
      "tensor { name: \"z\" dimension: \"b\" } operator { name: \"s\" work: \"silu\" input: \"x\" output: \"z\" }\n";
  walk.ask_for("a second dimension called \"b\"", "card.textproto", listed + "dimension { name: \"b\" size: 4 }\n" + tensor + silu);
  walk.ask_for("a second tensor called \"x\"", "card.textproto", listed + tensor + tensor + silu);
  walk.ask_for("tensor \"y\" has dimension \"b\" twice", "card.textproto",
               listed + tensor + "tensor { name: \"y\" dimension: \"b\" dimension: \"b\" }\n" + silu);
  walk.ask_for("tensor \"x\" is named twice", "card.textproto",
               listed + tensor + "tensor { name: \"y\" dimension: \"b\" }\n" +
                   "operator { name: \"add\" work: \"residual\" input: \"x\" input: \"x\" output: \"y\" }\n");
}

TEST(Cases, KernelsOfOtherArchitectures) {
  Walk walk;
  walk.ask_for("ampere_gemm needs a GPU of architecture sm_80 or later, this one is sm_70", "k.textproto",
               kernel_on("v100_16gb", "ampere_gemm { m: 512 n: 512 k: 512 type: FP16 }"));
  walk.ask_for("ampere_gemm: type FP8 has no mma.sync on sm_80", "k.textproto",
               kernel_on("a100_sxm", "ampere_gemm { m: 512 n: 512 k: 512 type: FP8 }"));
  walk.ask_for("ampere_gemm: a tile of 256 x 256 in FP32 by 256 threads in 1 slices of k; expected whole warps", "k.textproto",
               kernel_on("a100_sxm", "ampere_gemm { m: 512 n: 512 k: 512 type: FP32 tile_m: 256 tile_n: 256 }"));
  walk.ask_for("flash_attention_2 needs a GPU of architecture sm_80 or later, this one is sm_70", "k.textproto",
               kernel_on("v100_16gb", "flash_attention_2 { " + std::string(kShape) + " }"));
  walk.ask_for("flash_attention_3 needs a GPU of architecture sm_90, this one is sm_80", "k.textproto",
               kernel_on("a100_sxm", "flash_attention_3 { " + std::string(kShape) + " }"));
  walk.ask_for("flash_attention_3: the backward pass needs sm_90 and 198656 bytes of shared memory a CTA", "k.textproto",
               kernel_on("a100_sxm", "flash_attention_3 { pass: BACKWARD " + std::string(kShape) + " }"));
  walk.ask_for("gemm_reduction to 16 or 8 bits needs a GPU of architecture sm_90 or sm_100", "k.textproto",
               kernel_on("a100_sxm", "gemm_reduction { m: 512 n: 512 parts: 4 }"));
}

TEST(Cases, HopperKernels) {
  Walk walk;
  const auto refused = [&](const std::string& message, const std::string& kernel) {
    walk.ask_for(message, "k.textproto", kernel_on("h100_sxm", kernel));
  };
  refused("hopper_gemm: fused.residual has no place with stream_k", hopper_gemm("stream_k: true fused { residual: true }"));
  refused("hopper_gemm: split_k needs schedule COOPERATIVE", hopper_gemm("split_k: 2 persistent: false schedule: PINGPONG"));
  refused("hopper_gemm: no group has any rows", hopper_gemm("grouped { groups: 2 rows: 0 rows: 0 }"));
  refused("its warpgroups divide the 168 registers of its launch among them (setmaxnreg)",
          hopper_gemm("") + " footprint { registers_per_thread: 100 }");
  refused("256 keys in a block need 272 registers a thread, a consumer has 240",
          "flash_attention_3 { tile_keys: 256 " + std::string(kShape) + " }");
  walk.ask_for("hopper_gemm: not one cluster of 2 CTAs fits the GPU", "k.textproto",
               "gpu { sm_count: 1 }\n" + kernel_on("h100_sxm", hopper_gemm("cluster_m: 2")));
}

TEST(Cases, BlackwellKernels) {
  Walk walk;
  const auto refused = [&](const std::string& message, const std::string& options) {
    walk.ask_for("blackwell_gemm: " + message, "k.textproto", kernel_on("b200", blackwell_gemm(options)));
  };
  refused("scales are for type FP8 and FP4", "type: BF16 scales: MX");
  refused("type FP4 needs scales: MX or NV", "type: FP4 scales: UNSCALED");
  refused("scales need tile_m 128", "type: FP8 scales: MX tile_m: 64");
  walk.ask_for("blackwell_gemm: not one cluster of 4 CTAs fits the GPU", "k.textproto",
               "gpu { sm_count: 2 gpcs: 2 }\n" + kernel_on("b200", blackwell_gemm("type: BF16 cluster_m: 4")));
}

// Two kernels that may run beside each other, under `policy`.
std::string two_kernels(const std::string& first, const std::string& second, const std::string& policy) {
  return gpu_file("h100_sxm") + "kernel { name: \"a\" " + first + " }\nkernel { name: \"b\" stream: 1 " + second + " }\npolicy { " +
         policy + " }\n";
}

TEST(Cases, Policies) {
  Walk walk;
  const std::string gemm = hopper_gemm("cluster_m: 1 cluster_n: 1");
  walk.ask_for("there is more than one Philox kernel; name one as warp_specialized.guest", "policy.textproto",
               two_kernels(kPhilox, kPhilox, "kind: WARP_SPECIALIZED"));
  walk.ask_for("no GEMM may run beside kernel \"a\"", "policy.textproto",
               two_kernels(kPhilox, "elementwise { elements: 1000000 }", "kind: WARP_SPECIALIZED"));
  walk.ask_for("no kernel that can be cut runs after kernel \"a\"", "policy.textproto",
               gpu_file("h100_sxm") + "kernel { name: \"a\" " + kPhilox + " }\npolicy { kind: PIPELINED }\n");
  walk.ask_for("kernel \"b\" moves registers between its warpgroups, which a joined CTA has no rule for", "policy.textproto",
               two_kernels(kPhilox, gemm, "kind: WARP_INTERLEAVED"));
  walk.ask_for("kernel \"b\" moves registers between warpgroups: a guest there has 4, 8, ... warps, not 3", "policy.textproto",
               two_kernels(kPhilox, gemm, "kind: WARP_SPECIALIZED warp_specialized { warps: 3 }"));
  walk.ask_for("kernel \"b\" has 4 roles; a guest has one", "policy.textproto",
               two_kernels(kPhilox, gemm, "kind: WARP_SPECIALIZED warp_specialized { guest: \"b\" host: \"a\" }"));
  walk.write("meets.wfs",
             "kernel meets architecture=sm_90 registers=32\n  class all\n  grid all*4\n  role all warps=1\n"
             "    RED.E.ADD [R2.64], R4 ; {bytes=32 barrier=0}\n    LDG.E R5, [R2.64] ; {bytes=32 barrier=0}\n    EXIT\n  end\n"
             "  role others warps=3\n    EXIT\n  end\nend\n");
  walk.ask_for(
      "the CTAs of kernel a wait for each other at a barrier of the grid, and policy CTA_INTERLEAVED cuts the kernel or joins it",
      "policy.textproto",
      two_kernels("trace { path: \"" + (walk.folder() / "meets.wfs").string() + "\" }", kPhilox, "kind: CTA_INTERLEAVED"));
}

// Kernels of a trace as guests: a pass is one of the loop of 33.
std::string guest(const std::string& registers, const std::string& declared, const std::string& body) {
  return "kernel guest architecture=sm_90 registers=" + registers + " shared_memory=0\n  " + declared +
         "\n  role all warps=4\n    loop 33\n" + body + "    end\n    EXIT ;\n  end\nend\n";
}

TEST(Cases, Guests) {
  Walk walk;
  const std::string add = "      IADD3 R44, R45, R40, RZ ;\n";
  const std::string classes = "class all\n  grid all*4";
  walk.write("many.wfs", guest("255", classes, add));
  walk.write("nested.wfs", guest("32", "parameter n\n  class all n=2\n  grid all*4", "      loop n\n" + add + "      end\n"));
  walk.write("ring.wfs", guest("32", classes + "\n  ring full depth=1 arrivals=4\n  cursor use depth=1",
                               "      SYNCS.ARRIVE.TRANS64.A1T0 RZ, [UR4], RZ ; {barrier=full}\n"
                               "      SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR6], R3 ; {barrier=full cursor=use}\n"));
  const auto refused = [&](const std::string& message, const std::string& trace, const std::string& host,
                           const std::string& warps) {
    walk.ask_for(message, "policy.textproto",
                 two_kernels("trace { path: \"" + (walk.folder() / trace).string() + "\" }", host,
                             "kind: WARP_SPECIALIZED warp_specialized { guest: \"a\" host: \"b\" warps: " + warps + " }"));
  };
  refused(
      "moves from 128 to 160 registers; the guest's warps change the launch's registers to 216, from which the role would have to "
      "move the other way",
      "many.wfs", "flash_attention_3 { shape { batch: 1 heads: 8 queries: 1536 keys: 1536 head_dim: 64 type: BF16 } }", "32");
  refused("kernel \"a\" has loops of its own inside each pass", "nested.wfs", hopper_gemm(""), "4");
  refused("the warps of kernel \"a\" wait for each other at mbarriers: a CTA must have 4, not 2", "ring.wfs", hopper_gemm(""), "2");
}

TEST(Cases, Results) {
  Walk walk;
  const auto refused = [&](const std::string& message, const std::string& text) {
    walk.ask_for(message, "result.json", text, {"report", "FILE"});
    walk.ask("result.json", text);
  };
  refused("the field \"total_cycles\" occurs twice in one Result", "{\"total_cycles\": 1,\n \"total_cycles\": 2}");
  refused("Kernel has one of \"philox\" and \"trace\"",
          R"({"provenance": {"scenario": {"kernel": [{"philox": {}, "trace": {}}]}}})");
  refused("damaged JSON: Incorrect hex digit after \\u escape in string.", R"({"scenario": "\u12"})");
  refused(", which a later version of Warpfold wrote; this one reads up to format", R"({"format": 999999})");
  refused("an object with \"nothing\"", R"({"nothing": 1})");
}

TEST(Cases, Layers) {
  Walk walk;
  walk.ask_for("layer takes clock FIXED; a layer's kernels have clocks of their own", "gpu.textproto",
               base("gpus/h100_sxm") + "clock: POWER\n", {"layer", "llama_block", "--gpu", "FILE"});
  walk.ask_for("gpu.textproto:2:6: l2.bytes must be from 1 to 1e+12, not 0", "gpu.textproto",
               base("gpus/h100_sxm") + "l2 { bytes: 0 }\n", {"layer", "llama_block", "--gpu", "FILE"});
}

TEST(Cases, Measurements) {
  Walk walk;
  walk.ask_for("a slowdown is of a kernel: its name is missing", "rows.csv",
               "id,category,gpu,metric,value,unit,scenario,of\ns,CORUN,H100,slowdown,1.5,x," + kConfigs +
                   "scenarios/qkv_philox_small.textproto,\n",
               {"validate", "FILE"});
}

}  // namespace
}  // namespace warpfold::test

// warpfold layer: its output and its refusals.

#include <gmock/gmock.h>
#include <filesystem>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "configs/layer.pb.h"
#include "configs/load.h"
#include "program.h"
#include "tests/source_dir.h"
#include "tools/warpfold/figures/layer_figures.h"

namespace warpfold::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kLlama = WARPFOLD_SOURCE_DIR "/configs/models/llama3_8b.textproto";
const std::string kH100 = WARPFOLD_SOURCE_DIR "/configs/gpus/h100_sxm.textproto";

class Layer : public Program {
 protected:
  static std::vector<std::string> arguments(const std::vector<std::string>& more) {
    std::vector<std::string> all{"layer", kLlama, "--gpu", kH100, "--set", "sequence=1024"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  configs::LayerReport layer(const std::vector<std::string>& more) const { return message<configs::LayerReport>(arguments(more)); }
  std::string refusal(const std::vector<std::string>& more) const { return refused(arguments(more)); }
};

TEST_F(Layer, SimulatesEachKindOfKernelOnce) {
  const configs::LayerReport report = layer({});
  ASSERT_EQ(report.versions_size(), 1);
  EXPECT_LT(report.simulations(), 31U);  // as many launches run them
  double sum = 0;
  for (const configs::LayerKernel& kernel : report.versions(0).kernels()) {
    sum += kernel.time_us();
    EXPECT_EQ(kernel.has_simulated_us(), kernel.not_simulated().empty()) << kernel.name();
    if (kernel.kind() != "contraction") continue;
    EXPECT_GE(kernel.simulated_us(), 0.99 * kernel.roofline_us()) << kernel.name();
  }
  EXPECT_NEAR(report.versions(0).time_us(), sum, 1e-6);
}

TEST_F(Layer, ComparesFusedWithUnfused) {
  const configs::LayerReport report = layer({"--fused", "--no-simulation"});
  ASSERT_EQ(report.versions_size(), 3);
  EXPECT_EQ(report.simulations(), 0U);
  EXPECT_LT(report.versions(2).kernels_size(), report.versions(0).kernels_size());
  EXPECT_GT(report.words_saved_percent(), 10);
  EXPECT_EQ(report.fusions(1).kernel(), "RRN");
  EXPECT_EQ(report.fusions(1).launches_saved(), 1U);
}

TEST_F(Layer, SaysWhatIsNotSimulated) {
  write("no_listings.textproto", "");
  const Ended result = run(arguments({"--forward", "--kernels", "no_listings.textproto"}));
  EXPECT_THAT(result.out, AllOf(StartsWith("A layer of llama3_8b takes "), HasSubstr("not simulated: roofline time"),
                                HasSubstr("no kernel for rms_norm: norm 1, norm 2")));
}

TEST_F(Layer, SaysHowLongTrainingTakes) {
  const configs::LayerTraining training = layer({"--no-simulation", "--train", "15e12", "--gpus", "16"}).training();
  // 8.03 billion: "The Llama 3 Herd of Models"; model card.
  EXPECT_NEAR(static_cast<double>(training.parameters()) / 1e9, 8.03, 0.005);
  EXPECT_NEAR(training.seconds(), 15e12 / training.tokens_per_second(), 1);
}

// Twice the GPUs with as many tokens each: the tokens take half the time, the loss does not.
TEST_F(Layer, SaysHowLongALossTakes) {
  const auto with = [this](const std::string& gpus) {
    return layer({"--no-simulation", "--train", "15e12", "--gpus", gpus, "--critical-batch", "1e6"}).training();
  };
  const configs::LayerTraining one = with("1024");
  EXPECT_EQ(one.step_tokens(), 1024 * 1024);
  EXPECT_NEAR(one.loss_tokens(), 15e12 * (1 + 1.048576), 1e7);
  EXPECT_NEAR(one.loss_seconds(), one.loss_tokens() / one.tokens_per_second(), 1e-3 * one.loss_seconds());
  EXPECT_NEAR(one.loss_steps() / (15e12 / 1e6), 1 + 1 / 1.048576, 1e-6);
  const configs::LayerTraining two = with("2048");
  EXPECT_NEAR(one.seconds() / two.seconds(), 2, 1e-9);
  EXPECT_NEAR(one.loss_seconds() / two.loss_seconds(), (1 + 1 / 1.048576) / (1 + 1 / (2 * 1.048576)), 1e-9);
  EXPECT_EQ(one.least_loss_seconds(), two.least_loss_seconds());
  const Ended text = run(arguments({"--no-simulation", "--train", "15e12", "--gpus", "1024", "--critical-batch", "1e6"}));
  EXPECT_THAT(text.out, HasSubstr("A step has 1.05 million tokens. Small batches reach the loss of 15,000.0 billion tokens"));
}

// Dropping an activation costs its kernel again, and those in front of it whose results nothing keeps.
TEST_F(Layer, RecomputesUntilActivationsFit) {
  const configs::LayerMemory all = layer({"--no-simulation", "--activations", "1e6"}).memory();
  EXPECT_EQ(all.kept_mb(), all.all_mb());
  EXPECT_EQ(all.recompute_us(), 0);
  const configs::LayerMemory less = layer({"--no-simulation", "--activations", "60"}).memory();
  EXPECT_LE(less.kept_mb(), 60);
  EXPECT_GT(less.recompute_us(), 0);
  double kept = 0;
  for (const configs::LayerActivation& each : less.activations()) kept += each.kept() ? static_cast<double>(each.bytes()) / 1e6 : 0;
  EXPECT_NEAR(kept, less.kept_mb(), 1e-6);
}

// Kernels of one name, as bert_large's two BDRLN, are told apart by their places.
TEST_F(Layer, TellsKernelsOfOneNameApart) {
  const auto bert = [this](const std::vector<std::string>& more) {
    std::vector<std::string> all{
        "layer", WARPFOLD_SOURCE_DIR "/configs/models/bert_large.textproto", "--gpu", kH100, "--fused", "--no-simulation"};
    all.insert(all.end(), more.begin(), more.end());
    return message<configs::LayerReport>(all);
  };
  const configs::LayerMemory one = bert({"--activations", "60"}).memory();
  const configs::LayerMemory both = bert({"--activations", "40"}).memory();
  std::vector<double> alone;
  for (const configs::LayerActivation& each : one.activations()) {
    if (each.kernel() == "BDRLN" && each.kept()) alone.push_back(each.recompute_us());
  }
  ASSERT_EQ(alone.size(), 1U);
  EXPECT_GT(both.recompute_us(), one.recompute_us());
  EXPECT_LE(both.recompute_us(), one.recompute_us() + alone.front() + 1e-6);

  const configs::LayerReport sent = bert({"--set", "data_parallel=4", "--set", "data_link_gb_per_s=400"});
  const configs::LayerVersion& fused = sent.versions(2);
  for (const configs::LayerTransfer& each : fused.overlap().transfers()) {
    ASSERT_EQ(each.beside_kernels_size(), each.beside_size());
    const std::set<uint32_t> places(each.beside_kernels().begin(), each.beside_kernels().end());
    EXPECT_EQ(static_cast<int>(places.size()), each.beside_size()) << each.name();
    for (int i = 0; i < each.beside_size(); ++i)
      EXPECT_EQ(fused.kernels(static_cast<int>(each.beside_kernels(i))).name(), each.beside(i));
  }
}

// Transfers that the link hides are free, so that fewer kernels run again. Beyond that, transfers are exposed, but only if no other
// choice is left.
TEST_F(Layer, OffloadsWhatTheLinkHides) {
  const std::vector<std::string> less{"--no-simulation", "--activations", "60"};
  const auto with_link = [&](const std::string& budget, const std::string& rate) {
    return layer({"--no-simulation", "--activations", budget, "--offload", rate}).memory();
  };
  const configs::LayerMemory recomputed = layer(less).memory();
  const configs::LayerMemory slow = with_link("60", "20");
  EXPECT_LE(slow.kept_mb(), 60);
  EXPECT_GT(slow.offloaded_mb(), 0);
  EXPECT_LE(slow.offloaded_mb(), slow.hidden_mb());
  EXPECT_EQ(slow.exposed_us(), 0);
  EXPECT_LE(slow.recompute_us(), recomputed.recompute_us());
  EXPECT_EQ(with_link("60", "500").recompute_us(), 0);
  const configs::LayerMemory tight = with_link("1", "1");  // the layer's input has to go as well
  EXPECT_LE(tight.kept_mb(), 1);
  EXPECT_NEAR(tight.exposed_us(), 2 * (tight.offloaded_mb() - tight.hidden_mb()) * 1e3, 1);
}

// RoPE's and residual connections' results, which no gradient needs.
TEST_F(Layer, SaysWhatRecomputingGainsNothing) {
  const configs::LayerMemory memory = layer({"--no-simulation", "--activations", "1e6"}).memory();
  EXPECT_THAT(memory.gain_nothing(), testing::IsSupersetOf({"Q", "K", "out", "linear 2", "residual 2"}));
  EXPECT_THAT(memory.gain_nothing(), testing::Not(testing::Contains("norm 1")));
}

// Weights, gradients and Adam's states of 8.03 billion parameters: 2, 2 and 12 bytes each (arXiv 1910.02054, section 3.1).
TEST_F(Layer, GivesActivationsWhatStatesLeave) {
  const std::vector<std::string> adam{"--no-simulation", "--set", "optimiser=ADAM", "--memory"};
  std::vector<std::string> alone = adam;
  alone.emplace_back("141");
  const configs::LayerMemory memory = layer(alone).memory();
  EXPECT_NEAR(memory.weights_gb(), 2 * 8.03, 0.01);
  EXPECT_NEAR(memory.states_gb(), 12 * 8.03, 0.06);
  EXPECT_NEAR(memory.budget_mb(), 1e3 / 32 * (141 - memory.weights_gb() - memory.gradients_gb() - memory.states_gb()), 1e-3);
  std::vector<std::string> shared = adam;
  shared.insert(shared.end(), {"80", "--set", "data_parallel=8", "--set", "data_link_gb_per_s=50", "--set", "zero_stage=3"});
  EXPECT_NEAR(layer(shared).memory().states_gb(), 12 * 8.03 / 8, 0.01);
}

TEST_F(Layer, TakesSettingsOfTheGpu) {
  const configs::LayerReport twice = layer({"--no-simulation", "--set", "gpu.sm.tensor.scale=2"});
  EXPECT_NEAR(twice.tensor_tflops(), 2 * layer({"--no-simulation"}).tensor_tflops(), 1e-6);
}

// A file's own factor is in the peak that it states: GeForce parts and the H20 multiply at a fraction of their SMs' rate.
TEST_F(Layer, TakesThePeakOfEveryDataSheet) {
  for (const auto& entry : std::filesystem::directory_iterator(WARPFOLD_SOURCE_DIR "/configs/gpus")) {
    const configs::Gpu gpu = configs::load_gpu(entry.path().string()).value();
    const Peaks peaks = peaks_of(gpu);
    EXPECT_EQ(peaks.tensor_tflops, gpu.data_sheet().fp16_tflops()) << entry.path();
    const double memory = gpu.data_sheet().memory_gb_per_s() * (gpu.dram().has_scale() ? gpu.dram().scale() : 1);
    EXPECT_EQ(peaks.memory_gb_per_s, memory > 0 ? memory : gpu.dram().bandwidth_gb_per_s()) << entry.path();
  }
}

// A machine with other SMs or memory has kept its base's data sheet.
TEST_F(Layer, TakesThePeakOfAMachineThatIsNoDataSheets) {
  configs::Gpu gpu = configs::load_gpu(kH100).value();
  gpu.set_sm_count(264);
  gpu.mutable_dram()->set_bandwidth_gb_per_s(6000);
  EXPECT_NEAR(peaks_of(gpu).tensor_tflops, 2 * gpu.data_sheet().fp16_tflops(), 0.5);
  EXPECT_EQ(peaks_of(gpu).memory_gb_per_s, 6000);
  gpu = configs::load_gpu(WARPFOLD_SOURCE_DIR "/configs/gpus/rtx_4090.textproto").value();
  gpu.mutable_sm()->mutable_tensor()->set_scale(1);
  EXPECT_NEAR(peaks_of(gpu).tensor_tflops, 2 * gpu.data_sheet().fp16_tflops(), 0.5);
}

// A GPU file need not state a data sheet: the peaks are then the rates of its tensor cores at its clock.
TEST_F(Layer, DerivesThePeakThatNoDataSheetStates) {
  configs::Gpu gpu = configs::load_gpu(kH100).value();
  const double stated = gpu.data_sheet().fp16_tflops() * gpu.clock_mhz() / gpu.data_sheet().tensor_clock_mhz();
  gpu.clear_data_sheet();
  write("bare.textproto", gpu.DebugString());
  const auto bare =
      message<configs::LayerReport>({"layer", kLlama, "--gpu", "bare.textproto", "--set", "sequence=1024", "--no-simulation"});
  EXPECT_NEAR(bare.tensor_tflops(), stated, 0.5);
  EXPECT_GT(bare.versions(0).time_us(), 0);
}

TEST_F(Layer, CsvHasARowForEachKernel) {
  const std::string csv = run(arguments({"--no-simulation", "--format", "csv"})).out;
  EXPECT_THAT(csv, StartsWith("model,gpu,version,pass,kernel,class,"));
  EXPECT_EQ(std::ranges::count(csv, '\n'), 1 + layer({"--no-simulation"}).versions(0).kernels_size());
}

// The layer's time is the sum of kernels, their slowdown by transfers, and exposed transfers.
TEST_F(Layer, PutsTransfersBesideKernels) {
  const configs::LayerOverlap forward = layer({"--no-simulation", "--forward", "--set", "tensor_parallel=2", "--set",
                                               "sequence_parallel=true", "--set", "link_gb_per_s=450"})
                                            .versions(0)
                                            .overlap();
  EXPECT_EQ(forward.transfers_size(), 4);
  EXPECT_NEAR(forward.layer_us(), forward.kernels_us() + forward.slowed_us() + forward.exposed_us(), 1e-6);
  EXPECT_NEAR(forward.exposed_us(), forward.transfers_us(), 1e-6);  // each kernel reads the data of the transfer in front of it
  const configs::LayerOverlap hidden =
      layer({"--no-simulation", "--set", "data_parallel=4", "--set", "data_link_gb_per_s=2000"}).versions(0).overlap();
  EXPECT_GT(hidden.transfers_us(), 0);
  EXPECT_NEAR(hidden.exposed_us(), 0, 1e-6);
  EXPECT_GT(hidden.once_us(), 0);  // the last layer's gradients
}

// A copy kernel takes SM resources that copy engines do not.
TEST_F(Layer, SimulatesTheCopyKernelBesideKernels) {
  const configs::LayerOverlap overlap =
      layer({"--set", "hidden=1024", "--set", "heads=8", "--set", "kv_heads=8", "--set", "feed_forward=2048", "--set",
             "data_parallel=4", "--set", "data_link_gb_per_s=400", "--set", "copy_ctas=4", "--kernels",
             WARPFOLD_SOURCE_DIR "/configs/kernels/operators.textproto"})
          .versions(0)
          .overlap();
  EXPECT_GT(overlap.slowed_us(), 0);
  EXPECT_LT(overlap.copy_gb_per_s(), 200);  // four CTAs do not keep the link busy
  for (const configs::LayerTransfer& each : overlap.transfers())
    EXPECT_NEAR(each.us(), static_cast<double>(each.sent_bytes()) / 1e3 / overlap.copy_gb_per_s(), 1e-6 * each.us()) << each.name();
}

TEST_F(Layer, FindsTheLayoutsOfTheForwardPass) {
  const std::string table = WARPFOLD_SOURCE_DIR "/configs/kernels/operators.textproto";
  const configs::LayerLayouts layouts = layer({"--forward", "--layouts", "--set", "hidden=1024", "--set", "heads=8", "--set",
                                               "kv_heads=8", "--set", "feed_forward=2048", "--kernels", table})
                                            .layouts();
  EXPECT_EQ(layouts.kernels_size(), 16);
  EXPECT_LE(layouts.path_us(), layouts.features_us() + 1e-9);
  EXPECT_GE(layouts.path_us(), layouts.best_us() - 1e-9);
  EXPECT_LE(layouts.excess_percent(), 4);  // arXiv 2007.00072, section VI-A
  const configs::LayerLayout& norm = layouts.kernels(0);
  EXPECT_EQ(norm.kernel(), "norm 1");
  EXPECT_GT(norm.tokens_us(), 2 * norm.features_us());
}

TEST_F(Layer, WritesAPageAndAPicture) {
  const Ended result = run(arguments({"--no-simulation", "--fused", "--html", "l.html", "--svg", "l.svg"}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(read("l.html"), AllOf(HasSubstr("<title>llama3_8b on H100"), HasSubstr("layer-graph")));
  EXPECT_THAT(read("l.svg"), AllOf(StartsWith("<svg xmlns"), HasSubstr("llama3_8b on H100 SXM5 80GB, fused: 25 launches")));
  EXPECT_EQ(refusal({"--no-simulation", "--html", "l", "--svg", "l"}), "--svg l: the same file as --html l\n");
}

TEST_F(Layer, NamesTheMistake) {
  EXPECT_EQ(refusal({"--set", "heads=3"}), "--set heads=3: heads must divide hidden (4096), not 3; or state head_dim\n");
  EXPECT_THAT(refusal({"--set", "gpu.sub_core.warp_slots=8"}),
              StartsWith("--set gpu.sub_core.warp_slots=8: sm.warp_slots must be sm.sub_cores x sub_core.warp_slots"));
  EXPECT_EQ(layer({"--no-simulation", "--set", "gpu.sub_core.warp_slots=8", "--set", "gpu.sm.warp_slots=32"}).versions_size(), 1)
      << "fields that depend on each other";
  EXPECT_EQ(refusal({"--set", "gpu.sm_count=0"}), "--set gpu.sm_count=0: sm_count must be from 1 to 4096, not 0\n");
  EXPECT_EQ(refusal({"--epilogue", "ful"}), "--epilogue: unknown choice \"ful\"; did you mean \"full\"?\n");
  EXPECT_EQ(refusal({"--past", "8"}),
            "--set past=8: a layer with past tokens has no backward pass; add --forward, in a study "
            "forward: true\n");
  EXPECT_EQ(refusal({"--past", "some"}), "--past takes a number from 0 to 67108864, not \"some\"\n");
  EXPECT_EQ(refusal({"--gpus", "8"}), "--gpus, --remat and --critical-batch need --train TOKENS\n");
  EXPECT_EQ(refusal({"--train", "1e9", "--critical-batch", "0"}),
            "--critical-batch takes a number from 1 on, such as 8 or 15e12, not \"0\"\n");
  EXPECT_EQ(refusal({"--train", "many"}), "--train takes a number from 1 on, such as 8 or 15e12, not \"many\"\n");
  EXPECT_EQ(refusal({"--train", "1e9", "--gpus", "16.9"}), "--gpus takes a number from 1 to 16777216, not \"16.9\"\n");
  EXPECT_EQ(refusal({"--train", "1e9", "--forward"}), "--train needs the backward pass; leave out --forward\n");
  EXPECT_EQ(refusal({"--train", "1e9", "--gpus", "3", "--set", "tensor_parallel=2", "--set", "link_gb_per_s=450"}),
            "--gpus must be a multiple of the 2 that share a layer, not 3\n");
  EXPECT_EQ(refusal({"--no-simulation", "--activations", "8"}), "--activations 8.0: the layer's input alone takes 8.4 MB\n");
  EXPECT_EQ(refusal({"--activations", "8", "--forward"}), "--activations needs the backward pass; leave out --forward\n");
  write("wrong.textproto", "kernel {\n  operator: \"rms_nrom\" launch: \"l\"\n}\n");
  EXPECT_EQ(refusal({"--kernels", "wrong.textproto"}),
            "wrong.textproto:2:3: no operator called \"rms_nrom\"; did you mean \"rms_norm\"?\n");
  write("empty.textproto", "");
  EXPECT_EQ(refusal({"--set", "data_parallel=2", "--set", "data_link_gb_per_s=50", "--set", "copy_ctas=4", "--kernels",
                     "empty.textproto"}),
            "copy_ctas: the table of listings (--kernels) has no row for all_reduce\n");
  EXPECT_EQ(refusal({"--offload", "50"}), "--offload needs --activations MB or --memory GB\n");
  EXPECT_EQ(refusal({"--memory", "80", "--activations", "80"}),
            "--memory derives the budget that --activations states: give one of the two\n");
  EXPECT_EQ(refusal({"--no-simulation", "--memory", "20"}),
            "--memory 20.0 leaves nothing to activations: weights take 16.1 GB, gradients 16.1 GB, the optimiser's states 0.0 GB; "
            "tensor_parallel and zero_stage share them among GPUs\n");
  EXPECT_EQ(refusal({"--no-simulation", "--svg", "layer.png"}), "--svg layer.png: expected a name that ends in .svg\n");
  EXPECT_EQ(refusal({"--library", "cuBLS"}), "--library: no library called \"cuBLS\"; did you mean \"cuBLAS\"?\n");
  EXPECT_EQ(refusal({"--kernels", "none.textproto"}), "cannot read \"none.textproto\": No such file or directory\n");
}

}  // namespace
}  // namespace warpfold::cli

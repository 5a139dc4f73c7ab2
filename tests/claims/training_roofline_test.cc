// Published analyses of training: a roofline of LLM training on the H200 (ridge 206; block shares in units of one (h, h) product),
// and slides of A100 roofline measurements (intensities, ridges). Also Stratos, "Making Transformers Memory-Bound Again" (FLOP of a
// step, training time). Statements are formulas over the roofline; beside each stands the simulated figure if a kernel exists.

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/claims/claim.h"
#include "tests/claims/layer_model.h"
#include "tools/warpfold/figures/layer_figures.h"
#include "workloads/layer/build.h"
#include "workloads/layer/training.h"

namespace warpfold::test {
namespace {

using configs::LayerKernel;
using configs::LayerReport;

std::string setting(const std::string& name, uint64_t value) { return name + "=" + std::to_string(value); }

// A Llama block with as many key heads as heads and 8/3 h in its feed-forward; h a multiple of 384.
configs::TransformerModel block(uint64_t hidden, uint64_t sequence, std::vector<std::string> more = {}) {
  std::vector<std::string> settings{setting("hidden", hidden),         setting("heads", hidden / 128),
                                    setting("kv_heads", hidden / 128), setting("feed_forward", hidden * 8 / 3),
                                    setting("sequence", sequence),     "causal=false"};
  settings.insert(settings.end(), more.begin(), more.end());
  return model_called("llama2_7b", settings);
}

double unit_us(const LayerReport& report) { return kernel_called(report.versions(0), "out").roofline_us(); }

TEST(TrainingRoofline, RidgeAndIntensityOfAProjection) {
  const configs::Gpu h200 = gpu_called("h200_sxm");
  const cli::Peaks peaks = cli::peaks_of(h200);
  expect_within_percent({"H200's ridge, FLOP/B", 206, peaks.tensor_tflops * 1e3 / peaks.memory_gb_per_s}, 0.5);
  for (const auto& [tokens, intensity] : {std::pair<uint64_t, double>{1, 1.0}, {256, 228.0}}) {
    const configs::TransformerModel model = model_called("llama2_7b", {setting("sequence", tokens)});
    const LayerReport report = layer_of(model, h200, {});
    const LayerKernel& projection = kernel_called(report.versions(0), "out");
    expect_within_percent(
        {"intensity of a (h, h) projection of " + std::to_string(tokens) + " tokens, h 4096", intensity, projection.intensity()},
        0.5);
    EXPECT_EQ(projection.bound(), tokens == 1 ? "memory" : "compute");
  }
}

TEST(TrainingRoofline, SharesOfABlockInUnitsOfAProduct) {
  constexpr uint64_t kHidden = 6144;
  constexpr uint64_t kTokens = 8192;
  const configs::Gpu h200 = gpu_called("h200_sxm");
  const LayerReport report = layer_of(block(kHidden, kTokens), h200, {.simulate = true, .backward = false, .kernels = "operators"});
  const double unit = unit_us(report);
  double products = 0;
  double products_simulated = 0;
  double words = 0;  // moved for an element of the iteration space, of all operators that only move
  double moved = 0;
  double moved_simulated = 0;
  for (const LayerKernel& each : report.versions(0).kernels()) {
    if (each.pass() != "forward") continue;
    if (each.kind() == "contraction") products += each.roofline_us();
    if (each.kind() == "contraction") products_simulated += each.simulated_us();
    if (each.kind() != "normalisation" && each.kind() != "elementwise") continue;
    const double width = each.operators(0) == "silu" || each.operators(0) == "multiply" ? 8.0 / 3 : 1;
    words += static_cast<double>(each.bytes()) / 2 / (kTokens * kHidden * width);
    moved += each.roofline_us();
    moved_simulated += each.simulated_us();
  }
  const double simulated_unit = kernel_called(report.versions(0), "out").simulated_us();
  expect_within_percent({"products of a block, in (h, h) products", 12, products / unit}, 0.5);
  expect_within_percent({"products of a block, in (h, h) products, simulated", 12, products_simulated / simulated_unit}, 10);
  const LayerKernel& attention = kernel_called(report.versions(0), "attention");
  expect_within_percent({"attention over a product: 2 s / h", 2.0 * kTokens / kHidden, attention.roofline_us() / unit}, 0.5);
  // FlashAttention reaches a smaller share of the peak than a product: "times a constant".
  expect_between({"attention over a product, simulated", 2.0 * kTokens / kHidden, attention.simulated_us() / simulated_unit},
                 2.0 * kTokens / kHidden, 2 * 2.0 * kTokens / kHidden);
  // The document counts SiLU and product at width h: 19 words an element. They are 8/3 h wide.
  const double ridge = cli::peaks_of(h200).tensor_tflops * 1e3 / cli::peaks_of(h200).memory_gb_per_s;
  expect_within_percent({"memory-bound operators over a product, times h", 3914, words * ridge}, 0.5);
  expect_within_percent({"the same at their own width", 3914 * (14 + 5 * 8.0 / 3) / 19, moved / unit * kHidden}, 0.5);
  // Operands in L2 make them faster, the product's rate below its peak makes them smaller shares.
  expect_between({"the same, simulated", 3914 * (14 + 5 * 8.0 / 3) / 19, moved_simulated / simulated_unit * kHidden},
                 0.75 * 3914 * (14 + 5 * 8.0 / 3) / 19, 1.0 * 3914 * (14 + 5 * 8.0 / 3) / 19);
  const LayerKernel& sum = kernel_called(report.versions(0), "residual 1");
  expect_within_percent({"an addition over a product, times h", 3 * 206, sum.roofline_us() / unit * kHidden}, 0.5);
  expect_within_percent({"an addition over a product, times h, simulated", 3 * 206, sum.simulated_us() / simulated_unit * kHidden},
                        15);
}

TEST(TrainingRoofline, NormAndAllToAllAgainstAProduct) {
  const configs::Gpu h200 = gpu_called("h200_sxm");
  const LayerReport report =
      layer_of(model_called("llama2_7b", {"sequence=8192"}), h200, {.simulate = true, .backward = false, .kernels = "operators"});
  const double norm = kernel_called(report.versions(0), "norm 1").roofline_us();
  expect_within_percent({"norm over a product at h 4096, %", 10, 100 * norm / unit_us(report)}, 1);
  const double simulated_unit = kernel_called(report.versions(0), "out").simulated_us();
  expect_between({"norm over a product at h 4096, simulated, %", 10,
                  100 * kernel_called(report.versions(0), "norm 1").simulated_us() / simulated_unit},
                 7, 10);
  // The formula leaves the factor (cp - 1) / cp out.
  const double parts = 8;
  const LayerReport shared =
      layer_of(model_called("llama2_7b", {"sequence=65536", "context_parallel=8", "link_gb_per_s=450"}), h200, {});
  const double exchange = kernel_called(shared.versions(0), "all-to-all Q").roofline_us() * parts / (parts - 1);
  // Printed with two digits, and with 4800 / 450 rounded to 10.6.
  expect_within_percent({"all-to-all over a product at h 4096", 0.53, exchange / unit_us(shared)}, 2);
  // The link is not simulated, the product is: of as many tokens, 8192 on each GPU.
  expect_between({"all-to-all over a simulated product at h 4096", 0.53, exchange / simulated_unit}, 0.8 * 0.53, 0.53);
  double all = 0;
  for (const char* name : {"all-to-all Q", "all-to-all K", "all-to-all V", "all-to-all attention"})
    all += kernel_called(shared.versions(0), name).roofline_us() * parts / (parts - 1);
  expect_within_percent({"four all-to-all over a product, times h", 8734, all / unit_us(shared) * 4096}, 1);
  expect_between({"four all-to-all over a simulated product, times h", 8734, all / simulated_unit * 4096}, 0.8 * 8734, 8734);
}

// "Always" the memory-bound operators, then all-to-all, then products, never attention: an order that follows from simulated times.
TEST(TrainingRoofline, CheapestToRecompute) {
  const configs::TransformerModel model = model_called("llama2_7b", {"context_parallel=8", "link_gb_per_s=450"});
  const LayerReport report = layer_of(model, gpu_called("h200_sxm"), {.simulate = true, .activations_mb = 30});
  const auto at = [&](const std::string& kernel) {
    for (int i = 0; i < report.memory().activations_size(); ++i) {
      if (report.memory().activations(i).kernel() == kernel) return i;
    }
    throw std::runtime_error("no activation of " + kernel);
  };
  EXPECT_LT(at("norm 1"), at("all-to-all attention"));
  EXPECT_LT(at("silu"), at("all-to-all attention"));
  EXPECT_LT(at("multiply"), at("all-to-all attention"));
  EXPECT_LT(at("all-to-all attention"), at("gate"));
  EXPECT_LT(at("up"), at("attention"));
  EXPECT_EQ(at("attention"), report.memory().activations_size() - 2);  // behind it the layer's input, which nothing makes again
  EXPECT_LE(report.memory().kept_mb(), 30);
  EXPECT_FALSE(report.memory().activations(at("norm 1")).kept());
  EXPECT_TRUE(report.memory().activations(at("attention")).kept());
}

TEST(Slides, Intensities) {
  // FLOP over words of 4 bytes; N x N products of one token matrix: N / 6.
  constexpr uint64_t kN = 4096;
  const layer::Graph graph = layer::build_layer(model_called("llama2_7b", {setting("sequence", kN), "optimiser=ADAM"}), {});
  for (const layer::Operator& each : graph.operators) {
    const double words = static_cast<double>(graph.words(each.inputs) + graph.words(each.outputs));
    if (each.name == "out")
      expect_within_percent(
          {"FP32 product of N x N, FLOP/B over N / 6", 1, static_cast<double>(each.flops) / (4 * words) / (kN / 6.0)}, 0.01);
    // v 3, r 4, w 5 operations; four arrays read, three written.
    if (each.name == "adam")
      expect_within_percent(
          {"Adam, FLOP/B", 12.0 / 28,
           static_cast<double>(each.flops) / static_cast<double>(graph.bytes(each.inputs) + graph.bytes(each.outputs))},
          0.01);
  }
  const layer::Graph with_sgd = layer::build_layer(model_called("llama2_7b", {"optimiser=SGD"}), {});
  const layer::Operator& sgd = with_sgd.operators.back();
  expect_within_percent(
      {"SGD, FLOP/B", 2.0 / 12,
       static_cast<double>(sgd.flops) / static_cast<double>(with_sgd.bytes(sgd.inputs) + with_sgd.bytes(sgd.outputs))},
      0.01);
}

// A thread of the naive product makes one result and loads both operands of every multiply-add: 2 N^3 loads, N^2 stores, 2 N^3
// FLOP.
TEST(Slides, IntensityOfTheNaiveProduct) {
  const configs::Gpu a100 = gpu_called("a100_sxm_40gb");
  constexpr double kThreads = 32;
  for (const uint64_t n : {256, 1024}) {
    const std::vector<std::string> sizes{setting("parameter.rows.value", n), setting("parameter.columns.value", n),
                                         setting("parameter.depth.value", n)};
    const auto issued = [&](const std::string& opcode) {
      return kThreads *
             static_cast<double>(issued_by_listing(a100, "configs/kernels/operators/matmul_naive.textproto", sizes, opcode));
    };
    const auto size = static_cast<double>(n);
    EXPECT_EQ(issued("LDG"), 2 * size * size * size);
    EXPECT_EQ(issued("STG"), size * size);
    const double flops = 2 * issued("FFMA");
    expect_within_percent({"naive FP32 product of N x N, N " + std::to_string(n) + ", FLOP/B over N / (4 N + 2)", 1,
                           flops / (4 * (issued("LDG") + issued("STG"))) / (size / (4 * size + 2))},
                          0.01);
  }
  // L1 and L2 serve the loads that the formula counts as memory; the FP32 peak is 19.49 TFLOPS, so that its roof at N / (4 N + 2)
  // is 0.39.
  const std::vector<std::string> sizes{"parameter.rows.value=1024", "parameter.columns.value=1024", "parameter.depth.value=1024"};
  const auto tflops = [&](const std::string& kernel) {
    return 2 * std::pow(1024.0, 3) / simulated_us_of_listing(a100, "configs/kernels/operators/" + kernel + ".textproto", sizes) /
           1e6;
  };
  const double naive = tflops("matmul_naive");
  expect_between({"naive FP32 product, 1024 x 1024, simulated over memory's roof at N / (4 N + 2)", 1,
                  naive / (1555e-3 * 1024 / (4 * 1024 + 2))},
                 1, 19.49 / 0.39);
  EXPECT_LT(naive, tflops("matmul_tiled"));
}

TEST(Slides, RidgesOfTheA100) {
  const cli::Peaks peaks = cli::peaks_of(gpu_called("a100_sxm_40gb"));
  expect_within_percent({"FP32 ridge, FLOP/B", 12.5, peaks.vector_tflops * 1e3 / peaks.memory_gb_per_s}, 1);
  // TF32 has half the rate of 16-bit products.
  expect_within_percent({"TF32 ridge, FLOP/B", 99.9, peaks.tensor_tflops / 2 * 1e3 / peaks.memory_gb_per_s}, 1);
}

// GEMM 6 (16 L d^2 + d V) and attention 6 L T d a token, of a gated feed-forward with F = 4 and a causal mask.
TEST(Stratos, FlopsOfAStep) {
  constexpr uint64_t kD = 4096;
  constexpr uint64_t kT = 2048;
  constexpr double kLayers = 32;
  constexpr double kVocabulary = 32000;
  const configs::TransformerModel model =
      model_called("llama2_7b", {setting("sequence", kT), setting("feed_forward", 4 * kD), "batch=4"});
  const layer::Graph graph = layer::build_layer(model, {});
  const layer::StepFlops flops = layer::step_flops(model, graph, false);
  const double products = 6 * (16 * kLayers * kD * kD + kD * kVocabulary);
  const double attention = 6 * kLayers * kT * kD;
  expect_within_percent({"FLOP of a token: products and attention", products + attention, flops.counted()}, 0.01);
  const double of_scores = flops.counted() - flops.shortcut;  // but for the weights of norms, which the shortcut has too
  expect_within_percent({"attention over products: T / (16 d + V / L)", kT / (16.0 * kD + kVocabulary / kLayers),
                         of_scores / (flops.counted() - of_scores)},
                        0.2);
  const layer::StepFlops again = layer::step_flops(model, graph, true);
  // A backward pass that runs the forward pass again: 6 in place of 4 of a linear layer, 12 in place of 8 of attention, whose
  // forward passes are 2 and 4.
  const double scores_again = again.counted() - again.shortcut;
  expect_within_percent(
      {"backward pass of a linear layer with rematerialisation over forward", 6.0 / 2, again.shortcut / (flops.shortcut / 3) - 1},
      0.01);
  expect_within_percent({"of attention", 12.0 / 4, scores_again / (of_scores / 3) - 1}, 1);
  expect_within_percent({"FLOP of a token with rematerialisation over without", 8.0 / 6, again.counted() / flops.counted()}, 1);
}

// d -> F d of B tokens: I = B d_F / (B + d_F), d_F = F d / (F + 1); attention 4 N T^2 d forward.
TEST(Stratos, IntensityOfALinearLayerAndFlopsOfAttention) {
  constexpr uint64_t kD = 4096;
  for (const uint64_t tokens : {128, 4096}) {
    const layer::Graph graph = layer::build_layer(
        model_called("llama2_7b", {setting("sequence", tokens), setting("feed_forward", 4 * kD), "causal=false"}),
        {.stacked = false});
    const auto b = static_cast<double>(tokens);
    for (const layer::Operator& each : graph.operators) {
      if (each.name == "attention")
        expect_within_percent({"attention's FLOP, 4 N T^2 d, N 1, T " + std::to_string(tokens) + ", d 4096", 4 * b * b * kD,
                               static_cast<double>(each.flops)},
                              1e-6);
      if (each.name != "up" && each.name != "up dX" && each.name != "up dW") continue;
      const double narrow = 4.0 * kD / 5;
      expect_within_percent(
          {"intensity of " + each.name + ", B " + std::to_string(tokens) + ", F 4, d 4096: B d_F / (B + d_F)",
           b * narrow / (b + narrow),
           static_cast<double>(each.flops) / static_cast<double>(graph.bytes(each.inputs) + graph.bytes(each.outputs))},
          1e-6);
    }
  }
}

// A linear layer's time does not depend on few tokens, and doubles with many: MFU grows with B up to about d.
TEST(Stratos, RegimesOfTheBatch) {
  const configs::Gpu h100 = gpu_called("h100_sxm");
  const auto times = [&](uint64_t tokens) {
    const LayerReport report =
        layer_of(model_called("llama2_7b", {setting("sequence", tokens)}), h100, {.simulate = true, .backward = false});
    const LayerKernel& product = kernel_called(report.versions(0), "up");
    return std::pair{product.roofline_us(), product.simulated_us()};
  };
  const auto few = times(32), few_more = times(64), many = times(8192), many_more = times(16384);
  expect_within_percent({"t(2 B) / t(B) of a linear layer, B 32, d 4096", 1, few_more.first / few.first}, 2);
  expect_within_percent({"the same, simulated", 1, few_more.second / few.second}, 10);
  expect_within_percent({"t(2 B) / t(B) of a linear layer, B 8192, d 4096", 2, many_more.first / many.first}, 0.1);
  expect_within_percent({"the same, simulated", 2, many_more.second / many.second}, 5);
}

// Token-time falls by raising GPUs and batch together at any size; loss-time does not beyond the critical batch.
TEST(Stratos, LossTimeBeyondTheCriticalBatch) {
  constexpr double kCritical = 2e6;
  constexpr double kTokens = 12.5e9;
  const auto steps = [&](double batch) { return layer::LossPlan{kTokens, batch, kCritical}.steps(); };  // each takes as long
  expect_within_percent(
      {"steps to a loss, batch doubled far below the critical one, 2e6 tokens: B 2e4", 0.5, steps(4e4) / steps(2e4)}, 2);
  expect_within_percent({"the same far above it: B 2e8", 1, steps(4e8) / steps(2e8)}, 2);
  expect_within_percent({"steps at the critical batch over the fewest", 2, steps(kCritical) / (kTokens / kCritical)}, 1e-6);
}

// Formula (8): t = n_F / P, n_F = (6 + 2) n_params n_tokens where the forward pass runs again, else 6 n_params n_tokens.
TEST(Stratos, TrainingTime) {
  constexpr double kHour = 3600;
  // Both are "about", of rounded inputs.
  expect_within_percent({"hours: 8 x 500e6 parameters x 12.5e9 tokens / 1.4e15 FLOP/s", 10.2,
                         layer::training_seconds(500e6, 12.5e9, true, 1.4e15) / kHour},
                        5);
  expect_within_percent({"days: 8 x 8.3e9 parameters x 6e12 tokens / 238e15 FLOP/s", 20,
                         layer::training_seconds(8.3e9, 6e12, true, 238e15) / (24 * kHour)},
                        5);
}

}  // namespace
}  // namespace warpfold::test

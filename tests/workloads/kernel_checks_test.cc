// Requirements on every generated kernel, whatever it computes.
#include <gtest/gtest.h>

#include "isa/control_code_assigner.h"
#include "tests/workloads/kernels.h"
#include "traces/trace_file.h"
#include "traces/validate.h"
#include "workloads/ampere_gemm/ampere_gemm.h"
#include "workloads/flash_attention_3/flash_attention_3.h"
#include "workloads/hopper_gemm/hopper_gemm.h"
#include "workloads/philox/philox.h"

namespace warpfold::workloads {
namespace {

std::vector<traces::Kernel> philox_kernels() {
  std::vector<traces::Kernel> kernels;
  for (const char* name : {"a100_sxm", "rtx_a6000", "h100_sxm"}) {
    for (const uint32_t rounds : {3U, 5U, 7U, 10U}) {
      for (const uint32_t bits : {8U, 16U, 32U}) {
        configs::Philox philox;
        philox.set_heads(16);
        philox.set_queries(1024);
        philox.set_keys(1024);
        philox.set_rounds(rounds);
        philox.set_threshold_bits(bits);
        kernels.push_back(make_philox(philox, gpu(name)).value());
      }
    }
  }
  return kernels;
}

std::vector<traces::Kernel> ampere_kernels() {
  std::vector<traces::Kernel> kernels;
  for (const char* name : {"a100_sxm", "rtx_a6000", "h100_sxm"}) {
    for (const auto& [tile_k, stages] : {std::pair{32U, 3U}, {32U, 4U}, {64U, 3U}}) {
      configs::AmpereGemm gemm;
      gemm.set_m(1024);
      gemm.set_n(1024);
      gemm.set_k(1024);
      gemm.set_tile_k(tile_k);
      gemm.set_stages(stages);
      kernels.push_back(make_ampere_gemm(gemm, gpu(name)).value());
    }
  }
  return kernels;
}

std::vector<traces::Kernel> hopper_kernels() {
  std::vector<traces::Kernel> kernels;
  for (const configs::ElementType type : {configs::FP8, configs::BF16, configs::FP16}) {
    for (const uint32_t tile_n : {64U, 128U, 256U}) {
      for (const bool pingpong : {false, true}) {
        for (const bool persistent : {false, true}) {
          if (pingpong && (!persistent || tile_n == 256)) continue;
          configs::HopperGemm gemm;
          gemm.set_m(4096);
          gemm.set_n(8192);
          gemm.set_k(2048);
          gemm.set_type(type);
          gemm.set_tile_n(tile_n);
          gemm.set_schedule(pingpong ? configs::PINGPONG : configs::COOPERATIVE);
          gemm.set_persistent(persistent);
          gemm.set_output_type(type);
          kernels.push_back(make_hopper_gemm(gemm, gpu("h100_sxm")).value());
        }
      }
    }
  }
  return kernels;
}

std::vector<traces::Kernel> attention_3_kernels() {
  std::vector<traces::Kernel> kernels;
  for (const configs::ElementType type : {configs::FP8, configs::BF16, configs::FP16}) {
    for (const uint32_t head_dim : {64U, 128U, 256U}) {
      for (const bool causal : {false, true}) {
        for (const bool overlap : {false, true}) {
          configs::FlashAttention3 attention;
          attention.mutable_shape()->set_heads(8);
          attention.mutable_shape()->set_queries(1000);
          attention.mutable_shape()->set_head_dim(head_dim);
          attention.mutable_shape()->set_type(type);
          attention.mutable_shape()->set_causal(causal);
          attention.set_intra_warpgroup_overlap(overlap);
          kernels.push_back(make_flash_attention_3(attention, gpu("h100_sxm")).value());
          if (type == configs::FP8) continue;
          for (const configs::Dropout dropout : {configs::STORED_BITS, configs::FUSED_PHILOX}) {
            attention.mutable_shape()->set_dropout(dropout);
            kernels.push_back(make_flash_attention_3(attention, gpu("h100_sxm")).value());
          }
          if (causal || head_dim == 64) continue;
          attention.set_warp_specialized(false);
          attention.mutable_shape()->set_dropout(configs::NONE);
          kernels.push_back(make_flash_attention_3(attention, gpu("h100_sxm")).value());
        }
      }
    }
  }
  return kernels;
}

std::vector<traces::Kernel> attention_3_backward_kernels() {
  std::vector<traces::Kernel> kernels;
  for (const uint32_t head_dim : {64U, 128U}) {
    for (const bool causal : {false, true}) {
      for (const auto pass : {configs::BACKWARD_PREPARE, configs::BACKWARD, configs::BACKWARD_CONVERT}) {
        configs::FlashAttention3 attention;
        attention.mutable_shape()->set_heads(8);
        attention.mutable_shape()->set_queries(1000);
        attention.mutable_shape()->set_head_dim(head_dim);
        attention.mutable_shape()->set_type(configs::BF16);
        attention.mutable_shape()->set_causal(causal);
        attention.set_pass(pass);
        kernels.push_back(make_flash_attention_3(attention, gpu("h100_sxm")).value());
      }
    }
  }
  return kernels;
}

// Generated once for all tests.
const std::vector<traces::Kernel>& all_kernels() {
  static const std::vector<traces::Kernel> all = [] {
    std::vector<traces::Kernel> kernels = philox_kernels();
    for (auto* make : {&ampere_kernels, &hopper_kernels, &attention_3_kernels, &attention_3_backward_kernels}) {
      for (traces::Kernel& kernel : (*make)()) kernels.push_back(std::move(kernel));
    }
    return kernels;
  }();
  return all;
}

// Appends the code in execution order with every loop run twice, so that effects across blocks and passes are seen. With `skip`,
// loops that a CTA class may give no trips are left out.
void unroll(const std::vector<traces::Node>& body, bool skip, std::vector<isa::Instruction>& code) {
  for (const traces::Node& node : body) {
    if (const auto* block = std::get_if<traces::Block>(&node)) {
      code.insert(code.end(), block->code.begin(), block->code.end());
      continue;
    }
    const auto& loop = std::get<traces::Loop>(node);
    if (skip && loop.trips.parameter >= 0 && &node != &body.back()) continue;
    for (int pass = 0; pass < 2; ++pass) unroll(loop.body, skip, code);
  }
}

void expect_protected(const traces::Kernel& kernel, const traces::Role& role, bool skip) {
  std::vector<isa::Instruction> code;
  unroll(role.body, skip, code);
  for (const isa::BrokenDependence& broken : isa::check_control_codes(architecture_of(kernel), code, false)) {
    ADD_FAILURE() << kernel.source << ", " << role.name << (skip ? ", loops skipped: " : ": ") << code[broken.consumer].mnemonic
                  << " (" << broken.consumer << ") needs " << broken.needed << " cycles after " << code[broken.producer].mnemonic
                  << " (" << broken.producer << "), has " << broken.given;
  }
}

TEST(EveryKernel, IsValid) {
  for (const traces::Kernel& kernel : all_kernels()) {
    const auto valid = traces::validate(kernel, "generated");
    EXPECT_TRUE(valid) << kernel.source << ": " << valid.error().text();
  }
}

TEST(EveryKernel, ProtectsEveryDependence) {
  for (const traces::Kernel& kernel : all_kernels()) {
    for (const traces::Role& role : kernel.roles) {
      for (const bool skip : {false, true}) expect_protected(kernel, role, skip);
    }
  }
}

TEST(EveryKernel, RoundTripsThroughText) {
  for (const traces::Kernel& kernel : all_kernels()) {
    const std::string text = traces::format_kernels({kernel});
    const auto parsed = traces::parse_kernels("generated.wfs", text);
    ASSERT_TRUE(parsed) << kernel.source << ": " << parsed.error().text();
    EXPECT_EQ(parsed->front(), kernel) << kernel.source;
  }
}

}  // namespace
}  // namespace warpfold::workloads

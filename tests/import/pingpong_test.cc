#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>

#include "configs/read_file.h"
#include "support.h"
#include "workloads/workloads.h"

// Warpgroups that take turns at the tensor cores: each waits for every second tile's stages of one ring.

namespace warpfold::sass {
namespace {

struct Shape {
  uint64_t m, n, k;
  double l2 = 1;
};

Expected<Imported> import_shape(const Shape& shape) {
  const std::string listing = data_file("configs/kernels/hopper_pingpong_sm_90a.sass");
  auto launch = configs::load_kernel_launch(data_file("configs/kernels/hopper_pingpong.textproto"), {}).value();
  const std::array<std::array<uint64_t, 2>, 3> extents{{{shape.k, shape.m}, {shape.k, shape.n}, {shape.n, shape.m}}};
  for (int i = 0; i < 3; ++i) {
    const auto& [columns, rows] = extents[static_cast<size_t>(i)];
    launch.mutable_array(i)->set_bytes(2 * columns * rows);
    launch.mutable_parameter(i)->mutable_tensor_map()->set_extent(0, columns);
    launch.mutable_parameter(i)->mutable_tensor_map()->set_extent(1, rows);
  }
  launch.mutable_parameter(3)->set_value(static_cast<int64_t>(shape.k / 64));
  launch.mutable_parameter(4)->set_value(std::countr_zero(shape.n / 256));
  launch.mutable_parameter(5)->set_value(static_cast<int64_t>(shape.m / 64 * shape.n / 256));
  return import_listing(listing, read_file(listing).value(), launch, {});
}

traces::Kernel generated_shape(const Shape& shape, const configs::Gpu& gpu) {
  configs::Kernel described;
  const std::string workload = "name: \"gemm\" hopper_gemm { m: " + std::to_string(shape.m) + " n: " + std::to_string(shape.n) +
                               " k: " + std::to_string(shape.k) +
                               " type: BF16 tile_m: 64 tile_n: 256 tile_k: 64 stages: 4 schedule: PINGPONG cluster_m: 1 "
                               "cluster_n: 1 }";
  EXPECT_TRUE(configs::parse_text("kernel", workload, described));
  return workloads::make_kernel(described, gpu, "").value();
}

TEST(PingPong, IsAsFastAsTheGenerators) {
  for (const Shape& shape : {Shape{8192, 8192, 8192}, Shape{8192, 8192, 8192, 2}, Shape{8192, 8192, 8192, 4},
                             Shape{4096, 4096, 4096, 2}, Shape{4096, 4096, 1024, 2}, Shape{2048, 8192, 640, 2}}) {
    const auto imported = import_shape(shape);
    ASSERT_TRUE(imported) << imported.error().text();
    configs::Gpu gpu = configs::load_gpu(data_file("configs/gpus/h100_sxm.textproto")).value();
    gpu.mutable_l2()->set_scale(shape.l2);
    const double ours = time_of(imported->kernel, gpu);
    const double theirs = time_of(generated_shape(shape, gpu), gpu);
    EXPECT_NEAR(ours / theirs, 1, 0.03) << shape.m << " x " << shape.n << " x " << shape.k << ", L2 " << shape.l2;
  }
}

uint32_t cursor_start(const traces::Kernel& kernel, const isa::Instruction& wait) {
  return kernel.cursors.at(static_cast<size_t>(wait.effect.cursor)).start;
}

// The first wait of a role for a ring of this depth whose phases one arrival completes: for a stage that is full.
const isa::Instruction* first_wait(const traces::Kernel& kernel, const std::vector<traces::Node>& body) {
  for (const traces::Node& node : body) {
    if (const auto* loop = std::get_if<traces::Loop>(&node)) {
      if (const auto* found = first_wait(kernel, loop->body)) return found;
      continue;
    }
    for (const isa::Instruction& instruction : std::get<traces::Block>(node).code) {
      if (!instruction.mnemonic.starts_with("SYNCS.PHASECHK")) continue;
      const traces::Ring& ring = kernel.rings.at(static_cast<size_t>(instruction.effect.barrier));
      if (ring.depth == 4 && ring.arrivals == 1) return &instruction;
    }
  }
  return nullptr;
}

TEST(PingPong, SecondWarpgroupBeginsBehindTheFirstTile) {
  const auto imported = import_shape({8192, 8192, 8192});
  ASSERT_TRUE(imported) << imported.error().text();
  const traces::Kernel& kernel = imported->kernel;
  EXPECT_EQ(kernel.rings, (std::vector<traces::Ring>{
                              {"ring0", 4, 1, false}, {"ring1", 4, 4, true}, {"ring2", 2, 4, true}, {"ring3", 2, 4, true}}));
  ASSERT_EQ(kernel.roles.size(), 4U);
  const auto* first = first_wait(kernel, kernel.roles[2].body);
  const auto* second = first_wait(kernel, kernel.roles[3].body);
  ASSERT_NE(first, nullptr);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(cursor_start(kernel, *first), 0U);
  EXPECT_EQ(cursor_start(kernel, *second), 128U);
  EXPECT_LE(kernel.cursors.size(), 8U);
}

// Ten times the k-blocks, and ten times the tiles.
TEST(PingPong, TripsCostLittle) {
  const auto few = import_shape({8192, 8192, 8192});
  const auto deep = import_shape({8192, 8192, 81920});
  ASSERT_TRUE(few && deep);
  EXPECT_LT(deep->report.executed, few->report.executed * 12 / 10);
}

}  // namespace
}  // namespace warpfold::sass

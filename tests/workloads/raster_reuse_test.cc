#include "workloads/common/raster_reuse.h"

#include <gtest/gtest.h>

namespace warpfold::workloads {
namespace {

// 2 x 4 tiles, panels of 100 bytes, waves of 4 tiles.
Raster small() {
  Raster raster;
  raster.clusters_m = 2;
  raster.clusters_n = 4;
  raster.concurrent_clusters = 4;
  raster.a_panel_bytes = 100;
  raster.b_panel_bytes = 100;
  raster.l2_bytes = 400;
  return raster;
}

TEST(RasterReuse, PanelsOfTheLastWaveAreStillInL2) {
  // Along M with bands of one column: wave 0 = {A0 A1} x {B0 B1}, wave 1 = {A0 A1} x {B2 B3}. Each tile asks for one A and one B.
  const RasterTraffic traffic = raster_traffic(small()).value();
  EXPECT_EQ(traffic.a, (OperandTraffic{800, 200}));
  EXPECT_EQ(traffic.b, (OperandTraffic{800, 400}));
}

// A panel with four copies of each element takes a fourth of its bytes in L2 and from DRAM.
TEST(RasterReuse, RepeatedElementsAreHeldOnce) {
  Raster raster = small();
  raster.b_repeats = 4;
  raster.l2_bytes = 250;
  const RasterTraffic traffic = raster_traffic(raster).value();
  EXPECT_EQ(traffic.a, (OperandTraffic{800, 200}));
  EXPECT_EQ(traffic.b, (OperandTraffic{800, 100}));
}

TEST(RasterReuse, AWaveThatExceedsL2LeavesNothing) {
  Raster raster = small();
  raster.l2_bytes = 399;
  const RasterTraffic traffic = raster_traffic(raster).value();
  EXPECT_EQ(traffic.a, (OperandTraffic{800, 400}));
  EXPECT_EQ(traffic.b, (OperandTraffic{800, 400}));
}

TEST(RasterReuse, RasterAlongNWalksARow) {
  // Wave 0 = {A0} x {B0..B3}: five panels exceed four. With room for five: wave 1 = {A1} x {B0..B3} finds all of B.
  Raster raster = small();
  raster.along_m = false;
  EXPECT_EQ(raster_traffic(raster)->b.dram, 800U);
  raster.l2_bytes = 500;
  EXPECT_EQ(raster_traffic(raster)->a.dram, 200U);
  EXPECT_EQ(raster_traffic(raster)->b.dram, 400U);
}

TEST(RasterReuse, BandsKeepWavesSquare) {
  // 4 x 4 tiles along M, waves of 4. Band 1: a wave is a column, 4 A panels + 1 B panel. Band 2: 2 A panels + 2 B panels.
  Raster raster = small();
  raster.clusters_m = 4;
  raster.l2_bytes = 400;
  EXPECT_EQ(raster_traffic(raster)->a.dram, 1600U);  // five panels a wave never fit: 4 waves x 4 panels
  EXPECT_EQ(raster_traffic(raster)->b.dram, 400U);
  raster.band_clusters = 2;
  // Waves {A0 A1}x{B0 B1}, {A2 A3}x{B0 B1}, {A0 A1}x{B2 B3}, {A2 A3}x{B2 B3}. After wave 1 L2 holds A2 A3 B0 B1.
  EXPECT_EQ(raster_traffic(raster)->a.dram, 800U);
  EXPECT_EQ(raster_traffic(raster)->b.dram, 400U);
}

TEST(RasterReuse, TheLeastRecentlyUsedWaveGoesFirst) {
  // One row of six tiles, one at a time, room for two panels: A0 stays because every wave uses it, every B is new.
  Raster raster = small();
  raster.clusters_m = 1;
  raster.clusters_n = 6;
  raster.concurrent_clusters = 1;
  raster.l2_bytes = 200;
  EXPECT_EQ(raster_traffic(raster)->a, (OperandTraffic{600, 100}));
  EXPECT_EQ(raster_traffic(raster)->b, (OperandTraffic{600, 600}));
}

TEST(RasterReuse, MulticastAsksL2OnceForACluster) {
  // Clusters of 2 x 1 tiles: two A panels, one B panel that both CTAs receive.
  Raster raster = small();
  raster.clusters_m = 1;
  raster.cluster_m = 2;
  raster.concurrent_clusters = 2;
  const RasterTraffic traffic = raster_traffic(raster).value();
  EXPECT_EQ(traffic.a, (OperandTraffic{800, 200}));
  EXPECT_EQ(traffic.b, (OperandTraffic{400, 400}));
}

TEST(RasterReuse, RaggedLastBandIsNarrower) {
  // 2 x 3 tiles in bands of 2, one tile a wave, L2 that holds everything: every panel once.
  Raster raster = small();
  raster.clusters_n = 3;
  raster.band_clusters = 2;
  raster.l2_bytes = 10000;
  EXPECT_EQ(raster_traffic(raster)->a, (OperandTraffic{600, 200}));
  EXPECT_EQ(raster_traffic(raster)->b, (OperandTraffic{600, 300}));
}

}  // namespace
}  // namespace warpfold::workloads

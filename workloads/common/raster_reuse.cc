#include "workloads/common/raster_reuse.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <vector>

namespace warpfold::workloads {
namespace {

struct Position {
  uint64_t m;
  uint64_t n;
};

// Clusters in launch order: band after band of band_clusters clusters. Within a band, clusters go row by row.
class Order {
 public:
  explicit Order(const Raster& raster)
      : along_m_(raster.along_m),
        along_(raster.along_m ? raster.clusters_m : raster.clusters_n),
        across_(raster.along_m ? raster.clusters_n : raster.clusters_m),
        band_(std::min(raster.band_clusters, across_)) {}

  Position at(uint64_t cluster) const {
    const uint64_t first = cluster / (along_ * band_) * band_;  // first column of the band
    const uint64_t width = std::min(band_, across_ - first);
    const uint64_t in_band = cluster - first * along_;
    const uint64_t i = in_band / width;
    const uint64_t j = first + in_band % width;
    return along_m_ ? Position{i, j} : Position{j, i};
  }

 private:
  bool along_m_;
  uint64_t along_;
  uint64_t across_;
  uint64_t band_;
};

// Panels of one operand: the wave of each panel's last use, and its residency in L2.
struct Panels {
  uint64_t requested;               // bytes of a panel
  uint64_t bytes;                   // of its distinct elements, which L2 holds
  std::vector<uint64_t> last_wave;  // 0: never
  std::vector<bool> resident;
  OperandTraffic traffic;

  Panels(uint64_t count, uint64_t panel_bytes, uint32_t repeats)
      : requested(panel_bytes), bytes(panel_bytes / repeats), last_wave(count), resident(count) {}
};

struct Use {
  Panels* panels;
  uint64_t index;
  uint64_t wave;
};

class Cache {
 public:
  explicit Cache(uint64_t capacity) : capacity_(capacity) {}

  // Takes all distinct panels of one wave, and counts the panels that DRAM delivers.
  void wave(const std::vector<Use>& uses) {
    uint64_t size = 0;
    for (const Use& use : uses) size += use.panels->bytes;
    const bool fits = size <= capacity_;
    for (const Use& use : uses) {
      if (!fits || !use.panels->resident[use.index]) use.panels->traffic.dram += use.panels->bytes;
    }
    if (!fits) {
      clear();
      return;
    }
    for (const Use& use : uses) {
      if (!use.panels->resident[use.index]) held_ += use.panels->bytes;
      use.panels->resident[use.index] = true;
      queue_.push_back(use);
    }
    while (held_ > capacity_) drop_oldest();
  }

 private:
  void drop_oldest() {
    const Use oldest = queue_.front();
    queue_.pop_front();
    if (oldest.panels->last_wave[oldest.index] != oldest.wave) return;  // used again by a later wave
    oldest.panels->resident[oldest.index] = false;
    held_ -= oldest.panels->bytes;
  }

  void clear() {
    for (const Use& use : queue_) use.panels->resident[use.index] = false;
    queue_.clear();
    held_ = 0;
  }

  uint64_t capacity_;
  uint64_t held_ = 0;
  std::deque<Use> queue_;  // order of last use, oldest first; entries used again later are stale
};

void touch(Panels& panels, uint64_t index, uint64_t wave, std::vector<Use>& uses) {
  panels.traffic.requested += panels.requested;
  if (panels.last_wave[index] == wave) return;
  panels.last_wave[index] = wave;
  uses.push_back({&panels, index, wave});
}

}  // namespace

Expected<RasterTraffic> raster_traffic(const Raster& raster) {
  constexpr uint64_t kMostClusters = uint64_t{1} << 26U;
  uint64_t clusters = 0;
  if (__builtin_mul_overflow(raster.clusters_m, raster.clusters_n, &clusters) || clusters > kMostClusters) {
    return fail("more than " + std::to_string(kMostClusters) + " clusters of tiles: " + std::to_string(raster.clusters_m) + " x " +
                std::to_string(raster.clusters_n));
  }
  Panels a(raster.clusters_m * raster.cluster_m, raster.a_panel_bytes, raster.a_repeats);
  Panels b(raster.clusters_n * raster.cluster_n, raster.b_panel_bytes, raster.b_repeats);
  Cache cache(raster.l2_bytes);
  const Order order(raster);
  uint64_t wave = 0;
  std::vector<Use> uses;
  for (uint64_t first = 0; first < clusters; first += raster.concurrent_clusters) {
    ++wave;
    uses.clear();
    const uint64_t end = std::min(clusters, first + raster.concurrent_clusters);
    for (uint64_t c = first; c < end; ++c) {
      const Position position = order.at(c);
      for (uint32_t i = 0; i < raster.cluster_m; ++i) touch(a, position.m * raster.cluster_m + i, wave, uses);
      for (uint32_t j = 0; j < raster.cluster_n; ++j) touch(b, position.n * raster.cluster_n + j, wave, uses);
    }
    cache.wave(uses);
  }
  return RasterTraffic{a.traffic, b.traffic};
}

traces::MemoryStream read_stream(const std::string& name, const OperandTraffic& bytes, uint32_t receivers, uint64_t matrix_bytes) {
  const uint64_t received = bytes.requested * receivers;
  const uint64_t divisor = std::gcd(bytes.dram, received);
  return {name, false, bytes.dram / divisor, received / divisor, matrix_bytes};
}

}  // namespace warpfold::workloads

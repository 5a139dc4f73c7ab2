// Of the Hopper GEMMs beside it: mbarriers, TMA, wgmma of 64 x 256 with k-blocks of 64, and a tile's way out.
#pragma once

#include <cstdint>

constexpr int kTileN = 256, kTileK = 64;
constexpr int kAccumulators = kTileN / 2;  // a thread

struct alignas(64) TensorMap {
  uint64_t words[16];
};  // as CUtensorMap

__device__ __forceinline__ void initialise(uint32_t barrier, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count));
}

__device__ __forceinline__ void wait(uint32_t barrier, uint32_t parity) {
  asm volatile(
      "{\n .reg .pred done;\n wait_again_%=:\n"
      " mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n @!done bra wait_again_%=;\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

__device__ __forceinline__ void expect(uint32_t barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

__device__ __forceinline__ void arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// At the same mbarrier of CTA `rank` of the cluster.
__device__ __forceinline__ void arrive_at(uint32_t barrier, uint32_t rank) {
  uint32_t there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(barrier), "r"(rank));
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(there) : "memory");
}

__device__ __forceinline__ uint32_t rank_in_cluster() {
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

__device__ __forceinline__ void meet_cluster() {
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

// To the CTAs of the cluster whose bits are set, each to the same place and mbarrier.
__device__ __forceinline__ void load_for_all(uint32_t to, const TensorMap* map, int x, int y, uint32_t barrier,
                                             uint16_t receivers) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], "
      "[%4], %5;" ::"r"(to),
      "l"(map), "r"(x), "r"(y), "r"(barrier), "h"(receivers)
      : "memory");
}

__device__ __forceinline__ void load(uint32_t to, const TensorMap* map, int x, int y, uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
      "l"(map), "r"(x), "r"(y), "r"(barrier)
      : "memory");
}

__device__ __forceinline__ void store(const TensorMap* map, int x, int y, uint32_t from) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];\ncp.async.bulk.commit_group;" ::"l"(map),
      "r"(x), "r"(y), "r"(from)
      : "memory");
}

__device__ __forceinline__ bool elected() {
  uint32_t yes;
  asm volatile("{\n .reg .pred yes;\n elect.sync _|yes, 0xffffffff;\n selp.u32 %0, 1, 0, yes;\n}" : "=r"(yes));
  return yes != 0;
}

// K-major, rows of 128 bytes swizzled.
__device__ __forceinline__ uint64_t descriptor(uint32_t address) {
  return uint64_t{address >> 4 & 0x3fff} | uint64_t{1} << 16 | uint64_t{64} << 32 | uint64_t{1} << 62;
}

#define EIGHT(d, i) \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define SIXTY_FOUR(d, i)                                                                                                  \
  EIGHT(d, i), EIGHT(d, i + 8), EIGHT(d, i + 16), EIGHT(d, i + 24), EIGHT(d, i + 32), EIGHT(d, i + 40), EIGHT(d, i + 48), \
      EIGHT(d, i + 56)

__device__ __forceinline__ void multiply(float (&d)[kAccumulators], uint64_t a, uint64_t b, int adds) {
  asm volatile(
      "{\n .reg .pred adds;\n setp.ne.b32 adds, %130, 0;\n wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
      "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"
      "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,"
      "%62,%63,%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,"
      "%92,%93,%94,%95,%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,%112,%113,%114,%115,%116,"
      "%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127}, %128, %129, adds, 1, 1, 0, 0;\n}"
      : SIXTY_FOUR(d, 0), SIXTY_FOUR(d, 64)
      : "l"(a), "l"(b), "r"(adds));
}

__device__ __forceinline__ uint32_t packed(float low, float high) {
  uint32_t pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

__device__ __forceinline__ void group_barrier(int group) { asm volatile("bar.sync %0, 128;" ::"r"(1 + group) : "memory"); }

__device__ __forceinline__ void products(float (&d)[kAccumulators], uint32_t a, uint32_t b, int adds) {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
  for (int step = 0; step < kTileK / 16; ++step) multiply(d, descriptor(a + 32 * step), descriptor(b + 32 * step), adds | step);
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// 32 columns of a warp's 16 rows, by way of its part of a buffer of 64 rows x 64 bytes.
__device__ __forceinline__ void hand_over(const float* columns, const TensorMap* c, int x, int y, uint32_t buffer, int group,
                                          int lane) {
  asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
  group_barrier(group);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float* of = columns + 8 * half;
    const uint32_t row = lane % 16, chunk = (2 * half + lane / 16) ^ (row / 2 & 3);  // rows of 64 bytes swizzled
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(buffer + 64 * row + 16 * chunk),
                 "r"(packed(of[0], of[1])), "r"(packed(of[2], of[3])), "r"(packed(of[4], of[5])), "r"(packed(of[6], of[7]))
                 : "memory");
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  group_barrier(group);
  if (elected()) store(c, x, y, buffer);
}

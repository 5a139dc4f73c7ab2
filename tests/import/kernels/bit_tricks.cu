// Counts, reversals and permutations of bits and bytes.
extern "C" __global__ void __launch_bounds__(256) bit_tricks(const unsigned* x, unsigned* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned value = x[i];
  const unsigned counts = __popc(value) + (__clz(value) << 8) + (__ffs(value) << 16);
  const unsigned turned = __funnelshift_l(value, __brev(value), counts & 31);
  y[i] = __byte_perm(counts, turned, 0x5140) ^ (turned & ~value | counts);
}

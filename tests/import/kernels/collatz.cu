// Steps of the Collatz sequence from each number to one: lanes leave the loop at different passes.
extern "C" __global__ void __launch_bounds__(256) collatz(int* steps, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long value = i + 1;
  int count = 0;
  while (value != 1) {
    value = value % 2 == 0 ? value / 2 : 3 * value + 1;
    ++count;
  }
  steps[i] = count;
}

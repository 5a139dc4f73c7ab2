// Place of each key among sorted numbers: the first that is not less.
extern "C" __global__ void __launch_bounds__(256)
    binary_search(const unsigned* sorted, const unsigned* keys, int* places, int entries, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned key = keys[i];
  int low = 0, high = entries;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (sorted[middle] < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  places[i] = low;
}

// Smith-Waterman scores of one query of 32 letters against many targets, a thread each, gaps of linear cost. Letters of targets lie
// side by side, those at the same place of all targets.
constexpr int kQueryLetters = 32;

extern "C" __global__ void __launch_bounds__(128)
    smith_waterman(const char* __restrict__ query, const char* __restrict__ targets, int* __restrict__ scores, int letters,
                   int match, int mismatch, int gap, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int of_query[kQueryLetters], above[kQueryLetters];
#pragma unroll
  for (int at = 0; at < kQueryLetters; ++at) {
    of_query[at] = query[at];
    above[at] = 0;
  }
  int best = 0;
  for (int letter = 0; letter < letters; ++letter) {
    const int of_target = targets[letter * n + i];
    int diagonal = 0, left = 0;
#pragma unroll
    for (int at = 0; at < kQueryLetters; ++at) {
      const int aligned = diagonal + (of_query[at] == of_target ? match : mismatch);
      const int cell = max(max(aligned, max(above[at], left) + gap), 0);
      diagonal = above[at];
      above[at] = left = cell;
      best = max(best, cell);
    }
  }
  scores[i] = best;
}

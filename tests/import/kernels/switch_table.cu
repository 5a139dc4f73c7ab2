// A small stack machine: each thread runs a program of byte codes. The switch becomes a jump table. The stack lies in shared
// memory, a column a thread; its lowest entry is the thread's number.
constexpr int kSwitchStack = 8;

__host__ __device__ inline void switch_step(int code, float* stack, int pitch, int& top, float number) {
  float* at = stack + top * pitch;
  switch (code) {
    case 0:  // push the number
      if (top < kSwitchStack - 1) at[pitch] = number, ++top;
      break;
    case 1:  // push a copy
      if (top < kSwitchStack - 1) at[pitch] = at[0], ++top;
      break;
    case 2:  // drop
      if (top > 0) --top;
      break;
    case 3:  // add
      if (top > 0) at[-pitch] = at[-pitch] * 0.5f + at[0] * 0.5f, --top;
      break;
    case 4:  // multiply
      if (top > 0) at[-pitch] *= at[0], --top;
      break;
    case 5:
      at[0] = -at[0];
      break;
    case 6:
      at[0] = sqrtf(fabsf(at[0]));
      break;
    case 7:
      at[0] = 1 / (1 + at[0] * at[0]);
      break;
    case 8:  // swap
      if (top > 0) {
        const float below = at[-pitch];
        at[-pitch] = at[0];
        at[0] = below;
      }
      break;
    case 9:  // the larger of all entries
      for (int i = 0; i < top; ++i) at[0] = fmaxf(at[0], stack[i * pitch]);
      break;
    case 10:  // rotate
      for (int i = 0; i < top; ++i) {
        const float lower = stack[i * pitch];
        stack[i * pitch] = stack[(i + 1) * pitch];
        stack[(i + 1) * pitch] = lower;
      }
      break;
    case 11:
      at[0] = at[0] * at[0] * 0.25f - number * 0.5f;
      break;
    default:
      break;
  }
}

extern "C" __global__ void __launch_bounds__(128)
    switch_tree(const unsigned char* codes, const float* x, float* y, int length, int n) {
  __shared__ float stacks[kSwitchStack * 128];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float* stack = stacks + threadIdx.x;
  const float number = x[i];
  stack[0] = number;
  int top = 0;
  for (int pass = 0; pass < length; ++pass) switch_step(codes[pass], stack, 128, top, number);
  y[i] = stack[top * 128];
}

// The same idea with a table of branch targets (brx.idx), which becomes BRX: each code changes one number.
extern "C" __global__ void __launch_bounds__(256) jump_table(const unsigned* codes, const float* x, float* y, int length, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float number = x[i];
  float sum = 0;
  for (int pass = 0; pass < length; ++pass) {
    asm volatile(
        "{\n targets_%=: .branchtargets add_%=, multiply_%=, root_%=, negate_%=;\n brx.idx %2, targets_%=;\n"
        " add_%=: add.f32 %0, %0, %1;\n bra done_%=;\n"
        " multiply_%=: mul.f32 %0, %0, %1;\n add.f32 %0, %0, %1;\n bra done_%=;\n"
        " root_%=: abs.f32 %0, %0;\n sqrt.approx.f32 %0, %0;\n bra done_%=;\n"
        " negate_%=: neg.f32 %0, %0;\n done_%=:\n}"
        : "+f"(sum)
        : "f"(number), "r"(codes[pass]));
  }
  y[i] = sum;
}

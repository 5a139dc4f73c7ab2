#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpfold::profile {

// The operator that launched a kernel, as torch.profiler records it with record_shapes=True.
struct Operator {
  std::string name;                              // "aten::addmm"
  std::vector<std::vector<uint64_t>> inputs;     // extents; empty: a scalar, a list or an absent tensor
  std::vector<std::string> types;                // "c10::BFloat16"
  std::vector<std::vector<uint64_t>> strides{};  // of each input's extents, in elements; empty: not recorded (Kineto before 2023)
  // Extents and strides of the tensors of the operator's first list (aten::cat); empty: no list, or not recorded (Kineto before
  // 2024).
  std::vector<std::vector<uint64_t>> list{};
  std::vector<std::vector<uint64_t>> list_strides{};
  // The inputs that are numbers, as text ("-1", "[-1]"; "" for tensors), of operators that join, reduce or select along an
  // axis, and of convolutions.
  std::vector<std::string> values{};
};

// A kernel with the shape of its launch. Launches with equal shapes do the same work.
struct LaunchShape {
  std::string name;
  std::array<uint32_t, 3> grid{};
  std::array<uint32_t, 3> block{};
  uint32_t registers_per_thread = 0;
  uint32_t shared_memory_bytes = 0;  // static and dynamic
  Operator op{};
  // Told apart by the rule of the name (neighbours.h): which of the values in turn the launch takes, and the launch near it.
  uint32_t turn = 0;
  bool has_near = false;
  std::array<uint32_t, 3> near_grid{};
  uint32_t near_shared_memory_bytes = 0;
  std::vector<std::string> ranges{};  // told apart by these ranges, in which its launches were called (ranges.h)

  uint64_t ctas() const { return uint64_t{grid[0]} * grid[1] * grid[2]; }
  uint32_t threads() const { return block[0] * block[1] * block[2]; }
  // A number by its name in a table of names: grid_x, grid_y, grid_z, ctas, threads, shared_memory_bytes.
  std::optional<double> number(std::string_view named) const {
    if (named == "grid_x") return grid[0];
    if (named == "grid_y") return grid[1];
    if (named == "grid_z") return grid[2];
    if (named == "ctas") return static_cast<double>(ctas());
    if (named == "threads") return threads();
    if (named == "shared_memory_bytes") return shared_memory_bytes;
    return std::nullopt;
  }
};

// A launch, or a copy by the driver.
struct Launch {
  static constexpr uint32_t kCopy = UINT32_MAX;  // memcpy or memset: no kernel
  uint32_t shape = kCopy;                        // index in Profile::shapes
  uint32_t stream = 0;
  double start_us = 0;
  double us = 0;
  uint32_t op = 0;      // operator that launched it: index in Profile::operators
  uint32_t ranges = 0;  // ranges in which it was called: index in Profile::range_sets
  uint64_t record = 0;  // number of the operator's call in the trace (record function); 0: none
};

// The launches of one GPU in a trace.
struct Profile {
  std::string gpu;                     // "NVIDIA H100 80GB HBM3"; empty: not recorded
  uint32_t device = 0;                 // the GPU with the most kernel time
  uint32_t other_devices = 0;          // GPUs whose kernels are omitted
  bool one_at_a_time = false;          // Nsight Compute: each kernel ran alone, so starts, gaps and overlaps are unknown
  bool shapes_recorded = false;        // at least one launch's operator has input extents
  size_t operators_found = 0;          // launches recorded without an operator that have one now (missing_operators.h)
  std::vector<std::string> operators;  // names; the first is empty
  std::vector<std::string> ranges{};   // distinct names of the user's ranges (record_function, NVTX)
  std::vector<std::vector<uint32_t>> range_sets{{}};  // sets of indices in `ranges`, ascending; the first is empty
  std::vector<bool> beside{};       // by launch: it overlaps a launch that is no longer among `launches`; empty: none does
  std::vector<LaunchShape> shapes;  // distinct, in the order of their first launch
  std::vector<Launch> launches;     // in order of their starts
};

}  // namespace warpfold::profile

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "configs/layer.pb.h"
#include "tools/report/layered_layout.h"

namespace warpfold::report {

constexpr double kNodeWidth = 236;  // of a kernel's box
constexpr double kInputWidth = 132;
constexpr double kNodeLine = 17;   // height of a line of text
constexpr double kNodeInner = 22;  // height of an operator's box within a fused kernel
constexpr double kGraphMargin = 12;

// A node of a layer's picture: a kernel, or a tensor that comes from outside.
struct LayerNode {
  int kernel = -1;
  int tensor = -1;
  Box box{};
  bool upwards = false;
  Point corner{};
  Span layer{};
  std::vector<int> stored{};  // tensors, in the order of their ports
  std::vector<int> read{};

  double centre() const { return corner.x + box.width / 2; }
  // The y coordinates at which stored tensors leave the box and read tensors enter it.
  double far_side() const { return corner.y + (upwards ? 0 : box.height); }
  double near_side() const { return corner.y + (upwards ? box.height : 0); }
};

struct LayerEdge {
  int tensor = 0;
  int from = 0;  // indices of nodes
  int to = 0;
  bool kept = false;  // from the forward pass to the backward pass
  std::vector<Point> bends{};
};

// The nodes and edges of a version with their positions: passes side by side, the backward pass upwards.
struct LayerPlaces {
  std::vector<LayerNode> nodes{};
  std::vector<LayerEdge> edges{};
  double width = 0;
  double height = 0;
};
LayerPlaces places_of(const configs::LayerVersion& version);

uint64_t weight_bytes(const configs::LayerVersion& version, int kernel);

}  // namespace warpfold::report

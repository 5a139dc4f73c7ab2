#pragma once

#include <vector>

namespace warpfold::report {

struct Point {
  double x = 0;
  double y = 0;
};

// A box of a graph, and an edge between two boxes. `from` precedes `to` in the list of boxes.
struct Box {
  double width = 0;
  double height = 0;
};
struct Link {
  int from = 0;
  int to = 0;
};

// The vertical extent of a layer. No box of another layer reaches into it.
struct Span {
  double top = 0;
  double bottom = 0;
};

// The positions of a graph's boxes and edges; edges run downwards.
struct Layered {
  std::vector<Point> corners;             // upper left, by box
  std::vector<Span> layers;               // by box
  std::vector<std::vector<Point>> bends;  // by edge: its points of entry and exit of each layer between its ends
  double width = 0;
  double height = 0;
};

struct Gaps {
  double across = 28;
  double down = 46;
};

// Returns the layered drawing of Sugiyama, Tagawa and Toda (IEEE Trans. SMC 11(2), 1981). Layers follow from the longest path. The
// order within a layer is by barycentres of the neighbours. Positions minimize the squared distances to the neighbours. Equal
// graphs have equal drawings.
Layered layered(const std::vector<Box>& boxes, const std::vector<Link>& links, const Gaps& gaps = {});

}  // namespace warpfold::report

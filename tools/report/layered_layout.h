#pragma once

#include <vector>

namespace warpfold::report {

struct Point {
  double x = 0;
  double y = 0;
};

// A box of a graph, and an edge between two of them: `from` comes before `to` in the list of boxes.
struct Box {
  double width = 0;
  double height = 0;
};
struct Link {
  int from = 0;
  int to = 0;
};

// Heights that a layer lies between. No box of another layer reaches into them.
struct Span {
  double top = 0;
  double bottom = 0;
};

// Where a graph's boxes lie when its edges run downwards.
struct Layered {
  std::vector<Point> corners;             // upper left, of each box
  std::vector<Span> layers;               // of each box
  std::vector<std::vector<Point>> bends;  // of each edge: where it enters and leaves each layer between its ends
  double width = 0;
  double height = 0;
};

struct Gaps {
  double across = 28;
  double down = 46;
};

// The layered drawing of Sugiyama, Tagawa and Toda (IEEE Trans. SMC 11(2), 1981): layers by the longest path, the order within a
// layer by barycentres of the neighbours, places by least squares of the distances to them. Equal graphs have equal drawings.
Layered layered(const std::vector<Box>& boxes, const std::vector<Link>& links, const Gaps& gaps = {});

}  // namespace warpfold::report

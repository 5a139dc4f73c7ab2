#include "tools/report/layer_places.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace warpfold::report {

namespace {

using configs::LayerKernel;
using configs::LayerTensor;

constexpr double kHead = 34;      // room for the title above the graph
constexpr double kBetween = 110;  // between passes
constexpr double kBelow = 34;     // room for the labels of a box's stored tensors
constexpr Gaps kGaps{.across = 26, .down = 74};

// A pass, laid out as a drawing of its own.
struct Column {
  bool upwards = false;
  std::vector<int> nodes{};
  std::vector<int> edges{};
  Layered layout{};
};

bool is_edge(const LayerTensor& each) { return each.bytes() > 0 && each.readers_size() > 0; }
bool is_input(const LayerTensor& each) {
  return is_edge(each) && each.makers_size() == 0 && each.role() != "weight" && each.role() != "state";
}

class Placer {
 public:
  explicit Placer(const configs::LayerVersion& version) : version_(version) {}

  LayerPlaces run() {
    make_nodes();
    make_edges();
    lay_out();
    return std::move(made_);
  }

 private:
  const LayerTensor& tensor(int id) const { return version_.tensors(id); }
  LayerNode& node(int id) { return made_.nodes[static_cast<size_t>(id)]; }
  const LayerNode& node(int id) const { return made_.nodes[static_cast<size_t>(id)]; }
  LayerEdge& edge(int id) { return made_.edges[static_cast<size_t>(id)]; }
  int of_kernel(uint32_t kernel) const { return first_kernel_ + static_cast<int>(kernel); }
  const std::string& pass_of(int id) const {
    const LayerNode& each = node(id);
    return version_.kernels(each.kernel >= 0 ? each.kernel : static_cast<int>(tensor(each.tensor).readers(0))).pass();
  }

  double height_of(int kernel) const {
    const int operators = version_.kernels(kernel).operators_size();
    const int lines = 4 + (weight_bytes(version_, kernel) > 0 ? 1 : 0);
    return kNodeLine * lines + 14 + (operators > 1 ? operators : 0) * kNodeInner;
  }

  void make_nodes() {
    for (int t = 0; t < version_.tensors_size(); ++t) {
      if (is_input(tensor(t))) made_.nodes.push_back({.tensor = t, .box = {kInputWidth, 2 * kNodeLine + 8}});
    }
    first_kernel_ = static_cast<int>(made_.nodes.size());
    for (int k = 0; k < version_.kernels_size(); ++k) made_.nodes.push_back({.kernel = k, .box = {kNodeWidth, height_of(k)}});
    for (int n = 0; n < static_cast<int>(made_.nodes.size()); ++n) node(n).upwards = pass_of(n) == "backward";
  }

  void make_edges() {
    int inputs = 0;
    for (int t = 0; t < version_.tensors_size(); ++t) {
      const LayerTensor& each = tensor(t);
      const int input = is_input(each) ? inputs++ : -1;
      for (const uint32_t maker : each.makers()) {
        if (each.bytes() > 0 && each.result()) node(of_kernel(maker)).stored.push_back(t);
      }
      if (!is_edge(each)) continue;
      for (const uint32_t reader : each.readers()) {
        if (input >= 0) add_edge(t, input, of_kernel(reader));
        for (const uint32_t maker : each.makers()) add_edge(t, of_kernel(maker), of_kernel(reader));
      }
    }
  }

  void add_edge(int of, int from, int to) {
    const bool kept = pass_of(from) != pass_of(to);
    made_.edges.push_back({.tensor = of, .from = from, .to = to, .kept = kept});
    if (kept) return;
    for (std::vector<int>* ports : {&node(from).stored, &node(to).read}) {
      if (std::ranges::find(*ports, of) == ports->end()) ports->push_back(of);
    }
  }

  void lay_out() {
    for (const char* pass : {"forward", "backward", "update"}) {
      Column column{.upwards = std::string_view(pass) == "backward"};
      for (int n = 0; n < static_cast<int>(made_.nodes.size()); ++n) {
        if (pass_of(n) == pass) column.nodes.push_back(n);
      }
      if (!column.nodes.empty()) place(columns_.emplace_back(std::move(column)));
    }
    double height = 0;
    for (const Column& column : columns_) height = std::max(height, column.layout.height);
    double left = kGraphMargin;
    for (const Column& column : columns_) {
      move(column, left, kGraphMargin + kHead + kBelow + height - column.layout.height);
      left += column.layout.width + kBetween;
    }
    made_.width = left - kBetween + kGraphMargin;
    made_.height = height + 2 * kGraphMargin + kHead + 2 * kBelow;
    for (int n = 0; n < static_cast<int>(made_.nodes.size()); ++n) sort_ports(n);
  }

  void place(Column& column) const {
    std::map<int, int> place_of;
    std::vector<Box> boxes;
    std::vector<Link> links;
    for (const int n : column.nodes) {
      place_of[n] = static_cast<int>(boxes.size());
      boxes.push_back(node(n).box);
    }
    for (int e = 0; e < static_cast<int>(made_.edges.size()); ++e) {
      const LayerEdge& each = made_.edges[static_cast<size_t>(e)];
      if (!place_of.contains(each.from) || !place_of.contains(each.to)) continue;
      links.push_back({place_of[each.from], place_of[each.to]});
      column.edges.push_back(e);
    }
    column.layout = layered(boxes, links, kGaps);
  }

  void move(const Column& column, double left, double top) {
    const Layered& layout = column.layout;
    const auto y_of = [&](double y) { return top + (column.upwards ? layout.height - y : y); };
    for (size_t i = 0; i < column.nodes.size(); ++i) {
      LayerNode& each = node(column.nodes[i]);
      const double upper = layout.corners[i].y + (column.upwards ? each.box.height : 0);
      each.corner = {left + layout.corners[i].x, y_of(upper)};
      each.layer = {y_of(layout.layers[i].top), y_of(layout.layers[i].bottom)};
    }
    for (size_t i = 0; i < column.edges.size(); ++i) {
      for (const Point& bend : layout.bends[i]) edge(column.edges[i]).bends.push_back({left + bend.x, y_of(bend.y)});
    }
  }

  // Sorts a node's ports from left to right by the positions of their other ends.
  void sort_ports(int me) {
    const auto place = [&](bool stored) {
      return [this, me, stored](int of) {
        double sum = 0;
        int count = 0;
        for (const LayerEdge& each : made_.edges) {
          if (each.tensor != of || each.kept || (stored ? each.from : each.to) != me) continue;
          const std::vector<Point>& bends = each.bends;
          sum += bends.empty() ? node(stored ? each.to : each.from).centre() : (stored ? bends.front() : bends.back()).x;
          ++count;
        }
        return count > 0 ? sum / count : node(me).centre();
      };
    };
    std::ranges::stable_sort(node(me).stored, {}, place(true));
    std::ranges::stable_sort(node(me).read, {}, place(false));
  }

  const configs::LayerVersion& version_;
  LayerPlaces made_;
  int first_kernel_ = 0;
  std::vector<Column> columns_;
};

}  // namespace

LayerPlaces places_of(const configs::LayerVersion& version) { return Placer(version).run(); }

uint64_t weight_bytes(const configs::LayerVersion& version, int kernel) {
  uint64_t sum = 0;
  for (const LayerTensor& read : version.tensors()) {
    const bool mine = std::ranges::find(read.readers(), static_cast<uint32_t>(kernel)) != read.readers().end();
    if (mine && read.role() == "weight") sum += read.bytes();
  }
  return sum;
}

}  // namespace warpfold::report

#include "tools/report/layered_layout.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace warpfold::report {

namespace {

constexpr int kSweeps = 12;
constexpr double kBendWidth = 10;  // width that an edge takes in a layer that it passes through

// A box, or the point at which an edge passes through a layer.
struct Item {
  Box box{};
  int layer = 0;
  double x = 0;  // of the centre
  std::vector<int> above{};
  std::vector<int> below{};
};

class Drawing {
 public:
  Drawing(const std::vector<Box>& boxes, const std::vector<Link>& links, const Gaps& gaps) : links_(links), gaps_(gaps) {
    for (const Box& box : boxes) items_.push_back({.box = box});
    boxes_ = static_cast<int>(boxes.size());
  }

  Layered run() {
    assign_layers();
    split_links();
    fill_layers();
    order_layers();
    place_across();
    return result();
  }

 private:
  Item& at(int id) { return items_[static_cast<size_t>(id)]; }
  const Item& at(int id) const { return items_[static_cast<size_t>(id)]; }

  void assign_layers() {
    std::vector<Link> sorted = links_;
    std::ranges::stable_sort(sorted, {}, &Link::from);
    for (const Link& link : sorted) {
      if (link.from < 0 || link.from >= link.to || link.to >= boxes_) throw std::logic_error("an edge of a drawing runs upwards");
      at(link.to).layer = std::max(at(link.to).layer, at(link.from).layer + 1);
    }
    // A box without incoming edges moves to the layer directly above its first reader.
    std::vector<bool> led_to(items_.size(), false);
    std::vector<int> first(items_.size(), -1);
    for (const Link& link : links_) {
      led_to[static_cast<size_t>(link.to)] = true;
      int& least = first[static_cast<size_t>(link.from)];
      least = least < 0 ? at(link.to).layer : std::min(least, at(link.to).layer);
    }
    for (int id = 0; id < boxes_; ++id) {
      const auto i = static_cast<size_t>(id);
      if (!led_to[i] && first[i] > 0) at(id).layer = first[i] - 1;
    }
  }

  // Adds an item in each layer between the ends of an edge.
  void split_links() {
    for (const Link& link : links_) {
      std::vector<int>& path = paths_.emplace_back();
      path.push_back(link.from);
      for (int layer = at(link.from).layer + 1; layer < at(link.to).layer; ++layer) {
        items_.push_back({.box = {kBendWidth, 0}, .layer = layer});
        path.push_back(static_cast<int>(items_.size()) - 1);
      }
      path.push_back(link.to);
      for (size_t i = 1; i < path.size(); ++i) {
        at(path[i - 1]).below.push_back(path[i]);
        at(path[i]).above.push_back(path[i - 1]);
      }
    }
  }

  void fill_layers() {
    int deepest = 0;
    for (const Item& item : items_) deepest = std::max(deepest, item.layer);
    layers_.resize(static_cast<size_t>(deepest) + 1);
    for (int id = 0; id < static_cast<int>(items_.size()); ++id) layers_[static_cast<size_t>(at(id).layer)].push_back(id);
    for (std::vector<int>& layer : layers_) number(layer);
  }

  void number(const std::vector<int>& layer) {
    for (size_t i = 0; i < layer.size(); ++i) at(layer[i]).x = static_cast<double>(i);
  }

  static double mean_of(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  }

  // Returns the mean position of the item's neighbours; without neighbours, the item's position.
  double barycentre(int id, bool from_above, bool from_below) const {
    std::vector<double> all;
    if (from_above) {
      for (const int other : at(id).above) all.push_back(at(other).x);
    }
    if (from_below) {
      for (const int other : at(id).below) all.push_back(at(other).x);
    }
    return all.empty() ? at(id).x : mean_of(all);
  }

  void order(std::vector<int>& layer, bool downwards) {
    std::vector<std::pair<double, int>> keyed;
    for (const int id : layer) keyed.emplace_back(barycentre(id, downwards, !downwards), id);
    std::ranges::stable_sort(keyed, {}, [](const auto& each) { return each.first; });
    for (size_t i = 0; i < layer.size(); ++i) layer[i] = keyed[i].second;
    number(layer);
  }

  size_t crossings() const {
    size_t sum = 0;
    for (const std::vector<int>& layer : layers_) {
      std::vector<std::pair<double, double>> edges;
      for (const int id : layer) {
        for (const int other : at(id).below) edges.emplace_back(at(id).x, at(other).x);
      }
      for (size_t i = 0; i < edges.size(); ++i) {
        for (size_t j = i + 1; j < edges.size(); ++j)
          sum += (edges[i].first - edges[j].first) * (edges[i].second - edges[j].second) < 0 ? 1 : 0;
      }
    }
    return sum;
  }

  // Sweeps down and up, and keeps the order with the fewest crossings.
  void order_layers() {
    std::vector<std::vector<int>> best = layers_;
    size_t least = crossings();
    for (int sweep = 0; sweep < kSweeps && least > 0; ++sweep) {
      const bool downwards = sweep % 2 == 0;
      for (size_t l = 0; l < layers_.size(); ++l) order(layers_[downwards ? l : layers_.size() - 1 - l], downwards);
      const size_t now = crossings();
      if (now >= least) continue;
      least = now;
      best = layers_;
    }
    layers_ = std::move(best);
  }

  double apart(int left, int right) const { return (at(left).box.width + at(right).box.width) / 2 + gaps_.across; }

  // Places items in order, each as close to its wish as room allows: least squares, by pooling neighbours that would overlap.
  void settle(const std::vector<int>& layer, const std::vector<double>& wishes) {
    struct Pool {
      double sum;  // of wishes less offsets
      int members;
      double place() const { return sum / members; }
    };
    std::vector<Pool> pools;
    std::vector<double> offsets;
    for (size_t i = 0; i < layer.size(); ++i) {
      offsets.push_back(i == 0 ? 0 : offsets.back() + apart(layer[i - 1], layer[i]));
      pools.push_back({wishes[i] - offsets[i], 1});
      while (pools.size() > 1 && pools[pools.size() - 2].place() > pools.back().place()) {
        const Pool last = pools.back();
        pools.pop_back();
        pools.back().sum += last.sum;
        pools.back().members += last.members;
      }
    }
    size_t i = 0;
    for (const Pool& pool : pools) {
      for (int member = 0; member < pool.members; ++member, ++i) at(layer[i]).x = pool.place() + offsets[i];
    }
  }

  void place_across() {
    for (const std::vector<int>& layer : layers_) settle(layer, std::vector<double>(layer.size(), 0));
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      const bool downwards = sweep % 2 == 0;
      const bool last = sweep + 2 >= kSweeps;
      for (size_t l = 0; l < layers_.size(); ++l) {
        const std::vector<int>& layer = layers_[downwards ? l : layers_.size() - 1 - l];
        std::vector<double> wishes;
        for (const int id : layer) wishes.push_back(barycentre(id, downwards || last, !downwards || last));
        settle(layer, wishes);
      }
    }
  }

  Layered result() const {
    Layered made;
    double left = 0;
    double right = 0;
    for (const Item& item : items_) {
      left = std::min(left, item.x - item.box.width / 2);
      right = std::max(right, item.x + item.box.width / 2);
    }
    made.width = right - left;
    made.corners.resize(static_cast<size_t>(boxes_));
    made.layers.resize(static_cast<size_t>(boxes_));
    std::vector<Span> spans;
    for (const std::vector<int>& layer : layers_) {
      double height = 0;
      for (const int id : layer) height = std::max(height, at(id).box.height);
      spans.push_back({made.height, made.height + height});
      for (const int id : layer) {
        if (id >= boxes_) continue;
        const Box& box = at(id).box;
        made.corners[static_cast<size_t>(id)] = {at(id).x - left - box.width / 2, made.height + (height - box.height) / 2};
        made.layers[static_cast<size_t>(id)] = spans.back();
      }
      made.height += height + gaps_.down;
    }
    made.height -= gaps_.down;
    for (const std::vector<int>& path : paths_) {
      std::vector<Point>& bends = made.bends.emplace_back();
      for (size_t i = 1; i + 1 < path.size(); ++i) {
        const Span& span = spans[static_cast<size_t>(at(path[i]).layer)];
        bends.push_back({at(path[i]).x - left, span.top});
        bends.push_back({at(path[i]).x - left, span.bottom});
      }
    }
    return made;
  }

  const std::vector<Link>& links_;
  Gaps gaps_;
  int boxes_ = 0;
  std::vector<Item> items_;
  std::vector<std::vector<int>> paths_;
  std::vector<std::vector<int>> layers_;
};

}  // namespace

Layered layered(const std::vector<Box>& boxes, const std::vector<Link>& links, const Gaps& gaps) {
  if (boxes.empty()) return {};
  return Drawing(boxes, links, gaps).run();
}

}  // namespace warpfold::report

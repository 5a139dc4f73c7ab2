#include "tools/report/layer_graph.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "configs/escape/html.h"
#include "configs/escape/visible.h"
#include "tools/report/layer_places.h"
#include "tools/report/number_text.h"
#include "tools/report/page.h"

namespace warpfold::report {

namespace {

using configs::LayerKernel;
using configs::LayerTensor;

constexpr double kLetter = 6.2;  // width of a letter of a label, at most

constexpr std::pair<std::string_view, std::string_view> kColours[]{
    {"contraction", "blue"}, {"normalisation", "orange"},     {"elementwise", "green"},
    {"attention", "purple"}, {"communication", "vermillion"}, {"optimiser", "grey"},
};

std::string_view colour_of(std::string_view kind) {
  const auto* const found = std::ranges::find(kColours, kind, [](const auto& each) { return each.first; });
  return found == std::end(kColours) ? "grey" : found->second;
}

std::string escaped(const std::string& name) { return escape::html(escape::visible(name)); }

std::string px(double value) { return fixed(value, 1); }

std::string bytes_text(uint64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (bytes >= 1'000'000'000) return rounded(value / 1e9) + " GB";
  if (bytes >= 1'000'000) return rounded(value / 1e6) + " MB";
  return bytes >= 1000 ? rounded(value / 1e3) + " kB" : std::to_string(bytes) + " B";
}

std::string flops_text(uint64_t flops) {
  const auto value = static_cast<double>(flops);
  if (flops >= 1'000'000'000'000) return rounded(value / 1e12) + " TFLOP";
  return flops >= 1'000'000'000 ? rounded(value / 1e9) + " GFLOP" : rounded(value / 1e6) + " MFLOP";
}

// Shortens a name to at most this width in pixels.
std::string shortened(const std::string& name, double width) {
  const auto most = static_cast<size_t>(std::max(0.0, width / kLetter));
  return most < 4 ? "" : escape::visible(name, most);
}

class Picture {
 public:
  Picture(const configs::LayerReport& report, int version)
      : report_(report),
        version_(report.versions(version)),
        places_(places_of(version_)),
        arrow_("arrow-" + std::to_string(version)) {
    for (const configs::LayerVersion& each : report.versions()) {
      for (const LayerKernel& kernel : each.kernels()) {
        if (kernel.operators_size() == 1) alone_.emplace(kernel.operators(0), &kernel);
      }
    }
  }

  std::string draw(bool alone) const {
    const std::string width = px(places_.width);
    const std::string height = px(places_.height);
    std::string made = "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"layer-graph\" role=\"img\" width=\"" + width +
                       "\" height=\"" + height + "\" viewBox=\"0 0 " + width + " " + height + "\">\n<title>" + escaped(heading()) +
                       "</title>\n";
    if (alone)
      made +=
          "<style>\n" + escape::html(page_file("graph.css")) + "</style>\n<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n";
    made += "<defs><marker id=\"" + arrow_ +
            "\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" "
            "orient=\"auto\"><path class=\"arrow\" d=\"M0 0 L8 4 L0 8 z\"/></marker></defs>\n";
    if (alone) made += text("name", kGraphMargin, kGraphMargin + 12, escaped(heading())) + "\n";
    for (const LayerEdge& edge : places_.edges) made += edge_text(edge);
    for (int n = 0; n < static_cast<int>(places_.nodes.size()); ++n) made += node_text(n);
    return made + "</svg>\n";
  }

 private:
  const LayerTensor& tensor(int id) const { return version_.tensors(id); }
  const LayerKernel& kernel(int id) const { return version_.kernels(id); }
  const LayerNode& node(int id) const { return places_.nodes[static_cast<size_t>(id)]; }

  static double along(const LayerNode& each, const std::vector<int>& ports, int of) {
    const auto at = static_cast<double>(std::ranges::find(ports, of) - ports.begin());
    return each.corner.x + each.box.width * (at + 0.5) / static_cast<double>(ports.size());
  }
  static std::string to(const Point& point) { return px(point.x) + " " + px(point.y); }

  // Returns the path of an edge: straight within layers, curved between them.
  std::string route(const LayerEdge& edge) const {
    const LayerNode& from = node(edge.from);
    const LayerNode& last = node(edge.to);
    const double start = along(from, from.stored, edge.tensor);
    const double end = along(last, last.read, edge.tensor);
    std::vector<Point> points{{start, from.layer.bottom}};
    points.insert(points.end(), edge.bends.begin(), edge.bends.end());
    points.push_back({end, last.layer.top});
    std::string path = "M" + to({start, from.far_side()});
    for (size_t i = 1; i < points.size(); i += 2) {
      if (i > 1 || points[0].y != from.far_side()) path += " L" + to(points[i - 1]);
      const double middle = (points[i - 1].y + points[i].y) / 2;
      path += " C" + to({points[i - 1].x, middle}) + " " + to({points[i].x, middle}) + " " + to(points[i]);
    }
    return points.back().y == last.near_side() ? path : path + " L" + to({end, last.near_side()});
  }

  // Returns the path of a kept tensor, from the forward pass to the side of the backward pass.
  std::string kept_route(const LayerEdge& edge) const {
    const LayerNode& from = node(edge.from);
    const LayerNode& last = node(edge.to);
    const Point start{from.corner.x + from.box.width, from.corner.y + from.box.height / 2};
    const Point end{last.corner.x, last.corner.y + last.box.height / 2};
    const double middle = (start.x + end.x) / 2;
    return "M" + to(start) + " C" + to({middle, start.y}) + " " + to({middle, end.y}) + " " + to(end);
  }

  std::string title_of(const LayerTensor& each) const {
    return "<title>" + escaped(each.name()) + " (" + escaped(each.dimensions()) + "): " + bytes_text(each.bytes()) + "</title>";
  }

  std::string edge_text(const LayerEdge& edge) const {
    const bool kept = edge.kept;
    return "<path class=\"edge" + std::string(kept ? " kept" : "") + "\" d=\"" + (kept ? kept_route(edge) : route(edge)) +
           "\" marker-end=\"url(#" + arrow_ + ")\">" + title_of(tensor(edge.tensor)) + "</path>\n";
  }

  // Returns the size of the part of a tensor that this kernel makes; several kernels may each make a part of it.
  uint64_t bytes_from(const LayerNode& maker, int of) const {
    if (maker.kernel < 0 || tensor(of).makers_size() < 2) return tensor(of).bytes();
    uint64_t sum = 0;
    for (const LayerTensor& part : version_.tensors()) {
      const bool mine = std::ranges::find(part.makers(), static_cast<uint32_t>(maker.kernel)) != part.makers().end();
      if (part.has_whole() && part.whole() == static_cast<uint32_t>(of) && mine && part.makers_size() == 1) sum += part.bytes();
    }
    return sum > 0 ? sum : tensor(of).bytes();
  }

  std::string node_text(int n) const {
    const LayerNode& each = node(n);
    return each.kernel < 0 ? input_text(each) : kernel_text(each) + port_labels(each);
  }

  std::string port_labels(const LayerNode& each) const {
    const double room = each.box.width / static_cast<double>(std::max<size_t>(each.stored.size(), 1));
    std::string made;
    for (const int of : each.stored) {
      const double x = along(each, each.stored, of);
      const double side = each.far_side();
      const bool ends = tensor(of).result();
      if (ends) made += "<path class=\"edge result\" d=\"M" + to({x, side}) + " V" + px(side + (each.upwards ? -6 : 6)) + "\"/>\n";
      const std::string name = shortened(tensor(of).name(), room - 8);
      const double first = each.upwards ? side - 21 : side + 18;
      made += "<g class=\"tensor\">" + title_of(tensor(of));
      if (!name.empty()) made += text("label", x, first, escaped(name), "middle");
      made += text("label size", x, first + 12, bytes_text(bytes_from(each, of)), "middle") + "</g>\n";
    }
    return made;
  }

  static std::string text(std::string_view style, double x, double y, const std::string& escaped_words,
                          std::string_view anchor = "start") {
    return "<text class=\"" + std::string(style) + "\" x=\"" + px(x) + "\" y=\"" + px(y) + "\" text-anchor=\"" +
           std::string(anchor) + "\">" + escaped_words + "</text>";
  }

  std::string time_text(const LayerKernel& each) const {
    if (!each.has_simulated_us()) return rounded(each.roofline_us()) + " us by roofline";
    return rounded(each.simulated_us()) + " us, roofline " + rounded(each.roofline_us());
  }

  static std::string rect(std::string_view style, const Point& corner, const Box& box, double radius) {
    return "<rect class=\"" + std::string(style) + "\" x=\"" + px(corner.x) + "\" y=\"" + px(corner.y) + "\" width=\"" +
           px(box.width) + "\" height=\"" + px(box.height) + "\" rx=\"" + px(radius) + "\"/>";
  }

  std::string input_text(const LayerNode& each) const {
    const LayerTensor& of = tensor(each.tensor);
    const double y = each.corner.y;
    return "<g class=\"node\">" + title_of(of) + rect("box", each.corner, each.box, each.box.height / 2) +
           text("label", each.centre(), y + kNodeLine, escaped(shortened(of.name(), kInputWidth - 20)), "middle") +
           text("label size", each.centre(), y + 2 * kNodeLine - 2, bytes_text(of.bytes()), "middle") + "</g>\n";
  }

  std::string kernel_text(const LayerNode& each) const {
    const auto [x, y] = each.corner;
    const LayerKernel& of = kernel(each.kernel);
    const bool fused = of.operators_size() > 1;
    std::string made = "<g class=\"node\"><title>" + escaped(of.name()) + ": " +
                       escaped(of.has_simulated_us() ? of.kernel() : of.not_simulated()) + "</title>";
    made += rect(fused ? "box fused" : "box", each.corner, each.box, 6);
    made += rect("bar fill-" + std::string(colour_of(of.kind())), each.corner, {6, each.box.height}, 3);
    double line = y + kNodeLine;
    const auto add = [&](std::string_view style, const std::string& words) {
      made += text(style, x + 16, line, words);
      line += kNodeLine;
    };
    add("name", escaped(shortened(of.name(), kNodeWidth - 40)));
    add("line", escaped(of.kind() + ", " + of.bound() + "-bound"));
    add("line", flops_text(of.flops()) + ", " + bytes_text(of.bytes()) + ", " + rounded(of.intensity()) + " FLOP/B");
    if (const uint64_t weights = weight_bytes(version_, each.kernel); weights > 0) add("line", "weights " + bytes_text(weights));
    add("line time", time_text(of));
    for (int i = 0; fused && i < of.operators_size(); ++i) {
      made += operator_text(of, of.operators(i), {x + 16, line - 12});
      line += kNodeInner;
    }
    return made + "</g>\n";
  }

  std::string operator_text(const LayerKernel& fused, const std::string& name, const Point& corner) const {
    const auto known = alone_.find(name);
    const std::string kind = known == alone_.end() ? fused.kind() : known->second->kind();
    return rect("inner", corner, {kNodeWidth - 26, kNodeLine + 1}, 3) +
           rect("bar fill-" + std::string(colour_of(kind)), corner, {4, kNodeLine + 1}, 2) +
           text("label", corner.x + 11, corner.y + 13, escaped(shortened(name, kNodeWidth - 56)));
  }

  std::string heading() const {
    return report_.model().name() + " on " + report_.gpu() + ", " + version_.name() + ": " +
           std::to_string(version_.kernels_size()) + " launches, " + rounded(version_.time_us()) + " us";
  }

  const configs::LayerReport& report_;
  const configs::LayerVersion& version_;
  LayerPlaces places_;
  std::string arrow_;                                // name of the marker
  std::map<std::string, const LayerKernel*> alone_;  // by operator
};

}  // namespace

std::string layer_graph(const configs::LayerReport& report, int version, bool alone) {
  return Picture(report, version).draw(alone);
}

}  // namespace warpfold::report

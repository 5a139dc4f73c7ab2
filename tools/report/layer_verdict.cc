#include "tools/report/layer_verdict.h"

#include <algorithm>
#include <string>

#include "tools/report/number_text.h"

namespace warpfold::report {

namespace {

constexpr double kLeastShare = 0.5;  // percent of the time; smaller classes are not named

std::string version_field(int version, const std::string& name) {
  return "layer.versions[" + std::to_string(version) + "]." + name;
}

bool has_backward(const configs::LayerVersion& version) {
  return std::ranges::any_of(version.kernels(), [](const auto& kernel) { return kernel.pass() == "backward"; });
}

// "A layer of llama3_70b takes 59.9 ms forward and backward on H100: contraction 82.6 %, attention 11.0 %, ..."
configs::Statement time_of(const configs::LayerReport& layer) {
  const configs::LayerVersion& version = layer.versions(0);
  configs::Statement said;
  std::string text = "A layer of " + layer.model().name() + " takes " + time_text(version.time_us()) +
                     (has_backward(version) ? " forward and backward on " : " forward on ") + layer.gpu() + ", kernel by kernel: ";
  said.add_field(version_field(0, "time_us"));
  std::vector<int> order;
  for (int c = 0; c < version.classes_size(); ++c) order.push_back(c);
  std::ranges::stable_sort(order, std::ranges::greater(), [&](int c) { return version.classes(c).time_us(); });
  bool first = true;
  for (const int c : order) {
    const double share = version.time_us() > 0 ? 100 * version.classes(c).time_us() / version.time_us() : 0;
    if (share < kLeastShare) continue;
    text += (first ? "" : ", ") + version.classes(c).kind() + " " + fixed(share, 1) + " %";
    first = false;
    said.add_field(version_field(0, "classes[" + std::to_string(c) + "].time_us"));
  }
  said.set_text(text + ".");
  return said;
}

// "30 of 44 launches are bound by memory; they take 6.4 % of the time."
configs::Statement memory_bound_of(const configs::LayerReport& layer) {
  const configs::LayerVersion& version = layer.versions(0);
  int launches = 0;
  double time = 0;
  for (const configs::LayerKernel& kernel : version.kernels()) {
    if (kernel.bound() != "memory") continue;
    ++launches;
    time += kernel.time_us();
  }
  configs::Statement said;
  said.set_text(std::to_string(launches) + " of " + std::to_string(version.kernels_size()) +
                " launches are bound by memory; they take " + percent_text(version.time_us() > 0 ? time / version.time_us() : 0) +
                " of the time.");
  said.add_field(version_field(0, "kernels[0].bound"));
  said.add_field(version_field(0, "kernels[0].time_us"));
  return said;
}

// "With fusion the layer takes 58.4 ms, 2.4 % less, in 25 launches, and moves 17.7 % fewer words."
configs::Statement fusion_of(const configs::LayerReport& layer) {
  const int last = layer.versions_size() - 1;
  const double before = layer.versions(0).time_us();
  const double after = layer.versions(last).time_us();
  configs::Statement said;
  said.set_text("With fusion the layer takes " + time_text(after) + ", " + fixed(before > 0 ? 100 * (1 - after / before) : 0, 1) +
                " % less, in " + std::to_string(layer.versions(last).kernels_size()) + " launches, and moves " +
                fixed(layer.words_saved_percent(), 1) + " % fewer words.");
  said.add_field(version_field(last, "time_us"));
  said.add_field("layer.words_saved_percent");
  return said;
}

}  // namespace

std::vector<configs::Statement> layer_verdict(const configs::LayerReport& layer) {
  std::vector<configs::Statement> said{time_of(layer), memory_bound_of(layer)};
  if (layer.versions_size() > 1) said.push_back(fusion_of(layer));
  const configs::LayerVersion& shown = layer.versions(0);
  if (shown.has_overlap() && shown.overlap().layer_us() > 0) {
    configs::Statement& exposed = said.emplace_back();
    exposed.set_text("Communication beside kernels adds " + time_text(shown.overlap().exposed_us() + shown.overlap().slowed_us()) +
                     " a layer.");
    exposed.add_field(version_field(0, "overlap.exposed_us"));
    exposed.add_field(version_field(0, "overlap.slowed_us"));
  }
  if (layer.has_training()) {
    configs::Statement& training = said.emplace_back();
    constexpr double kDay = 86400;
    training.set_text("Training takes " + rounded(layer.training().seconds() / kDay) + " days at " +
                      rounded(layer.training().mfu_percent()) + " % of the GPUs' peak.");
    training.add_field("layer.training.seconds");
    training.add_field("layer.training.mfu_percent");
  }
  return said;
}

}  // namespace warpfold::report

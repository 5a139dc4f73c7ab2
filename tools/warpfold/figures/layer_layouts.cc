#include "tools/warpfold/figures/layer_layouts.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace warpfold::cli {

namespace {

using layer::FusedKernel;
using layer::Graph;

constexpr const char* kNames[]{"features", "tokens"};

// The layouts of live tensors: a tensor in the set has tokens innermost, any other tensor has features innermost.
using State = std::set<int>;

// One kernel in one configuration, an edge of the search.
struct Step {
  int reads = 0;
  int stores = 0;
  std::vector<int> turned{};
  double us = 0;
  double turning_us = 0;
};

struct Path {
  double us = std::numeric_limits<double>::infinity();
  std::vector<Step> steps{};
};

class Search {
 public:
  Search(const Graph& graph, const std::vector<FusedKernel>& kernels, const std::vector<LayoutTimes>& times,
         const std::map<int, double>& transpose_us)
      : graph_(graph), kernels_(kernels), times_(times), transpose_us_(transpose_us) {
    for (size_t k = 0; k < times.size(); ++k) {
      for (const int root : laid_out(graph, kernels[k].inputs)) last_reader_[root] = k;
    }
  }

  // Returns the cheapest way through all kernels after which all results have features innermost.
  Path run() const {
    std::map<State, Path> paths{{{}, {0, {}}}};
    for (size_t k = 0; k < times_.size(); ++k) {
      std::map<State, Path> next;
      for (const auto& [state, path] : paths) extend(k, state, path, next);
      paths = std::move(next);
    }
    return paths.contains({}) ? paths.at({}) : Path{};
  }

 private:
  void extend(size_t k, const State& state, const Path& path, std::map<State, Path>& next) const {
    for (int reads = 0; reads < 2; ++reads) {
      for (int stores = 0; stores < 2; ++stores) {
        const LayoutTimes& times = times_[k];
        if (!times.us[static_cast<size_t>(reads)] || (reads != stores && !times.mixed)) continue;
        Step step{.reads = reads, .stores = stores, .us = *times.us[static_cast<size_t>(reads)]};
        for (const int root : laid_out(graph_, kernels_[k].inputs)) {
          if (state.contains(root) == (reads == 1)) continue;
          step.turned.push_back(root);
          step.turning_us += transpose_us_.at(root);
        }
        State after = state;
        if (stores == 1) {
          for (const int root : laid_out(graph_, kernels_[k].outputs)) after.insert(root);
        }
        // The state drops a tensor after its last reader of the pass. A result has no reader here and stays: its layout must end as
        // the next layer reads it.
        std::erase_if(after, [&](int root) {
          const auto last = last_reader_.find(root);
          return last != last_reader_.end() && last->second <= k;
        });
        Path& best = next[after];
        const double us = path.us + step.us + step.turning_us;
        if (us >= best.us) continue;
        best = path;
        best.us = us;
        best.steps.push_back(std::move(step));
      }
    }
  }

  const Graph& graph_;
  const std::vector<FusedKernel>& kernels_;
  const std::vector<LayoutTimes>& times_;
  const std::map<int, double>& transpose_us_;
  std::map<int, size_t> last_reader_;
};

}  // namespace

std::vector<int> laid_out(const Graph& graph, const std::vector<int>& tensors) {
  std::vector<int> roots;
  for (const int id : tensors) {
    const int root = graph.root(id);
    const bool is_one = graph.tensor(root).role == layer::Role::kActivation && std::ranges::find(roots, root) == roots.end();
    if (is_one) roots.push_back(root);
  }
  return roots;
}

Outcome<configs::LayerLayouts> layer_layouts(const Graph& graph, const std::vector<FusedKernel>& kernels,
                                             const configs::LayerVersion& version, const std::vector<LayoutTimes>& times,
                                             const std::map<int, double>& transpose_us) {
  for (size_t k = 0; k < times.size(); ++k) {
    if (!times[k].us[0] && !times[k].us[1]) return user_error("--layouts: " + kernels[k].name + " has no layout that it can read");
  }
  const Path path = Search(graph, kernels, times, transpose_us).run();
  configs::LayerLayouts layouts;
  layouts.set_path_us(path.us);
  for (size_t k = 0; k < times.size(); ++k) {
    const Step& step = path.steps[k];
    configs::LayerLayout& made = *layouts.add_kernels();
    made.set_kernel(kernels[k].name);
    made.set_kind(version.kernels(static_cast<int>(k)).kind());
    if (times[k].us[0]) made.set_features_us(*times[k].us[0]);
    if (times[k].us[1]) made.set_tokens_us(*times[k].us[1]);
    made.set_mixed(times[k].mixed);
    made.set_reads(kNames[step.reads]);
    made.set_stores(kNames[step.stores]);
    for (const int root : step.turned) made.add_transposed(graph.tensor(root).name);
    made.set_transposes_us(step.turning_us);
    const double best = std::min(times[k].us[0].value_or(std::numeric_limits<double>::infinity()),
                                 times[k].us[1].value_or(std::numeric_limits<double>::infinity()));
    layouts.set_best_us(layouts.best_us() + best);
    layouts.set_features_us(layouts.features_us() + times[k].us[0].value_or(0));
  }
  layouts.set_excess_percent(100 * (layouts.path_us() / layouts.best_us() - 1));
  return layouts;
}

}  // namespace warpfold::cli

#include "tools/warpfold/figures/layer_tensors.h"

#include <algorithm>
#include <map>
#include <set>

namespace warpfold::cli {

std::string text_of(const layer::Dimensions& dimensions) {
  std::string text;
  for (const layer::Dimension& each : dimensions) text += (text.empty() ? "" : ", ") + each.name + " " + std::to_string(each.size);
  return text;
}

void add_tensors(const layer::Graph& graph, const std::vector<layer::FusedKernel>& kernels, configs::LayerVersion& version) {
  std::map<int, uint32_t> kernel_of;  // by operator
  std::set<int> used;
  std::map<int, std::set<uint32_t>> readers;
  for (uint32_t k = 0; k < kernels.size(); ++k) {
    for (const int member : kernels[k].operators) kernel_of[member] = k;
    used.insert(kernels[k].outputs.begin(), kernels[k].outputs.end());
    for (const int id : kernels[k].inputs) {
      used.insert(id);
      readers[id].insert(k);
    }
  }
  std::map<int, uint32_t> place;
  for (const int id : used) place.emplace(id, static_cast<uint32_t>(place.size()));
  for (const int id : used) {
    const layer::Tensor& tensor = graph.tensor(id);
    std::set<uint32_t> makers;
    for (const int producer : graph.producers(id)) makers.insert(kernel_of.at(producer));
    configs::LayerTensor& made = *version.add_tensors();
    made.set_name(tensor.name);
    made.set_role(layer::name_of(tensor.role));
    made.set_dimensions(text_of(tensor.dimensions));
    made.set_words(tensor.words());
    made.set_bytes(tensor.words() * tensor.bytes);
    for (const uint32_t maker : makers) made.add_makers(maker);
    for (const uint32_t reader : readers[id]) made.add_readers(reader);
    const auto whole = place.find(graph.root(id));
    if (tensor.parent >= 0 && whole != place.end()) made.set_whole(whole->second);
    made.set_result(tensor.result || graph.tensor(graph.root(id)).result);
  }
}

}  // namespace warpfold::cli

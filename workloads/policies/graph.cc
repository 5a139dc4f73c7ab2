#include "workloads/policies/graph.h"

#include <map>
#include <stdexcept>

namespace warpfold::policies {

Graph::Graph(const configs::Scenario& scenario)
    : scenario_(scenario),
      before_(static_cast<size_t>(scenario.kernel_size()), std::vector<bool>(static_cast<size_t>(scenario.kernel_size()))) {
  for (int kernel = 0; kernel < scenario.kernel_size(); ++kernel) {
    for (const std::string& name : scenario.kernel(kernel).after()) before_[kernel][index(name)] = true;
    for (int earlier = 0; earlier < kernel; ++earlier) {
      if (scenario.kernel(earlier).stream() == scenario.kernel(kernel).stream()) before_[kernel][earlier] = true;
    }
  }
  std::vector<bool> done(before_.size());
  for (int kernel = 0; kernel < scenario.kernel_size(); ++kernel) close(kernel, done);
}

// Makes before_[kernel] transitive; checked scenarios have no cycles. Indirect predecessors are skipped, since their predecessors
// are already included. Of a stream, whose kernels all precede each other, only the last kernel is visited.
void Graph::close(int kernel, std::vector<bool>& done) {
  if (done[kernel]) return;
  done[kernel] = true;
  const std::vector<bool> direct = before_[kernel];
  std::vector<bool> added(direct.size());
  for (int other = scenario_.kernel_size() - 1; other >= 0; --other) {
    if (!direct[other] || added[other]) continue;
    close(other, done);
    for (int earlier = 0; earlier < scenario_.kernel_size(); ++earlier) {
      if (before_[other][earlier]) before_[kernel][earlier] = added[earlier] = true;
    }
  }
}

int Graph::index(const std::string& name) const {
  for (int kernel = 0; kernel < scenario_.kernel_size(); ++kernel) {
    if (scenario_.kernel(kernel).name() == name) return kernel;
  }
  throw std::logic_error("no kernel " + name);
}

std::vector<int> Graph::partners(int kernel) const {
  std::vector<int> found;
  for (int other = 0; other < scenario_.kernel_size(); ++other) {
    if (may_overlap(kernel, other)) found.push_back(other);
  }
  return found;
}

std::vector<std::string> names_of(const configs::Scenario& scenario, const std::vector<int>& kernels) {
  std::vector<std::string> names;
  for (const int kernel : kernels) names.push_back(scenario.kernel(kernel).name());
  return names;
}

std::optional<std::array<std::vector<int>, 2>> Graph::sides() const {
  std::map<uint32_t, std::vector<int>> by_stream;
  for (int kernel = 0; kernel < scenario_.kernel_size(); ++kernel) {
    if (!partners(kernel).empty()) by_stream[scenario_.kernel(kernel).stream()].push_back(kernel);
  }
  if (by_stream.size() != 2) return std::nullopt;
  return std::array{by_stream.begin()->second, by_stream.rbegin()->second};
}

}  // namespace warpfold::policies

#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "configs/scenario.pb.h"

namespace warpfold::policies {

// The partial order of the kernels of a checked scenario, by position: `after`, and the order within each stream.
class Graph {
 public:
  explicit Graph(const configs::Scenario& scenario);

  int index(const std::string& name) const;
  bool precedes(int one, int other) const { return before_[other][one]; }
  bool may_overlap(int one, int other) const { return one != other && !precedes(one, other) && !precedes(other, one); }
  // Kernels that may overlap with `kernel`.
  std::vector<int> partners(int kernel) const;
  // The kernels that may overlap with others, grouped by stream, if exactly two streams have such kernels; otherwise empty.
  std::optional<std::array<std::vector<int>, 2>> sides() const;

 private:
  void close(int kernel, std::vector<bool>& done);

  const configs::Scenario& scenario_;
  std::vector<std::vector<bool>> before_;  // [kernel][other]: other has ended when kernel starts
};

std::vector<std::string> names_of(const configs::Scenario& scenario, const std::vector<int>& kernels);

}  // namespace warpfold::policies

#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "configs/result.pb.h"
#include "configs/scenario.pb.h"

// Published figures and whole simulations for the tests of physics.
namespace warpfold::test {

// One line of a data file by the names in its header. Lines with # are comments.
class Row {
 public:
  explicit Row(std::map<std::string, std::string> cells) : cells_(std::move(cells)) {}
  const std::string& text(const std::string& column) const { return cells_.at(column); }
  double number(const std::string& column) const;
  uint64_t count(const std::string& column) const;

 private:
  std::map<std::string, std::string> cells_;
};

std::vector<Row> read_rows(const std::string& file);  // of tests/physics/data

using Settings = std::vector<std::string>;  // "PATH=VALUE"

// The scenario under its own policy; kernels are not simulated alone as well. Throws where the scenario is refused.
configs::Result simulate(const std::string& path, const Settings& settings);
configs::Result simulate(const configs::Scenario& scenario);
// As the command does it: with each kernel's slow-down against running alone.
configs::Result simulate_with_solo(const std::string& path, const Settings& settings = {});

const configs::Resource& resource(const configs::Result& result, std::string_view name);
const configs::Resource& busiest(const configs::Result& result);

}  // namespace warpfold::test

#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/import/listing.h"

namespace warpfold::sass {

// The number behind `key`, as in "SHI_REGISTERS=202".
std::optional<uint32_t> number_after(std::string_view line, std::string_view key);

// Resources of a listing's functions. nvdisasm lists them in sections of static shared memory and of attributes, cuobjdump by
// -res-usage. Functions stand before and behind these.
class Resources {
 public:
  void begin_section(std::string_view name);
  // Whether the line, the listing's `number`-th, is of cuobjdump's table, " Function NAME:" and "  REG:10 STACK:0 SHARED:5120 ...",
  // ".zero 8192" in a section of shared memory, or of a section of attributes or constants.
  bool read(std::string_view line, int number);
  // To the functions, which were compiled for this architecture.
  void add_to(std::vector<Function>& functions, std::string_view architecture) const;

 private:
  struct OfFunction {
    uint32_t registers = 0;
    int registers_line = 0;
    uint32_t shared_bytes = 0;
    std::vector<ListedParameter> parameters = {};
    ListedConstants constants = {};
  };
  bool shared_section_ = false;
  bool info_section_ = false;
  bool constant_section_ = false;
  ParameterReader parameters_;
  ConstantReader constants_;
  ListedConstants of_all_;  // constants of all functions
  std::string function_;    // that the lines are about
  std::map<std::string, OfFunction, std::less<>> functions_;
};

}  // namespace warpfold::sass

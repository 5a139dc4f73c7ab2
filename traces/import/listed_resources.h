#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/import/listing.h"

namespace warpfold::sass {

// Returns the number after `key`, as in "SHI_REGISTERS=202".
std::optional<uint32_t> number_after(std::string_view line, std::string_view key);

// Collects the resources of a listing's functions. nvdisasm lists them in sections of static shared memory and of
// attributes, cuobjdump with -res-usage. These may come before or after the functions.
class Resources {
 public:
  void begin_section(std::string_view name);
  // Reads the listing's line number `number`. Returns true if the line belongs to cuobjdump's table (" Function NAME:"
  // and "  REG:10 STACK:0 SHARED:5120 ..."), to a section of shared memory (".zero 8192"), or to a section of
  // attributes or constants.
  bool read(std::string_view line, int number);
  // Copies the resources to the functions, which were compiled for this architecture.
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
  ListedConstants of_all_;  // constants shared by all functions
  std::string function_;    // function to which the lines refer
  std::map<std::string, OfFunction, std::less<>> functions_;
};

}  // namespace warpfold::sass

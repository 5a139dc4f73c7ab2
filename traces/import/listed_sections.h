#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpfold::sass {

// Tracks the architecture of a listing's lines. A dump of a fat binary contains the code of several architectures in
// sequence, with PTX in between:
//
//   Fatbin elf code:        sm_80 from here on
//   arch = sm_80
//   Fatbin ptx code:        PTX: no line of it is SASS
//   arch = sm_86
//   Fatbin elf code:
//   arch = sm_86            sm_86 from here on
class Sections {
 public:
  // Reads the next line, without leading space. Lines of instructions may be skipped.
  void read(std::string_view line);
  const std::string& architecture() const { return architecture_; }  // "sm_80"; empty before the first line that names one
  bool is_ptx() const { return is_ptx_; }

 private:
  std::string architecture_;
  bool is_ptx_ = false;
};

// Returns the architectures whose code the listing has, in its order: "sm_90" for sm_90a.
std::vector<std::string> architectures_of(std::string_view text);

}  // namespace warpfold::sass

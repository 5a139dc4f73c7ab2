#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpfold::sass {

// Which architecture the lines of a listing belong to. A dump of a fat binary has the code of several, one behind the other, and
// PTX between them:
//
//   Fatbin elf code:        sm_80 from here on
//   arch = sm_80
//   Fatbin ptx code:        PTX: no line of it is SASS
//   arch = sm_86
//   Fatbin elf code:
//   arch = sm_86            sm_86 from here on
class Sections {
 public:
  // Takes the next line, without leading space. Instructions need not be shown.
  void read(std::string_view line);
  const std::string& architecture() const { return architecture_; }  // "sm_80"; empty: no line has named one
  bool is_ptx() const { return is_ptx_; }

 private:
  std::string architecture_;
  bool is_ptx_ = false;
};

// The architectures whose code the listing has, in its order: "sm_90" for sm_90a.
std::vector<std::string> architectures_of(std::string_view text);

}  // namespace warpfold::sass

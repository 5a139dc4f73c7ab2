#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace warpfold::sass {

// A parameter of a kernel's signature, from compiled code.
struct ListedParameter {
  uint32_t offset = 0;  // from the first parameter, in bytes
  uint32_t bytes = 0;
  bool operator==(const ListedParameter&) const = default;
};

// Reads EIATTR_KPARAM_INFO of a section .nv.info.KERNEL, as nvdisasm prints it without -c, line by line, without
// leading space.
//
//   /*006c*/ .byte  0x04, 0x17              format, attribute: EIATTR_KPARAM_INFO
//   /*006e*/ .short (.L_21 - .L_20)         its size
//   /*0070*/ .word  0x00000000              index, unused
//   /*0074*/ .short 0x0001                  the parameter's place in the signature
//   /*0076*/ .short 0x0008                  offset
//   /*0078*/ .byte  0x00, 0xf0, 0x21, 0x00  a word whose bits from 18 on are the size: 8
//
// Source: compiled code of CUDA 13.0 beside its signatures.
class ParameterReader {
 public:
  // Returns true if the line completes a parameter.
  bool read(std::string_view line, ListedParameter& parameter);

 private:
  int step_ = 0;  // number of directives of the open attribute that have been read; 0: none open
  ListedParameter open_;
};

// Inserts the parameter by rising offset, each offset once.
void add_parameter(std::vector<ListedParameter>& parameters, const ListedParameter& parameter);

}  // namespace warpfold::sass

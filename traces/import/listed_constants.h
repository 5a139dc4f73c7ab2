#pragma once

#include <cstdint>
#include <map>
#include <string_view>

namespace warpfold::sass {

inline constexpr uint32_t kBankBytes = 1U << 16;

// Words of constant banks in compiled code, by bank * kBankBytes + offset. A launch fills in only bank 0.
using ListedConstants = std::map<uint32_t, uint32_t>;

// Reads the sections .nv.constant2.KERNEL (tables of switches, large literals) and .nv.constant3 (__constant__
// variables), as nvdisasm prints them without -c:
//
//   /*0010*/ .byte 0xc0, 0x03, 0x00, 0x00, 0xb0, 0x0d, 0x00, 0x00
//   .zero 372
//
// Addresses (.dword of a symbol) stay unknown.
class ConstantReader {
 public:
  explicit ConstantReader(uint32_t bank = 0) : bank_(bank) {}
  void read(std::string_view line, ListedConstants& constants);

 private:
  static void put(uint32_t at, uint32_t byte, ListedConstants& constants);

  uint32_t bank_;
  uint32_t next_ = 0;  // offset after the last data read
};

}  // namespace warpfold::sass

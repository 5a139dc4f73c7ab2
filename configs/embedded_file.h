#pragma once

#include <span>
#include <string_view>

namespace warpfold {

// A data file compiled into the program (opcode tables, recorded loops): the program needs no data folder.
struct EmbeddedFile {
  std::string_view name;     // file name without folders, for example "sm_90.textproto"
  std::string_view content;  // the file's whole text
};

}  // namespace warpfold

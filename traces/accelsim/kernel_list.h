#pragma once

#include <memory>
#include <string>
#include <vector>

#include "configs/diagnostic.h"
#include "traces/accelsim/byte_source.h"

namespace warpfold::traces::accelsim {

// Line of kernelslist.g: the trace of a kernel, in the folder of the list, or a copy between host and device.
struct ListEntry {
  bool copy = false;
  std::string text;  // name of the trace file, or the line of the copy
  int line = 0;
};

// Reads a kernel list. Ignores other lines, as Accel-Sim's parser does. Fails if the list names no kernel.
Expected<std::vector<ListEntry>> read_kernel_list(const std::string& file, std::unique_ptr<ByteSource> source);

}  // namespace warpfold::traces::accelsim

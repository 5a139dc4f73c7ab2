#pragma once

#include <memory>
#include <string>
#include <vector>

#include "configs/diagnostic.h"
#include "traces/accelsim/byte_source.h"

namespace warpfold::traces::accelsim {

// A line of kernelslist.g: a kernel's trace, beside the list, or a copy between host and device.
struct ListEntry {
  bool copy = false;
  std::string text;  // the file's name, or the line
  int line = 0;
};

// Other lines are ignored, as Accel-Sim's parser does. Fails where no kernel is named.
Expected<std::vector<ListEntry>> read_kernel_list(const std::string& file, std::unique_ptr<ByteSource> source);

}  // namespace warpfold::traces::accelsim

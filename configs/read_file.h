#pragma once

#include <cstddef>
#include <string>

#include "configs/diagnostic.h"

namespace warpfold {

// A whole file of at most 64 MiB, which may be a pipe. The diagnostic names the path in its message and no place: a caller that
// knows which file names it adds that.
Expected<std::string> read_file(const std::string& path);

// Makes read_file() call `watcher` after every file that it reads, with the file's size, on the reading thread. Null: no calls.
void watch_reads(void (*watcher)(const std::string& path, size_t bytes));

}  // namespace warpfold

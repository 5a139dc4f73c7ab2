#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "configs/diagnostic.h"
#include "traces/accelsim/byte_source.h"

namespace warpfold::traces::accelsim {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

// A .tracez of Accel-Sim 2: lines of a .traceg, compressed a piece of a warp at a time, which an index at the end finds. Numbers
// are little-endian, of 32 bits where nothing else stands.
//
//   header of a .traceg, NUL | bytes of the dictionary | instructions of a piece | dictionary of zstd
//   for each warp    instructions | pieces | for each piece: bytes | frame of zstd
//   index            CTAs | for each: place x y z | cluster x y z | place in it x y z | rank | warps |
//                           for each warp: instructions | pieces | place in the file (64 bits) | instructions of each piece
//   place of the index in the file (64 bits)
//
// Gives the text of a .traceg, a piece at a time. Fails where the file has no index, or an index that leads out of it.
// (accel-sim-framework, util/tracer_nvbit/tracer_tool/tracez_format.h)
Expected<std::unique_ptr<ByteSource>> open_tracez(const std::string& path, File file);
// The same of a file's content.
Expected<std::unique_ptr<ByteSource>> tracez_of(const std::string& path, std::string content);

}  // namespace warpfold::traces::accelsim

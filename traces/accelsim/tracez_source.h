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

// A .tracez of Accel-Sim 2: the lines of a .traceg, compressed in pieces of a warp, with an index at the end of the
// file. Numbers are little-endian, of 32 bits unless stated otherwise.
//
//   header of a .traceg, NUL | bytes of the dictionary | instructions of a piece | dictionary of zstd
//   for each warp    instructions | pieces | for each piece: bytes | frame of zstd
//   index            CTAs | for each: place x y z | cluster x y z | place in it x y z | rank | warps |
//                           for each warp: instructions | pieces | place in the file (64 bits) | instructions of each piece
//   place of the index in the file (64 bits)
//
// Returns the text of the .traceg, piece by piece. Fails if the file has no index, or if the index points outside the
// file.
// (accel-sim-framework, util/tracer_nvbit/tracer_tool/tracez_format.h)
Expected<std::unique_ptr<ByteSource>> open_tracez(const std::string& path, File file);
// As above for the content of a file.
Expected<std::unique_ptr<ByteSource>> tracez_of(const std::string& path, std::string content);

}  // namespace warpfold::traces::accelsim

#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "tools/warpfold/failure.h"
#include "tools/warpfold/render/open_file.h"

namespace warpfold::cli {

// Positions `begin` to `end` - 1 of a list of points.
struct PointRange {
  size_t begin = 0;
  size_t end = 0;
};

// Claims of one thread on points of a list that processes share. A claim of points i to j - 1 is a lock on the bytes i to j - 1 of
// an empty file (open file description locks, fcntl(2)). The kernel, or the file server, releases the locks of a process that ends
// in any way. A file system without locks grants every claim: claims only save work.
class PointClaims {
 public:
  // Creates the file if needed.
  static Outcome<PointClaims> open(const std::string& path);

  // Claims the first unclaimed points from `begin` on: at most `most` neighbours, all below `end`. None if all of
  // them are claimed.
  std::optional<PointRange> claim(size_t begin, size_t end, size_t most) const;
  void release(const PointRange& claimed) const;

 private:
  explicit PointClaims(int file) : file_(file) {}

  OpenFile file_;
};

}  // namespace warpfold::cli

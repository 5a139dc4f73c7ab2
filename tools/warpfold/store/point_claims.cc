#include "tools/warpfold/store/point_claims.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "configs/escape/quoted.h"
#include "configs/write_file.h"

namespace warpfold::cli {

namespace {

struct flock bytes(short type, const PointRange& range) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(range.begin);
  lock.l_len = static_cast<off_t>(range.end - range.begin);
  return lock;
}

}  // namespace

Outcome<PointClaims> PointClaims::open(const std::string& path) {
  PointClaims claims(open_file(path.c_str(), O_RDWR | O_CREAT, 0666));
  if (claims.file_.number() < 0) return cannot_write("cannot write " + escape::quoted_path(path) + ": " + std::strerror(errno));
  return claims;
}

std::optional<PointRange> PointClaims::claim(size_t begin, size_t end, size_t most) const {
  while (begin < end) {
    const PointRange wanted{begin, begin + std::min(most, end - begin)};
    struct flock lock = bytes(F_WRLCK, wanted);
    if (fcntl(file_.number(), F_OFD_SETLK, &lock) == 0) return wanted;
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EACCES) return wanted;                                   // no locks here
    if (fcntl(file_.number(), F_OFD_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) continue;  // released meanwhile
    const auto locked = static_cast<size_t>(lock.l_start);
    if (locked > begin) {
      most = locked - begin;
    } else {
      begin = locked + static_cast<size_t>(lock.l_len);
    }
  }
  return std::nullopt;
}

void PointClaims::release(const PointRange& claimed) const {
  struct flock lock = bytes(F_UNLCK, claimed);
  (void)fcntl(file_.number(), F_OFD_SETLK, &lock);
}

}  // namespace warpfold::cli

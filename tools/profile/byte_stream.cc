#include "tools/profile/byte_stream.h"

namespace warpfold::profile {

void ByteStream::fill() {
  before_ += static_cast<size_t>(end_ - piece_.data());
  at_ = end_ = piece_.data();
  if (error_ || endless_) return;
  endless_ = before_ - std::min<size_t>(before_, token_) > kLongest;
  if (endless_) return;
  const auto count = source_->read(piece_);
  if (count) {
    end_ = at_ + *count;
  } else {
    error_ = count.error();
  }
}

}  // namespace warpfold::profile

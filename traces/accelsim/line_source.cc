#include "traces/accelsim/line_source.h"

#include <algorithm>
#include <cstring>

namespace warpfold::traces::accelsim {
namespace {

constexpr size_t kBuffer = size_t{1} << 18;
constexpr size_t kLongestLine = size_t{1} << 20;  // for comparison, 32 values of each of a dozen registers take 5 KB

}  // namespace

bool LineSource::refill() {
  if (ended_) return false;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ >= kLongestLine) {
    ++number_;
    error_ = fail_here("a line of more than 1 MiB: this is no trace").error();
    return false;
  }
  if (buffer_.size() < end_ + kBuffer) buffer_.resize(end_ + kBuffer);
  const auto count = bytes_->read(std::span(buffer_).subspan(end_));
  if (!count) {
    error_ = count.error();
    if (error_->line == 0) error_->line = number() + 1;
    return false;
  }
  ended_ = *count == 0;
  end_ += *count;
  read_ += *count;
  return true;
}

bool LineSource::next(std::string_view& line) {
  size_t searched = begin_;
  while (!error_) {
    const auto* const found =
        end_ > searched ? static_cast<const char*>(std::memchr(buffer_.data() + searched, '\n', end_ - searched)) : nullptr;
    if (found != nullptr || (ended_ && end_ > begin_)) {
      const size_t stop = found != nullptr ? static_cast<size_t>(found - buffer_.data()) : end_;
      line = std::string_view(buffer_.data() + begin_, stop - begin_);
      begin_ = std::min(stop + 1, end_);
      ++number_;
      while (!line.empty() && (line.back() == ' ' || line.back() == '\r' || line.back() == '\t')) line.remove_suffix(1);
      return true;
    }
    if (ended_) return false;
    const size_t tail = end_ - begin_;
    if (!refill()) return false;
    searched = begin_ + tail;
  }
  return false;
}

}  // namespace warpfold::traces::accelsim

#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace warpfold::sim {

// First `most` and last `most` elements of a sequence.
template <typename T>
class Ends {
 public:
  explicit Ends(size_t most) : most_(most) {}

  // Appends `each`. If both ends are full, passes the element that leaves them to `leave_out`.
  template <typename LeaveOut>
  void add(T each, LeaveOut leave_out) {
    if (first_.size() < most_) {
      first_.push_back(std::move(each));
    } else if (last_.size() < most_) {
      last_.push_back(std::move(each));
    } else {
      std::swap(last_[oldest_], each);
      oldest_ = (oldest_ + 1) % most_;
      leave_out(each);
    }
  }

  // Visits the kept elements in the order in which they were added.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const T& each : first_) visit(each);
    for (size_t i = 0; i < last_.size(); ++i) visit(last_[(oldest_ + i) % last_.size()]);
  }
  template <typename Visit>
  void for_each(Visit visit) {
    for (T& each : first_) visit(each);
    for (size_t i = 0; i < last_.size(); ++i) visit(last_[(oldest_ + i) % last_.size()]);
  }

 private:
  size_t most_;
  std::vector<T> first_;
  std::vector<T> last_;  // ring buffer
  size_t oldest_ = 0;
};

}  // namespace warpfold::sim

#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "configs/diagnostic.h"

namespace re2 {
class RE2;
}

namespace warpfold::profile {

// Pairs of kernels that the user has declared independent.
class Independence {
 public:
  Independence();
  Independence(Independence&&) noexcept;
  Independence& operator=(Independence&&) noexcept;
  ~Independence();
  Independence(const Independence&) = delete;
  Independence& operator=(const Independence&) = delete;

  // Adds a pair "A,B": kernels with A in their names, or in the name of a range in which they are launched, are independent of
  // kernels with B in theirs. A and B are RE2 patterns without a comma.
  Expected<void> add(const std::string& pair);
  bool empty() const { return pairs_.empty(); }
  bool states(std::span<const std::string> one, std::span<const std::string> other) const;  // the names of a kernel
  bool names(const std::string& range) const;  // whether A or B of a pair is in this name

 private:
  std::vector<std::pair<std::unique_ptr<re2::RE2>, std::unique_ptr<re2::RE2>>> pairs_;
};

}  // namespace warpfold::profile

#pragma once

namespace warpfold::cli {

// Returns part / whole; 0 if `whole` is 0.
inline double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace warpfold::cli

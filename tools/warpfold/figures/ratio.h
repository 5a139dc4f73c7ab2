#pragma once

namespace warpfold::cli {

// 0 of nothing.
inline double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace warpfold::cli

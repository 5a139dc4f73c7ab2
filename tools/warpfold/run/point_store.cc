#include "tools/warpfold/run/point_store.h"

namespace warpfold::cli {

std::optional<configs::StudyPoint> PointStore::find(const Point& point, const std::string& key) const {
  configs::StudyPoint record;
  if (!records_.find(point_name(*study_, point), record) || record.key() != key) return std::nullopt;
  return record;
}

Outcome<void> PointStore::save(const Point& point, const configs::StudyPoint& record) const {
  return records_.save(point_name(*study_, point), record);
}

}  // namespace warpfold::cli

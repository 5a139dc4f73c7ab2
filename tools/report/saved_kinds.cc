#include "tools/report/saved_kinds.h"

#include "configs/layer.pb.h"
#include "configs/report.pb.h"
#include "configs/result.pb.h"
#include "configs/study.pb.h"
#include "configs/validation.pb.h"

namespace warpfold::report {

const std::array<SavedKind, 6>& saved_kinds() {
  static const std::array kKinds{SavedKind{&configs::Result::default_instance(), "result"},
                                 SavedKind{&configs::Comparison::default_instance(), "comparison of policies"},
                                 SavedKind{&configs::Difference::default_instance(), "difference of two results"},
                                 SavedKind{&configs::StudyPoint::default_instance(), "point of a study"},
                                 SavedKind{&configs::LayerReport::default_instance(), "report of a layer"},
                                 SavedKind{&configs::Validation::default_instance(), "validation"}};
  return kKinds;
}

}  // namespace warpfold::report

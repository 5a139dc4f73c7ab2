#include "workloads/common/gemm_offers.h"

#include <stdexcept>

namespace warpfold::workloads {
namespace {

bool within(uint64_t value, uint64_t from, uint64_t to) { return value >= from && (to == 0 || value <= to); }

}  // namespace

bool is_for(const configs::GemmOffer& offer, const OfferedShape& shape, configs::ElementType type) {
  const bool typed = offer.type().empty() || std::ranges::find(offer.type(), type) != offer.type().end();
  return typed && within(shape.m, offer.m_from(), offer.m_to()) && within(shape.n, offer.n_from(), offer.n_to()) &&
         within(shape.groups, offer.groups_from(), offer.groups_to());
}

std::pair<uint32_t, uint32_t> cluster_of(const std::string& text) {
  const size_t by = text.find('x');
  if (by == std::string::npos) throw std::logic_error("a library's cluster is not MxN: " + text);
  return {static_cast<uint32_t>(std::stoul(text.substr(0, by))), static_cast<uint32_t>(std::stoul(text.substr(by + 1)))};
}

}  // namespace warpfold::workloads

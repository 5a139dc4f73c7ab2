#include "sim/sampling/strata.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace warpfold::sim {
namespace {

constexpr size_t kStrata = 16;             // measured: docs/sampling.md, "Many SMs that are unlike"
constexpr uint64_t kShortRun = 8'000'000;  // instructions, one SM of each class: seconds that strata would save (assumed)

double longest_row(const CtaList& list, WorkTable& table, size_t places) {
  std::vector<uint64_t> rows(places);
  for (const traces::CtaRun& run : list) {
    const uint64_t each = table.of_cta(run.cta_class).instructions;
    for (uint64_t left = run.count; left > 0; --left) {
      const auto [first, last] = std::ranges::minmax_element(rows);
      if (left > places && *last - *first <= each) {  // as many for each place
        const uint64_t rounds = (left - 1) / places;
        for (uint64_t& row : rows) row += rounds * each;
        left -= rounds * places;
      }
      *std::ranges::min_element(rows) += each;
    }
  }
  return static_cast<double>(std::ranges::max(rows));
}

Share share_of(const CtaList& list, WorkTable& table, size_t places) {
  Share share;
  for (const traces::CtaRun& run : list) {
    share.work = share.work + table.of_cta(run.cta_class) * run.count;
    share.ctas += run.count;
  }
  share.instructions = longest_row(list, table, places);
  return share;
}

using Shares = std::vector<Share>;  // per launch

// Where a class lies among the others: of each launch its part of the most instructions and bytes.
std::vector<std::vector<double>> places_of(const std::vector<Shares>& shares) {
  std::vector<std::vector<double>> places(shares.size());
  for (size_t l = 0; l < shares.front().size(); ++l) {
    const auto add = [&](auto amount) {
      double most = 0;
      for (const Shares& each : shares) most = std::max(most, amount(each[l]));
      for (size_t c = 0; c < shares.size(); ++c) places[c].push_back(most > 0 ? amount(shares[c][l]) / most : 0);
    };
    add([](const Share& share) { return share.instructions; });
    add([](const Share& share) { return static_cast<double>(share.work.bytes); });
  }
  return places;
}

using Cell = std::vector<size_t>;  // classes

// Where a cell may be cut.
struct Cut {
  double width = -1;
  size_t classes = 0;
  size_t cell = 0;
  size_t axis = 0;
  double at = 0;
};

Cut widest(const std::vector<Cell>& cells, const std::vector<std::vector<double>>& places) {
  Cut best;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].size() == 1) continue;
    for (size_t axis = 0; axis < places.front().size(); ++axis) {
      const auto [low, high] = std::ranges::minmax(cells[i], {}, [&](size_t c) { return places[c][axis]; });
      const Cut cut{places[high][axis] - places[low][axis], cells[i].size(), i, axis, (places[high][axis] + places[low][axis]) / 2};
      if (std::pair(cut.width, cut.classes) > std::pair(best.width, best.classes)) best = cut;
    }
  }
  return best;
}

// Classes that have as much, in another order, are cut as they come.
std::vector<Cell> cut_into(std::vector<Cell> cells, size_t most, const std::vector<std::vector<double>>& places) {
  while (cells.size() < most) {
    const Cut cut = widest(cells, places);
    if (cut.classes == 0) break;
    Cell& cell = cells[cut.cell];
    const auto half = cell.begin() + static_cast<std::ptrdiff_t>(cell.size() / 2);
    const auto upper =
        cut.width > 0 ? std::ranges::stable_partition(cell, [&](size_t c) { return places[c][cut.axis] <= cut.at; }).begin() : half;
    const Cell second(upper, cell.end());
    cell.erase(upper, cell.end());
    cells.push_back(second);
  }
  return cells;
}

// Of the SMs of the cell.
size_t nearest_to_mean(const std::vector<SmClass>& classes, const Cell& cell, const std::vector<std::vector<double>>& places) {
  std::vector<double> mean(places.front().size());
  double sms = 0;
  for (const size_t c : cell) {
    for (size_t axis = 0; axis < mean.size(); ++axis) mean[axis] += static_cast<double>(classes[c].sms) * places[c][axis];
    sms += static_cast<double>(classes[c].sms);
  }
  const auto distance = [&](size_t c) {
    double sum = 0;
    for (size_t axis = 0; axis < mean.size(); ++axis) sum += std::pow(places[c][axis] - mean[axis] / sms, 2);
    return sum;
  };
  return *std::ranges::min_element(cell, {}, distance);
}

Stratum stratum_of(const std::vector<SmClass>& classes, const std::vector<Shares>& shares, const Cell& cell, size_t chosen) {
  Stratum stratum{.sm_class = classes[chosen], .shares = shares[chosen]};
  stratum.less.resize(shares[chosen].size());
  for (const size_t c : cell) {
    if (c == chosen) continue;
    stratum.sm_class.sms += classes[c].sms;
    for (size_t l = 0; l < stratum.less.size(); ++l) {
      Stratum::Less& less = stratum.less[l];
      less.work = less.work + (shares[chosen][l].work - shares[c][l].work) * classes[c].sms;
      less.ctas += (shares[chosen][l].ctas - shares[c][l].ctas) * classes[c].sms;
    }
    stratum.others.push_back({classes[c], shares[c]});
  }
  return stratum;
}

constexpr size_t kFeatures = std::tuple_size_v<decltype(LaunchEnd::features)>;

// Ends by least squares, linear in the features: in the first ones, one for three ends that are known.
class Fit {
 public:
  explicit Fit(const std::vector<LaunchEnd>& simulated) {
    Matrix normal{};  // of the normal equations, their right sides last
    for (const LaunchEnd& each : simulated) {
      const auto sms = static_cast<double>(each.sms);
      for (size_t i = 0; i < kFeatures; ++i) {
        for (size_t j = 0; j < kFeatures; ++j) normal[i][j] += sms * each.features[i] * each.features[j];
        normal[i][kFeatures] += sms * each.features[i] * each.end;
      }
    }
    solve(normal, std::max<size_t>(simulated.size() / 3, 1));
  }

  double end(const LaunchEnd& of) const {
    return std::inner_product(of.features.begin(), of.features.end(), coefficients_.begin(), 0.0);
  }
  size_t used() const { return used_; }  // features

 private:
  using Matrix = std::array<std::array<double, kFeatures + 1>, kFeatures>;

  // Gauss-Jordan. A feature that those before it determine is left out.
  void solve(Matrix& m, size_t most) {
    constexpr double kDetermined = 1e-9;
    std::array<double, kFeatures> squares{};
    for (size_t i = 0; i < kFeatures; ++i) squares[i] = m[i][i];
    std::array<bool, kFeatures> in{};
    for (size_t i = 0; i < kFeatures; ++i) {
      in[i] = used_ < most && m[i][i] > kDetermined * squares[i];
      if (!in[i]) continue;
      ++used_;
      const double pivot = m[i][i];
      for (double& each : m[i]) each /= pivot;
      for (size_t j = 0; j < kFeatures; ++j) {
        const double factor = m[j][i];
        for (size_t k = 0; j != i && k <= kFeatures; ++k) m[j][k] -= factor * m[i][k];
      }
    }
    for (size_t i = 0; i < kFeatures; ++i) coefficients_[i] = in[i] ? m[i][kFeatures] : 0;
  }

  std::array<double, kFeatures> coefficients_{};
  size_t used_ = 0;
};

}  // namespace

std::vector<Stratum> stratify(const std::vector<SmClass>& classes, const std::vector<KernelImage>& images, bool may_err) {
  std::vector<WorkTable> tables(images.begin(), images.end());
  std::vector<Shares> shares;
  uint64_t instructions = 0;
  std::map<std::vector<bool>, Cell> alike;  // by the launches that they have
  for (size_t c = 0; c < classes.size(); ++c) {
    Shares& of_class = shares.emplace_back();
    std::vector<bool> has;
    for (size_t l = 0; l < images.size(); ++l) {
      of_class.push_back(share_of(classes[c].ctas[l], tables[l], images[l].ctas_per_sm));
      instructions += of_class.back().work.instructions;
      has.push_back(!classes[c].ctas[l].empty());
    }
    alike[has].push_back(c);
  }
  std::vector<Stratum> strata;
  if (!may_err || instructions < kShortRun || classes.size() <= kStrata) {
    for (size_t c = 0; c < classes.size(); ++c) strata.push_back(stratum_of(classes, shares, {c}, c));
    return strata;
  }
  const std::vector<std::vector<double>> places = places_of(shares);
  std::vector<Cell> cells;
  for (auto& [has, of] : alike) {
    const auto most =
        std::ranges::max_element(of, {}, [&](size_t c) { return std::accumulate(places[c].begin(), places[c].end(), 0.0); });
    cells.push_back({*most});
    of.erase(most);
    if (!of.empty()) cells.push_back(std::move(of));
  }
  for (const Cell& cell : cut_into(std::move(cells), kStrata, places))
    strata.push_back(stratum_of(classes, shares, cell, nearest_to_mean(classes, cell, places)));
  return strata;
}

LaunchEnd launch_end(uint64_t sms, const std::vector<Share>& shares, size_t launch, double end) {
  LaunchEnd is{.sms = sms, .end = end};
  is.features = {shares[launch].instructions, static_cast<double>(shares[launch].work.bytes), 0, 0, 1};
  for (const Share& each : shares) {
    is.features[2] += static_cast<double>(each.work.instructions);
    is.features[3] += static_cast<double>(each.work.bytes);
  }
  return is;
}

double latest_end_uncertainty(const std::vector<LaunchEnd>& simulated, const std::vector<LaunchEnd>& others) {
  constexpr double kUnlikely = 0.05;
  if (others.empty()) return 0;
  if (simulated.size() < 2) return 1;
  const Fit fit(simulated);
  double squares = 0;
  double sms = 0;
  double latest = 0;
  for (const LaunchEnd& each : simulated) {
    squares += static_cast<double>(each.sms) * std::pow(each.end - fit.end(each), 2);
    sms += static_cast<double>(each.sms);
    latest = std::max(latest, each.end);
  }
  const double freedom = static_cast<double>(simulated.size()) / static_cast<double>(simulated.size() - fit.used());
  const double scatter = std::sqrt(squares / sms * freedom);
  // SMs that are expected to end later.
  const auto expected = [&](double end) {
    double count = 0;
    for (const LaunchEnd& each : others) {
      const double later = end - fit.end(each);
      const double likely = scatter > 0 ? std::erfc(later / scatter / std::sqrt(2.0)) / 2 : (later < 0 ? 1.0 : 0.0);
      count += static_cast<double>(each.sms) * likely;
    }
    return count;
  };
  constexpr int kSteps = 40;  // halves of an interval
  double low = latest;
  double high = 2 * latest;
  for (int step = 0; step < kSteps && expected(low) > kUnlikely; ++step) {
    const double middle = (low + high) / 2;
    (expected(middle) > kUnlikely ? low : high) = middle;
  }
  return low / latest - 1;
}

}  // namespace warpfold::sim

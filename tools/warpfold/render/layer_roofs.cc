#include "tools/warpfold/render/layer_roofs.h"

#include <algorithm>
#include <map>
#include <vector>

#include "configs/diagnostic.h"
#include "configs/escape/gnuplot.h"
#include "tools/warpfold/figures/layer_quantity.h"
#include "tools/warpfold/render/table.h"

namespace warpfold::cli {

namespace {

struct Spot {
  const configs::LayerReport* report;
  const configs::LayerKernel* kernel;
  double flop_per_byte;
  double tflops;
};

bool is_simulated(const configs::LayerReport& report) { return report.simulations() > 0; }

// Returns a spot for each kernel that computes; transfers and moves have no place under a roof.
std::vector<Spot> spots_at(const configs::Figure& figure, const configs::StudyPoint& point) {
  std::vector<Spot> spots;
  const configs::LayerQuantity& quantity = figure.quantity(0).layer();
  for (const configs::LayerKernel* kernel : kernels_of(point.layer(), quantity.version(), quantity.of())) {
    const auto us = kernel_us(point.layer(), *kernel, is_simulated(point.layer()) ? "simulation" : "roofline");
    if (!us || *us <= 0 || kernel->flops() == 0 || kernel->kind() == "communication") continue;
    spots.push_back({&point.layer(), kernel, kernel->intensity(), static_cast<double>(kernel->flops()) / (*us * 1e6)});
  }
  return spots;
}

// Groups spots into curves: by class, or by the value of the series.
std::map<std::string, std::vector<Spot>> groups_of(const configs::Study& study, const configs::Figure& figure,
                                                   const PointRecords& records) {
  std::map<std::string, std::vector<Spot>> groups;
  for (const Point& point : points_of(study, figure)) {
    for (const Spot& spot : spots_at(figure, records.at(point))) {
      std::string group = spot.kernel->kind();
      for (int a = 0; a < study.axis_size(); ++a) {
        if (figure.has_series() && study.axis(a).name() == figure.series()) group = point[static_cast<size_t>(a)];
      }
      groups[group].push_back(spot);
    }
  }
  return groups;
}

// Returns a label for each position; kernels at the same position share a label.
std::string labels_of(const std::vector<Spot>& spots) {
  std::map<std::string, std::string> names;
  for (const Spot& spot : spots) {
    std::string& all = names[fixed(spot.flop_per_byte, 3) + " " + fixed(spot.tflops, 3)];
    all += (all.empty() ? "" : ", ") + spot.kernel->name();
  }
  std::string lines;
  for (const auto& [place, name] : names) lines += place + " " + escape::gnuplot_cell(name) + "\n";
  return lines;
}

double highest_of(const std::map<std::string, std::vector<Spot>>& groups) {
  double highest = 1;
  for (const auto& [group, spots] : groups) highest = std::max(highest, spots.front().report->tensor_tflops());
  return highest;
}

// Returns one roof for each GPU of the figure.
std::string roofs(const std::map<std::string, std::vector<Spot>>& groups) {
  std::map<std::string, const configs::LayerReport*> gpus;
  for (const auto& [group, spots] : groups) gpus[spots.front().report->gpu()] = spots.front().report;
  std::string curves;
  int style = 0;
  for (const auto& [gpu, report] : gpus) {
    ++style;
    const std::string memory = fixed(report->memory_gb_per_s() / 1e3, 4) + "*x";
    for (const auto& [unit, tflops] : {std::pair{"tensor cores", report->tensor_tflops()}, {"FP32", report->vector_tflops()}}) {
      curves += "(" + memory + " < " + fixed(tflops, 3) + " ? " + memory + " : " + fixed(tflops, 3) +
                ") with lines lc rgb '#555555' dt " + std::to_string(style) + " title " + escape::gnuplot(gpu + ", " + unit) + ", ";
    }
  }
  return curves;
}

}  // namespace

std::string roofs_csv(const configs::Study& study, const configs::Figure& figure, const PointRecords& records) {
  std::vector<std::string> columns;
  for (const configs::Axis& axis : study.axis()) columns.push_back(axis.name());
  for (const char* name :
       {"estimator", "kernel", "pass", "class", "FLOP/B", "TFLOPS", "GPU", "tensor TFLOPS", "FP32 TFLOPS", "GB/s"})
    columns.emplace_back(name);
  Table table(columns);
  for (const Point& point : points_of(study, figure)) {
    for (const Spot& spot : spots_at(figure, records.at(point))) {
      std::vector<Cell> row(point.begin(), point.end());
      row.emplace_back(is_simulated(*spot.report) ? "simulation" : "roofline");
      for (const std::string& text : {spot.kernel->name(), spot.kernel->pass(), spot.kernel->kind()}) row.emplace_back(text);
      row.emplace_back(spot.flop_per_byte, 4);
      row.emplace_back(spot.tflops, 4);
      row.emplace_back(spot.report->gpu());
      for (const double peak : {spot.report->tensor_tflops(), spot.report->vector_tflops(), spot.report->memory_gb_per_s()})
        row.emplace_back(peak, 1);
      table.add(std::move(row));
    }
  }
  return table.csv();
}

std::string roofs_plot(const configs::Study& study, const configs::Figure& figure, const PointRecords& records) {
  const auto groups = groups_of(study, figure, records);
  std::string blocks;
  std::string curves = roofs(groups);
  size_t index = 0;
  for (const auto& [group, spots] : groups) {
    const std::string block = "$spots" + std::to_string(index++);
    blocks += block + " << END\n";
    blocks += labels_of(spots) + "END\n";
    curves += (index == 1 ? "" : ", ") + block + " using 1:2 with points pt 7 ps 0.7 lc " + std::to_string(index) + " title " +
              escape::gnuplot(group);
    if (!figure.has_series()) curves += ", " + block + " using 1:2:3 with labels left offset 0.6,0.2 font ',8' noenhanced notitle";
  }
  return "# gnuplot " + escape::gnuplot_comment(figure.name() + ".gp draws " + figure.name() + ".svg") +
         "\nset terminal svg noenhanced size 900,560 font 'sans,13' background 'white'\nset output " +
         escape::gnuplot(figure.name() + ".svg") + "\nset encoding utf8\nset title " + escape::gnuplot(figure.title()) +
         " noenhanced\n" + blocks +
         "set logscale xy\nset xlabel 'FLOP/B'\nset ylabel 'TFLOPS'\nset key bottom right\nset grid\nset samples 400\n" +
         "set xrange [0.1:10000]\nset yrange [0.1:" + fixed(3 * highest_of(groups), 0) + "]\nplot " + curves + "\n";
}

}  // namespace warpfold::cli

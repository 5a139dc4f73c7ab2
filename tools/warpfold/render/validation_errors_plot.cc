#include "tools/warpfold/render/validation_errors_plot.h"

#include <algorithm>
#include <cmath>

#include "configs/escape/gnuplot.h"
#include "tools/warpfold/render/table.h"

namespace warpfold::cli {

namespace {

constexpr double kWidest = 100;  // percent; longer bars end at the picture's edge, beside their number
constexpr int kLineHeight = 16;  // pixels
constexpr int kMargins = 110;

std::string name_of(const configs::ErrorGroup& group) {
  std::string name = group.family();
  if (group.kernel() != group.family()) name.append(": ").append(group.kernel());
  return name.append(", ").append(group.gpu());
}

}  // namespace

std::string validation_errors_plot(const configs::Validation& validation, const std::string& picture) {
  std::string lines;
  int groups = 0;
  double least = 0, most = 10;
  for (const configs::ErrorGroup& group : validation.groups()) {
    if (group.kernel().empty()) continue;  // a whole family: its kernels have lines of their own
    const double mean = 100 * group.mean(), bias = 100 * group.bias();
    const std::string text = fixed(mean, 1) + " %, " + report::counted(group.rows(), "row");
    lines += escape::gnuplot_cell(name_of(group)) + " " + fixed(std::min(mean, kWidest), 2) + " " +
             fixed(std::clamp(bias, -kWidest, kWidest), 2) + " " + escape::gnuplot_cell(text) + "\n";
    least = std::min(least, bias);
    most = std::max(most, mean);
    ++groups;
  }
  if (groups == 0) return {};
  // Leaves room for the text behind a bar.
  const std::string range = "[" + fixed(std::max(least, -kWidest) - 2, 1) + ":" + fixed(1.3 * std::min(most, kWidest), 1) + "]";
  return "set terminal svg noenhanced size 1000," + std::to_string(groups * kLineHeight + kMargins) +
         " font 'sans,11' background 'white'\nset output " + escape::gnuplot(picture) + "\nset encoding utf8\nset xrange " + range +
         "\nset yrange [" + std::to_string(groups) + ":-1]\nset grid x\nset key above\nset style fill solid\n" +
         "set xlabel 'error, % of the measured time'\n$errors << END\n" + lines +
         "END\nplot $errors using 2:0:(0):2:($0-0.35):($0+0.35):ytic(1) with boxxyerror lc rgb '#9bb8d3' "
         "title 'mean of absolute errors', $errors using 3:0 with points pt 7 ps 0.5 lc rgb '#b03a2e' title 'bias', "
         "$errors using ($2+0.5):0:4 with labels left font 'sans,9' notitle\n";
}

}  // namespace warpfold::cli

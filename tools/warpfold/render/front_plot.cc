#include "tools/warpfold/render/front_plot.h"

#include "configs/escape/gnuplot.h"
#include "tools/warpfold/render/table.h"

namespace warpfold::cli {

namespace {

constexpr int kDecimals = 9;  // energies in J of runs of microseconds

// Returns the first two measures and the label of each run, one run per line: "132 33.500000000 "gpu.sm_count=132"".
std::string lines_of(const std::vector<MeasuredRun>& runs) {
  std::string lines;
  for (const MeasuredRun& run : runs)
    lines += fixed(run.values[0], kDecimals) + " " + fixed(run.values[1], kDecimals) + " " + escape::gnuplot_cell(run.label) + "\n";
  return lines;
}

}  // namespace

std::string front_plot(const configs::Front& front, const FrontRuns& runs) {
  const std::vector<std::string>& measures = runs.measures;
  std::string text = "# gnuplot " + escape::gnuplot_comment(front.name() + ".gp draws " + front.name() + ".svg") + "\n";
  text += "set terminal svg noenhanced size 640,420 font 'sans,13' background 'white'\n";
  text += "set output " + escape::gnuplot(front.name() + ".svg") + "\nset encoding utf8\n";
  text += "set title " + escape::gnuplot(front.title()) + " noenhanced\nset grid\nset key outside below\n";
  text +=
      "set xlabel " + escape::gnuplot(measures[0]) + " noenhanced\nset ylabel " + escape::gnuplot(measures[1]) + " noenhanced\n";
  text += "$runs << END\n" + lines_of(runs.all) + "END\n$front << END\n" + lines_of(runs.best) + "END\n";
  // With three measures the front is a surface, and the picture is a projection of it: points without a line.
  const std::string style = measures.size() == 2 ? "with linespoints lw 2 pt 7" : "with points pt 7";
  return text + "plot $runs using 1:2 with points pt 6 lc rgb '#999999' title 'runs', $front using 1:2 " + style +
         " lc rgb '#3182bd' title 'Pareto front', $front using 1:2:3 with labels left offset 0.8,0.4 font ',10' notitle\n";
}

}  // namespace warpfold::cli

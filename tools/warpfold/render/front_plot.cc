#include "tools/warpfold/render/front_plot.h"

#include <optional>

#include "escape/gnuplot.h"
#include "tools/warpfold/figures/study_wanted.h"
#include "tools/warpfold/render/table.h"

namespace warpfold::cli {

namespace {

constexpr int kDecimals = 9;  // joules of microseconds

// One "x y" a line; runs that lack one of the two are left out.
std::string pairs(const configs::Study& study, const std::vector<PointRun>& runs, const std::string& x, const std::string& y) {
  std::string lines;
  for (const PointRun& run : runs) {
    const auto across = measure_of(study, run, x);
    const auto up = measure_of(study, run, y);
    if (across && up) lines += fixed(*across, kDecimals) + " " + fixed(*up, kDecimals) + "\n";
  }
  return lines;
}

}  // namespace

std::string front_plot(const configs::Study& study, const configs::Front& front, const PointRecords& records) {
  std::vector<std::string> measures(front.minimize().begin(), front.minimize().end());
  measures.insert(measures.end(), front.maximize().begin(), front.maximize().end());
  const std::vector<PointRun> runs = runs_of(grid_of(study), records);
  std::string text = "# gnuplot " + escape::gnuplot_comment(front.name() + ".gp draws " + front.name() + ".svg") + "\n";
  text += "set terminal svg noenhanced size 640,420 font 'sans,13' background 'white'\n";
  text += "set output " + escape::gnuplot(front.name() + ".svg") + "\nset encoding utf8\n";
  text += "set title " + escape::gnuplot(front.title()) + " noenhanced\nset grid\nset key outside below\n";
  text +=
      "set xlabel " + escape::gnuplot(measures[0]) + " noenhanced\nset ylabel " + escape::gnuplot(measures[1]) + " noenhanced\n";
  const std::string others = pairs(study, runs, measures[0], measures[1]);
  const std::string best = pairs(study, front_of(study, front, runs), measures[0], measures[1]);
  text += "$runs << END\n" + others + "END\n$front << END\n" + best + "END\n";
  // With a third measure the front is a surface, of which the picture is a view: points, not a line.
  const std::string style = measures.size() == 2 ? "with linespoints lw 2 pt 7" : "with points pt 7";
  return text + "plot $runs using 1:2 with points pt 6 lc rgb '#999999' title 'runs', $front using 1:2 " + style +
         " lc rgb '#3182bd' title 'Pareto front'\n";
}

}  // namespace warpfold::cli

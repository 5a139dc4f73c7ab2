#include "configs/near_miss.h"

#include <algorithm>
#include <cctype>

#include "configs/escape/quoted.h"
#include "configs/escape/visible.h"

namespace warpfold {

namespace {

char lower(char letter) { return static_cast<char>(std::tolower(static_cast<unsigned char>(letter))); }

}  // namespace

int edit_distance(std::string_view from, std::string_view to) {
  // Row i of the table holds the distances of from[0, i) to every prefix of `to`; swaps look two rows back.
  std::vector<int> before_last(to.size() + 1);
  std::vector<int> last(to.size() + 1);
  std::vector<int> row(to.size() + 1);
  for (size_t j = 0; j <= to.size(); ++j) last[j] = static_cast<int>(j);
  for (size_t i = 1; i <= from.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= to.size(); ++j) {
      const bool same = lower(from[i - 1]) == lower(to[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && lower(from[i - 1]) == lower(to[j - 2]) && lower(from[i - 2]) == lower(to[j - 1]);
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[to.size()];
}

std::string nearest_name(std::string_view wrong, const std::vector<std::string>& known) {
  const int tolerance = std::clamp(static_cast<int>(wrong.size()) / 3, 1, 4);
  int best = tolerance + 1;
  std::string nearest;
  for (const std::string& name : known) {
    // The distance is at least the difference of the lengths, so a text of a megabyte is compared with no name.
    if (std::max(wrong.size(), name.size()) - std::min(wrong.size(), name.size()) > static_cast<size_t>(tolerance)) continue;
    const int distance = edit_distance(wrong, name);
    if (distance < best) {
      best = distance;
      nearest = name;
    }
  }
  return nearest;
}

std::string suggestion(std::string_view wrong, const std::vector<std::string>& known) {
  const std::string nearest = nearest_name(wrong, known);
  if (!nearest.empty()) return "; did you mean " + escape::quoted(nearest) + "?";
  constexpr size_t kMost = 1200;  // letters: names of an input may be many
  std::string list;
  for (const std::string& name : known) {
    if (list.size() > kMost) return list + ", ...";
    list += (list.empty() ? "; known: " : ", ") + escape::visible(name, escape::kMostQuoted);
  }
  return list;
}

}  // namespace warpfold

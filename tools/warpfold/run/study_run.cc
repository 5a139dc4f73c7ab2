#include "tools/warpfold/run/study_run.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "configs/escape/quoted.h"
#include "tools/warpfold/figures/study_wanted.h"
#include "tools/warpfold/render/output.h"
#include "tools/warpfold/run/interrupt.h"
#include "tools/warpfold/run/limits.h"
#include "tools/warpfold/run/parallel.h"
#include "tools/warpfold/run/progress.h"
#include "tools/warpfold/run/study_layers.h"
#include "tools/warpfold/run/study_scenarios.h"
#include "tools/warpfold/store/point_store.h"

namespace warpfold::cli {

namespace {

std::unique_ptr<StudySubject> subject_of(const StudyRequest& request) {
  if (request.study.has_layer()) return std::make_unique<StudyLayers>(request);
  return std::make_unique<StudyScenarios>(request);
}

// Returns the keys of some points, in order.
Outcome<std::vector<std::string>> keys_of(const StudySubject& subject, const std::vector<Point>& points, unsigned jobs) {
  std::vector<std::optional<Outcome<std::string>>> made(points.size());
  in_parallel(points.size(), jobs, [&](size_t i) { made[i] = subject.key(points[i]); });
  std::vector<std::string> keys;
  for (const auto& each : made) {
    if (!*each) return std::unexpected(each->error());
    keys.push_back(**each);
  }
  return keys;
}

Outcome<std::unique_ptr<PointStore>> open_store(const StudyRequest& request) {
  return PointStore::open(request.folder + "/points");
}

// Repeats a failed simulation once. A failure becomes the point's record, so it must be the point's own: a fault of a file server
// or a disk does not repeat.
Outcome<configs::StudyPoint> simulate_point(const StudySubject& subject, const Point& point, const std::string& key) {
  auto made = subject.simulate(point, key);
  if (made && made->has_failure() && made->exit_code() == kUserError) return subject.simulate(point, key);
  return made;
}

// Adds the record of a point under its place in the grid. Fails if the point failed.
Outcome<void> add_record(const StudyRequest& request, const StudySubject& subject, const Point& point, configs::StudyPoint record,
                         PointRecords& records) {
  if (record.has_failure()) return std::unexpected(subject.failure_at(point, "", {record.exit_code(), record.failure()}));
  for (size_t a = 0; a < point.size(); ++a) {
    configs::FixedAxis& at = *record.add_at();
    at.set_axis(request.study.axis(static_cast<int>(a)).name());
    at.set_value(point[a]);
  }
  record.clear_key();
  records.emplace(point, std::move(record));
  return {};
}

// Fails if a point failed.
Outcome<void> read_records(const StudyRequest& request, const StudySubject& subject, const std::vector<Point>& points,
                           const std::vector<std::string>& keys, const PointLog& log, PointRecords& records) {
  for (size_t i = 0; i < points.size(); ++i) {
    configs::StudyPoint record;
    if (!log.find(keys[i], record))
      return user_error("cannot read point " + point_name(request.study, points[i]) + " in " + request.folder + "/points");
    if (auto added = add_record(request, subject, points[i], std::move(record), records); !added) return added;
  }
  return {};
}

// Points of a study with their keys.
struct Grid {
  std::vector<Point> points{};
  std::vector<std::string> keys{};
};

// Returns the wanted points that have no record yet, after checking all of them; none if the study is complete.
Outcome<Grid> next_grid(const StudyRequest& request, const StudySubject& subject, const PointRecords& records) {
  auto points = wanted_points(request.study, records);
  if (!points) return std::unexpected(Failure(points.error()));
  if (points->empty()) return user_error("study " + escape::unquoted(request.study.name()) + ": no point of its grid is left");
  std::erase_if(*points, [&](const Point& point) { return records.contains(point); });
  if (points->empty()) return Grid{};
  auto keys = keys_of(subject, *points, request.how.jobs);
  if (!keys) return std::unexpected(keys.error());
  if (records.empty()) {
    if (auto known = subject.check_figures(points->front()); !known) return std::unexpected(known.error());
  }
  return Grid{std::move(*points), std::move(*keys)};
}

size_t count_done(const std::vector<std::string>& keys, const PointStore& store) {
  return static_cast<size_t>(std::ranges::count_if(keys, [&](const std::string& key) { return store.log().has(key); }));
}

// Returns the first round of points that is not complete. If records decide which points are wanted, each round follows from the
// rounds before. Returns no points if the study is complete.
Outcome<Grid> unfinished_round(const StudyRequest& request, const StudySubject& subject, const PointStore& store) {
  PointRecords records;
  while (true) {
    auto grid = next_grid(request, subject, records);
    if (!grid || grid->points.empty() || count_done(grid->keys, store) < grid->keys.size()) return grid;
    if (!adapts(request.study)) return Grid{};
    if (auto read = read_records(request, subject, grid->points, grid->keys, store.log(), records); !read)
      return std::unexpected(read.error());
  }
}

// Returns the points of a plan that plan_study wrote; none if the plan's round is finished. If no record decides the points, their
// keys, which take longer, are not computed.
Outcome<std::vector<Point>> points_of_plan(const StudyRequest& request, const StudySubject& subject, const PointStore& store,
                                           const std::vector<std::string>& keys) {
  if (adapts(request.study)) {
    auto grid = unfinished_round(request, subject, store);
    if (!grid) return std::unexpected(grid.error());
    return grid->keys == keys ? std::move(grid->points) : std::vector<Point>{};
  }
  auto wanted = wanted_points(request.study, {});
  if (!wanted) return std::unexpected(Failure(wanted.error()));
  return std::move(*wanted);
}

// Simulates the grid's points and adds their records. The folder keeps each finished point.
Outcome<void> simulate_in_folder(const StudyRequest& request, const StudySubject& subject, const Grid& grid, PointStore& store,
                                 PointRecords& records) {
  const size_t before = records.size();
  const auto finish = [&] {
    const Interruptible interruptible;
    ProgressBar bar(request.study.name(), before + grid.points.size());
    return store.finish(
        grid.keys, request.how.jobs, PointStore::Others::kAwait,
        [&](size_t i) { return simulate_point(subject, grid.points[i], grid.keys[i]); },
        [&](size_t done) { bar.set(before + done); });
  };
  const auto kept = [&] {
    return std::to_string(before + count_done(grid.keys, store)) + " of " + std::to_string(before + grid.points.size()) +
           " points are kept in " + request.folder + "/points; the same command goes on from there";
  };
  if (auto finished = unless_stopped(finish, kept); !finished) return finished;
  if (auto read = read_records(request, subject, grid.points, grid.keys, store.log(), records); !read) return read;
  store.forget_plan(grid.keys);
  return {};
}

// Simulates the grid's points and adds their records.
Outcome<void> simulate_in_memory(const StudyRequest& request, const StudySubject& subject, const Grid& grid,
                                 PointRecords& records) {
  std::vector<std::optional<Outcome<configs::StudyPoint>>> made(grid.points.size());
  const auto simulate = [&]() -> Outcome<void> {
    ProgressBar bar(request.study.name(), records.size() + grid.points.size());
    bar.set(records.size());
    in_parallel(grid.points.size(), request.how.jobs, [&](size_t i) {
      made[i] = simulate_point(subject, grid.points[i], grid.keys[i]);
      bar.step();
    });
    return {};
  };
  const auto kept = [] { return std::string("no point is kept without --output FOLDER"); };
  if (auto simulated = unless_stopped(simulate, kept); !simulated) return simulated;
  for (size_t i = 0; i < made.size(); ++i) {
    if (!*made[i]) return std::unexpected(made[i]->error());
    if (auto added = add_record(request, subject, grid.points[i], std::move(**made[i]), records); !added) return added;
  }
  return {};
}

}  // namespace

Outcome<PointRecords> run_study(const StudyRequest& request) {
  const auto subject = subject_of(request);
  PointRecords records;
  std::unique_ptr<PointStore> store;
  while (true) {
    const auto grid = next_grid(request, *subject, records);
    if (!grid) return std::unexpected(grid.error());
    if (grid->points.empty()) return records;
    if (!store && !request.folder.empty()) {
      auto opened = open_store(request);
      if (!opened) return std::unexpected(opened.error());
      store = std::move(*opened);
    }
    const auto simulated = store ? simulate_in_folder(request, *subject, *grid, *store, records)
                                 : simulate_in_memory(request, *subject, *grid, records);
    if (!simulated) return std::unexpected(simulated.error());
  }
}

Outcome<std::string> plan_study(const StudyRequest& request) {
  const auto subject = subject_of(request);
  const auto store = open_store(request);
  if (!store) return std::unexpected(store.error());
  const auto grid = unfinished_round(request, *subject, **store);
  if (!grid) return std::unexpected(grid.error());
  if (grid->points.empty()) return "";
  return (*store)->write_plan(grid->keys);
}

// A task may start after the study was drawn and the plan removed.
Outcome<void> work_on_study(const StudyRequest& request, const std::string& plan) {
  const auto subject = subject_of(request);
  const auto store = open_store(request);
  if (!store) return std::unexpected(store.error());
  const auto keys = (*store)->read_plan(plan);
  if (!keys) return write_output("", "no plan " + plan + " in " + request.folder + "/points: its points are all finished\n");
  const auto points = points_of_plan(request, *subject, **store, *keys);
  if (!points) return std::unexpected(points.error());
  if (points->empty()) return write_output("", "plan " + plan + ": its points are all finished\n");
  if (keys->size() != points->size())
    return user_error("the study has changed since the job was submitted: it had " + std::to_string(keys->size()) + " points");
  const auto finish = [&] {
    const Interruptible interruptible;
    ProgressBar bar(request.study.name(), points->size());
    return (*store)->finish(
        *keys, request.how.jobs, PointStore::Others::kLeave,
        [&](size_t i) { return simulate_point(*subject, (*points)[i], (*keys)[i]); }, [&](size_t done) { bar.set(done); });
  };
  return unless_stopped(finish, [&] {
    return std::to_string(count_done(*keys, **store)) + " of " + std::to_string(keys->size()) + " points are kept in " +
           request.folder + "/points; another task goes on from there";
  });
}

Outcome<PointRecords> collect_study(const StudyRequest& request) {
  const auto subject = subject_of(request);
  const auto store = open_store(request);
  if (!store) return std::unexpected(store.error());
  PointRecords records;
  while (true) {
    const auto grid = next_grid(request, *subject, records);
    if (!grid) return std::unexpected(grid.error());
    if (grid->points.empty()) return records;
    const size_t done = count_done(grid->keys, **store);
    if (done < grid->keys.size()) {
      return user_error("--collect: " + std::to_string(records.size() + done) + " of " +
                        std::to_string(records.size() + grid->keys.size()) + " points are in " + request.folder + "/points");
    }
    if (auto read = read_records(request, *subject, grid->points, grid->keys, (*store)->log(), records); !read)
      return std::unexpected(read.error());
    (*store)->forget_plan(grid->keys);
  }
}

Outcome<StudyState> state_of_study(const StudyRequest& request, const std::string& plan) {
  const auto store = open_store(request);
  if (!store) return std::unexpected(store.error());
  const auto keys = (*store)->read_plan(plan);
  if (!keys) return std::unexpected(keys.error());
  return StudyState{count_done(*keys, **store), keys->size()};
}

}  // namespace warpfold::cli

#include <sqlite3.h>

#include <algorithm>
#include <memory>

#include "configs/escape/quoted.h"
#include "tools/profile/launch_collector.h"
#include "tools/profile/nsight_names.h"
#include "tools/profile/nsight_reader.h"

namespace warpfold::profile {
namespace {

// Parses a range of torch's emit_nvtx: "aten::mm, seq = 7, op_id = 3, sizes = [[2048, 1024], [1024, 4096]]".
void read_range(std::string_view text, TraceEvent& event) {
  event.name = text.substr(0, text.find(','));
  constexpr std::string_view kSizes = "sizes = ";
  if (const size_t at = text.find(kSizes); at != std::string_view::npos) event.inputs = lists_of(text.substr(at + kSizes.size()));
}

struct Close {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

class Database {
 public:
  explicit Database(const std::string& path) : path_(path) {}

  Expected<void> open() {
    sqlite3* opened = nullptr;
    const int status = sqlite3_open_v2(path_.c_str(), &opened, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nullptr);
    database_.reset(opened);
    if (status != SQLITE_OK) return wrong();
    sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, 1 << 24);
    sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(opened, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    return {};
  }

  // Checks for a table. A view of that name is refused, because it could be any computation.
  Expected<bool> has(const std::string& table) {
    bool found = false;
    bool view = false;
    const auto done = each("SELECT type FROM sqlite_master WHERE name = '" + table + "'", [&](sqlite3_stmt* row) {
      found = true;
      view = text(row, 0) != "table";
      return true;
    });
    if (!done) return std::unexpected(done.error());
    if (view) return fail_at(path_, 0, 0, table + " is no table; export the report again");
    return found;
  }

  // Calls `take` for each row until it returns false.
  template <typename Take>
  Expected<void> each(const std::string& query, Take take) {
    sqlite3_stmt* prepared = nullptr;
    if (sqlite3_prepare_v2(database_.get(), query.c_str(), -1, &prepared, nullptr) != SQLITE_OK) return wrong();
    const std::unique_ptr<sqlite3_stmt, Close> statement(prepared);
    while (true) {
      const int status = sqlite3_step(prepared);
      if (status == SQLITE_DONE) return {};
      if (status != SQLITE_ROW) return wrong();
      if (!take(prepared)) return {};
    }
  }

  static std::string text(sqlite3_stmt* row, int column) {
    const auto* const bytes = static_cast<const char*>(sqlite3_column_blob(row, column));
    return bytes == nullptr ? std::string() : std::string(bytes, static_cast<size_t>(sqlite3_column_bytes(row, column)));
  }
  static uint64_t whole(sqlite3_stmt* row, int column) {
    return static_cast<uint64_t>(std::max<sqlite3_int64>(sqlite3_column_int64(row, column), 0));
  }

  std::unexpected<Diagnostic> wrong() const {
    return fail_at(path_, 0, 0,
                   "damaged SQLite export: " + escape::remark(sqlite3_errmsg(database_.get())) +
                       "; export again with nsys export --type sqlite");
  }

 private:
  const std::string& path_;
  std::unique_ptr<sqlite3, Close> database_{};
};

TraceEvent timed(sqlite3_stmt* row, EventKind kind) {
  TraceEvent event;
  event.kind = kind;
  event.complete = true;
  event.ts = sqlite3_column_double(row, 0) / 1000;  // ns
  event.dur = sqlite3_column_double(row, 1) / 1000 - event.ts;
  return event;
}

// Reads the export. Source of tables and columns: Nsight Systems user guide, SQLite schema reference.
class Export {
 public:
  explicit Export(const std::string& path) : path_(path), database_(path) {}

  Expected<Profile> read() {
    if (auto opened = database_.open(); !opened) return std::unexpected(opened.error());
    const auto kernels = database_.has("CUPTI_ACTIVITY_KIND_KERNEL");
    if (!kernels) return std::unexpected(kernels.error());
    if (!*kernels)
      return fail_at(path_, 0, 0, "no kernel in the export (table CUPTI_ACTIVITY_KIND_KERNEL); profile with nsys profile -t cuda");
    for (const auto part : {&Export::read_kernels, &Export::read_copies, &Export::read_gpus, &Export::read_operators}) {
      if (auto done = (this->*part)(); !done) return std::unexpected(done.error());
    }
    Profile profile = collector_.take();
    if (profile.shapes.empty()) return fail_at(path_, 0, 0, "no kernel in the export; profile with nsys profile -t cuda");
    return profile;
  }

 private:
  Expected<void> read_kernels() {
    std::string problem;
    const auto done = database_.each(
        "SELECT start, end, deviceId, streamId, correlationId, value, gridX, gridY, gridZ, blockX, blockY, blockZ, "
        "registersPerThread, staticSharedMemory, dynamicSharedMemory FROM CUPTI_ACTIVITY_KIND_KERNEL "
        "JOIN StringIds ON StringIds.id = demangledName",
        [&](sqlite3_stmt* row) {
          TraceEvent event = timed(row, EventKind::kKernel);
          event.device = Database::whole(row, 2);
          event.stream = Database::whole(row, 3);
          event.correlation = Database::whole(row, 4);
          event.name = as_demangled(Database::text(row, 5));
          for (int axis = 0; axis < 3; ++axis) {
            event.grid.push_back(Database::whole(row, 6 + axis));
            event.block.push_back(Database::whole(row, 9 + axis));
          }
          event.registers = Database::whole(row, 12);
          event.shared_memory = Database::whole(row, 13) + Database::whole(row, 14);
          if (collector_.add(event)) return true;
          problem = why_invalid(event);
          return false;
        });
    if (!done) return done;
    if (!problem.empty()) return fail_at(path_, 0, 0, problem + "; export again");
    return {};
  }

  Expected<void> read_copies() {
    for (const std::string table : {"CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET"}) {
      const auto has = database_.has(table);
      if (!has) return std::unexpected(has.error());
      if (!*has) continue;
      const auto done = database_.each("SELECT start, end, deviceId, streamId FROM " + table, [&](sqlite3_stmt* row) {
        TraceEvent event = timed(row, EventKind::kCopy);
        event.name = table;
        event.device = Database::whole(row, 2);
        event.stream = Database::whole(row, 3);
        collector_.add(event);
        return true;
      });
      if (!done) return done;
    }
    return {};
  }

  Expected<void> read_gpus() {
    const auto has = database_.has("TARGET_INFO_GPU");
    if (!has) return std::unexpected(has.error());
    if (!*has) return {};
    return database_.each("SELECT id, name FROM TARGET_INFO_GPU", [&](sqlite3_stmt* row) {
      collector_.add_device(Database::whole(row, 0), Database::text(row, 1));
      return true;
    });
  }

  // Reads the NVTX ranges, and the calls of CUDA's runtime that they enclose.
  Expected<void> read_operators() {
    for (const char* table : {"NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_RUNTIME"}) {
      const auto has = database_.has(table);
      if (!has) return std::unexpected(has.error());
      if (!*has) return {};
    }
    const auto ranges = database_.each(
        "SELECT start, end, globalTid, coalesce(text, value) FROM NVTX_EVENTS LEFT JOIN StringIds ON StringIds.id = textId "
        "WHERE end IS NOT NULL",
        [&](sqlite3_stmt* row) {
          TraceEvent event = timed(row, EventKind::kOperator);
          event.thread = Database::whole(row, 2);
          const std::string text = Database::text(row, 3);
          read_range(text, event);
          collector_.add(event);
          // Of emit_nvtx: "aten::mm, seq = 7, op_id = 3, ..." is an operator. All others are the user's.
          if (text.find(", seq = ") != std::string::npos || text.find(", op_id = ") != std::string::npos ||
              text.find(", sizes = ") != std::string::npos)
            return true;
          event.kind = EventKind::kRange;
          event.name = text;
          collector_.add(event);
          return true;
        });
    if (!ranges) return ranges;
    return database_.each("SELECT start, end, globalTid, correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME", [&](sqlite3_stmt* row) {
      TraceEvent event = timed(row, EventKind::kCall);
      event.thread = Database::whole(row, 2);
      event.correlation = Database::whole(row, 3);
      collector_.add(event);
      return true;
    });
  }

  const std::string& path_;
  Database database_;
  LaunchCollector collector_{};
};

}  // namespace

Expected<Profile> read_nsight_database(const std::string& path) { return Export(path).read(); }

}  // namespace warpfold::profile

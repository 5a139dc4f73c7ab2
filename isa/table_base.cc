#include "isa/table_base.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "configs/escape/quoted.h"
#include "configs/load.h"
#include "configs/merge.h"
#include "configs/near_miss.h"

namespace warpfold::isa {

namespace {

using Opcodes = google::protobuf::RepeatedPtrField<table::Opcode>;
using Latencies = google::protobuf::RepeatedPtrField<table::LatencyTo>;

std::string name_of(const table::Opcode& row) { return row.name().empty() ? std::string() : row.name(0); }

// Splits a row that several opcodes share into one row per opcode, because a derived table may change them separately.
// A row without a name stays and is reported later.
Opcodes row_for_each_name(const Opcodes& rows) {
  Opcodes result;
  for (const table::Opcode& row : rows) {
    if (row.name().empty()) *result.Add() = row;
    for (const std::string& name : row.name()) {
      table::Opcode& single = *result.Add();
      single = row;
      single.clear_name();
      single.add_name(name);
    }
  }
  return result;
}

std::vector<std::string> names_of(const Opcodes& rows) {
  std::vector<std::string> names;
  for (const table::Opcode& row : rows) names.push_back(name_of(row));
  return names;
}

Expected<void> take_away(Opcodes& rows, const google::protobuf::RepeatedPtrField<std::string>& absent) {
  for (const std::string& name : absent) {
    const auto at = std::ranges::find_if(rows, [&](const table::Opcode& row) { return name_of(row) == name; });
    if (at == rows.end()) return fail("absent: the base has no opcode " + escape::quoted(name) + suggestion(name, names_of(rows)));
    rows.erase(at);
  }
  return {};
}

void put_over(Opcodes& rows, const Opcodes& derived) {
  const int before = rows.size();  // a name that occurs twice in the derived table keeps two rows, which
                                   // Architecture::parse rejects
  for (const table::Opcode& row : row_for_each_name(derived)) {
    const auto end = rows.begin() + before;
    const auto at = std::find_if(rows.begin(), end, [&](const table::Opcode& known) { return name_of(known) == name_of(row); });
    if (at != end) {
      configs::merge_over(*at, row);
    } else {
      *rows.Add() = row;
    }
  }
}

void put_over(Latencies& row, const Latencies& derived) {
  for (const table::LatencyTo& entry : derived) {
    const auto at = std::ranges::find(row, entry.consumer(), &table::LatencyTo::consumer);
    if (at != row.end()) {
      *at = entry;
    } else {
      *row.Add() = entry;
    }
  }
}

void put_over(table::OpcodeTable& merged, const table::LatencyClass& derived) {
  for (table::LatencyClass& known : *merged.mutable_latency_class()) {
    if (known.name() != derived.name()) continue;
    put_over(*known.mutable_register_result(), derived.register_result());
    put_over(*known.mutable_predicate_result(), derived.predicate_result());
    return;
  }
  *merged.add_latency_class() = derived;
}

const EmbeddedFile* embedded_table(const std::string& architecture) {
  const auto files = opcode_table_files();
  const auto at = std::ranges::find(files, architecture + ".textproto", &EmbeddedFile::name);
  return at == files.end() ? nullptr : &*at;
}

std::string known_tables(const std::string& wrong) {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : opcode_table_files()) names.emplace_back(file.name.substr(0, file.name.rfind('.')));
  return suggestion(wrong, names);
}

// `open`: architectures of the tables being merged, outermost first.
Expected<table::OpcodeTable> merged_table(const std::string& file, std::string_view text, std::vector<std::string> open) {
  const auto fail_here = [&](const std::string& message) { return fail_at(file, 0, 0, message); };
  table::OpcodeTable own;
  if (auto parsed = configs::parse_text(file, text, own); !parsed) return std::unexpected(parsed.error());
  if (!own.has_base()) {
    if (!own.absent().empty()) return fail_here("absent: only a table with a base leaves opcodes out");
    return own;
  }
  open.push_back(own.architecture());
  if (std::ranges::find(open, own.base()) != open.end()) {
    std::string chain;
    for (const std::string& name : open) chain.append(name).append(" -> ");
    return fail_here("base: tables form a cycle: " + chain + own.base());
  }
  const EmbeddedFile* base = embedded_table(own.base());
  if (base == nullptr) return fail_here("base: unknown architecture " + escape::quoted(own.base()) + known_tables(own.base()));
  auto merged = merged_table(std::string(base->name), base->content, std::move(open));
  if (!merged) return merged;

  Opcodes rows = row_for_each_name(merged->opcode());
  if (auto taken = take_away(rows, own.absent()); !taken) return fail_here(taken.error().message);
  put_over(rows, own.opcode());
  for (const table::LatencyClass& row : own.latency_class()) put_over(*merged, row);
  own.clear_opcode();
  own.clear_latency_class();
  own.clear_absent();
  own.clear_base();
  merged->MergeFrom(own);
  merged->mutable_opcode()->Swap(&rows);
  return merged;
}

// Completes each row with the fields of its kin, after the kin itself is complete.
class Kinship {
 public:
  explicit Kinship(Opcodes& rows) : rows_(rows) {
    for (int i = 0; i < rows.size(); ++i) {
      for (const std::string& name : rows[i].name()) places_.emplace(name, i);
    }
  }

  Expected<void> settle() {
    for (int i = 0; i < rows_.size(); ++i) {
      if (auto settled = settle(i, rows_.size()); !settled) return settled;
    }
    return {};
  }

 private:
  // `further`: length of the kin chain that may still follow. A chain longer than the number of rows is a cycle.
  Expected<void> settle(int row, int further) {
    table::Opcode& opcode = *rows_.Mutable(row);
    if (opcode.kin().empty()) return {};
    const auto kin = places_.find(opcode.kin());
    if (kin == places_.end()) return fail("opcode " + name_of(opcode) + ": kin: no opcode " + escape::quoted(opcode.kin()));
    if (further == 0) return fail("opcode " + name_of(opcode) + ": kin: rows form a cycle");
    if (auto settled = settle(kin->second, further - 1); !settled) return settled;
    table::Opcode whole = rows_[kin->second];
    whole.clear_name();
    opcode.clear_kin();
    configs::merge_over(whole, opcode);
    opcode = std::move(whole);
    return {};
  }

  Opcodes& rows_;
  std::map<std::string, int> places_;
};

}  // namespace

Expected<table::OpcodeTable> merged_table(const std::string& file, std::string_view text) {
  auto merged = merged_table(file, text, {});
  if (!merged) return merged;
  if (auto settled = Kinship(*merged->mutable_opcode()).settle(); !settled) return fail_at(file, 0, 0, settled.error().message);
  return merged;
}

}  // namespace warpfold::isa

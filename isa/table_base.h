#pragma once

#include <span>
#include <string>
#include <string_view>

#include "configs/diagnostic.h"
#include "configs/embedded_file.h"
#include "isa/opcode_table.pb.h"

namespace warpfold {

std::span<const EmbeddedFile> opcode_table_files();  // generated from isa/tables

namespace isa {

// The table in `text`, whole: merged over its base, which is one of the tables compiled into the program, and so on. Fails for a
// base that is none of them, for a cycle, for an absent opcode that the base has not, and for a row whose kin the table has not.
// `file` names it in diagnostics.
Expected<table::OpcodeTable> merged_table(const std::string& file, std::string_view text);

}  // namespace isa
}  // namespace warpfold

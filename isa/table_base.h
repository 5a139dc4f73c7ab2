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

// Returns the table in `text` merged over its base, which is a table compiled into the program and may have a base
// itself. Fails if the base is unknown or forms a cycle, if the base lacks an opcode listed as absent, or if the table
// lacks the kin of a row. `file` names the table in diagnostics.
Expected<table::OpcodeTable> merged_table(const std::string& file, std::string_view text);

}  // namespace isa
}  // namespace warpfold

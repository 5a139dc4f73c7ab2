# Parsing the libraries' headers takes a third of a unit's time: they are compiled once for each set of flags. None of them is ours, so that
# a change of ours leaves them as they are. Every file still includes what it uses: the clang preset, which lint reads, goes without.
option(WARPFOLD_PRECOMPILED_HEADERS "Compile the libraries' headers once" ON)
if(WARPFOLD_PRECOMPILED_HEADERS AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Its own strings make g++ 12 warn in vain, which libstdc++ silences by pragmas: a precompiled header loses them.
  target_compile_options(warpfold_flags INTERFACE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
endif()
if(WARPFOLD_PRECOMPILED_HEADERS AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # As g++ has it: ccache does not know what -Xclang, CMake's own way, names.
  set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -include <PCH_HEADER>)
endif()

# HEADERS for all targets of the same flags, which name it to warpfold_use_headers.
function(warpfold_headers name)
  cmake_parse_arguments(PCH "" "" "HEADERS;OPTIONS;LINKS" ${ARGN})
  if(WARPFOLD_PRECOMPILED_HEADERS)
    file(CONFIGURE OUTPUT ${name}.cc CONTENT "")
    add_library(${name} OBJECT EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/${name}.cc)
    target_compile_options(${name} PRIVATE ${PCH_OPTIONS})
    target_link_libraries(${name} PRIVATE warpfold_flags ${PCH_LINKS})
    target_precompile_headers(${name} PRIVATE ${PCH_HEADERS})
    warpfold_sum_headers(${name} ${PCH_HEADERS})
  endif()
endfunction()

# A precompiled header names the clone that it was made in. ccache takes the sum beside it instead (CCACHE_PCH_EXTSUM): of the text that it
# was made of, macros included, so that every clone has the same.
function(warpfold_sum_headers name)
  set(header ${CMAKE_CURRENT_BINARY_DIR}/${name}.h)
  list(TRANSFORM ARGN PREPEND "#include " OUTPUT_VARIABLE lines)
  list(JOIN lines "\n" text)
  file(CONFIGURE OUTPUT ${header} CONTENT "${text}\n")
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -std=c++23 -E -P -dD -x c++ ${header} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  string(SHA256 sum "${text}")
  foreach(extension gch pch)
    file(CONFIGURE OUTPUT CMakeFiles/${name}.dir/cmake_pch.hxx.${extension}.sum CONTENT "${sum}\n")
  endforeach()
endfunction()

function(warpfold_use_headers target name)
  if(WARPFOLD_PRECOMPILED_HEADERS)
    target_precompile_headers(${target} REUSE_FROM ${name})
  endif()
endfunction()

set(library_headers
  <algorithm> <array> <charconv> <cmath> <cstdint> <expected> <functional> <map> <memory> <numeric> <optional> <ranges> <set> <span>
  <sstream> <stdexcept> <string> <string_view> <utility> <variant> <vector>
  <google/protobuf/descriptor.h> <google/protobuf/generated_message_util.h> <google/protobuf/message.h> <google/protobuf/repeated_field.h>)
warpfold_headers(hot_headers HEADERS ${library_headers} LINKS protobuf::libprotobuf)
warpfold_headers(room_headers HEADERS ${library_headers} OPTIONS ${hardened} LINKS protobuf::libprotobuf)
if(WARPFOLD_SANITIZE)
  warpfold_headers(plain_headers HEADERS ${library_headers} OPTIONS ${no_hurry} ${hardened} LINKS protobuf::libprotobuf)
endif()

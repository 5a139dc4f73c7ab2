# Parsing the libraries' headers takes a third of a file's compile time, so they are compiled once for each set of flags. None is a header
# of this project, so that a change here never invalidates them. Every file still includes all headers that it uses: the clang preset, which
# lint reads, has no precompiled headers.
option(WARPFOLD_PRECOMPILED_HEADERS "Compile the libraries' headers once" ON)
if(WARPFOLD_PRECOMPILED_HEADERS AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 gives false warnings about std::string. libstdc++ silences them by pragmas, which a precompiled header loses.
  target_compile_options(warpfold_flags INTERFACE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
endif()
if(WARPFOLD_PRECOMPILED_HEADERS AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # The same option as for g++: ccache does not recognize the header that -Xclang, CMake's default, names.
  set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -include <PCH_HEADER>)
endif()

# Precompiles HEADERS for all targets with the same flags; these targets pass `name` to warpfold_use_headers.
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

# A precompiled header contains the path of its clone. ccache therefore hashes a checksum beside the header instead (CCACHE_PCH_EXTSUM). The
# checksum is of the preprocessed text with its macros, which is the same in every clone.
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

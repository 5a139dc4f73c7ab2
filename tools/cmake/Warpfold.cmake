# Helpers shared by all rooms: warning flags, tool launchers, schemas and embedded data.

find_program(WARPFOLD_CCACHE ccache)
if(WARPFOLD_CCACHE)
  # Clones share compiled files, including precompiled headers: ccache compares their checksums and does not search them for __TIME__.
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_PCH_EXTSUM=1
    CCACHE_SLOPPINESS=pch_defines,time_macros ${WARPFOLD_CCACHE})
endif()
find_program(WARPFOLD_MOLD mold)
if(WARPFOLD_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# Every x86-64 processor since 2009 has POPCNT, which the speed of the issue masks depends on; results do not.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  add_compile_options(-march=x86-64-v2)
endif()

add_library(warpfold_flags INTERFACE)
target_compile_options(warpfold_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # clang sees a deprecated call inside libstdc++ 12's stable_sort.
  target_compile_options(warpfold_flags INTERFACE -Wno-deprecated-declarations)
endif()
target_include_directories(warpfold_flags INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}>)
if(WARPFOLD_SANITIZE)
  add_compile_options(-fsanitize=${WARPFOLD_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${WARPFOLD_SANITIZE})
endif()

# Options for cold code, which takes longer to compile than to run. -O1 takes 60 % of the compile time; with sanitizers, -O0 takes 40 % of
# that of -O1.
# Compilers take a precompiled header at every level of optimisation but -O0.
set(no_hurry $<$<CONFIG:Release>:-O1>)
set(cold_headers room_headers)
if(WARPFOLD_SANITIZE)
  set(no_hurry -O0)
  set(cold_headers plain_headers)
endif()

# Code that reads untrusted files is compiled with checks of the stack and of libc's calls; the simulator's loops (-O3) are not. All code is
# position-independent. Every symbol is bound at the start, after which the table of addresses is read-only. Control-flow enforcement would
# need a later kernel than Debian 12's 6.1.
set(hardened $<$<CONFIG:Release>:-fstack-protector-strong> $<$<CONFIG:Release>:-U_FORTIFY_SOURCE> $<$<CONFIG:Release>:-D_FORTIFY_SOURCE=2>)
add_link_options(-Wl,-z,relro,-z,now)

# Most of a unit's time goes to headers and to templates that its neighbours instantiate too: eight files are compiled as one unit, in
# 40 to 50 % of their time. Every file still stands by itself: the clang preset, which lint reads, compiles each alone.
option(WARPFOLD_UNITY "Compile several files of a room as one unit" ON)
function(warpfold_unity target)
  if(WARPFOLD_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    if(ARGN)
      set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endif()
endfunction()

# A room: one static library warpfold_<name> whose sources live in the current folder. NO_HURRY: most of its time is compiling, not running.
# HOT: the simulator's loops, not hardened, each file a unit. APART: files that name their own helpers as other files of the room do;
# each is a unit.
function(warpfold_room name)
  cmake_parse_arguments(ROOM "NO_HURRY;HOT" "" "SOURCES;LINKS;APART" ${ARGN})
  add_library(warpfold_${name} STATIC ${ROOM_SOURCES})
  target_link_libraries(warpfold_${name} PUBLIC ${ROOM_LINKS} PRIVATE warpfold_flags)
  target_include_directories(warpfold_${name} PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}>)
  set_property(GLOBAL APPEND PROPERTY WARPFOLD_ROOMS warpfold_${name})
  if(NOT ROOM_HOT)
    warpfold_unity(warpfold_${name} ${ROOM_APART})
  endif()
  if(ROOM_NO_HURRY)
    target_compile_options(warpfold_${name} PRIVATE ${no_hurry} ${hardened})
    warpfold_use_headers(warpfold_${name} ${cold_headers})
  elseif(ROOM_HOT)
    warpfold_use_headers(warpfold_${name} hot_headers)
  else()
    target_compile_options(warpfold_${name} PRIVATE ${hardened})
    warpfold_use_headers(warpfold_${name} room_headers)
  endif()
endfunction()

# Generated protobuf code in a target of its own: its headers are SYSTEM headers, so that our warnings stay ours.
# Paths are relative to the top: #include "configs/gpu.pb.h".
function(warpfold_schemas target)
  set(out ${CMAKE_BINARY_DIR}/generated)
  file(MAKE_DIRECTORY ${out})
  set(sources)
  foreach(proto ${ARGN})
    file(RELATIVE_PATH relative ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/${proto})
    string(REGEX REPLACE "\\.proto$" "" stem ${relative})
    add_custom_command(
      OUTPUT ${out}/${stem}.pb.cc ${out}/${stem}.pb.h
      COMMAND protobuf::protoc --proto_path=${CMAKE_SOURCE_DIR} --cpp_out=${out} ${CMAKE_SOURCE_DIR}/${relative}
      DEPENDS ${CMAKE_SOURCE_DIR}/${relative}
      COMMENT "Schema ${relative}")
    list(APPEND sources ${out}/${stem}.pb.cc)
  endforeach()
  add_library(${target} STATIC ${sources})
  target_include_directories(${target} SYSTEM PUBLIC $<BUILD_INTERFACE:${out}> ${Protobuf_INCLUDE_DIRS})
  set_property(GLOBAL APPEND PROPERTY WARPFOLD_ROOMS ${target})
  target_link_libraries(${target} PUBLIC protobuf::libprotobuf)
  # Messages are read and written at the edges of a run: -O3 would take twice as long to compile.
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  if(WARPFOLD_SANITIZE)
    # libprotobuf is not sanitized either; instrumentation would more than double the time of compiling the messages.
    target_compile_options(${target} PRIVATE -fno-sanitize=address,undefined)
  else()
    target_compile_options(${target} PRIVATE ${hardened})
    warpfold_use_headers(${target} room_headers)
  endif()
endfunction()

# Data files compiled into the program, found by name: see tools/cmake/embed.cmake for the generated interface.
function(warpfold_embed target symbol)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.cc)
  set(paths)
  foreach(file ${ARGN})
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    list(APPEND paths ${file})
  endforeach()
  string(REPLACE ";" "|" joined "${paths}")
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DSYMBOL=${symbol} "-DFILES=${joined}" -P ${CMAKE_SOURCE_DIR}/tools/cmake/embed.cmake
    DEPENDS ${paths} ${CMAKE_SOURCE_DIR}/tools/cmake/embed.cmake
    COMMENT "Embedding ${symbol}" VERBATIM)
  # Compilers that we use take longer literals than the 64 KB that the standard asks of them.
  set_source_files_properties(${out} PROPERTIES COMPILE_OPTIONS -Wno-overlength-strings)
  target_sources(${target} PRIVATE ${out})
endfunction()

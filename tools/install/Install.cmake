# Destinations of `cmake --install`, for the packages too: the program, its configurations, pages, completion, and the libraries with
# headers and a CMake package, Warpfold::warpfold.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
file(GLOB schema_files CONFIGURE_DEPENDS configs/*.proto)

install(TARGETS warpfold RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
install(DIRECTORY configs/gpus configs/kernels configs/libraries configs/models configs/profiles configs/scenarios configs/studies
  DESTINATION ${CMAKE_INSTALL_DATADIR}/warpfold/configs COMPONENT program
  FILES_MATCHING PATTERN "*.textproto" PATTERN "*.json" PATTERN "*.sass" PATTERN "*.cu" PATTERN "*.cuh" PATTERN "*.wfs" PATTERN "*.wft")
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
install(FILES tools/install/completion.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME warpfold COMPONENT program)
install(FILES tools/install/completion.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _warpfold COMPONENT program)

# Man pages of the program and of each command, from their help.
find_program(WARPFOLD_HELP2MAN help2man)
if(WARPFOLD_HELP2MAN)
  set(man_pages ${CMAKE_BINARY_DIR}/man)
  add_custom_command(
    OUTPUT ${man_pages}/warpfold.1
    COMMAND ${CMAKE_SOURCE_DIR}/tools/install/man_pages $<TARGET_FILE:warpfold> ${man_pages}
    DEPENDS warpfold tools/install/man_pages
    COMMENT "Manual pages" VERBATIM)
  add_custom_target(man ALL DEPENDS ${man_pages}/warpfold.1)
  install(DIRECTORY ${man_pages}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program FILES_MATCHING PATTERN "*.1")
endif()

# The bill of materials of the program and the Python module (SPDX), and the licences, from this machine's packages.
find_program(WARPFOLD_DPKG_QUERY dpkg-query)
find_package(Python3 COMPONENTS Interpreter)
if(WARPFOLD_DPKG_QUERY AND Python3_FOUND AND NOT WARPFOLD_SANITIZE)
  set(sbom ${CMAKE_BINARY_DIR}/sbom)
  set(sbom_of warpfold)
  if(TARGET warpfold_python)
    list(APPEND sbom_of warpfold_python)
  endif()
  list(TRANSFORM sbom_of REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE binaries)
  get_property(vega_modules GLOBAL PROPERTY WARPFOLD_VEGA_MODULES)
  string(REPLACE ";" "," vega_modules "${vega_modules}")
  add_custom_command(
    OUTPUT ${sbom}/warpfold.spdx.json
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/install/sbom ${PROJECT_VERSION} ${sbom} --vega ${vega_modules} ${binaries}
    DEPENDS ${sbom_of} tools/install/sbom
    COMMENT "Bill of materials" VERBATIM)
  add_custom_target(bill_of_materials ALL DEPENDS ${sbom}/warpfold.spdx.json)
  if(TARGET wheel)
    add_dependencies(wheel bill_of_materials)
  endif()
  install(DIRECTORY ${sbom}/ DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
endif()

# The JSON Schema of results.
add_custom_command(
  OUTPUT ${CMAKE_BINARY_DIR}/result.schema.json
  COMMAND ${CMAKE_SOURCE_DIR}/tools/report/json_schema > ${CMAKE_BINARY_DIR}/result.schema.json
  DEPENDS tools/report/json_schema tools/report/schema.py ${schema_files}
  COMMENT "JSON Schema of results" VERBATIM)
add_custom_target(json_schema ALL DEPENDS ${CMAKE_BINARY_DIR}/result.schema.json)
install(FILES ${CMAKE_BINARY_DIR}/result.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/warpfold COMPONENT program)

# All rooms under one name. Headers are included as in the sources: #include "sim/gpu/simulate.h".
get_property(rooms GLOBAL PROPERTY WARPFOLD_ROOMS)
add_library(warpfold_all INTERFACE)
set_target_properties(warpfold_all PROPERTIES EXPORT_NAME warpfold)
target_link_libraries(warpfold_all INTERFACE ${rooms})
target_include_directories(warpfold_all INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/warpfold>)
target_compile_features(warpfold_all INTERFACE cxx_std_23)
install(TARGETS ${rooms} warpfold_flags warpfold_all EXPORT Warpfold ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/warpfold COMPONENT library)
install(EXPORT Warpfold NAMESPACE Warpfold:: FILE WarpfoldTargets.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Warpfold COMPONENT library)
configure_package_config_file(tools/install/WarpfoldConfig.cmake.in ${CMAKE_BINARY_DIR}/WarpfoldConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Warpfold PATH_VARS CMAKE_INSTALL_DATADIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/WarpfoldConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/WarpfoldConfig.cmake ${CMAKE_BINARY_DIR}/WarpfoldConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Warpfold COMPONENT library)
file(GLOB_RECURSE headers RELATIVE ${CMAKE_SOURCE_DIR} CONFIGURE_DEPENDS configs/*.h isa/*.h traces/*.h workloads/*.h sim/*.h tools/report/*.h
  tools/perfetto/*.h tools/profile/*.h tools/validation/*.h tools/warpfold/*.h)
foreach(header ${headers})
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/warpfold/${folder} COMPONENT library)
endforeach()
foreach(folder configs isa traces tools)
  install(DIRECTORY ${CMAKE_BINARY_DIR}/generated/${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/warpfold COMPONENT library
    FILES_MATCHING PATTERN "*.pb.h" PATTERN "warpfold" EXCLUDE PATTERN "silicon" EXCLUDE)
endforeach()

# A module compiled for one Python 3.N runs only under that version.
if(TARGET warpfold_python)
  math(EXPR next_python "${Python_VERSION_MINOR} + 1")
endif()
# cpack -G DEB and -G TGZ make a package of the program with its data, and a package for building against the libraries. The tar file can
# be unpacked anywhere.
set(CPACK_PACKAGE_NAME warpfold)
set(CPACK_PACKAGE_VENDOR Warpfold)
set(CPACK_PACKAGE_CONTACT "The Warpfold authors <warpfold@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Simulator of kernels that share GPU streaming multiprocessors")
set(CPACK_PACKAGE_FILE_NAME warpfold-${PROJECT_VERSION}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PACKAGE_CHECKSUM SHA256)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_COMPONENTS_ALL program library)
if(TARGET warpfold_python)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME warpfold)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS gnuplot-nox)  # draws the pictures of a study
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libwarpfold-dev)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS "libprotobuf-dev, libboost1.74-dev, libboost-program-options-dev, libzstd-dev, liblzma-dev, zlib1g-dev, libxxhash-dev, libre2-dev, libsqlite3-dev, libspdlog-dev, pkg-config")
set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-warpfold)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "warpfold (= ${PROJECT_VERSION}), python3 (>= ${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}), python3 (<< ${Python_VERSION_MAJOR}.${next_python})")
set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS python3-pandas)
include(CPack)

# SPDX-License-Identifier: Apache-2.0
# Made by Kiln. This file is yours to use without conditions. In a project of CMake 3.16 or later:
#
#   list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_SOURCE_DIR}/cmake)    # the folder of this file
#   find_package(Kiln REQUIRED)
#   kiln_add_model(kws MODEL kws.tflite BOARD nucleo-f446re)
#   target_link_libraries(app PRIVATE kiln::kws)
#
# kiln_add_model(<name> MODEL <file> BOARD <board> [PROVE] [OPTIONS <option>...])
#   makes lib<name>.a with Maven when the model has changed, and the target kiln::<name>. PROVE also runs the model in the emulator and compares
#   its answers. Options are those of kiln:build, such as -Dkiln.optimize=size.
find_program(KILN_MAVEN NAMES mvn mvn.cmd DOC "Maven, which runs Kiln")
if(NOT DEFINED KILN_VERSION)
  set(KILN_VERSION "@VERSION@")
endif()
set(KILN_VERSION "${KILN_VERSION}" CACHE STRING "Version of Kiln's Maven plugin")

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Kiln REQUIRED_VARS KILN_MAVEN VERSION_VAR KILN_VERSION)

function(kiln_add_model name)
  cmake_parse_arguments(PARSE_ARGV 1 KILN "PROVE" "MODEL;BOARD" "OPTIONS")
  if(NOT KILN_MODEL OR NOT KILN_BOARD)
    message(FATAL_ERROR "kiln_add_model(${name}) needs MODEL and BOARD")
  endif()
  if(KILN_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "kiln_add_model(${name}) does not know ${KILN_UNPARSED_ARGUMENTS}")
  endif()
  get_filename_component(model "${KILN_MODEL}" ABSOLUTE)
  set(out "${CMAKE_CURRENT_BINARY_DIR}/kiln/${name}")
  set(library "${out}/library/lib${name}.a")
  set(prove emulator)
  if(NOT KILN_PROVE)
    set(prove none)
  endif()
  add_custom_command(
    OUTPUT "${library}"
    COMMAND "${KILN_MAVEN}" -B -q "io.kiln:kiln-maven-plugin:${KILN_VERSION}:build"
      "-Dkiln.model=${model}" "-Dkiln.name=${name}" "-Dkiln.board=${KILN_BOARD}" -Dkiln.firmware=library
      "-Dkiln.outputDirectory=${out}" "-Dkiln.verify.on=${prove}" ${KILN_OPTIONS}
    COMMAND "${CMAKE_COMMAND}" -E touch "${library}"
    DEPENDS "${model}"
    WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}"
    COMMENT "Kiln compiles ${KILN_MODEL} for ${KILN_BOARD}"
    VERBATIM)
  add_custom_target("kiln_${name}" DEPENDS "${library}")
  file(MAKE_DIRECTORY "${out}/library/include")
  add_library("kiln::${name}" STATIC IMPORTED GLOBAL)
  add_dependencies("kiln::${name}" "kiln_${name}")
  set_target_properties("kiln::${name}" PROPERTIES
    IMPORTED_LOCATION "${library}"
    INTERFACE_INCLUDE_DIRECTORIES "${out}/library/include")
endfunction()

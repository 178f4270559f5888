# SPDX-License-Identifier: Apache-2.0
# Made by Kiln: the static library kiln::@NAME@ for the core of @BOARD@. This file is yours to use without conditions.
if(NOT TARGET kiln::@NAME@)
  add_library(kiln::@NAME@ STATIC IMPORTED GLOBAL)
  set_target_properties(kiln::@NAME@ PROPERTIES
    IMPORTED_LOCATION "${CMAKE_CURRENT_LIST_DIR}/lib@NAME@.a"
    INTERFACE_INCLUDE_DIRECTORIES "${CMAKE_CURRENT_LIST_DIR}/include")
endif()
# What the objects were compiled with: code that passes floats in registers must agree.
set(KILN_@NAME@_FLAGS "@FLAGS@")

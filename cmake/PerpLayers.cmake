# A layer is an object library that can include only what stands above it.
#
#   perp_layer(model SEES base linalg scene SOURCES a.c b.c LINKS PkgConfig::X)
#
# For each layer the build makes a folder of links, <build>/sees/<layer>, holding
#   perp/<stage>.h   the public headers of the layers it sees (and its own)
#   <stage>/         the private folders of the layers it sees (and its own)
# and that folder is the layer's only include path of this project. A backward include therefore names a file that does
# not exist there, and the build fails. (A relative "../" include could get around it; tests/layers refuses those.)
# A stage in several folders is as many layers, step/common and so on. Its public header is that of its layer `common`;
# who sees `step` sees all of them.
# perp_core collects the layers that need nothing but libc, libm and LAPACK.

set(PERP_LAYERS "" CACHE INTERNAL "all layers, left to right")
set(PERP_CORE_LAYERS "" CACHE INTERNAL "the layers of the core")
set(PERP_LAYER_LINKS "" CACHE INTERNAL "what the layers link with from outside")

function(perp_layer name)
  cmake_parse_arguments(LAYER "CORE" "" "SEES;SOURCES;LINKS" ${ARGN})
  string(REPLACE / _ target perp_${name})
  string(REPLACE / _ view ${name})
  set(view ${CMAKE_BINARY_DIR}/sees/${view})
  file(REMOVE_RECURSE ${view})
  file(MAKE_DIRECTORY ${view}/perp)
  foreach(seen ${LAYER_SEES} ${name})
    string(REGEX REPLACE "/common$" "" stage ${seen})
    if(EXISTS ${PROJECT_SOURCE_DIR}/include/perp/${stage}.h)
      file(CREATE_LINK ${PROJECT_SOURCE_DIR}/include/perp/${stage}.h ${view}/perp/${stage}.h SYMBOLIC)
    endif()
    get_filename_component(folder ${view}/${seen} DIRECTORY)
    file(MAKE_DIRECTORY ${folder})
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/src/${seen} ${view}/${seen} SYMBOLIC)
  endforeach()
  list(TRANSFORM LAYER_SOURCES PREPEND ${PROJECT_SOURCE_DIR}/src/${name}/)
  set(visibility hidden)
  if(PERP_TESTS_SHARED)
    set(visibility default)
  endif()
  add_library(${target} OBJECT ${LAYER_SOURCES})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET ${visibility})
  target_include_directories(${target} PRIVATE ${view})
  target_link_libraries(${target} PRIVATE perp_flags ${LAYER_LINKS})
  set(PERP_LAYERS ${PERP_LAYERS} ${name} CACHE INTERNAL "")
  set(PERP_LAYER_LINKS ${PERP_LAYER_LINKS} ${LAYER_LINKS} CACHE INTERNAL "")
  if(LAYER_CORE)
    set(PERP_CORE_LAYERS ${PERP_CORE_LAYERS} ${name} CACHE INTERNAL "")
  endif()
endfunction()

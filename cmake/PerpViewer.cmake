# The page of a replay: bundled from viewer/ by esbuild, with the packages that package-lock.json pins, all inside the
# build folder. PERP_VIEWER=OFF leaves it out: everything else builds, and `perp view` says what is missing.
find_program(PERP_NODE NAMES node nodejs)
find_program(PERP_NPM npm)
set(default ON)
if(NOT PERP_NODE OR NOT PERP_NPM)
  set(default OFF)
endif()
option(PERP_VIEWER "build the page of replays (needs nodejs, npm and, the first time, the network)" ${default})
if(PERP_VIEWER AND NOT default)
  message(FATAL_ERROR "PERP_VIEWER=ON needs nodejs 18 or later and npm: run `make deps`, or set -DPERP_VIEWER=OFF")
elseif(NOT PERP_VIEWER)
  message(STATUS "no replay page (PERP_VIEWER=OFF)")
  set(PERP_REPLAY_TEMPLATE ${PROJECT_SOURCE_DIR}/src/report/replay_no_template.c)
  return()
endif()

set(source ${PROJECT_SOURCE_DIR}/viewer)
set(folder ${CMAKE_BINARY_DIR}/viewer)
set(PERP_REPLAY_TEMPLATE ${folder}/replay_template.c)
file(GLOB viewer_sources CONFIGURE_DEPENDS ${source}/src/*)
# Packages: again only when the lock file has changed. Install scripts are not run; esbuild does not need its own.
add_custom_command(OUTPUT ${folder}/packages.stamp
  COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
  COMMAND ${CMAKE_COMMAND} -E copy ${source}/package.json ${source}/package-lock.json ${source}/.npmrc ${folder}
  COMMAND ${CMAKE_COMMAND} -E echo "viewer: installing the packages of viewer/package-lock.json"
  COMMAND ${PERP_NPM} ci --prefix ${folder} --omit=dev --ignore-scripts --no-progress --loglevel=error
  COMMAND ${CMAKE_COMMAND} -E touch ${folder}/packages.stamp
  DEPENDS ${source}/package.json ${source}/package-lock.json ${source}/.npmrc
  WORKING_DIRECTORY ${CMAKE_BINARY_DIR} VERBATIM)
add_custom_command(OUTPUT ${PERP_REPLAY_TEMPLATE}
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${folder}/src
  COMMAND ${CMAKE_COMMAND} -E copy_directory ${source}/src ${folder}/src
  COMMAND ${CMAKE_COMMAND} -E copy ${source}/build.mjs ${folder}
  COMMAND ${PERP_NODE} ${folder}/build.mjs ${folder}/replay_template.html ${PERP_REPLAY_TEMPLATE}
  DEPENDS ${folder}/packages.stamp ${viewer_sources} ${source}/build.mjs VERBATIM)

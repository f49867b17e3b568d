# What `cmake --install` puts down: command, libraries, headers, pkg-config file, CMake package, completion, documents.
# Everything finds its neighbours relative to itself, so the prefix may be chosen at install time and moved later.
include(CMakePackageConfigHelpers)

install(TARGETS perp_static perp_shared EXPORT perpTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/perp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(TARGETS perp_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

# CMake: find_package(perp CONFIG) gives perp::shared, perp::static, and perp::perp, which is perp::shared.
set(perp_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/perp)
configure_package_config_file(cmake/perpConfig.cmake.in ${CMAKE_BINARY_DIR}/install/perpConfig.cmake
  INSTALL_DESTINATION ${perp_cmake_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/install/perpConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT perpTargets NAMESPACE perp:: DESTINATION ${perp_cmake_dir})
install(FILES ${CMAKE_BINARY_DIR}/install/perpConfig.cmake ${CMAKE_BINARY_DIR}/install/perpConfigVersion.cmake
  DESTINATION ${perp_cmake_dir})

# pkg-config; its prefix is found from the place of the file itself.
set(perp_pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH perp_pc_to_prefix /prefix/${perp_pc_dir} /prefix)
list(JOIN LAPACKE_LDFLAGS " " perp_pc_lapacke)
configure_file(cmake/perp.pc.in ${CMAKE_BINARY_DIR}/install/perp.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/install/perp.pc DESTINATION ${perp_pc_dir})

# Bash completion, written by the command itself.
set(completion ${CMAKE_BINARY_DIR}/install/completion.bash)
add_custom_command(OUTPUT ${completion}
  COMMAND perp_cli completion bash > ${completion}.part
  COMMAND ${CMAKE_COMMAND} -E rename ${completion}.part ${completion}
  DEPENDS perp_cli COMMENT "Writing the bash completion" VERBATIM)
add_custom_target(perp_completion ALL DEPENDS ${completion})
install(FILES ${completion} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME perp)

# The documents as they stand in the tree, so that their links lead somewhere.
set(perp_doc_dir ${CMAKE_INSTALL_DATADIR}/doc/perp)
install(FILES LICENSE README.md CHANGELOG.md CONTRIBUTING.md DESTINATION ${perp_doc_dir})
install(DIRECTORY docs examples DESTINATION ${perp_doc_dir} PATTERN "CMakeLists.txt" EXCLUDE)

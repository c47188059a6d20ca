# `make install`: the header, both libraries, a pkg-config file, a CMake package, the command, its manual and
# its completions.
include(CMakePackageConfigHelpers)

install(FILES include/seen.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS seen_shared EXPORT seen-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS seen_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET seen_command)
  install(TARGETS seen_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

# As libraries, not as packages: programs that use libseen do not need their include folders.
list(TRANSFORM SEEN_PC_PRIVATE PREPEND "-l")
list(JOIN SEEN_PC_PRIVATE " " SEEN_PC_PRIVATE_TEXT)
configure_file(cmake/seen.pc.in seen.pc @ONLY)
# The prefix may be given at install time: cmake --install BUILD --prefix DIR.
install(CODE "get_filename_component(where \"\${CMAKE_INSTALL_PREFIX}\" ABSOLUTE)
  file(READ \"${CMAKE_CURRENT_BINARY_DIR}/seen.pc\" text)
  string(REGEX REPLACE \"^prefix=[^\n]*\" \"prefix=\${where}\" text \"\${text}\")
  file(WRITE \"${CMAKE_CURRENT_BINARY_DIR}/seen.pc\" \"\${text}\")")
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/seen.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(SEEN_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/seen)
set_target_properties(seen_shared PROPERTIES EXPORT_NAME seen)
install(EXPORT seen-targets NAMESPACE seen:: DESTINATION ${SEEN_CMAKE_DIR})
configure_package_config_file(cmake/seen-config.cmake.in seen-config.cmake
  INSTALL_DESTINATION ${SEEN_CMAKE_DIR})
write_basic_package_version_file(seen-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/seen-config.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/seen-config-version.cmake DESTINATION ${SEEN_CMAKE_DIR})

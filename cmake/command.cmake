# The command: its sources, the planner page inside it, and made by it the manual pages and the
# completion scripts.
set(SEEN_GENERATED ${CMAKE_CURRENT_BINARY_DIR}/generated)
set(SEEN_MAN ${CMAKE_CURRENT_BINARY_DIR}/man)
set(SEEN_COMPLETIONS ${CMAKE_CURRENT_BINARY_DIR}/completions)

file(GLOB CLI_SOURCES CONFIGURE_DEPENDS cli/*.c)
list(FILTER CLI_SOURCES EXCLUDE REGEX "cli/main\\.c$")
if(NOT TARGET seencrawl)
  list(FILTER CLI_SOURCES EXCLUDE REGEX "cli/crawl")
endif()

add_custom_command(OUTPUT ${SEEN_GENERATED}/plan_page.inc
  COMMAND ${CMAKE_COMMAND} -E make_directory ${SEEN_GENERATED}
  COMMAND ${CMAKE_COMMAND} -DIN=${CMAKE_CURRENT_SOURCE_DIR}/cli/plan_page.html
    -DOUT=${SEEN_GENERATED}/plan_page.inc -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS cli/plan_page.html cmake/embed.cmake)

add_custom_command(OUTPUT ${SEEN_GENERATED}/crawl_report.inc
  COMMAND ${CMAKE_COMMAND} -E make_directory ${SEEN_GENERATED}
  COMMAND ${CMAKE_COMMAND} -DIN=${CMAKE_CURRENT_SOURCE_DIR}/cli/crawl_report.html
    -DOUT=${SEEN_GENERATED}/crawl_report.inc -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS cli/crawl_report.html cmake/embed.cmake)

# Everything but main, so that the tests can have it too.
add_library(seencli OBJECT ${CLI_SOURCES} ${SEEN_GENERATED}/plan_page.inc ${SEEN_GENERATED}/crawl_report.inc)
target_include_directories(seencli PRIVATE ${SEEN_GENERATED})
target_link_libraries(seencli PUBLIC seen_flags seenstream seen_static)
add_executable(seen_command cli/main.c)
set_target_properties(seen_command PROPERTIES OUTPUT_NAME seen)
target_link_libraries(seen_command PRIVATE seencli)
if(SEEN_STATIC)
  target_link_options(seen_command PRIVATE -static)
endif()
if(TARGET seencrawl)
  target_link_libraries(seencli PUBLIC seencrawl)
  target_compile_definitions(seencli PUBLIC SEEN_WITH_CRAWL=1)
endif()
target_compile_definitions(seencli PUBLIC SEEN_VERSION_TEXT="${PROJECT_VERSION}")
foreach(feature REDIS TLS COMPRESSION SIPHASH IDN)
  if(SEEN_WITH_${feature})
    target_compile_definitions(seencli PUBLIC SEEN_WITH_${feature}=1)
  endif()
endforeach()

# ---- manual pages and completions: the command writes its own ----
# A command is a file that defines one; there is no second list to keep.
set(commands)
foreach(source ${CLI_SOURCES})
  file(STRINGS ${source} definition REGEX "^const sn_command sn_command_")
  if(definition)
    string(REGEX REPLACE "^const sn_command sn_command_([a-z]+).*" "\\1" name "${definition}")
    list(APPEND commands ${name})
  endif()
endforeach()
set(pages ${SEEN_MAN}/seen.1)
add_custom_command(OUTPUT ${SEEN_MAN}/seen.1
  COMMAND ${CMAKE_COMMAND} -E make_directory ${SEEN_MAN}
  COMMAND seen_command help --man > ${SEEN_MAN}/seen.1
  DEPENDS seen_command VERBATIM)
foreach(name ${commands})
  add_custom_command(OUTPUT ${SEEN_MAN}/seen-${name}.1
    COMMAND ${CMAKE_COMMAND} -E make_directory ${SEEN_MAN}
    COMMAND seen_command help --man ${name} > ${SEEN_MAN}/seen-${name}.1
    DEPENDS seen_command VERBATIM)
  list(APPEND pages ${SEEN_MAN}/seen-${name}.1)
endforeach()
foreach(shell bash zsh fish)
  add_custom_command(OUTPUT ${SEEN_COMPLETIONS}/seen.${shell}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${SEEN_COMPLETIONS}
    COMMAND seen_command help --completion ${shell} > ${SEEN_COMPLETIONS}/seen.${shell}
    DEPENDS seen_command VERBATIM)
  list(APPEND completions ${SEEN_COMPLETIONS}/seen.${shell})
endforeach()
add_custom_target(seen_manual ALL DEPENDS ${pages} ${completions})

install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES man/libseen.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
install(FILES man/seen-format.5 DESTINATION ${CMAKE_INSTALL_MANDIR}/man5)
install(FILES ${SEEN_COMPLETIONS}/seen.bash RENAME seen
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${SEEN_COMPLETIONS}/seen.zsh RENAME _seen
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${SEEN_COMPLETIONS}/seen.fish
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
